package expr

import "github.com/wstream/wstream/columnar"

// call is a bound call of a function whose value is computed by one kernel over its arguments'
// columns. It serves the many functions that need no type of their own.
type call struct {
	name string // printed as name(args…), unless text is set
	args []Expr
	typ  *columnar.Type
	null bool // the result may be null
	// kernel computes n > 0 rows. A constant argument comes as a column of one row. Unless nulls is
	// set, no argument is a constant null, and result rows where an argument is null count for nothing.
	kernel func(ctx *Context, args []vec, n int) (*columnar.Column, error)
	nulls  bool                   // kernel looks at null arguments itself
	eager  bool                   // all arguments are evaluated for a row, even where one of them is null
	text   func([]Expr) string    // prints the call
	shown  int                    // arguments that are printed, when not all are; 0 for all
	safe   bool                   // cannot fail and is cheap
	nullFn func(args []Expr) bool // tells whether the result may be null, when arguments change

	boundAs   string // the function that was called; "" for a call that was not bound by name
	boundArgs []Expr // what it was called with
}

func (c *call) Type() *columnar.Type { return c.typ }
func (c *call) Nullable() bool       { return c.null }
func (c *call) Children() []Expr     { return c.args }
func (c *call) WithChildren(k []Expr) Expr {
	out := *c
	out.args = k
	if c.nullFn != nil {
		out.null = c.nullFn(k)
	}
	return &out
}
func (c *call) harmless() bool { return c.safe }

// nullIntolerant: the result is null where an argument is, unless the kernel looks at nulls.
func (c *call) nullIntolerant() bool { return !c.nulls && !c.eager }

func (c *call) SQL() string {
	a := c.args
	if c.shown > 0 {
		a = a[:c.shown]
	}
	if c.text != nil {
		return c.text(a)
	}
	return sqlCall(c.name, a)
}

func (c *call) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(c.typ), nil
	}
	vs, err := evalAll(ctx, c.args, in)
	var out *columnar.Column
	switch {
	case err != nil && (c.nulls || c.eager || len(c.args) < 2):
		return nil, err
	case err != nil:
		out, err = narrowed(ctx, c, inOrder(len(c.args)), in, nil, c.kernel)
	case !c.nulls && anyNull(vs...):
		return columnar.NewNull(c.typ, n), nil
	default:
		out, err = c.kernel(ctx, vs, n)
	}
	if err != nil {
		return nil, err
	}
	return out.WithType(c.typ), nil
}

// anyNullable tells whether an expression of es may be null.
func anyNullable(es []Expr) bool {
	for _, e := range es {
		if e.Nullable() {
			return true
		}
	}
	return false
}

// simple is a call that is null exactly where an argument is.
func simple(name string, args []Expr, typ *columnar.Type, kernel func(ctx *Context, args []vec, n int) (*columnar.Column, error)) *call {
	return &call{name: name, args: args, typ: typ, null: anyNullable(args), kernel: kernel, nullFn: anyNullable}
}

// rows applies f to every row whose arguments are all present, and gives null elsewhere; f appends
// one value, or a null, to b.
func rows(typ *columnar.Type, args []vec, n int, f func(b *columnar.Builder, i int) error) (*columnar.Column, error) {
	b := columnar.NewBuilder(typ, n)
	valid := validOf(args...)
	for i := 0; i < n; i++ {
		if valid != nil && !valid.Get(i) {
			b.AppendNull()
			continue
		}
		if err := f(b, i); err != nil {
			return nil, err
		}
	}
	return b.Finish(), nil
}

// map1 applies f to every value of a fixed-width operand, those of null rows included.
func map1[S, D columnar.Value](typ *columnar.Type, a vec, n int, f func(S) D) *columnar.Column {
	s := columnar.Values[S](a.full(n))
	d := make([]D, n)
	for i, v := range s {
		d[i] = f(v)
	}
	return columnar.NewFixed(typ, d, validOf(a))
}

// map2 applies f to the values of two fixed-width operands, those of null rows included.
func map2[S, T, D columnar.Value](typ *columnar.Type, a, b vec, n int, f func(S, T) D) *columnar.Column {
	x, y := columnar.Values[S](a.full(n)), columnar.Values[T](b.full(n))
	d := make([]D, n)
	for i := range d {
		d[i] = f(x[i], y[i])
	}
	return columnar.NewFixed(typ, d, validOf(a, b))
}

// bools applies f to every row whose arguments are all present.
func bools(args []vec, n int, f func(i int) bool) *columnar.Column {
	valid := validOf(args...)
	out := columnar.NewBitmap(n)
	for i := 0; i < n; i++ {
		if (valid == nil || valid.Get(i)) && f(i) {
			out.Set(i)
		}
	}
	return columnar.NewBools(n, out, valid)
}

// mapString appends to a string column what f makes of each string operand.
func mapString(typ *columnar.Type, a vec, n int, f func(dst []byte, s string) []byte) *columnar.Column {
	if a.con {
		one := mapString(typ, vec{a.Column, false}, 1, f)
		return vec{one, true}.full(n)
	}
	off, buf := make([]int32, n+1), make([]byte, 0, len(a.Data))
	for i := 0; i < n; i++ {
		if a.Valid == nil || a.Valid.Get(i) {
			buf = f(buf, a.StringAt(i))
		}
		off[i+1] = int32(len(buf))
	}
	return columnar.NewBytes(typ, off, buf, a.Valid)
}
