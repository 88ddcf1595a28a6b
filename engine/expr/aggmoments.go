package expr

import (
	"math"

	"github.com/wstream/wstream/columnar"
)

// bindMoment binds the aggregates of central moments: variance and its kin.
func bindMoment(kind string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		args, err := b.doubleArgs(args, 1)
		if err != nil {
			return nil, err
		}
		order := 2
		if kind == "skewness" || kind == "kurtosis" {
			order = 4
		}
		names := [...]string{"n", "avg", "m2", "m3", "m4"}
		var state []columnar.Field
		for _, n := range names[:order+1] {
			state = append(state, field(n, columnar.Float64, false))
		}
		return b.aggregate(args, columnar.Float64, true, state, func(*Context) Accumulator { return &momentAcc{kind: kind, order: order} }), nil
	}
}

// momentAcc keeps the central moments up to the second or fourth, by one-pass updates.
type momentAcc struct {
	kind               string
	order              int
	n, avg, m2, m3, m4 []float64
}

func (a *momentAcc) Grow(n int) {
	a.n, a.avg, a.m2 = growTo(a.n, n), growTo(a.avg, n), growTo(a.m2, n)
	if a.order == 4 {
		a.m3, a.m4 = growTo(a.m3, n), growTo(a.m4, n)
	}
}

func (a *momentAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	v := columnar.Values[float64](c)
	for i, g := range group {
		if c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		n := a.n[g] + 1
		delta := v[i] - a.avg[g]
		deltaN := delta / n
		a.n[g] = n
		a.avg[g] += deltaN
		m2 := a.m2[g] + float64(delta*(delta-deltaN))
		a.m2[g] = m2
		if a.order == 4 {
			delta2, deltaN2 := delta*delta, deltaN*deltaN
			m3 := a.m3[g] - float64(3*deltaN*m2) + float64(delta*(delta2-deltaN2))
			a.m3[g] = m3
			a.m4[g] = a.m4[g] - float64(4*deltaN*m3) - float64(6*deltaN2*m2) + float64(delta*(float64(delta*delta2)-float64(deltaN*deltaN2)))
		}
	}
	return nil
}

func (a *momentAcc) Merge(group []uint32, state []*columnar.Column) error {
	rn, ravg, rm2 := columnar.Values[float64](state[0]), columnar.Values[float64](state[1]), columnar.Values[float64](state[2])
	for i, g := range group {
		n1, n2 := a.n[g], rn[i]
		n := n1 + n2
		delta := ravg[i] - a.avg[g]
		deltaN := 0.0
		if n != 0 {
			deltaN = delta / n
		}
		l2, r2 := a.m2[g], rm2[i]
		if a.order == 4 {
			l3, r3 := a.m3[g], columnar.Values[float64](state[3])[i]
			l4, r4 := a.m4[g], columnar.Values[float64](state[4])[i]
			a.m3[g] = l3 + r3 + deltaN*deltaN*delta*n1*n2*(n1-n2) + 3*deltaN*(n1*r2-n2*l2)
			a.m4[g] = l4 + r4 + deltaN*deltaN*deltaN*delta*n1*n2*(n1*n1-n1*n2+n2*n2) + 6*deltaN*deltaN*(n1*n1*r2+n2*n2*l2) + 4*deltaN*(n1*r3-n2*l3)
		}
		a.n[g] = n
		a.avg[g] += deltaN * n2
		a.m2[g] = l2 + r2 + delta*deltaN*n1*n2
	}
	return nil
}

func (a *momentAcc) State() ([]*columnar.Column, error) {
	cols := [][]float64{a.n, a.avg, a.m2, a.m3, a.m4}[:a.order+1]
	var out []*columnar.Column
	for _, c := range cols {
		out = append(out, columnar.NewFixed(columnar.Float64, copied(c), nil))
	}
	return out, nil
}

func (a *momentAcc) Result() (*columnar.Column, error) {
	out, seen := make([]float64, len(a.n)), make([]bool, len(a.n))
	for i, n := range a.n {
		out[i], seen[i] = a.value(i, n)
	}
	return columnar.NewFixed(columnar.Float64, out, seenBitmap(seen)), nil
}

func (a *momentAcc) value(i int, n float64) (float64, bool) {
	if n == 0 {
		return 0, false
	}
	m2 := a.m2[i]
	switch a.kind {
	case "var_pop":
		return m2 / n, true
	case "stddev_pop":
		return math.Sqrt(m2 / n), true
	case "var_samp":
		return m2 / (n - 1), n > 1
	case "stddev_samp":
		return math.Sqrt(m2 / (n - 1)), n > 1
	case "skewness":
		return math.Sqrt(n) * a.m3[i] / math.Sqrt(m2*m2*m2), m2 != 0
	}
	return n*a.m4[i]/(m2*m2) - 3, m2 != 0
}

func (a *momentAcc) Reset() {
	a.n, a.avg, a.m2, a.m3, a.m4 = resetSlice(a.n), resetSlice(a.avg), resetSlice(a.m2), resetSlice(a.m3), resetSlice(a.m4)
}

// bindPair binds the aggregates over pairs: covariance, correlation and regression.
func bindPair(kind string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		printed := args
		if kind == "regr_count" {
			if err := b.argCount(args, 2, 2); err != nil {
				return nil, err
			}
			a := b.aggregate(args, columnar.Int64, false, []columnar.Field{field("count", columnar.Int64, false)}, func(*Context) Accumulator { return &countAcc{} })
			return withText(a, b.name(), printed), nil
		}
		args, err := b.doubleArgs(args, 2)
		if err != nil {
			return nil, err
		}
		var state []columnar.Field
		for _, n := range [...]string{"n", "xAvg", "yAvg", "ck", "xMk", "yMk"} {
			state = append(state, field(n, columnar.Float64, false))
		}
		return b.aggregate(args, columnar.Float64, true, state, func(*Context) Accumulator { return &pairAcc{kind: kind, ansi: b.ANSI} }), nil
	}
}

// pairMoments are the moments of pairs (x, y) of one group.
type pairMoments struct{ n, xAvg, yAvg, ck, xMk, yMk float64 }

// pairAcc keeps the moments of pairs whose parts are both present. For regr_* and corr the first
// argument is y; the formulas are symmetric otherwise.
type pairAcc struct {
	kind string
	ansi bool
	m    []pairMoments
}

func (a *pairAcc) Grow(n int) { a.m = growTo(a.m, n) }

func (a *pairAcc) Update(group []uint32, args []*columnar.Column) error {
	valid := columnar.And(args[0].Valid, args[1].Valid)
	first, second := columnar.Values[float64](args[0]), columnar.Values[float64](args[1])
	regr := len(a.kind) > 4 && a.kind[:4] == "regr"
	for i, g := range group {
		if valid != nil && !valid.Get(i) {
			continue
		}
		x, y := first[i], second[i]
		if regr {
			x, y = y, x
		}
		m := &a.m[g]
		m.n++
		dx, dy := x-m.xAvg, y-m.yAvg
		m.xAvg += dx / m.n
		m.yAvg += dy / m.n
		m.ck += float64(dx * (y - m.yAvg))
		m.xMk += float64(dx * (x - m.xAvg))
		m.yMk += float64(dy * (y - m.yAvg))
	}
	return nil
}

func (a *pairAcc) Merge(group []uint32, state []*columnar.Column) error {
	var s [6][]float64
	for i := range s {
		s[i] = columnar.Values[float64](state[i])
	}
	for i, g := range group {
		m := &a.m[g]
		n1, n2 := m.n, s[0][i]
		n := n1 + n2
		if n2 == 0 {
			continue
		}
		dx, dy := s[1][i]-m.xAvg, s[2][i]-m.yAvg
		dxN, dyN := dx/n, dy/n
		m.n = n
		m.xAvg += dxN * n2
		m.yAvg += dyN * n2
		m.ck += s[3][i] + dx*dyN*n1*n2
		m.xMk += s[4][i] + dx*dxN*n1*n2
		m.yMk += s[5][i] + dy*dyN*n1*n2
	}
	return nil
}

func (a *pairAcc) State() ([]*columnar.Column, error) {
	var s [6][]float64
	for _, m := range a.m {
		for i, v := range [...]float64{m.n, m.xAvg, m.yAvg, m.ck, m.xMk, m.yMk} {
			s[i] = append(s[i], v)
		}
	}
	var out []*columnar.Column
	for _, c := range s {
		out = append(out, columnar.NewFixed(columnar.Float64, c, nil))
	}
	return out, nil
}

func (a *pairAcc) Result() (*columnar.Column, error) {
	out, seen := make([]float64, len(a.m)), make([]bool, len(a.m))
	for i := range a.m {
		if a.m[i].n > 0 {
			out[i], seen[i] = a.m[i].value(a.kind)
			if a.kind == "corr" && seen[i] && a.m[i].xMk*a.m[i].yMk == 0 { // Spark divides as SQL does
				if seen[i] = false; a.ansi {
					return nil, divideByZero()
				}
			}
		}
	}
	return columnar.NewFixed(columnar.Float64, out, seenBitmap(seen)), nil
}

func (m *pairMoments) value(kind string) (float64, bool) {
	switch kind {
	case "covar_pop":
		return m.ck / m.n, true
	case "covar_samp":
		return m.ck / (m.n - 1), m.n > 1
	case "corr":
		return m.ck / math.Sqrt(m.xMk*m.yMk), m.n > 1
	case "regr_avgx":
		return m.xAvg, true
	case "regr_avgy":
		return m.yAvg, true
	case "regr_sxx":
		return m.xMk, true
	case "regr_syy":
		return m.yMk, true
	case "regr_sxy":
		return m.ck, true
	case "regr_slope":
		return m.ck / m.xMk, m.xMk != 0
	case "regr_intercept":
		return m.yAvg - m.ck/m.xMk*m.xAvg, m.xMk != 0
	}
	// regr_r2
	if m.xMk == 0 {
		return 0, false
	}
	if m.yMk == 0 {
		return 1, true
	}
	return m.ck * m.ck / m.xMk / m.yMk, true
}

func (a *pairAcc) Reset() { a.m = resetSlice(a.m) }
