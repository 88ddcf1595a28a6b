package abi

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/wstream/wstream/columnar"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is the frame of the documentation: a filter's input of three rows.
func sample() *Frame {
	valid := columnar.NewBitmapSet(3)
	valid.Clear(1)
	return &Frame{
		Header: Header{
			Kind: KindFilter, Rows: 3, BatchID: 7, Partition: 1, Watermark: 1_000_000, BatchTime: 2_000_000,
			QueryID: [16]byte{0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		},
		Columns: []*columnar.Column{
			columnar.NewFixed(columnar.Float64, []float64{1.5, 0, -2}, valid),
			columnar.NewStrings([]string{"/a", "", "/bcd"}),
		},
	}
}

// TestGolden keeps the bytes of a frame as a file that docs/abi.md explains.
func TestGolden(t *testing.T) {
	b, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	got := hex.Dump(b)
	const file = "testdata/filter_input.hex"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("frame is\n%s\nwant\n%s", got, want)
	}
}

// randomType makes a type of at most depth levels.
func randomType(r *rand.Rand, depth int) *columnar.Type {
	flat := []*columnar.Type{
		columnar.Null, columnar.Bool, columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64,
		columnar.Float32, columnar.Float64, columnar.Decimal(20, 3), columnar.String, columnar.Binary, columnar.Date,
		columnar.Timestamp, columnar.TimestampNTZ, columnar.Time, columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth),
		columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), columnar.Calendar, columnar.Variant,
	}
	if depth == 0 || r.IntN(3) > 0 {
		return flat[r.IntN(len(flat))]
	}
	switch r.IntN(3) {
	case 0:
		return columnar.ArrayOf(randomType(r, depth-1), true)
	case 1:
		return columnar.MapOf(flat[1+r.IntN(len(flat)-1)], randomType(r, depth-1), true)
	}
	var fields []columnar.Field
	for range 1 + r.IntN(3) {
		fields = append(fields, columnar.Field{Name: "f", Type: randomType(r, depth-1), Nullable: true})
	}
	return columnar.StructOf(fields...)
}

// appendRandom adds a value; nulls only where they may be.
func appendRandom(r *rand.Rand, b *columnar.Builder, nullable bool) {
	t := b.Type()
	switch {
	case t.Kind == columnar.KindNull || nullable && r.IntN(4) == 0:
		b.AppendNull()
	case t.Kind == columnar.KindBool:
		b.AppendBool(r.IntN(2) == 0)
	case t.HasBytes():
		b.AppendString([]string{"", "a", "héllo", "длинная строка 😀"}[r.IntN(4)])
	case t.Kind == columnar.KindDecimal:
		b.AppendDecimal(columnar.Dec128FromInt64(r.Int64() >> r.IntN(64)))
	case t.Kind == columnar.KindCalendar:
		b.AppendCalendar(columnar.CalendarInterval{Months: 1, Days: -2, Micros: r.Int64()})
	case t.Kind == columnar.KindArray:
		for range r.IntN(4) {
			appendRandom(r, b.Child(0), true)
		}
		b.AppendNested()
	case t.Kind == columnar.KindMap:
		for range r.IntN(4) {
			appendRandom(r, b.Child(0), false)
			appendRandom(r, b.Child(1), true)
		}
		b.AppendNested()
	case t.Kind == columnar.KindStruct:
		for i := range t.Fields {
			appendRandom(r, b.Child(i), true)
		}
		b.AppendNested()
	case t.IsFloating():
		b.AppendFloat(r.NormFloat64())
	default:
		b.AppendInt(r.Int64())
	}
}

// randomFrame makes a frame whose columns are slices out of longer ones.
func randomFrame(r *rand.Rand) (*Frame, []columnar.Field) {
	rows := r.IntN(100)
	f := &Frame{Header: Header{Kind: KindMap, Op: OpCall, Flags: FlagFirst, Rows: rows, BatchID: -1, Watermark: NoWatermark}}
	var fields []columnar.Field
	for range 1 + r.IntN(5) {
		t := randomType(r, 3)
		b := columnar.NewBuilder(t, 0)
		before, after := r.IntN(10), r.IntN(10)
		for range before + rows + after {
			appendRandom(r, b, true)
		}
		f.Columns = append(f.Columns, b.Finish().Slice(before, before+rows))
		fields = append(fields, columnar.Field{Name: "c", Type: t, Nullable: true})
	}
	parents := make([]int32, rows)
	f.Sections = []Section{{ID: SectionParents, Rows: rows, Columns: []*columnar.Column{columnar.NewFixed(columnar.Int32, parents, nil)}}}
	return f, fields
}

// same compares columns by value.
func same(a, b *columnar.Column) bool {
	if a.Len != b.Len {
		return false
	}
	var x, y columnar.RowKeys
	columnar.EncodeRows(&x, []*columnar.Column{a}, a.Len, false)
	columnar.EncodeRows(&y, []*columnar.Column{b}, b.Len, false)
	return bytes.Equal(x.Data, y.Data)
}

// TestRoundTrip encodes and decodes random frames of all types, with and without a declared schema, and checks that a
// batch has one encoding.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(300) {
		f, fields := randomFrame(rand.New(rand.NewPCG(seed, 1)))
		b, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []*Want{nil, {Fields: fields}} {
			d, err := Decode(b, want, DefaultLimits())
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if d.Header != f.Header {
				t.Fatalf("seed %d: header %+v, want %+v", seed, d.Header, f.Header)
			}
			for i := range f.Columns {
				if !same(f.Columns[i], d.Columns[i]) {
					t.Fatalf("seed %d: column %d of %s differs", seed, i, f.Columns[i].Type)
				}
			}
			if !same(f.Sections[0].Columns[0], d.Sections[0].Columns[0]) {
				t.Fatalf("seed %d: section differs", seed)
			}
			again, err := Encode(&d.Frame)
			if err != nil || want != nil && !bytes.Equal(again, b) {
				t.Fatalf("seed %d: the second encoding differs (%v)", seed, err)
			}
		}
	}
}

// TestRefused has one line for each way in which a frame can be wrong.
func TestRefused(t *testing.T) {
	le := binary.LittleEndian
	const nodes, buffers = HeaderSize, HeaderSize + 2*NodeSize
	declared := []columnar.Field{{Name: "amount", Type: columnar.Float64, Nullable: true}, {Name: "url", Type: columnar.String, Nullable: true}}
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		want   string
	}{
		{"empty", func(b []byte) []byte { return nil }, "frame: 0 bytes are shorter than a header"},
		{"magic", func(b []byte) []byte { b[0] = 'X'; return b }, "frame: begins with 0x31465358, not with 0x31465357"},
		{"header longer than the frame", func(b []byte) []byte { le.PutUint32(b[4:], 1<<30); return b }, "frame: header of 1073741824 bytes in a frame of 512"},
		{"size beyond the bytes", func(b []byte) []byte { return b[:511] }, "frame: says 512 bytes where 511 are there"},
		{"rows", func(b []byte) []byte { le.PutUint32(b[20:], 1<<31); return b }, "frame: has 2147483648 rows, allowed are 16777216"},
		{"nodes", func(b []byte) []byte { le.PutUint32(b[76:], 1<<30); return b }, "frame: has 1073741824 nodes, allowed are 16384"},
		{"table outside", func(b []byte) []byte { le.PutUint32(b[88:], 1<<31); return b }, "frame: node table at 2147483648 with 2 entries is not inside"},
		{"table in the header", func(b []byte) []byte { le.PutUint32(b[88:], 8); return b }, "frame: node table at 8 with 2 entries is not inside"},
		{"fewer columns", func(b []byte) []byte { le.PutUint32(b[72:], 1); return b }, "frame: has 1 columns where 2 are declared"},
		{"other type", func(b []byte) []byte { b[nodes] = byte(TypeInt64); return b }, `frame: column "amount": is of type BIGINT where DOUBLE is declared`},
		{"unknown type", func(b []byte) []byte { b[nodes] = 200; return b }, `frame: column "amount": is of type code 200 where DOUBLE is declared`},
		{"unknown flags", func(b []byte) []byte { b[nodes+2] = 8; return b }, `frame: column "amount": unknown flags 0x8`},
		{"other length", func(b []byte) []byte { le.PutUint32(b[nodes+4:], 2); return b }, `frame: column "amount": has 2 rows of 3`},
		{"no such buffer", func(b []byte) []byte { le.PutUint32(b[nodes+12:], 4); return b }, `frame: column "amount": wants buffer 5 of 5`},
		{"children", func(b []byte) []byte { le.PutUint32(b[nodes+16:], 1); return b }, `frame: column "amount": type code 7 has no children, here are 1`},
		{"buffer outside", func(b []byte) []byte { le.PutUint64(b[buffers+BufferSize:], 500); return b }, `frame: column "amount": buffer 1 with 24 bytes at 500 is not inside the frame of 512`},
		{"offset and length overflow", func(b []byte) []byte {
			le.PutUint64(b[buffers+BufferSize:], 1<<63)
			le.PutUint64(b[buffers+BufferSize+8:], 1<<63+64)
			return b
		}, `frame: column "amount": buffer 1 with 9223372036854775872 bytes at 9223372036854775808 is not inside the frame of 512`},
		{"short buffer", func(b []byte) []byte { le.PutUint64(b[buffers+BufferSize+8:], 23); return b }, `frame: column "amount": buffer 1 has 23 bytes of 24`},
		{"offsets from 1", func(b []byte) []byte { b[384] = 1; return b }, `frame: column "url": offsets begin at 1, not at 0`},
		{"offsets fall", func(b []byte) []byte { b[384+4] = 5; return b }, `frame: column "url": offset 2 falls from 5 to 2`},
		{"offsets below zero", func(b []byte) []byte { le.PutUint32(b[384+12:], 0xffffffff); return b }, `frame: column "url": offset 3 falls from 2 to -1`},
		{"offsets beyond the data", func(b []byte) []byte { b[384+12] = 100; return b }, `frame: column "url": offset 3 points to 100 of 6`},
		{"text", func(b []byte) []byte { b[448+3] = 0xff; return b }, `frame: column "url": row 2 is not valid UTF-8`},
		{"character across rows", func(b []byte) []byte { b[448+1], b[448+2] = 0xc3, 0xa9; return b }, `frame: column "url": row 0 is not valid UTF-8`},
		{"repeats an input", func(b []byte) []byte { b[nodes+2] = NodePassed; return b }, `frame: column "amount": repeats input column 0, which there is not`},
		{"too many nodes", func(b []byte) []byte { le.PutUint32(b[76:], 3); return b }, "frame: has 1 nodes too many"},
	} {
		b, err := Encode(sample())
		if err != nil {
			t.Fatal(err)
		}
		_, err = Decode(c.change(b), &Want{Fields: declared}, DefaultLimits())
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestBudget shows that a frame whose buffers all name the same bytes is not copied over and over.
func TestBudget(t *testing.T) {
	f := &Frame{Header: Header{Rows: 1000}}
	for range 100 {
		f.Columns = append(f.Columns, columnar.NewFixed(columnar.Int64, make([]int64, 1000), nil))
	}
	b, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	lim := DefaultLimits()
	lim.Bytes = 50 * 8000
	_, err = Decode(b, nil, lim)
	if want := "frame: column 50: output is larger than allowed: 8000 bytes more than the 0 that are left"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestNotNull(t *testing.T) {
	b, _ := Encode(sample())
	_, err := Decode(b, &Want{Fields: []columnar.Field{{Name: "amount", Type: columnar.Float64}, {Name: "url", Type: columnar.String}}}, DefaultLimits())
	if want := `frame: column "amount": row 1 is null in a column declared NOT NULL`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// FuzzDecode gives the checker anything. What it accepts must hold together: it encodes again, to bytes that decode to
// the same values.
func FuzzDecode(f *testing.F) {
	for seed := range uint64(20) {
		fr, _ := randomFrame(rand.New(rand.NewPCG(seed, 2)))
		b, err := Encode(fr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	b, _ := Encode(sample())
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := Limits{Bytes: 1 << 20, Rows: 1 << 16, Nodes: 1 << 10}
		d, err := Decode(b, nil, lim)
		if err != nil {
			return
		}
		again, err := Encode(&d.Frame)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Decode(again, nil, Limits{Bytes: 1 << 22, Rows: 1 << 16, Nodes: 1 << 10})
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Columns {
			if !same(d.Columns[i], e.Columns[i]) {
				t.Fatalf("column %d of %s differs after a round trip", i, d.Columns[i].Type)
			}
		}
	})
}
