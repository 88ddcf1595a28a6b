package groupstate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
)

// codec maps values of a Go type to columns: the fields of a struct, or one column for any other type.
type codec struct {
	typ    reflect.Type
	schema *columnar.Schema
	index  []int // of the fields of a struct; nil for a type of one column
}

var timeType = reflect.TypeFor[time.Time]()

// newCodec makes the codec of a type; names are the names of columns where the type has none.
func newCodec(t reflect.Type, what string, names []string) (*codec, error) {
	c := &codec{typ: t, schema: &columnar.Schema{}}
	if t.Kind() != reflect.Struct || t == timeType {
		if len(names) != 1 {
			return nil, fmt.Errorf("%s of type %s is one column, not %d: use a struct with a field for each", what, t, len(names))
		}
		typ, null, err := typeOf(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		c.schema.Fields = []columnar.Field{{Name: names[0], Type: typ, Nullable: null}}
		return c, nil
	}
	c.index = []int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := columnName(f)
		if !ok {
			continue
		}
		typ, null, err := typeOf(f.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: field %s: %w", what, f.Name, err)
		}
		if c.schema.IndexFold(name) >= 0 {
			return nil, fmt.Errorf("%s: two fields are called %q", what, name)
		}
		c.index = append(c.index, i)
		c.schema.Fields = append(c.schema.Fields, columnar.Field{Name: name, Type: typ, Nullable: null})
	}
	return c, nil
}

// columnName is the column of a field, false for fields that are none.
func columnName(f reflect.StructField) (string, bool) {
	tag := f.Tag.Get("col")
	if tag == "-" || !f.IsExported() {
		return "", false
	}
	if tag == "" {
		tag = f.Name
	}
	return tag, true
}

// typeOf is the type of column that a Go type is kept in, and whether it may be null.
func typeOf(t reflect.Type) (typ *columnar.Type, null bool, err error) {
	if t == timeType {
		return columnar.Timestamp, false, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return columnar.Bool, false, nil
	case reflect.Int8:
		return columnar.Int8, false, nil
	case reflect.Int16:
		return columnar.Int16, false, nil
	case reflect.Int32:
		return columnar.Int32, false, nil
	case reflect.Int64, reflect.Int:
		return columnar.Int64, false, nil
	case reflect.Float32:
		return columnar.Float32, false, nil
	case reflect.Float64:
		return columnar.Float64, false, nil
	case reflect.String:
		return columnar.String, false, nil
	case reflect.Pointer:
		typ, _, err = typeOf(t.Elem())
		return typ, true, err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return columnar.Binary, true, nil
		}
		elem, null, err := typeOf(t.Elem())
		if err != nil {
			return nil, false, err
		}
		return columnar.ArrayOf(elem, null), true, nil
	case reflect.Map:
		key, keyNull, err := typeOf(t.Key())
		if err != nil {
			return nil, false, err
		}
		if keyNull {
			return nil, false, fmt.Errorf("%s cannot be kept in a column: the keys of a map are never null", t)
		}
		value, null, err := typeOf(t.Elem())
		if err != nil {
			return nil, false, err
		}
		return columnar.MapOf(key, value, null), true, nil
	case reflect.Struct:
		var fields []columnar.Field
		for i := range t.NumField() {
			name, ok := columnName(t.Field(i))
			if !ok {
				continue
			}
			typ, null, err := typeOf(t.Field(i).Type)
			if err != nil {
				return nil, false, fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			}
			fields = append(fields, columnar.Field{Name: name, Type: typ, Nullable: null})
		}
		return columnar.StructOf(fields...), false, nil
	}
	return nil, false, fmt.Errorf("%s cannot be kept in a column; the types that can are listed in the documentation of package groupstate", strings.TrimPrefix(t.String(), "*"))
}

// read sets dst, a value of the codec's type, from row i of the columns.
func (c *codec) read(dst reflect.Value, cols []*columnar.Column, i int) error {
	if c.index == nil {
		return c.field(dst, cols[0], i, 0)
	}
	for k, at := range c.index {
		if err := c.field(dst.Field(at), cols[k], i, k); err != nil {
			return err
		}
	}
	return nil
}

func (c *codec) field(dst reflect.Value, col *columnar.Column, i, k int) error {
	if err := readValue(dst, col, i); err != nil {
		return fmt.Errorf("column %q: %w", c.schema.Fields[k].Name, err)
	}
	return nil
}

// write appends v, a value of the codec's type, to a builder for each column.
func (c *codec) write(b []*columnar.Builder, v reflect.Value) error {
	if c.index == nil {
		return writeValue(b[0], v)
	}
	for k, at := range c.index {
		if err := writeValue(b[k], v.Field(at)); err != nil {
			return fmt.Errorf("column %q: %w", c.schema.Fields[k].Name, err)
		}
	}
	return nil
}

// builders are empty builders of the codec's columns.
func (c *codec) builders(n int) []*columnar.Builder {
	out := make([]*columnar.Builder, len(c.schema.Fields))
	for i, f := range c.schema.Fields {
		out[i] = columnar.NewBuilder(f.Type, n)
	}
	return out
}

func readValue(dst reflect.Value, c *columnar.Column, i int) error {
	if c.IsNull(i) {
		switch dst.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			dst.SetZero()
			return nil
		}
		return fmt.Errorf("it is null in a row, which a %s cannot be; use a *%s", dst.Type(), dst.Type())
	}
	if dst.Kind() == reflect.Pointer {
		v := reflect.New(dst.Type().Elem())
		if err := readValue(v.Elem(), c, i); err != nil {
			return err
		}
		dst.Set(v)
		return nil
	}
	if dst.Type() == timeType {
		dst.Set(reflect.ValueOf(time.UnixMicro(columnar.Values[int64](c)[i]).UTC()))
		return nil
	}
	switch dst.Kind() {
	case reflect.Bool:
		dst.SetBool(c.Bits.Get(i))
	case reflect.Int8:
		dst.SetInt(int64(columnar.Values[int8](c)[i]))
	case reflect.Int16:
		dst.SetInt(int64(columnar.Values[int16](c)[i]))
	case reflect.Int32:
		dst.SetInt(int64(columnar.Values[int32](c)[i]))
	case reflect.Int64, reflect.Int:
		dst.SetInt(columnar.Values[int64](c)[i])
	case reflect.Float32:
		dst.SetFloat(float64(columnar.Values[float32](c)[i]))
	case reflect.Float64:
		dst.SetFloat(columnar.Values[float64](c)[i])
	case reflect.String:
		dst.SetString(string(c.BytesAt(i)))
	case reflect.Slice:
		if c.Type.Kind == columnar.KindBinary {
			dst.SetBytes(append([]byte{}, c.BytesAt(i)...))
			return nil
		}
		from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
		s := reflect.MakeSlice(dst.Type(), to-from, to-from)
		for k := range to - from {
			if err := readValue(s.Index(k), c.Children[0], from+k); err != nil {
				return err
			}
		}
		dst.Set(s)
	case reflect.Map:
		m := reflect.MakeMap(dst.Type())
		for k := int(c.Offsets[i]); k < int(c.Offsets[i+1]); k++ {
			key, value := reflect.New(dst.Type().Key()).Elem(), reflect.New(dst.Type().Elem()).Elem()
			if err := readValue(key, c.Children[0], k); err != nil {
				return err
			}
			if err := readValue(value, c.Children[1], k); err != nil {
				return err
			}
			m.SetMapIndex(key, value)
		}
		dst.Set(m)
	case reflect.Struct:
		k := 0
		for at := range dst.NumField() {
			if _, ok := columnName(dst.Type().Field(at)); !ok {
				continue
			}
			if err := readValue(dst.Field(at), c.Children[k], i); err != nil {
				return err
			}
			k++
		}
	}
	return nil
}

func writeValue(b *columnar.Builder, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			b.AppendNull()
			return nil
		}
		return writeValue(b, v.Elem())
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			b.AppendNull()
			return nil
		}
	}
	if v.Type() == timeType {
		b.AppendInt(v.Interface().(time.Time).UnixMicro())
		return nil
	}
	switch v.Kind() {
	case reflect.Bool:
		b.AppendBool(v.Bool())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		b.AppendInt(v.Int())
	case reflect.Float32, reflect.Float64:
		b.AppendFloat(v.Float())
	case reflect.String:
		b.AppendString(v.String())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b.AppendBytes(v.Bytes())
			return nil
		}
		for i := range v.Len() {
			if err := writeValue(b.Child(0), v.Index(i)); err != nil {
				return err
			}
		}
		b.AppendNested()
	case reflect.Map:
		return writeMap(b, v)
	case reflect.Struct:
		k := 0
		for at := range v.NumField() {
			if _, ok := columnName(v.Type().Field(at)); !ok {
				continue
			}
			if err := writeValue(b.Child(k), v.Field(at)); err != nil {
				return err
			}
			k++
		}
		b.AppendNested()
	}
	return nil
}

// writeMap appends a map in the order of its keys, so that equal maps are equal bytes.
func writeMap(b *columnar.Builder, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	for _, k := range keys {
		if err := writeValue(b.Child(0), k); err != nil {
			return err
		}
		if err := writeValue(b.Child(1), v.MapIndex(k)); err != nil {
			return err
		}
	}
	b.AppendNested()
	return nil
}

// compareKeys orders the keys of a map: numbers and texts by value, anything else as it prints.
func compareKeys(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.String:
		return cmp.Compare(a.String(), b.String())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return cmp.Compare(a.Int(), b.Int())
	case reflect.Float32, reflect.Float64:
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(fmt.Sprint(a.Interface()), fmt.Sprint(b.Interface()))
}
