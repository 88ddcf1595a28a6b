package expr_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
)

// castTypes are types of every kind, between all of which FuzzCast casts.
func castTypes() []*columnar.Type {
	flat := []*columnar.Type{
		columnar.Null, columnar.Bool, columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64, columnar.Float32, columnar.Float64,
		columnar.Decimal(5, 2), columnar.Decimal(38, 0), columnar.Decimal(38, 38), columnar.String, columnar.Binary, columnar.Date,
		columnar.Timestamp, columnar.TimestampNTZ, columnar.Time, columnar.Calendar, columnar.Variant,
		columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth), columnar.YearMonth(columnar.FieldMonth, columnar.FieldMonth),
		columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), columnar.DayTime(columnar.FieldHour, columnar.FieldHour),
	}
	out := flat
	for _, t := range flat {
		out = append(out, columnar.ArrayOf(t, true), columnar.MapOf(columnar.String, t, true),
			columnar.StructOf(columnar.Field{Name: "a", Type: t, Nullable: true}, columnar.Field{Name: "b", Type: columnar.Int32, Nullable: true}))
	}
	return out
}

// FuzzCast makes a column of one type out of a text and some bytes and casts it to another, in all modes. No cast may
// panic, change the number of rows, or fail other than by one of Spark's conditions; TRY_CAST does not fail at all.
func FuzzCast(f *testing.F) {
	types := castTypes()
	for i := range types {
		f.Add("1", []byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(i), uint8(i*7), uint8(i))
		f.Add(" -12.5e3 ", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint8(11), uint8(i), uint8(0))
		f.Add("2026-03-29 02:30:00.123456 Europe/Berlin", []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f"), uint8(11), uint8(i), uint8(1))
	}
	zones := []*time.Location{time.UTC, time.FixedZone("", 5*3600+1800)}
	if z, err := time.LoadLocation("America/New_York"); err == nil {
		zones = append(zones, z)
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte, from, to, zone uint8) {
		in := castInput(types[int(from)%len(types)], text, raw)
		target := types[int(to)%len(types)]
		for _, mode := range []expr.CastMode{expr.CastANSI, expr.CastLegacy, expr.CastTry} {
			if !expr.CanCast(in.Type, target, mode) {
				continue
			}
			ctx := &expr.Context{Zone: zones[int(zone)%len(zones)], ANSI: mode == expr.CastANSI, BatchTime: 1_772_359_872_000_000}
			out, err := expr.CastColumn(ctx, in, target, mode)
			switch {
			case err != nil && (mode == expr.CastTry || sparkerr.Condition(err) == ""):
				t.Fatalf("cast of %s to %s, mode %d: %v", in.Type, target, mode, err)
			case err != nil:
				continue
			case out.Len != in.Len:
				t.Fatalf("cast of %s to %s gave %d rows of %d", in.Type, target, out.Len, in.Len)
			}
			for i := range in.Len {
				if _ = out.Datum(i); in.IsNull(i) && !out.IsNull(i) {
					t.Fatalf("cast of a NULL of %s to %s is no NULL", in.Type, target)
				}
			}
		}
	})
}

// castInput is a column of a type: a null, and values made of the text and the bytes.
func castInput(t *columnar.Type, text string, raw []byte) *columnar.Column {
	b := columnar.NewBuilder(t, 3)
	b.AppendNull()
	appendFuzzed(b, t, text, raw)
	if len(raw) > 4 {
		appendFuzzed(b, t, text+text, raw[4:])
	}
	return b.Finish()
}

func appendFuzzed(b *columnar.Builder, t *columnar.Type, text string, raw []byte) {
	var buf [16]byte
	copy(buf[:], raw)
	n := int64(binary.LittleEndian.Uint64(buf[:]))
	switch t.Kind {
	case columnar.KindNull, columnar.KindVariant:
		b.AppendNull()
	case columnar.KindBool:
		b.AppendBool(n&1 == 1)
	case columnar.KindInt8:
		b.AppendInt(int64(int8(n)))
	case columnar.KindInt16:
		b.AppendInt(int64(int16(n)))
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		b.AppendInt(int64(int32(n)))
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindDayTime:
		b.AppendInt(n)
	case columnar.KindTime:
		b.AppendInt(int64(uint64(n) % 86_400_000_000_000))
	case columnar.KindFloat32, columnar.KindFloat64:
		c, err := expr.CastColumn(&expr.Context{}, columnar.FromData(columnar.Int64, n), columnar.Float64, expr.CastLegacy)
		if err != nil || n&3 == 0 {
			b.AppendFloat(columnar.Values[float64](&columnar.Column{Type: columnar.Float64, Len: 1, Data: buf[:8]})[0])
			return
		}
		b.AppendFloat(columnar.Values[float64](c)[0])
	case columnar.KindDecimal:
		b.AppendDecimal(columnar.Dec128{Lo: uint64(n) % 100_000, Hi: 0})
	case columnar.KindString:
		b.AppendString(text)
	case columnar.KindBinary:
		b.AppendBytes(raw)
	case columnar.KindArray:
		appendFuzzed(b.Child(0), t.Elem, text, raw)
		b.Child(0).AppendNull()
		b.AppendNested()
	case columnar.KindMap:
		b.Child(0).AppendString(text)
		appendFuzzed(b.Child(1), t.Elem, text, raw)
		b.AppendNested()
	case columnar.KindStruct:
		appendFuzzed(b.Child(0), t.Fields[0].Type, text, raw)
		b.Child(1).AppendInt(int64(int32(n)))
		b.AppendNested()
	default:
		b.AppendNull()
	}
}
