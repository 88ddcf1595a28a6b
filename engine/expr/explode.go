package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// generator is a bound table-generating function.
type generator struct {
	name  string
	args  []Expr
	cols  []columnar.Field
	outer bool // rows without output give one of nulls
	run   func(ctx *Context, args []vec, n int) (cols []*columnar.Column, parent []int32, err error)
}

// Columns implements Generator.
func (g *generator) Columns() []columnar.Field { return g.cols }

// Type implements Expr: the type of a single column, or a struct of all.
func (g *generator) Type() *columnar.Type {
	if len(g.cols) == 1 {
		return g.cols[0].Type
	}
	return columnar.StructOf(g.cols...)
}

// Nullable implements Expr.
func (g *generator) Nullable() bool { return g.outer || len(g.cols) == 1 && g.cols[0].Nullable }

// Children implements Expr.
func (g *generator) Children() []Expr { return g.args }

// WithChildren implements Expr.
func (g *generator) WithChildren(c []Expr) Expr {
	out := *g
	out.args = c
	return &out
}

// SQL implements Expr.
func (g *generator) SQL() string { return sqlCall(g.name, g.args) }

// Eval implements Expr; a generator has no value per row.
func (g *generator) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(g.SQL())
}

// Generate implements Generator.
func (g *generator) Generate(ctx *Context, in *columnar.Batch) ([]*columnar.Column, []int32, error) {
	if in.Rows == 0 {
		cols := make([]*columnar.Column, len(g.cols))
		for i, f := range g.cols {
			cols[i] = columnar.NewEmpty(f.Type)
		}
		return cols, nil, nil
	}
	vs, err := evalAll(ctx, g.args, in)
	if err != nil {
		return nil, nil, err
	}
	cols, parent, err := g.run(ctx, vs, in.Rows)
	if err != nil || !g.outer {
		return cols, parent, err
	}
	// Put in a row of nulls for every input row that gave none.
	idx, all := make([]int32, 0, len(parent)), make([]int32, 0, len(parent))
	k := 0
	for i := int32(0); i < int32(in.Rows); i++ {
		from := k
		for ; k < len(parent) && parent[k] == i; k++ {
			idx, all = append(idx, int32(k)), append(all, i)
		}
		if from == k {
			idx, all = append(idx, -1), append(all, i)
		}
	}
	for i, c := range cols {
		cols[i] = columnar.Take(c, idx)
	}
	return cols, all, nil
}

// NewGenerator is a table-generating function: run gives the generated columns for the arguments'
// full columns, and the row that each generated row comes from, in order.
func NewGenerator(name string, args []Expr, cols []columnar.Field, run func(ctx *Context, args []*columnar.Column, n int) ([]*columnar.Column, []int32, error)) Expr {
	return &generator{name: name, args: args, cols: cols, run: func(ctx *Context, vs []vec, n int) ([]*columnar.Column, []int32, error) {
		full := make([]*columnar.Column, len(vs))
		for i, v := range vs {
			full[i] = v.full(n)
		}
		return run(ctx, full, n)
	}}
}

// outerFields are fields that may all be null.
func outerFields(fs []columnar.Field, outer bool) []columnar.Field {
	if outer {
		for i := range fs {
			fs[i].Nullable = true
		}
	}
	return fs
}

// bindExplode binds explode and posexplode and their outer forms.
func bindExplode(pos, outer bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		t := args[0].Type()
		var fs []columnar.Field
		if pos {
			fs = append(fs, field("pos", columnar.Int32, false))
		}
		switch t.Kind {
		case columnar.KindArray:
			fs = append(fs, field("col", t.Elem, t.ElemNullable))
		case columnar.KindMap:
			fs = append(fs, field("key", t.Key, false), field("value", t.Elem, t.ElemNullable))
		default:
			return nil, unexpectedInput(b.sql(args), 0, `("ARRAY" or "MAP")`, args[0])
		}
		return &generator{name: b.name(), args: args, cols: outerFields(fs, outer), outer: outer, run: func(_ *Context, a []vec, n int) ([]*columnar.Column, []int32, error) {
			v := vec{a[0].full(n), false}
			idx, parent, off := elements(v, n)
			var cols []*columnar.Column
			if pos {
				cols = append(cols, positions(off))
			}
			for _, ch := range v.Children {
				cols = append(cols, columnar.Take(ch, idx))
			}
			return cols, parent, nil
		}}, nil
	}
}

// bindInline binds inline and inline_outer: the structs of an array as rows.
func bindInline(outer bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		t := args[0].Type()
		if t.Kind != columnar.KindArray || t.Elem.Kind != columnar.KindStruct {
			return nil, unexpectedInput(b.sql(args), 0, `"ARRAY<STRUCT>"`, args[0])
		}
		fs := append([]columnar.Field(nil), t.Elem.Fields...)
		if t.ElemNullable {
			fs = outerFields(fs, true)
		}
		return &generator{name: b.name(), args: args, cols: outerFields(fs, outer), outer: outer, run: func(_ *Context, a []vec, n int) ([]*columnar.Column, []int32, error) {
			v := vec{a[0].full(n), false}
			idx, parent, _ := elements(v, n)
			s := columnar.Take(v.Children[0], idx)
			cols := make([]*columnar.Column, len(s.Children))
			for i, ch := range s.Children {
				cols[i] = maskChild(s, ch)
			}
			return cols, parent, nil
		}}, nil
	}
}

// bindStack binds stack(n, expr, …): the values as n rows.
func bindStack(b *Binder, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, b.wrongArgs("> 1", len(args))
	}
	sql := b.sql(args)
	if k := args[0].Type().Kind; k != columnar.KindInt32 && k != columnar.KindNull {
		return nil, unexpectedInput(sql, 0, `"INT"`, args[0])
	}
	v, ok, err := b.foldable(b.implicit(args[0], columnar.Int32))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nonFoldable(sql, "n", args[0])
	}
	n, is := v.(int32)
	if !is {
		return nil, mismatch("UNEXPECTED_NULL", sql, "the n must not be null")
	}
	if n < 1 {
		return nil, mismatch("VALUE_OUT_OF_RANGE", sql, "the number of rows must be positive (current value = %d)", n)
	}
	values := args[1:]
	width := (len(values) + int(n) - 1) / int(n)
	cols := make([]columnar.Field, width)
	out := append([]Expr(nil), values...)
	for k := range cols {
		var items []Expr
		for i := k; i < len(values); i += width {
			items = append(items, values[i])
		}
		cast, t := b.toCommon(items, func(x, y *columnar.Type) *columnar.Type {
			if x.Equal(y) || y.Kind == columnar.KindNull {
				return x
			}
			if x.Kind == columnar.KindNull {
				return y
			}
			return nil
		})
		if t == nil {
			return nil, mismatch("STACK_COLUMN_DIFF_TYPES", sql, "the data type of column %d do not have the same type", k)
		}
		for i, j := 0, k; j < len(values); i, j = i+1, j+width {
			out[j] = cast[i]
		}
		cols[k] = field("col"+itoa(k), t, true)
	}
	return &generator{name: "stack", args: append([]Expr{args[0]}, out...), cols: cols, run: func(_ *Context, a []vec, rows int) ([]*columnar.Column, []int32, error) {
		a = a[1:]
		if int64(n)*int64(rows) > maxBatchElements {
			return nil, nil, sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "stack of %d rows each does not fit in a batch of %d rows", n, rows)
		}
		parent := make([]int32, 0, rows*int(n))
		for i := 0; i < rows; i++ {
			for r := int32(0); r < n; r++ {
				parent = append(parent, int32(i))
			}
		}
		res := make([]*columnar.Column, width)
		for k, f := range cols {
			items := make([]vec, n)
			for r := range items {
				if j := r*width + k; j < len(a) {
					items[r] = a[j]
				} else {
					items[r] = vec{columnar.NewNull(f.Type, 1), true}
				}
			}
			res[k] = gatherRows(columnar.ArrayOf(f.Type, true), f.Type, items, rows).Children[0]
		}
		return res, parent, nil
	}}, nil
}

func generatorFunctions() []*Function {
	const family = "generator"
	f := func(name, sig, doc string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: sig, Doc: doc, Bind: bind}
	}
	return []*Function{
		f("explode", "explode(expr)", "A row for each element of an array or entry of a map.", bindExplode(false, false)),
		f("explode_outer", "explode_outer(expr)", "As explode, but a row of NULL for an empty or NULL argument.", bindExplode(false, true)),
		f("posexplode", "posexplode(expr)", "As explode, with the position from 0.", bindExplode(true, false)),
		f("posexplode_outer", "posexplode_outer(expr)", "As posexplode, but a row of NULL for an empty or NULL argument.", bindExplode(true, true)),
		f("inline", "inline(array)", "A row for each struct of an array, a column for each field.", bindInline(false)),
		f("inline_outer", "inline_outer(array)", "As inline, but a row of NULL for an empty or NULL argument.", bindInline(true)),
		f("stack", "stack(n, expr, …)", "The values as n rows.", bindStack),
	}
}

// notGenerator tells that a function needs constant arguments.
func notConstant(fn, param string) error {
	return sparkerr.New("NON_FOLDABLE_ARGUMENT", "the function `%s` requires the parameter `%s` to be a foldable expression", fn, param)
}
