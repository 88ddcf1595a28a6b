package columnar

// Datum is one value outside a column: nil, bool, int8, int16, int32, int64, float32, float64,
// Dec128, string (STRING and VARIANT), []byte, CalendarInterval, []Datum (array), MapDatum,
// StructDatum. DATE and YEAR-MONTH intervals are int32; timestamps, TIME and DAY-TIME intervals int64.
type Datum = any

// MapDatum is a map in the order of its entries.
type MapDatum struct{ Keys, Values []Datum }

// StructDatum is a struct's fields in order.
type StructDatum []Datum

// Datum is the value of row i; strings and bytes are copied.
func (c *Column) Datum(i int) Datum {
	if c.IsNull(i) {
		return nil
	}
	switch c.Type.Kind {
	case KindBool:
		return c.Bits.Get(i)
	case KindInt8:
		return Values[int8](c)[i]
	case KindInt16:
		return Values[int16](c)[i]
	case KindInt32, KindDate, KindYearMonth:
		return Values[int32](c)[i]
	case KindInt64, KindTimestamp, KindTimestampNTZ, KindTime, KindDayTime:
		return Values[int64](c)[i]
	case KindFloat32:
		return Values[float32](c)[i]
	case KindFloat64:
		return Values[float64](c)[i]
	case KindDecimal:
		return Values[Dec128](c)[i]
	case KindCalendar:
		return Values[CalendarInterval](c)[i]
	case KindString, KindVariant:
		return string(c.BytesAt(i))
	case KindBinary:
		return append([]byte{}, c.BytesAt(i)...)
	case KindArray:
		return c.Children[0].data(c.Offsets[i], c.Offsets[i+1])
	case KindMap:
		return MapDatum{c.Children[0].data(c.Offsets[i], c.Offsets[i+1]), c.Children[1].data(c.Offsets[i], c.Offsets[i+1])}
	case KindStruct:
		s := make(StructDatum, len(c.Children))
		for k, ch := range c.Children {
			s[k] = ch.Datum(i)
		}
		return s
	}
	return nil
}

func (c *Column) data(from, to int32) []Datum {
	out := make([]Datum, 0, to-from)
	for j := from; j < to; j++ {
		out = append(out, c.Datum(int(j)))
	}
	return out
}

// AppendDatum adds a value as Datum describes it; integers of another width than the type's are
// converted, anything else that does not fit the type is a programming error and panics.
func (b *Builder) AppendDatum(v Datum) {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case bool:
		b.AppendBool(v)
	case int:
		b.AppendInt(int64(v))
	case int8:
		b.AppendInt(int64(v))
	case int16:
		b.AppendInt(int64(v))
	case int32:
		b.AppendInt(int64(v))
	case int64:
		b.AppendInt(v)
	case float32:
		b.AppendFloat(float64(v))
	case float64:
		b.AppendFloat(v)
	case Dec128:
		b.AppendDecimal(v)
	case CalendarInterval:
		b.AppendCalendar(v)
	case string:
		b.AppendString(v)
	case []byte:
		b.AppendBytes(v)
	case []Datum:
		for _, e := range v {
			b.children[0].AppendDatum(e)
		}
		b.AppendNested()
	case MapDatum:
		for i := range v.Keys {
			b.children[0].AppendDatum(v.Keys[i])
			b.children[1].AppendDatum(v.Values[i])
		}
		b.AppendNested()
	case StructDatum:
		for i, e := range v {
			b.children[i].AppendDatum(e)
		}
		b.AppendNested()
	default:
		panic("columnar: AppendDatum of an unknown Go type")
	}
}

// FromData makes a column of the given values.
func FromData(t *Type, data ...Datum) *Column {
	b := NewBuilder(t, len(data))
	for _, d := range data {
		b.AppendDatum(d)
	}
	return b.Finish()
}

// Repeat makes a column of n times the same value.
func Repeat(t *Type, d Datum, n int) *Column {
	if d == nil {
		return NewNull(t, n)
	}
	one := FromData(t, d)
	if n == 1 {
		return one
	}
	return Take(one, make([]int32, n))
}
