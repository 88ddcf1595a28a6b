package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/engine/connector"
)

// startTimeout is how long a broker that cannot be reached is waited for when a query starts.
const startTimeout = 10 * time.Second

// brokers is a client of a cluster and what its errors need to name.
type brokers struct {
	*kgo.Client
	address string

	mu      sync.Mutex
	reached bool
}

// dial makes a client from the options; more are those of the caller's own role. Nothing is sent yet.
func dial(env connector.Env, o connector.Options, more ...kgo.Opt) (*brokers, error) {
	v, ok := o.Get("kafka.bootstrap.servers")
	if !ok || strings.TrimSpace(v) == "" {
		return nil, errors.New("option \"kafka.bootstrap.servers\" is missing: the brokers, as host:port,host:port")
	}
	var seeds []string
	for _, s := range strings.Split(v, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(s); err != nil || port == "" {
			return nil, fmt.Errorf("option \"kafka.bootstrap.servers\": found %q, expected host:port", s)
		}
		seeds = append(seeds, s)
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(seeds...), kgo.ClientID(o.String("kafka.client.id", "wstream")),
		kgo.RetryTimeout(30 * time.Second), kgo.BrokerMaxReadBytes(1 << 30),
	}
	settings, err := clientSettings(env, o)
	if err != nil {
		return nil, err
	}
	secure, err := security(env, o)
	if err != nil {
		return nil, err
	}
	opts = append(append(append(opts, settings...), secure...), more...)
	c, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	return &brokers{Client: c, address: strings.Join(seeds, ",")}, nil
}

// reach makes sure once that a broker answers, so that a query whose broker is away ends at its start with the address.
func (b *brokers) reach(ctx context.Context) error { return b.reachWithin(ctx, startTimeout) }

func (b *brokers) reachWithin(ctx context.Context, most time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reached {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var last error
	for {
		err := b.Ping(limit)
		if err == nil {
			b.reached = true
			return nil
		}
		if last == nil || limit.Err() == nil && (hint(last) == "" || hint(err) != "") { // what says most
			last = err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if limit.Err() != nil || refused(err) {
			return &connector.UnavailableError{Service: "kafka", Address: b.address, Err: withHint(last)}
		}
		select {
		case <-time.After(retryWait):
		case <-limit.Done():
		}
	}
}

// refused tells of errors that waiting does not mend: the broker has answered and does not let us in.
func refused(err error) bool {
	return errors.Is(err, kerr.SaslAuthenticationFailed) || errors.Is(err, kerr.UnsupportedSaslMechanism) ||
		errors.Is(err, kerr.IllegalSaslState) || strings.Contains(err.Error(), "x509:") || strings.Contains(err.Error(), "tls: ")
}

// explain gives an error of the cluster its coordinates; a cluster that is away is a fault of the environment.
func (b *brokers) explain(err error) error {
	var dialed *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &dialed), errors.Is(err, context.DeadlineExceeded):
		return &connector.UnavailableError{Service: "kafka", Address: b.address, Err: err}
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("kafka at %s: %w; make the topic first, or correct its name", b.address, err)
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		return fmt.Errorf("kafka at %s: %w; the user needs an ACL for it", b.address, err)
	}
	return fmt.Errorf("kafka at %s: %w", b.address, err)
}
