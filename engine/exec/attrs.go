package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// attrSet is a set of columns by identity.
type attrSet map[expr.AttrID]bool

// with is the set and everything that the expressions refer to.
func (s attrSet) with(es ...expr.Expr) attrSet {
	out := make(attrSet, len(s)+len(es))
	for id := range s {
		out[id] = true
	}
	for _, e := range es {
		if e == nil {
			continue
		}
		expr.Walk(e, func(x expr.Expr) bool {
			if a, ok := x.(*expr.Attr); ok {
				out[a.ID] = true
			}
			return true
		})
	}
	return out
}

// withAttrs is the set and columns.
func (s attrSet) withAttrs(attrs []*expr.Attr) attrSet {
	out := s.with()
	for _, a := range attrs {
		out[a.ID] = true
	}
	return out
}

// of are the columns of attrs that are in the set, in order.
func (s attrSet) of(attrs []*expr.Attr) []*expr.Attr {
	var out []*expr.Attr
	for _, a := range attrs {
		if s[a.ID] {
			out = append(out, a)
		}
	}
	return out
}

// schemaOf is the schema of columns.
func schemaOf(attrs []*expr.Attr) *columnar.Schema {
	s := &columnar.Schema{Fields: make([]columnar.Field, len(attrs))}
	for i, a := range attrs {
		s.Fields[i] = a.Field()
	}
	return s
}

// position is the place of a column among attrs, or -1.
func position(attrs []*expr.Attr, id expr.AttrID) int {
	for i, a := range attrs {
		if a.ID == id {
			return i
		}
	}
	return -1
}

// positions are the places of columns among attrs, each of which is there.
func positions(attrs, of []*expr.Attr) []int {
	out := make([]int, len(of))
	for i, a := range of {
		out[i] = position(attrs, a.ID)
	}
	return out
}

// identity tells whether pos is 0 … n-1.
func identity(pos []int, n int) bool {
	if len(pos) != n {
		return false
	}
	for i, p := range pos {
		if p != i {
			return false
		}
	}
	return true
}

// pick are the columns at pos, as rows of schema.
func pick(s *columnar.Schema, in *columnar.Batch, pos []int) *columnar.Batch {
	cols := make([]*columnar.Column, len(pos))
	for i, p := range pos {
		cols[i] = in.Columns[p]
	}
	return columnar.NewBatch(s, cols, in.Rows)
}

// exprsOf are attributes as expressions.
func exprsOf(attrs []*expr.Attr) []expr.Expr {
	out := make([]expr.Expr, len(attrs))
	for i, a := range attrs {
		out[i] = a
	}
	return out
}

// refsAt are references to columns at positions of attrs.
func refsAt(attrs []*expr.Attr, pos []int) []expr.Expr {
	out := make([]expr.Expr, len(pos))
	for i, p := range pos {
		a := attrs[p]
		out[i] = &expr.Ref{Index: p, Name: a.Name, Typ: a.Typ, Null: a.Null}
	}
	return out
}

// bind replaces attributes of each expression by positions among attrs; nil stays nil.
func bind(es []expr.Expr, attrs []*expr.Attr) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		if e == nil {
			continue
		}
		b, err := expr.BindRefs(e, attrs)
		if err != nil {
			return nil, err
		}
		out[i] = b
	}
	return out, nil
}

// positional tells whether some expression depends on the position of rows.
func positional(es ...expr.Expr) bool {
	for _, e := range es {
		if e != nil && !expr.IsDeterministic(e) {
			return true
		}
	}
	return false
}

// evalAll evaluates expressions.
func evalAll(ctx *expr.Context, es []expr.Expr, in *columnar.Batch) ([]*columnar.Column, error) {
	out := make([]*columnar.Column, len(es))
	for i, e := range es {
		c, err := e.Eval(ctx, in)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// trueRows are the rows where a BOOLEAN column is true.
func trueRows(c *columnar.Column) columnar.Bitmap {
	if c.Type.Kind == columnar.KindNull {
		return columnar.NewBitmap(c.Len)
	}
	return columnar.And(c.Bits, c.Valid)
}
