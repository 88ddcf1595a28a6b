package formattest

import (
	"math"
	"math/rand"

	"github.com/wstream/wstream/columnar"
)

// RandomBatch makes n rows of a schema with nulls, extremes and odd strings. Fields and elements that
// are not nullable get no null.
func RandomBatch(r *rand.Rand, s *columnar.Schema, n int) *columnar.Batch {
	cols := make([]*columnar.Column, len(s.Fields))
	for i, f := range s.Fields {
		b := columnar.NewBuilder(f.Type, n)
		for range n {
			b.AppendDatum(RandomDatum(r, f.Type, f.Nullable))
		}
		cols[i] = b.Finish()
	}
	return columnar.NewBatch(s, cols, n)
}

// RandomDatum makes a value of a type, in one of five cases null when it may be.
func RandomDatum(r *rand.Rand, t *columnar.Type, nullable bool) columnar.Datum {
	if t.Kind == columnar.KindNull || nullable && r.Intn(5) == 0 {
		return nil
	}
	integer := func(min, max int64) int64 {
		switch r.Intn(8) {
		case 0:
			return min
		case 1:
			return max
		case 2:
			return 0
		}
		if span := uint64(max) - uint64(min); span+1 != 0 {
			return min + int64(r.Uint64()%(span+1))
		}
		return int64(r.Uint64())
	}
	switch t.Kind {
	case columnar.KindBool:
		return r.Intn(2) == 0
	case columnar.KindInt8:
		return int8(integer(math.MinInt8, math.MaxInt8))
	case columnar.KindInt16:
		return int16(integer(math.MinInt16, math.MaxInt16))
	case columnar.KindInt32:
		return int32(integer(math.MinInt32, math.MaxInt32))
	case columnar.KindInt64:
		return integer(math.MinInt64, math.MaxInt64)
	case columnar.KindFloat32:
		return [...]float32{0, -1.5, 0.1, math.MaxFloat32, float32(math.Inf(-1)), float32(r.NormFloat64())}[r.Intn(6)]
	case columnar.KindFloat64:
		return [...]float64{0, -1.5, 0.1, math.MaxFloat64, math.Inf(1), r.NormFloat64() * 1e9}[r.Intn(6)]
	case columnar.KindDecimal:
		limit := columnar.Pow10(t.Precision)
		v := columnar.Dec128{Lo: r.Uint64(), Hi: int64(r.Uint64())}
		if t.Precision <= 18 {
			v = columnar.Dec128FromInt64(r.Int63n(limit.Int64()))
		}
		for !v.FitsPrecision(t.Precision) {
			v.Hi >>= 1 + r.Intn(3)
		}
		if r.Intn(3) == 0 {
			v = v.Neg()
		}
		return v
	case columnar.KindString:
		return randomString(r)
	case columnar.KindVariant:
		return [...]string{`null`, `1`, `"x"`, `{"a":[1,2.5]}`}[r.Intn(4)]
	case columnar.KindBinary:
		b := make([]byte, r.Intn(6))
		r.Read(b)
		return b
	case columnar.KindDate:
		return int32(integer(-719162, 2932896))
	case columnar.KindTimestamp, columnar.KindTimestampNTZ:
		return integer(-62135596800000000, 253402300799999999)
	case columnar.KindTime:
		return integer(0, 86399999999) * 1000
	case columnar.KindYearMonth:
		v := int32(integer(-100000, 100000))
		if t.End == columnar.FieldYear {
			v = v / 12 * 12
		}
		return v
	case columnar.KindDayTime:
		unit := [...]int64{columnar.FieldDay: 86400e6, columnar.FieldHour: 3600e6, columnar.FieldMinute: 60e6, columnar.FieldSecond: 1}[t.End]
		return integer(-1e15, 1e15) / unit * unit
	case columnar.KindCalendar:
		return columnar.CalendarInterval{Months: int32(integer(-1000, 1000)), Days: int32(integer(-1000, 1000)), Micros: integer(-1e15, 1e15)}
	case columnar.KindArray:
		list := make([]columnar.Datum, r.Intn(4))
		for i := range list {
			list[i] = RandomDatum(r, t.Elem, t.ElemNullable)
		}
		return list
	case columnar.KindMap:
		m := columnar.MapDatum{Keys: []columnar.Datum{}, Values: []columnar.Datum{}}
		seen := map[any]bool{}
		for range r.Intn(4) {
			k := RandomDatum(r, t.Key, false)
			if !t.Key.IsNested() && t.Key.Kind != columnar.KindBinary {
				if seen[k] {
					continue
				}
				seen[k] = true
			}
			m.Keys = append(m.Keys, k)
			m.Values = append(m.Values, RandomDatum(r, t.Elem, t.ElemNullable))
		}
		return m
	case columnar.KindStruct:
		s := make(columnar.StructDatum, len(t.Fields))
		for i, f := range t.Fields {
			s[i] = RandomDatum(r, f.Type, f.Nullable)
		}
		return s
	}
	return nil
}

func randomString(r *rand.Rand) string {
	const letters = "ab,\"'\\\n\r\t |;:#{}[]\x00\x01\x7fé日😀 0123456789"
	runes := []rune(letters)
	b := make([]rune, r.Intn(8)*r.Intn(4))
	for i := range b {
		b[i] = runes[r.Intn(len(runes))]
	}
	return string(b)
}
