package expr

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// Share makes the expressions evaluate what they have in common once a batch: parts that are equal and occur more than
// once get one number, under which the first evaluation over a batch keeps its column for the others. Nothing
// is evaluated that would not be anyway, nor for other rows.
func Share(es []Expr) []Expr {
	seen := map[string]int{}
	for _, e := range es {
		Walk(e, func(x Expr) bool {
			if k, ok := shareable(x); ok {
				seen[k]++
				return seen[k] == 1 // what lies below a part that is shared is evaluated with it
			}
			_, stop := x.(Aggregate)
			return !stop
		})
	}
	slots := map[string]int{}
	for k, n := range seen {
		if n > 1 {
			slots[k] = len(slots)
		}
	}
	if len(slots) == 0 {
		return es
	}
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = share(e, slots)
	}
	return out
}

func share(e Expr, slots map[string]int) Expr {
	if _, stop := e.(Aggregate); stop {
		return e
	}
	k, ok := shareable(e)
	old := e.Children()
	var kids []Expr
	for i, c := range old {
		n := share(c, slots)
		if n != c && kids == nil {
			kids = append([]Expr{}, old...)
		}
		if kids != nil {
			kids[i] = n
		}
	}
	if kids != nil {
		e = e.WithChildren(kids)
	}
	if slot, more := slots[k]; ok && more {
		return &shared{e, slot}
	}
	return e
}

// shareable gives the key of an expression that is worth keeping: one that computes something from a row.
func shareable(e Expr) (string, bool) {
	switch e.(type) {
	case *Literal, *Attr, *Ref, *Alias, *getField, *LambdaVar:
		return "", false
	}
	if isConst(e) || !IsDeterministic(e) {
		return "", false
	}
	var b strings.Builder
	ok := shareKey(&b, e)
	return b.String(), ok
}

// shareKey writes a text that is equal for two expressions only if they compute the same; ok is false for sorts of
// expressions of which it does not know everything.
func shareKey(b *strings.Builder, e Expr) bool {
	kids := e.Children()
	switch x := e.(type) {
	case *Literal:
		fmt.Fprintf(b, "%s %q", x.Typ, fmt.Sprint(x.Value))
		return !x.Typ.IsNested()
	case *Attr:
		fmt.Fprintf(b, "#%d", x.ID)
		return true
	case *Ref:
		fmt.Fprintf(b, "@%d", x.Index)
		return true
	case *Alias:
		return shareKey(b, x.Child)
	case *named:
		return shareKey(b, x.Expr)
	case *Cast:
		fmt.Fprintf(b, "cast %d %s", x.Mode, x.To)
	case *arith:
		fmt.Fprintf(b, "%s %d %s", x.op, x.mode, x.typ)
	case *comparison:
		fmt.Fprintf(b, "compare %d", x.op)
	case *getField:
		fmt.Fprintf(b, "field %d", x.index)
	case *like:
		fmt.Fprintf(b, "like %d %q", x.kind, x.escape)
	case *call:
		if x.boundAs == "" {
			return false
		}
		fmt.Fprintf(b, "call %s %s", x.boundAs, x.typ)
		kids = x.boundArgs
	default:
		return false
	}
	b.WriteByte('(')
	for _, k := range kids {
		if !shareKey(b, k) {
			return false
		}
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return true
}

// shared is a part that several expressions have in common.
type shared struct {
	Expr
	slot int
}

// WithChildren implements Expr.
func (s *shared) WithChildren(c []Expr) Expr { return &shared{s.Expr.WithChildren(c), s.slot} }

func (s *shared) harmless() bool {
	h, ok := s.Expr.(harmless)
	return ok && h.harmless()
}
func (s *shared) nullIntolerant() bool { return NullIntolerant(s.Expr) }

// kept is what a shared part gave for a batch.
type kept struct {
	in  *columnar.Batch
	col *columnar.Column
}

// Eval evaluates the part unless that was done for this very batch.
func (s *shared) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	if ctx.lambda != nil {
		return s.Expr.Eval(ctx, in)
	}
	for len(ctx.kept) <= s.slot {
		ctx.kept = append(ctx.kept, kept{})
	}
	if k := ctx.kept[s.slot]; k.in == in {
		return k.col, nil
	}
	c, err := s.Expr.Eval(ctx, in)
	if err == nil {
		ctx.kept[s.slot] = kept{in, c}
	}
	return c, err
}
