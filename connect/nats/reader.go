package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// reader gets the messages of a stream in order. It goes on from batch to batch, so that messages come ahead of their batch.
type reader struct {
	client      *client
	subjects    []string
	headersOnly bool

	mu       sync.Mutex
	messages jetstream.MessagesContext // nil if nothing is open
	next     uint64                    // the sequence from which the next message comes
	ahead    *message                  // one that came and was not asked for yet
}

// message is a message with its place in the stream.
type message struct {
	jetstream.Msg
	sequence uint64
	pending  uint64 // how many were behind it when the server sent it
	at       time.Time
}

// Bounds of what comes ahead of its batch.
const (
	aheadMessages = 8192
	aheadBytes    = 16 << 20
)

// seek makes the next message the first one from a sequence on. The lock is held.
func (r *reader) seek(ctx context.Context, sequence uint64) error {
	if r.messages != nil && r.next == sequence && (r.ahead == nil || r.ahead.sequence >= sequence) {
		return nil
	}
	r.drop()
	return r.client.ask(ctx, func(ctx context.Context) error {
		c, err := r.client.js.OrderedConsumer(ctx, r.client.name, jetstream.OrderedConsumerConfig{
			FilterSubjects: r.subjects, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: sequence, InactiveThreshold: time.Minute, HeadersOnly: r.headersOnly,
		})
		if err != nil {
			return err
		}
		m, err := c.Messages(jetstream.PullMaxMessagesWithBytesLimit(aheadMessages, aheadBytes))
		if err == nil {
			r.messages, r.next = m, sequence
		}
		return err
	})
}

func (r *reader) drop() {
	if r.messages != nil {
		r.messages.Stop()
	}
	r.messages, r.ahead = nil, nil
}

func (r *reader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
}

// take is the next message, nil if none comes within a time. The lock is held.
func (r *reader) take(ctx context.Context, within time.Duration) (*message, error) {
	m := r.ahead
	if m == nil {
		limit, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		got, err := r.messages.Next(jetstream.NextContext(limit))
		if err != nil {
			if limit.Err() != nil && ctx.Err() == nil {
				return nil, nil
			}
			return nil, err
		}
		meta, err := got.Metadata()
		if err != nil {
			return nil, err
		}
		m = &message{got, meta.Sequence.Stream, meta.NumPending, meta.Timestamp}
	}
	r.ahead, r.next = nil, m.sequence+1
	return m, nil
}

// wait returns when there is a message from a sequence on, or something is to be looked at.
func (r *reader) wait(ctx context.Context, sequence uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ahead != nil && r.next == sequence {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	if err := r.seek(limit, sequence); err == nil {
		var m *message
		if m, err = r.take(limit, lookEvery); err == nil && m != nil {
			r.ahead, r.next = m, sequence
			return nil
		} else if err != nil && limit.Err() == nil {
			r.drop()
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

const (
	// lookEvery is how often a source without new messages looks whether the stream is still there.
	lookEvery = time.Second
	// quiet is how long no message comes before the server is asked whether there are any.
	quiet = 200 * time.Millisecond
)

// read gives the messages from a sequence on and below another one, in order.
func (r *reader) read(ctx context.Context, from, to uint64, give func(m *message) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for moved := time.Now(); from < to; {
		m, err := (*message)(nil), r.seek(ctx, from)
		if err == nil {
			m, err = r.take(ctx, quiet)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			if r.drop(); time.Since(moved) > r.client.timeout {
				return r.client.away(fmt.Errorf("sequence %d of stream %q: %w", from, r.client.name, err))
			}
			if err := sleep(ctx, retryWait); err != nil {
				return err
			}
			continue
		case m == nil:
			next, done, err := r.done(ctx, from, to)
			if err != nil || done {
				return err
			}
			if time.Since(moved) > r.client.timeout {
				return fmt.Errorf("stream %q: message %d does not come within %s", r.client.name, next, r.client.timeout)
			}
			if time.Since(moved) > 2*quiet {
				r.drop() // ask anew
			}
			continue
		case m.sequence >= to:
			r.ahead, r.next = m, to
			return nil
		case m.sequence < from:
			continue
		}
		if err := give(m); err != nil {
			return err
		}
		from, moved = m.sequence+1, time.Now()
		if m.pending == 0 && from < to {
			if _, done, err := r.done(ctx, from, to); err != nil || done {
				return err
			}
		}
	}
	return nil
}

// done asks whether there is no message with a sequence from one on and below another; the last ones may have another
// subject, or have been deleted. The lock is held.
func (r *reader) done(ctx context.Context, from, to uint64) (next uint64, done bool, err error) {
	info, err := r.client.info(ctx)
	if err != nil {
		return 0, false, err
	}
	subjects := r.subjects
	if subjects == nil {
		subjects = []string{">"} // looks for a message that is there
	}
	if next, err = r.client.nextMatch(ctx, from, subjects, info); err != nil {
		return 0, false, err
	}
	if done = next == 0 || next >= to; done && r.ahead == nil {
		r.next = to // what the server sends next is behind it
	}
	return next, done, nil
}

// nextMatch is the sequence of the first message from a sequence on that has one of the subjects, 0 for none. Without
// subjects it is the next sequence below the end, whether its message is there or not.
func (c *client) nextMatch(ctx context.Context, from uint64, subjects []string, info *jetstream.StreamInfo) (uint64, error) {
	if from > info.State.LastSeq || info.State.Msgs == 0 {
		return 0, nil
	}
	if subjects == nil {
		return max(from, info.State.FirstSeq), nil
	}
	found := uint64(0)
	for _, subject := range subjects {
		err := c.ask(ctx, func(ctx context.Context) error {
			s, err := c.js.Stream(ctx, c.name)
			if err != nil {
				return err
			}
			m, err := s.GetMsg(ctx, max(from, info.State.FirstSeq), jetstream.WithGetMsgSubject(subject))
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return nil
			}
			if err == nil && (found == 0 || m.Sequence < found) {
				found = m.Sequence
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return found, nil
}

// sequenceAt is the sequence of the first message at or after a time, or the one behind the last.
func (c *client) sequenceAt(ctx context.Context, at time.Time) (uint64, error) {
	var n uint64
	err := c.ask(ctx, func(ctx context.Context) error {
		// A consumer that begins at the time knows the sequence; no other request tells it.
		cons, err := c.js.CreateConsumer(ctx, c.name, jetstream.ConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &at, AckPolicy: jetstream.AckNonePolicy,
			MemoryStorage: true, InactiveThreshold: time.Second, HeadersOnly: true,
		})
		if err != nil {
			return err
		}
		info := cons.CachedInfo()
		n = info.Delivered.Stream + 1
		return c.js.DeleteConsumer(ctx, c.name, info.Name)
	})
	return n, err
}
