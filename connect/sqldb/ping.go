package sqldb

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Ping opens a session and closes it again: a nil result means that the database is there and takes the credentials. It
// does not try a second time, and a SQLite file that is not there is made.
func (db *DB) Ping(ctx context.Context) error {
	s, err := db.d.connect(ctx)
	if err != nil {
		return fmt.Errorf("connection %q: %w", db.conn.Name, db.d.explain(err))
	}
	s.close()
	return nil
}

// ConnectFailed tells whether an error is that of a PostgreSQL session that could not be opened, for whatever reason.
func ConnectFailed(err error) bool {
	var e *pgconn.ConnectError
	return errors.As(err, &e)
}
