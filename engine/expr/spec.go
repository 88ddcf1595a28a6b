package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
)

// spec describes the types that a parameter takes.
type spec struct {
	name    string // as messages write it, without quotes for a single type
	accepts func(*columnar.Type) bool
	typ     *columnar.Type // the type, when the spec is exactly one
	def     *columnar.Type // what an untyped NULL becomes
	any     []spec         // alternatives, when not nil
}

// text is the spec as messages write it.
func (s spec) text() string {
	if s.any == nil {
		return `"` + s.name + `"`
	}
	parts := make([]string, len(s.any))
	for i, a := range s.any {
		parts[i] = a.text()
	}
	return "(" + strings.Join(parts, " or ") + ")"
}

func kindSpec(name string, def *columnar.Type, kinds ...columnar.Kind) spec {
	return spec{name: name, def: def, accepts: func(t *columnar.Type) bool {
		for _, k := range kinds {
			if t.Kind == k {
				return true
			}
		}
		return false
	}}
}

// isType takes exactly one type.
func isType(t *columnar.Type) spec {
	return spec{name: t.SQL(), typ: t, def: t, accepts: func(x *columnar.Type) bool { return x.Equal(t) }}
}

// oneOf takes any of several.
func oneOf(ss ...spec) spec {
	return spec{any: ss, def: ss[0].def, accepts: func(t *columnar.Type) bool {
		for _, s := range ss {
			if s.accepts(t) {
				return true
			}
		}
		return false
	}}
}

// The specs of parameters.
var (
	isAny       = spec{name: "ANY", def: columnar.Null, accepts: func(*columnar.Type) bool { return true }}
	isString    = spec{name: "STRING", typ: columnar.String, def: columnar.String, accepts: func(t *columnar.Type) bool { return t.Kind == columnar.KindString }}
	isBool      = isType(columnar.Bool)
	isInt       = isType(columnar.Int32)
	isBigint    = isType(columnar.Int64)
	isDouble    = isType(columnar.Float64)
	isBinary    = isType(columnar.Binary)
	isDate      = isType(columnar.Date)
	isTimestamp = isType(columnar.Timestamp)
	isNTZ       = isType(columnar.TimestampNTZ)
	isCalendar  = isType(columnar.Calendar)
	isVariant   = isType(columnar.Variant)
	isIntegral  = spec{name: "INTEGRAL", def: columnar.Int32, accepts: (*columnar.Type).IsIntegral}
	isNumeric   = spec{name: "NUMERIC", def: columnar.Float64, accepts: (*columnar.Type).IsNumeric}
	isDecimal   = spec{name: "DECIMAL", def: columnar.Decimal(38, 18), accepts: func(t *columnar.Type) bool { return t.Kind == columnar.KindDecimal }}
	isYearMonth = kindSpec("INTERVAL YEAR TO MONTH", columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth), columnar.KindYearMonth)
	isDayTime   = kindSpec("INTERVAL DAY TO SECOND", columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), columnar.KindDayTime)
	isANSIInt   = kindSpec("ANSI INTERVAL", columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), columnar.KindYearMonth, columnar.KindDayTime)
	isAnyStamp  = kindSpec("(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)", columnar.Timestamp, columnar.KindTimestamp, columnar.KindTimestampNTZ)
	isArray     = kindSpec("ARRAY", columnar.ArrayOf(columnar.Null, true), columnar.KindArray)
	isMap       = kindSpec("MAP", columnar.MapOf(columnar.Null, columnar.Null, true), columnar.KindMap)

	isNumericOrInterval = oneOf(isNumeric, isDayTime, isYearMonth, spec{name: "INTERVAL", def: columnar.Calendar, accepts: isCalendar.accepts})
	isNumericOrANSI     = oneOf(isNumeric, isANSIInt)
	isStringOrBinary    = oneOf(isString, isBinary)
)

// arrayOf takes arrays whose element type is exactly t.
func arrayOf(t *columnar.Type) spec { return isType(columnar.ArrayOf(t, true)) }

// implicitType is the type that implicit casting makes of from for a parameter, or nil.
func (b *Binder) implicitType(from *columnar.Type, to spec) *columnar.Type {
	if to.accepts(from) {
		return from
	}
	if b.ANSI {
		return b.implicitANSI(from, to)
	}
	return b.implicitLegacy(from, to)
}

func (b *Binder) implicitANSI(from *columnar.Type, to spec) *columnar.Type {
	if to.any != nil {
		if from.Kind == columnar.KindNull {
			return to.any[0].def
		}
		var found []*columnar.Type
		for _, a := range to.any {
			if t := b.implicitType(from, a); t != nil {
				found = append(found, t)
			}
		}
		// The closest one can be cast to all others.
		for _, t := range found {
			all := true
			for _, o := range found {
				all = all && b.implicitType(t, isType(o)) != nil
			}
			if all {
				return t
			}
		}
		return nil
	}
	switch {
	case from.IsNumeric() && to.name == "DECIMAL" && to.typ == nil:
		return decimalOf(from)
	case from.Kind == columnar.KindNull:
		return to.def
	case from.Kind == columnar.KindString:
		switch {
		case to.typ != nil && isAtomic(to.typ):
			return to.typ
		case to.name == "TIME":
			return columnar.Time
		case to.name == "NUMERIC":
			return columnar.Float64
		case to.name == "DECIMAL":
			return to.def
		case strings.HasPrefix(to.name, "(TIMESTAMP"):
			return columnar.Timestamp
		}
		return nil
	case from.Kind == columnar.KindDate && strings.HasPrefix(to.name, "(TIMESTAMP"):
		return columnar.Timestamp
	case to.typ != nil && storeAssignable(from, to.typ):
		return to.typ
	}
	return nil
}

func (b *Binder) implicitLegacy(from *columnar.Type, to spec) *columnar.Type {
	if to.any != nil {
		if from.Kind == columnar.KindNull {
			return to.any[0].def
		}
		for _, a := range to.any {
			if t := b.implicitType(from, a); t != nil {
				return t
			}
		}
		return nil
	}
	switch {
	case from.Kind == columnar.KindNull:
		return to.def
	case from.Kind == columnar.KindString && to.name == "NUMERIC":
		return columnar.Float64
	case from.Kind == columnar.KindString && to.name == "DECIMAL" && to.typ == nil:
		return columnar.Decimal(38, 18)
	case from.IsNumeric() && to.name == "DECIMAL" && to.typ == nil:
		return decimalOf(from)
	case strings.HasPrefix(to.name, "(TIMESTAMP") && (from.Kind == columnar.KindString || from.Kind == columnar.KindDate):
		return columnar.Timestamp
	case to.typ == nil:
		return nil
	case from.IsNumeric() && to.typ.IsNumeric():
		return to.typ
	case isDatetime(from) && isDatetime(to.typ):
		return to.typ
	case from.Kind == columnar.KindString:
		switch k := to.typ.Kind; {
		case to.typ.IsNumeric(), isDatetime(to.typ), k == columnar.KindBinary, k == columnar.KindYearMonth, k == columnar.KindDayTime:
			return to.typ
		}
		return nil
	case to.typ.Kind == columnar.KindString && isAtomic(from):
		return to.typ
	case from.Kind == columnar.KindArray && to.typ.Kind == columnar.KindArray:
		if (!from.ElemNullable || to.typ.ElemNullable) && b.implicitType(from.Elem, isType(to.typ.Elem)) != nil {
			return to.typ
		}
	}
	return nil
}

// coerce casts arguments to parameters as Spark's implicit casts do, and checks them. Specs repeat
// their last entry for further arguments.
func (b *Binder) coerce(args []Expr, specs ...spec) ([]Expr, error) {
	return b.coerceAs(b.sql(args), args, specs...)
}

// coerceAs is coerce for a call that prints as sql.
func (b *Binder) coerceAs(sql string, args []Expr, specs ...spec) ([]Expr, error) {
	out := make([]Expr, len(args))
	for i, a := range args {
		s := specs[min(i, len(specs)-1)]
		t := b.implicitType(a.Type(), s)
		if t == nil {
			return nil, unexpectedInput(sql, i, s.text(), a)
		}
		out[i] = b.implicit(a, t)
	}
	return out, nil
}

// expect checks arguments without casting any but an untyped NULL.
func (b *Binder) expect(args []Expr, specs ...spec) ([]Expr, error) {
	return b.expectAs(b.sql(args), args, specs...)
}

// expectAs is expect for a call that prints as sql.
func (b *Binder) expectAs(sql string, args []Expr, specs ...spec) ([]Expr, error) {
	out := make([]Expr, len(args))
	for i, a := range args {
		s := specs[min(i, len(specs)-1)]
		switch {
		case s.accepts(a.Type()):
			out[i] = a
		case a.Type().Kind == columnar.KindNull:
			out[i] = b.implicit(a, s.def)
		default:
			return nil, unexpectedInput(sql, i, s.text(), a)
		}
	}
	return out, nil
}
