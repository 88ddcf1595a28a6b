package sqldb

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// sqliteSession is an open database file.
type sqliteSession struct {
	driverSession
	statements map[string]*sqliteStatement
}

// sqliteStatement is a statement prepared for one row, and for as many as one execution takes.
type sqliteStatement struct {
	x    *expansion
	one  driver.Stmt
	many driver.Stmt // nil where there is none
	rows int         // of many
}

// Rows and parameters of one execution; SQLite takes 32766 parameters.
const (
	sqliteRows   = 64
	sqliteParams = 4096
)

func (s *sqliteSession) close() {
	for _, st := range s.statements {
		st.one.Close()
		if st.many != nil {
			st.many.Close()
		}
	}
	s.statements = nil
	s.driverSession.close()
}

// text writes a statement for n rows.
func (st *sqliteStatement) text(n int) string {
	var b strings.Builder
	b.WriteString(st.x.head)
	at := 0
	for r := range n {
		b.WriteString(strings.TrimSpace(comma(r)))
		for _, p := range st.x.pieces {
			b.WriteString(p.text)
			if p.param > 0 {
				at++
				b.WriteByte('?')
				b.WriteString(strconv.Itoa(at))
			}
		}
	}
	b.WriteByte(' ')
	b.WriteString(st.x.tail)
	return b.String()
}

func (s *sqliteSession) prepare(ctx context.Context, text string) (*sqliteStatement, error) {
	if st := s.statements[text]; st != nil {
		return st, nil
	}
	x, err := expand(text, nil)
	if err != nil {
		return nil, err
	}
	st := &sqliteStatement{x: x, rows: 1}
	p := s.conn.(driver.ConnPrepareContext)
	if st.one, err = p.PrepareContext(ctx, st.text(1)); err != nil {
		return nil, err
	}
	if params := len(x.pieces) / 2; x.many && params > 0 {
		if st.rows = min(sqliteRows, sqliteParams/params); st.rows > 1 {
			if st.many, err = p.PrepareContext(ctx, st.text(st.rows)); err != nil {
				st.one.Close()
				return nil, err
			}
		}
	}
	s.statements[text] = st
	return st, nil
}

func (s *sqliteSession) rows(ctx context.Context, text string, b *columnar.Batch, bad *badText) (int64, error) {
	st, err := s.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	if err := st.x.check(b); err != nil {
		return 0, err
	}
	total := int64(0)
	var args []driver.NamedValue
	for from := 0; from < b.Rows; {
		stmt, n := st.one, 1
		if st.many != nil && b.Rows-from >= st.rows {
			stmt, n = st.many, st.rows
		}
		args = args[:0]
		for r := from; r < from+n; r++ {
			for _, p := range st.x.pieces {
				if p.param > 0 {
					v, err := sqliteValue(b.Columns[p.param-1], r, b.Schema.Fields[p.param-1].Name, bad)
					if err != nil {
						return total, err
					}
					args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: v})
				}
			}
		}
		if ctx.Err() != nil {
			return total, context.Cause(ctx)
		}
		// A context that can end costs a goroutine for each statement; these are short.
		res, err := stmt.(driver.StmtExecContext).ExecContext(context.WithoutCancel(ctx), args)
		if err != nil {
			return total, s.note(err)
		}
		k, err := res.RowsAffected()
		if err != nil {
			return total, err
		}
		total += k
		from += n
	}
	return total, nil
}

// sqliteValue is the value of row i as SQLite keeps it.
func sqliteValue(c *columnar.Column, i int, name string, bad *badText) (driver.Value, error) {
	if c.IsNull(i) {
		return nil, nil
	}
	switch c.Type.Kind {
	case columnar.KindBool:
		if c.Bits.Get(i) {
			return int64(1), nil
		}
		return int64(0), nil
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		return intAt(c, i), nil
	case columnar.KindFloat32:
		return float64(columnar.Values[float32](c)[i]), nil
	case columnar.KindFloat64:
		return columnar.Values[float64](c)[i], nil
	case columnar.KindBinary:
		return append([]byte{}, c.BytesAt(i)...), nil
	}
	v, err := bad.clean(name, appendText(nil, c, i), false)
	return string(v), err
}

// sqliteColumns are the columns of a result with the types that their declarations mean.
func sqliteColumns(r driver.Rows) []resultColumn {
	out := make([]resultColumn, len(r.Columns()))
	types, _ := r.(driver.RowsColumnTypeDatabaseTypeName)
	for i, name := range r.Columns() {
		out[i] = resultColumn{name: name, typ: columnar.String}
		if types != nil {
			out[i].typ = sqliteType(types.ColumnTypeDatabaseTypeName(i))
		}
	}
	return out
}

func sqliteType(declared string) *columnar.Type {
	name, params, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(declared)), "(")
	name = strings.TrimSpace(name)
	switch {
	case name == "BOOLEAN" || name == "BOOL":
		return columnar.Bool
	case strings.Contains(name, "INT"):
		return columnar.Int64
	case name == "REAL" || name == "FLOAT" || strings.HasPrefix(name, "DOUBLE"):
		return columnar.Float64
	case name == "BLOB":
		return columnar.Binary
	case name == "DATE":
		return columnar.Date
	case name == "TIMESTAMP" || name == "DATETIME":
		return columnar.Timestamp
	case name == "DECIMAL" || name == "NUMERIC":
		p, s, _ := strings.Cut(strings.TrimSuffix(params, ")"), ",")
		prec, err := strconv.Atoi(strings.TrimSpace(p))
		scale, _ := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || prec < 1 || prec > 38 || scale < 0 || scale > prec {
			return columnar.Decimal(38, 18)
		}
		return columnar.Decimal(prec, scale)
	}
	return columnar.String
}
