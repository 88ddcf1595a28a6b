package plan

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// binder makes a binder with the session's settings; at gives errors their place.
func (a *Analyzer) binder(at sql.Node) *expr.Binder {
	b := &expr.Binder{ANSI: a.Settings.ANSI, Zone: a.Settings.Zone, Dir: a.Settings.Dir, Registry: a.Registry}
	if at != nil {
		p := at.At()
		b.Call.Line, b.Call.Col = p.Line, p.Col
	}
	return b
}

func (a *Analyzer) implicitCast(e expr.Expr, t *columnar.Type) expr.Expr {
	return a.binder(nil).Implicit(e, t)
}

// constant evaluates a constant expression.
func (a *Analyzer) constant(e expr.Expr) (columnar.Datum, error) {
	if l, ok := e.(*expr.Literal); ok {
		return l.Value, nil
	}
	c, err := e.Eval(a.constContext(), columnar.NewBatch(columnar.NewSchema(), nil, 1))
	if err != nil {
		return nil, err
	}
	return c.Datum(0), nil
}

// expr resolves an expression in a scope.
func (a *Analyzer) expr(x sql.Expr, s *scope) (expr.Expr, error) {
	switch x := x.(type) {
	case *sql.Column:
		e, err := a.column(s, x.Parts)
		if err != nil {
			return nil, err
		}
		if e == nil && len(x.Parts) == 1 && bareFunction(x.Parts[0]) {
			return a.callExpr(&sql.Call{Span: x.Span, Name: x.Parts}, s)
		}
		if e == nil {
			return nil, unknownColumn(s, x.Parts)
		}
		return e, nil
	case *sql.NullLit, *sql.BoolLit, *sql.NumberLit, *sql.StringLit, *sql.BinaryLit, *sql.TypedLit, *sql.IntervalLit:
		return a.literal(x)
	case *sql.FieldAccess:
		base, err := a.expr(x.Base, s)
		if err != nil {
			return nil, err
		}
		e, err := a.binder(x).GetField(unalias(base), x.Field.Name)
		if err != nil {
			return nil, atPos(err, x.At())
		}
		return e, nil
	case *sql.Subscript:
		args, err := a.exprs([]sql.Expr{x.Base, x.Index}, s)
		if err != nil {
			return nil, err
		}
		e, err := a.binder(x).GetItem(args[0], args[1])
		return at(e, err, x)
	case *sql.PathAccess:
		base, err := a.expr(x.Base, s)
		if err != nil {
			return nil, err
		}
		path := &expr.Literal{Typ: columnar.String, Value: x.Path}
		return a.binder(x).Func("semi_structured_extract", unalias(base), path)
	case *sql.Alias:
		e, err := a.expr(x.X, s)
		if err != nil {
			return nil, err
		}
		if len(x.Names) != 1 {
			return nil, unsupported(x, "several names for one expression here")
		}
		return &expr.Alias{Child: unalias(e), Name: x.Names[0].Name, ID: a.NewID()}, nil
	case *sql.Unary:
		e, err := a.expr(x.X, s)
		if err != nil {
			return nil, err
		}
		switch x.Op {
		case sql.OpNeg:
			e, err = a.binder(x).Negate(unalias(e))
		case sql.OpPos:
			e, err = a.binder(x).Positive(unalias(e))
		default:
			e, err = a.binder(x).Func("~", unalias(e))
		}
		return at(e, err, x)
	case *sql.Binary:
		return a.binary(x, s)
	case *sql.Not:
		e, err := a.expr(x.X, s)
		if err != nil {
			return nil, err
		}
		return a.negate(unalias(e), nil, true, x)
	case *sql.Between:
		args, err := a.exprs([]sql.Expr{x.X, x.Low, x.High}, s)
		if err != nil {
			return nil, err
		}
		e, err := a.binder(x).Between(args[0], args[1], args[2])
		if err != nil {
			return nil, atPos(err, x.At())
		}
		return a.negate(e, nil, x.Not, x)
	case *sql.In:
		if len(x.List) == 0 {
			p := x.At()
			return nil, sparkerr.At(p.Line, p.Col, "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE", "IN predicate requires at least one value. Empty IN clauses like 'IN ()' are not allowed")
		}
		args, err := a.exprs(append([]sql.Expr{x.X}, x.List...), s)
		if err != nil {
			return nil, err
		}
		e, err := a.binder(x).In(args[0], args[1:])
		if err != nil {
			return nil, atPos(err, x.At())
		}
		return a.negate(e, nil, x.Not, x)
	case *sql.InQuery:
		return a.inQuery(x, s)
	case *sql.Exists:
		return a.exists(x, s)
	case *sql.Subquery:
		return a.scalarSubquery(x, s)
	case *sql.LikeExpr:
		return a.like(x, s)
	case *sql.LikeList:
		return a.likeList(x, s)
	case *sql.IsNull:
		e, err := a.expr(x.X, s)
		if err != nil {
			return nil, err
		}
		if x.Not {
			return a.binder(x).IsNotNull(unalias(e)), nil
		}
		return a.binder(x).IsNull(unalias(e)), nil
	case *sql.IsTruth:
		return a.isTruth(x, s)
	case *sql.IsDistinct:
		args, err := a.exprs([]sql.Expr{x.X, x.Y}, s)
		if err != nil {
			return nil, err
		}
		e, err := a.binder(x).Compare("<=>", args[0], args[1])
		if err != nil {
			return nil, atPos(err, x.At())
		}
		return a.negate(e, nil, !x.Not, x)
	case *sql.Cast:
		return a.cast(x, s)
	case *sql.Case:
		return a.caseExpr(x, s)
	case *sql.Row:
		return a.row(x, s)
	case *sql.Call:
		return a.callExpr(x, s)
	case *sql.Collate:
		return a.collate(x, s)
	case *sql.Star:
		p := x.At()
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_USAGE_OF_STAR_OR_REGEX", "invalid usage of '*' in an expression")
	case *sql.Lambda:
		p := x.At()
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION", "a lambda function should only be used in a higher order function")
	}
	return nil, unsupported(x, "this form of expression")
}

// bareFunction tells whether a name without parentheses may be a call: CURRENT_DATE and the like.
func bareFunction(id sql.Ident) bool {
	if id.Quoted {
		return false
	}
	switch strings.ToLower(id.Name) {
	case "current_date", "current_timestamp", "current_time", "current_user", "user", "session_user", "current_catalog", "current_database",
		"current_schema", "current_timezone", "localtimestamp", "grouping__id":
		return true
	}
	return false
}

// exprs resolves several expressions, without the names that they may have.
func (a *Analyzer) exprs(list []sql.Expr, s *scope) ([]expr.Expr, error) {
	out := make([]expr.Expr, len(list))
	for i, x := range list {
		e, err := a.expr(x, s)
		if err != nil {
			return nil, err
		}
		out[i] = unalias(e)
	}
	return out, nil
}

func (a *Analyzer) negate(e expr.Expr, err error, not bool, at sql.Node) (expr.Expr, error) {
	if err != nil || !not {
		return e, err
	}
	n, err := a.binder(at).Not(e)
	if err != nil {
		return nil, atPos(err, at.At())
	}
	return n, nil
}

func (a *Analyzer) binary(x *sql.Binary, s *scope) (expr.Expr, error) {
	args, err := a.exprs([]sql.Expr{x.L, x.R}, s)
	if err != nil {
		return nil, err
	}
	b, l, r := a.binder(x), args[0], args[1]
	var e expr.Expr
	switch x.Op {
	case sql.OpAnd:
		e, err = b.And(l, r)
	case sql.OpOr:
		e, err = b.Or(l, r)
	case sql.OpEq, sql.OpNullEq, sql.OpNe, sql.OpLt, sql.OpLe, sql.OpGt, sql.OpGe:
		e, err = b.Compare(string(x.Op), l, r)
	case sql.OpAdd, sql.OpSub, sql.OpMul, sql.OpDiv, sql.OpMod, sql.OpIntDiv:
		e, err = b.Arithmetic(string(x.Op), l, r)
	default:
		return b.Func(string(x.Op), l, r)
	}
	if err != nil {
		return nil, atPos(err, x.At())
	}
	return e, nil
}

// at gives an error of a binder's method the place of the syntax.
func at(e expr.Expr, err error, n sql.Node) (expr.Expr, error) {
	if err != nil {
		return nil, atPos(err, n.At())
	}
	return e, nil
}

func (a *Analyzer) literal(x sql.Expr) (expr.Expr, error) {
	switch x := x.(type) {
	case *sql.NullLit:
		return &expr.Literal{Typ: columnar.Null}, nil
	case *sql.BoolLit:
		return &expr.Literal{Typ: columnar.Bool, Value: x.Value}, nil
	case *sql.StringLit:
		return &expr.Literal{Typ: columnar.String, Value: x.Value}, nil
	case *sql.BinaryLit:
		return &expr.Literal{Typ: columnar.Binary, Value: x.Value}, nil
	case *sql.IntervalLit:
		start, end := columnar.IntervalField(x.Start), columnar.IntervalField(x.End)
		if x.YearMonth() {
			return &expr.Literal{Typ: columnar.YearMonth(start, end), Value: x.Months}, nil
		}
		return &expr.Literal{Typ: columnar.DayTime(start, end), Value: x.Micros}, nil
	case *sql.NumberLit:
		switch x.Kind {
		case sql.TinyInt:
			return &expr.Literal{Typ: columnar.Int8, Value: int8(x.Int)}, nil
		case sql.SmallInt:
			return &expr.Literal{Typ: columnar.Int16, Value: int16(x.Int)}, nil
		case sql.Int:
			return &expr.Literal{Typ: columnar.Int32, Value: int32(x.Int)}, nil
		case sql.BigInt:
			return &expr.Literal{Typ: columnar.Int64, Value: x.Int}, nil
		case sql.Float:
			return &expr.Literal{Typ: columnar.Float32, Value: float32(x.Float)}, nil
		case sql.Double:
			return &expr.Literal{Typ: columnar.Float64, Value: x.Float}, nil
		}
		d, ok := columnar.Dec128FromBig(x.Unscaled)
		if !ok {
			p := x.At()
			return nil, sparkerr.At(p.Line, p.Col, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "decimal literal %s exceeds max precision 38", x.Text)
		}
		return &expr.Literal{Typ: columnar.Decimal(x.Precision, x.Scale), Value: d}, nil
	case *sql.TypedLit:
		return a.typedLiteral(x)
	}
	return nil, unsupported(x, "this literal")
}

// typedLiteral is date'…', timestamp'…' and the like: a cast of the text that must succeed.
func (a *Analyzer) typedLiteral(x *sql.TypedLit) (expr.Expr, error) {
	p := x.At()
	e, err := expr.TypedLiteral(a.binder(x), x.Type, x.Value)
	if err != nil {
		if sparkerr.Condition(err) != "" {
			return nil, atPos(err, p)
		}
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_TYPED_LITERAL", "the value of the typed literal %q is invalid: '%s'", x.Type, x.Value)
	}
	return e, nil
}

func (a *Analyzer) cast(x *sql.Cast, s *scope) (expr.Expr, error) {
	e, err := a.expr(x.X, s)
	if err != nil {
		return nil, err
	}
	p := x.At()
	t, from := typeOf(x.Type, false), e.Type()
	if t.Kind == columnar.KindBinary && t.Declared != "" && from.Kind != columnar.KindNull && from.Declared != t.Declared {
		return nil, sparkerr.At(p.Line, p.Col, "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "Cannot resolve \"CAST(%s AS %s)\" due to data type mismatch: cannot cast \"%s\" to \"%s\".",
			e.SQL(), t.SQL(), from.SQL(), t.SQL())
	}
	c, err := expr.ExplicitCast(a.binder(x), unalias(e), t, x.Try)
	if err != nil {
		return nil, atPos(err, p)
	}
	return c, nil
}

func (a *Analyzer) caseExpr(x *sql.Case, s *scope) (expr.Expr, error) {
	var operand, els expr.Expr
	if x.Operand != nil {
		o, err := a.expr(x.Operand, s)
		if err != nil {
			return nil, err
		}
		operand = unalias(o)
	}
	var whens []expr.When
	for _, w := range x.Whens {
		args, err := a.exprs([]sql.Expr{w.Cond, w.Then}, s)
		if err != nil {
			return nil, err
		}
		whens = append(whens, expr.When{Cond: args[0], Then: args[1]})
	}
	if x.Else != nil {
		e, err := a.expr(x.Else, s)
		if err != nil {
			return nil, err
		}
		els = unalias(e)
	}
	if operand != nil {
		e, err := a.binder(x).CaseOf(operand, whens, els)
		return at(e, err, x)
	}
	e, err := a.binder(x).Case(whens, els)
	return at(e, err, x)
}

func (a *Analyzer) row(x *sql.Row, s *scope) (expr.Expr, error) {
	args, err := a.exprs(x.Items, s)
	if err != nil {
		return nil, err
	}
	b := a.binder(x)
	b.Call.Name = "row"
	b.Call.ArgAliases = make([]string, len(args))
	for i := range args {
		if al, ok := x.Items[i].(*sql.Alias); ok && len(al.Names) == 1 {
			b.Call.ArgAliases[i] = al.Names[0].Name
		}
	}
	return b.Bind(args)
}

func (a *Analyzer) collate(x *sql.Collate, s *scope) (expr.Expr, error) {
	e, err := a.expr(x.X, s)
	if err != nil {
		return nil, err
	}
	name := x.Collation[len(x.Collation)-1].Name
	return a.binder(x).Func("collate", unalias(e), &expr.Literal{Typ: columnar.String, Value: name})
}

func (a *Analyzer) isTruth(x *sql.IsTruth, s *scope) (expr.Expr, error) {
	e, err := a.expr(x.X, s)
	if err != nil {
		return nil, err
	}
	e, err = a.binder(x).IsTruth(unalias(e), x.Value)
	if err != nil {
		return nil, atPos(err, x.At())
	}
	return a.negate(e, nil, x.Not, x)
}

func (a *Analyzer) like(x *sql.LikeExpr, s *scope) (expr.Expr, error) {
	args, err := a.exprs([]sql.Expr{x.X, x.Pattern}, s)
	if err != nil {
		return nil, err
	}
	if x.Kind != sql.RLike && x.Escape != '\\' {
		args = append(args, &expr.Literal{Typ: columnar.String, Value: string(x.Escape)})
	}
	e, err := a.binder(x).Func(strings.ToLower(string(x.Kind)), args...)
	return a.negate(e, err, x.Not, x)
}

// likeList is x LIKE ANY (…) or ALL (…).
func (a *Analyzer) likeList(x *sql.LikeList, s *scope) (expr.Expr, error) {
	p := x.At()
	if len(x.Patterns) == 0 {
		return nil, sparkerr.At(p.Line, p.Col, "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE", "expected something between '(' and ')'")
	}
	base, err := a.expr(x.X, s)
	if err != nil {
		return nil, err
	}
	var out expr.Expr
	texts := true // all patterns are strings, so that the call prints as one of a list
	for _, pt := range x.Patterns {
		e, err := a.expr(pt, s)
		if err != nil {
			return nil, err
		}
		lit, ok := unalias(e).(*expr.Literal)
		texts = texts && ok && lit.Typ.Kind == columnar.KindString
		l, err := a.binder(x).Func(strings.ToLower(string(x.Kind)), unalias(base), unalias(e))
		if err != nil {
			return nil, err
		}
		if x.Not {
			if l, err = a.binder(x).Func("not", l); err != nil {
				return nil, err
			}
		}
		if out == nil {
			out = l
			continue
		}
		op := "or"
		if x.All {
			op = "and"
		}
		if out, err = a.binder(x).Func(op, out, l); err != nil {
			return nil, err
		}
	}
	if texts && x.Kind == sql.Like {
		name := "like"
		if x.Not {
			name = "notlike"
		}
		if x.All {
			name += "all"
		} else {
			name += "any"
		}
		out = expr.Named(out, name+"("+unalias(base).SQL()+")")
	}
	return out, nil
}

// callExpr resolves a function call.
func (a *Analyzer) callExpr(x *sql.Call, s *scope) (expr.Expr, error) {
	p := x.At()
	name := x.FuncName()
	lower := strings.ToLower(name)
	if len(x.Name) == 2 {
		if m, ok := a.Catalog.Module(x.Name[0].Name); ok {
			return a.moduleCall(m, x, s)
		}
	}
	switch lower {
	case "window", "session_window":
		if x.Over == nil {
			return a.timeWindow(lower, x, s)
		}
	case "window_time":
		return a.windowTime(x, s)
	case "grouping", "grouping_id":
		args, err := a.exprs(x.Args, s)
		if err != nil {
			return nil, err
		}
		if lower == "grouping" && len(args) != 1 {
			return nil, sparkerr.At(p.Line, p.Col, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "the `grouping` requires 1 parameters but the actual number is %d", len(args))
		}
		return &groupingExpr{lower, args}, nil
	}
	if (lower == "timestampadd" || lower == "timestampdiff") && x.Unit == "" {
		// Only with a unit it is the special form; there is no function of that name.
		return nil, sparkerr.At(p.Line, p.Col, "UNRESOLVED_ROUTINE", "there is no function `%s` without a unit; write e.g. %s(HOUR, …)", name, name)
	}
	b := a.binder(x)
	b.Call.Name, b.Call.Distinct, b.Call.Unit = name, x.Distinct, x.Unit
	b.Call.IgnoreNulls, b.Call.RespectNulls = x.Nulls == sql.IgnoreNulls, x.Nulls == sql.RespectNulls
	b.Call.Over = x.Over != nil
	var args []expr.Expr
	for _, arg := range x.Args {
		alias, argName := "", ""
		switch y := arg.(type) {
		case *sql.Star:
			if len(x.Args) == 1 && len(y.Qualifier) == 0 && lower == "count" && !x.Distinct {
				b.Call.Star = true
				continue
			}
			es, err := a.star(y, s, &from{})
			if err != nil {
				return nil, err
			}
			for _, e := range es {
				args = append(args, unalias(e))
				n := ""
				if al, ok := e.(*expr.Alias); ok {
					n = al.Name
				}
				b.Call.ArgAliases = append(b.Call.ArgAliases, n)
				b.Call.ArgNames = append(b.Call.ArgNames, "")
			}
			continue
		case *sql.Lambda:
			l, err := a.lambda(y, s)
			if err != nil {
				return nil, err
			}
			args = append(args, l)
			b.Call.ArgAliases = append(b.Call.ArgAliases, "")
			b.Call.ArgNames = append(b.Call.ArgNames, "")
			continue
		case *sql.NamedArg:
			argName, arg = y.Name.Name, y.Value
			if lam, ok := arg.(*sql.Lambda); ok {
				l, err := a.lambda(lam, s)
				if err != nil {
					return nil, err
				}
				args = append(args, l)
				b.Call.ArgAliases = append(b.Call.ArgAliases, "")
				b.Call.ArgNames = append(b.Call.ArgNames, argName)
				continue
			}
		case *sql.Alias:
			if len(y.Names) == 1 {
				alias = y.Names[0].Name
			}
		}
		e, err := a.expr(arg, s)
		if err != nil {
			return nil, err
		}
		args = append(args, unalias(e))
		b.Call.ArgAliases = append(b.Call.ArgAliases, alias)
		b.Call.ArgNames = append(b.Call.ArgNames, argName)
	}
	if !anySet(b.Call.ArgNames) {
		b.Call.ArgNames = nil
	}
	if !anySet(b.Call.ArgAliases) {
		b.Call.ArgAliases = nil
	}
	if x.Filter != nil {
		f, err := a.expr(x.Filter, s)
		if err != nil {
			return nil, err
		}
		if f, err = a.condition(f, x.Filter, "FILTER"); err != nil {
			return nil, err
		}
		b.Call.Filter = f
	}
	for _, w := range x.Within {
		e, err := a.expr(w.X, s)
		if err != nil {
			return nil, err
		}
		b.Call.Order = append(b.Call.Order, expr.SortKey{Expr: unalias(e), Desc: w.Desc, NullsFirst: w.NullsFirst})
	}
	if x.Keyword && lower == "substr" {
		b.Call.Name = "substring"
	}
	if x.Keyword && len(args) == 2 && strings.HasSuffix(lower, "trim") {
		args[0], args[1] = args[1], args[0] // TRIM(chars FROM text) is trim(chars, text)
	}
	e, err := b.Bind(args)
	if err != nil {
		return nil, err
	}
	if x.Over != nil {
		return a.over(e, x, s)
	}
	if _, agg := e.(expr.Aggregate); !agg && ownFrame(x.FuncName()) {
		if _, ok := e.(expr.WindowFunction); ok {
			p := x.At()
			return nil, sparkerr.At(p.Line, p.Col, "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "window function %s needs an OVER clause", e.SQL())
		}
	}
	return e, nil
}

func anySet(names []string) bool {
	for _, n := range names {
		if n != "" {
			return true
		}
	}
	return false
}

// lambda hands a lambda's body over unresolved: the function that it is an argument of knows the
// types of its parameters.
func (a *Analyzer) lambda(x *sql.Lambda, s *scope) (expr.Expr, error) {
	var names []string
	seen := map[string]bool{}
	for _, p := range x.Params {
		k := strings.ToLower(p.Name)
		if seen[k] {
			at := p.At()
			return nil, sparkerr.At(at.Line, at.Col, "INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES", "the lambda function has duplicate arguments %q. Please, consider to rename the argument names", p.Name)
		}
		seen[k] = true
		names = append(names, p.Name)
	}
	inner := *s
	return &expr.LambdaSource{Params: names, Resolve: func(vars []*expr.LambdaVar) (expr.Expr, error) {
		ls := inner
		ls.lambdas = append([]lambdaParam{}, inner.lambdas...)
		for i, v := range vars {
			ls.lambdas = append(ls.lambdas, lambdaParam{names[i], v})
		}
		e, err := a.expr(x.Body, &ls)
		if err != nil {
			return nil, err
		}
		return unalias(e), nil
	}}, nil
}

// moduleCall is a call of a Wasm scalar or aggregate function by its module's name.
func (a *Analyzer) moduleCall(m udf.Module, x *sql.Call, s *scope) (expr.Expr, error) {
	p := x.At()
	name := x.FuncName()
	var names []string
	for _, f := range m.Functions() {
		names = append(names, f.Name)
		if !strings.EqualFold(f.Name, name) {
			continue
		}
		args, err := a.exprs(x.Args, s)
		if err != nil {
			return nil, err
		}
		switch f.Kind {
		case udf.Scalar, udf.Aggregate:
			return a.bindModuleCall(m, f, args, p)
		}
		return nil, sparkerr.At(p.Line, p.Col, "UNRESOLVED_ROUTINE", "function %q of module %q is of kind %s, which is a step of a view; SQL calls scalar and aggregate functions", f.Name, m.Name(), f.Kind)
	}
	e := sparkerr.At(p.Line, p.Col, "UNRESOLVED_ROUTINE", "module %q has no function %q; it has: %s", m.Name(), name, strings.Join(names, ", "))
	if near := Nearest(name, names, 1); len(near) > 0 {
		e.WithSuggestion(near[0])
	}
	return nil, e
}

func typeOfString() *columnar.Type { return columnar.String }
