package sqldb

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// makesIfMissing tells whether a statement is a CREATE … IF NOT EXISTS.
func makesIfMissing(statement string) bool {
	words := strings.Fields(strings.ToUpper(statement[:min(len(statement), 200)]))
	if len(words) == 0 || words[0] != "CREATE" {
		return false
	}
	return strings.Contains(strings.Join(words, " "), " IF NOT EXISTS")
}

// make runs a CREATE … IF NOT EXISTS within a transaction. Of two transactions that make the same thing at once, the later one waits
// for the end of the other and fails then, whatever IF NOT EXISTS says, and with it all that it has done: here it goes back to where it
// was and tries again, and finds the thing made.
func (p *postgres) make(ctx context.Context, s session, run func() (int64, error)) (n int64, err error) {
	const attempts = 5
	for i := range attempts {
		if _, err = s.exec(ctx, "SAVEPOINT wstream_create"); err != nil {
			return 0, err
		}
		if n, err = run(); err == nil {
			_, err = s.exec(ctx, "RELEASE SAVEPOINT wstream_create")
			return n, err
		}
		if i == attempts-1 || !madeByAnother(err) {
			return 0, err
		}
		if _, e := s.exec(ctx, "ROLLBACK TO SAVEPOINT wstream_create"); e != nil {
			return 0, errors.Join(err, e)
		}
	}
	return n, err
}

// madeByAnother tells of the errors for what another transaction has just made.
func madeByAnother(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case "23505": // in a catalogue: the name of the table, of its type, of an index
		return e.SchemaName == "pg_catalog" || strings.HasPrefix(e.TableName, "pg_")
	case "42P07", "42710", "42P06": // a table or index, a type, a schema of that name
		return true
	}
	return false
}
