package parquetfmt

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/wstream/wstream/columnar"
)

// leafWriter turns one leaf of a column into levels and values.
type leafWriter struct {
	path       []step
	typ        *columnar.Type
	repeated   bool
	defs, reps []int16
	rows       []int32 // rows of the leaf column that are not null
	bools      []bool
	i32        []int32
	i64        []int64
	bytes      []parquet.ByteArray
	fixed      []parquet.FixedLenByteArray
	buf        []byte
}

// write adds the first n rows of a top-level column.
func (l *leafWriter) write(w file.ColumnChunkWriter, c *columnar.Column, n int) error {
	l.defs, l.reps, l.rows = l.defs[:0], l.reps[:0], l.rows[:0]
	leaf := c
	if len(l.path) == 1 {
		l.flat(c, n)
	} else {
		for _, s := range l.path[1:] {
			leaf = leaf.Children[s.child]
		}
		for i := range n {
			if err := l.walk(0, c, i, 0, 0); err != nil {
				return err
			}
		}
	}
	return l.put(w, leaf)
}

// flat makes the levels of a column that is a leaf itself.
func (l *leafWriter) flat(c *columnar.Column, n int) {
	nullable := l.path[0].nullable
	for i := range n {
		switch {
		case nullable && c.IsNull(i):
			l.defs = append(l.defs, 0)
		case nullable:
			l.defs = append(l.defs, 1)
			l.rows = append(l.rows, int32(i))
		default:
			l.rows = append(l.rows, int32(i))
		}
	}
}

// walk goes from level k, row i of c, down to the leaf.
func (l *leafWriter) walk(k int, c *columnar.Column, i int, rep, def int16) error {
	s := &l.path[k]
	if c.IsNull(i) {
		if !s.nullable {
			return fmt.Errorf("a NULL where none may be")
		}
		l.entry(rep, def)
		return nil
	}
	if s.nullable {
		def++
	}
	if k == len(l.path)-1 {
		l.entry(rep, def)
		l.rows = append(l.rows, int32(i))
		return nil
	}
	kid := c.Children[l.path[k+1].child]
	if s.kind == columnar.KindStruct {
		return l.walk(k+1, kid, i, rep, def)
	}
	from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
	if from == to {
		l.entry(rep, def)
		return nil
	}
	for j := from; j < to; j++ {
		if err := l.walk(k+1, kid, j, rep, def+1); err != nil {
			return err
		}
		rep = s.rep
	}
	return nil
}

func (l *leafWriter) entry(rep, def int16) {
	l.defs = append(l.defs, def)
	if l.repeated {
		l.reps = append(l.reps, rep)
	}
}

// levels gives the levels in the form that a column writer wants: none at all for a required column.
func (l *leafWriter) levels() (defs, reps []int16) {
	for _, s := range l.path {
		if s.nullable || s.rep > 0 {
			defs = l.defs
		}
	}
	if l.repeated {
		reps = l.reps
	}
	return defs, reps
}

// pick gathers the values of rows.
func pick[A columnar.Value, B any](dst []B, c *columnar.Column, rows []int32, f func(A) B) []B {
	values := columnar.Values[A](c)
	dst = dst[:0]
	for _, i := range rows {
		dst = append(dst, f(values[i]))
	}
	return dst
}

// put hands levels and values over.
func (l *leafWriter) put(w file.ColumnChunkWriter, c *columnar.Column) error {
	defs, reps := l.levels()
	if c.Len == 0 && len(l.defs) == 0 {
		return nil
	}
	var err error
	switch w := w.(type) {
	case *file.BooleanColumnChunkWriter:
		l.bools = l.bools[:0]
		for _, i := range l.rows {
			l.bools = append(l.bools, c.Bits.Get(int(i)))
		}
		_, err = w.WriteBatch(l.bools, defs, reps)
	case *file.Int32ColumnChunkWriter:
		switch l.typ.Width() {
		case 1:
			l.i32 = pick(l.i32, c, l.rows, func(v int8) int32 { return int32(v) })
		case 2:
			l.i32 = pick(l.i32, c, l.rows, func(v int16) int32 { return int32(v) })
		case 4:
			l.i32 = pick(l.i32, c, l.rows, same[int32])
		default:
			l.i32 = pick(l.i32, c, l.rows, func(v columnar.Dec128) int32 { return int32(v.Lo) })
		}
		_, err = w.WriteBatch(l.i32, defs, reps)
	case *file.Int64ColumnChunkWriter:
		switch {
		case l.typ.Kind == columnar.KindDecimal:
			l.i64 = pick(l.i64, c, l.rows, columnar.Dec128.Int64)
		case l.typ.Kind == columnar.KindTime:
			l.i64 = pick(l.i64, c, l.rows, func(v int64) int64 { return v / 1000 })
		default:
			l.i64 = pick(l.i64, c, l.rows, same[int64])
		}
		_, err = w.WriteBatch(l.i64, defs, reps)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(pick(nil, c, l.rows, same[float32]), defs, reps)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(pick(nil, c, l.rows, same[float64]), defs, reps)
	case *file.ByteArrayColumnChunkWriter:
		l.bytes = l.bytes[:0]
		for _, i := range l.rows {
			l.bytes = append(l.bytes, c.BytesAt(int(i)))
		}
		_, err = w.WriteBatch(l.bytes, defs, reps)
	case *file.FixedLenByteArrayColumnChunkWriter:
		size := w.Descr().TypeLength()
		l.fixed, l.buf = l.fixed[:0], l.buf[:0]
		values := columnar.Values[columnar.Dec128](c)
		for _, i := range l.rows {
			l.buf = binary.BigEndian.AppendUint64(l.buf, uint64(values[i].Hi))
			l.buf = binary.BigEndian.AppendUint64(l.buf, values[i].Lo)
		}
		for k := range l.rows {
			l.fixed = append(l.fixed, l.buf[k*16+16-size:k*16+16])
		}
		_, err = w.WriteBatch(l.fixed, defs, reps)
	default:
		err = fmt.Errorf("physical type %s cannot be written", w.Type())
	}
	return err
}
