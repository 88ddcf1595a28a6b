package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// dialect is a kind of database, made for one connection of a pipeline.
type dialect interface {
	// connect opens a session.
	connect(ctx context.Context) (session, error)
	// transient tells whether an error may be gone when the whole transaction is tried again.
	transient(err error) bool
	// explain adds to an error what can be done about it.
	explain(err error) error
	// quote writes an identifier, text a string literal.
	quote(name string) string
	text(s string) string
	// columnType is the type of a column of a table that is made for rows of type t; a key is part of an index of keys
	// columns.
	columnType(t *columnar.Type, key bool, keys int) (string, error)
	// columns describes a table: nil if it is not there.
	columns(ctx context.Context, s session, table string) ([]tableColumn, error)
	// unique tells whether the table has a unique index of just these columns.
	unique(ctx context.Context, s session, table string, key []string) (bool, error)
	// nullSafe is the operator that compares as equal two nulls.
	nullSafe() string
	// begin and lock are the statement that begins a transaction, and what reads a ledger row so that others wait.
	begin() string
	lock() string
	// writer waits until no other sink of the process writes, where the database has one writer at a time.
	writer(ctx context.Context) (release func(), err error)
}

// session is one connection to a database. It serves one goroutine.
type session interface {
	// exec runs a statement without parameters and gives the number of rows touched.
	exec(ctx context.Context, statement string) (int64, error)
	// rows runs a statement for each row, whose columns are $1, $2, ….
	rows(ctx context.Context, statement string, b *columnar.Batch, bad *badText) (int64, error)
	// query reads a result. head gets the columns, row the values of each row as text, nil for null, which are valid
	// until it returns.
	query(ctx context.Context, statement string, head func([]resultColumn) error, row func([][]byte) error) error
	// alive tells whether the session can still be used.
	alive() bool
	close()
}

// tableColumn is a column of a table.
type tableColumn struct {
	name string
	typ  string // as the database writes it
}

// resultColumn is a column of a result.
type resultColumn struct {
	name string
	typ  *columnar.Type
	hex  bool // the text of a BINARY column is hexadecimal behind \x
}

// DB is a connection of a pipeline, opened when it is needed and again when it was lost. It serves one goroutine.
type DB struct {
	conn    connector.Connection
	d       dialect
	warn    func(format string, args ...any)
	session session
	ledger  bool // the ledger table is known to be there
	limits  limits
}

// limits are what a connection's options say about time.
type limits struct {
	connect   time.Duration // for one attempt to connect
	statement time.Duration // for one statement
	retry     time.Duration // for all attempts of a transaction
}

func limitsOf(c connector.Connection) (limits, error) {
	o := connector.NewOptions(c.Options)
	l := limits{}
	var err error
	if l.connect, err = o.Duration("connectTimeout", 10*time.Second); err != nil {
		return l, err
	}
	if l.statement, err = o.Duration("statementTimeout", 10*time.Minute); err != nil {
		return l, err
	}
	l.retry, err = o.Duration("retryTimeout", time.Minute)
	return l, err
}

// Open prepares a connection; nothing is connected yet. An unknown driver and a malformed dsn are refused.
func Open(env connector.Env, c connector.Connection) (*DB, error) {
	l, err := limitsOf(c)
	if err != nil {
		return nil, fmt.Errorf("connection %q: %w", c.Name, err)
	}
	db := &DB{conn: c, warn: env.Warn, limits: l}
	if db.warn == nil {
		db.warn = func(string, ...any) {}
	}
	switch strings.ToLower(c.Driver) {
	case "postgres", "postgresql", "pgx":
		db.d, err = newPostgres(c, l)
	case "mysql", "mariadb":
		db.d, err = newMySQL(c, l)
	case "sqlite", "sqlite3":
		db.d, err = newSQLite(env, c, l)
	default:
		err = fmt.Errorf("driver %q is unknown; there are postgres, mysql and sqlite", c.Driver)
	}
	if err != nil {
		return nil, fmt.Errorf("connection %q: %w", c.Name, err)
	}
	return db, nil
}

// Driver is the kind of database: postgres, mysql or sqlite.
func (db *DB) Driver() string { return DriverName(db.conn.Driver) }

// DriverName is the name of a driver without its variants, "" for one that there is not.
func DriverName(driver string) string {
	switch strings.ToLower(driver) {
	case "postgres", "postgresql", "pgx":
		return "postgres"
	case "mysql", "mariadb":
		return "mysql"
	case "sqlite", "sqlite3":
		return "sqlite"
	}
	return ""
}

// Close ends the session, if there is one.
func (db *DB) Close() error {
	if db.session != nil {
		db.session.close()
		db.session = nil
	}
	return nil
}

// fault names the connection in an error and says what to do.
func (db *DB) fault(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("connection %q: %w", db.conn.Name, db.d.explain(err))
}

// backoff is how long to wait before attempt n, from 1.
func backoff(n int) time.Duration {
	return min(50*time.Millisecond<<min(n, 8), 5*time.Second)
}

// retry calls f until it succeeds, fails for good, or time is up. A session that was lost is replaced.
func (db *DB) retry(ctx context.Context, f func(s session) error) error {
	begun := time.Now()
	for n := 1; ; n++ {
		err := db.attempt(ctx, f)
		if err == nil || ctx.Err() != nil || !db.d.transient(err) {
			return err
		}
		wait := backoff(n)
		if time.Since(begun)+wait > db.limits.retry {
			return fmt.Errorf("given up after %d attempts in %s: %w", n, time.Since(begun).Round(time.Millisecond), err)
		}
		if n == 2 {
			db.warn("connection %q: %v; trying again for %s", db.conn.Name, err, db.limits.retry)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

func (db *DB) attempt(ctx context.Context, f func(s session) error) error {
	if db.session != nil && !db.session.alive() {
		db.session.close()
		db.session = nil
	}
	if db.session == nil {
		c, cancel := context.WithTimeout(ctx, db.limits.connect)
		defer cancel()
		s, err := db.d.connect(c)
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		db.session = s
	}
	err := f(db.session)
	if err != nil && db.d.transient(err) && db.session != nil {
		db.session.close()
		db.session = nil
	}
	return err
}
