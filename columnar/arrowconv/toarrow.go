package arrowconv

import (
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/wstream/wstream/columnar"
)

// ToArrow is b as an Arrow record over the same memory. Release the record; the batch stays as it is.
func ToArrow(b *columnar.Batch) arrow.Record {
	schema := SchemaToArrow(b.Schema)
	cols := make([]arrow.Array, len(b.Columns))
	for i, c := range b.Columns {
		cols[i] = ColumnToArrow(c, schema.Field(i).Type)
	}
	rec := array.NewRecord(schema, cols, int64(b.Rows))
	for _, c := range cols {
		c.Release()
	}
	return rec
}

// ColumnToArrow is c as an Arrow array of type t, which is TypeToArrow of c's.
func ColumnToArrow(c *columnar.Column, t arrow.DataType) arrow.Array {
	data := toData(c, t)
	defer data.Release()
	return array.MakeFromData(data)
}

func toData(c *columnar.Column, t arrow.DataType) *array.Data {
	n := c.Len
	var valid *memory.Buffer
	nulls := 0
	if c.Valid != nil && t.ID() != arrow.NULL {
		valid, nulls = memory.NewBufferBytes(c.Valid.Bytes()), c.NullCount()
	}
	switch t := t.(type) {
	case *arrow.NullType:
		return array.NewData(t, n, []*memory.Buffer{nil}, nil, n, 0)
	case *arrow.BooleanType:
		return array.NewData(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(c.Bits.Bytes())}, nil, nulls, 0)
	case *arrow.StringType, *arrow.BinaryType:
		// Arrow's IPC writer takes offsets without an array offset to begin at 0.
		text := c.Data[c.Offsets[0]:c.Offsets[n]]
		return array.NewData(t, n, []*memory.Buffer{valid, offsetsBuffer(rebase(c.Offsets)), memory.NewBufferBytes(text)}, nil, nulls, 0)
	case *arrow.MapType:
		from, to := c.Offsets[0], c.Offsets[n]
		keys := toData(c.Children[0].Slice(int(from), int(to)), t.KeyType())
		values := toData(c.Children[1].Slice(int(from), int(to)), t.ItemType())
		entries := array.NewData(t.Elem(), int(to-from), []*memory.Buffer{nil}, []arrow.ArrayData{keys, values}, 0, 0)
		keys.Release()
		values.Release()
		defer entries.Release()
		return array.NewData(t, n, []*memory.Buffer{valid, offsetsBuffer(rebase(c.Offsets))}, []arrow.ArrayData{entries}, nulls, 0)
	case *arrow.ListType:
		from, to := c.Offsets[0], c.Offsets[n]
		elems := toData(c.Children[0].Slice(int(from), int(to)), t.Elem())
		defer elems.Release()
		return array.NewData(t, n, []*memory.Buffer{valid, offsetsBuffer(rebase(c.Offsets))}, []arrow.ArrayData{elems}, nulls, 0)
	case *arrow.StructType:
		kids := make([]arrow.ArrayData, len(c.Children))
		for i, k := range c.Children {
			kids[i] = toData(k, t.Field(i).Type)
		}
		data := array.NewData(t, n, []*memory.Buffer{valid}, kids, nulls, 0)
		for _, k := range kids {
			k.Release()
		}
		return data
	case *arrow.MonthDayNanoIntervalType:
		out := make([]arrow.MonthDayNanoInterval, n)
		for i, v := range columnar.Values[columnar.CalendarInterval](c) {
			out[i] = arrow.MonthDayNanoInterval{Months: v.Months, Days: v.Days, Nanoseconds: v.Micros * 1000}
		}
		return array.NewData(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(arrow.MonthDayNanoIntervalTraits.CastToBytes(out))}, nil, nulls, 0)
	}
	return array.NewData(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(c.Data)}, nil, nulls, 0)
}

func offsetsBuffer(offsets []int32) *memory.Buffer {
	return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))
}

// rebase makes offsets start at 0.
func rebase(offsets []int32) []int32 {
	if offsets[0] == 0 {
		return offsets
	}
	out := make([]int32, len(offsets))
	for i, o := range offsets {
		out[i] = o - offsets[0]
	}
	return out
}

// aligned tells whether b may be viewed as values of up to 16 bytes.
func aligned(b []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(b)))&7 == 0 }
