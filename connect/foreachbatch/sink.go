// Package foreachbatch is the sink that hands each batch to a foreachBatch function of a Wasm module.
//
// The function may write through the host's sql capability. All that it writes there in one batch is one
// transaction per connection, which also writes the batch's id into the ledger of the database: a batch that is run again
// after a crash is found there and is not handed to the function a second time. The kv capability is a store in the
// checkpoint, the produce capability a transaction of Kafka; both take a batch as a whole or not at all, and note its id as well.
package foreachbatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect/sqldb"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/failpoint"
)

// Sink hands batches to a function.
type Sink struct {
	env      connector.Env
	module   *host.Module
	function string
	bound    *host.Bound
	schema   *columnar.Schema
	dbs      []*sqldb.DB    // opened once for each database, which several connections may name
	names    map[string]int // the connections that the module is allowed, as positions in dbs
	kv       *store         // nil before the first batch, or where the module is allowed no namespace
	producer connector.Sink // nil where the module is allowed no topic
}

// New makes a sink of the foreachBatch function of a module. The connections that the module is allowed are looked up
// at once, and opened with the first batch. The function is bound when the schema of the rows is known: at once if env
// has it. options say where the brokers are, for a module that may produce.
func New(env connector.Env, m *host.Module, function string, options connector.Options) (connector.Sink, error) {
	s := &Sink{env: env, module: m, function: function, names: map[string]int{}}
	at := map[[2]string]int{}
	for _, name := range m.Permissions().SQL {
		if env.Connection == nil {
			return nil, fmt.Errorf("module %q is allowed the connection %q, but there are no connections here", m.Name(), name)
		}
		c, err := env.Connection(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("module %q is allowed %q: %w", m.Name(), "sql:"+name, err), s.Close())
		}
		where := [2]string{sqldb.DriverName(c.Driver), c.DSN}
		if k, ok := at[where]; ok { // one transaction serves both names
			s.names[name] = k
			continue
		}
		db, err := sqldb.Open(env, c)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		at[where], s.names[name] = len(s.dbs), len(s.dbs)
		s.dbs = append(s.dbs, db)
	}
	if topics := m.Permissions().Produce; len(topics) > 0 {
		var err error
		if s.producer, err = openProducer(env, options); err != nil {
			return nil, errors.Join(fmt.Errorf("module %q is allowed %q: %w", m.Name(), "produce:"+topics[0], err), s.Close())
		}
	}
	if len(m.Permissions().KV) > 0 && env.Log == nil {
		return nil, errors.Join(fmt.Errorf("module %q is allowed %q, but there is no checkpoint to keep it in", m.Name(), "kv:"+m.Permissions().KV[0]), s.Close())
	}
	if env.Schema != nil {
		if err := s.bind(context.Background(), env.Schema); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// bind prepares the function for rows of a schema.
func (s *Sink) bind(ctx context.Context, schema *columnar.Schema) error {
	if s.bound != nil && s.schema.Equal(schema) {
		return nil
	}
	b, err := s.module.Bind(ctx, s.function, schema)
	if err != nil {
		return err
	}
	s.bound, s.schema = b, schema
	return nil
}

// Description implements connector.Sink.
func (s *Sink) Description() string {
	return fmt.Sprintf("ForeachBatchSink[%s.%s]", s.module.Name(), s.function)
}

// Close implements connector.Sink.
func (s *Sink) Close() error {
	var errs []error
	for _, db := range s.dbs {
		errs = append(errs, db.Close())
	}
	s.dbs = nil
	if s.producer != nil {
		errs = append(errs, s.producer.Close())
		s.producer = nil
	}
	return errors.Join(errs...)
}

// Recover implements connector.Recoverer: a transaction that an earlier process has left at the brokers is ended.
func (s *Sink) Recover(ctx context.Context, committed int64) error {
	if r, ok := s.producer.(connector.Recoverer); ok {
		return r.Recover(ctx, committed)
	}
	return nil
}

// Begin implements connector.Sink: it opens the transactions and the batch at the function. A batch that stands in the
// ledger of everything that the function may write to is passed over.
func (s *Sink) Begin(ctx context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	schema := info.Schema
	if schema == nil {
		schema = s.env.Schema
	}
	if err := s.bind(ctx, schema); err != nil {
		return nil, err
	}
	w := &writer{info: info, txs: &transactions{names: s.names}}
	done := 0
	for _, db := range s.dbs {
		tx, err := db.Begin(ctx, s.env.Name, info)
		if err != nil {
			return nil, errors.Join(err, w.txs.rollback(ctx))
		}
		w.txs.open = append(w.txs.open, tx)
		if tx.Done() {
			done++
		}
	}
	all := len(s.dbs)
	if len(s.module.Permissions().KV) > 0 {
		all++
		if s.kv == nil {
			var err error
			if s.kv, err = openStore(s.env.Log); err != nil {
				return nil, errors.Join(err, w.txs.rollback(ctx))
			}
		}
		var noted bool
		if w.kv, noted = s.kv.begin(info.BatchID); noted {
			done++
		}
	}
	if s.producer != nil {
		all++
		var noted bool
		var err error
		if w.producer, noted, err = beginProducer(ctx, s.producer, info); err != nil {
			return nil, errors.Join(err, w.txs.rollback(ctx))
		}
		if noted {
			done++
		}
	}
	if done > 0 && done == all {
		w.skip = true
		return w, w.txs.rollback(ctx)
	}
	call := host.Call{
		QueryID: info.QueryID, BatchID: info.BatchID, Watermark: info.Watermark, BatchTime: info.BatchTime, Replay: info.Replay,
	}
	if info.Replay {
		call.Attempt = 1
	}
	if len(s.dbs) > 0 {
		call.Capabilities.SQL = w.txs
	}
	if w.kv != nil {
		call.Capabilities.KV = w.kv
	}
	if w.producer != nil {
		call.Capabilities.Produce = w.producer
	}
	var err error
	if w.guest, err = s.bound.Begin(ctx, call); err != nil {
		return nil, errors.Join(err, w.drop(ctx))
	}
	return w, nil
}

// writer is one batch.
type writer struct {
	info  connector.BatchInfo
	guest *host.BatchWriter
	txs   *transactions
	skip  bool // the batch has been written before

	kv       *storeBatch // nil where the module is allowed no namespace
	producer *producer   // nil where the module is allowed no topic
}

// Write implements connector.BatchWriter.
func (w *writer) Write(ctx context.Context, b *columnar.Batch) error {
	if w.skip {
		return nil
	}
	return w.guest.Write(ctx, b)
}

// Commit implements connector.BatchWriter: the function's own commit first, then the transactions with the ledger. A crash
// between two of them leaves the batch in some ledgers only; run again, it is written to the others, and the store is written
// anew from what it was before the batch.
func (w *writer) Commit(ctx context.Context) error {
	if w.skip {
		return nil
	}
	if err := w.publish(ctx); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return nil
}

func (w *writer) publish(ctx context.Context) error {
	points := w.info.Failpoints
	if err := points.Hit(failpoint.SinkPartial, w.info.BatchID); err != nil {
		return err
	}
	if err := w.guest.Commit(ctx); err != nil {
		return err
	}
	w.guest = nil
	if err := points.Hit(failpoint.SinkStaged, w.info.BatchID); err != nil {
		return err
	}
	if w.kv != nil {
		if err := w.kv.commit(); err != nil {
			return err
		}
	}
	if w.producer != nil {
		p := w.producer
		w.producer = nil
		if err := p.w.Commit(ctx); err != nil {
			return err
		}
	}
	return w.txs.commit(ctx)
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(ctx context.Context) error {
	if w.guest != nil {
		w.guest.Abort(ctx)
		w.guest = nil
	}
	return w.drop(ctx)
}

// drop gives up what is open outside.
func (w *writer) drop(ctx context.Context) error {
	var err error
	if w.producer != nil {
		err = w.producer.w.Abort(ctx)
		w.producer = nil
	}
	return errors.Join(err, w.txs.rollback(ctx))
}
