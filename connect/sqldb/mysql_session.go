package sqldb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// mysqlSession is a connection to MySQL.
type mysqlSession struct {
	driverSession
	dialect    *mysqlDialect
	side       session // for statements that would end the transaction
	packet     int     // the longest statement that the server takes
	statements map[string]*expansion
	buf        []byte
}

func (s *mysqlSession) close() {
	if s.side != nil {
		s.side.close()
	}
	s.driverSession.close()
}

// defines tells whether a statement changes the schema, which ends the transaction that it is run in.
func defines(statement string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	switch strings.ToUpper(word) {
	case "CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE":
		return true
	}
	return false
}

// apart runs a statement that changes the schema in a session of its own.
func (s *mysqlSession) apart(ctx context.Context, statement string) (int64, error) {
	if s.side == nil || !s.side.alive() {
		side, err := s.dialect.connect(ctx)
		if err != nil {
			return 0, err
		}
		s.side = side
	}
	return s.side.exec(ctx, statement)
}

// maxMySQLStatement bounds the bytes of one statement, whatever the server would take.
const maxMySQLStatement = 4 << 20

func (s *mysqlSession) rows(ctx context.Context, text string, b *columnar.Batch, bad *badText) (int64, error) {
	x := s.statements[text]
	if x == nil {
		var err error
		if x, err = expand(text, onDuplicateKey); err != nil {
			return 0, err
		}
		s.statements[text] = x
	}
	if err := x.check(b); err != nil {
		return 0, err
	}
	if !x.many && len(x.pieces) == 1 && defines(text) {
		return s.apart(ctx, text)
	}
	limit := maxMySQLStatement
	if s.packet > 0 {
		limit = min(limit, s.packet/2)
	}
	total := int64(0)
	buf := s.buf[:0]
	flush := func() error {
		if len(buf) == 0 {
			return nil
		}
		buf = append(append(buf, ' '), x.tail...)
		n, err := s.exec(ctx, string(buf))
		total += n
		buf = buf[:0]
		return err
	}
	var err error
	for r := range b.Rows {
		switch {
		case len(buf) == 0:
			buf = append(buf, x.head...)
		case x.many:
			buf = append(buf, ',')
		}
		for _, p := range x.pieces {
			buf = append(buf, p.text...)
			if p.param > 0 {
				if buf, err = appendMySQL(buf, b.Columns[p.param-1], r, b.Schema.Fields[p.param-1].Name, bad); err != nil {
					return total, err
				}
			}
		}
		if !x.many || len(buf) > limit {
			if err := flush(); err != nil {
				return total, err
			}
		}
	}
	err = flush()
	s.buf = buf
	return total, err
}

// appendMySQL writes the value of row i as a literal.
func appendMySQL(dst []byte, c *columnar.Column, i int, name string, bad *badText) ([]byte, error) {
	if c.IsNull(i) {
		return append(dst, "NULL"...), nil
	}
	switch c.Type.Kind {
	case columnar.KindBool:
		if c.Bits.Get(i) {
			return append(dst, '1'), nil
		}
		return append(dst, '0'), nil
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		v := intAt(c, i)
		if v < 0 {
			return append(strconv.AppendInt(append(dst, '('), v, 10), ')'), nil
		}
		return strconv.AppendInt(dst, v, 10), nil
	case columnar.KindFloat32, columnar.KindFloat64:
		v, bits := 0.0, 64
		if c.Type.Kind == columnar.KindFloat32 {
			v, bits = float64(columnar.Values[float32](c)[i]), 32
		} else {
			v = columnar.Values[float64](c)[i]
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return append(dst, "NULL"...), bad.noNumber(name, v)
		}
		return append(appendFloat(append(dst, '('), v, bits), ')'), nil
	case columnar.KindDecimal:
		return append(appendText(append(dst, '('), c, i), ')'), nil
	case columnar.KindBinary:
		v := c.BytesAt(i)
		if len(v) == 0 {
			return append(dst, "''"...), nil
		}
		return fmt.Appendf(dst, "x'%x'", v), nil
	case columnar.KindDate, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime:
		dst = append(dst, '\'')
		return append(appendText(dst, c, i), '\''), nil
	}
	v, err := bad.clean(name, appendText(nil, c, i), false)
	return appendMySQLString(dst, v), err
}

// appendMySQLString writes a string literal.
func appendMySQLString(dst, s []byte) []byte {
	dst = append(dst, '\'')
	for _, c := range s {
		switch c {
		case '\'', '\\':
			dst = append(dst, '\\', c)
		case 0:
			dst = append(dst, '\\', '0')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case 0x1a:
			dst = append(dst, '\\', 'Z')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '\'')
}

// onDuplicateKey turns ON CONFLICT … DO into ON DUPLICATE KEY UPDATE, and excluded.x into VALUES(x).
func onDuplicateKey(st *statement, from int) (string, error) {
	columns, do, ok := st.conflict(from)
	if !ok {
		return st.text[st.at(from):], nil
	}
	if st.is(do, "NOTHING") {
		if len(columns) == 0 {
			return "", fmt.Errorf("statement %.60q: ON CONFLICT DO NOTHING needs the key's columns on MySQL, as in ON CONFLICT (id) DO NOTHING", st.text)
		}
		return "ON DUPLICATE KEY UPDATE " + columns[0] + " = " + columns[0], nil
	}
	if !st.is(do, "UPDATE") || !st.is(do+1, "SET") {
		return "", fmt.Errorf("statement %.60q: expected DO NOTHING or DO UPDATE SET behind ON CONFLICT", st.text)
	}
	for i := do + 2; i < len(st.tokens); i++ {
		if st.is(i, "WHERE") {
			return "", fmt.Errorf("statement %.60q: MySQL has no WHERE in ON CONFLICT; use IF in what is set", st.text)
		}
	}
	var b strings.Builder
	b.WriteString("ON DUPLICATE KEY UPDATE ")
	skip := -1
	st.write(&b, do+2, len(st.tokens), func(i int) (string, bool) {
		switch {
		case i <= skip:
			if i == skip { // the column, which VALUES( … ) was written for
				return "", true
			}
			return "", true
		case st.is(i, "excluded") && st.punct(i+1, '.') && i+2 < len(st.tokens):
			skip = i + 2
			t := st.tokens[i+2]
			return "VALUES(" + st.text[t.from:t.to] + ")", true
		}
		return "", false
	})
	return b.String(), nil
}

// mysqlColumns are the columns of a result with the types that Spark reads them as.
func mysqlColumns(r driver.Rows) []resultColumn {
	out := make([]resultColumn, len(r.Columns()))
	names, _ := r.(driver.RowsColumnTypeDatabaseTypeName)
	sizes, _ := r.(driver.RowsColumnTypePrecisionScale)
	for i, name := range r.Columns() {
		out[i] = resultColumn{name: name, typ: columnar.String}
		if names == nil {
			continue
		}
		switch typ := names.ColumnTypeDatabaseTypeName(i); typ {
		case "TINYINT", "UNSIGNED TINYINT", "SMALLINT", "YEAR":
			out[i].typ = columnar.Int16
		case "UNSIGNED SMALLINT", "MEDIUMINT", "UNSIGNED MEDIUMINT", "INT":
			out[i].typ = columnar.Int32
		case "UNSIGNED INT", "BIGINT":
			out[i].typ = columnar.Int64
		case "UNSIGNED BIGINT":
			out[i].typ = columnar.Decimal(20, 0)
		case "FLOAT":
			out[i].typ = columnar.Float32
		case "DOUBLE":
			out[i].typ = columnar.Float64
		case "DECIMAL", "UNSIGNED DECIMAL":
			out[i].typ = columnar.Decimal(38, 18)
			if sizes != nil {
				if p, s, ok := sizes.ColumnTypePrecisionScale(i); ok && p >= 1 && p <= 38 && s <= p {
					out[i].typ = columnar.Decimal(int(p), int(s))
				}
			}
		case "DATE":
			out[i].typ = columnar.Date
		case "DATETIME", "TIMESTAMP":
			out[i].typ = columnar.Timestamp
		case "TIME":
			out[i].typ = columnar.Time
		case "BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB", "BIT", "GEOMETRY":
			out[i].typ = columnar.Binary
		}
	}
	return out
}
