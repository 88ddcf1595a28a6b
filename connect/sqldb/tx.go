package sqldb

import (
	"context"
	"errors"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Tx is the transaction of one batch. Exactly one of Commit and Rollback ends it.
type Tx struct {
	db      *DB
	s       session
	sink    string
	info    connector.BatchInfo
	bad     *badText
	release func()
	done    bool
	ended   bool
}

// Begin opens the transaction of a batch of a sink, and takes the sink's row of the ledger, so that another process that
// runs the same query waits. Lost connections are opened again.
func (db *DB) Begin(ctx context.Context, sink string, info connector.BatchInfo) (*Tx, error) {
	release, err := db.d.writer(ctx)
	if err != nil {
		return nil, db.fault(err)
	}
	var tx *Tx
	err = db.retry(ctx, func(s session) error {
		var err error
		tx, err = db.begin(ctx, s, sink, info)
		return err
	})
	if err != nil {
		release()
		return nil, db.fault(err)
	}
	tx.release = release
	return tx, nil
}

// begin is Begin without waiting for the writer's place and without trying again.
func (db *DB) begin(ctx context.Context, s session, sink string, info connector.BatchInfo) (*Tx, error) {
	if err := db.ensureLedger(ctx, s); err != nil {
		return nil, err
	}
	if _, err := s.exec(ctx, db.d.begin()); err != nil {
		return nil, err
	}
	last, err := db.lockLedger(ctx, s, info.QueryID, sink)
	if err != nil {
		_, undo := s.exec(ctx, "ROLLBACK")
		return nil, errors.Join(err, undo)
	}
	return &Tx{db: db, s: s, sink: sink, info: info, bad: newBadText(db, replaceBad), done: last >= info.BatchID, release: func() {}}, nil
}

// Done tells that the batch has been committed before: nothing is to be written.
func (tx *Tx) Done() bool { return tx.done }

// Exec runs a statement for each row, whose columns are its parameters $1, $2, …, and gives the number of rows that the
// database says were touched.
func (tx *Tx) Exec(ctx context.Context, statement string, rows *columnar.Batch) (int64, error) {
	if rows.Rows == 0 {
		return 0, nil
	}
	c, cancel := context.WithTimeout(ctx, tx.db.limits.statement)
	defer cancel()
	run := func() (int64, error) { return tx.s.rows(c, statement, rows, tx.bad) }
	if p, ok := tx.db.d.(*postgres); ok && makesIfMissing(statement) {
		n, err := p.make(c, tx.s, run)
		return n, tx.db.fault(err)
	}
	n, err := run()
	return n, tx.db.fault(err)
}

// Commit writes the ledger and commits.
func (tx *Tx) Commit(ctx context.Context) error { return tx.db.fault(tx.commit(ctx)) }

func (tx *Tx) commit(ctx context.Context) error {
	if tx.ended {
		return errors.New("the transaction has ended")
	}
	if tx.done {
		return tx.rollback(ctx)
	}
	tx.bad.report()
	err := tx.db.writeLedger(ctx, tx.s, tx.sink, tx.info)
	if err == nil {
		_, err = tx.s.exec(ctx, "COMMIT")
	}
	if err != nil {
		_ = tx.rollback(ctx) // the fault before it is the one to tell
		return err
	}
	tx.end()
	return nil
}

// Rollback gives the transaction up; it does nothing when that has ended.
func (tx *Tx) Rollback(ctx context.Context) error { return tx.db.fault(tx.rollback(ctx)) }

func (tx *Tx) rollback(ctx context.Context) error {
	if tx.ended {
		return nil
	}
	defer tx.end()
	if !tx.s.alive() { // the database has rolled back by itself
		return nil
	}
	_, err := tx.s.exec(context.WithoutCancel(ctx), "ROLLBACK")
	if err != nil {
		tx.s.close()
	}
	return err
}

func (tx *Tx) end() {
	tx.ended = true
	tx.release()
}
