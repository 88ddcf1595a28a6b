// Package http takes rows from HTTP requests and sends batches as HTTP requests.
package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// Spec is the format "http".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format: "http",
		Doc: "As a source it listens, and takes the lines of the bodies of POST requests as rows; a request is answered when its lines are durable. " +
			"As a sink it posts each batch as JSON, a line for each row.",
		Promise: "at least once: a batch that is run again is posted again, with the same header Idempotency-Key, by which a receiver can tell",
		Example: "sinks:\n  hook:\n    from: raw\n    format: http\n    options: {url: \"https://example.org/rows\"}\n    checkpointLocation: checkpoint/hook\n",
		Options: []connector.Option{
			{Name: "url", Doc: "Sink: where batches are posted."},
			{Name: "timeout", Default: "30s", Doc: "Sink: how long one request may take."},
			{Name: "retryTimeout", Default: "1m", Doc: "Sink: how long a request that fails is tried again."},
			{Name: "sendEmpty", Default: "false", Doc: "Sink: whether batches without rows are posted."},
			{Name: "maxRowsPerRequest", Default: "10000", Doc: "Sink: how many rows a request has at most; requests of a batch are numbered."},
			{Name: "address", Doc: "Source: the address to listen on, such as 127.0.0.1:8080."},
			{Name: "path", Default: "/", Doc: "Source: the path of requests."},
			{Name: "maxBodySize", Default: "16m", Doc: "Source: how long a body may be."},
			{Name: "token", Doc: "Both: a bearer token, sent as a sink and asked for as a source."},
		},
		Prefixes:    []string{"header."},
		FixedSchema: func(connector.Options) (*columnar.Schema, error) { return schema(), nil },
		NewSource:   newSource,
		NewSink:     newSink,
	}
}

// sink posts batches.
type sink struct {
	env     connector.Env
	url     string
	headers map[string]string
	client  *http.Client
	retry   time.Duration
	empty   bool
	rows    int
}

func newSink(env connector.Env, o connector.Options) (connector.Sink, error) {
	s := &sink{env: env, headers: map[string]string{}}
	s.url = o.String("url", "")
	u, err := url.Parse(s.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("option \"url\": found %q, expected http://… or https://…", s.url)
	}
	for name, v := range o.Map() {
		if h, ok := strings.CutPrefix(strings.ToLower(name), "header."); ok {
			s.headers[h] = v
		}
	}
	if token, ok := o.Get("token"); ok {
		s.headers["Authorization"] = "Bearer " + token
	}
	timeout, err := o.Duration("timeout", 30*time.Second)
	if err != nil {
		return nil, err
	}
	s.client = &http.Client{Timeout: timeout}
	if s.retry, err = o.Duration("retryTimeout", time.Minute); err != nil {
		return nil, err
	}
	if s.empty, err = o.Bool("sendEmpty", false); err != nil {
		return nil, err
	}
	rows, err := o.Int("maxRowsPerRequest", 10000)
	if err == nil && rows < 1 {
		err = fmt.Errorf("option \"maxRowsPerRequest\": found %d, expected a number above 0", rows)
	}
	s.rows = int(min(rows, 1<<30))
	return s, err
}

// Description implements connector.Sink.
func (s *sink) Description() string { return "HTTPSink[" + s.url + "]" }

// Close implements connector.Sink.
func (s *sink) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// Begin implements connector.Sink.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	schema := info.Schema
	if schema == nil {
		schema = s.env.Schema
	}
	opts, err := jsonfmt.ParseOptions(nil, s.zone())
	if err != nil {
		return nil, err
	}
	json, err := jsonfmt.NewWriter(schema.Struct(), opts)
	return &writer{s: s, info: info, json: json}, err
}

func (s *sink) zone() string {
	if s.env.Zone == nil {
		return "UTC"
	}
	return s.env.Zone.String()
}

// writer is one batch. Its requests are sent when it is complete, so that a batch that fails sends nothing.
type writer struct {
	s      *sink
	info   connector.BatchInfo
	json   *jsonfmt.Writer
	bodies [][]byte
	last   []byte
	rows   int // of last
}

// Write implements connector.BatchWriter.
func (w *writer) Write(_ context.Context, b *columnar.Batch) error {
	for i := range b.Rows {
		w.last = w.json.AppendRow(w.last, b, i)
		if w.rows++; w.rows == w.s.rows {
			w.bodies, w.last, w.rows = append(w.bodies, w.last), nil, 0
		}
	}
	return nil
}

// Commit implements connector.BatchWriter.
func (w *writer) Commit(ctx context.Context) error {
	points, id := w.info.Failpoints, w.info.BatchID
	if len(w.last) > 0 || len(w.bodies) == 0 && w.s.empty {
		w.bodies = append(w.bodies, w.last)
	}
	if err := points.Hit(failpoint.SinkPartial, id); err != nil {
		return err
	}
	if err := points.Hit(failpoint.SinkStaged, id); err != nil {
		return err
	}
	for i, body := range w.bodies {
		if err := w.send(ctx, i, body); err != nil {
			return fmt.Errorf("post %s: %w", w.s.url, err)
		}
	}
	return nil
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(context.Context) error { return nil }

// send posts a body, again and again while the receiver cannot take it.
func (w *writer) send(ctx context.Context, part int, body []byte) error {
	begun := time.Now()
	for n := 0; ; n++ {
		wait, err := w.post(ctx, part, body)
		if err == nil {
			return nil
		}
		if wait < 0 || ctx.Err() != nil {
			return err
		}
		wait = max(wait, min(100*time.Millisecond<<min(n, 6), 5*time.Second))
		if time.Since(begun)+wait > w.s.retry {
			return fmt.Errorf("given up after %d attempts: %w", n+1, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// never is the wait of an error that will not go away.
const never = -1

// post sends one request. With an error it tells how long to wait at least before the next attempt, or never.
func (w *writer) post(ctx context.Context, part int, body []byte) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.s.url, bytes.NewReader(body))
	if err != nil {
		return never, err
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	for name, v := range w.s.headers {
		r.Header.Set(name, v)
	}
	r.Header.Set("Idempotency-Key", fmt.Sprintf("%s/%s/%d/%d", w.info.QueryID, w.s.env.Name, w.info.BatchID, part))
	r.Header.Set("Wstream-Query", w.info.QueryID)
	r.Header.Set("Wstream-Batch", strconv.FormatInt(w.info.BatchID, 10))
	answer, err := w.s.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 300))
	switch {
	case answer.StatusCode < 300:
		return 0, nil
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500 || answer.StatusCode == http.StatusRequestTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, fmt.Errorf("%s: %s", answer.Status, text)
	}
	return never, fmt.Errorf("%s: %s", answer.Status, text)
}
