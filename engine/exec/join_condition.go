package exec

import (
	"github.com/wstream/wstream/engine/expr"
)

// joinKey is an equality between an expression of the left side and one of the right.
type joinKey struct {
	left, right expr.Expr
	nullSafe    bool // <=>: null equals null
}

// joinCondition is a join's condition, taken apart.
type joinCondition struct {
	keys  []joinKey
	left  []expr.Expr // over columns of the left side only
	right []expr.Expr // over columns of the right side only
	both  []expr.Expr // the rest
}

// splitJoin takes a join's condition apart.
func splitJoin(cond expr.Expr, left, right []*expr.Attr) joinCondition {
	var out joinCondition
	if cond == nil {
		return out
	}
	sideOf := func(e expr.Expr) (l, r bool) {
		expr.Walk(e, func(x expr.Expr) bool {
			if a, ok := x.(*expr.Attr); ok {
				l = l || position(left, a.ID) >= 0
				r = r || position(right, a.ID) >= 0
			}
			return true
		})
		return l, r
	}
	for _, c := range expr.SplitAnd(cond) {
		l, r := sideOf(c)
		deterministic := expr.IsDeterministic(c)
		if a, b, nullSafe, ok := expr.EqOperands(c); ok && l && r && deterministic {
			al, ar := sideOf(a)
			bl, br := sideOf(b)
			switch {
			case al && !ar && br && !bl:
				out.keys = append(out.keys, joinKey{a, b, nullSafe})
				continue
			case ar && !al && bl && !br:
				out.keys = append(out.keys, joinKey{b, a, nullSafe})
				continue
			}
		}
		switch {
		case l && !r && deterministic:
			out.left = append(out.left, c)
		case r && !l && deterministic:
			out.right = append(out.right, c)
		default:
			out.both = append(out.both, c)
		}
	}
	return out
}

// conjunction is the AND of expressions, nil for none.
func conjunction(es ...[]expr.Expr) expr.Expr {
	var all []expr.Expr
	for _, e := range es {
		all = append(all, e...)
	}
	if len(all) == 0 {
		return nil
	}
	return expr.NewAnd(all...)
}
