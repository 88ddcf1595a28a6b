package expr

import (
	"github.com/wstream/wstream/columnar"
)

// WindowFunction is a ranking or offset function of a window. The window operator calls Evaluate
// for each partition.
type WindowFunction interface {
	Expr
	// Evaluate computes the function for all rows of a partition, in the window's order.
	Evaluate(ctx *Context, p *WindowPartition) (*columnar.Column, error)
}

// WindowPartition is the rows of one partition, sorted.
type WindowPartition struct {
	Rows *columnar.Batch
	// Peers[i] is the first row of those that are equal to row i by the ORDER BY; rows without an
	// ORDER BY are all peers.
	Peers []int32
	// Start and End bound the frame of each row, End exclusive; nil when the frame is the whole partition.
	Start, End []int32
}

// ranking is a window function without a frame.
type ranking struct {
	name string
	args []Expr
	typ  *columnar.Type
	null bool
	run  func(ctx *Context, p *WindowPartition, args []*columnar.Column) (*columnar.Column, error)
	text string
}

func (r *ranking) Type() *columnar.Type { return r.typ }
func (r *ranking) Nullable() bool       { return r.null }
func (r *ranking) Children() []Expr     { return r.args }
func (r *ranking) WithChildren(c []Expr) Expr {
	out := *r
	out.args = c
	return &out
}

func (r *ranking) SQL() string {
	if r.text != "" {
		return r.text
	}
	return sqlCall(r.name, r.args)
}

// Eval implements Expr; a window function has no value outside of a window.
func (r *ranking) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(r.SQL())
}

// Evaluate implements WindowFunction.
func (r *ranking) Evaluate(ctx *Context, p *WindowPartition) (*columnar.Column, error) {
	args := make([]*columnar.Column, len(r.args))
	if p.Rows.Rows > 0 {
		for i, a := range r.args {
			c, err := a.Eval(ctx, p.Rows)
			if err != nil {
				return nil, err
			}
			args[i] = c
		}
	}
	return r.run(ctx, p, args)
}

// lastPeer gives for each row the row behind the last of its peers.
func (p *WindowPartition) lastPeer() []int32 {
	n := len(p.Peers)
	out := make([]int32, n)
	end := int32(n)
	for i := n - 1; i >= 0; i-- {
		out[i] = end
		if p.Peers[i] == int32(i) {
			end = int32(i)
		}
	}
	return out
}

func rankFunction(name, doc string, typ *columnar.Type, value func(p *WindowPartition) *columnar.Column) *Function {
	return &Function{Name: name, Family: "window", Signature: name + "() OVER (…)", Doc: doc, Bind: func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 0, 0); err != nil {
			return nil, err
		}
		return &ranking{name: name, typ: typ, run: func(_ *Context, p *WindowPartition, _ []*columnar.Column) (*columnar.Column, error) {
			return value(p), nil
		}}, nil
	}}
}

func intRank(f func(p *WindowPartition, out []int32)) func(p *WindowPartition) *columnar.Column {
	return func(p *WindowPartition) *columnar.Column {
		out := make([]int32, p.Rows.Rows)
		f(p, out)
		return columnar.NewFixed(columnar.Int32, out, nil)
	}
}

func bindNtile(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 0, 1); err != nil {
		return nil, err
	}
	n := int32(1)
	if len(args) == 1 {
		v, ok, err := b.foldable(args[0])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, nonFoldable(b.sql(args), "buckets", args[0])
		}
		k, is := v.(int32)
		if !is {
			return nil, unexpectedInput(b.sql(args), 0, `"INT"`, args[0])
		}
		if k <= 0 {
			return nil, mismatch("VALUE_OUT_OF_RANGE", b.sql(args), "the buckets must be between 1 and 2147483647 (current value = %d)", k)
		}
		n = k
	} else {
		args = []Expr{NewInt(1)}
	}
	return &ranking{name: "ntile", args: args, typ: columnar.Int32, run: func(_ *Context, p *WindowPartition, _ []*columnar.Column) (*columnar.Column, error) {
		rows := int32(p.Rows.Rows)
		out := make([]int32, rows)
		size, more := rows/n, rows%n // the first more buckets have one row more
		i := int32(0)
		for k := int32(1); i < rows; k++ {
			end := i + size
			if k <= more {
				end++
			}
			for ; i < end; i++ {
				out[i] = k
			}
		}
		return columnar.NewFixed(columnar.Int32, out, nil), nil
	}}, nil
}

// bindOffset binds lag and lead.
func bindOffset(lead bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 3); err != nil {
			return nil, err
		}
		name := b.name()
		full := append([]Expr(nil), args...)
		if len(full) == 1 {
			full = append(full, NewInt(1))
		}
		if len(full) == 2 {
			full = append(full, NewNull())
		}
		sql := sqlCall(name, full)
		v, err := b.constant(sql, full, 1, isInt, "offset")
		if err != nil {
			return nil, err
		}
		k, is := v.(int32)
		if !is {
			return nil, mismatch("UNEXPECTED_NULL", sql, "the offset must not be null")
		}
		if !lead {
			k = -k
		}
		pair, t := b.toCommon([]Expr{full[0], full[2]}, b.wider)
		if t == nil {
			return nil, diffTypes("DATA_DIFF_TYPES", sql, name, []Expr{full[0], full[2]})
		}
		ignore := b.Call.IgnoreNulls
		if ignore {
			sql += " IGNORE NULLS"
		}
		return &ranking{name: name, args: pair, typ: t, null: full[0].Nullable() || full[2].Nullable(), text: sql, run: func(_ *Context, p *WindowPartition, a []*columnar.Column) (*columnar.Column, error) {
			n := p.Rows.Rows
			if n == 0 {
				return columnar.NewEmpty(t), nil
			}
			pick := make([]int32, n)
			for i := range pick {
				j := offsetRow(a[0], i, int(k), ignore)
				if j < 0 {
					j = n + i
				}
				pick[i] = int32(j)
			}
			return columnar.Take(columnar.Concat([]*columnar.Column{a[0], a[1]}), pick), nil
		}}, nil
	}
}

// offsetRow is the row k rows from row i, nulls left out if ignored; -1 when there is none.
func offsetRow(c *columnar.Column, i, k int, ignore bool) int {
	if !ignore || k == 0 {
		if j := i + k; j >= 0 && j < c.Len {
			return j
		}
		return -1
	}
	step := 1
	if k < 0 {
		step, k = -1, -k
	}
	for j := i + step; j >= 0 && j < c.Len; j += step {
		if c.IsNull(j) {
			continue
		}
		if k--; k == 0 {
			return j
		}
	}
	return -1
}

func bindNthValue(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	v, err := b.constant(sql, args, 1, isInt, "offset")
	if err != nil {
		return nil, err
	}
	k, is := v.(int32)
	if !is || k <= 0 {
		return nil, mismatch("VALUE_OUT_OF_RANGE", sql, "the offset must be between 1 and 2147483647 (current value = %v)", v)
	}
	t := args[0].Type()
	ignore := b.Call.IgnoreNulls
	if ignore {
		sql += " ignore nulls"
	}
	return &ranking{name: "nth_value", args: args, typ: t, null: true, text: sql, run: func(_ *Context, p *WindowPartition, a []*columnar.Column) (*columnar.Column, error) {
		n := p.Rows.Rows
		if n == 0 {
			return columnar.NewEmpty(t), nil
		}
		pick := make([]int32, n)
		for i := range pick {
			lo, hi := int32(0), int32(n)
			if p.Start != nil {
				lo, hi = p.Start[i], p.End[i]
			}
			pick[i] = -1
			left := k
			for j := lo; j < hi; j++ {
				if ignore && a[0].IsNull(int(j)) {
					continue
				}
				if left--; left == 0 {
					pick[i] = j
					break
				}
			}
		}
		return columnar.Take(a[0], pick), nil
	}}, nil
}

func windowFunctions() []*Function {
	const family = "window"
	return []*Function{
		rankFunction("row_number", "The number of the row in its partition, from 1.", columnar.Int32, intRank(func(_ *WindowPartition, out []int32) {
			for i := range out {
				out[i] = int32(i) + 1
			}
		})),
		rankFunction("rank", "One more than the number of rows before the row's peers.", columnar.Int32, intRank(func(p *WindowPartition, out []int32) {
			for i := range out {
				out[i] = p.Peers[i] + 1
			}
		})),
		rankFunction("dense_rank", "The number of the row's group of peers, from 1.", columnar.Int32, intRank(func(p *WindowPartition, out []int32) {
			k := int32(0)
			for i := range out {
				if p.Peers[i] == int32(i) {
					k++
				}
				out[i] = k
			}
		})),
		rankFunction("percent_rank", "The share of the other rows that come before the row's peers.", columnar.Float64, func(p *WindowPartition) *columnar.Column {
			out := make([]float64, p.Rows.Rows)
			for i := range out {
				if len(out) > 1 {
					out[i] = float64(p.Peers[i]) / float64(len(out)-1)
				}
			}
			return columnar.NewFixed(columnar.Float64, out, nil)
		}),
		rankFunction("cume_dist", "The share of the rows up to the row's last peer.", columnar.Float64, func(p *WindowPartition) *columnar.Column {
			out := make([]float64, p.Rows.Rows)
			for i, e := range p.lastPeer() {
				out[i] = float64(e) / float64(len(out))
			}
			return columnar.NewFixed(columnar.Float64, out, nil)
		}),
		{Name: "ntile", Family: family, Signature: "ntile(n) OVER (…)", Doc: "The number of the row's bucket when the partition is cut into n.", Bind: bindNtile},
		{Name: "lag", Family: family, Signature: "lag(expr[, offset[, default]]) OVER (…)", Doc: "The value of a row before.", Bind: bindOffset(false)},
		{Name: "lead", Family: family, Signature: "lead(expr[, offset[, default]]) OVER (…)", Doc: "The value of a row behind.", Bind: bindOffset(true)},
		{Name: "nth_value", Family: family, Signature: "nth_value(expr, n) OVER (…)", Doc: "The value of the n-th row of the frame.", Bind: bindNthValue},
	}
}
