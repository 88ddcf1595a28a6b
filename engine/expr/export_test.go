package expr

import (
	"sync/atomic"

	"github.com/wstream/wstream/columnar"
)

// NewCounted is a call that gives its argument and counts the rows for which it does.
func NewCounted(arg Expr, rows *atomic.Int64) Expr {
	return simple("counted", []Expr{arg}, arg.Type(), func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		rows.Add(int64(n))
		return a[0].full(n), nil
	})
}

// CanCast tells whether a cast between two types is allowed.
func CanCast(from, to *columnar.Type, mode CastMode) bool { return canCast(from, to, mode) }
