package arrowconv

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/wstream/wstream/columnar"
)

// FromArrow is rec as a batch. The batch shares the record's memory where it can: with an allocator
// other than Go's own the record must not be released before the batch is done with.
func FromArrow(rec arrow.Record) (*columnar.Batch, error) {
	s, err := SchemaFromArrow(rec.Schema())
	if err != nil {
		return nil, err
	}
	cols := make([]*columnar.Column, len(s.Fields))
	for i, f := range s.Fields {
		if cols[i], err = ColumnFromArrow(rec.Column(i), f.Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	return columnar.NewBatch(s, cols, int(rec.NumRows())), nil
}

// ColumnFromArrow is an array as a column of type t, which is what TypeFromArrow says, or the type
// that the field's metadata names.
func ColumnFromArrow(a arrow.Array, t *columnar.Type) (*columnar.Column, error) {
	n, d := a.Len(), a.Data()
	if n == 0 { // whose buffers may be missing
		return columnar.NewEmpty(t), nil
	}
	c := &columnar.Column{Type: t, Len: n}
	if a.NullN() > 0 && a.DataType().ID() != arrow.NULL {
		c.Valid = columnar.BitmapFromBytes(a.NullBitmapBytes(), d.Offset(), n)
	}
	fixed := func(width int) []byte {
		b := d.Buffers()[1].Bytes()[d.Offset()*width:][:n*width]
		if !aligned(b) {
			copied := columnar.AlignedBytes(len(b))
			copy(copied, b)
			b = copied
		}
		return b
	}
	switch a := a.(type) {
	case *array.Null:
	case *array.Boolean:
		c.Bits = columnar.BitmapFromBytes(d.Buffers()[1].Bytes(), d.Offset(), n)
	case *array.String:
		c.Offsets = a.ValueOffsets()
		if b := d.Buffers()[2]; b != nil {
			c.Data = b.Bytes()
		}
	case *array.Binary:
		c.Offsets = a.ValueOffsets()
		if b := d.Buffers()[2]; b != nil {
			c.Data = b.Bytes()
		}
	case *array.LargeString:
		return largeBytes(c, n, func(i int) string { return a.Value(i) })
	case *array.LargeBinary:
		return largeBytes(c, n, func(i int) string { return string(a.Value(i)) })
	case *array.FixedSizeBinary:
		return largeBytes(c, n, func(i int) string { return string(a.Value(i)) })
	case *array.Map:
		offsets := a.Offsets()[d.Offset():][:n+1]
		keys, err := ColumnFromArrow(a.Keys(), t.Key)
		if err != nil {
			return nil, err
		}
		values, err := ColumnFromArrow(a.Items(), t.Elem)
		if err != nil {
			return nil, err
		}
		c.Offsets, c.Children = offsets, []*columnar.Column{keys, values}
	case *array.List:
		elems, err := ColumnFromArrow(a.ListValues(), t.Elem)
		if err != nil {
			return nil, err
		}
		c.Offsets, c.Children = a.Offsets()[d.Offset():][:n+1], []*columnar.Column{elems}
	case *array.LargeList, *array.FixedSizeList:
		list := a.(array.ListLike)
		elems, err := ColumnFromArrow(list.ListValues(), t.Elem)
		if err != nil {
			return nil, err
		}
		return listRanges(c, elems, n, list.ValueOffsets)
	case *array.Struct:
		for i := range t.Fields {
			kid, err := ColumnFromArrow(a.Field(i), t.Fields[i].Type)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", t.Fields[i].Name, err)
			}
			c.Children = append(c.Children, kid)
		}
	case *array.Dictionary:
		values, err := ColumnFromArrow(a.Dictionary(), t)
		if err != nil {
			return nil, err
		}
		index := make([]int32, n)
		for i := range index {
			if index[i] = -1; !a.IsNull(i) {
				index[i] = int32(a.GetValueIndex(i))
			}
		}
		return columnar.Take(values, index), nil
	case *array.Uint8:
		c.Data = columnar.NewFixed(t, convert(a.Uint8Values(), func(v uint8) int16 { return int16(v) }), nil).Data
	case *array.Uint16:
		c.Data = columnar.NewFixed(t, convert(a.Uint16Values(), func(v uint16) int32 { return int32(v) }), nil).Data
	case *array.Uint32:
		c.Data = columnar.NewFixed(t, convert(a.Uint32Values(), func(v uint32) int64 { return int64(v) }), nil).Data
	case *array.Uint64:
		c.Data = columnar.NewFixed(t, convert(a.Uint64Values(), func(v uint64) columnar.Dec128 { return columnar.Dec128{Lo: v} }), nil).Data
	case *array.Float16:
		v := make([]float32, n)
		for i := range v {
			v[i] = a.Value(i).Float32()
		}
		c.Data = columnar.NewFixed(t, v, nil).Data
	case *array.Date64:
		c.Data = columnar.NewFixed(t, convert(a.Date64Values(), func(v arrow.Date64) int32 { return int32(floorDiv(int64(v), 86400_000)) }), nil).Data
	case *array.Timestamp:
		return scaled(c, fixed(8), a.DataType().(*arrow.TimestampType).Unit)
	case *array.Duration:
		return scaled(c, fixed(8), a.DataType().(*arrow.DurationType).Unit)
	case *array.Time32:
		unit := int64(1e9)
		if a.DataType().(*arrow.Time32Type).Unit == arrow.Millisecond {
			unit = 1e6
		}
		c.Data = columnar.NewFixed(t, convert(a.Time32Values(), func(v arrow.Time32) int64 { return int64(v) * unit }), nil).Data
	case *array.Time64:
		if a.DataType().(*arrow.Time64Type).Unit == arrow.Microsecond {
			c.Data = columnar.NewFixed(t, convert(a.Time64Values(), func(v arrow.Time64) int64 { return int64(v) * 1000 }), nil).Data
		} else {
			c.Data = fixed(8)
		}
	case *array.MonthDayNanoInterval:
		v := make([]columnar.CalendarInterval, n)
		for i := range v {
			x := a.Value(i)
			v[i] = columnar.CalendarInterval{Months: x.Months, Days: x.Days, Micros: floorDiv(x.Nanoseconds, 1000)}
		}
		c.Data = columnar.NewFixed(t, v, nil).Data
	default:
		w := t.Width()
		if w == 0 {
			return nil, fmt.Errorf("Arrow type %s has no Spark type", a.DataType())
		}
		c.Data = fixed(w)
	}
	return c, nil
}

func largeBytes(c *columnar.Column, n int, value func(i int) string) (*columnar.Column, error) {
	c.Offsets = make([]int32, n+1)
	for i := range n {
		if !c.IsNull(i) {
			c.Data = append(c.Data, value(i)...)
		}
		if len(c.Data) > math.MaxInt32 {
			return nil, fmt.Errorf("more than 2 GiB of text in one batch")
		}
		c.Offsets[i+1] = int32(len(c.Data))
	}
	return c, nil
}

// listRanges makes a list column of ranges in 64 bits.
func listRanges(c *columnar.Column, elems *columnar.Column, n int, bounds func(int) (int64, int64)) (*columnar.Column, error) {
	index, contiguous := make([]int32, 0, elems.Len), true
	c.Offsets = make([]int32, n+1)
	for i := range n {
		if !c.IsNull(i) {
			from, to := bounds(i)
			for j := from; j < to; j++ {
				contiguous = contiguous && int(j) == len(index)
				index = append(index, int32(j))
			}
		}
		c.Offsets[i+1] = int32(len(index))
	}
	if !contiguous || len(index) != elems.Len {
		elems = columnar.Take(elems, index)
	}
	c.Children = []*columnar.Column{elems}
	return c, nil
}

func convert[A any, B columnar.Value](src []A, f func(A) B) []B {
	out := make([]B, len(src))
	for i, v := range src {
		out[i] = f(v)
	}
	return out
}

// scaled takes times in a unit to microseconds; what does not fit is refused.
func scaled(c *columnar.Column, data []byte, unit arrow.TimeUnit) (*columnar.Column, error) {
	c.Data = data
	if unit == arrow.Microsecond {
		return c, nil
	}
	src := columnar.Values[int64](c)
	out := make([]int64, len(src))
	if unit == arrow.Nanosecond {
		for i, v := range src {
			out[i] = floorDiv(v, 1000)
		}
	} else {
		factor := int64(1000_000)
		if unit == arrow.Millisecond {
			factor = 1000
		}
		for i, v := range src {
			if (v > math.MaxInt64/factor || v < math.MinInt64/factor) && !c.IsNull(i) {
				return nil, fmt.Errorf("timestamp %d %s is out of range", v, unit)
			}
			out[i] = v * factor
		}
	}
	c.Data = columnar.NewFixed(c.Type, out, nil).Data
	return c, nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
