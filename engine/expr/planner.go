package expr

// NullIntolerant tells whether e is null whenever one of its operands is.
func NullIntolerant(e Expr) bool {
	switch e := e.(type) {
	case *comparison:
		return e.op != opNullEq
	case *not, *Cast, *getField, *arith, *negation, *timeDiff, *movedTime, *scaledInterval, *like:
		return true
	}
	n, ok := e.(interface{ nullIntolerant() bool })
	return ok && n.nullIntolerant()
}
