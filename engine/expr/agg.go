package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// aggregate is a bound call of a built-in aggregate function.
type aggregate struct {
	name  string
	call  AggCall
	typ   *columnar.Type
	null  bool
	state []columnar.Field
	order bool // the result depends on the order of rows
	make  func(ctx *Context) Accumulator
	ident string                                  // what two calls that print alike differ in
	text  func(args []Expr, distinct bool) string // prints the call without FILTER; nil: name(DISTINCT args…)
}

// aggBinder begins a call of an aggregate function: what the call was written with is taken over.
func (b *Binder) aggregate(args []Expr, typ *columnar.Type, null bool, state []columnar.Field, make func(ctx *Context) Accumulator) *aggregate {
	return &aggregate{
		name: b.name(), typ: typ, null: null, state: state, make: make,
		call: AggCall{Args: args, Filter: b.Call.Filter, Distinct: b.Call.Distinct, Order: b.Call.Order},
	}
}

// Identity tells calls apart that print alike, such as first(a) and first(a, true).
func (a *aggregate) Identity() string { return a.ident }

// Name implements Aggregate.
func (a *aggregate) Name() string { return a.name }

// State implements Aggregate.
func (a *aggregate) State() []columnar.Field { return a.state }

// New implements Aggregate.
func (a *aggregate) New(ctx *Context) Accumulator { return a.make(ctx) }

// OrderSensitive implements Aggregate.
func (a *aggregate) OrderSensitive() bool { return a.order }

// Call implements Aggregate.
func (a *aggregate) Call() *AggCall { return &a.call }

// Type implements Expr.
func (a *aggregate) Type() *columnar.Type { return a.typ }

// Nullable implements Expr.
func (a *aggregate) Nullable() bool { return a.null }

// Children implements Expr: the arguments, the keys of the order, the filter.
func (a *aggregate) Children() []Expr { return a.call.children() }

// WithChildren implements Expr.
func (a *aggregate) WithChildren(c []Expr) Expr {
	out := *a
	out.call = a.call.with(c)
	return &out
}

// SQL implements Expr.
func (a *aggregate) SQL() string {
	s := ""
	if a.text != nil {
		s = a.text(a.call.Args, a.call.Distinct)
	} else {
		s = aggSQL(a.name, a.call.Args, a.call.Distinct)
	}
	if a.call.Filter != nil {
		s += " FILTER (WHERE " + a.call.Filter.SQL() + ")"
	}
	return s
}

func aggSQL(name string, args []Expr, distinct bool) string {
	s := sqlCall(name, args)
	if distinct {
		s = strings.Replace(s, "(", "(DISTINCT ", 1)
	}
	return s
}

// Eval implements Expr; an aggregate has no value of its own per row.
func (a *aggregate) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(a.SQL())
}

// children lists the expressions of a call.
func (c *AggCall) children() []Expr {
	out := make([]Expr, 0, len(c.Args)+len(c.Order)+1)
	out = append(out, c.Args...)
	for _, o := range c.Order {
		out = append(out, o.Expr)
	}
	if c.Filter != nil {
		out = append(out, c.Filter)
	}
	return out
}

// with is the call over other expressions, as children lists them.
func (c *AggCall) with(kids []Expr) AggCall {
	out := *c
	out.Args = kids[:len(c.Args):len(c.Args)]
	kids = kids[len(c.Args):]
	out.Order = append([]SortKey(nil), c.Order...)
	for i := range out.Order {
		out.Order[i].Expr = kids[i]
	}
	if c.Filter != nil {
		out.Filter = kids[len(c.Order)]
	}
	return out
}

// WithFilter is the aggregate call a with another FILTER condition; nil removes it.
func WithFilter(a Aggregate, cond Expr) Expr {
	switch x := a.(type) {
	case *aggregate:
		out := *x
		out.call.Filter = cond
		return &out
	case *moduleAggregate:
		out := *x
		out.call.Filter = cond
		return &out
	}
	return a
}

// growTo extends a slice to n elements with zero values.
func growTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n]
	}
	out := make([]T, n, max(n, 2*cap(s)))
	copy(out, s)
	return out
}

// resetSlice empties a slice and keeps its memory zeroed for growTo.
func resetSlice[T any](s []T) []T {
	clear(s[:cap(s)])
	return s[:0]
}

// seenBitmap turns flags into a null bitmap, nil when all are set.
func seenBitmap(seen []bool) columnar.Bitmap {
	var b columnar.Bitmap
	for i, s := range seen {
		if !s {
			if b == nil {
				b = columnar.NewBitmapSet(len(seen))
			}
			b.Clear(i)
		}
	}
	return b
}

// copied is a copy of a slice, since columns must not share an accumulator's memory.
func copied[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// field is an entry of an aggregate's state.
func field(name string, t *columnar.Type, nullable bool) columnar.Field {
	return columnar.Field{Name: name, Type: t, Nullable: nullable}
}

// doubleArgs casts arguments to DOUBLE.
func (b *Binder) doubleArgs(args []Expr, n int) ([]Expr, error) {
	if err := b.argCount(args, n, n); err != nil {
		return nil, err
	}
	return b.coerce(args, isDouble)
}

// nonFoldable is the error for a parameter that must be constant.
func nonFoldable(sql, input string, e Expr) error {
	return mismatch("NON_FOLDABLE_INPUT", sql, "the input `%s` should be a foldable \"%s\" expression, however got \"%s\"", input, e.Type().SQL(), e.SQL())
}

// orderingType checks that values can be ordered.
func (b *Binder) orderingType(args []Expr, t *columnar.Type) error {
	if !isOrderable(t) {
		return mismatch("INVALID_ORDERING_TYPE", b.sql(args), "the `%s` does not support ordering on type \"%s\"", b.name(), t.SQL())
	}
	return nil
}

// flag reads a constant boolean parameter.
func (b *Binder) flag(e Expr) (bool, error) {
	v, ok, err := b.foldable(e)
	if err != nil {
		return false, err
	}
	f, is := v.(bool)
	if !ok || !is {
		return false, unexpectedInput(b.name(), 1, `"BOOLEAN"`, e)
	}
	return f, nil
}

func aggregateFunctions() []*Function {
	const family = "aggregate"
	f := func(name, sig, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: family, Signature: sig, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("count", "count(*), count([DISTINCT] expr, …)", "The number of rows, or of rows whose arguments are all not NULL.", "SELECT count(a) FROM VALUES (1), (NULL) t(a) → 1", bindCount),
		f("count_if", "count_if(cond)", "The number of rows whose condition is true.", "SELECT count_if(a > 1) FROM VALUES (1), (2) t(a) → 1", bindCountIf),
		f("sum", "sum(expr)", "The sum of the values: BIGINT of integers, DOUBLE of floating numbers, ten digits more of decimals.", "SELECT sum(a) FROM VALUES (1), (2) t(a) → 3", bindSum(false)),
		f("try_sum", "try_sum(expr)", "As sum, but NULL on overflow.", "SELECT try_sum(a) FROM VALUES (1), (2) t(a) → 3", bindSum(true)),
		f("avg", "avg(expr)", "The mean of the values.", "SELECT avg(a) FROM VALUES (1), (2) t(a) → 1.5", bindAvg(false), "mean"),
		f("try_avg", "try_avg(expr)", "As avg, but NULL on overflow.", "SELECT try_avg(a) FROM VALUES (1), (2) t(a) → 1.5", bindAvg(true)),
		f("min", "min(expr)", "The least value.", "SELECT min(a) FROM VALUES (1), (2) t(a) → 1", bindMinMax(false)),
		f("max", "max(expr)", "The greatest value.", "SELECT max(a) FROM VALUES (1), (2) t(a) → 2", bindMinMax(true)),
		f("min_by", "min_by(expr, ord[, k])", "The value of expr in the row with the least ord; with k an array of the first k.", "SELECT min_by(a, b) FROM VALUES ('x', 2), ('y', 1) t(a, b) → y", bindBy(false)),
		f("max_by", "max_by(expr, ord[, k])", "The value of expr in the row with the greatest ord; with k an array of the first k.", "SELECT max_by(a, b) FROM VALUES ('x', 2), ('y', 1) t(a, b) → x", bindBy(true)),
		f("first", "first(expr[, ignoreNulls])", "The first value.", "SELECT first(a) FROM VALUES (1), (2) t(a) → 1", bindFirstLast(false), "first_value"),
		f("last", "last(expr[, ignoreNulls])", "The last value.", "SELECT last(a) FROM VALUES (1), (2) t(a) → 2", bindFirstLast(true), "last_value"),
		f("any_value", "any_value(expr[, ignoreNulls])", "Some value.", "SELECT any_value(a) FROM VALUES (1), (1) t(a) → 1", bindFirstLast(false)),
		f("bool_and", "bool_and(expr)", "Whether all values are true.", "SELECT bool_and(a) FROM VALUES (true), (false) t(a) → false", bindBoolAgg(true), "every"),
		f("bool_or", "bool_or(expr)", "Whether a value is true.", "SELECT bool_or(a) FROM VALUES (true), (false) t(a) → true", bindBoolAgg(false), "some", "any"),
		f("bit_and", "bit_and(expr)", "The bitwise and of the values.", "SELECT bit_and(a) FROM VALUES (3), (5) t(a) → 1", bindBitAgg("and")),
		f("bit_or", "bit_or(expr)", "The bitwise or of the values.", "SELECT bit_or(a) FROM VALUES (3), (5) t(a) → 7", bindBitAgg("or")),
		f("bit_xor", "bit_xor(expr)", "The bitwise exclusive or of the values.", "SELECT bit_xor(a) FROM VALUES (3), (5) t(a) → 6", bindBitAgg("xor")),
		f("stddev_samp", "stddev(expr)", "The sample standard deviation.", "SELECT stddev(a) FROM VALUES (1), (2), (3) t(a) → 1.0", bindMoment("stddev_samp"), "stddev", "std"),
		f("stddev_pop", "stddev_pop(expr)", "The population standard deviation.", "SELECT stddev_pop(a) FROM VALUES (1), (3) t(a) → 1.0", bindMoment("stddev_pop")),
		f("var_samp", "variance(expr)", "The sample variance.", "SELECT variance(a) FROM VALUES (1), (2), (3) t(a) → 1.0", bindMoment("var_samp"), "variance"),
		f("var_pop", "var_pop(expr)", "The population variance.", "SELECT var_pop(a) FROM VALUES (1), (3) t(a) → 1.0", bindMoment("var_pop")),
		f("skewness", "skewness(expr)", "The skewness of the values.", "SELECT skewness(a) FROM VALUES (1), (2), (3) t(a) → 0.0", bindMoment("skewness")),
		f("kurtosis", "kurtosis(expr)", "The excess kurtosis of the values.", "SELECT kurtosis(a) FROM VALUES (1), (2) t(a) → -2.0", bindMoment("kurtosis")),
		f("covar_pop", "covar_pop(y, x)", "The population covariance.", "SELECT covar_pop(a, a) FROM VALUES (1), (3) t(a) → 1.0", bindPair("covar_pop")),
		f("covar_samp", "covar_samp(y, x)", "The sample covariance.", "SELECT covar_samp(a, a) FROM VALUES (1), (3) t(a) → 2.0", bindPair("covar_samp")),
		f("corr", "corr(y, x)", "The Pearson correlation.", "SELECT corr(a, a) FROM VALUES (1), (3) t(a) → 1.0", bindPair("corr")),
		f("regr_count", "regr_count(y, x)", "The number of rows where neither is NULL.", "SELECT regr_count(a, a) FROM VALUES (1), (NULL) t(a) → 1", bindPair("regr_count")),
		f("regr_avgx", "regr_avgx(y, x)", "The mean of x over rows where neither is NULL.", "", bindPair("regr_avgx")),
		f("regr_avgy", "regr_avgy(y, x)", "The mean of y over rows where neither is NULL.", "", bindPair("regr_avgy")),
		f("regr_sxx", "regr_sxx(y, x)", "The sum of squared deviations of x.", "", bindPair("regr_sxx")),
		f("regr_syy", "regr_syy(y, x)", "The sum of squared deviations of y.", "", bindPair("regr_syy")),
		f("regr_sxy", "regr_sxy(y, x)", "The sum of products of deviations.", "", bindPair("regr_sxy")),
		f("regr_slope", "regr_slope(y, x)", "The slope of the linear regression.", "", bindPair("regr_slope")),
		f("regr_intercept", "regr_intercept(y, x)", "The intercept of the linear regression.", "", bindPair("regr_intercept")),
		f("regr_r2", "regr_r2(y, x)", "The coefficient of determination.", "", bindPair("regr_r2")),
		f("collect_list", "collect_list(expr)", "The values that are not NULL, as an array.", "SELECT collect_list(a) FROM VALUES (1), (1) t(a) → [1,1]", bindCollect(false), "array_agg"),
		f("collect_set", "collect_set(expr)", "The different values that are not NULL, as an array.", "SELECT collect_set(a) FROM VALUES (1), (1) t(a) → [1]", bindCollect(true)),
		f("listagg", "listagg(expr[, delimiter])", "The values joined to one string.", "SELECT listagg(a, ',') FROM VALUES ('x'), ('y') t(a) → x,y", bindListagg, "string_agg"),
		f("approx_count_distinct", "approx_count_distinct(expr[, relativeSD])", "The approximate number of different values, by HyperLogLog++.", "SELECT approx_count_distinct(a) FROM VALUES (1), (1) t(a) → 1", bindApproxCount),
		f("percentile", "percentile(expr, percentage[, frequency])", "The exact percentile, interpolated.", "SELECT percentile(a, 0.5) FROM VALUES (0), (10) t(a) → 5.0", bindPercentile),
		f("percentile_cont", "percentile_cont(percentage) WITHIN GROUP (ORDER BY expr)", "The exact percentile, interpolated.", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM VALUES (0), (10) t(a) → 5.0", bindPercentileWithin(false)),
		f("percentile_disc", "percentile_disc(percentage) WITHIN GROUP (ORDER BY expr)", "The exact percentile as one of the values.", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM VALUES (0), (10) t(a) → 0.0", bindPercentileWithin(true)),
		f("median", "median(expr)", "The median.", "SELECT median(a) FROM VALUES (0), (10) t(a) → 5.0", bindMedian),
		f("percentile_approx", "percentile_approx(expr, percentage[, accuracy])", "The approximate percentile, one of the values.", "SELECT percentile_approx(a, 0.5) FROM VALUES (0), (10) t(a) → 0", bindPercentileApprox, "approx_percentile"),
		f("mode", "mode(expr[, deterministic])", "The most frequent value.", "SELECT mode(a) FROM VALUES (1), (1), (2) t(a) → 1", bindMode),
		f("histogram_numeric", "histogram_numeric(expr, bins)", "A histogram of at most bins bins, as an array of x and y.", "SELECT histogram_numeric(a, 5) FROM VALUES (0), (1) t(a)", bindHistogram),
	}
}

// aggOverflow is the error of a sum that leaves its type.
func aggOverflow(what, hint string) error {
	return sparkerr.New("ARITHMETIC_OVERFLOW", "overflow in %s; use `%s` to get NULL instead", what, hint)
}
