package sqldb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wstream/wstream/columnar"
)

// pgSession is a connection to PostgreSQL.
type pgSession struct {
	conn     *pgconn.PgConn
	prepared map[string]*pgPrepared
	types    map[uint32]pgType
}

// pgPrepared is a statement prepared for rows.
type pgPrepared struct {
	single *pgconn.StatementDescription // for one row
	many   *pgconn.StatementDescription // for arrays of values, nil if there is no such form
	types  []pgType                     // of the parameters
}

// pgType is a type of the server.
type pgType struct {
	oid, array uint32
	delimiter  string // between the elements of an array
}

func (s *pgSession) alive() bool { return !s.conn.IsClosed() }

func (s *pgSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	s.conn.Close(ctx)
}

func (s *pgSession) exec(ctx context.Context, statement string) (int64, error) {
	results, err := s.conn.Exec(ctx, statement).ReadAll()
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for _, r := range results {
		n += r.CommandTag.RowsAffected()
	}
	return n, nil
}

func (s *pgSession) query(ctx context.Context, statement string, head func([]resultColumn) error, row func([][]byte) error) error {
	r := s.conn.ExecParams(ctx, statement, nil, nil, nil, nil)
	var err error
	if head != nil {
		err = head(pgColumns(r.FieldDescriptions()))
	}
	for err == nil && r.NextRow() {
		err = row(r.Values())
	}
	if _, e := r.Close(); err == nil {
		err = e
	}
	return err
}

// Object ids of the built-in types that are written or read in a way of their own.
const (
	oidBool, oidBytea, oidInt8, oidInt2, oidInt4, oidText                          = 16, 17, 20, 21, 23, 25
	oidJSON, oidFloat4, oidFloat8, oidBpchar, oidVarchar, oidDate                  = 114, 700, 701, 1042, 1043, 1082
	oidTime, oidTimestamp, oidTimestamptz, oidInterval, oidNumeric, oidUUID, oidJB = 1083, 1114, 1184, 1186, 1700, 2950, 3802
)

// arrayOf are the array types of built-in types.
func arrayOf(oid uint32) uint32 {
	switch oid {
	case oidBool:
		return 1000
	case oidBytea:
		return 1001
	case oidInt8:
		return 1016
	case oidInt2:
		return 1005
	case oidInt4:
		return 1007
	case oidText:
		return 1009
	case oidJSON:
		return 199
	case oidFloat4:
		return 1021
	case oidFloat8:
		return 1022
	case oidBpchar:
		return 1014
	case oidVarchar:
		return 1015
	case oidDate:
		return 1182
	case oidTime:
		return 1183
	case oidTimestamp:
		return 1115
	case oidTimestamptz:
		return 1185
	case oidInterval:
		return 1187
	case oidNumeric:
		return 1231
	case oidUUID:
		return 2951
	case oidJB:
		return 3807
	}
	return 0
}

// typeOf finds the array type of a type.
func (s *pgSession) typeOf(ctx context.Context, oid uint32) (pgType, error) {
	if a := arrayOf(oid); a != 0 {
		return pgType{oid, a, ","}, nil
	}
	if t, ok := s.types[oid]; ok {
		return t, nil
	}
	t := pgType{oid: oid, delimiter: ","}
	err := s.query(ctx, fmt.Sprintf("SELECT typarray::bigint, typdelim FROM pg_type WHERE oid = %d", oid), nil, func(v [][]byte) error {
		n, err := strconv.ParseUint(string(v[0]), 10, 32)
		t.array, t.delimiter = uint32(n), string(v[1])
		return err
	})
	if err == nil {
		s.types[oid] = t
	}
	return t, err
}

// prepare prepares a statement for rows.
func (s *pgSession) prepare(ctx context.Context, statement string) (*pgPrepared, error) {
	if p := s.prepared[statement]; p != nil {
		return p, nil
	}
	st, err := scan(statement)
	if err != nil {
		return nil, err
	}
	name := "ws" + strconv.Itoa(len(s.prepared))
	p := &pgPrepared{}
	if p.single, err = s.conn.Prepare(ctx, name, st.text, nil); err != nil {
		return nil, err
	}
	arrays := make([]uint32, len(p.single.ParamOIDs))
	ok := len(arrays) > 0
	for i, oid := range p.single.ParamOIDs {
		t, err := s.typeOf(ctx, oid)
		if err != nil {
			return nil, err
		}
		p.types = append(p.types, t)
		arrays[i] = t.array
		ok = ok && t.array != 0
	}
	if in, is := st.insert(); is && ok {
		if p.many, err = s.conn.Prepare(ctx, name+"a", unnest(st, in), arrays); err != nil {
			return nil, err
		}
	}
	s.prepared[statement] = p
	return p, nil
}

// unnest turns INSERT … VALUES ($1, …) into INSERT … SELECT p.c1, … FROM unnest($1, …): each parameter is an array of
// the values of all rows.
func unnest(st *statement, in insert) string {
	var b strings.Builder
	as := func(int) (string, bool) { return "", false }
	st.write(&b, 0, in.values, as)
	b.WriteString(" SELECT ")
	last := in.tail - 1 // the closing bracket
	st.write(&b, in.open+1, last, func(i int) (string, bool) {
		if st.tokens[i].kind != 'p' {
			return "", false
		}
		return "p.c" + strconv.Itoa(st.tokens[i].param), true
	})
	b.WriteString(" FROM unnest(")
	for i := range st.params {
		fmt.Fprintf(&b, "%s$%d", comma(i), i+1)
	}
	b.WriteString(") AS p(")
	for i := range st.params {
		fmt.Fprintf(&b, "%sc%d", comma(i), i+1)
	}
	b.WriteString(") ")
	st.write(&b, in.tail, len(st.tokens), as)
	return b.String()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}

// Rows and bytes of one execution.
const (
	pgRows       = 16384
	pgBytes      = 16 << 20
	pgPipeline   = 512 // rows that are sent before answers are read
	closeTimeout = 2e9 // ns
)

func (s *pgSession) rows(ctx context.Context, statement string, b *columnar.Batch, bad *badText) (int64, error) {
	p, err := s.prepare(ctx, statement)
	if err != nil {
		return 0, err
	}
	if len(p.types) > len(b.Columns) {
		return 0, fmt.Errorf("statement %.60q has %d parameters, its rows have %d columns", statement, len(p.types), len(b.Columns))
	}
	encoders := make([]pgEncoder, len(p.types))
	for i, t := range p.types {
		encoders[i] = pgEncoderFor(b.Columns[i], t.oid, b.Schema.Fields[i].Name, bad)
	}
	if p.many == nil || b.Rows == 1 {
		return s.each(ctx, p, encoders, b.Rows)
	}
	total := int64(0)
	for from := 0; from < b.Rows; {
		to, params, formats, err := s.arrays(p, encoders, from, b.Rows)
		if err != nil {
			return total, err
		}
		n, err := s.insertMany(ctx, p, params, formats)
		if rowTwice(err) { // ON CONFLICT met the same row twice: one after the other is fine
			n, err = s.eachFrom(ctx, p, encoders, from, to)
		}
		if err != nil {
			return total, err
		}
		total += n
		from = to
	}
	return total, nil
}

// rowTwice tells that one statement would have updated the same row twice.
func rowTwice(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "21000"
}

// insertMany runs the statement for arrays within a savepoint, all in one round trip.
func (s *pgSession) insertMany(ctx context.Context, p *pgPrepared, params [][]byte, formats []int16) (int64, error) {
	batch := &pgconn.Batch{}
	batch.ExecParams("SAVEPOINT wstream", nil, nil, nil, nil)
	batch.ExecPrepared(p.many.Name, params, formats, nil)
	batch.ExecParams("RELEASE SAVEPOINT wstream", nil, nil, nil, nil)
	results, err := s.conn.ExecBatch(ctx, batch).ReadAll()
	if rowTwice(err) {
		if _, e := s.exec(ctx, "ROLLBACK TO SAVEPOINT wstream; RELEASE SAVEPOINT wstream"); e != nil {
			return 0, e
		}
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	return results[1].CommandTag.RowsAffected(), nil
}

// arrays encodes the values of rows as one array for each parameter, up to the bounds of one execution.
func (s *pgSession) arrays(p *pgPrepared, encoders []pgEncoder, from, rows int) (to int, params [][]byte, formats []int16, err error) {
	to = min(from+pgRows, rows)
	params, formats = make([][]byte, len(encoders)), make([]int16, len(encoders))
	for i := range encoders {
		e := &encoders[i]
		t := p.types[i]
		var buf []byte
		if e.binary {
			formats[i] = 1
			buf = make([]byte, 20, 20+(to-from)*(4+max(e.c.Type.Width(), 8)))
			binary.BigEndian.PutUint32(buf[0:], 1)
			binary.BigEndian.PutUint32(buf[4:], 1) // there may be nulls
			binary.BigEndian.PutUint32(buf[8:], t.oid)
			binary.BigEndian.PutUint32(buf[16:], 1)
		} else {
			buf = append(buf, '{')
		}
		r := from
		for ; r < to && (len(buf) < pgBytes || r == from); r++ {
			if !e.binary && r > from {
				buf = append(buf, t.delimiter...)
			}
			if buf, err = e.element(buf, r); err != nil {
				return 0, nil, nil, err
			}
		}
		if r < to { // this column is large: fewer rows then, all columns anew
			return s.arrays(p, encoders, from, r)
		}
		if e.binary {
			binary.BigEndian.PutUint32(buf[12:], uint32(to-from))
		} else {
			buf = append(buf, '}')
		}
		params[i] = buf
	}
	return to, params, formats, nil
}

func (s *pgSession) each(ctx context.Context, p *pgPrepared, encoders []pgEncoder, rows int) (int64, error) {
	return s.eachFrom(ctx, p, encoders, 0, rows)
}

// eachFrom runs the statement for one row after the other, many in one round trip.
func (s *pgSession) eachFrom(ctx context.Context, p *pgPrepared, encoders []pgEncoder, from, to int) (int64, error) {
	total := int64(0)
	for from < to {
		batch := &pgconn.Batch{}
		end := min(from+pgPipeline, to)
		for r := from; r < end; r++ {
			params, formats := make([][]byte, len(encoders)), make([]int16, len(encoders))
			for i := range encoders {
				e := &encoders[i]
				if e.binary {
					formats[i] = 1
				}
				if e.c.IsNull(r) {
					continue
				}
				v, err := e.value(make([]byte, 0, 16), r)
				if err != nil {
					return total, err
				}
				params[i] = v
			}
			batch.ExecPrepared(p.single.Name, params, formats, nil)
		}
		results, err := s.conn.ExecBatch(ctx, batch).ReadAll()
		if err != nil {
			return total, err
		}
		for _, r := range results {
			total += r.CommandTag.RowsAffected()
		}
		from = end
	}
	return total, nil
}
