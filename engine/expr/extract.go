package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// fieldIndex finds a struct's field by name: any case unless the session says otherwise.
func (b *Binder) fieldIndex(t *columnar.Type, name string) (int, error) {
	found := -1
	for i, f := range t.Fields {
		if f.Name == name || !b.Call.CaseSensitive && strings.EqualFold(f.Name, name) {
			if found >= 0 {
				return 0, sparkerr.New("AMBIGUOUS_REFERENCE_TO_FIELDS", "ambiguous reference to the field `%s`; it appears several times in the schema", name)
			}
			found = i
		}
	}
	if found < 0 {
		names := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			names[i] = "`" + f.Name + "`"
		}
		return 0, sparkerr.New("FIELD_NOT_FOUND", "no such struct field `%s` in %s", name, strings.Join(names, ", "))
	}
	return found, nil
}

func (b *Binder) getField(e Expr, name string) (Expr, error) {
	t := e.Type()
	switch {
	case t.Kind == columnar.KindStruct:
		i, err := b.fieldIndex(t, name)
		if err != nil {
			return nil, b.at(err)
		}
		return &getField{e, i, ""}, nil
	case t.Kind == columnar.KindArray && t.Elem.Kind == columnar.KindStruct:
		i, err := b.fieldIndex(t.Elem, name)
		if err != nil {
			return nil, b.at(err)
		}
		f := t.Elem.Fields[i]
		typ := columnar.ArrayOf(f.Type, t.ElemNullable || f.Nullable)
		c := simple("", []Expr{e}, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			c := a[0].full(n)
			kid := c.Children[0]
			member := kid.Children[i]
			if kid.Valid != nil && member.Type.Kind != columnar.KindNull {
				member = member.WithValid(columnar.And(kid.Valid, member.Valid))
			}
			return &columnar.Column{Type: typ, Len: c.Len, Valid: c.Valid, Offsets: c.Offsets, Children: []*columnar.Column{member}}, nil
		})
		c.text = func(a []Expr) string { return a[0].SQL() + "." + f.Name }
		c.safe = true
		return c, nil
	case t.Kind == columnar.KindMap:
		return b.getItem(e, NewString(name))
	case t.Kind == columnar.KindVariant:
		if b.Registry != nil && b.Registry.Lookup("variant_get") != nil {
			return b.Func("variant_get", e, NewString("$."+name), NewString("variant"))
		}
	}
	return nil, b.at(sparkerr.New("INVALID_EXTRACT_BASE_FIELD_TYPE", "can't extract a value from \"%s\"; need a complex type [STRUCT, ARRAY, MAP] but got \"%s\"", e.SQL(), t.SQL()))
}

// getField is a field of a struct.
type getField struct {
	x     Expr
	index int
	text  string
}

// NewGetField is the i-th field of a struct.
func NewGetField(e Expr, i int) Expr { return &getField{e, i, ""} }

func (e *getField) field() columnar.Field { return e.x.Type().Fields[e.index] }
func (e *getField) Type() *columnar.Type  { return e.field().Type }
func (e *getField) Nullable() bool        { return e.x.Nullable() || e.field().Nullable }
func (e *getField) Children() []Expr      { return []Expr{e.x} }
func (e *getField) WithChildren(c []Expr) Expr {
	return &getField{c[0], e.index, e.text}
}
func (e *getField) SQL() string    { return e.x.SQL() + "." + e.field().Name }
func (e *getField) harmless() bool { return true }

func (e *getField) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	c, err := e.x.Eval(ctx, in)
	if err != nil {
		return nil, err
	}
	out := c.Children[e.index]
	if c.Valid != nil && out.Type.Kind != columnar.KindNull {
		out = out.WithValid(columnar.And(c.Valid, out.Valid))
	}
	return out, nil
}

// getItem is e[index]: of an array by position from 0, of a map by key.
func (b *Binder) getItem(e, index Expr) (Expr, error) {
	t := e.Type()
	sql := e.SQL() + "[" + index.SQL() + "]"
	switch t.Kind {
	case columnar.KindArray:
		args, err := b.expectAs(sql, []Expr{e, index}, isArray, isIntegral)
		if err != nil {
			return nil, b.at(err)
		}
		args[1] = b.implicit(args[1], columnar.Int64)
		ansi := b.ANSI
		c := arrayAt("", args, t, func(i int64, size int) (int, error) {
			if i >= 0 && i < int64(size) {
				return int(i), nil
			}
			if ansi {
				return -1, sparkerr.New("INVALID_ARRAY_INDEX", "the index %d is out of bounds; the array has %d elements; use the SQL function `get()` to get NULL instead", i, size)
			}
			return -1, nil
		})
		c.text = func(a []Expr) string { return a[0].SQL() + "[" + a[1].SQL() + "]" }
		c.nullFn = func(a []Expr) bool {
			return itemNullable(a, func(i int64, items []Expr) Expr {
				if i < 0 || i >= int64(len(items)) {
					return nil
				}
				return items[i]
			})
		}
		c.null = c.nullFn(args)
		return c, nil
	case columnar.KindMap:
		return b.mapValue(sql, func(a []Expr) string { return a[0].SQL() + "[" + a[1].SQL() + "]" }, e, index)
	case columnar.KindStruct:
		if v, ok, err := b.foldable(index); err != nil {
			return nil, err
		} else if s, is := v.(string); ok && is {
			return b.getField(e, s)
		}
	case columnar.KindNull:
		return NewNull(), nil
	}
	return nil, b.at(sparkerr.New("INVALID_EXTRACT_BASE_FIELD_TYPE", "can't extract a value from \"%s\"; need a complex type [STRUCT, ARRAY, MAP] but got \"%s\"", e.SQL(), t.SQL()))
}

// itemNullable tells whether an element of an array may be null: known only of a constant position of
// an array that is written out.
func itemNullable(a []Expr, at func(i int64, items []Expr) Expr) bool {
	arr, ok := a[0].(*call)
	if !ok || arr.name != "array" || !isConst(a[1]) {
		return true
	}
	v, err := a[1].Eval(&Context{ANSI: true}, oneRow())
	if err != nil || v.IsNull(0) {
		return true
	}
	item := at(intAt(v, 0), arr.args)
	return item == nil || item.Nullable()
}

// arrayAt picks one element of each array; position turns an index into an offset, -1 for null.
func arrayAt(name string, args []Expr, arr *columnar.Type, position func(i int64, size int) (int, error)) *call {
	c := simple(name, args, arr.Elem, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		pick := make([]int32, n)
		for i := range pick {
			pick[i] = -1
			if valid != nil && !valid.Get(i) {
				continue
			}
			r := a[0].row(i)
			lo, hi := a[0].Offsets[r], a[0].Offsets[r+1]
			p, err := position(intAt(a[1].Column, a[1].row(i)), int(hi-lo))
			if err != nil {
				return nil, err
			}
			if p >= 0 {
				pick[i] = lo + int32(p)
			}
		}
		return columnar.Take(a[0].Children[0], pick), nil
	})
	c.null = true
	c.nullFn = func([]Expr) bool { return true }
	return c
}

// mapValue is the value of a map's key, null when the key is missing.
func (b *Binder) mapValue(sql string, text func([]Expr) string, m, key Expr) (Expr, error) {
	t := m.Type()
	if !key.Type().Equal(t.Key) {
		w := b.tightest(key.Type(), t.Key)
		if w == nil || !w.Equal(t.Key) {
			w = b.implicitType(key.Type(), isType(t.Key))
		}
		if w == nil {
			return nil, b.at(unexpectedInput(sql, 1, `"`+t.Key.SQL()+`"`, key))
		}
		key = b.implicit(key, t.Key)
	}
	if hasMap(t.Key) {
		return nil, b.at(mismatch("INVALID_ORDERING_TYPE", sql, "the key does not support ordering on type \"%s\"", t.Key.SQL()))
	}
	c := simple("", []Expr{m, key}, t.Elem, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		pick := make([]int32, n)
		for i := range pick {
			pick[i] = -1
			if valid != nil && !valid.Get(i) {
				continue
			}
			pick[i] = findKey(a[0].Column, a[0].row(i), a[1].Column, a[1].row(i))
		}
		return columnar.Take(a[0].Children[1], pick), nil
	})
	c.text = text
	c.null, c.nullFn = true, func([]Expr) bool { return true }
	return c, nil
}

// findKey is the position of row k of keys among the keys of the map at row i, or -1.
func findKey(m *columnar.Column, i int, keys *columnar.Column, k int) int32 {
	mk := m.Children[0]
	if mk.Type.Kind == columnar.KindString && mk.Type.Collation == "" {
		s := keys.StringAt(k)
		for j := m.Offsets[i]; j < m.Offsets[i+1]; j++ {
			if mk.StringAt(int(j)) == s {
				return j
			}
		}
		return -1
	}
	for j := m.Offsets[i]; j < m.Offsets[i+1]; j++ {
		if compareAt(mk, int(j), keys, k) == 0 {
			return j
		}
	}
	return -1
}
