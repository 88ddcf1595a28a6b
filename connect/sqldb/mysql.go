package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// mysqlDialect is the dialect of MySQL and MariaDB.
type mysqlDialect struct {
	config *mysql.Config
	exact  string // the collation under which only equal strings are equal, once a session has asked the server
}

func newMySQL(c connector.Connection, l limits) (dialect, error) {
	config, err := mysqlConfig(c.DSN)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w; a MySQL dsn looks like user:password@tcp(host:3306)/database", err)
	}
	config.Timeout = l.connect
	config.ParseTime = false
	config.Logger = &mysql.NopLogger{} // errors are returned as well
	config.MaxAllowedPacket = 0        // the server's
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	for name, v := range map[string]string{
		"time_zone": "'+00:00'", "sql_mode": "'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ANSI_QUOTES'",
	} {
		config.Params[name] = v
	}
	if err := config.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		return nil, err
	}
	return &mysqlDialect{config: config}, nil
}

// mysqlConfig reads a dsn of the driver, or a URL.
func mysqlConfig(dsn string) (*mysql.Config, error) {
	if !strings.Contains(dsn, "://") {
		return mysql.ParseDSN(dsn)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	c := mysql.NewConfig()
	c.Net, c.Addr, c.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	if u.Port() == "" {
		c.Addr += ":3306"
	}
	if u.User != nil {
		c.User = u.User.Username()
		c.Passwd, _ = u.User.Password()
	}
	// The rest is read as the driver reads it.
	text := c.FormatDSN()
	if u.RawQuery != "" {
		text = strings.SplitN(text, "?", 2)[0] + "?" + u.RawQuery
	}
	return mysql.ParseDSN(text)
}

func (m *mysqlDialect) connect(ctx context.Context) (session, error) {
	connector, err := mysql.NewConnector(m.config)
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := &mysqlSession{driverSession: driverSession{conn: conn}, dialect: m, statements: map[string]*expansion{}}
	s.columnsOf = mysqlColumns
	if _, err := s.exec(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"); err != nil {
		s.close()
		return nil, err
	}
	err = s.query(ctx, "SELECT VERSION(), @@max_allowed_packet", nil, func(v [][]byte) error {
		m.exact = "utf8mb4_0900_bin"
		if strings.Contains(string(v[0]), "MariaDB") {
			m.exact = "utf8mb4_nopad_bin"
		} else if strings.HasPrefix(string(v[0]), "5.") {
			m.exact = "utf8mb4_bin"
		}
		_, err := fmt.Sscan(string(v[1]), &s.packet)
		return err
	})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (m *mysqlDialect) transient(err error) bool {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		switch e.Number {
		case 1040, 1053, 1077, 1079, 1080, 1129, 1205, 1213, 1290, 1927, 3024, 4031:
			return true
		}
		return false
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || lostConnection(err)
}

func (m *mysqlDialect) explain(err error) error {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return err
	}
	hint := ""
	switch e.Number {
	case 1045, 1044:
		hint = "correct user and password in the dsn, or grant the right"
	case 1049:
		hint = "make the database, or correct its name in the dsn"
	case 1054:
		hint = "add the column to the table, or leave it out of the query"
	case 1142:
		hint = "grant the user the right to do so"
	case 1146:
		hint = "make the table, or correct its name"
	case 1048:
		hint = "drop the column's NOT NULL, or filter rows without it"
	case 1264, 1406:
		hint = "widen the column"
	case 1071:
		hint = "make the table by hand with shorter key columns"
	}
	if hint == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, hint)
}

func (m *mysqlDialect) quote(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

func (m *mysqlDialect) text(s string) string { return string(appendMySQLString(nil, []byte(s))) }

func (m *mysqlDialect) columnType(t *columnar.Type, key bool, keys int) (string, error) {
	switch t.Kind {
	case columnar.KindBool:
		return "BOOLEAN", nil
	case columnar.KindInt8:
		return "TINYINT", nil
	case columnar.KindInt16:
		return "SMALLINT", nil
	case columnar.KindInt32:
		return "INT", nil
	case columnar.KindInt64:
		return "BIGINT", nil
	case columnar.KindFloat32:
		return "FLOAT", nil
	case columnar.KindFloat64:
		return "DOUBLE", nil
	case columnar.KindDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), nil
	case columnar.KindDate:
		return "DATE", nil
	case columnar.KindTimestamp, columnar.KindTimestampNTZ:
		return "DATETIME(6)", nil
	case columnar.KindTime:
		return "TIME(6)", nil
	case columnar.KindYearMonth, columnar.KindDayTime, columnar.KindCalendar:
		return "VARCHAR(64)", nil
	case columnar.KindString, columnar.KindNull:
		if key {
			// An index takes 3072 bytes, 768 characters.
			return fmt.Sprintf("VARCHAR(%d) CHARACTER SET utf8mb4 COLLATE %s", min(255, 700/keys), m.exact), nil
		}
		return "LONGTEXT CHARACTER SET utf8mb4 COLLATE " + m.exact, nil
	case columnar.KindBinary:
		if key {
			return fmt.Sprintf("VARBINARY(%d)", min(255, 2800/keys)), nil
		}
		return "LONGBLOB", nil
	}
	if key {
		return "", fmt.Errorf("a column of type %s cannot be part of a key", t.SQL())
	}
	return "JSON", nil
}

// place splits a table's name into SQL for its database and its own name.
func (m *mysqlDialect) place(table string) (schema, name string) {
	if db, t, ok := strings.Cut(table, "."); ok {
		return m.text(db), m.text(t)
	}
	return "DATABASE()", m.text(table)
}

func (m *mysqlDialect) columns(ctx context.Context, s session, table string) ([]tableColumn, error) {
	schema, name := m.place(table)
	var cols []tableColumn
	err := s.query(ctx, "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = "+schema+" AND table_name = "+name+
		" ORDER BY ordinal_position", nil, func(v [][]byte) error {
		cols = append(cols, tableColumn{string(v[0]), string(v[1])})
		return nil
	})
	return cols, err
}

func (m *mysqlDialect) unique(ctx context.Context, s session, table string, key []string) (bool, error) {
	schema, name := m.place(table)
	indexes := map[string][]string{}
	err := s.query(ctx, "SELECT index_name, column_name, sub_part FROM information_schema.statistics WHERE non_unique = 0 AND table_schema = "+schema+
		" AND table_name = "+name, nil, func(v [][]byte) error {
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

func (m *mysqlDialect) nullSafe() string { return "<=>" }
func (m *mysqlDialect) begin() string    { return "START TRANSACTION" }
func (m *mysqlDialect) lock() string     { return " FOR UPDATE" }

func (m *mysqlDialect) writer(context.Context) (func(), error) { return func() {}, nil }
