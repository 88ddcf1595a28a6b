package expr

import (
	"math/bits"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// bitwise binds & | and ^ of integers.
func (b *Binder) bitwise(op string, l, r Expr) (Expr, error) {
	sql := "(" + l.SQL() + " " + op + " " + r.SQL() + ")"
	l, r = b.stringOperands(l, r)
	l, r, err := b.binaryOperands(sql, l, r, isIntegral)
	if err != nil {
		return nil, err
	}
	typ := l.Type()
	e := simple("", []Expr{l, r}, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		switch typ.Width() {
		case 1:
			return bitColumn[int8](op, typ, a, n), nil
		case 2:
			return bitColumn[int16](op, typ, a, n), nil
		case 4:
			return bitColumn[int32](op, typ, a, n), nil
		}
		return bitColumn[int64](op, typ, a, n), nil
	})
	e.text, e.safe = infixText(" "+op+" "), true
	return e, nil
}

func bitColumn[T interface {
	signed
	columnar.Value
}](op string, typ *columnar.Type, a []vec, n int) *columnar.Column {
	x, y := columnar.Values[T](a[0].full(n)), columnar.Values[T](a[1].full(n))
	d := make([]T, n)
	switch op {
	case "&":
		for i := range d {
			d[i] = x[i] & y[i]
		}
	case "|":
		for i := range d {
			d[i] = x[i] | y[i]
		}
	default:
		for i := range d {
			d[i] = x[i] ^ y[i]
		}
	}
	return columnar.NewFixed(typ, d, validOf(a...))
}

// bitNot binds the operator ~.
func (b *Binder) bitNot(x Expr) (Expr, error) {
	args, err := b.expectAs("~"+x.SQL(), []Expr{x}, isIntegral)
	if err != nil {
		return nil, err
	}
	typ := args[0].Type()
	e := simple("", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		switch typ.Width() {
		case 1:
			return map1(typ, a[0], n, func(v int8) int8 { return ^v }), nil
		case 2:
			return map1(typ, a[0], n, func(v int16) int16 { return ^v }), nil
		case 4:
			return map1(typ, a[0], n, func(v int32) int32 { return ^v }), nil
		}
		return map1(typ, a[0], n, func(v int64) int64 { return ^v }), nil
	})
	e.text, e.safe = func(a []Expr) string { return "~" + a[0].SQL() }, true
	return e, nil
}

// shift binds << >> and >>>, and the functions of the same effect.
func (b *Binder) shift(op string, l, r Expr) (Expr, error) {
	return b.shiftAs(op, "("+l.SQL()+" "+op+" "+r.SQL()+")", infixText(" "+op+" "), l, r)
}

func (b *Binder) shiftAs(op, sql string, text func([]Expr) string, l, r Expr) (Expr, error) {
	args, err := b.coerceAs(sql, []Expr{l, r}, oneOf(isInt, isBigint), isInt)
	if err != nil {
		return nil, err
	}
	typ := args[0].Type()
	e := simple("", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		if typ.Kind == columnar.KindInt32 {
			return map2(typ, a[0], a[1], n, func(v, s int32) int32 {
				switch op {
				case "<<":
					return v << (uint32(s) & 31)
				case ">>":
					return v >> (uint32(s) & 31)
				}
				return int32(uint32(v) >> (uint32(s) & 31))
			}), nil
		}
		return map2(typ, a[0], a[1], n, func(v int64, s int32) int64 {
			switch op {
			case "<<":
				return v << (uint32(s) & 63)
			case ">>":
				return v >> (uint32(s) & 63)
			}
			return int64(uint64(v) >> (uint32(s) & 63))
		}), nil
	})
	e.text, e.safe = text, true
	return e, nil
}

func bitFunctions() []*Function {
	const family = "bitwise"
	shift := func(name, op, doc string) *Function {
		return &Function{
			Name: name, Family: family, Signature: name + "(base, bits)", Doc: doc, Example: "SELECT " + name + "(4, 1)",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 2, 2); err != nil {
					return nil, err
				}
				return b.shiftAs(op, b.sql(args), func(a []Expr) string { return sqlCall(name, a) }, args[0], args[1])
			},
		}
	}
	return []*Function{
		shift("shiftleft", "<<", "base shifted left."),
		shift("shiftright", ">>", "base shifted right, keeping the sign."),
		shift("shiftrightunsigned", ">>>", "base shifted right, filled with zeros."),
		{
			Name: "bit_count", Family: family, Signature: "bit_count(expr)", Doc: "The number of bits that are set in an integer, or 1 for true.", Example: "SELECT bit_count(5) → 2",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 1, 1); err != nil {
					return nil, err
				}
				args, err := b.expect(args, oneOf(isIntegral, isBool))
				if err != nil {
					return nil, err
				}
				e := simple("bit_count", args, columnar.Int32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
					d := make([]int32, n)
					c := a[0].full(n)
					for i := range d {
						if c.Type.Kind == columnar.KindBool {
							d[i] = int32(b2u(c.Bits.Get(i)))
						} else {
							d[i] = int32(bits.OnesCount64(uint64(intAt(c, i))))
						}
					}
					return columnar.NewFixed(columnar.Int32, d, c.Valid), nil
				})
				e.safe = true
				return e, nil
			},
		},
		{
			Name: "getbit", Aliases: []string{"bit_get"}, Family: family, Signature: "bit_get(expr, pos)", Doc: "The bit of an integer at a position from the right, from 0.", Example: "SELECT bit_get(11, 0) → 1",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 2, 2); err != nil {
					return nil, err
				}
				args, err := b.coerce(args, isIntegral, isInt)
				if err != nil {
					return nil, err
				}
				return simple(b.name(), args, columnar.Int8, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
					return rows(columnar.Int8, a, n, func(out *columnar.Builder, i int) error {
						v, p := intAt(a[0].Column, a[0].row(i)), intAt(a[1].Column, a[1].row(i))
						size := int64(a[0].Type.Width() * 8)
						if p < 0 || p >= size {
							return sparkerr.New("INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE", "the value of parameter `pos` in `%s` is invalid: expects an integer in [0, %d), but got %d", b.name(), size, p)
						}
						out.AppendInt(v >> uint(p) & 1)
						return nil
					})
				}), nil
			},
		},
	}
}
