package expr

import (
	"math"
	"slices"
	"sort"

	"github.com/wstream/wstream/columnar"
)

// percentages reads a constant percentage, or an array of them.
func (b *Binder) percentages(sql string, e Expr) (ps []float64, array bool, err error) {
	t := e.Type()
	want := columnar.Float64
	if array = t.Kind == columnar.KindArray; array {
		want = columnar.ArrayOf(columnar.Float64, true)
	}
	if !canCast(t, want, CastANSI) {
		return nil, false, unexpectedInput(sql, 1, `("DOUBLE" or "ARRAY<DOUBLE>")`, e)
	}
	v, ok, err := b.foldable(b.implicit(e, want))
	if err != nil {
		return nil, false, err
	}
	if !ok {
		return nil, false, nonFoldable(sql, "percentage", e)
	}
	items := []columnar.Datum{v}
	if array {
		items, _ = v.([]columnar.Datum)
	}
	if v == nil {
		return nil, false, mismatch("UNEXPECTED_NULL", sql, "the percentage must not be null")
	}
	for _, it := range items {
		p, is := it.(float64)
		if !is {
			return nil, false, mismatch("UNEXPECTED_NULL", sql, "the percentage must not be null")
		}
		if !(p >= 0 && p <= 1) {
			return nil, false, mismatch("VALUE_OUT_OF_RANGE", sql, "the percentage(s) must be between 0.0 and 1.0 (current value = %v)", p)
		}
		ps = append(ps, p)
	}
	return ps, array, nil
}

func bindPercentile(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	full := args
	if len(args) == 2 {
		full = append(args[:2:2], NewLiteral(columnar.Int64, int64(1)))
	}
	sql := b.sql(full)
	return b.percentile(sql, sql, args[0], args[1], full[2], len(args) == 3, false, false)
}

// bindPercentileWithin binds percentile_cont and percentile_disc with WITHIN GROUP.
func bindPercentileWithin(disc bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		if len(b.Call.Order) != 1 {
			return nil, b.orderError(len(b.Call.Order))
		}
		k := b.Call.Order[0]
		b.Call.Order = nil
		sql := b.name() + "(" + args[0].SQL() + ") WITHIN GROUP (ORDER BY " + k.Expr.SQL()
		if k.Desc {
			sql += " DESC"
		}
		sql += ")"
		return b.percentile(sql, sql, k.Expr, args[0], NewLiteral(columnar.Int64, int64(1)), false, disc, k.Desc)
	}
}

func bindMedian(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	return b.percentile(sql, sql, args[0], NewLiteral(columnar.Float64, 0.5), NewLiteral(columnar.Int64, int64(1)), false, false, false)
}

// percentile binds an exact percentile of v; freq counts each row when counted is set.
func (b *Binder) percentile(sql, text string, v, p, freq Expr, counted, disc, desc bool) (Expr, error) {
	t := b.implicitType(v.Type(), isNumericOrANSI)
	if t == nil {
		return nil, unexpectedInput(sql, 0, isNumericOrANSI.text(), v)
	}
	v = b.implicit(v, t)
	ps, array, err := b.percentages(sql, p)
	if err != nil {
		return nil, err
	}
	if desc {
		for i := range ps {
			ps[i] = 1 - ps[i]
		}
	}
	out := columnar.Float64
	switch t.Kind {
	case columnar.KindYearMonth:
		out = columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth)
	case columnar.KindDayTime:
		out = columnar.DayTime(columnar.FieldDay, columnar.FieldSecond)
	default:
		v = b.implicit(v, columnar.Float64)
	}
	args := []Expr{v}
	if counted {
		ft := b.implicitType(freq.Type(), isIntegral)
		if ft == nil {
			return nil, unexpectedInput(sql, 2, `"INTEGRAL"`, freq)
		}
		args = append(args, b.implicit(b.implicit(freq, ft), columnar.Int64))
	}
	rt := out
	if array {
		rt = columnar.ArrayOf(out, false)
	}
	state := []columnar.Field{field("values", columnar.ArrayOf(columnar.Float64, false), false), field("counts", columnar.ArrayOf(columnar.Int64, false), false)}
	a := b.aggregate(args, rt, true, state, func(*Context) Accumulator {
		return &percentileAcc{ps: ps, array: array, disc: disc, desc: desc, out: out, typ: rt}
	})
	a.text = func([]Expr, bool) string { return text }
	return a, nil
}

// percentileAcc keeps all values with how often each occurs.
type percentileAcc struct {
	ps                []float64
	array, disc, desc bool
	out, typ          *columnar.Type
	counts            []map[uint64]int64 // by orderedBits
}

func (a *percentileAcc) Grow(n int) { a.counts = growTo(a.counts, n) }

// orderedBits makes a key of a number whose order is that of the numbers, NaN the greatest. All NaN have one key; the two
// zeros have one each, as in Spark.
func orderedBits(v float64) uint64 {
	b := math.Float64bits(v)
	switch {
	case v != v:
		return math.MaxUint64
	case b>>63 == 1:
		return ^b
	}
	return b | 1<<63
}

// fromOrderedBits undoes orderedBits.
func fromOrderedBits(k uint64) float64 {
	switch {
	case k == math.MaxUint64:
		return math.NaN()
	case k>>63 == 0:
		return math.Float64frombits(^k)
	}
	return math.Float64frombits(k &^ (1 << 63))
}

func (a *percentileAcc) add(g uint32, v float64, n int64) {
	m := a.counts[g]
	if m == nil {
		m = map[uint64]int64{}
		a.counts[g] = m
	}
	m[orderedBits(v)] += n
}

func (a *percentileAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if c.IsNull(i) {
			continue
		}
		n := int64(1)
		if len(args) > 1 {
			if args[1].IsNull(i) {
				continue
			}
			if n = columnar.Values[int64](args[1])[i]; n < 0 {
				return negativeFrequency(n)
			}
			if n == 0 {
				continue
			}
		}
		v := 0.0
		if c.Type.IsFloating() {
			v = floatAt(c, i)
		} else {
			v = float64(intAt(c, i))
		}
		a.add(g, v, n)
	}
	return nil
}

func (a *percentileAcc) Merge(group []uint32, state []*columnar.Column) error {
	v, n := state[0], state[1]
	vs, ns := columnar.Values[float64](v.Children[0]), columnar.Values[int64](n.Children[0])
	for i, g := range group {
		for j := int32(0); j < v.Offsets[i+1]-v.Offsets[i]; j++ {
			a.add(g, vs[v.Offsets[i]+j], ns[n.Offsets[i]+j])
		}
	}
	return nil
}

func sortedKeys(m map[uint64]int64) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (a *percentileAcc) State() ([]*columnar.Column, error) {
	v := columnar.NewBuilder(columnar.ArrayOf(columnar.Float64, false), len(a.counts))
	n := columnar.NewBuilder(columnar.ArrayOf(columnar.Int64, false), len(a.counts))
	for _, m := range a.counts {
		for _, k := range sortedKeys(m) {
			v.Child(0).AppendFloat(fromOrderedBits(k))
			n.Child(0).AppendInt(m[k])
		}
		v.AppendNested()
		n.AppendNested()
	}
	return []*columnar.Column{v.Finish(), n.Finish()}, nil
}

func (a *percentileAcc) Result() (*columnar.Column, error) {
	b := columnar.NewBuilder(a.typ, len(a.counts))
	for _, m := range a.counts {
		if len(m) == 0 {
			b.AppendNull()
			continue
		}
		keys := sortedKeys(m)
		upTo := make([]int64, len(keys)) // rows up to and with each key
		total := int64(0)
		for i, k := range keys {
			total += m[k]
			upTo[i] = total
		}
		dst := b
		if a.array {
			dst = b.Child(0)
		}
		for _, p := range a.ps {
			v := a.at(keys, upTo, total, p)
			switch {
			case a.out.IsFloating():
				dst.AppendFloat(v)
			default:
				dst.AppendInt(int64(v))
			}
		}
		if a.array {
			b.AppendNested()
		}
	}
	return b.Finish(), nil
}

// at is the percentile p of total rows.
func (a *percentileAcc) at(keys []uint64, upTo []int64, total int64, p float64) float64 {
	find := func(rank int64) float64 { // rank from 0
		i := sort.Search(len(upTo), func(i int) bool { return upTo[i] > rank })
		return fromOrderedBits(keys[min(i, len(keys)-1)])
	}
	if a.disc {
		if a.desc {
			// From the far end: the first value at which at least 1-p of the rows are reached.
			return find(total - max(int64(math.Ceil((1-p)*float64(total))), 1))
		}
		return find(max(int64(math.Ceil(p*float64(total)))-1, 0))
	}
	pos := float64(total-1) * p
	lo, hi := math.Floor(pos), math.Ceil(pos)
	x := find(int64(lo))
	if lo == hi {
		return x
	}
	y := find(int64(hi))
	if x == y {
		return x
	}
	return (hi-pos)*x + (pos-lo)*y
}

func (a *percentileAcc) Reset() { a.counts = resetSlice(a.counts) }

func bindPercentileApprox(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	full := args
	if len(args) == 2 {
		full = append(args[:2:2], NewInt(10000))
	}
	sql := b.sql(full)
	v := args[0]
	in := oneOf(isNumeric, isDate, isTimestamp, isNTZ, isYearMonth, isDayTime)
	t := b.implicitType(v.Type(), in)
	if t == nil {
		return nil, unexpectedInput(sql, 0, in.text(), v)
	}
	v = b.implicit(v, t)
	ps, array, err := b.percentages(sql, args[1])
	if err != nil {
		return nil, err
	}
	at := b.implicitType(full[2].Type(), isIntegral)
	if at == nil {
		return nil, unexpectedInput(sql, 2, `"INTEGRAL"`, full[2])
	}
	av, ok, err := b.foldable(b.implicit(full[2], columnar.Int64))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nonFoldable(sql, "accuracy", full[2])
	}
	acc, is := av.(int64)
	if !is {
		return nil, mismatch("UNEXPECTED_NULL", sql, "the accuracy must not be null")
	}
	if acc <= 0 || acc > math.MaxInt32 {
		return nil, mismatch("VALUE_OUT_OF_RANGE", sql, "the accuracy must be between 0 and %d (current value = %d)", math.MaxInt32, acc)
	}
	rt := t
	if array {
		rt = columnar.ArrayOf(t, false)
	}
	a := b.aggregate([]Expr{v}, rt, true, []columnar.Field{field("digest", columnar.Binary, false)}, func(*Context) Accumulator {
		return &approxPercentileAcc{ps: ps, array: array, in: t, typ: rt, err: 1 / float64(acc)}
	})
	a.text = func([]Expr, bool) string { return sql }
	return a, nil
}

// approxPercentileAcc keeps a quantile digest per group.
type approxPercentileAcc struct {
	ps      []float64
	array   bool
	in, typ *columnar.Type
	err     float64
	digest  []*quantiles
}

func (a *approxPercentileAcc) Grow(n int) { a.digest = growTo(a.digest, n) }

func (a *approxPercentileAcc) at(g uint32) *quantiles {
	if a.digest[g] == nil {
		a.digest[g] = &quantiles{err: a.err}
	}
	return a.digest[g]
}

func (a *approxPercentileAcc) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	for i, g := range group {
		if !c.IsNull(i) {
			a.at(g).insert(numberAt(c, i))
		}
	}
	return nil
}

// numberAt is a number, time or interval as a double.
func numberAt(c *columnar.Column, i int) float64 {
	switch {
	case c.Type.IsFloating():
		return floatAt(c, i)
	case c.Type.Kind == columnar.KindDecimal:
		return decimalFloat(columnar.Values[columnar.Dec128](c)[i], c.Type.Scale)
	}
	return float64(intAt(c, i))
}

func (a *approxPercentileAcc) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		if q := decodeQuantiles(state[0].BytesAt(i), a.err); q.count > 0 || len(q.head) > 0 {
			a.at(g).merge(q)
		}
	}
	return nil
}

func (a *approxPercentileAcc) State() ([]*columnar.Column, error) {
	b := columnar.NewBuilder(columnar.Binary, len(a.digest))
	for _, q := range a.digest {
		if q == nil {
			b.AppendBytes(nil)
			continue
		}
		b.AppendBytes(q.encode())
	}
	return []*columnar.Column{b.Finish()}, nil
}

func (a *approxPercentileAcc) Result() (*columnar.Column, error) {
	b := columnar.NewBuilder(a.typ, len(a.digest))
	for _, q := range a.digest {
		if q == nil {
			b.AppendNull()
			continue
		}
		dst := b
		if a.array {
			dst = b.Child(0)
		}
		for _, p := range a.ps {
			appendNumber(dst, a.in, q.query(p))
		}
		if a.array {
			b.AppendNested()
		}
	}
	return b.Finish(), nil
}

// appendNumber adds a double as a value of a numeric, time or interval type.
func appendNumber(b *columnar.Builder, t *columnar.Type, v float64) {
	switch {
	case t.IsFloating():
		b.AppendFloat(v)
	case t.Kind == columnar.KindDecimal:
		c := columnar.FromData(columnar.Float64, v)
		k := caster{mode: CastTry}
		d, err := k.toDecimal(c, 0, t)
		if err != nil {
			b.AppendNull()
			return
		}
		b.AppendDecimal(d)
	default:
		b.AppendInt(int64(v))
	}
}

func (a *approxPercentileAcc) Reset() { a.digest = resetSlice(a.digest) }
