package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// sqliteDialect is the dialect of SQLite.
type sqliteDialect struct {
	path  string
	dsn   string
	turn  chan struct{} // held by the one sink of the process that writes to the file
	limit limits
}

func newSQLite(env connector.Env, c connector.Connection, l limits) (dialect, error) {
	path, query, err := sqlitePath(env.BaseDir, c.DSN)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	// What is committed must outlive a loss of power, since the checkpoint relies on it.
	for _, p := range []string{fmt.Sprintf("busy_timeout(%d)", l.connect.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"} {
		values.Add("_pragma", p)
	}
	turn := env.Shared.Get("sqlite writer "+path, func() any { return make(chan struct{}, 1) }).(chan struct{})
	return &sqliteDialect{path: path, dsn: "file:" + escapePath(path) + "?" + values.Encode(), turn: turn, limit: l}, nil
}

// sqlitePath splits a dsn, which is a path or a URI, into the absolute path of the file and its parameters.
func sqlitePath(base, dsn string) (path, query string, err error) {
	if rest, ok := strings.CutPrefix(dsn, "file:"); ok {
		path, query, _ = strings.Cut(rest, "?")
		if path, err = url.PathUnescape(strings.TrimPrefix(path, "//")); err != nil {
			return "", "", fmt.Errorf("dsn: %w", err)
		}
	} else {
		path = dsn
	}
	switch {
	case path == "":
		return "", "", errors.New("dsn is empty: the path of the database file is expected")
	case path == ":memory:" || strings.Contains(query, "mode=memory"):
		return "", "", errors.New("dsn: a database in memory is gone with its connection; name a file")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	path, err = filepath.Abs(path)
	return path, query, err
}

// escapePath writes a path for a URI.
func escapePath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
}

func (q *sqliteDialect) connect(context.Context) (session, error) {
	conn, err := (&sqlite.Driver{}).Open(q.dsn)
	if err != nil {
		return nil, err
	}
	s := &sqliteSession{driverSession: driverSession{conn: conn}, statements: map[string]*sqliteStatement{}}
	s.columnsOf = sqliteColumns
	return s, nil
}

// Result codes of SQLite.
const (
	sqliteBusy, sqliteLocked, sqliteReadOnly, sqliteFull, sqliteCantOpen, sqliteConstraint = 5, 6, 8, 13, 14, 19
)

func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func (q *sqliteDialect) transient(err error) bool {
	c := sqliteCode(err)
	return c == sqliteBusy || c == sqliteLocked || errors.Is(err, driver.ErrBadConn)
}

func (q *sqliteDialect) explain(err error) error {
	switch sqliteCode(err) {
	case sqliteBusy, sqliteLocked:
		return fmt.Errorf("%w: another process writes to the file and does not end", err)
	case sqliteReadOnly:
		return fmt.Errorf("%w: make the file and its folder writable", err)
	case sqliteFull:
		return fmt.Errorf("%w: make room on the disk", err)
	case sqliteCantOpen:
		return fmt.Errorf("%w: the folder of the file must be there", err)
	}
	return err
}

func (q *sqliteDialect) quote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (q *sqliteDialect) text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (q *sqliteDialect) columnType(t *columnar.Type, _ bool, _ int) (string, error) {
	switch t.Kind {
	case columnar.KindBool:
		return "BOOLEAN", nil
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32:
		return "INTEGER", nil
	case columnar.KindInt64:
		return "BIGINT", nil
	case columnar.KindFloat32, columnar.KindFloat64:
		return "REAL", nil
	case columnar.KindDecimal:
		// SQLite keeps numbers as doubles, which have 15 digits.
		if t.Precision <= 15 {
			return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), nil
		}
		return "TEXT", nil
	case columnar.KindBinary:
		return "BLOB", nil
	case columnar.KindDate:
		return "DATE", nil
	case columnar.KindTimestamp, columnar.KindTimestampNTZ:
		return "TIMESTAMP", nil
	}
	return "TEXT", nil
}

// place splits a table's name into SQL for its database and its own name.
func (q *sqliteDialect) place(table string) (schema, name string) {
	if db, t, ok := strings.Cut(table, "."); ok {
		return q.text(db), q.text(t)
	}
	return q.text("main"), q.text(table)
}

func (q *sqliteDialect) columns(ctx context.Context, s session, table string) ([]tableColumn, error) {
	schema, name := q.place(table)
	var cols []tableColumn
	err := s.query(ctx, "SELECT name, type FROM pragma_table_info("+name+", "+schema+")", nil, func(v [][]byte) error {
		cols = append(cols, tableColumn{string(v[0]), string(v[1])})
		return nil
	})
	return cols, err
}

func (q *sqliteDialect) unique(ctx context.Context, s session, table string, key []string) (bool, error) {
	schema, name := q.place(table)
	var primary []string
	err := s.query(ctx, "SELECT name FROM pragma_table_info("+name+", "+schema+") WHERE pk > 0", nil, func(v [][]byte) error {
		primary = append(primary, string(v[0]))
		return nil
	})
	if err != nil || sameNames(primary, key) {
		return err == nil, err
	}
	indexes := map[string][]string{}
	err = s.query(ctx, "SELECT l.name, i.name FROM pragma_index_list("+name+", "+schema+") l, pragma_index_info(l.name, "+schema+
		") i WHERE l.\"unique\" AND NOT l.partial", nil, func(v [][]byte) error {
		indexes[string(v[0])] = append(indexes[string(v[0])], string(v[1]))
		return nil
	})
	for _, cols := range indexes {
		if sameNames(cols, key) {
			return true, err
		}
	}
	return false, err
}

func (q *sqliteDialect) nullSafe() string { return "IS" }
func (q *sqliteDialect) begin() string    { return "BEGIN IMMEDIATE" }
func (q *sqliteDialect) lock() string     { return "" }

func (q *sqliteDialect) writer(ctx context.Context) (func(), error) {
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
