package expr

import (
	"math"
	"strconv"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// mathMethods are the static methods of java.lang.Math that reflect calls, by name: of whole numbers and of doubles, each
// with one or two parameters. Another class needs a JVM; a Wasm module does what such a call was for.
var mathMethods = map[string]struct {
	long1   func(x int64) int64
	long2   func(x, y int64) int64
	double1 func(x float64) float64
	double2 func(x, y float64) float64
}{
	"abs":   {long1: func(x int64) int64 { return max(x, -x) }, double1: math.Abs},
	"max":   {long2: func(x, y int64) int64 { return max(x, y) }, double2: math.Max},
	"min":   {long2: func(x, y int64) int64 { return min(x, y) }, double2: math.Min},
	"ceil":  {double1: math.Ceil},
	"floor": {double1: math.Floor},
	"rint":  {double1: math.RoundToEven},
	"sqrt":  {double1: math.Sqrt},
}

// reflected is a call of a method on the values of a row.
type reflected func(a []vec, i int) string

// reflectedMethod finds the method for arguments of these types; ok is false when there is none.
func reflectedMethod(method string, types []*columnar.Type) (f reflected, ok bool) {
	m, known := mathMethods[method]
	if !known || len(types) == 0 || len(types) > 2 {
		return nil, false
	}
	kind := types[0].Kind
	for _, t := range types {
		if t.Kind != kind {
			return nil, false
		}
	}
	switch {
	case kind == columnar.KindInt32 && len(types) == 1 && m.long1 != nil:
		return func(a []vec, i int) string { return strconv.Itoa(int(int32(m.long1(int64(i32(a[0], i)))))) }, true
	case kind == columnar.KindInt32 && len(types) == 2 && m.long2 != nil:
		return func(a []vec, i int) string {
			return strconv.FormatInt(m.long2(int64(i32(a[0], i)), int64(i32(a[1], i))), 10)
		}, true
	case kind == columnar.KindInt64 && len(types) == 1 && m.long1 != nil:
		return func(a []vec, i int) string { return strconv.FormatInt(m.long1(i64(a[0], i)), 10) }, true
	case kind == columnar.KindInt64 && len(types) == 2 && m.long2 != nil:
		return func(a []vec, i int) string { return strconv.FormatInt(m.long2(i64(a[0], i), i64(a[1], i)), 10) }, true
	case kind == columnar.KindFloat64 && len(types) == 1 && m.double1 != nil:
		return func(a []vec, i int) string { return javatext.DoubleString(m.double1(double(a[0], i))) }, true
	case kind == columnar.KindFloat64 && len(types) == 2 && m.double2 != nil:
		return func(a []vec, i int) string { return javatext.DoubleString(m.double2(double(a[0], i), double(a[1], i))) }, true
	}
	return nil, false
}

func double(v vec, i int) float64 { return columnar.Values[float64](v.Column)[v.row(i)] }

// bindReflect binds reflect(class, method, args…) and its relatives. These methods cannot fail, so try_reflect is the same.
func bindReflect(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 4); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	var names [2]string
	for i, name := range []string{"class", "method"} {
		v, err := b.constant(sql, args, i, isString, name)
		if err != nil {
			return nil, err
		}
		names[i], _ = v.(string)
	}
	if names[0] != "java.lang.Math" {
		return nil, mismatch("UNEXPECTED_CLASS_TYPE", sql, "class %s not found: there is no JVM here, and only java.lang.Math can be called; write a Wasm function for others", names[0])
	}
	rest := args[2:]
	types := make([]*columnar.Type, len(rest))
	for i, a := range rest {
		types[i] = a.Type()
	}
	f, ok := reflectedMethod(names[1], types)
	if !ok {
		return nil, mismatch("UNEXPECTED_STATIC_METHOD", sql, "cannot find a static method %s that matches the argument types in %s", names[1], names[0])
	}
	e := simple(b.name(), rest, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			w.AppendString(f(a, i))
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	e.text = func([]Expr) string { return sql }
	return e, nil
}

func reflectFunctions() []*Function {
	f := func(name, doc, example string, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: "misc", Signature: name + "(class, method[, args…])", Doc: doc, Example: example, Bind: bindReflect}
	}
	return []*Function{
		f("reflect", "The result, as a text, of a static method of java.lang.Math: abs, max, min, ceil, floor, rint or sqrt.", "SELECT reflect('java.lang.Math', 'max', 1, 2) → 2", "java_method"),
		f("try_reflect", "The same, NULL where that fails.", "SELECT try_reflect('java.lang.Math', 'abs', -1) → 1"),
	}
}
