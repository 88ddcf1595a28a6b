package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/engine/connector"
)

// client is a connection to the servers, and the stream that is read or written.
type client struct {
	servers string
	name    string // of the stream
	timeout time.Duration
	conn    *nats.Conn
	js      jetstream.JetStream
}

const defaultTimeout = time.Minute

// dial reads the options of the connection and opens it. The client comes back by itself when a server goes away.
func dial(env connector.Env, o connector.Options, js ...jetstream.JetStreamOpt) (*client, error) {
	c := &client{servers: o.String("servers", ""), name: o.String("stream", "")}
	for _, need := range []struct{ name, value, example string }{
		{"servers", c.servers, "nats://127.0.0.1:4222"}, {"stream", c.name, "ORDERS"},
	} {
		if strings.TrimSpace(need.value) == "" {
			return nil, fmt.Errorf("option %q is missing, e.g. %s", need.name, need.example)
		}
	}
	var err error
	if c.timeout, err = o.Duration("timeout", defaultTimeout); err != nil {
		return nil, err
	}
	opts := []nats.Option{
		nats.Name("wstream " + env.Name), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(min(c.timeout, 10*time.Second)),
	}
	login, err := security(env, o)
	if err != nil {
		return nil, err
	}
	if c.conn, err = nats.Connect(c.servers, append(opts, login...)...); err != nil {
		return nil, c.away(err)
	}
	if c.js, err = jetstream.New(c.conn, js...); err != nil {
		c.conn.Close()
		return nil, err
	}
	return c, nil
}

// away says that the servers cannot be reached.
func (c *client) away(err error) error {
	return &connector.UnavailableError{Service: "nats", Address: c.servers, Err: err}
}

// security reads how to log in, and the certificates.
func security(env connector.Env, o connector.Options) ([]nats.Option, error) {
	var opts []nats.Option
	path := func(name string) string {
		p := o.String(name, "")
		if p != "" && !filepath.IsAbs(p) {
			p = filepath.Join(env.BaseDir, p)
		}
		return p
	}
	if user, ok := o.Get("user"); ok {
		opts = append(opts, nats.UserInfo(user, o.String("password", "")))
	}
	if token, ok := o.Get("token"); ok {
		opts = append(opts, nats.Token(token))
	}
	if p := path("credentials"); p != "" {
		opts = append(opts, nats.UserCredentials(p))
	}
	if p := path("nkey"); p != "" {
		key, err := nats.NkeyOptionFromSeed(p)
		if err != nil {
			return nil, fmt.Errorf("option \"nkey\": %w", err)
		}
		opts = append(opts, key)
	}
	if p := path("tls.ca"); p != "" {
		opts = append(opts, nats.RootCAs(p))
	}
	certificate, key := path("tls.certificate"), path("tls.key")
	if (certificate == "") != (key == "") {
		return nil, errors.New("options \"tls.certificate\" and \"tls.key\": found one, expected both or none")
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("option \"tls.certificate\": %w", err)
		}
		opts = append(opts, func(o *nats.Options) error {
			o.Secure = true
			if o.TLSConfig == nil {
				o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
			}
			o.TLSConfig.Certificates = []tls.Certificate{pair}
			return nil
		})
	}
	return opts, nil
}

// info asks for the state of the stream.
func (c *client) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	var info *jetstream.StreamInfo
	err := c.ask(ctx, func(ctx context.Context) error {
		s, err := c.js.Stream(ctx, c.name)
		if err == nil {
			info = s.CachedInfo()
		}
		return err
	})
	return info, err
}

// askWait is how long one request may take; while a server comes back it is asked again.
const askWait = 5 * time.Second

// ask makes a request, again and again while no server is there or none leads the stream.
func (c *client) ask(ctx context.Context, request func(ctx context.Context) error) error {
	begun := time.Now()
	for {
		once, cancel := context.WithTimeout(ctx, min(askWait, c.timeout))
		err := request(once)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, jetstream.ErrStreamNotFound):
			return fmt.Errorf("there is no stream %q at %s", c.name, c.servers)
		case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
			return fmt.Errorf("the servers at %s have no JetStream: %w", c.servers, err)
		case !passes(err):
			return err
		case time.Since(begun) > c.timeout:
			return c.away(err)
		}
		if err := sleep(ctx, retryWait); err != nil {
			return err
		}
	}
}

const retryWait = 100 * time.Millisecond

// passes says that an error may go away: the connection is lost, or the stream has no leader at the moment.
func passes(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code == 503
	}
	for _, e := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrConnectionReconnecting, nats.ErrDisconnected, nats.ErrStaleConnection,
		jetstream.ErrNoStreamResponse, nats.ErrReconnectBufExceeded, jetstream.ErrAsyncPublishTimeout,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
