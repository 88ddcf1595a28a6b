package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// sink writes batches to a table.
type sink struct {
	env    connector.Env
	db     *DB
	target target
	bad    badRule
}

func newSink(driver string, env connector.Env, o connector.Options) (connector.Sink, error) {
	db, err := openOption(driver, env, o)
	if err != nil {
		return nil, err
	}
	s := &sink{env: env, db: db}
	s.target.table = strings.TrimSpace(o.String("table", ""))
	if s.target.table == "" {
		return nil, errors.New("option \"table\" is missing: the name of the table")
	}
	for _, k := range strings.Split(strings.Trim(o.String("key", ""), "[] "), ",") {
		if k = strings.Trim(strings.TrimSpace(k), "`\"'"); k != "" {
			s.target.key = append(s.target.key, k)
		}
	}
	switch mode := strings.ToLower(o.String("mode", "append")); {
	case mode == "upsert" && len(s.target.key) == 0:
		return nil, errors.New("option \"key\" is missing: mode upsert needs the columns that make a row, as in key: [id]")
	case mode == "append" && len(s.target.key) > 0:
		return nil, errors.New("option \"key\" has no meaning with mode append; did you mean mode: upsert?")
	case mode != "append" && mode != "upsert":
		return nil, fmt.Errorf("option \"mode\": found %q, expected upsert or append", mode)
	}
	if s.bad, err = parseBadRule(o.String("badText", "replace")); err != nil {
		return nil, err
	}
	return s, nil
}

// openOption opens the connection that the option names, or the one that dsn describes.
func openOption(driver string, env connector.Env, o connector.Options) (*DB, error) {
	name, named := o.Get("connection")
	dsn, direct := o.Get("dsn")
	switch {
	case named && direct:
		return nil, errors.New("options \"connection\" and \"dsn\" cannot stand together")
	case direct:
		return Open(env, connector.Connection{Name: env.Name, Driver: driver, DSN: dsn})
	case !named:
		return nil, errors.New("option \"connection\" is missing: the name of an entry of connections")
	case env.Connection == nil:
		return nil, fmt.Errorf("connection %q: there are no connections here", name)
	}
	c, err := env.Connection(name)
	if err != nil {
		return nil, err
	}
	if have := DriverName(c.Driver); have != "" && have != driver {
		return nil, fmt.Errorf("connection %q is to %s, not to %s; use format: %s", name, have, driver, have)
	}
	return Open(env, c)
}

// Description implements connector.Sink.
func (s *sink) Description() string {
	mode := "append"
	if len(s.target.key) > 0 {
		mode = "upsert by " + strings.Join(s.target.key, ", ")
	}
	return fmt.Sprintf("%s[%s, %s]", s.db.Driver(), s.target.table, mode)
}

// Close implements connector.Sink.
func (s *sink) Close() error { return s.db.Close() }

// Begin implements connector.Sink. Nothing is sent to the database before there is much, or the batch is complete.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	w := &writer{s: s, info: info, schema: info.Schema}
	if w.schema == nil {
		w.schema = s.env.Schema
	}
	return w, nil
}

// maxKept bounds the bytes of rows that wait in memory for the end of their batch, so that its transaction is short and
// can be tried again. What comes beyond is sent within an open transaction.
const maxKept = 64 << 20

// writer is one batch.
type writer struct {
	s      *sink
	info   connector.BatchInfo
	schema *columnar.Schema
	kept   []*columnar.Batch
	size   int
	rows   int
	tx     *Tx // open once the rows were too many to keep
}

// Write implements connector.BatchWriter.
func (w *writer) Write(ctx context.Context, b *columnar.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	w.kept = append(w.kept, b)
	w.size += b.Size()
	w.rows += b.Rows
	if w.size < maxKept {
		return nil
	}
	if w.tx == nil {
		tx, err := w.open(ctx)
		if err != nil {
			return err
		}
		w.tx = tx
	}
	err := w.send(ctx, w.tx, false)
	w.kept, w.size = w.kept[:0], 0
	return err
}

// open begins the transaction.
func (w *writer) open(ctx context.Context) (*Tx, error) {
	db := w.s.db
	err := db.retry(ctx, func(s session) error { return w.s.prepare(ctx, s, w.schema) })
	if err != nil {
		return nil, db.fault(err)
	}
	tx, err := db.Begin(ctx, w.s.env.Name, w.info)
	if err == nil {
		tx.bad.rule = w.s.bad
		if err = w.replace(ctx, tx); err != nil {
			return nil, errors.Join(err, tx.Rollback(ctx))
		}
	}
	return tx, err
}

func (s *sink) prepare(ctx context.Context, session session, schema *columnar.Schema) error {
	if err := s.target.prepare(ctx, s.db, session, schema); err != nil {
		return fmt.Errorf("table %q: %w", s.target.table, err)
	}
	return nil
}

// replace empties the table for a batch that is the complete result.
func (w *writer) replace(ctx context.Context, tx *Tx) error {
	if w.info.Mode != connector.Complete || tx.Done() {
		return nil
	}
	_, err := tx.s.exec(ctx, "DELETE FROM "+quoteTable(tx.db.d, w.s.target.table))
	return w.s.fault(err)
}

func (s *sink) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table %q: %w", s.target.table, s.db.d.explain(err))
}

// send writes the rows that are kept. With mid the crash point in the middle is passed.
func (w *writer) send(ctx context.Context, tx *Tx, mid bool) error {
	points, sent := w.info.Failpoints, 0
	if tx.Done() {
		return nil
	}
	armed := mid && points.Armed(failpoint.SinkPartial, w.info.BatchID)
	rows := w.kept
	if len(w.s.target.key) > 0 && len(rows) > 1 {
		rows = []*columnar.Batch{columnar.ConcatBatches(rows)} // so that the last row of a key wins
	}
	for _, b := range rows {
		for armed && sent+b.Rows > w.rows/2 {
			half := max(w.rows/2-sent, 0)
			if err := w.sendRows(ctx, tx, b.Slice(0, half)); err != nil {
				return err
			}
			b, armed = b.Slice(half, b.Rows), false
			if err := points.Hit(failpoint.SinkPartial, w.info.BatchID); err != nil {
				return err
			}
		}
		if err := w.sendRows(ctx, tx, b); err != nil {
			return err
		}
		sent += b.Rows
	}
	if armed {
		return points.Hit(failpoint.SinkPartial, w.info.BatchID)
	}
	return nil
}

func (w *writer) sendRows(ctx context.Context, tx *Tx, b *columnar.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	t := &w.s.target
	exec := func(statement string, rows *columnar.Batch) error {
		c, cancel := context.WithTimeout(ctx, tx.db.limits.statement)
		defer cancel()
		_, err := tx.s.rows(c, statement, rows, tx.bad)
		return w.s.fault(err)
	}
	if len(t.key) == 0 {
		return exec(t.insert(tx.db.d), b)
	}
	whole, withNull := t.lastOfKey(b)
	if withNull != nil && withNull.Rows > 0 {
		if err := t.removeNulls(withNull, exec, tx.db.d); err != nil {
			return err
		}
		if err := exec(t.insert(tx.db.d), withNull); err != nil {
			return err
		}
	}
	if whole.Rows == 0 {
		return nil
	}
	return exec(t.insert(tx.db.d), whole)
}

// Commit implements connector.BatchWriter. If the connection is lost, or the transaction meets another one, the whole
// transaction is tried again; the ledger tells whether a commit whose answer was lost has happened.
func (w *writer) Commit(ctx context.Context) error {
	db := w.s.db
	if w.tx != nil {
		if err := w.finish(ctx, w.tx); err != nil {
			return db.fault(errors.Join(err, w.tx.rollback(ctx)))
		}
		return nil
	}
	release, err := db.d.writer(ctx)
	if err != nil {
		return db.fault(err)
	}
	defer release()
	return db.fault(db.retry(ctx, func(s session) error {
		if err := w.s.prepare(ctx, s, w.schema); err != nil {
			return err
		}
		tx, err := db.begin(ctx, s, w.s.env.Name, w.info)
		if err != nil {
			return err
		}
		tx.bad.rule = w.s.bad
		if err := w.replace(ctx, tx); err != nil {
			return errors.Join(err, tx.rollback(ctx))
		}
		if err := w.finish(ctx, tx); err != nil {
			return errors.Join(err, tx.rollback(ctx))
		}
		return nil
	}))
}

// finish sends what is left and commits.
func (w *writer) finish(ctx context.Context, tx *Tx) error {
	if err := w.send(ctx, tx, true); err != nil {
		return err
	}
	if err := w.info.Failpoints.Hit(failpoint.SinkStaged, w.info.BatchID); err != nil {
		return err
	}
	return tx.commit(ctx)
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(ctx context.Context) error {
	w.kept = nil
	if w.tx == nil {
		return nil
	}
	return w.tx.Rollback(ctx)
}
