package sqldb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// postgres is the dialect of PostgreSQL.
type postgres struct{ config *pgconn.Config }

func newPostgres(c connector.Connection, l limits) (dialect, error) {
	config, err := pgconn.ParseConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w; a PostgreSQL dsn looks like postgres://user:password@host:5432/database", err)
	}
	config.ConnectTimeout = l.connect
	for name, v := range map[string]string{
		"TimeZone": "UTC", "DateStyle": "ISO", "standard_conforming_strings": "on", "extra_float_digits": "3", "bytea_output": "hex",
		// Another process that runs the same query may hold the ledger's row and be stopped.
		"lock_timeout": "20000",
	} {
		config.RuntimeParams[name] = v
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "wstream"
	}
	return &postgres{config}, nil
}

func (p *postgres) connect(ctx context.Context) (session, error) {
	conn, err := pgconn.ConnectConfig(ctx, p.config)
	if err != nil {
		return nil, err
	}
	return &pgSession{conn: conn, prepared: map[string]*pgPrepared{}, types: map[uint32]pgType{}}, nil
}

// transient: the connection was lost or not there, the server starts or stops, or the transaction met another one.
func (p *postgres) transient(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "40001", "40P01", "55P03", "57P01", "57P02", "57P03", "53300":
			return true
		case "23505":
			// Two transactions make the same table at once; IF NOT EXISTS does not keep them apart.
			return madeByAnother(err)
		}
		return strings.HasPrefix(e.Code, "08")
	}
	return lostConnection(err)
}

// lostConnection tells whether an error is one of the network.
func lostConnection(err error) bool {
	var n net.Error
	if errors.Is(err, context.Canceled) {
		return false
	}
	var c *pgconn.ConnectError
	text := err.Error()
	return errors.As(err, &n) || errors.As(err, &c) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(text, "EOF") || strings.Contains(text, "conn closed") || strings.Contains(text, "broken pipe") ||
		strings.Contains(text, "connection reset") || strings.Contains(text, "invalid connection") || strings.Contains(text, "bad connection")
}

func (p *postgres) explain(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	var where []string
	if e.TableName != "" {
		where = append(where, fmt.Sprintf("table %q", e.TableName))
	}
	if e.ColumnName != "" {
		where = append(where, fmt.Sprintf("column %q", e.ColumnName))
	}
	if e.ConstraintName != "" {
		where = append(where, fmt.Sprintf("constraint %q", e.ConstraintName))
	}
	if e.Detail != "" {
		where = append(where, e.Detail)
	}
	hint := ""
	switch e.Code {
	case "42P01":
		hint = "make the table, or correct its name"
	case "42P10":
		hint = "the columns of ON CONFLICT need a unique index; make one with CREATE UNIQUE INDEX"
	case "42501":
		hint = "grant the user the right to do so"
	case "28P01", "28000":
		hint = "correct user and password in the dsn"
	case "3D000":
		hint = "make the database, or correct its name in the dsn"
	case "22001", "22003":
		hint = "widen the column"
	case "23502":
		hint = "drop the column's NOT NULL, or filter rows without it"
	case "55P03":
		hint = "another process holds the row or table and does not end; does the same query run twice?"
	case "57014":
		hint = "raise the connection's option statementTimeout"
	}
	if e.Hint != "" && hint == "" {
		hint = e.Hint
	}
	if hint != "" {
		where = append(where, hint)
	}
	if len(where) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, strings.Join(where, ": "))
}

func (p *postgres) quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (p *postgres) text(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", "''") + "'"
}

func (p *postgres) columnType(t *columnar.Type, _ bool, _ int) (string, error) {
	switch t.Kind {
	case columnar.KindBool:
		return "boolean", nil
	case columnar.KindInt8, columnar.KindInt16:
		return "smallint", nil
	case columnar.KindInt32:
		return "integer", nil
	case columnar.KindInt64:
		return "bigint", nil
	case columnar.KindFloat32:
		return "real", nil
	case columnar.KindFloat64:
		return "double precision", nil
	case columnar.KindDecimal:
		return fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale), nil
	case columnar.KindString, columnar.KindNull:
		return "text", nil
	case columnar.KindBinary:
		return "bytea", nil
	case columnar.KindDate:
		return "date", nil
	case columnar.KindTimestamp:
		return "timestamp with time zone", nil
	case columnar.KindTimestampNTZ:
		return "timestamp without time zone", nil
	case columnar.KindTime:
		return "time without time zone", nil
	case columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
		return "interval", nil
	}
	return "jsonb", nil
}

func (p *postgres) columns(ctx context.Context, s session, table string) ([]tableColumn, error) {
	var cols []tableColumn
	err := s.query(ctx, "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = to_regclass("+p.text(quoteTable(p, table))+
		") AND attnum > 0 AND NOT attisdropped ORDER BY attnum", nil, func(v [][]byte) error {
		cols = append(cols, tableColumn{string(v[0]), string(v[1])})
		return nil
	})
	return cols, err
}

func (p *postgres) unique(ctx context.Context, s session, table string, key []string) (bool, error) {
	found := false
	err := s.query(ctx, "SELECT array_to_string(ARRAY(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY((i.indkey::int2[])[0:i.indnkeyatts - 1])), chr(1)) "+
		"FROM pg_index i WHERE i.indrelid = to_regclass("+p.text(quoteTable(p, table))+") AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL", nil,
		func(v [][]byte) error {
			found = found || sameNames(strings.Split(string(v[0]), "\x01"), key)
			return nil
		})
	return found, err
}

func (p *postgres) nullSafe() string { return "IS NOT DISTINCT FROM" }
func (p *postgres) begin() string    { return "BEGIN" }
func (p *postgres) lock() string     { return " FOR UPDATE" }

func (p *postgres) writer(context.Context) (func(), error) { return func() {}, nil }

// quoteTable quotes the parts of a table's name, which dots divide.
func quoteTable(d dialect, table string) string {
	parts := strings.Split(table, ".")
	for i, p := range parts {
		parts[i] = d.quote(p)
	}
	return strings.Join(parts, ".")
}

// sameNames compares names without regard to order and case.
func sameNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		found := false
		for _, y := range b {
			found = found || strings.EqualFold(x, y)
		}
		if !found {
			return false
		}
	}
	return true
}
