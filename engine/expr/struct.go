package expr

import (
	"github.com/wstream/wstream/columnar"
)

// newStruct is a struct of named values; text is how it prints, made of the values when empty.
func newStruct(names []string, values []Expr, text string) Expr {
	fs := make([]columnar.Field, len(values))
	for i, v := range values {
		fs[i] = field(names[i], v.Type(), v.Nullable())
	}
	typ := columnar.StructOf(fs...)
	return &call{
		name: "named_struct", args: values, typ: typ, nulls: true, safe: true,
		text: func(a []Expr) string {
			if text != "" {
				return text
			}
			all := make([]Expr, 0, 2*len(a))
			for i, e := range a {
				all = append(all, NewString(names[i]), e)
			}
			return sqlCall("named_struct", all)
		},
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			c := &columnar.Column{Type: typ, Len: n, Children: make([]*columnar.Column, len(a))}
			for i, v := range a {
				c.Children[i] = v.full(n)
			}
			return c, nil
		},
	}
}

// structNames are the names of the fields that struct(…) makes of its arguments.
func (b *Binder) structNames(args []Expr) []string {
	names := make([]string, len(args))
	for i, a := range args {
		if i < len(b.Call.ArgAliases) && b.Call.ArgAliases[i] != "" {
			names[i] = b.Call.ArgAliases[i]
		} else if names[i] = fieldName(a); names[i] == "" {
			names[i] = "col" + itoa(i+1)
		}
	}
	return names
}

func bindStruct(b *Binder, args []Expr) (Expr, error) {
	text := "struct("
	for i, a := range args {
		if i > 0 {
			text += ", "
		}
		text += a.SQL()
		if i < len(b.Call.ArgAliases) && b.Call.ArgAliases[i] != "" && fieldName(a) != b.Call.ArgAliases[i] {
			text += " AS " + columnar.QuoteIdentifier(b.Call.ArgAliases[i])
		}
	}
	return newStruct(b.structNames(args), unaliased(args), text+")"), nil
}

// bindRow binds (a, b, …), which prints as named_struct.
func bindRow(b *Binder, args []Expr) (Expr, error) {
	return newStruct(b.structNames(args), unaliased(args), ""), nil
}

func unaliased(args []Expr) []Expr {
	out := make([]Expr, len(args))
	for i, a := range args {
		out[i] = a
		if al, ok := a.(*Alias); ok {
			out[i] = al.Child
		}
	}
	return out
}

func bindNamedStruct(b *Binder, args []Expr) (Expr, error) {
	if len(args)%2 != 0 {
		return nil, b.wrongArgs("2n (n > 0)", len(args))
	}
	sql := b.sql(args)
	var names []string
	var values []Expr
	for i := 0; i < len(args); i += 2 {
		v, ok, err := b.foldable(args[i])
		if err != nil {
			return nil, err
		}
		s, is := v.(string)
		if !ok || args[i].Type().Kind != columnar.KindString {
			return nil, mismatch("CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING", sql, "only foldable `STRING` expressions are allowed to appear at odd position, but they are [\"%s\"]", args[i].SQL())
		}
		if !is {
			return nil, mismatch("UNEXPECTED_NULL", sql, "the field name must not be null")
		}
		names, values = append(names, s), append(values, args[i+1])
	}
	return newStruct(names, values, ""), nil
}

func structFunctions() []*Function {
	const family = "struct"
	return []*Function{
		{Name: "struct", Family: family, Signature: "struct(expr, …)", Doc: "A struct of the arguments.", Example: "SELECT struct(1, 'a') → {1, a}", Bind: bindStruct},
		{Name: "row", Family: family, Signature: "(expr, …)", Doc: "A struct of several values in parentheses.", Bind: bindRow},
		{Name: "named_struct", Family: family, Signature: "named_struct(name, value, …)", Doc: "A struct of names and values.", Example: "SELECT named_struct('a', 1) → {1}", Bind: bindNamedStruct},
	}
}
