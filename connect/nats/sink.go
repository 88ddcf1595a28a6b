package nats

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// sink publishes batches.
type sink struct {
	env     connector.Env
	client  *client
	subject string
	noted   *note // the last entry of the log
}

// note is an entry of the sink's log: what is published by its batch, and later ones, is behind a sequence of the stream.
// It is written now and then, so that a replay has little to look through.
type note struct {
	After   uint64    `json:"after"`
	Created time.Time `json:"created"` // of the stream
}

// noteEvery is how many messages of the stream may lie between entries.
const noteEvery = 20_000

// maxPending is how many messages are on their way to the server.
const maxPending = 4096

func newSink(env connector.Env, o connector.Options) (connector.Sink, error) {
	s := &sink{env: env, subject: strings.TrimSpace(o.String("subject", ""))}
	if env.Schema != nil {
		if _, err := newLayout(env.Schema, s.subject); err != nil {
			return nil, err
		}
	}
	if env.Log != nil {
		err := env.Log.Each(func(batch int64, v json.RawMessage) error {
			s.noted = &note{}
			if err := json.Unmarshal(v, s.noted); err != nil {
				return fmt.Errorf("entry %d of the sink's log: %w", batch, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var err error
	s.client, err = dial(env, o, jetstream.WithPublishAsyncMaxPending(maxPending), jetstream.WithPublishAsyncTimeout(askWait))
	return s, err
}

// Description implements connector.Sink.
func (s *sink) Description() string {
	return "NATSSink[" + strings.TrimSpace(s.client.name+" "+s.subject) + "]"
}

// Close implements connector.Sink.
func (s *sink) Close() error {
	s.client.conn.Close()
	return nil
}

// Recover implements connector.Recoverer: it makes sure that the stream is there.
func (s *sink) Recover(ctx context.Context, _ int64) error {
	_, err := s.client.info(ctx)
	return err
}

// Begin implements connector.Sink.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	schema := info.Schema
	if schema == nil {
		schema = s.env.Schema
	}
	l, err := newLayout(schema, s.subject)
	return &writer{s: s, info: info, layout: l}, err
}

// writer is one batch. It publishes when it is complete, as what is published can be read at once.
type writer struct {
	s      *sink
	info   connector.BatchInfo
	layout layout
	kept   []*columnar.Batch
	rows   int
}

// Write implements connector.BatchWriter.
func (w *writer) Write(_ context.Context, b *columnar.Batch) error {
	if b.Rows > 0 {
		w.kept, w.rows = append(w.kept, b), w.rows+b.Rows
	}
	return nil
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(context.Context) error { return nil }

// Commit implements connector.BatchWriter.
func (w *writer) Commit(ctx context.Context) error {
	points, batch := w.info.Failpoints, w.info.BatchID
	if err := points.Hit(failpoint.SinkStaged, batch); err != nil {
		return err
	}
	if w.rows == 0 {
		return points.Hit(failpoint.SinkPartial, batch)
	}
	there, err := w.s.begin(ctx, w)
	if err != nil {
		return err
	}
	messages := make([]*nats.Msg, 0, w.rows)
	seen := map[string]int{}
	for _, b := range w.kept {
		for i := range b.Rows {
			m, err := w.layout.message(b, i)
			if err != nil {
				return err
			}
			id := w.id(m, seen)
			if there[id] {
				continue
			}
			m.Header.Set(jetstream.MsgIDHeader, id)
			m.Header.Set(jetstream.ExpectedStreamHeader, w.s.client.name)
			messages = append(messages, m)
		}
	}
	w.kept = nil
	half := len(messages) / 2
	if err := w.publish(ctx, messages[:half]); err != nil {
		return err
	}
	if err := points.Hit(failpoint.SinkPartial, batch); err != nil {
		return err
	}
	return w.publish(ctx, messages[half:])
}

// prefix begins the ids of the batch.
func (w *writer) prefix() string {
	return fmt.Sprintf("%s/%s/%d/", w.info.QueryID, url.PathEscape(w.s.env.Name), w.info.BatchID)
}

// id names a message by its content and how often the batch has had the same: the rows of a batch that runs again are the
// same, and may come in another order.
func (w *writer) id(m *nats.Msg, seen map[string]int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %d ", len(m.Subject), m.Subject, len(m.Data))
	h.Write(m.Data)
	for _, name := range sortedNames(m.Header) {
		fmt.Fprintf(h, "%q %q", name, m.Header[name])
	}
	content := base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
	n := seen[content]
	seen[content]++
	return w.prefix() + content + "/" + strconv.Itoa(n)
}

// begin notes where the stream ends, unless that was done not long ago; if the batch runs again it gives the ids of its
// messages that are in the stream.
func (s *sink) begin(ctx context.Context, w *writer) (map[string]bool, error) {
	info, err := s.client.info(ctx)
	if err != nil {
		return nil, err
	}
	same := s.noted != nil && s.noted.Created.Equal(info.Created)
	if w.info.Replay && s.env.Log != nil {
		after := uint64(0)
		if same {
			after = s.noted.After
		}
		return s.there(ctx, max(after+1, info.State.FirstSeq), info.State.LastSeq+1, w.prefix())
	}
	if s.env.Log == nil || same && info.State.LastSeq-s.noted.After < noteEvery {
		return nil, nil
	}
	n := &note{info.State.LastSeq, info.Created}
	text, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	if err := s.env.Log.Put(w.info.BatchID, text); err != nil {
		return nil, err
	}
	s.noted = n
	return nil, s.env.Log.Compact(w.info.BatchID, text)
}

// there looks through messages of the stream for the ids with a prefix.
func (s *sink) there(ctx context.Context, from, to uint64, prefix string) (map[string]bool, error) {
	ids := map[string]bool{}
	r := &reader{client: s.client, headersOnly: true}
	defer r.close()
	err := r.read(ctx, from, to, func(m *message) error {
		if id := m.Headers().Get(jetstream.MsgIDHeader); strings.HasPrefix(id, prefix) {
			ids[id] = true
		}
		return nil
	})
	return ids, err
}

// publish sends messages, those without an answer again and again. The server knows them by their ids.
func (w *writer) publish(ctx context.Context, messages []*nats.Msg) error {
	c := w.s.client
	for begun := time.Now(); len(messages) > 0; {
		var again []*nats.Msg
		var cause error
		futures := make([]jetstream.PubAckFuture, len(messages))
		for i, m := range messages {
			f, err := c.js.PublishMsgAsync(m, jetstream.WithStallWait(askWait))
			if err != nil {
				if again, cause = append(again, m), err; !passes(err) && !errors.Is(err, jetstream.ErrTooManyStalledMsgs) {
					return fmt.Errorf("subject %q: %w", m.Subject, err)
				}
			}
			futures[i] = f
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		for i, f := range futures {
			if f == nil {
				continue
			}
			select {
			case <-f.Ok():
			case err := <-f.Err():
				if again, cause = append(again, messages[i]), err; !passes(err) {
					return fmt.Errorf("subject %q of stream %q: %w", messages[i].Subject, c.name, err)
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if messages = again; len(messages) == 0 {
			return nil
		}
		if time.Since(begun) > c.timeout {
			return c.away(fmt.Errorf("%d messages are without an answer, the first of subject %q (is it one of stream %q?): %w", len(messages), messages[0].Subject, c.name, cause))
		}
		if err := sleep(ctx, retryWait); err != nil {
			return err
		}
	}
	return nil
}
