package expr

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// printfFormats keeps the last format compiled.
type printfFormats struct {
	text string
	f    *javatext.PrintfFormat
}

func (c *printfFormats) get(format string) (*javatext.PrintfFormat, error) {
	if c.f == nil || c.text != format {
		f, err := javatext.CompilePrintf(format)
		if err != nil {
			return nil, err
		}
		c.f, c.text = f, format
	}
	return c.f, nil
}

// bindPrintf binds format_string(format, args…). A null argument is the text null; only a null format gives null.
func bindPrintf(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1<<20); err != nil {
		return nil, err
	}
	in, err := b.coerce(args, isString, isAny)
	if err != nil {
		return nil, err
	}
	null := func(args []Expr) bool { return args[0].Nullable() }
	return &call{
		name: b.name(), args: in, typ: columnar.String, null: null(in), nullFn: null, nulls: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			var c printfFormats
			var buf []byte
			values := make([]javatext.PrintfArg, len(a)-1)
			w := columnar.NewBuilder(columnar.String, n)
			for i := range n {
				if a[0].allNull() || a[0].null(i) {
					w.AppendNull()
					continue
				}
				f, err := c.get(str(a[0], i))
				if err != nil {
					return nil, err
				}
				for k, v := range a[1:] {
					values[k] = printfArg(v, i)
				}
				if buf, err = f.Append(buf[:0], values); err != nil {
					return nil, err
				}
				w.AppendBytes(buf)
			}
			return w.Finish(), nil
		},
	}, nil
}

// printfArg is an argument as Java's formatter would get it.
func printfArg(v vec, i int) javatext.PrintfArg {
	if v.allNull() || v.null(i) {
		return javatext.PrintfArg{}
	}
	row := v.row(i)
	switch v.Type.Kind { // the usual ones, without a Datum
	case columnar.KindInt32:
		return javatext.PrintfArg{Kind: javatext.PrintfInteger, Int: int64(columnar.Values[int32](v.Column)[row])}
	case columnar.KindInt64:
		return javatext.PrintfArg{Kind: javatext.PrintfLong, Int: columnar.Values[int64](v.Column)[row]}
	case columnar.KindFloat64:
		return javatext.PrintfArg{Kind: javatext.PrintfDouble, Float: columnar.Values[float64](v.Column)[row]}
	case columnar.KindString:
		return javatext.PrintfArg{Kind: javatext.PrintfString, Text: v.StringAt(row)}
	}
	switch d := v.Datum(row).(type) {
	case bool:
		a := javatext.PrintfArg{Kind: javatext.PrintfBoolean}
		if d {
			a.Int = 1
		}
		return a
	case int8:
		return javatext.PrintfArg{Kind: javatext.PrintfByte, Int: int64(d)}
	case int16:
		return javatext.PrintfArg{Kind: javatext.PrintfShort, Int: int64(d)}
	case float32:
		return javatext.PrintfArg{Kind: javatext.PrintfFloat, Float: float64(d)}
	case int32:
		return javatext.PrintfArg{Kind: javatext.PrintfInteger, Int: int64(d)}
	case int64:
		return javatext.PrintfArg{Kind: javatext.PrintfLong, Int: d}
	}
	return javatext.PrintfArg{Kind: javatext.PrintfObject, Text: string(appendInternal(nil, v.Column, row))}
}

// appendInternal writes a value as Spark's own representation of it prints: an array without spaces, dates and times as numbers.
func appendInternal(dst []byte, c *columnar.Column, i int) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	switch d := c.Datum(i).(type) {
	case int32:
		return strconv.AppendInt(dst, int64(d), 10)
	case int64:
		return strconv.AppendInt(dst, d, 10)
	case []columnar.Datum:
		dst = append(dst, '[')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ',')
			}
			dst = appendInternal(dst, c.Children[0], int(j))
		}
		return append(dst, ']')
	case columnar.MapDatum:
		dst = append(dst, "keys: ["...)
		for part, ch := range c.Children {
			if part > 0 {
				dst = append(dst, "], values: ["...)
			}
			for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
				if j > c.Offsets[i] {
					dst = append(dst, ", "...)
				}
				dst = appendInternal(dst, ch, int(j))
			}
		}
		return append(dst, ']')
	case columnar.StructDatum:
		dst = append(dst, '[')
		for k, ch := range c.Children {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendInternal(dst, ch, i)
		}
		return append(dst, ']')
	}
	style := show.Cast(javatext.UTC())
	return style.Append(dst, c, i)
}

// decimalFormats keeps the last pattern compiled.
type decimalFormats struct {
	text string
	f    *javatext.DecimalFormat
	at   int // of NumberFormat, + 1
}

// bindFormatNumber binds format_number(number, places or pattern).
func bindFormatNumber(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	in, err := b.expectAs(sql, args[:1], isNumeric)
	if err != nil {
		return nil, err
	}
	how := isInt
	if args[1].Type().Kind == columnar.KindString {
		how = isString
	}
	second, err := b.expectAs(sql, args, isAny, oneOf(isInt, isString))
	if err != nil {
		return nil, err
	}
	in = append(in, second[1])
	t := in[0].Type()
	e := simple(b.name(), in, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		var c decimalFormats
		var buf []byte
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			if how.typ.Kind == columnar.KindInt32 {
				places := int(i32(a[1], i))
				if places < 0 {
					w.AppendNull()
					return nil
				}
				if c.f == nil || c.at != places+1 {
					c.f, c.at = javatext.NumberFormat(places), places+1
				}
			} else if p := str(a[1], i); c.f == nil || c.text != p {
				f, err := javatext.CompileDecimalFormat(p)
				if err != nil {
					return err
				}
				c.f, c.text = f, p
			}
			switch d := a[0].Datum(a[0].row(i)).(type) {
			case columnar.Dec128:
				buf = c.f.AppendDecimal(buf[:0], javatext.Int128(d), t.Scale, false)
			case float64:
				buf = c.f.AppendDouble(buf[:0], d)
			case float32:
				buf = c.f.AppendDouble(buf[:0], float64(d))
			case int64:
				buf = c.f.AppendBigint(buf[:0], d)
			case int32:
				buf = c.f.AppendBigint(buf[:0], int64(d))
			case int16:
				buf = c.f.AppendBigint(buf[:0], int64(d))
			case int8:
				buf = c.f.AppendBigint(buf[:0], int64(d))
			}
			w.AppendBytes(buf)
			return nil
		})
	})
	e.null, e.nullFn = true, nil
	return e, nil
}

// bindToChar binds to_char: dates by a pattern, bytes by an encoding, numbers by a format of digits.
func bindToChar(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	switch t := args[0].Type(); t.Kind {
	case columnar.KindDate, columnar.KindTimestamp, columnar.KindTimestampNTZ:
		return b.Func("date_format", args...)
	case columnar.KindBinary:
		v, ok, err := b.foldable(args[1])
		if err != nil {
			return nil, err
		}
		if !ok || args[1].Type().Kind != columnar.KindString {
			return nil, notConstant(b.name(), "format")
		}
		how, _ := v.(string)
		if v == nil {
			return Named(NewLiteral(columnar.String, nil), sql), nil
		}
		how = strings.ToLower(how)
		switch how {
		case "base64", "hex":
			return b.Func(how, args[0])
		case "utf-8":
			return b.Func("decode", args...)
		default:
			return nil, sparkerr.New("INVALID_PARAMETER_VALUE.BINARY_FORMAT", "The value of parameter(s) `format` in `%s` is invalid: expects one of binary formats 'base64', 'hex', 'utf-8', but got '%s'.", b.name(), how)
		}
	}
	return b.numberToChar(sql, args)
}

// formatFunctions are the functions that write and read numbers by a format.
func formatFunctions() []*Function {
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: "format", Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	return []*Function{
		f("format_string", "format_string(format, args…)", "A text by a format like that of printf.", "SELECT format_string('%05d', 42) → 00042", bindPrintf, "printf"),
		f("format_number", "format_number(number, places or pattern)", "A number with groups of three digits and so many places, or by a pattern.", "SELECT format_number(12332.123456, 4) → 12,332.1235", bindFormatNumber),
		f("to_char", "to_char(value, format)", "A number, a date or bytes as a text by a format.", "SELECT to_char(78.12, '$99.99') → $78.12", bindToChar, "to_varchar"),
		f("to_number", "to_number(text, format)", "The number in a text of a format.", "SELECT to_number('12,454', '99,999') → 12454", bindToNumber(false)),
		f("try_to_number", "try_to_number(text, format)", "The same, NULL where that fails.", "SELECT try_to_number('abc', '999') → NULL", bindToNumber(true)),
	}
}
