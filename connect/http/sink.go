package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// sink posts batches.
type sink struct {
	env     connector.Env
	url     string
	headers map[string]string
	client  *http.Client
	retry   time.Duration
	empty   bool
	rows    int
	dead    string // the folder of rejected bodies, empty for none
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
	if s.dead = o.String("deadLetterPath", ""); s.dead != "" && !filepath.IsAbs(s.dead) {
		s.dead = filepath.Join(env.BaseDir, s.dead)
	}
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
		err := w.send(ctx, i, body)
		var no *rejection
		if errors.As(err, &no) && no.ofBody() && w.s.dead != "" {
			err = w.bury(i, body, no)
		}
		if err != nil {
			return fmt.Errorf("post %s: %w", w.s.url, err)
		}
	}
	return nil
}

// bury writes a body that the receiver does not take to the folder of dead letters, under a name that is the same when the
// batch runs again.
func (w *writer) bury(part int, body []byte, no *rejection) error {
	fsys := w.s.env.FS
	if fsys == nil {
		fsys = vfs.OS()
	}
	if err := vfs.MkdirAllSync(fsys, w.s.dead); err != nil {
		return err
	}
	name := filepath.Join(w.s.dead, fmt.Sprintf("%s-%d-%d.json", w.info.QueryID, w.info.BatchID, part))
	if err := vfs.WriteFile(fsys, name, body); err != nil {
		return err
	}
	w.s.env.Warn("a request of %d bytes was answered with %s; its rows are in %q", len(body), no, name)
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
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500 || answer.StatusCode == http.StatusRequestTimeout || answer.StatusCode == http.StatusTooEarly:
		return retryAfter(answer.Header, time.Now()), &rejection{answer.StatusCode, answer.Status, string(bytes.TrimSpace(text))}
	}
	return never, &rejection{answer.StatusCode, answer.Status, string(bytes.TrimSpace(text))}
}

// rejection is an answer that is no success.
type rejection struct {
	code         int
	status, text string
}

// Error is the status and the beginning of the body.
func (r *rejection) Error() string { return r.status + ": " + r.text }

// ofBody says that the receiver does not like the body; other faults would be the same with any body.
func (r *rejection) ofBody() bool {
	switch r.code {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// retryAfter is how long a receiver asks to wait: a number of seconds or a date. It is 0 if it asks for nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
