package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func nullMapKey() error {
	return sparkerr.New("NULL_MAP_KEY", "cannot use null as map key")
}

// duplicateKey is the error for a key that a map would have twice.
func duplicateKey(keys *columnar.Column, j int) error {
	return sparkerr.New("DUPLICATED_MAP_KEY", "duplicate map key %s was found, please check the input data", appendText(nil, keys, j, javatext.UTC()))
}

// mapBuilder collects entries by position in a column of keys and one of values, checking the keys.
type mapBuilder struct {
	keys, values    *columnar.Column
	offsets, ki, vi []int32
	valid           columnar.Bitmap
	n               int
	seen            elementSet
}

func newMapBuilder(keys, values *columnar.Column, n int) *mapBuilder {
	return &mapBuilder{keys: keys, values: values, offsets: make([]int32, 1, n+1), n: n}
}

func (m *mapBuilder) begin() { m.seen.clear() }

// add puts an entry in: key at position k, value at position v (-1: null).
func (m *mapBuilder) add(k, v int32) error {
	if m.keys.IsNull(int(k)) {
		return nullMapKey()
	}
	if !m.seen.add(m.keys, int(k)) {
		return duplicateKey(m.keys, int(k))
	}
	m.ki, m.vi = append(m.ki, k), append(m.vi, v)
	return nil
}

func (m *mapBuilder) end() { m.offsets = append(m.offsets, int32(len(m.ki))) }

func (m *mapBuilder) endNull() {
	if m.valid == nil {
		m.valid = columnar.NewBitmapSet(m.n)
	}
	m.valid.Clear(len(m.offsets) - 1)
	m.end()
}

func (m *mapBuilder) column(typ *columnar.Type) *columnar.Column {
	keys := columnar.Take(m.keys, m.ki).WithType(typ.Key)
	keys.Valid = nil
	c := &columnar.Column{
		Type: typ, Len: len(m.offsets) - 1, Offsets: m.offsets, Valid: m.valid,
		Children: []*columnar.Column{keys, columnar.Take(m.values, m.vi).WithType(typ.Elem)},
	}
	normalizeFloats(c)
	return c
}

func bindMap(b *Binder, args []Expr) (Expr, error) {
	if len(args)%2 != 0 {
		return nil, b.wrongArgs("2n (n > 0)", len(args))
	}
	var keys, values []Expr
	for i := 0; i < len(args); i += 2 {
		keys, values = append(keys, args[i]), append(values, args[i+1])
	}
	sql := b.sql(args)
	keys, kt := b.toCommon(keys, b.wider)
	if kt == nil {
		return nil, diffTypes("CREATE_MAP_KEY_DIFF_TYPES", sql, "map", keys)
	}
	values, vt := b.toCommon(values, b.wider)
	if vt == nil {
		return nil, diffTypes("CREATE_MAP_VALUE_DIFF_TYPES", sql, "map", values)
	}
	if noMapKey(kt) {
		return nil, mismatch("INVALID_MAP_KEY_TYPE", sql, "the key of map cannot be/contain \"%s\"", kt.SQL())
	}
	typ := columnar.MapOf(kt, vt, anyNullable(values))
	out := make([]Expr, 0, len(args))
	for i := range keys {
		out = append(out, keys[i], values[i])
	}
	return &call{name: "map", args: out, typ: typ, nulls: true, kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		if len(a) == 0 {
			return &columnar.Column{Type: typ, Len: n, Offsets: make([]int32, n+1), Children: []*columnar.Column{columnar.NewEmpty(kt), columnar.NewEmpty(vt)}}, nil
		}
		var ks, vs []vec
		for i := 0; i < len(a); i += 2 {
			ks, vs = append(ks, a[i]), append(vs, a[i+1])
		}
		k := gatherRows(columnar.ArrayOf(kt, true), kt, ks, n)
		v := gatherRows(columnar.ArrayOf(vt, true), vt, vs, n)
		m := newMapBuilder(k.Children[0], v.Children[0], n)
		for i := 0; i < n; i++ {
			m.begin()
			for j := k.Offsets[i]; j < k.Offsets[i+1]; j++ {
				if err := m.add(j, j); err != nil {
					return nil, err
				}
			}
			m.end()
		}
		return m.column(typ), nil
	}}, nil
}

func bindMapFromArrays(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	args, err := b.expect(args, isArray)
	if err != nil {
		return nil, err
	}
	kt, vt := args[0].Type().Elem, args[1].Type().Elem
	if noMapKey(kt) {
		return nil, mismatch("INVALID_MAP_KEY_TYPE", b.sql(args), "the key of map cannot be/contain \"%s\"", kt.SQL())
	}
	typ := columnar.MapOf(kt, vt, args[1].Type().ElemNullable)
	return simple("map_from_arrays", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		m := newMapBuilder(a[0].Children[0], a[1].Children[0], n)
		for i := 0; i < n; i++ {
			if valid != nil && !valid.Get(i) {
				m.endNull()
				continue
			}
			lo, hi := a[0].span(i)
			lo2, hi2 := a[1].span(i)
			if hi-lo != hi2-lo2 {
				return nil, sparkerr.New("_LEGACY_ERROR_TEMP_2128", "the key array and value array of MapData must have the same length")
			}
			m.begin()
			for j := int32(0); j < hi-lo; j++ {
				if err := m.add(lo+j, lo2+j); err != nil {
					return nil, err
				}
			}
			m.end()
		}
		return m.column(typ), nil
	}), nil
}

func bindMapFromEntries(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	t := args[0].Type()
	if t.Kind != columnar.KindArray || t.Elem.Kind != columnar.KindStruct || len(t.Elem.Fields) != 2 {
		return nil, unexpectedInput(b.sql(args), 0, `"ARRAY" of pair "STRUCT"`, args[0])
	}
	k, v := t.Elem.Fields[0], t.Elem.Fields[1]
	if noMapKey(k.Type) {
		return nil, mismatch("INVALID_MAP_KEY_TYPE", b.sql(args), "the key of map cannot be/contain \"%s\"", k.Type.SQL())
	}
	typ := columnar.MapOf(k.Type, v.Type, v.Nullable)
	nullFn := func(a []Expr) bool { return a[0].Nullable() || a[0].Type().ElemNullable }
	e := simple("map_from_entries", args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		s := a[0].Children[0]
		m := newMapBuilder(s.Children[0], s.Children[1], n)
	row:
		for i := 0; i < n; i++ {
			if a[0].null(i) {
				m.endNull()
				continue
			}
			lo, hi := a[0].span(i)
			for j := lo; j < hi; j++ {
				if s.IsNull(int(j)) {
					m.endNull()
					continue row
				}
			}
			m.begin()
			for j := lo; j < hi; j++ {
				if err := m.add(j, j); err != nil {
					return nil, err
				}
			}
			m.end()
		}
		return m.column(typ), nil
	})
	e.null, e.nullFn = nullFn(args), nullFn
	return e, nil
}

// mapPart binds map_keys, map_values and map_entries.
func mapPart(name string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		args, err := b.expect(args, isMap)
		if err != nil {
			return nil, err
		}
		t := args[0].Type()
		var typ *columnar.Type
		switch name {
		case "map_keys":
			typ = columnar.ArrayOf(t.Key, false)
		case "map_values":
			typ = columnar.ArrayOf(t.Elem, t.ElemNullable)
		default:
			typ = columnar.ArrayOf(columnar.StructOf(field("key", t.Key, false), field("value", t.Elem, t.ElemNullable)), false)
		}
		e := simple(name, args, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			c := a[0].full(n)
			var kid *columnar.Column
			switch name {
			case "map_keys":
				kid = c.Children[0]
			case "map_values":
				kid = c.Children[1]
			default:
				kid = &columnar.Column{Type: typ.Elem, Len: c.Children[0].Len, Children: c.Children}
			}
			return &columnar.Column{Type: typ, Len: n, Valid: c.Valid, Offsets: c.Offsets, Children: []*columnar.Column{kid}}, nil
		})
		e.safe = true
		return e, nil
	}
}

func bindMapConcat(b *Binder, args []Expr) (Expr, error) {
	if len(args) == 0 {
		typ := columnar.MapOf(columnar.String, columnar.String, false)
		return &Literal{Typ: typ, Value: columnar.MapDatum{}, Text: "map_concat()"}, nil
	}
	sql := b.sql(args)
	for i, a := range args {
		if a.Type().Kind != columnar.KindMap {
			return nil, mismatch("MAP_CONCAT_DIFF_TYPES", sql, "the `map_concat` should all be of type map, but argument %d is \"%s\"", i+1, a.Type().SQL())
		}
	}
	two := b.wider
	if b.ANSI { // a key that is read from a string may be null, which no key is
		two = b.widerNoStrings
	}
	out, t := b.toCommon(args, two)
	if t == nil {
		return nil, diffTypes("DATA_DIFF_TYPES", sql, "map_concat", args)
	}
	for _, a := range out {
		t = mergeNullability(t, a.Type())
	}
	return simple("map_concat", out, t, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		valid := validOf(a...)
		var ks, vs []*columnar.Column
		kb, vb := make([]int32, len(a)), make([]int32, len(a))
		at, vat := int32(0), int32(0)
		for k, v := range a {
			kb[k], vb[k] = at, vat
			at, vat = at+int32(v.Children[0].Len), vat+int32(v.Children[1].Len)
			ks, vs = append(ks, v.Children[0].WithType(t.Key)), append(vs, v.Children[1].WithType(t.Elem))
		}
		m := newMapBuilder(columnar.Concat(ks), columnar.Concat(vs), n)
		for i := 0; i < n; i++ {
			if valid != nil && !valid.Get(i) {
				m.endNull()
				continue
			}
			m.begin()
			for k, v := range a {
				lo, hi := v.span(i)
				for j := lo; j < hi; j++ {
					if err := m.add(kb[k]+j, vb[k]+j); err != nil {
						return nil, err
					}
				}
			}
			m.end()
		}
		return m.column(t), nil
	}), nil
}

func bindMapContainsKey(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	m, k := args[0].Type(), args[1].Type()
	if k.Kind == columnar.KindNull {
		return nil, mismatch("NULL_TYPE", sql, "null typed values cannot be used as arguments of `map_contains_key`")
	}
	diff := func() error {
		return mismatch("MAP_FUNCTION_DIFF_TYPES", sql, "input to `map_contains_key` should have been \"MAP\" followed by a value with same key type, but it's [\"%s\", \"%s\"]", m.SQL(), k.SQL())
	}
	if m.Kind != columnar.KindMap {
		return nil, diff()
	}
	t := b.widerNoStrings(m.Key, k)
	if t == nil {
		return nil, diff()
	}
	args = []Expr{b.implicit(args[0], columnar.MapOf(t, m.Elem, m.ElemNullable)), b.implicit(args[1], t)}
	return simple("map_contains_key", args, columnar.Bool, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return bools(a, n, func(i int) bool { return findKey(a[0].Column, a[0].row(i), a[1].Column, a[1].row(i)) >= 0 }), nil
	}), nil
}

func mapFunctions() []*Function {
	const family = "map"
	f := func(name, sig, doc, example string, bind func(b *Binder, args []Expr) (Expr, error)) *Function {
		return &Function{Name: name, Family: family, Signature: sig, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("map", "map(key, value, …)", "A map of keys and values.", "SELECT map(1, 'a', 2, 'b') → {1 -> a, 2 -> b}", bindMap),
		f("map_from_arrays", "map_from_arrays(keys, values)", "A map of an array of keys and one of values.", "SELECT map_from_arrays(array(1), array('a')) → {1 -> a}", bindMapFromArrays),
		f("map_from_entries", "map_from_entries(array)", "A map of an array of structs of a key and a value.", "SELECT map_from_entries(array(struct(1, 'a'))) → {1 -> a}", bindMapFromEntries),
		f("map_keys", "map_keys(map)", "The keys of a map.", "SELECT map_keys(map(1, 'a')) → [1]", mapPart("map_keys")),
		f("map_values", "map_values(map)", "The values of a map.", "SELECT map_values(map(1, 'a')) → [a]", mapPart("map_values")),
		f("map_entries", "map_entries(map)", "The entries of a map as structs.", "SELECT map_entries(map(1, 'a')) → [{1, a}]", mapPart("map_entries")),
		f("map_concat", "map_concat(map, …)", "One map of the entries of several.", "SELECT map_concat(map(1, 'a'), map(2, 'b')) → {1 -> a, 2 -> b}", bindMapConcat),
		f("map_contains_key", "map_contains_key(map, key)", "Whether a map has a key.", "SELECT map_contains_key(map(1, 'a'), 1) → true", bindMapContainsKey),
	}
}
