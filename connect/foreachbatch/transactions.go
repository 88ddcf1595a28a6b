package foreachbatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/connect/sqldb"
)

// transactions are those of a batch, one for each database. The errors of package sqldb name the connection.
type transactions struct {
	open  []*sqldb.Tx
	names map[string]int // of connections, as positions in open
}

// Exec implements host.SQLExecutor.
func (t *transactions) Exec(ctx context.Context, connection, statement string, rows *columnar.Batch) (int64, error) {
	i, ok := t.names[connection]
	if !ok || i >= len(t.open) {
		return 0, fmt.Errorf("no transaction on connection %q is open", connection)
	}
	if t.open[i].Done() { // written by the same batch before a crash, when another database was not
		return 0, nil
	}
	return t.open[i].Exec(ctx, statement, rows)
}

// commit commits them one after the other. A crash in between leaves the batch in some ledgers only; run again, it is
// written to the others alone.
func (t *transactions) commit(ctx context.Context) error {
	for _, tx := range t.open {
		if err := tx.Commit(ctx); err != nil {
			return errors.Join(err, t.rollback(ctx))
		}
	}
	t.open = nil
	return nil
}

// rollback gives up those that have not ended.
func (t *transactions) rollback(ctx context.Context) error {
	var errs []error
	for _, tx := range t.open {
		errs = append(errs, tx.Rollback(ctx))
	}
	t.open = nil
	return errors.Join(errs...)
}
