package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// caseWhen is CASE WHEN … THEN … END, and if(…) as its form with one branch.
type caseWhen struct {
	conds, thens []Expr
	els          Expr // nil: null
	typ          *columnar.Type
	iff          bool // printed as (IF(…))
}

func caseSQL(whens []When, els Expr) string {
	var s strings.Builder
	s.WriteString("CASE")
	for _, w := range whens {
		s.WriteString(" WHEN " + w.Cond.SQL() + " THEN " + w.Then.SQL())
	}
	if els != nil {
		s.WriteString(" ELSE " + els.SQL())
	}
	s.WriteString(" END")
	return s.String()
}

func (b *Binder) caseWhen(whens []When, els Expr) (Expr, error) {
	sql := caseSQL(whens, els)
	values := make([]Expr, 0, len(whens)+1)
	conds := make([]Expr, len(whens))
	for i, w := range whens {
		conds[i] = w.Cond
		values = append(values, w.Then)
	}
	if els != nil {
		values = append(values, els)
	}
	values, t := b.toCommon(values, b.wider)
	if t == nil {
		return nil, diffTypes("DATA_DIFF_TYPES", sql, "CASE", values)
	}
	for i, c := range conds {
		if c.Type().Kind != columnar.KindBool {
			return nil, unexpectedInput(sql, i, `"BOOLEAN"`, c)
		}
	}
	e := &caseWhen{conds: conds, thens: values[:len(whens)], typ: t}
	if els != nil {
		e.els = values[len(whens)]
	}
	return e, nil
}

func (b *Binder) ifElse(cond, then, els Expr) (Expr, error) {
	sql := "(IF(" + cond.SQL() + ", " + then.SQL() + ", " + els.SQL() + "))"
	values, t := b.toCommon([]Expr{then, els}, b.wider)
	if cond.Type().Kind == columnar.KindNull && t != nil {
		cond = b.implicit(cond, columnar.Bool)
	}
	if cond.Type().Kind != columnar.KindBool {
		return nil, unexpectedInput(sql, 0, `"BOOLEAN"`, cond)
	}
	if t == nil {
		return nil, mismatch("DATA_DIFF_TYPES", sql, "input to `if` should all be the same type, but it's (\"%s\" or \"%s\")", then.Type().SQL(), els.Type().SQL())
	}
	return &caseWhen{[]Expr{cond}, values[:1], values[1], t, true}, nil
}

// diffTypes is the error for arguments without a common type.
func diffTypes(sub, sql, fn string, args []Expr) error {
	types := make([]string, len(args))
	for i, a := range args {
		types[i] = `"` + a.Type().SQL() + `"`
	}
	return mismatch(sub, sql, "input to `%s` should all be the same type, but it's (%s)", fn, strings.Join(types, " or "))
}

func (e *caseWhen) Type() *columnar.Type { return e.typ }

func (e *caseWhen) Nullable() bool {
	if e.els == nil || e.els.Nullable() {
		return true
	}
	for _, t := range e.thens {
		if t.Nullable() {
			return true
		}
	}
	return false
}

func (e *caseWhen) Children() []Expr {
	out := make([]Expr, 0, 2*len(e.conds)+1)
	for i := range e.conds {
		out = append(out, e.conds[i], e.thens[i])
	}
	if e.els != nil {
		out = append(out, e.els)
	}
	return out
}

func (e *caseWhen) WithChildren(c []Expr) Expr {
	out := &caseWhen{conds: make([]Expr, len(e.conds)), thens: make([]Expr, len(e.thens)), typ: e.typ, iff: e.iff}
	for i := range out.conds {
		out.conds[i], out.thens[i] = c[2*i], c[2*i+1]
	}
	if e.els != nil {
		out.els = c[len(c)-1]
	}
	return out
}

func (e *caseWhen) SQL() string {
	if e.iff {
		return "(IF(" + e.conds[0].SQL() + ", " + e.thens[0].SQL() + ", " + e.els.SQL() + "))"
	}
	ws := make([]When, len(e.conds))
	for i := range ws {
		ws[i] = When{e.conds[i], e.thens[i]}
	}
	return caseSQL(ws, e.els)
}

// Eval tests the conditions in order, each only for the rows that none before it took, and
// evaluates each branch for its rows alone.
func (e *caseWhen) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	if len(e.conds) == 1 && e.els != nil && e.typ.Width() > 0 && isHarmless(e.conds[0]) && isHarmless(e.thens[0]) && isHarmless(e.els) {
		return e.blend(ctx, in)
	}
	out := newBranches(e.typ, n)
	left := columnar.NewBitmapSet(n)
	left.MaskTail(n)
	k := n
	for i := range e.conds {
		c, err := evalSelected(ctx, e.conds[i], in, left, k)
		if err != nil {
			return nil, err
		}
		hit := trueBits(c, k)
		if k != n {
			hit = spread(hit, left, n)
		}
		m := hit.Count(n)
		if m == 0 {
			continue
		}
		v, err := evalSelected(ctx, e.thens[i], in, hit, m)
		if err != nil {
			return nil, err
		}
		out.add(v, hit, m)
		for w := range left {
			left[w] &^= hit[w]
		}
		if k -= m; k == 0 {
			return out.column(), nil
		}
	}
	if e.els != nil {
		v, err := evalSelected(ctx, e.els, in, left, k)
		if err != nil {
			return nil, err
		}
		out.add(v, left, k)
	}
	return out.column(), nil
}

// blend chooses between two branches of a fixed width that were evaluated for all rows.
func (e *caseWhen) blend(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	c, err := eval(ctx, e.conds[0], in)
	if err != nil {
		return nil, err
	}
	t, f, err := eval2(ctx, e.thens[0], e.els, in)
	if err != nil {
		return nil, err
	}
	sel := trueBits(c, n)
	tv, fv := validBits(t, n), validBits(f, n)
	valid := make(columnar.Bitmap, len(sel))
	for i := range valid {
		valid[i] = sel[i]&tv[i] | ^sel[i]&fv[i]
	}
	valid.MaskTail(n)
	out := columnar.AlignedBytes(n * e.typ.Width())
	switch e.typ.Width() {
	case 1:
		blendFixed[int8](out, sel, t, f, n)
	case 2:
		blendFixed[int16](out, sel, t, f, n)
	case 4:
		blendFixed[int32](out, sel, t, f, n)
	case 8:
		blendFixed[int64](out, sel, t, f, n)
	default:
		blendFixed[columnar.Dec128](out, sel, t, f, n)
	}
	return &columnar.Column{Type: e.typ, Len: n, Data: out, Valid: validOrNil(valid, n)}, nil
}

func blendFixed[T columnar.Value](out []byte, sel columnar.Bitmap, t, f vec, n int) {
	dst := columnar.Values[T](&columnar.Column{Len: n, Data: out})
	one, zero := columnar.Values[T](t.full(n)), columnar.Values[T](f.full(n))
	for w, word := range sel {
		lo := w << 6
		hi := min(lo+64, n)
		d, a, b := dst[lo:hi], one[lo:hi], zero[lo:hi]
		a, b = a[:len(d)], b[:len(d)]
		for i := range d {
			// Both are loaded, so that the choice needs no jump.
			x, v := a[i], b[i]
			if word>>(uint(i)&63)&1 != 0 {
				v = x
			}
			d[i] = v
		}
	}
}

func (e *caseWhen) harmless() bool { return true }

// coalesce is the first of its operands that is not null.
type coalesce struct {
	args []Expr
	typ  *columnar.Type
}

// NewCoalesce is the first of several expressions of one type that is not null.
func NewCoalesce(args ...Expr) Expr { return &coalesce{args, args[0].Type()} }

func (e *coalesce) Type() *columnar.Type { return e.typ }
func (e *coalesce) Nullable() bool {
	for _, a := range e.args {
		if !a.Nullable() {
			return false
		}
	}
	return true
}
func (e *coalesce) Children() []Expr           { return e.args }
func (e *coalesce) WithChildren(c []Expr) Expr { return &coalesce{c, e.typ} }
func (e *coalesce) SQL() string                { return sqlCall("coalesce", e.args) }
func (e *coalesce) harmless() bool             { return true }

func (e *coalesce) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	first, err := eval(ctx, e.args[0], in)
	if err != nil {
		return nil, err
	}
	got := validBits(first, n)
	m := got.Count(n)
	if m == n {
		return first.full(n).WithType(e.typ), nil
	}
	out := newBranches(e.typ, n)
	if m > 0 {
		if out.data != nil {
			out.add(vec{first.full(n), false}, got, n) // in place; the nulls are replaced below
		} else {
			out.add(vec{columnar.Take(first.full(n), got.Indices(nil, n)), false}, got, m)
		}
	}
	left := make(columnar.Bitmap, len(got))
	for i := range left {
		left[i] = ^got[i]
	}
	left.MaskTail(n)
	k := n - m
	for i, a := range e.args[1:] {
		if i == len(e.args)-2 && out.data != nil && isHarmless(a) {
			// The last operand, evaluated for all rows, fills the rest.
			v, err := eval(ctx, a, in)
			if err != nil {
				return nil, err
			}
			if !v.allNull() {
				out.fill(v, left)
			}
			return out.column(), nil
		}
		v, err := evalSelected(ctx, a, in, left, k)
		if err != nil {
			return nil, err
		}
		hit := validBits(v, k)
		if h := hit.Count(k); h == 0 {
			continue
		} else if h < k {
			v = vec{columnar.Take(v.full(k), hit.Indices(nil, k)), false}
			k -= h
			hit = spread(hit, left, n)
		} else {
			out.add(v, left, k)
			return out.column(), nil
		}
		out.add(v, hit, hit.Count(n))
		for w := range left {
			left[w] &^= hit[w]
		}
	}
	return out.column(), nil
}

// commonArgs casts arguments to their common type or reports that there is none.
func (b *Binder) commonArgs(args []Expr) ([]Expr, *columnar.Type, error) {
	out, t := b.toCommon(args, b.wider)
	if t == nil {
		return nil, nil, diffTypes("DATA_DIFF_TYPES", b.sql(args), b.name(), args)
	}
	return out, t, nil
}

func (b *Binder) coalesce(args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, -1); err != nil {
		return nil, err
	}
	out, t, err := b.commonArgs(args)
	if err != nil {
		return nil, err
	}
	return &coalesce{out, t}, nil
}

func bindNvl(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	e, err := b.Func("coalesce", args...)
	if err != nil {
		return nil, err
	}
	return &named{e, sql}, nil
}

func bindNvl2(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 3); err != nil {
		return nil, err
	}
	e, err := b.ifElse(b.IsNotNull(args[0]), args[1], args[2])
	if err != nil {
		return nil, err
	}
	return &named{e, b.sql(args)}, nil
}

func bindNullif(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	eq, err := b.Compare("=", args[0], args[1])
	if err != nil {
		return nil, err
	}
	e, err := b.ifElse(eq, NewLiteral(args[0].Type(), nil), args[0])
	if err != nil {
		return nil, err
	}
	return &named{e, b.sql(args)}, nil
}

// extremum is greatest or least: nulls do not count.
type extremum struct {
	args []Expr
	typ  *columnar.Type
	max  bool
}

func bindExtremum(max bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if len(args) < 2 {
			return nil, b.wrongArgs("> 1", len(args))
		}
		out, t := b.toCommon(args, b.widerNoStrings)
		if t == nil {
			return nil, diffTypes("DATA_DIFF_TYPES", b.sql(args), b.name(), args)
		}
		if !isOrderable(t) {
			return nil, mismatch("INVALID_ORDERING_TYPE", b.sql(args), "the `%s` does not support ordering on type \"%s\"", b.name(), t.SQL())
		}
		return &extremum{out, t, max}, nil
	}
}

func (e *extremum) Type() *columnar.Type { return e.typ }
func (e *extremum) Nullable() bool {
	for _, a := range e.args {
		if !a.Nullable() {
			return false
		}
	}
	return true
}
func (e *extremum) Children() []Expr           { return e.args }
func (e *extremum) WithChildren(c []Expr) Expr { return &extremum{c, e.typ, e.max} }
func (e *extremum) harmless() bool             { return true }
func (e *extremum) SQL() string {
	if e.max {
		return sqlCall("greatest", e.args)
	}
	return sqlCall("least", e.args)
}

func (e *extremum) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 || e.typ.Kind == columnar.KindNull {
		return columnar.NewNull(e.typ, n), nil
	}
	vs, err := evalAll(ctx, e.args, in)
	if err != nil {
		return nil, err
	}
	best := vs[0].full(n)
	for _, v := range vs[1:] {
		c := v.full(n)
		// The result takes the later operand where the earlier one is null, or loses.
		lose := compareLess(vec{c, false}, vec{best, false}, n)
		if e.max {
			lose = compareLess(vec{best, false}, vec{c, false}, n)
		}
		bv, cv := validBits(vec{best, false}, n), validBits(vec{c, false}, n)
		pick := make([]int32, n)
		for i := range pick {
			pick[i] = int32(i)
			if cv.Get(i) && (!bv.Get(i) || lose.Get(i)) {
				pick[i] += int32(n)
			}
		}
		best = columnar.Take(columnar.Concat([]*columnar.Column{best, c}), pick)
	}
	return best.WithType(e.typ), nil
}

// bindDecode is decode(expr, search, result, …[, default]) where NULL matches NULL; with two
// arguments it decodes a binary value in a character set.
func bindDecode(b *Binder, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, b.wrongArgs("> 1", len(args))
	}
	if len(args) == 2 {
		f := b.Registry.Lookup("decode_charset")
		if f == nil {
			return nil, sparkerr.New("UNRESOLVED_ROUTINE", "there is no function `decode` of two arguments")
		}
		return f.Bind(b, args)
	}
	sql := b.sql(args)
	var whens []When
	i := 1
	for ; i+1 < len(args); i += 2 {
		c, err := b.Compare("<=>", args[0], args[i])
		if err != nil {
			return nil, err
		}
		whens = append(whens, When{c, args[i+1]})
	}
	var els Expr
	if i < len(args) {
		els = args[i]
	}
	e, err := b.caseWhen(whens, els)
	if err != nil {
		return nil, err
	}
	return &named{e, sql}, nil
}

func conditionalFunctions() []*Function {
	const family = "conditional"
	return []*Function{
		{
			Name: "coalesce", Family: family, Signature: "coalesce(expr1, expr2, …)", Doc: "The first argument that is not NULL.", Example: "SELECT coalesce(NULL, 1, NULL) → 1",
			Bind: (*Binder).coalesce,
		},
		{
			Name: "nvl", Aliases: []string{"ifnull"}, Family: family, Signature: "nvl(expr1, expr2)", Doc: "expr2 if expr1 is NULL, otherwise expr1.", Example: "SELECT nvl(NULL, 2) → 2",
			Bind: bindNvl,
		},
		{
			Name: "nvl2", Family: family, Signature: "nvl2(expr1, expr2, expr3)", Doc: "expr2 if expr1 is not NULL, otherwise expr3.", Example: "SELECT nvl2(NULL, 2, 1) → 1",
			Bind: bindNvl2,
		},
		{
			Name: "nullif", Family: family, Signature: "nullif(expr1, expr2)", Doc: "NULL if the arguments are equal, otherwise expr1.", Example: "SELECT nullif(2, 2) → NULL",
			Bind: bindNullif,
		},
		{
			Name: "nullifzero", Family: family, Signature: "nullifzero(expr)", Doc: "NULL if the argument is zero, otherwise the argument.", Example: "SELECT nullifzero(0) → NULL",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 1, 1); err != nil {
					return nil, err
				}
				eq, err := b.Compare("=", args[0], NewInt(0))
				if err != nil {
					return nil, err
				}
				e, err := b.ifElse(eq, NewNull(), args[0])
				if err != nil {
					return nil, err
				}
				return &named{e, b.sql(args)}, nil
			},
		},
		{
			Name: "zeroifnull", Family: family, Signature: "zeroifnull(expr)", Doc: "Zero if the argument is NULL, otherwise the argument.", Example: "SELECT zeroifnull(NULL) → 0",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 1, 1); err != nil {
					return nil, err
				}
				sql := b.sql(args)
				e, err := b.Func("coalesce", args[0], NewInt(0))
				if err != nil {
					return nil, err
				}
				return &named{e, sql}, nil
			},
		},
		{
			Name: "if", Family: family, Signature: "if(cond, then, else)", Doc: "then if the condition is true, otherwise else.", Example: "SELECT if(1 < 2, 'a', 'b') → a",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 3, 3); err != nil {
					return nil, err
				}
				return b.ifElse(args[0], args[1], args[2])
			},
		},
		{
			Name: "case", Aliases: []string{"when"}, Family: family, Signature: "CASE WHEN cond THEN value … ELSE value END", Doc: "The value of the first condition that is true.",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 2, -1); err != nil {
					return nil, err
				}
				var whens []When
				for i := 0; i+1 < len(args); i += 2 {
					whens = append(whens, When{args[i], args[i+1]})
				}
				var els Expr
				if len(args)%2 == 1 {
					els = args[len(args)-1]
				}
				return b.caseWhen(whens, els)
			},
		},
		{
			Name: "greatest", Family: family, Signature: "greatest(expr1, expr2, …)", Doc: "The greatest argument; NULL ones do not count.", Example: "SELECT greatest(10, 9, 2) → 10",
			Bind: bindExtremum(true),
		},
		{
			Name: "least", Family: family, Signature: "least(expr1, expr2, …)", Doc: "The least argument; NULL ones do not count.", Example: "SELECT least(10, 9, 2) → 2",
			Bind: bindExtremum(false),
		},
		{
			Name: "decode", Family: family, Signature: "decode(expr, search, result, …[, default])", Doc: "The result behind the search value that equals expr, NULL matching NULL.", Example: "SELECT decode(2, 1, 'a', 2, 'b') → b",
			Bind: bindDecode,
		},
		{
			Name: "nanvl", Family: family, Signature: "nanvl(expr1, expr2)", Doc: "expr1 if it is not NaN, otherwise expr2.", Example: "SELECT nanvl(double('NaN'), 1.0D) → 1.0",
			Bind: bindNanvl,
		},
		{
			Name: "isnan", Family: family, Signature: "isnan(expr)", Doc: "Whether the argument is NaN.", Example: "SELECT isnan(double('NaN')) → true",
			Bind: bindIsnan,
		},
	}
}
