package parquetfmt

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/wstream/wstream/columnar"
)

// leafReader reads the levels and values of one leaf column, over row groups, rows by rows.
type leafReader struct {
	field  *fileField
	maxDef int16
	maxRep int16
	chunk  file.ColumnChunkReader

	defs, reps []int16 // of the entries that were read and not yet given
	values     leafValues
}

// leafValues are the values that are not null, in the form of the physical type.
type leafValues struct {
	bools  []bool
	i32    []int32
	i64    []int64
	i96    []parquet.Int96
	f32    []float32
	f64    []float64
	bytes  []parquet.ByteArray
	fixed  []parquet.FixedLenByteArray
	length int
}

// open begins a row group.
func (l *leafReader) open(g *file.RowGroupReader) error {
	pages, err := g.GetColumnPageReader(l.field.leaf)
	if err != nil {
		return err
	}
	c, err := g.Column(l.field.leaf)
	if err != nil {
		return err
	}
	// Values of bytes point into their page, whose memory the page reader would use again.
	kind := l.field.prim.PhysicalType()
	own := kind == parquet.Types.ByteArray || kind == parquet.Types.FixedLenByteArray
	l.chunk = file.NewColumnReader(c.Descriptor(), &checkedPages{PageReader: pages, own: own, maxRep: l.maxRep, maxDef: l.maxDef}, memory.DefaultAllocator, nil)
	return nil
}

// checkedPages ends at a page with fewer levels than values, since the library would wait for the others for ever, and
// gives each page memory of its own where values point into it.
type checkedPages struct {
	file.PageReader
	own            bool
	page           file.Page
	maxRep, maxDef int16
	err            error
}

// Next implements file.PageReader.
func (p *checkedPages) Next() bool {
	p.page = nil
	if p.err != nil || !p.PageReader.Next() {
		return false
	}
	p.err = checkLevels(p.Page(), p.maxRep, p.maxDef)
	return p.err == nil
}

// Err implements file.PageReader.
func (p *checkedPages) Err() error {
	if p.err != nil {
		return p.err
	}
	return p.PageReader.Err()
}

// Page implements file.PageReader.
func (p *checkedPages) Page() file.Page {
	if p.page != nil {
		return p.page
	}
	if !p.own {
		return p.PageReader.Page()
	}
	page := p.PageReader.Page()
	if page == nil {
		return nil
	}
	buf := memory.NewBufferBytes(append([]byte{}, page.Data()...))
	switch d := page.(type) {
	case *file.DataPageV1:
		p.page = file.NewDataPageV1(buf, d.NumValues(), parquet.Encoding(d.Encoding()), d.DefinitionLevelEncoding(), d.RepetitionLevelEncoding(), d.UncompressedSize())
	case *file.DataPageV2:
		p.page = file.NewDataPageV2(buf, d.NumValues(), d.NumNulls(), d.NumRows(), parquet.Encoding(d.Encoding()), d.DefinitionLevelByteLen(),
			d.RepetitionLevelByteLen(), d.UncompressedSize(), d.IsCompressed())
	case *file.DictionaryPage:
		p.page = file.NewDictionaryPage(buf, d.NumValues(), parquet.Encoding(d.Encoding()))
	default:
		p.page = page
	}
	return p.page
}

// resize makes s have n elements.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		grown := make([]T, n, max(n, 2*cap(s)))
		copy(grown, s[:cap(s)])
		return grown
	}
	return s[:n]
}

// fetch reads up to n more entries, and fails when there are none.
func (l *leafReader) fetch(n int) error {
	at, from := len(l.defs), l.values.length
	l.defs = resize(l.defs, at+n)
	if l.maxRep > 0 {
		l.reps = resize(l.reps, at+n)
	}
	defs, reps := l.defs[at:], []int16(nil)
	if l.maxRep > 0 {
		reps = l.reps[at:]
	}
	levels := defs
	if l.maxDef == 0 {
		levels = nil
	}
	v := &l.values
	var total int64
	var read int
	var err error
	size := int64(n)
	switch c := l.chunk.(type) {
	case *file.BooleanColumnChunkReader:
		v.bools = resize(v.bools, from+n)
		total, read, err = c.ReadBatch(size, v.bools[from:], levels, reps)
	case *file.Int32ColumnChunkReader:
		v.i32 = resize(v.i32, from+n)
		total, read, err = c.ReadBatch(size, v.i32[from:], levels, reps)
	case *file.Int64ColumnChunkReader:
		v.i64 = resize(v.i64, from+n)
		total, read, err = c.ReadBatch(size, v.i64[from:], levels, reps)
	case *file.Int96ColumnChunkReader:
		v.i96 = resize(v.i96, from+n)
		total, read, err = c.ReadBatch(size, v.i96[from:], levels, reps)
	case *file.Float32ColumnChunkReader:
		v.f32 = resize(v.f32, from+n)
		total, read, err = c.ReadBatch(size, v.f32[from:], levels, reps)
	case *file.Float64ColumnChunkReader:
		v.f64 = resize(v.f64, from+n)
		total, read, err = c.ReadBatch(size, v.f64[from:], levels, reps)
	case *file.ByteArrayColumnChunkReader:
		v.bytes = resize(v.bytes, from+n)
		total, read, err = c.ReadBatch(size, v.bytes[from:], levels, reps)
	case *file.FixedLenByteArrayColumnChunkReader:
		v.fixed = resize(v.fixed, from+n)
		total, read, err = c.ReadBatch(size, v.fixed[from:], levels, reps)
	default:
		err = fmt.Errorf("physical type %s is not supported", l.field.prim.PhysicalType())
	}
	if err == nil {
		err = l.chunk.Err()
	}
	if err == nil && total == 0 {
		err = fmt.Errorf("fewer values than rows")
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", l.field.prim.Path(), err)
	}
	l.defs, v.length = l.defs[:at+int(total)], from+read
	if l.maxRep > 0 {
		l.reps = l.reps[:at+int(total)]
	}
	if levels == nil {
		clear(l.defs[at:])
	}
	return nil
}

// rows reads on until n rows are there, and tells how many entries they have. The row group has them.
func (l *leafReader) rows(n int) (entries int, err error) {
	if l.maxRep == 0 {
		for len(l.defs) < n {
			if err := l.fetch(n - len(l.defs)); err != nil {
				return 0, err
			}
		}
		return n, nil
	}
	rows, i := 0, 0
	for {
		for ; i < len(l.reps); i++ {
			if l.reps[i] == 0 {
				if rows == n {
					return i, nil
				}
				rows++
			}
		}
		if !l.chunk.HasNext() {
			if err := l.chunk.Err(); err != nil {
				return 0, err
			}
			if rows == n {
				return i, nil
			}
		}
		if err := l.fetch(max(n, 256)); err != nil {
			return 0, err
		}
	}
}

// drop forgets the first entries and their values.
func (l *leafReader) drop(entries int) {
	values := 0
	for _, d := range l.defs[:entries] {
		if d == l.maxDef {
			values++
		}
	}
	l.defs = l.defs[:copy(l.defs, l.defs[entries:])]
	if l.maxRep > 0 {
		l.reps = l.reps[:copy(l.reps, l.reps[entries:])]
	}
	v := &l.values
	left := v.length - values
	shift(v.bools, values, left)
	shift(v.i32, values, left)
	shift(v.i64, values, left)
	shift(v.i96, values, left)
	shift(v.f32, values, left)
	shift(v.f64, values, left)
	shift(v.bytes, values, left)
	shift(v.fixed, values, left)
	v.length = left
}

func shift[T any](s []T, by, left int) {
	if len(s) > 0 && left > 0 {
		copy(s, s[by:by+left])
	}
}

// column makes a column of the first entries: a row for each that there is a place for.
func (l *leafReader) column(entries int) (*columnar.Column, error) {
	f := l.field
	defs := l.defs[:entries]
	rows, values := 0, 0
	for _, d := range defs {
		if d >= f.slotDef {
			rows++
		}
		if d == l.maxDef {
			values++
		}
	}
	var valid columnar.Bitmap
	if values < rows {
		valid = columnar.NewBitmap(rows)
		row := 0
		for _, d := range defs {
			if d < f.slotDef {
				continue
			}
			if d == l.maxDef {
				valid.Set(row)
			}
			row++
		}
	}
	return l.build(rows, values, valid)
}

// build spreads the first values over the rows that are not null.
func (l *leafReader) build(rows, values int, valid columnar.Bitmap) (*columnar.Column, error) {
	v, t := &l.values, l.field.typ
	switch l.field.prim.PhysicalType() {
	case parquet.Types.Boolean:
		c := &columnar.Column{Type: t, Len: rows, Valid: valid, Bits: columnar.NewBitmap(rows)}
		k := 0
		for i := range rows {
			if valid == nil || valid.Get(i) {
				c.Bits.SetTo(i, v.bools[k])
				k++
			}
		}
		return c, nil
	case parquet.Types.Int32:
		switch t.Kind {
		case columnar.KindInt8:
			return spread(t, rows, valid, v.i32[:values], func(x int32) int8 { return int8(x) }), nil
		case columnar.KindInt16:
			return spread(t, rows, valid, v.i32[:values], func(x int32) int16 { return int16(x) }), nil
		case columnar.KindInt64: // an unsigned number
			return spread(t, rows, valid, v.i32[:values], func(x int32) int64 { return int64(uint32(x)) }), nil
		case columnar.KindDecimal:
			return spread(t, rows, valid, v.i32[:values], func(x int32) columnar.Dec128 { return columnar.Dec128FromInt64(int64(x)) }), nil
		case columnar.KindTime:
			return spread(t, rows, valid, v.i32[:values], func(x int32) int64 { return int64(x) * 1e6 }), nil
		}
		return spread(t, rows, valid, v.i32[:values], same[int32]), nil
	case parquet.Types.Int64:
		switch t.Kind {
		case columnar.KindDecimal:
			if t.Precision == 20 && !l.field.prim.DecimalMetadata().IsSet { // an unsigned number
				return spread(t, rows, valid, v.i64[:values], func(x int64) columnar.Dec128 { return columnar.Dec128{Lo: uint64(x)} }), nil
			}
			return spread(t, rows, valid, v.i64[:values], columnar.Dec128FromInt64), nil
		case columnar.KindTimestamp, columnar.KindTimestampNTZ:
			switch timestampUnit(l.field.prim) {
			case schema.TimeUnitMillis:
				for _, x := range v.i64[:values] {
					if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
						return nil, fmt.Errorf("timestamp of %d ms is out of range", x)
					}
				}
				return spread(t, rows, valid, v.i64[:values], func(x int64) int64 { return x * 1000 }), nil
			case schema.TimeUnitNanos:
				return spread(t, rows, valid, v.i64[:values], func(x int64) int64 { return floorDiv(x, 1000) }), nil
			}
		case columnar.KindTime:
			if timeUnit(l.field.prim) == schema.TimeUnitMicros {
				return spread(t, rows, valid, v.i64[:values], func(x int64) int64 { return x * 1000 }), nil
			}
		}
		return spread(t, rows, valid, v.i64[:values], same[int64]), nil
	case parquet.Types.Int96:
		return spread(t, rows, valid, v.i96[:values], int96Micros), nil
	case parquet.Types.Float:
		return spread(t, rows, valid, v.f32[:values], same[float32]), nil
	case parquet.Types.Double:
		return spread(t, rows, valid, v.f64[:values], same[float64]), nil
	case parquet.Types.ByteArray:
		if t.Kind == columnar.KindDecimal {
			for _, b := range v.bytes[:values] {
				if len(b) > 16 {
					return nil, fmt.Errorf("a decimal of %d bytes", len(b))
				}
			}
			return spread(t, rows, valid, v.bytes[:values], func(b parquet.ByteArray) columnar.Dec128 { return bigEndian(b) }), nil
		}
		return join(t, rows, valid, v.bytes[:values])
	}
	switch {
	case t.Kind == columnar.KindDecimal:
		if l.field.prim.TypeLength() > 16 {
			return nil, fmt.Errorf("a decimal of %d bytes", l.field.prim.TypeLength())
		}
		return spread(t, rows, valid, v.fixed[:values], func(b parquet.FixedLenByteArray) columnar.Dec128 { return bigEndian(b) }), nil
	case t.Kind == columnar.KindFloat32 && l.field.prim.TypeLength() == 2:
		return spread(t, rows, valid, v.fixed[:values], func(b parquet.FixedLenByteArray) float32 { return float16.FromLEBytes(b).Float32() }), nil
	}
	return join(t, rows, valid, v.fixed[:values])
}

func same[T any](x T) T { return x }

// spread makes a fixed-width column.
func spread[A any, B columnar.Value](t *columnar.Type, rows int, valid columnar.Bitmap, values []A, f func(A) B) *columnar.Column {
	out := make([]B, rows)
	if valid == nil {
		for i, v := range values {
			out[i] = f(v)
		}
	} else {
		k := 0
		for i := range out {
			if valid.Get(i) {
				out[i] = f(values[k])
				k++
			}
		}
	}
	return columnar.NewFixed(t, out, valid)
}

// join makes a column of byte strings.
func join[A ~[]byte](t *columnar.Type, rows int, valid columnar.Bitmap, values []A) (*columnar.Column, error) {
	total := 0
	for _, v := range values {
		total += len(v)
	}
	if total > math.MaxInt32 {
		return nil, fmt.Errorf("more than 2 GiB of text in one batch")
	}
	offsets, data := make([]int32, rows+1), make([]byte, 0, total)
	k := 0
	for i := range rows {
		if valid == nil || valid.Get(i) {
			data = append(data, values[k]...)
			k++
		}
		offsets[i+1] = int32(len(data))
	}
	return columnar.NewBytes(t, offsets, data, valid), nil
}

// bigEndian is a two's complement number of up to 16 bytes.
func bigEndian(b []byte) columnar.Dec128 {
	var buf [16]byte
	if len(b) > 0 && b[0]&0x80 != 0 {
		for i := range buf {
			buf[i] = 0xff
		}
	}
	copy(buf[16-len(b):], b)
	return columnar.Dec128{Lo: binary.BigEndian.Uint64(buf[8:]), Hi: int64(binary.BigEndian.Uint64(buf[:8]))}
}

// int96Micros is a timestamp of nanoseconds within a Julian day.
func int96Micros(v parquet.Int96) int64 {
	nanos := int64(binary.LittleEndian.Uint64(v[:8]))
	day := int64(binary.LittleEndian.Uint32(v[8:])) - 2440588
	return day*86400e6 + floorDiv(nanos, 1000)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func timestampUnit(n *schema.PrimitiveNode) schema.TimeUnitType {
	switch l := n.LogicalType().(type) {
	case *schema.TimestampLogicalType:
		return l.TimeUnit()
	case schema.TimestampLogicalType:
		return l.TimeUnit()
	}
	return schema.TimeUnitMicros
}

func timeUnit(n *schema.PrimitiveNode) schema.TimeUnitType {
	switch l := n.LogicalType().(type) {
	case *schema.TimeLogicalType:
		return l.TimeUnit()
	case schema.TimeLogicalType:
		return l.TimeUnit()
	}
	return schema.TimeUnitMicros
}
