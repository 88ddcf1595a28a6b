package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// formatArg is the constant format of to_number and to_char; nil for NULL.
func (b *Binder) formatArg(sql string, args []Expr) (*javatext.ToCharFormat, error) {
	v, err := b.constant(sql, args, 1, isString, "format")
	if err != nil || v == nil {
		return nil, err
	}
	return javatext.CompileToCharFormat(v.(string))
}

func (b *Binder) numberToChar(sql string, args []Expr) (Expr, error) {
	in, err := b.coerceAs(sql, args[:1], isDecimal)
	if err != nil {
		return nil, err
	}
	f, err := b.formatArg(sql, args)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return Named(NewLiteral(columnar.String, nil), sql), nil
	}
	scale := in[0].Type().Scale
	e := simple(b.name(), in, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		var buf []byte
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			buf = f.AppendDecimal(buf[:0], javatext.Int128(columnar.Values[columnar.Dec128](a[0].Column)[a[0].row(i)]), scale)
			w.AppendBytes(buf)
			return nil
		})
	})
	e.text = func([]Expr) string { return sql }
	return e, nil
}

func bindToNumber(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		sql := b.sql(args)
		in, err := b.coerceAs(sql, args[:1], isString)
		if err != nil {
			return nil, err
		}
		f, err := b.formatArg(sql, args)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return Named(NewLiteral(columnar.Decimal(10, 0), nil), sql), nil
		}
		typ := columnar.Decimal(f.Precision(), f.Scale())
		e := simple(b.name(), in, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(typ, a, n, func(w *columnar.Builder, i int) error {
				v, ok := f.ParseDecimal(str(a[0], i))
				switch {
				case ok:
					w.AppendDecimal(columnar.Dec128(v))
				case try:
					w.AppendNull()
				default:
					return f.MismatchError(str(a[0], i))
				}
				return nil
			})
		})
		if e.text = func([]Expr) string { return sql }; try {
			e.null, e.nullFn = true, nil
		}
		return e, nil
	}
}
