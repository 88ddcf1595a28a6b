package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// higher is a call of a higher-order function: some of its arguments are lambda functions, which
// the kernel evaluates over the elements of all rows at once.
type higher struct {
	name   string
	args   []Expr // as printed; lambdas are *Lambda
	typ    *columnar.Type
	nullFn func(args []Expr) bool
	kernel func(h *higherCall) (*columnar.Column, error)
	text   string
}

// higherCall is one evaluation of a higher-order function.
type higherCall struct {
	ctx *Context
	in  *columnar.Batch
	n   int
	arg []vec // values of the arguments; zero for lambdas
	fns []*Lambda
	typ *columnar.Type
}

func (h *higher) Type() *columnar.Type { return h.typ }
func (h *higher) Nullable() bool       { return h.nullFn(h.args) }
func (h *higher) Children() []Expr     { return h.args }
func (h *higher) WithChildren(c []Expr) Expr {
	out := *h
	out.args = c
	return &out
}

func (h *higher) SQL() string {
	if h.text != "" {
		return h.text
	}
	return sqlCall(h.name, h.args)
}

func (h *higher) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	if in.Rows == 0 {
		return columnar.NewEmpty(h.typ), nil
	}
	c := &higherCall{ctx: ctx, in: in, n: in.Rows, typ: h.typ, arg: make([]vec, len(h.args))}
	for i, a := range h.args {
		if l, ok := a.(*Lambda); ok {
			c.fns = append(c.fns, l)
			continue
		}
		v, err := eval(ctx, a, in)
		if err != nil {
			return nil, err
		}
		c.arg[i] = vec{v.full(in.Rows), false}
	}
	if c.arg[0].Column != nil && c.arg[0].allNull() {
		return columnar.NewNull(h.typ, in.Rows), nil
	}
	out, err := h.kernel(c)
	if err != nil {
		return nil, err
	}
	return out.WithType(h.typ), nil
}

// apply evaluates lambda f over len(parent) rows: parent is the row of the batch that each comes
// from, cols are the values of the first of f's parameters.
func (c *higherCall) apply(f *Lambda, parent []int32, cols ...*columnar.Column) (*columnar.Column, error) {
	if len(parent) == 0 {
		return columnar.NewEmpty(f.Body.Type()), nil
	}
	ctx, in := takeRows(c.ctx, f.Body, c.in, parent)
	frame := &lambdaFrame{}
	if ctx != c.ctx && ctx.lambda != nil {
		frame.vars = append(frame.vars, ctx.lambda.vars...)
		frame.cols = append(frame.cols, ctx.lambda.cols...)
	}
	for i, v := range f.Vars {
		if i < len(cols) {
			frame.vars, frame.cols = append(frame.vars, v), append(frame.cols, cols[i])
		}
	}
	inner := *ctx
	inner.lambda = frame
	v, err := eval(&inner, f.Body, in)
	if err != nil {
		return nil, err
	}
	return v.full(len(parent)), nil
}

// elements lists the elements of the arrays (or maps) of v that are not null: their positions in the
// child column, the row that each belongs to, and offsets for a column of the same shape.
func elements(v vec, n int) (idx, parent, offsets []int32) {
	offsets = make([]int32, n+1)
	for i := 0; i < n; i++ {
		if !v.IsNull(i) {
			for j := v.Offsets[i]; j < v.Offsets[i+1]; j++ {
				idx, parent = append(idx, j), append(parent, int32(i))
			}
		}
		offsets[i+1] = int32(len(idx))
	}
	return idx, parent, offsets
}

// positions are the indices of elements within their arrays, from 0.
func positions(offsets []int32) *columnar.Column {
	out := make([]int32, offsets[len(offsets)-1])
	for i := 0; i+1 < len(offsets); i++ {
		for j := offsets[i]; j < offsets[i+1]; j++ {
			out[j] = j - offsets[i]
		}
	}
	return columnar.NewFixed(columnar.Int32, out, nil)
}

// lambda binds an argument as a lambda function of the given parameters; fewer may be used.
func (b *Binder) lambda(e Expr, least int, params ...columnar.Field) (*Lambda, error) {
	vars := make([]*LambdaVar, len(params))
	for i, p := range params {
		vars[i] = &LambdaVar{Name: p.Name, Typ: p.Type, Null: p.Nullable}
	}
	s, ok := e.(*LambdaSource)
	if !ok {
		return &Lambda{vars[:least], e}, nil
	}
	if len(s.Params) < least || len(s.Params) > len(params) {
		return nil, sparkerr.New("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "a higher order function expects %d arguments, but got %d", len(params), len(s.Params))
	}
	vars = vars[:len(s.Params)]
	for i := range vars {
		vars[i].Name = s.Params[i]
	}
	body, err := s.Resolve(vars)
	if err != nil {
		return nil, err
	}
	return &Lambda{vars, body}, nil
}

// arrayArg checks the first argument of a higher-order function to be an array.
func (b *Binder) arrayArg(args []Expr, i int) (*columnar.Type, error) {
	t := args[i].Type()
	if t.Kind != columnar.KindArray {
		return nil, unexpectedInput(b.sql(args), i, `"ARRAY"`, args[i])
	}
	return t, nil
}

func firstNullable(a []Expr) bool { return a[0].Nullable() }

func bindTransform(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args = append([]Expr(nil), args...)
	t, err := b.arrayArg(args, 0)
	if err != nil {
		return nil, err
	}
	f, err := b.lambda(args[1], 1, field("x", t.Elem, t.ElemNullable), field("i", columnar.Int32, false))
	if err != nil {
		return nil, err
	}
	return &higher{
		name: "transform", args: []Expr{args[0], f}, typ: columnar.ArrayOf(f.Type(), f.Nullable()), nullFn: firstNullable,
		kernel: func(c *higherCall) (*columnar.Column, error) {
			idx, parent, off := elements(c.arg[0], c.n)
			out, err := c.apply(c.fns[0], parent, columnar.Take(c.arg[0].Children[0], idx), positions(off))
			if err != nil {
				return nil, err
			}
			return &columnar.Column{Type: c.typ, Len: c.n, Valid: c.arg[0].Valid, Offsets: off, Children: []*columnar.Column{out}}, nil
		},
	}, nil
}

// boolLambda checks that a lambda gives a boolean.
func (b *Binder) boolLambda(args []Expr, i int, f *Lambda) error {
	switch f.Type().Kind {
	case columnar.KindBool:
		return nil
	case columnar.KindNull:
		f.Body = b.implicit(f.Body, columnar.Bool)
		return nil
	}
	return unexpectedInput(b.sql(args), i, `"BOOLEAN"`, f)
}

func bindFilter(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args = append([]Expr(nil), args...)
	t, err := b.arrayArg(args, 0)
	if err != nil {
		return nil, err
	}
	f, err := b.lambda(args[1], 1, field("x", t.Elem, t.ElemNullable), field("i", columnar.Int32, false))
	if err != nil {
		return nil, err
	}
	if err := b.boolLambda(args, 1, f); err != nil {
		return nil, err
	}
	return &higher{name: "filter", args: []Expr{args[0], f}, typ: t, nullFn: firstNullable, kernel: func(c *higherCall) (*columnar.Column, error) {
		idx, parent, off := elements(c.arg[0], c.n)
		keep, err := c.apply(c.fns[0], parent, columnar.Take(c.arg[0].Children[0], idx), positions(off))
		if err != nil {
			return nil, err
		}
		bits := trueBits(vec{keep, false}, len(idx))
		out := make([]int32, 0, len(idx))
		newOff := make([]int32, c.n+1)
		for i := 0; i < c.n; i++ {
			for j := off[i]; j < off[i+1]; j++ {
				if bits.Get(int(j)) {
					out = append(out, idx[j])
				}
			}
			newOff[i+1] = int32(len(out))
		}
		return gather(c.typ, c.arg[0].Children[0], newOff, out, c.arg[0].Valid), nil
	}}, nil
}

// bindQuantifier binds exists and forall, in three values. Elements behind the one that decides are
// not evaluated if evaluating all of them at once fails.
func bindQuantifier(all bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		args = append([]Expr(nil), args...)
		t, err := b.arrayArg(args, 0)
		if err != nil {
			return nil, err
		}
		f, err := b.lambda(args[1], 1, field("x", t.Elem, t.ElemNullable))
		if err != nil {
			return nil, err
		}
		if err := b.boolLambda(args, 1, f); err != nil {
			return nil, err
		}
		name := "exists"
		if all {
			name = "forall"
		}
		return &higher{
			name: name, args: []Expr{args[0], f}, typ: columnar.Bool,
			nullFn: func(a []Expr) bool { return a[0].Nullable() || a[1].Nullable() },
			kernel: func(c *higherCall) (*columnar.Column, error) { return c.quantify(all) },
		}, nil
	}
}

func (c *higherCall) quantify(all bool) (*columnar.Column, error) {
	decided, unknown := columnar.NewBitmap(c.n), columnar.NewBitmap(c.n)
	note := func(row int, v *columnar.Column, k int) {
		switch {
		case v.IsNull(k):
			unknown.Set(row)
		case v.Bits.Get(k) != all:
			decided.Set(row)
		}
	}
	idx, parent, _ := elements(c.arg[0], c.n)
	v, err := c.apply(c.fns[0], parent, columnar.Take(c.arg[0].Children[0], idx))
	if err == nil {
		for k, row := range parent {
			note(int(row), v, k)
		}
	} else if err := c.byStep(c.arg[0], func(rows, at []int32) error {
		v, err := c.apply(c.fns[0], rows, columnar.Take(c.arg[0].Children[0], at))
		if err != nil {
			return err
		}
		for k, row := range rows {
			note(int(row), v, k)
		}
		return nil
	}, decided.Get); err != nil {
		return nil, err
	}
	bits, valid := columnar.NewBitmap(c.n), validBits(c.arg[0], c.n)
	for i := range bits {
		bits[i] = decided[i]
		if all {
			bits[i] = ^decided[i]
		}
		valid[i] &= decided[i] | ^unknown[i]
	}
	return columnar.NewBools(c.n, bits, validOrNil(valid, c.n)), nil
}

// byStep visits the first element of every array, then the second, and so on: step gets the rows
// that have one and its position in the child column. Rows that done names are left out.
func (c *higherCall) byStep(v vec, step func(rows, at []int32) error, done func(row int) bool) error {
	for k := int32(0); ; k++ {
		var rows, at []int32
		for i := 0; i < c.n; i++ {
			if v.IsNull(i) || v.Offsets[i]+k >= v.Offsets[i+1] || done != nil && done(i) {
				continue
			}
			rows, at = append(rows, int32(i)), append(at, v.Offsets[i]+k)
		}
		if len(rows) == 0 {
			return nil
		}
		if err := step(rows, at); err != nil {
			return err
		}
	}
}

func bindAggregateArray(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 4); err != nil {
		return nil, err
	}
	args = append([]Expr(nil), args...)
	t, err := b.arrayArg(args, 0)
	if err != nil {
		return nil, err
	}
	zero := args[1]
	acc := field("acc", zero.Type(), true)
	merge, err := b.lambda(args[2], 2, acc, field("x", t.Elem, t.ElemNullable))
	if err != nil {
		return nil, err
	}
	if t := renamed(merge.Type(), zero.Type()); t.Equal(zero.Type()) && !merge.Type().Equal(t) {
		merge.Body = b.implicit(merge.Body, t) // names of fields do not count
	}
	if !merge.Type().Equal(zero.Type()) {
		switch {
		case zero.Type().Kind == columnar.KindNull:
			// An untyped NULL takes the type of what the merge makes of it.
			zero = b.implicit(zero, merge.Type())
			acc.Type = merge.Type()
			if merge, err = b.lambda(args[2], 2, acc, field("x", t.Elem, t.ElemNullable)); err != nil {
				return nil, err
			}
		case merge.Type().Kind == columnar.KindNull:
			merge.Body = b.implicit(merge.Body, zero.Type())
		}
		if !merge.Type().Equal(zero.Type()) {
			return nil, unexpectedInput(b.sql(args), 2, `"`+zero.Type().SQL()+`"`, merge)
		}
	}
	acc.Type = mergeNullability(zero.Type(), merge.Type())
	var finish *Lambda
	if len(args) == 4 {
		if finish, err = b.lambda(args[3], 1, acc); err != nil {
			return nil, err
		}
	} else {
		v := &LambdaVar{Name: "acc", Typ: acc.Type, Null: true}
		finish = &Lambda{[]*LambdaVar{v}, v}
	}
	return &higher{
		name: b.name(), args: []Expr{args[0], zero, merge, finish}, typ: finish.Type(),
		nullFn: func(a []Expr) bool { return a[0].Nullable() || a[3].Nullable() },
		kernel: func(c *higherCall) (*columnar.Column, error) {
			acc := c.arg[1].Column
			err := c.byStep(c.arg[0], func(rows, at []int32) error {
				next, err := c.apply(c.fns[0], rows, columnar.Take(acc, rows), columnar.Take(c.arg[0].Children[0], at))
				if err != nil {
					return err
				}
				pick := make([]int32, c.n)
				for i := range pick {
					pick[i] = int32(i)
				}
				for k, r := range rows {
					pick[r] = int32(c.n + k)
				}
				acc = columnar.Take(columnar.Concat([]*columnar.Column{acc, next.WithType(acc.Type)}), pick)
				return nil
			}, nil)
			if err != nil {
				return nil, err
			}
			live := validBits(c.arg[0], c.n).Indices(nil, c.n)
			out, err := c.apply(c.fns[1], live, columnar.Take(acc, live))
			if err != nil || len(live) == c.n {
				return out, err
			}
			return scatterRows(out, validBits(c.arg[0], c.n), c.n), nil
		},
	}, nil
}

func bindZipWith(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 3); err != nil {
		return nil, err
	}
	args = append([]Expr(nil), args...)
	x, err := b.arrayArg(args, 0)
	if err != nil {
		return nil, err
	}
	y, err := b.arrayArg(args, 1)
	if err != nil {
		return nil, err
	}
	f, err := b.lambda(args[2], 2, field("x", x.Elem, true), field("y", y.Elem, true))
	if err != nil {
		return nil, err
	}
	return &higher{
		name: "zip_with", args: []Expr{args[0], args[1], f}, typ: columnar.ArrayOf(f.Type(), f.Nullable()),
		nullFn: func(a []Expr) bool { return a[0].Nullable() || a[1].Nullable() },
		kernel: func(c *higherCall) (*columnar.Column, error) {
			if c.arg[1].allNull() {
				return columnar.NewNull(c.typ, c.n), nil
			}
			valid := columnar.And(c.arg[0].Valid, c.arg[1].Valid)
			var xi, yi, parent []int32
			off := make([]int32, c.n+1)
			for i := 0; i < c.n; i++ {
				if valid == nil || valid.Get(i) {
					lo, hi := c.arg[0].span(i)
					lo2, hi2 := c.arg[1].span(i)
					for k := int32(0); k < max(hi-lo, hi2-lo2); k++ {
						parent = append(parent, int32(i))
						xi, yi = append(xi, orNull(lo+k, hi)), append(yi, orNull(lo2+k, hi2))
					}
				}
				off[i+1] = int32(len(parent))
			}
			out, err := c.apply(c.fns[0], parent, columnar.Take(c.arg[0].Children[0], xi), columnar.Take(c.arg[1].Children[0], yi))
			if err != nil {
				return nil, err
			}
			return &columnar.Column{Type: c.typ, Len: c.n, Valid: valid, Offsets: off, Children: []*columnar.Column{out}}, nil
		},
	}, nil
}

// orNull is j, or -1 when it lies behind the end.
func orNull(j, end int32) int32 {
	if j >= end {
		return -1
	}
	return j
}

// mapArg checks an argument of a higher-order function to be a map.
func (b *Binder) mapArg(args []Expr, i int) (*columnar.Type, error) {
	t := args[i].Type()
	if t.Kind != columnar.KindMap {
		return nil, unexpectedInput(b.sql(args), i, `"MAP"`, args[i])
	}
	return t, nil
}

// bindMapLambda binds map_filter, transform_keys and transform_values.
func bindMapLambda(name string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		args = append([]Expr(nil), args...)
		t, err := b.mapArg(args, 0)
		if err != nil {
			return nil, err
		}
		f, err := b.lambda(args[1], 2, field("k", t.Key, false), field("v", t.Elem, t.ElemNullable))
		if err != nil {
			return nil, err
		}
		typ := t
		switch name {
		case "map_filter":
			if err := b.boolLambda(args, 1, f); err != nil {
				return nil, err
			}
		case "transform_keys":
			typ = columnar.MapOf(f.Type(), t.Elem, t.ElemNullable)
			if noMapKey(f.Type()) {
				return nil, mismatch("INVALID_MAP_KEY_TYPE", b.sql(args), "the key of map cannot be/contain \"%s\"", f.Type().SQL())
			}
		default:
			typ = columnar.MapOf(t.Key, f.Type(), f.Nullable())
		}
		return &higher{name: name, args: []Expr{args[0], f}, typ: typ, nullFn: firstNullable, kernel: func(c *higherCall) (*columnar.Column, error) {
			m := c.arg[0]
			idx, parent, off := elements(m, c.n)
			keys, values := columnar.Take(m.Children[0], idx), columnar.Take(m.Children[1], idx)
			v, err := c.apply(c.fns[0], parent, keys, values)
			if err != nil {
				return nil, err
			}
			switch name {
			case "transform_values":
				return &columnar.Column{Type: typ, Len: c.n, Valid: m.Valid, Offsets: off, Children: []*columnar.Column{keys, v}}, nil
			case "transform_keys":
				keys = v
			}
			out := newMapBuilder(keys, values, c.n)
			for i := 0; i < c.n; i++ {
				if m.IsNull(i) {
					out.endNull()
					continue
				}
				out.begin()
				for j := off[i]; j < off[i+1]; j++ {
					if name == "map_filter" && (v.IsNull(int(j)) || !v.Bits.Get(int(j))) {
						continue
					}
					if err := out.add(j, j); err != nil {
						return nil, err
					}
				}
				out.end()
			}
			return out.column(typ), nil
		}}, nil
	}
}

func bindMapZipWith(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 3); err != nil {
		return nil, err
	}
	args = append([]Expr(nil), args...)
	x, err := b.mapArg(args, 0)
	if err != nil {
		return nil, err
	}
	y, err := b.mapArg(args, 1)
	if err != nil {
		return nil, err
	}
	kt := b.widerNoStrings(x.Key, y.Key)
	if kt == nil {
		return nil, mismatch("MAP_ZIP_WITH_DIFF_TYPES", b.sql(args), "input to the `map_zip_with` should have been two \"MAP\"s with compatible key types, but it's [\"%s\", \"%s\"]", x.Key.SQL(), y.Key.SQL())
	}
	args[0] = b.implicit(args[0], columnar.MapOf(kt, x.Elem, x.ElemNullable))
	args[1] = b.implicit(args[1], columnar.MapOf(kt, y.Elem, y.ElemNullable))
	f, err := b.lambda(args[2], 3, field("k", kt, false), field("x", x.Elem, true), field("y", y.Elem, true))
	if err != nil {
		return nil, err
	}
	typ := columnar.MapOf(kt, f.Type(), f.Nullable())
	return &higher{
		name: "map_zip_with", args: []Expr{args[0], args[1], f}, typ: typ,
		nullFn: func(a []Expr) bool { return a[0].Nullable() || a[1].Nullable() },
		kernel: func(c *higherCall) (*columnar.Column, error) {
			l, r := c.arg[0], c.arg[1]
			if r.allNull() {
				return columnar.NewNull(typ, c.n), nil
			}
			valid := columnar.And(l.Valid, r.Valid)
			base := int32(l.Children[0].Len)
			keys := columnar.Concat([]*columnar.Column{l.Children[0].WithType(kt), r.Children[0].WithType(kt)})
			var ki, xi, yi, parent []int32
			off := make([]int32, c.n+1)
			for i := 0; i < c.n; i++ {
				if valid == nil || valid.Get(i) {
					lo, hi := l.span(i)
					lo2, hi2 := r.span(i)
					for j := lo; j < hi; j++ {
						parent, ki = append(parent, int32(i)), append(ki, j)
						xi, yi = append(xi, j), append(yi, findKey(r.Column, i, l.Children[0], int(j)))
					}
					for j := lo2; j < hi2; j++ {
						if findKey(l.Column, i, r.Children[0], int(j)) < 0 {
							parent, ki = append(parent, int32(i)), append(ki, base+j)
							xi, yi = append(xi, -1), append(yi, j)
						}
					}
				}
				off[i+1] = int32(len(parent))
			}
			k := columnar.Take(keys, ki)
			v, err := c.apply(c.fns[0], parent, k, columnar.Take(l.Children[1], xi), columnar.Take(r.Children[1], yi))
			if err != nil {
				return nil, err
			}
			return &columnar.Column{Type: typ, Len: c.n, Valid: valid, Offsets: off, Children: []*columnar.Column{k, v}}, nil
		},
	}, nil
}

// defaultComparator is how Spark prints the order that array_sort has without a comparator.
const defaultComparator = "lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), 0, (IF((namedlambdavariable() IS NULL), 1, (IF((namedlambdavariable() IS NULL), -1, (IF((namedlambdavariable() < namedlambdavariable()), -1, (IF((namedlambdavariable() > namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable())"

func bindArraySort(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	t := args[0].Type()
	if t.Kind != columnar.KindArray {
		return nil, unexpectedInput(b.sql(args), 0, `"ARRAY"`, args[0])
	}
	if len(args) == 1 {
		if err := b.orderingType(args, t.Elem); err != nil {
			return nil, err
		}
		e := simple("array_sort", args, t, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return sortElements(t, a, n, func(elems *columnar.Column, _ int) func(x, y int32) int {
				return func(x, y int32) int {
					xn, yn := elems.IsNull(int(x)), elems.IsNull(int(y))
					if xn || yn {
						return int(b2u(xn)) - int(b2u(yn))
					}
					return compareAt(elems, int(x), elems, int(y))
				}
			}), nil
		})
		e.text = func(a []Expr) string { return "array_sort(" + a[0].SQL() + ", " + defaultComparator + ")" }
		return e, nil
	}
	f, err := b.lambda(args[1], 2, field("left", t.Elem, t.ElemNullable), field("right", t.Elem, t.ElemNullable))
	if err != nil {
		return nil, err
	}
	if f.Type().Kind != columnar.KindInt32 {
		return nil, mismatch("UNEXPECTED_RETURN_TYPE", b.sql(args), "the `lambdafunction` requires return \"INT\" type, but the actual is \"%s\" type", f.Type().SQL())
	}
	return &higher{name: "array_sort", args: []Expr{args[0], f}, typ: t, nullFn: firstNullable, kernel: func(c *higherCall) (*columnar.Column, error) {
		idx, parent, off := elements(c.arg[0], c.n)
		kid := c.arg[0].Children[0]
		err := mergeSort(idx, off, func(rows, left, right []int32) ([]int32, error) {
			for i, r := range rows {
				rows[i] = parent[r]
			}
			v, err := c.apply(c.fns[0], rows, columnar.Take(kid, left), columnar.Take(kid, right))
			if err != nil {
				return nil, err
			}
			if v.NullCount() > 0 {
				return nil, sparkerr.New("COMPARATOR_RETURNS_NULL", "the comparator has returned a NULL for a comparison; it should return a positive integer for \"greater than\", 0 for \"equal\" and a negative integer for \"less than\"")
			}
			return columnar.Values[int32](v), nil
		})
		if err != nil {
			return nil, err
		}
		return gather(t, kid, off, idx, c.arg[0].Valid), nil
	}}, nil
}

// mergeSort sorts each idx[off[i]:off[i+1]] bottom up. All merges of a pass go on side by side, so that
// one call of compare serves all rows; it gets a position in idx that tells the row, and what to compare.
func mergeSort(idx, off []int32, compare func(at, left, right []int32) ([]int32, error)) error {
	longest := int32(0)
	for i := 0; i+1 < len(off); i++ {
		longest = max(longest, off[i+1]-off[i])
	}
	if longest < 32 {
		return insertionSort(idx, off, compare)
	}
	type merge struct{ a, aEnd, b, bEnd, out int32 }
	buf := make([]int32, len(idx))
	for width := int32(1); width < longest; width *= 2 {
		copy(buf, idx)
		var active []merge
		for i := 0; i+1 < len(off); i++ {
			for lo := off[i]; lo+width < off[i+1]; lo += 2 * width {
				active = append(active, merge{lo, lo + width, lo + width, min(lo+2*width, off[i+1]), lo})
			}
		}
		for len(active) > 0 {
			at, left, right := make([]int32, len(active)), make([]int32, len(active)), make([]int32, len(active))
			for i, m := range active {
				at[i], left[i], right[i] = m.a, buf[m.a], buf[m.b]
			}
			c, err := compare(at, left, right)
			if err != nil {
				return err
			}
			rest := active[:0]
			for i, m := range active {
				if c[i] <= 0 {
					idx[m.out] = buf[m.a]
					m.a++
				} else {
					idx[m.out] = buf[m.b]
					m.b++
				}
				m.out++
				switch {
				case m.a == m.aEnd:
					copy(idx[m.out:], buf[m.b:m.bEnd])
				case m.b == m.bEnd:
					copy(idx[m.out:], buf[m.a:m.aEnd])
				default:
					rest = append(rest, m)
				}
			}
			active = rest
		}
	}
	return nil
}

func lambdaFunctions() []*Function {
	const family = "lambda"
	f := func(name, sig, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: family, Signature: sig, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("transform", "transform(array, x -> …)", "The array of what a function makes of each element.", "SELECT transform(array(1, 2), x -> x + 1) → [2,3]", bindTransform),
		f("filter", "filter(array, x -> …)", "The elements for which a function is true.", "SELECT filter(array(1, 2), x -> x > 1) → [2]", bindFilter),
		f("exists", "exists(array, x -> …)", "Whether a function is true for an element.", "SELECT exists(array(1, 2), x -> x = 2) → true", bindQuantifier(false)),
		f("forall", "forall(array, x -> …)", "Whether a function is true for all elements.", "SELECT forall(array(1, 2), x -> x > 0) → true", bindQuantifier(true)),
		f("aggregate", "aggregate(array, start, (acc, x) -> …[, acc -> …])", "The elements folded into one value.", "SELECT aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x) → 6", bindAggregateArray, "reduce"),
		f("zip_with", "zip_with(array1, array2, (x, y) -> …)", "The array of what a function makes of the elements at equal positions.", "SELECT zip_with(array(1), array(2), (x, y) -> x + y) → [3]", bindZipWith),
		f("map_filter", "map_filter(map, (k, v) -> …)", "The entries for which a function is true.", "SELECT map_filter(map(1, 0, 2, 2), (k, v) -> k > v) → {1 -> 0}", bindMapLambda("map_filter")),
		f("transform_keys", "transform_keys(map, (k, v) -> …)", "The map with other keys.", "SELECT transform_keys(map(1, 'a'), (k, v) -> k + 1) → {2 -> a}", bindMapLambda("transform_keys")),
		f("transform_values", "transform_values(map, (k, v) -> …)", "The map with other values.", "SELECT transform_values(map(1, 2), (k, v) -> v + 1) → {1 -> 3}", bindMapLambda("transform_values")),
		f("map_zip_with", "map_zip_with(map1, map2, (k, v1, v2) -> …)", "The map of what a function makes of the values of both maps.", "SELECT map_zip_with(map(1, 2), map(1, 3), (k, x, y) -> x + y) → {1 -> 5}", bindMapZipWith),
		f("array_sort", "array_sort(array[, (left, right) -> …])", "The array sorted, nulls last, or by a comparator.", "SELECT array_sort(array(2, 1)) → [1,2]", bindArraySort),
	}
}
