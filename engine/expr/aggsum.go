package expr

import (
	"math"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// sumType is the type of a sum of values of a type.
func sumType(t *columnar.Type) *columnar.Type {
	switch {
	case t.Kind == columnar.KindDecimal:
		return bounded(t.Precision+10, t.Scale)
	case t.IsIntegral():
		return columnar.Int64
	case t.Kind == columnar.KindYearMonth, t.Kind == columnar.KindDayTime:
		return t
	}
	return columnar.Float64
}

func bindSum(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.coerce(args, isNumericOrANSI)
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		st := sumType(t)
		mode := b.arithMode()
		if try {
			mode = modeTry
		}
		state := []columnar.Field{field("sum", st, true)}
		mk := func(*Context) Accumulator { return newIntSum(t, st, mode) }
		switch st.Kind {
		case columnar.KindDecimal:
			state = append(state, field("overflow", columnar.Bool, false))
			mk = func(*Context) Accumulator { return &decimalSum{typ: st, mode: mode} }
		case columnar.KindFloat64:
			if t.Kind == columnar.KindFloat32 {
				mk = func(*Context) Accumulator { return &floatSum[float32]{} }
			} else {
				mk = func(*Context) Accumulator { return &floatSum[float64]{} }
			}
		default:
			if mode == modeTry {
				state = append(state, field("overflow", columnar.Bool, false))
			}
		}
		return b.aggregate(args, st, true, state, mk), nil
	}
}

func newIntSum(t, st *columnar.Type, mode arithMode) Accumulator {
	switch t.Width() {
	case 1:
		return &intSum[int8]{typ: st, mode: mode}
	case 2:
		return &intSum[int16]{typ: st, mode: mode}
	case 4:
		return &intSum[int32]{typ: st, mode: mode}
	}
	return &intSum[int64]{typ: st, mode: mode}
}

// intSum adds integers and ANSI intervals in 64 bits.
type intSum[T interface {
	signed
	columnar.Value
}] struct {
	typ  *columnar.Type
	mode arithMode
	sum  []int64
	seen []bool
	over []bool // only under modeTry
}

func (a *intSum[T]) Grow(n int) {
	a.sum, a.seen = growTo(a.sum, n), growTo(a.seen, n)
	if a.mode == modeTry {
		a.over = growTo(a.over, n)
	}
}

func (a *intSum[T]) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	return a.add(group, columnar.Values[T](c), c.Valid)
}

// add folds values in. Overflow is noticed once per call; the sums are then rolled back to find the row.
func (a *intSum[T]) add(group []uint32, v []T, valid columnar.Bitmap) error {
	if a.mode == modeTry {
		addTry(a, group, v, valid)
		return nil
	}
	sum, seen := a.sum, a.seen
	var bad int64
	switch {
	case valid != nil:
		// A null adds zero: no jump that cannot be foreseen.
		for i, g := range group {
			bit := valid[i>>6] >> (uint(i) & 63) & 1
			s, x := sum[g], int64(v[i])&-int64(bit)
			r := s + x
			bad |= (s ^ r) & (x ^ r)
			sum[g] = r
			seen[g] = seen[g] || bit != 0
		}
	case len(sum) == 1:
		s := sum[0]
		for _, x := range v {
			x := int64(x)
			r := s + x
			bad |= (s ^ r) & (x ^ r)
			s = r
		}
		sum[0] = s
		seen[0] = seen[0] || len(v) > 0
	default:
		v = v[:len(group)]
		for i, g := range group {
			s, x := sum[g], int64(v[i])
			r := s + x
			bad |= (s ^ r) & (x ^ r)
			sum[g] = r
			seen[g] = true
		}
	}
	if bad < 0 && a.mode == modeANSI {
		if !a.typ.IsIntegral() {
			return sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "overflow in a sum of intervals")
		}
		return overflow("try_add")
	}
	return nil
}

func addTry[T interface {
	signed
	columnar.Value
}](a *intSum[T], group []uint32, v []T, valid columnar.Bitmap) {
	for i, g := range group {
		if valid != nil && !valid.Get(i) {
			continue
		}
		s, x := a.sum[g], int64(v[i])
		a.over[g] = a.over[g] || overflows("+", s, x)
		a.sum[g], a.seen[g] = s+x, true
	}
}

func (a *intSum[T]) Merge(group []uint32, state []*columnar.Column) error {
	c := state[0]
	wide := &intSum[int64]{typ: a.typ, mode: a.mode, sum: a.sum, seen: a.seen, over: a.over}
	if a.mode == modeTry {
		for i, g := range group {
			a.over[g] = a.over[g] || state[1].Bits.Get(i)
		}
	}
	if c.Type.Width() == 4 {
		v := make([]int64, c.Len)
		for i, x := range columnar.Values[int32](c) {
			v[i] = int64(x)
		}
		return wide.add(group, v, c.Valid)
	}
	return wide.add(group, columnar.Values[int64](c), c.Valid)
}

func (a *intSum[T]) State() ([]*columnar.Column, error) {
	c, err := a.column(seenBitmap(a.seen))
	if err != nil || a.mode != modeTry {
		return []*columnar.Column{c}, err
	}
	over := columnar.NewBitmap(len(a.over))
	for i, o := range a.over {
		if o {
			over.Set(i)
		}
	}
	return []*columnar.Column{c, columnar.NewBools(len(a.over), over, nil)}, nil
}

func (a *intSum[T]) column(valid columnar.Bitmap) (*columnar.Column, error) {
	if a.typ.Width() == 8 {
		return columnar.NewFixed(a.typ, copied(a.sum), valid), nil
	}
	d := make([]int32, len(a.sum))
	for i, v := range a.sum {
		if !fitsInt(v, 4) {
			return nil, sparkerr.New("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "overflow in a sum of intervals")
		}
		d[i] = int32(v)
	}
	return columnar.NewFixed(a.typ, d, valid), nil
}

func (a *intSum[T]) Result() (*columnar.Column, error) {
	valid := seenBitmap(a.seen)
	for i, o := range a.over {
		if o {
			if valid == nil {
				valid = columnar.NewBitmapSet(len(a.sum))
			}
			valid.Clear(i)
		}
	}
	return a.column(valid)
}

func (a *intSum[T]) Reset() {
	a.sum, a.seen, a.over = resetSlice(a.sum), resetSlice(a.seen), resetSlice(a.over)
}

// floatSum adds floating numbers in double precision.
type floatSum[T interface {
	floating
	columnar.Value
}] struct {
	sum  []float64
	seen []bool
}

func (a *floatSum[T]) Grow(n int) { a.sum, a.seen = growTo(a.sum, n), growTo(a.seen, n) }

func (a *floatSum[T]) Update(group []uint32, args []*columnar.Column) error {
	addFloats(a.sum, a.seen, group, columnar.Values[T](args[0]), args[0].Valid)
	return nil
}

func addFloats[T floating](sum []float64, seen []bool, group []uint32, v []T, valid columnar.Bitmap) {
	switch {
	case valid != nil:
		for i, g := range group {
			bit := valid[i>>6] >> (uint(i) & 63) & 1
			sum[g] += math.Float64frombits(math.Float64bits(float64(v[i])) & -bit)
			seen[g] = seen[g] || bit != 0
		}
	case len(sum) == 1:
		s := sum[0]
		for _, x := range v {
			s += float64(x)
		}
		sum[0] = s
		seen[0] = seen[0] || len(v) > 0
	default:
		v = v[:len(group)]
		for i, g := range group {
			sum[g] += float64(v[i])
			seen[g] = true
		}
	}
}

func (a *floatSum[T]) Merge(group []uint32, state []*columnar.Column) error {
	addFloats(a.sum, a.seen, group, columnar.Values[float64](state[0]), state[0].Valid)
	return nil
}

func (a *floatSum[T]) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *floatSum[T]) Result() (*columnar.Column, error) {
	return columnar.NewFixed(columnar.Float64, copied(a.sum), seenBitmap(a.seen)), nil
}

func (a *floatSum[T]) Reset() { a.sum, a.seen = resetSlice(a.sum), resetSlice(a.seen) }

// decimalSum adds decimals in 128 bits.
type decimalSum struct {
	typ  *columnar.Type
	mode arithMode
	sum  []columnar.Dec128
	seen []bool
	over []bool
}

func (a *decimalSum) Grow(n int) {
	a.sum, a.seen, a.over = growTo(a.sum, n), growTo(a.seen, n), growTo(a.over, n)
}

func (a *decimalSum) Update(group []uint32, args []*columnar.Column) error {
	return a.add(group, columnar.Values[columnar.Dec128](args[0]), args[0].Valid)
}

func (a *decimalSum) add(group []uint32, v []columnar.Dec128, valid columnar.Bitmap) error {
	for i, g := range group {
		if valid != nil && valid[i>>6]>>(uint(i)&63)&1 == 0 {
			continue
		}
		r, ok := a.sum[g].Add(v[i])
		a.sum[g], a.seen[g] = r, true
		if !ok {
			a.over[g] = true
		}
	}
	return nil
}

func (a *decimalSum) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		a.over[g] = a.over[g] || state[1].Bits.Get(i)
	}
	return a.add(group, columnar.Values[columnar.Dec128](state[0]), state[0].Valid)
}

func (a *decimalSum) State() ([]*columnar.Column, error) {
	over := columnar.NewBitmap(len(a.over))
	for i, o := range a.over {
		if o || !a.sum[i].FitsPrecision(a.typ.Precision) {
			over.Set(i)
		}
	}
	return []*columnar.Column{columnar.NewFixed(a.typ, copied(a.sum), seenBitmap(a.seen)), columnar.NewBools(len(a.over), over, nil)}, nil
}

func (a *decimalSum) Result() (*columnar.Column, error) {
	valid := seenBitmap(a.seen)
	for i, s := range a.sum {
		if a.over[i] || !s.FitsPrecision(a.typ.Precision) {
			if a.mode == modeANSI {
				return nil, aggOverflow("sum of decimals", "try_sum")
			}
			if valid == nil {
				valid = columnar.NewBitmapSet(len(a.sum))
			}
			valid.Clear(i)
		}
	}
	return columnar.NewFixed(a.typ, copied(a.sum), valid), nil
}

func (a *decimalSum) Reset() {
	a.sum, a.seen, a.over = resetSlice(a.sum), resetSlice(a.seen), resetSlice(a.over)
}

func bindAvg(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.coerce(args, isNumericOrANSI)
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		mode := b.arithMode()
		if try {
			mode = modeTry
		}
		count := field("count", columnar.Int64, false)
		switch t.Kind {
		case columnar.KindDecimal:
			st, rt := bounded(t.Precision+10, t.Scale), bounded(t.Precision+4, t.Scale+4)
			return b.aggregate(args, rt, true, []columnar.Field{field("sum", st, true), field("overflow", columnar.Bool, false), count},
				func(*Context) Accumulator {
					return &decimalAvg{sumAndCount[*decimalSum]{sum: &decimalSum{typ: st, mode: mode}, columns: 2}, rt}
				}), nil
		case columnar.KindYearMonth, columnar.KindDayTime:
			rt := columnar.DayTime(columnar.FieldDay, columnar.FieldSecond)
			if t.Kind == columnar.KindYearMonth {
				rt = columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth)
			}
			return b.aggregate(args, rt, true, []columnar.Field{field("sum", t, true), count},
				func(*Context) Accumulator {
					return &intervalAvg{sumAndCount[Accumulator]{sum: newIntSum(t, t, modeANSI), columns: 1}, rt}
				}), nil
		}
		return b.aggregate(args, columnar.Float64, true, []columnar.Field{field("sum", columnar.Float64, false), count},
			func(*Context) Accumulator { return &floatAvg{} }), nil
	}
}

// floatAvg is the mean of numbers other than decimals, summed in double precision.
type floatAvg struct {
	sum []float64
	n   []int64
}

func (a *floatAvg) Grow(n int) { a.sum, a.n = growTo(a.sum, n), growTo(a.n, n) }

func (a *floatAvg) Update(group []uint32, args []*columnar.Column) error {
	c := args[0]
	switch c.Type.Kind {
	case columnar.KindInt8:
		avgAdd(a, group, columnar.Values[int8](c), c.Valid)
	case columnar.KindInt16:
		avgAdd(a, group, columnar.Values[int16](c), c.Valid)
	case columnar.KindInt32:
		avgAdd(a, group, columnar.Values[int32](c), c.Valid)
	case columnar.KindInt64:
		avgAdd(a, group, columnar.Values[int64](c), c.Valid)
	case columnar.KindFloat32:
		avgAdd(a, group, columnar.Values[float32](c), c.Valid)
	case columnar.KindFloat64:
		avgAdd(a, group, columnar.Values[float64](c), c.Valid)
	}
	return nil
}

func avgAdd[T number](a *floatAvg, group []uint32, v []T, valid columnar.Bitmap) {
	sum, n := a.sum, a.n
	switch {
	case valid != nil:
		for i, g := range group {
			bit := valid[i>>6] >> (uint(i) & 63) & 1
			sum[g] += math.Float64frombits(math.Float64bits(float64(v[i])) & -bit)
			n[g] += int64(bit)
		}
	case len(sum) == 1:
		s := sum[0]
		for _, x := range v {
			s += float64(x)
		}
		sum[0] = s
		n[0] += int64(len(v))
	default:
		v = v[:len(group)]
		for i, g := range group {
			sum[g] += float64(v[i])
			n[g]++
		}
	}
}

func (a *floatAvg) Merge(group []uint32, state []*columnar.Column) error {
	s, k := columnar.Values[float64](state[0]), columnar.Values[int64](state[1])
	for i, g := range group {
		a.sum[g] += s[i]
		a.n[g] += k[i]
	}
	return nil
}

func (a *floatAvg) State() ([]*columnar.Column, error) {
	return []*columnar.Column{columnar.NewFixed(columnar.Float64, copied(a.sum), nil), columnar.NewFixed(columnar.Int64, copied(a.n), nil)}, nil
}

func (a *floatAvg) Result() (*columnar.Column, error) {
	out, seen := make([]float64, len(a.sum)), make([]bool, len(a.sum))
	for i, s := range a.sum {
		if a.n[i] > 0 {
			out[i], seen[i] = s/float64(a.n[i]), true
		}
	}
	return columnar.NewFixed(columnar.Float64, out, seenBitmap(seen)), nil
}

func (a *floatAvg) Reset() { a.sum, a.n = resetSlice(a.sum), resetSlice(a.n) }

// sumAndCount is what a mean is made of: a sum, whose state has so many columns, and the number of values.
type sumAndCount[S Accumulator] struct {
	sum     S
	n       countAcc
	columns int
}

func (a *sumAndCount[S]) Grow(n int) { a.sum.Grow(n); a.n.Grow(n) }

func (a *sumAndCount[S]) Update(group []uint32, args []*columnar.Column) error {
	if err := a.sum.Update(group, args); err != nil {
		return err
	}
	return a.n.Update(group, args)
}

func (a *sumAndCount[S]) Merge(group []uint32, state []*columnar.Column) error {
	if err := a.sum.Merge(group, state); err != nil {
		return err
	}
	return a.n.Merge(group, state[a.columns:])
}

func (a *sumAndCount[S]) State() ([]*columnar.Column, error) {
	s, err := a.sum.State()
	if err != nil {
		return nil, err
	}
	n, err := a.n.State()
	return append(s, n...), err
}

func (a *sumAndCount[S]) Reset() { a.sum.Reset(); a.n.Reset() }

// decimalAvg is the mean of decimals.
type decimalAvg struct {
	sumAndCount[*decimalSum]
	typ *columnar.Type
}

func (a *decimalAvg) Result() (*columnar.Column, error) {
	o := decimalOp{op: "/", s1: a.sum.typ.Scale, typ: a.typ}
	out, seen := make([]columnar.Dec128, len(a.n.n)), make([]bool, len(a.n.n))
	for i, n := range a.n.n {
		if n == 0 {
			continue
		}
		ok := !a.sum.over[i] && a.sum.sum[i].FitsPrecision(a.sum.typ.Precision)
		if ok {
			out[i], ok = o.compute(a.sum.sum[i], columnar.Dec128FromInt64(n))
		}
		if !ok && a.sum.mode == modeANSI {
			return nil, aggOverflow("avg of decimals", "try_avg")
		}
		seen[i] = ok
	}
	return columnar.NewFixed(a.typ, out, seenBitmap(seen)), nil
}

// intervalAvg is the mean of ANSI intervals, rounded half away from zero.
type intervalAvg struct {
	sumAndCount[Accumulator]
	typ *columnar.Type
}

func (a *intervalAvg) Result() (*columnar.Column, error) {
	s, err := a.sum.Result()
	if err != nil {
		return nil, err
	}
	e := scaledInterval{op: "/"}
	b := columnar.NewBuilder(a.typ, s.Len)
	by := vec{columnar.NewFixed(columnar.Int64, a.n.n, nil), false}
	for i := 0; i < s.Len; i++ {
		if s.IsNull(i) {
			b.AppendNull()
			continue
		}
		v, err := e.scale(intAt(s, i), by, i)
		if err != nil {
			return nil, err
		}
		b.AppendInt(v)
	}
	return b.Finish(), nil
}
