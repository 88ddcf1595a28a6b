package expr

import (
	"math"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// vectorFunctions are the functions of vectors: arrays of FLOAT, which Spark computes with in single precision.
func vectorFunctions() []*Function {
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: "vector", Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("vector_inner_product", "vector_inner_product(vector1, vector2)", "The sum of the products of the elements at equal places.",
			"SELECT vector_inner_product(array(1F, 2F), array(3F, 4F)) → 11.0", vectorPair(innerProduct)),
		f("vector_l2_distance", "vector_l2_distance(vector1, vector2)", "The Euclidean distance of two vectors.",
			"SELECT vector_l2_distance(array(0F, 0F), array(3F, 4F)) → 5.0", vectorPair(l2Distance)),
		f("vector_cosine_similarity", "vector_cosine_similarity(vector1, vector2)", "The cosine of the angle between two vectors, NULL when one has no length.",
			"SELECT vector_cosine_similarity(array(1F, 0F), array(0F, 1F)) → 0.0", vectorPair(cosineSimilarity)),
		f("vector_norm", "vector_norm(vector[, degree])", "The length of a vector by the norm of degree 1, 2 (the default) or infinity.",
			"SELECT vector_norm(array(3F, 4F)) → 5.0", bindVectorNorm),
		f("vector_normalize", "vector_normalize(vector[, degree])", "The vector brought to the length 1, NULL when it has none.",
			"SELECT vector_normalize(array(3F, 4F), float('inf')) → [0.75, 1.0]", bindVectorNormalize),
		f("vector_sum", "vector_sum(vector)", "The sum of vectors, element by element; NULL ones do not count.",
			"SELECT vector_sum(v) FROM VALUES (array(1F, 2F)), (array(3F, 4F)) t(v) → [4.0,6.0]", bindVectorAggregate(false)),
		f("vector_avg", "vector_avg(vector)", "The mean of vectors, element by element; NULL ones do not count.",
			"SELECT vector_avg(v) FROM VALUES (array(1F, 2F)), (array(3F, 4F)) t(v) → [2.0,3.0]", bindVectorAggregate(true)),
	}
}

// isVector takes arrays of FLOAT, whether or not elements may be null.
var isVector = spec{name: "ARRAY<FLOAT>", def: columnar.ArrayOf(columnar.Float32, true), accepts: func(t *columnar.Type) bool {
	return t.Kind == columnar.KindArray && t.Elem.Kind == columnar.KindFloat32
}}

// vectorArguments checks the arguments of a vector function, which takes no casts and no untyped NULL.
func (b *Binder) vectorArguments(sql string, args []Expr, specs ...spec) error {
	for i, a := range args {
		if s := specs[min(i, len(specs)-1)]; !s.accepts(a.Type()) {
			return unexpectedInput(sql, i, s.text(), a)
		}
	}
	return nil
}

// vectorAt is the vector in row i; ok is false when the row or one of its elements is null.
func vectorAt(v vec, i int) (x []float32, ok bool) {
	r := v.row(i)
	if v.IsNull(r) {
		return nil, false
	}
	lo, hi := v.Offsets[r], v.Offsets[r+1]
	elems := v.Children[0]
	if elems.Valid != nil {
		for j := lo; j < hi; j++ {
			if !elems.Valid.Get(int(j)) {
				return nil, false
			}
		}
	}
	return columnar.Values[float32](elems)[lo:hi], true
}

func dimensionMismatch(name string, x, y int) error {
	return sparkerr.New("VECTOR_DIMENSION_MISMATCH", "vectors passed to `%s` must have the same dimension, but got %d and %d", name, x, y)
}

// vectorPair binds a function of two vectors of one dimension to a number; ok is false for NULL.
func vectorPair(f func(x, y []float32) (v float32, ok bool)) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		name := b.name()
		if err := b.vectorArguments(b.sql(args), args, isVector); err != nil {
			return nil, err
		}
		e := simple(name, args, columnar.Float32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			out, valid := make([]float32, n), columnar.NewBitmap(n)
			for i := range n {
				if a[0].null(i) || a[1].null(i) {
					continue
				}
				if x, y := a[0].row(i), a[1].row(i); a[0].Offsets[x+1]-a[0].Offsets[x] != a[1].Offsets[y+1]-a[1].Offsets[y] {
					return nil, dimensionMismatch(name, int(a[0].Offsets[x+1]-a[0].Offsets[x]), int(a[1].Offsets[y+1]-a[1].Offsets[y]))
				}
				x, ok1 := vectorAt(a[0], i)
				y, ok2 := vectorAt(a[1], i)
				if !ok1 || !ok2 {
					continue
				}
				v, ok := f(x, y)
				if ok {
					valid.Set(i)
				}
				out[i] = v
			}
			return columnar.NewFixed(columnar.Float32, out, valid), nil
		})
		e.null, e.nullFn = true, nil
		return e, nil
	}
}

func innerProduct(x, y []float32) (float32, bool) {
	y = y[:len(x)]
	sum, i := float32(0), 0
	for ; i+8 <= len(x); i += 8 { // Spark adds eight products to one another before it adds them to the sum
		p, q := x[i:i+8], y[i:i+8]
		eight := float32(p[0]*q[0]) + float32(p[1]*q[1])
		for k := 2; k < 8; k++ {
			eight += float32(p[k] * q[k])
		}
		sum += eight
	}
	for ; i < len(x); i++ {
		sum += float32(x[i] * y[i])
	}
	return sum, true
}

func l2Distance(x, y []float32) (float32, bool) {
	y = y[:len(x)]
	sum, i := float32(0), 0
	for ; i+8 <= len(x); i += 8 {
		p, q := x[i:i+8], y[i:i+8]
		d := p[0] - q[0]
		eight := float32(d * d)
		for k := 1; k < 8; k++ {
			d = p[k] - q[k]
			eight += float32(d * d)
		}
		sum += eight
	}
	for ; i < len(x); i++ {
		d := x[i] - y[i]
		sum += float32(d * d)
	}
	return float32(math.Sqrt(float64(sum))), true
}

func cosineSimilarity(x, y []float32) (float32, bool) {
	dot, _ := innerProduct(x, y)
	xx, _ := innerProduct(x, x)
	yy, _ := innerProduct(y, y)
	length := float32(math.Sqrt(float64(float32(xx * yy))))
	return dot / length, length != 0
}

// vectorNorm is the norm of a degree; ok is false for a degree that there is not.
func vectorNorm(x []float32, degree float32) (v float32, ok bool) {
	switch {
	case degree == 1:
		for _, e := range x {
			v += float32(math.Abs(float64(e)))
		}
	case degree == 2:
		v, _ = innerProduct(x, x)
		v = float32(math.Sqrt(float64(v)))
	case math.IsInf(float64(degree), 1):
		for _, e := range x {
			if e = float32(math.Abs(float64(e))); e > v {
				v = e
			}
		}
	default:
		return 0, false
	}
	return v, true
}

// normArguments checks vector_norm and vector_normalize, and adds the degree when it is left out.
func (b *Binder) normArguments(args []Expr) ([]Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		args = append(args[:1:1], NewLiteral(columnar.Float32, float32(2)))
	}
	return args, b.vectorArguments(b.sql(args), args, isVector, isType(columnar.Float32))
}

func badDegree(name string, degree float32) error {
	return sparkerr.New("INVALID_VECTOR_NORM_DEGREE", "for the `%s` function, degree must be 1.0, 2.0, or float('inf'), but got %v", name, degree)
}

func bindVectorNorm(b *Binder, args []Expr) (Expr, error) {
	args, err := b.normArguments(args)
	if err != nil {
		return nil, err
	}
	name := b.name()
	e := simple(name, args, columnar.Float32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		out, valid := make([]float32, n), columnar.NewBitmap(n)
		for i := range n {
			if a[0].null(i) || a[1].null(i) {
				continue
			}
			degree := columnar.Values[float32](a[1].Column)[a[1].row(i)]
			x, whole := vectorAt(a[0], i)
			var ok bool
			if out[i], ok = vectorNorm(x, degree); !ok {
				return nil, badDegree(name, degree)
			}
			if whole {
				valid.Set(i)
			}
		}
		return columnar.NewFixed(columnar.Float32, out, valid), nil
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindVectorNormalize(b *Binder, args []Expr) (Expr, error) {
	args, err := b.normArguments(args)
	if err != nil {
		return nil, err
	}
	name, typ := b.name(), columnar.ArrayOf(columnar.Float32, true)
	e := simple(name, args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		off, valid := make([]int32, n+1), columnar.NewBitmap(n)
		var out []float32
		for i := range n {
			if !a[0].null(i) && !a[1].null(i) {
				degree := columnar.Values[float32](a[1].Column)[a[1].row(i)]
				x, whole := vectorAt(a[0], i)
				length, known := vectorNorm(x, degree)
				if !known {
					return nil, badDegree(name, degree)
				}
				if whole && (length != 0 || len(x) == 0) {
					for _, v := range x {
						out = append(out, v/length)
					}
					valid.Set(i)
				}
			}
			off[i+1] = int32(len(out))
		}
		return &columnar.Column{Type: typ, Len: n, Valid: valid, Offsets: off, Children: []*columnar.Column{columnar.NewFixed(columnar.Float32, out, nil)}}, nil
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

func bindVectorAggregate(mean bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		if err := b.vectorArguments(b.sql(args), args, isVector); err != nil {
			return nil, err
		}
		name, typ := b.name(), columnar.ArrayOf(columnar.Float32, true)
		state := []columnar.Field{field("vector", columnar.ArrayOf(columnar.Float32, false), false), field("count", columnar.Int64, false)}
		return b.aggregate(args, typ, true, state, func(*Context) Accumulator { return &vectorAcc{name: name, typ: typ, mean: mean} }), nil
	}
}

// vectorAcc adds vectors up, or keeps their mean as Spark does: each one moves it by its share.
type vectorAcc struct {
	name   string
	typ    *columnar.Type
	mean   bool
	vector [][]float32
	count  []int64
}

// Grow implements Accumulator.
func (a *vectorAcc) Grow(n int) { a.vector, a.count = growTo(a.vector, n), growTo(a.count, n) }

// add takes a vector that stands for n.
func (a *vectorAcc) add(g uint32, x []float32, n int64) error {
	switch {
	case n == 0:
		return nil
	case a.count[g] == 0:
		a.vector[g] = append(a.vector[g][:0], x...)
	case len(a.vector[g]) != len(x):
		return dimensionMismatch(a.name, len(a.vector[g]), len(x))
	case a.mean:
		share := float32(n) / float32(a.count[g]+n)
		for i, v := range x {
			a.vector[g][i] += float32((v - a.vector[g][i]) * share)
		}
	default:
		for i, v := range x {
			a.vector[g][i] += v
		}
	}
	a.count[g] += n
	return nil
}

// Update implements Accumulator.
func (a *vectorAcc) Update(group []uint32, args []*columnar.Column) error {
	v := vec{args[0], false}
	for i, g := range group {
		if x, ok := vectorAt(v, i); ok {
			if err := a.add(g, x, 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Merge implements Accumulator.
func (a *vectorAcc) Merge(group []uint32, state []*columnar.Column) error {
	v, n := vec{state[0], false}, columnar.Values[int64](state[1])
	for i, g := range group {
		x, _ := vectorAt(v, i)
		if err := a.add(g, x, n[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *vectorAcc) column(typ *columnar.Type, nulls bool) *columnar.Column {
	b := columnar.NewBuilder(typ, len(a.vector))
	for g, v := range a.vector {
		if nulls && a.count[g] == 0 {
			b.AppendNull()
			continue
		}
		for _, x := range v {
			b.Child(0).AppendFloat(float64(x))
		}
		b.AppendNested()
	}
	return b.Finish()
}

// State implements Accumulator.
func (a *vectorAcc) State() ([]*columnar.Column, error) {
	n := append([]int64(nil), a.count...)
	return []*columnar.Column{a.column(columnar.ArrayOf(columnar.Float32, false), false), columnar.NewFixed(columnar.Int64, n, nil)}, nil
}

// Result implements Accumulator.
func (a *vectorAcc) Result() (*columnar.Column, error) { return a.column(a.typ, true), nil }

// Reset implements Accumulator.
func (a *vectorAcc) Reset() { a.vector, a.count = resetSlice(a.vector), resetSlice(a.count) }
