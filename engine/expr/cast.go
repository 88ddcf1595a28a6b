package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// CastMode says what a cast makes of a value that the target type cannot hold.
type CastMode uint8

const (
	CastANSI   CastMode = iota // an error
	CastLegacy                 // null, or a wrapped number
	CastTry                    // null
)

// Cast converts a value to another type.
type Cast struct {
	Child    Expr
	To       *columnar.Type
	Mode     CastMode
	Implicit bool // inserted by coercion: not printed
}

// NewCast is e cast to t; the caller knows that the types can be cast. An implicit cast does not
// show in SQL.
func NewCast(e Expr, t *columnar.Type, mode CastMode, implicit bool) Expr {
	return &Cast{e, t, mode, implicit}
}

// ExplicitCast is CAST(e AS t), or TRY_CAST; it reports types between which there is no cast.
func ExplicitCast(b *Binder, e Expr, t *columnar.Type, try bool) (Expr, error) {
	return b.Cast(e, t, try)
}

func (b *Binder) cast(e Expr, t *columnar.Type, try bool) (Expr, error) {
	c := &Cast{Child: e, To: t, Mode: b.castMode()}
	if try {
		c.Mode = CastTry
	}
	if err := checkCast(c); err != nil {
		return nil, err
	}
	return c, nil
}

// Type implements Expr.
func (c *Cast) Type() *columnar.Type { return c.To }

// Nullable implements Expr.
func (c *Cast) Nullable() bool {
	// Spark goes by what the cast without ANSI may fail at, whatever the mode.
	return c.Child.Nullable() || forceNullable(c.Child.Type(), c.To, CastLegacy) || c.Mode == CastTry && !c.harmless()
}

// Children implements Expr.
func (c *Cast) Children() []Expr { return []Expr{c.Child} }

// WithChildren implements Expr.
func (c *Cast) WithChildren(k []Expr) Expr { return &Cast{k[0], c.To, c.Mode, c.Implicit} }

// SQL implements Expr. Casts to nested types are not printed, as in Spark.
func (c *Cast) SQL() string {
	if c.Implicit || c.To.IsNested() {
		return c.Child.SQL()
	}
	word := "CAST("
	if c.Mode == CastTry {
		word = "TRY_CAST("
	}
	return word + c.Child.SQL() + " AS " + c.To.SQL() + ")"
}

// harmless: casts that cannot fail and cost little.
func (c *Cast) harmless() bool {
	from, to := c.Child.Type(), c.To
	if c.Mode != CastANSI && from.Kind != columnar.KindString {
		return from.Width() > 0 && to.Width() > 0
	}
	switch {
	case from.Kind == columnar.KindNull:
		return true
	case from.IsIntegral() && to.IsIntegral():
		return from.Width() <= to.Width()
	case from.IsNumeric() && to.IsFloating():
		return from.Kind != columnar.KindDecimal
	case from.IsIntegral() && to.Kind == columnar.KindDecimal:
		return decimalHoldsIntegral(to, from)
	case isDatetime(from) && isDatetime(to):
		return true
	}
	return from.Equal(to)
}

// Eval implements Expr.
func (c *Cast) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	if in.Rows == 0 {
		return columnar.NewEmpty(c.To), nil
	}
	v, err := eval(ctx, c.Child, in)
	if err != nil {
		return nil, err
	}
	k := caster{mode: c.Mode, zone: ctx.zone(), now: ctx.BatchTime, constant: v.con}
	out, err := k.column(v.Column, c.To)
	if err != nil {
		return nil, err
	}
	return vec{out, v.con}.full(in.Rows), nil
}

// CastColumn converts a column to a type under the session's settings, as CAST does.
func CastColumn(ctx *Context, c *columnar.Column, to *columnar.Type, mode CastMode) (*columnar.Column, error) {
	k := caster{mode: mode, zone: ctx.zone(), now: ctx.BatchTime}
	return k.column(c, to)
}

// caster converts columns.
type caster struct {
	mode     CastMode
	zone     *javatext.Zone
	now      int64
	constant bool // words such as 'epoch' and 'today' have a meaning
}

// invalid is the error for a text that is no value of the type.
func invalid(text string, from, to *columnar.Type) error {
	if from.Kind == columnar.KindString {
		text = "'" + text + "'"
	}
	return sparkerr.New("CAST_INVALID_INPUT", "the value %s of the type \"%s\" cannot be cast to \"%s\" because it is malformed; use `try_cast` to get NULL instead", text, from.SQL(), to.SQL())
}

// castOverflow is the error for a number that the type cannot hold.
func castOverflow(text string, from, to *columnar.Type) error {
	return sparkerr.New("CAST_OVERFLOW", "the value %s of the type \"%s\" cannot be cast to \"%s\" due to an overflow; use `try_cast` to get NULL instead", text, from.SQL(), to.SQL())
}

// canCast tells whether there is a cast between types in a mode.
func canCast(from, to *columnar.Type, mode CastMode) bool {
	legacy := mode == CastLegacy
	f, t := from.Kind, to.Kind
	interval := func(k columnar.Kind) bool { return k == columnar.KindYearMonth || k == columnar.KindDayTime }
	stamp := func(k columnar.Kind) bool { return k == columnar.KindTimestamp || k == columnar.KindTimestampNTZ }
	switch {
	case from.Equal(to), f == columnar.KindNull, t == columnar.KindString:
		return true
	case t == columnar.KindVariant:
		return variantTarget(from, false)
	case t == columnar.KindNull:
		return false
	case f == columnar.KindString:
		return isAtomic(to) || t == columnar.KindCalendar
	case f == columnar.KindVariant:
		return variantTarget(to, true)
	case f == columnar.KindArray && t == f:
		return canCast(from.Elem, to.Elem, mode)
	case f == columnar.KindMap && t == f:
		return canCast(from.Key, to.Key, mode) && !(mode == CastLegacy && forceNullable(from.Key, to.Key, mode)) && canCast(from.Elem, to.Elem, mode)
	case f == columnar.KindStruct && t == f:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			if !canCast(from.Fields[i].Type, to.Fields[i].Type, mode) {
				return false
			}
		}
		return true
	case from.IsNumeric() && to.IsNumeric():
		return true
	case t == columnar.KindBool:
		return from.IsNumeric() || legacy && (f == columnar.KindDate || f == columnar.KindTimestamp)
	case f == columnar.KindBool:
		return to.IsNumeric() || legacy && t == columnar.KindTimestamp
	case isDatetime(from) && isDatetime(to):
		return true
	case stamp(f) && t == columnar.KindTime || f == columnar.KindTime && t == columnar.KindTime:
		return true
	case f == columnar.KindTime && to.IsNumeric():
		return true
	case from.IsNumeric() && t == columnar.KindTimestamp, f == columnar.KindTimestamp && to.IsNumeric():
		return true
	case legacy && f == columnar.KindDate && to.IsNumeric():
		return true
	case legacy && from.IsIntegral() && t == columnar.KindBinary:
		return true
	case interval(f) && t == f:
		return true
	case interval(f) && (to.IsIntegral() || t == columnar.KindDecimal):
		return true
	case (from.IsIntegral() || f == columnar.KindDecimal) && interval(t):
		return true // in units of the last field
	}
	return false
}

// checkCast reports a cast that there is not.
func checkCast(c *Cast) error {
	from, to := c.Child.Type(), c.To
	if canCast(from, to, c.Mode) {
		return nil
	}
	sub, hint := "CAST_WITHOUT_SUGGESTION", ""
	if c.Mode != CastLegacy {
		switch {
		case from.IsNumeric() && to.Kind == columnar.KindDate:
			sub, hint = "CAST_WITH_FUNC_SUGGESTION", "; use `DATE_FROM_UNIX_DATE` instead"
		case from.Kind == columnar.KindDate && to.IsNumeric():
			sub, hint = "CAST_WITH_FUNC_SUGGESTION", "; use `UNIX_DATE` instead"
		case c.Mode == CastANSI && canCast(from, to, CastLegacy):
			sub, hint = "CAST_WITH_CONF_SUGGESTION", " with ANSI mode on; it works with `ansi: false`"
		}
	}
	return mismatch(sub, c.SQL(), "cannot cast \"%s\" to \"%s\"%s", from.SQL(), to.SQL(), hint)
}

// forceNullable tells whether a cast can give null for a value that is not.
func forceNullable(from, to *columnar.Type, mode CastMode) bool {
	f, t := from.Kind, to.Kind
	if mode == CastTry {
		return true
	}
	switch {
	case f == columnar.KindNull, from.Equal(to):
		return false
	case f == columnar.KindVariant:
		return true // the null of JSON
	case f == columnar.KindString && (t == columnar.KindBinary || t == columnar.KindString):
		return false
	case f == columnar.KindString:
		return mode != CastANSI
	case t == columnar.KindString:
		return false
	case from.IsFloating() && t == columnar.KindDecimal:
		return true // NaN
	case mode == CastANSI:
		return false
	case (f == columnar.KindTimestamp || f == columnar.KindTime) && (t == columnar.KindInt8 || t == columnar.KindInt16 || t == columnar.KindInt32):
		return true
	case from.IsFloating() && t == columnar.KindTimestamp:
		return true
	case isDatetime(from) && isDatetime(to):
		return false
	case t == columnar.KindDate, f == columnar.KindDate, t == columnar.KindCalendar:
		return true
	case t == columnar.KindDecimal:
		return !(from.IsIntegral() && decimalHoldsIntegral(to, from) || f == columnar.KindDecimal && to.Precision-to.Scale >= from.Precision-from.Scale && to.Scale >= from.Scale)
	case (from.IsFloating() || f == columnar.KindDecimal) && to.IsIntegral():
		return true
	}
	return false
}

// castAlias registers a type's name as a function, e.g. int(expr).
func castAlias(name string, t *columnar.Type) *Function {
	return &Function{
		Name: name, Family: "conversion", Signature: name + "(expr)", Doc: "The argument cast to " + t.SQL() + ".",
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			if err := b.argCount(args, 1, 1); err != nil {
				return nil, err
			}
			e, err := b.cast(args[0], t, false)
			if err != nil {
				return nil, err
			}
			return &Cast{args[0], t, e.(*Cast).Mode, true}, nil
		},
	}
}

func castFunctions() []*Function {
	return []*Function{
		castAlias("boolean", columnar.Bool),
		castAlias("tinyint", columnar.Int8),
		castAlias("smallint", columnar.Int16),
		castAlias("int", columnar.Int32),
		castAlias("bigint", columnar.Int64),
		castAlias("float", columnar.Float32),
		castAlias("double", columnar.Float64),
		castAlias("decimal", columnar.Decimal(10, 0)),
		castAlias("date", columnar.Date),
		castAlias("timestamp", columnar.Timestamp),
		castAlias("time", columnar.Time),
		castAlias("binary", columnar.Binary),
		castAlias("string", columnar.String),
	}
}
