package kafka

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// Defaults of the sink.
const (
	transactionTimeout = 5 * time.Minute // how long readers wait for what a dead process has left open
	endTimeout         = time.Minute
	maxBuffered        = 1 << 20   // records on their way to the brokers
	maxBufferedBytes   = 128 << 20 // and their bytes
	keptBytes          = 8 << 20   // of rows that wait for the end of their batch before its transaction begins
)

// sink writes batches to topics.
type sink struct {
	env           connector.Env
	client        *brokers
	topic         string
	transactional bool
	strict        bool // failOnUnknownBatch
	id            string
	timeout       time.Duration

	mu     sync.Mutex
	ledger *ledger // nil before the first batch, or without transactions
	broken error   // a batch whose end is not known, or a fenced producer: nothing more may be written
}

func newSink(env connector.Env, o connector.Options) (connector.Sink, error) {
	s := &sink{env: env, topic: strings.TrimSpace(o.String("topic", ""))}
	var err error
	if s.transactional, err = o.Bool("transactional", true); err != nil {
		return nil, err
	}
	if s.strict, err = o.Bool("failOnUnknownBatch", true); err != nil {
		return nil, err
	}
	if s.timeout, err = o.Duration("kafka.transaction.timeout.ms", transactionTimeout); err != nil {
		return nil, err
	}
	if env.Schema != nil {
		if _, err := newLayout(env.Schema, s.topic); err != nil {
			return nil, err
		}
	}
	opts := []kgo.Opt{
		kgo.RecordPartitioner(newPartitioner()), kgo.MaxBufferedRecords(maxBuffered), kgo.UnknownTopicRetries(3),
	}
	if _, ok := o.Get("kafka.buffer.memory"); !ok {
		opts = append(opts, kgo.MaxBufferedBytes(maxBufferedBytes))
	}
	if _, ok := o.Get("kafka.linger.ms"); !ok {
		opts = append(opts, kgo.ProducerLinger(0))
	}
	if _, ok := o.Get("kafka.compression.type"); !ok {
		opts = append(opts, kgo.ProducerBatchCompression(kgo.NoCompression()))
	}
	custom, ok := o.Get("kafka.transactional.id")
	switch {
	case ok && !s.transactional:
		return nil, fmt.Errorf("option \"kafka.transactional.id\" has no meaning with transactional: false")
	case ok && strings.TrimSpace(custom) == "":
		return nil, fmt.Errorf("option \"kafka.transactional.id\" is empty")
	case ok:
		s.id = strings.TrimSpace(custom)
	default:
		s.id = "wstream-" + env.QueryID + "-" + env.Name
	}
	if s.transactional {
		if env.QueryID == "" && !ok {
			return nil, fmt.Errorf("a transaction belongs to a query, and there is none; set option \"transactional\" to false")
		}
		opts = append(opts, kgo.TransactionalID(s.id))
		if _, ok := o.Get("kafka.transaction.timeout.ms"); !ok {
			opts = append(opts, kgo.TransactionTimeout(s.timeout))
		}
	}
	s.client, err = dial(env, o, opts...)
	return s, err
}

// Description implements connector.Sink.
func (s *sink) Description() string {
	if s.topic == "" {
		return "KafkaTable"
	}
	return "KafkaTable[" + s.topic + "]"
}

// Close implements connector.Sink. What is open is left to the broker, which drops it when the query starts again.
func (s *sink) Close() error {
	s.client.Close()
	return nil
}

// Recover implements connector.Recoverer: it makes sure that a broker is there, and fences what an earlier process has
// left, so that readers need not wait for the time-out of its transaction.
func (s *sink) Recover(ctx context.Context, _ int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open(ctx)
}

// open gets the producer's id, which ends an open transaction of an earlier process, and then reads the last batch.
func (s *sink) open(ctx context.Context) error {
	if err := s.client.reach(ctx); err != nil {
		return err
	}
	if !s.transactional || s.ledger != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	if _, _, err := s.client.ProducerID(ctx); err != nil {
		return s.fault(fmt.Errorf("transactional id %q: %w", s.id, err))
	}
	l := &ledger{client: s.client, group: s.id}
	if err := l.load(ctx); err != nil {
		return s.fault(err)
	}
	s.ledger = l
	return nil
}

// Begin implements connector.Sink.
func (s *sink) Begin(ctx context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, s.broken
	}
	schema := info.Schema
	if schema == nil {
		schema = s.env.Schema
	}
	l, err := newLayout(schema, s.topic)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	w := &batchWriter{s: s, info: info, layout: l}
	if s.transactional {
		w.done = s.ledger.last >= info.BatchID
		if err := s.forgotten(info); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// ledgerLife is how long brokers keep the offsets of a group that nobody reads with, by their default.
const ledgerLife = 7 * 24 * time.Hour

// forgotten refuses a batch that may be in the topic already, when the brokers have dropped what would tell.
func (s *sink) forgotten(info connector.BatchInfo) error {
	if !s.strict || !info.Replay || s.ledger.found || s.env.Now == nil {
		return nil
	}
	age := s.env.Now().Sub(time.UnixMicro(info.BatchTime))
	if age < ledgerLife {
		return nil
	}
	return fmt.Errorf("batch %d was begun %s ago, and the brokers no longer know whether it was committed (offsets.retention.minutes, group %q): "+
		"look into the topic, then set option failOnUnknownBatch to false to write it", info.BatchID, age.Round(time.Hour), s.id)
}

// batchWriter is one batch.
type batchWriter struct {
	s      *sink
	info   connector.BatchInfo
	layout layout
	done   bool // the batch was committed by an earlier run: nothing is to be written

	kept    []*columnar.Batch // rows that are not sent yet
	size    int
	rows    int // of kept
	sent    bool
	open    bool // the transaction is open
	topics  map[string]bool
	id      int64
	epoch   int16
	failure atomic.Pointer[error] // the first record that could not be written
}

// Write implements connector.BatchWriter. A small batch waits for its end, so that its transaction is short however long
// its rows take to come.
func (w *batchWriter) Write(ctx context.Context, b *columnar.Batch) error {
	if w.done || b.Rows == 0 {
		return nil
	}
	w.kept = append(w.kept, b)
	w.size += b.Size()
	w.rows += b.Rows
	if w.size < keptBytes {
		return nil
	}
	return w.send(ctx, false)
}

// send hands the rows that are kept to the client. With mid the crash point in the middle is passed, in an open transaction
// that has rows at the broker.
func (w *batchWriter) send(ctx context.Context, mid bool) error {
	if w.rows == 0 {
		return nil
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	kept, half := w.kept, w.rows/2
	armed := mid && w.info.Failpoints.Armed(failpoint.SinkPartial, w.info.BatchID)
	w.kept, w.size, w.rows = nil, 0, 0
	for _, b := range kept {
		if armed && b.Rows > half {
			if err := w.produce(ctx, b.Slice(0, half)); err != nil {
				return err
			}
			if err := w.flush(ctx); err != nil {
				return err
			}
			if err := w.info.Failpoints.Hit(failpoint.SinkPartial, w.info.BatchID); err != nil {
				return err
			}
			b, armed = b.Slice(half, b.Rows), false
		}
		half -= b.Rows
		if err := w.produce(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// begin opens the transaction.
func (w *batchWriter) begin(ctx context.Context) error {
	if w.open || !w.s.transactional {
		return nil
	}
	var err error
	if w.id, w.epoch, err = w.s.client.ProducerID(ctx); err != nil {
		return w.s.fault(err)
	}
	if err := w.s.client.BeginTransaction(); err != nil {
		return w.s.fault(err)
	}
	w.open = true
	return nil
}

func (w *batchWriter) produce(ctx context.Context, b *columnar.Batch) error {
	if err := w.failed(); err != nil {
		return err
	}
	records, err := w.layout.records(b)
	if err != nil {
		return err
	}
	if w.topics == nil {
		w.topics = map[string]bool{}
	}
	topic := ""
	for i := range records {
		r := &records[i]
		if r.Topic != topic {
			topic = r.Topic
			w.topics[topic] = true
		}
		w.s.client.Produce(ctx, r, w.promise)
	}
	w.sent = w.sent || len(records) > 0
	return ctx.Err()
}

func (w *batchWriter) promise(r *kgo.Record, err error) {
	if err != nil && w.failure.Load() == nil {
		err = fmt.Errorf("topic %q: %w", r.Topic, err)
		w.failure.CompareAndSwap(nil, &err)
	}
}

// failed is the first error of a record.
func (w *batchWriter) failed() error {
	if e := w.failure.Load(); e != nil {
		return w.s.fault(*e)
	}
	return nil
}

// flush waits until the brokers have all records.
func (w *batchWriter) flush(ctx context.Context) error {
	if err := w.s.client.Flush(ctx); err != nil {
		return w.s.fault(err)
	}
	return w.failed()
}

// Commit implements connector.BatchWriter. A batch without rows needs no transaction: to write it again changes nothing.
func (w *batchWriter) Commit(ctx context.Context) error {
	if w.done {
		return nil
	}
	if err := w.commit(ctx); err != nil {
		_ = w.drop(context.WithoutCancel(ctx)) // the fault before it is the one to tell
		return err
	}
	return nil
}

func (w *batchWriter) commit(ctx context.Context) error {
	if err := w.send(ctx, true); err != nil {
		return err
	}
	if !w.sent {
		return nil
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	points, batch := w.info.Failpoints, w.info.BatchID
	if !w.s.transactional {
		return points.Hit(failpoint.SinkStaged, batch)
	}
	topics := make([]string, 0, len(w.topics))
	for t := range w.topics {
		topics = append(topics, t)
	}
	if err := w.s.ledger.record(ctx, w.id, w.epoch, topics, w.info); err != nil {
		return w.s.fault(err)
	}
	if err := points.Hit(failpoint.SinkStaged, batch); err != nil {
		return err
	}
	return w.end(ctx)
}

// end commits the transaction. If the answer is lost, the ledger tells what has happened.
func (w *batchWriter) end(ctx context.Context) error {
	s := w.s
	// Had the client got another epoch in between, the broker would have dropped the first part of the batch.
	id, epoch, err := s.client.ProducerID(ctx)
	if err == nil && (id != w.id || epoch != w.epoch) {
		err = fmt.Errorf("the brokers have ended the transaction early")
	}
	if err != nil {
		return s.fault(err)
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	err = s.client.EndTransaction(limit, kgo.TryCommit)
	if err == nil {
		w.open = false
		s.ledger.committed(w.info.BatchID)
		return nil
	}
	cause := err
	if err := s.client.EndTransaction(limit, kgo.TryAbort); err == nil {
		w.open = false
		if err := s.ledger.load(limit); err == nil && s.ledger.last >= w.info.BatchID {
			return nil
		}
	}
	return s.fault(fmt.Errorf("end of the transaction: %w", cause))
}

// Done tells whether an earlier run has committed the batch, so that nothing is written.
func (w *batchWriter) Done() bool { return w.done }

// Abort implements connector.BatchWriter.
func (w *batchWriter) Abort(ctx context.Context) error { return w.drop(ctx) }

// drop gives the batch up. Afterwards the sink takes no more: who goes on starts anew, from the ledger.
func (w *batchWriter) drop(ctx context.Context) error {
	w.kept, w.rows, w.size = nil, 0, 0
	if !w.sent && !w.open {
		return nil
	}
	w.s.mu.Lock()
	w.s.broken = fmt.Errorf("batch %d was given up; start the query again", w.info.BatchID)
	w.s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, abortTimeout)
	defer cancel()
	if err := w.s.client.AbortBufferedRecords(ctx); err != nil || !w.open {
		return err
	}
	w.open = false
	if _, epoch, err := w.s.client.ProducerID(ctx); err != nil || epoch != w.epoch {
		return nil // fenced, or ended by the broker: there is nothing of ours to abort
	}
	return w.s.client.EndTransaction(ctx, kgo.TryAbort)
}

const abortTimeout = 5 * time.Second
