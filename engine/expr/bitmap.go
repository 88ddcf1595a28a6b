package expr

import (
	"math/bits"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Bitmaps of positions, as BINARY of a fixed size, for counting different integers exactly: an
// integer has a bucket and a position in the bucket's bitmap.

const (
	bitmapBytes = 4096
	bitmapBits  = 8 * bitmapBytes
)

// bitmapPlace registers a function of one BIGINT.
func bitmapPlace(name, doc string, f func(v int64) int64) *Function {
	return &Function{Name: name, Family: "bitmap", Signature: name + "(expr)", Doc: doc, Bind: func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.coerce(args, isBigint)
		if err != nil {
			return nil, err
		}
		e := simple(name, args, columnar.Int64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return map1(columnar.Int64, a[0], n, f), nil
		})
		e.safe = true
		return e, nil
	}}
}

func bindBitmapCount(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	if k := args[0].Type().Kind; k != columnar.KindBinary {
		return nil, unexpectedInput(b.sql(args), 0, `"BINARY"`, args[0])
	}
	e := simple("bitmap_count", args, columnar.Int64, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.Int64, a, n, func(out *columnar.Builder, i int) error {
			c := 0
			for _, x := range a[0].BytesAt(a[0].row(i)) {
				c += bits.OnesCount8(x)
			}
			out.AppendInt(int64(c))
			return nil
		})
	})
	return e, nil
}

// bindBitmapAgg binds the aggregates that make bitmaps: of positions, or of other bitmaps.
func bindBitmapAgg(op string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		if op == "construct" {
			out, err := b.coerce(args, isBigint)
			if err != nil {
				return nil, err
			}
			args = out
		} else if args[0].Type().Kind != columnar.KindBinary {
			return nil, unexpectedInput(b.sql(args), 0, `"BINARY"`, args[0])
		}
		return b.aggregate(args, columnar.Binary, false, []columnar.Field{field("bitmap", columnar.Binary, true)},
			func(*Context) Accumulator { return &bitmapAcc{op: op} }), nil
	}
}

// bitmapAcc keeps a bitmap per group, nil until the first row.
type bitmapAcc struct {
	op   string
	maps [][]byte
}

func (a *bitmapAcc) Grow(n int) { a.maps = growTo(a.maps, n) }

func (a *bitmapAcc) at(g uint32) []byte {
	if a.maps[g] == nil {
		a.maps[g] = make([]byte, bitmapBytes)
		if a.op == "and" {
			for i := range a.maps[g] {
				a.maps[g][i] = 0xff
			}
		}
	}
	return a.maps[g]
}

func (a *bitmapAcc) fold(g uint32, b []byte) {
	m := a.at(g)
	for i := range m {
		var x byte
		if i < len(b) {
			x = b[i]
		}
		if a.op == "and" {
			m[i] &= x
		} else {
			m[i] |= x
		}
	}
}

func (a *bitmapAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		if a.op != "construct" {
			a.fold(g, c.BytesAt(i))
			continue
		}
		p := columnar.Values[int64](c)[i]
		if p < 0 || p >= bitmapBits {
			return sparkerr.New("INVALID_BITMAP_POSITION", "the 0-indexed bitmap position %d is out of bounds; the bitmap has %d bits (%d bytes)", p, bitmapBits, bitmapBytes)
		}
		a.at(g)[p/8] |= 1 << (p % 8)
	}
	return nil
}

func (a *bitmapAcc) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		if !state[0].IsNull(i) {
			a.fold(g, state[0].BytesAt(i))
		}
	}
	return nil
}

func (a *bitmapAcc) column(empty bool) *columnar.Column {
	b := columnar.NewBuilder(columnar.Binary, len(a.maps))
	for g, m := range a.maps {
		switch {
		case m == nil && !empty:
			b.AppendNull()
		case m == nil:
			b.AppendBytes(a.at(uint32(g)))
			a.maps[g] = nil
		default:
			b.AppendBytes(m)
		}
	}
	return b.Finish()
}

func (a *bitmapAcc) State() ([]*columnar.Column, error) {
	return []*columnar.Column{a.column(false)}, nil
}

func (a *bitmapAcc) Result() (*columnar.Column, error) { return a.column(true), nil }

func (a *bitmapAcc) Reset() { a.maps = resetSlice(a.maps) }

func bitmapFunctions() []*Function {
	agg := func(name, doc string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: "aggregate", Signature: name + "(expr)", Doc: doc, Bind: bind}
	}
	return []*Function{
		bitmapPlace("bitmap_bit_position", "The position of an integer in the bitmap of its bucket.", func(v int64) int64 {
			if v > 0 {
				return (v - 1) % bitmapBits
			}
			return -v % bitmapBits
		}),
		bitmapPlace("bitmap_bucket_number", "The number of the bucket that an integer belongs to.", func(v int64) int64 {
			if v > 0 {
				return 1 + (v-1)/bitmapBits
			}
			return v / bitmapBits
		}),
		{Name: "bitmap_count", Family: "bitmap", Signature: "bitmap_count(bitmap)", Doc: "The number of positions in a bitmap.", Example: "SELECT bitmap_count(X'1010') → 2", Bind: bindBitmapCount},
		agg("bitmap_construct_agg", "A bitmap of positions.", bindBitmapAgg("construct")),
		agg("bitmap_or_agg", "The union of bitmaps.", bindBitmapAgg("or")),
		agg("bitmap_and_agg", "The intersection of bitmaps.", bindBitmapAgg("and")),
	}
}
