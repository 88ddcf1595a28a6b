package foreachbatch

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect/sqldb"
)

// transactions are the open transactions of a batch by the name of their connection.
type transactions map[string]*sqldb.Tx

// Exec implements host.SQLExecutor.
func (t transactions) Exec(ctx context.Context, connection, statement string, rows *columnar.Batch) (int64, error) {
	tx := t[connection]
	if tx == nil {
		return 0, fmt.Errorf("no transaction on connection %q is open", connection)
	}
	if tx.Done() { // written by the same batch before a crash, when another connection was not
		return 0, nil
	}
	return tx.Exec(ctx, statement, rows)
}

func (t transactions) names() []string {
	var names []string
	for n := range t {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// commit commits them one after the other. A crash in between leaves the batch in some ledgers only; run again, it is
// written to the others alone.
func (t transactions) commit(ctx context.Context) error {
	for _, n := range t.names() {
		if err := t[n].Commit(ctx); err != nil {
			return errors.Join(fmt.Errorf("connection %q: %w", n, err), t.rollback(ctx))
		}
		delete(t, n)
	}
	return nil
}

// rollback gives up those that are open.
func (t transactions) rollback(ctx context.Context) error {
	var errs []error
	for _, n := range t.names() {
		if err := t[n].Rollback(ctx); err != nil {
			errs = append(errs, fmt.Errorf("connection %q: %w", n, err))
		}
		delete(t, n)
	}
	return errors.Join(errs...)
}
