package expr

import (
	"github.com/wstream/wstream/columnar"
)

// Type coercion as Spark does it, in the ANSI dialect and in the older one. A "tightest" common
// type loses nothing; a "wider" one may also turn strings into numbers or cut a decimal's scale.

// kindOrder is the precedence of the numeric types other than decimal.
func kindOrder(k columnar.Kind) int { return int(k) }

// tightest is the tightest common type of two types, or nil.
func (b *Binder) tightest(x, y *columnar.Type) *columnar.Type {
	switch {
	case x.EqualStrict(y):
		return x
	case x.Kind == columnar.KindNull:
		return y
	case y.Kind == columnar.KindNull:
		return x
	case x.Kind == columnar.KindString && y.Kind == columnar.KindString:
		if x.Collation == "" {
			return y
		}
		return x
	case x.IsIntegral() && y.Kind == columnar.KindDecimal:
		if decimalHoldsIntegral(y, x) {
			return y
		}
		return nil
	case x.Kind == columnar.KindDecimal && y.IsIntegral():
		return b.tightest(y, x)
	case x.IsNumeric() && y.IsNumeric() && x.Kind != columnar.KindDecimal && y.Kind != columnar.KindDecimal:
		w := x
		if kindOrder(y.Kind) > kindOrder(x.Kind) {
			w = y
		}
		if b.ANSI && w.Kind == columnar.KindFloat32 {
			return columnar.Float64
		}
		return w
	case isDatetime(x) && isDatetime(y):
		return widerDatetime(x, y)
	case x.Kind == y.Kind && (x.Kind == columnar.KindDayTime || x.Kind == columnar.KindYearMonth):
		return &columnar.Type{Kind: x.Kind, Start: min(x.Start, y.Start), End: max(x.End, y.End)}
	case x.Kind == columnar.KindTime && y.Kind == columnar.KindTime:
		if x.Precision > y.Precision {
			return x
		}
		return y
	}
	return b.complexType(x, y, b.tightest)
}

// tightestLegacy is tightest by the rules of the older dialect, which functions of arrays use in both.
func (b *Binder) tightestLegacy(x, y *columnar.Type) *columnar.Type {
	old := *b
	old.ANSI = false
	return old.tightest(x, y)
}

// decimalHoldsIntegral tells whether every value of an integral type fits the decimal type.
func decimalHoldsIntegral(d, i *columnar.Type) bool {
	n := decimalOf(i)
	return d.Precision-d.Scale >= n.Precision-n.Scale && d.Scale >= n.Scale
}

func isDatetime(t *columnar.Type) bool {
	return t.Kind == columnar.KindDate || t.Kind == columnar.KindTimestamp || t.Kind == columnar.KindTimestampNTZ
}

func widerDatetime(x, y *columnar.Type) *columnar.Type {
	switch {
	case x.Kind == columnar.KindTimestamp || y.Kind == columnar.KindTimestamp:
		return columnar.Timestamp
	case x.Kind == columnar.KindTimestampNTZ || y.Kind == columnar.KindTimestampNTZ:
		return columnar.TimestampNTZ
	}
	return columnar.Date
}

// complexType combines arrays, maps and structs member by member.
func (b *Binder) complexType(x, y *columnar.Type, member func(x, y *columnar.Type) *columnar.Type) *columnar.Type {
	if x.Kind != y.Kind {
		return nil
	}
	switch x.Kind {
	case columnar.KindArray:
		e := member(x.Elem, y.Elem)
		if e == nil {
			return nil
		}
		return columnar.ArrayOf(e, x.ElemNullable || y.ElemNullable || b.forcesNull(x.Elem, e) || b.forcesNull(y.Elem, e))
	case columnar.KindMap:
		k, v := member(x.Key, y.Key), member(x.Elem, y.Elem)
		if k == nil || v == nil || b.forcesNull(x.Key, k) || b.forcesNull(y.Key, k) {
			return nil
		}
		return columnar.MapOf(k, v, x.ElemNullable || y.ElemNullable || b.forcesNull(x.Elem, v) || b.forcesNull(y.Elem, v))
	case columnar.KindStruct:
		if len(x.Fields) != len(y.Fields) {
			return nil
		}
		fs := make([]columnar.Field, len(x.Fields))
		for i := range fs {
			f, g := &x.Fields[i], &y.Fields[i]
			if !equalFold(f.Name, g.Name) {
				return nil
			}
			t := member(f.Type, g.Type)
			if t == nil {
				return nil
			}
			fs[i] = columnar.Field{Name: f.Name, Type: t, Nullable: f.Nullable || g.Nullable || b.forcesNull(f.Type, t) || b.forcesNull(g.Type, t)}
		}
		return columnar.StructOf(fs...)
	}
	return nil
}

// wider is the common type of two types where strings may be promoted, or nil.
func (b *Binder) wider(x, y *columnar.Type) *columnar.Type {
	if t := b.tightest(x, y); t != nil {
		return t
	}
	if t := widerDecimal(x, y); t != nil {
		return t
	}
	if t := b.promoteString(x, y); t != nil {
		return t
	}
	return b.complexType(x, y, b.wider)
}

// widerNoStrings is wider without the promotion of strings.
func (b *Binder) widerNoStrings(x, y *columnar.Type) *columnar.Type {
	if t := b.tightest(x, y); t != nil {
		return t
	}
	if t := widerDecimal(x, y); t != nil {
		return t
	}
	return b.complexType(x, y, b.widerNoStrings)
}

// promoteString is the common type of a string and an atomic type: under ANSI the other type
// (integers become BIGINT, fractions DOUBLE), otherwise STRING.
func (b *Binder) promoteString(x, y *columnar.Type) *columnar.Type {
	if x.Kind != columnar.KindString {
		if y.Kind != columnar.KindString {
			return nil
		}
		x, y = y, x
	}
	if y.Kind == columnar.KindString {
		return nil
	}
	if !b.ANSI {
		switch {
		case y.Kind == columnar.KindBinary || y.Kind == columnar.KindBool || !isAtomic(y):
			return nil
		}
		return x
	}
	switch {
	case y.IsIntegral():
		return columnar.Int64
	case y.IsNumeric():
		return columnar.Float64
	case y.Kind == columnar.KindNull:
		return x
	case y.Kind == columnar.KindYearMonth || y.Kind == columnar.KindDayTime:
		return nil
	case isAtomic(y):
		return y
	}
	return nil
}

// isAtomic tells whether values have no parts: everything but VOID, nested types, CalendarInterval and VARIANT.
func isAtomic(t *columnar.Type) bool {
	return !t.IsNested() && t.Kind != columnar.KindNull && t.Kind != columnar.KindCalendar && t.Kind != columnar.KindVariant
}

// CommonType is the type that expressions of several types become in CASE, UNION, IN and the like,
// or nil when there is none.
func (b *Binder) CommonType(types ...*columnar.Type) *columnar.Type { return b.fold(types, b.wider) }

func (b *Binder) fold(types []*columnar.Type, two func(x, y *columnar.Type) *columnar.Type) *columnar.Type {
	if !b.ANSI {
		// Strings first: STRING with anything else is then decided the same way in every order.
		var s, rest []*columnar.Type
		for _, t := range types {
			if hasString(t) {
				s = append(s, t)
			} else {
				rest = append(rest, t)
			}
		}
		types = append(s, rest...)
	}
	out := columnar.Null
	for _, t := range types {
		if out = two(out, t); out == nil {
			return nil
		}
	}
	return out
}

func hasString(t *columnar.Type) bool {
	return t.Kind == columnar.KindString || t.Kind == columnar.KindArray && hasString(t.Elem)
}

// sameTypes tells whether all expressions have one type, nullability of members aside.
func sameTypes(es []Expr) bool {
	for _, e := range es[1:] {
		if !e.Type().Equal(es[0].Type()) {
			return false
		}
	}
	return true
}

// toCommon casts expressions to their common type as found by two; where there is none they are
// given back unchanged.
func (b *Binder) toCommon(es []Expr, two func(x, y *columnar.Type) *columnar.Type) ([]Expr, *columnar.Type) {
	if len(es) == 0 {
		return es, columnar.Null
	}
	types := make([]*columnar.Type, len(es))
	for i, e := range es {
		types[i] = e.Type()
	}
	if sameTypes(es) {
		t := types[0]
		for _, o := range types[1:] {
			t = mergeNullability(t, o)
		}
		return es, t
	}
	t := b.fold(types, two)
	if t == nil {
		return es, nil
	}
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = b.implicit(e, t)
	}
	return out, t
}

// mergeNullability is x with every member nullable that is nullable in x or y, types of one shape.
func mergeNullability(x, y *columnar.Type) *columnar.Type {
	if x == y || x.EqualStrict(y) {
		return x
	}
	switch x.Kind {
	case columnar.KindArray:
		return columnar.ArrayOf(mergeNullability(x.Elem, y.Elem), x.ElemNullable || y.ElemNullable)
	case columnar.KindMap:
		return columnar.MapOf(mergeNullability(x.Key, y.Key), mergeNullability(x.Elem, y.Elem), x.ElemNullable || y.ElemNullable)
	case columnar.KindStruct:
		fs := make([]columnar.Field, len(x.Fields))
		for i := range fs {
			fs[i] = x.Fields[i]
			fs[i].Type = mergeNullability(x.Fields[i].Type, y.Fields[i].Type)
			fs[i].Nullable = x.Fields[i].Nullable || y.Fields[i].Nullable
		}
		return columnar.StructOf(fs...)
	}
	return x
}

// implicit is e as type t by a cast that does not show in SQL; e itself when it has the type.
func (b *Binder) implicit(e Expr, t *columnar.Type) Expr {
	if e.Type().Equal(t) {
		return e
	}
	if l, ok := e.(*Literal); ok && l.Value == nil {
		return &Literal{Typ: t, Text: l.SQL()}
	}
	if l, ok := e.(*Literal); ok && t.Kind == columnar.KindString && t.Collation != "" && l.Typ.Kind == columnar.KindString {
		return &Literal{Typ: t, Value: l.Value, Text: "'" + l.SQL() + "' collate " + t.Collation}
	}
	return NewCast(e, t, b.castMode(), true)
}

// Implicit is e converted to t as assignments do, without trace in SQL; the caller knows that the
// types can be cast.
func (b *Binder) Implicit(e Expr, t *columnar.Type) Expr { return b.implicit(e, t) }

// castMode is the mode of casts under the session's settings.
func (b *Binder) castMode() CastMode {
	if b.ANSI {
		return CastANSI
	}
	return CastLegacy
}

// forcesNull tells whether casting can make nulls of values that are not.
func (b *Binder) forcesNull(from, to *columnar.Type) bool {
	return forceNullable(from, to, b.castMode())
}

// storeAssignable tells whether ANSI's assignment rules convert from into to.
func storeAssignable(from, to *columnar.Type) bool {
	switch {
	case from.Equal(to), from.Kind == columnar.KindNull:
		return true
	case from.IsNumeric() && to.IsNumeric():
		return true
	case to.Kind == columnar.KindString:
		return isAtomic(from) || from.Kind == columnar.KindCalendar
	case isDatetime(from) && isDatetime(to):
		return true
	case from.Kind == to.Kind && (from.Kind == columnar.KindYearMonth || from.Kind == columnar.KindDayTime || from.Kind == columnar.KindTime):
		return true
	case from.Kind == columnar.KindArray && to.Kind == columnar.KindArray:
		return (!from.ElemNullable || to.ElemNullable) && storeAssignable(from.Elem, to.Elem)
	case from.Kind == columnar.KindMap && to.Kind == columnar.KindMap:
		return (!from.ElemNullable || to.ElemNullable) && storeAssignable(from.Key, to.Key) && storeAssignable(from.Elem, to.Elem)
	case from.Kind == columnar.KindStruct && to.Kind == columnar.KindStruct:
		if len(from.Fields) != len(to.Fields) {
			return false
		}
		for i := range from.Fields {
			f, t := &from.Fields[i], &to.Fields[i]
			if f.Nullable && !t.Nullable || !storeAssignable(f.Type, t.Type) {
				return false
			}
		}
		return true
	}
	return false
}

// isOrderable tells whether values of the type have an order: all but maps, VARIANT and CalendarInterval.
func isOrderable(t *columnar.Type) bool {
	switch t.Kind {
	case columnar.KindMap, columnar.KindVariant, columnar.KindCalendar:
		return false
	case columnar.KindArray:
		return isOrderable(t.Elem)
	case columnar.KindStruct:
		for _, f := range t.Fields {
			if !isOrderable(f.Type) {
				return false
			}
		}
	}
	return true
}

// hasMap tells whether the type is or contains a map.
func hasMap(t *columnar.Type) bool { return hasKind(t, columnar.KindMap) }

// hasVariant tells whether t is a VARIANT or holds one.
func hasVariant(t *columnar.Type) bool { return hasKind(t, columnar.KindVariant) }

// noMapKey tells whether t cannot be the type of a map's keys.
func noMapKey(t *columnar.Type) bool { return hasMap(t) || hasVariant(t) }

// hasKind tells whether t is of a kind or holds a type that is.
func hasKind(t *columnar.Type, kind columnar.Kind) bool {
	if t.Kind == kind {
		return true
	}
	switch t.Kind {
	case columnar.KindArray:
		return hasKind(t.Elem, kind)
	case columnar.KindMap:
		return hasKind(t.Key, kind) || hasKind(t.Elem, kind)
	case columnar.KindStruct:
		for _, f := range t.Fields {
			if hasKind(f.Type, kind) {
				return true
			}
		}
	}
	return false
}
