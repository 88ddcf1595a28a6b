package expr

import (
	"bytes"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// stringFn is a function of one string that gives a string, computed value by value.
func stringFn(f func(dst []byte, s string) []byte, aliases ...string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		name := b.name()
		args, err := b.coerce(args, isString)
		if err != nil {
			return nil, err
		}
		e := simple(name, args, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return mapString(columnar.String, a[0], n, f), nil
		})
		e.safe = true
		return e, nil
	}
}

// strictString is bind for a function whose arguments are strings without any implicit cast but of NULL.
func strictString(bind func(b *Binder, args []Expr) (Expr, error)) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		in, err := b.expect(args, isString)
		if err != nil {
			return nil, err
		}
		return bind(b, in)
	}
}

// bytesInt is a function of one string or binary value that gives an INT.
func bytesInt(f func(v []byte, binary bool) int) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		name := b.name()
		args, err := b.coerce(args, isStringOrBinary)
		if err != nil {
			return nil, err
		}
		binary := args[0].Type().Kind == columnar.KindBinary
		e := simple(name, args, columnar.Int32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			if a[0].con {
				return columnar.Repeat(columnar.Int32, int32(f(a[0].BytesAt(0), binary)), n), nil
			}
			out := make([]int32, n)
			for i := range out {
				out[i] = int32(f(a[0].BytesAt(i), binary))
			}
			return columnar.NewFixed(columnar.Int32, out, validOf(a[0])), nil
		})
		e.safe = true
		return e, nil
	}
}

// typed binds a call whose arguments have fixed types; opt of them may be left out, defaults fill them in.
type typed struct {
	specs    []spec
	defaults []Expr
	out      *columnar.Type
	outOf    func(args []Expr) *columnar.Type // instead of out
	row      func(ctx *Context, b *columnar.Builder, a []vec, i int) error
	nullable bool // the result may be null where no argument is
	show     bool // defaults are printed
	check    func(b *Binder, args []Expr) error
}

// bind is typed as a function's Bind.
func (t typed) bind(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, len(t.specs)-len(t.defaults), len(t.specs)); err != nil {
		return nil, err
	}
	name, shown := b.name(), len(args)
	full := args
	for k := len(args); k < len(t.specs); k++ {
		full = append(full[:len(full):len(full)], t.defaults[k-(len(t.specs)-len(t.defaults))])
	}
	if t.show {
		shown = len(full)
	}
	args, err := b.coerceAs(sqlCall(name, full[:shown]), full, t.specs...)
	if err != nil {
		return nil, err
	}
	if t.check != nil {
		if err := t.check(b, args); err != nil {
			return nil, err
		}
	}
	out := t.out
	if t.outOf != nil {
		out = t.outOf(args)
	}
	e := simple(name, args, out, func(ctx *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(out, a, n, func(w *columnar.Builder, i int) error { return t.row(ctx, w, a, i) })
	})
	e.shown = shown
	if t.nullable {
		e.null, e.nullFn = true, nil
	}
	return e, nil
}

func str(v vec, i int) string                { return v.StringAt(v.row(i)) }
func raw(v vec, i int) []byte                { return v.BytesAt(v.row(i)) }
func i32(v vec, i int) int32                 { return columnar.Values[int32](v.Column)[v.row(i)] }
func i64(v vec, i int) int64                 { return columnar.Values[int64](v.Column)[v.row(i)] }
func truth(v vec, i int) bool                { return v.Bits.Get(v.row(i)) }
func isBinaryVec(v vec) bool                 { return v.Type.Kind == columnar.KindBinary }
func sameAsFirst(args []Expr) *columnar.Type { return args[0].Type() }

// substringOf takes characters, of binary values bytes, as Spark's substring does.
func substringOf(w *columnar.Builder, v vec, i int, pos, length int32) {
	if !isBinaryVec(v) {
		w.AppendString(javatext.Substring(str(v, i), pos, length))
		return
	}
	b := raw(v, i)
	n := int64(len(b))
	start := int64(pos)
	switch {
	case pos > 0:
		start--
	case pos < 0:
		start += n
	}
	end := start + int64(length)
	start, end = min(max(start, 0), n), min(max(end, 0), n)
	if start >= end {
		w.AppendBytes(nil)
		return
	}
	w.AppendBytes(b[start:end])
}

// pad brings s to a length in characters, or bytes of binary values.
func pad(dst []byte, s, fill string, n int, left, binary bool) []byte {
	if binary || isASCII(s) && isASCII(fill) {
		switch {
		case n <= 0:
			return dst
		case len(s) >= n:
			return append(dst, s[:n]...)
		case fill == "":
			return append(dst, s...)
		}
		if !left {
			dst = append(dst, s...)
		}
		for missing := n - len(s); missing > 0; missing -= len(fill) {
			dst = append(dst, fill[:min(missing, len(fill))]...)
		}
		if left {
			dst = append(dst, s...)
		}
		return dst
	}
	length, cut := javatext.Length(s), func(s string, n int) string { return javatext.Substring(s, 1, int32(n)) }
	fillLength := javatext.Length(fill)
	if n <= 0 {
		return dst
	}
	if length >= n {
		return append(dst, cut(s, n)...)
	}
	if fillLength == 0 {
		return append(dst, s...)
	}
	missing := n - length
	p := strings.Repeat(fill, missing/fillLength) + cut(fill, missing%fillLength)
	if left {
		return append(append(dst, p...), s...)
	}
	return append(append(dst, s...), p...)
}

func bindPad(left bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 3); err != nil {
			return nil, err
		}
		name := b.name()
		binary := args[0].Type().Kind == columnar.KindBinary && (len(args) == 2 || args[2].Type().Kind == columnar.KindBinary)
		full := args
		if len(args) == 2 {
			fill := Expr(NewString(" "))
			if binary {
				fill = NewLiteral(columnar.Binary, []byte{0})
			}
			full = append(full[:2:2], fill)
		}
		s, out := isString, columnar.String
		if binary {
			s, out = isBinary, columnar.Binary
		}
		sql := sqlCall(name, full)
		full, err := b.coerceAs(sql, full, s, isInt, s)
		if err != nil {
			return nil, err
		}
		return simple(name, full, out, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(out, a, n, func(w *columnar.Builder, i int) error {
				fill, length := str(a[2], i), int64(i32(a[1], i))
				if length*int64(len(fill)) > maxString && length > int64(len(str(a[0], i))) {
					return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "the string would have %d bytes, the limit is %d", length*int64(len(fill)), maxString)
				}
				w.FinishScratch(pad(w.Scratch(), str(a[0], i), fill, int(length), left, binary))
				return nil
			})
		}), nil
	}
}

// bindTrim binds trim, ltrim, rtrim and btrim; the characters to remove come second, or before FROM.
func bindTrim(left, right bool, word string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 2); err != nil {
			return nil, err
		}
		name := b.name()
		two := len(args) == 2
		text, chars := args[0], Expr(nil)
		if two {
			chars = args[1]
			if name != "btrim" {
				text, chars = args[1], args[0]
			}
		}
		print := func(a []Expr) string {
			if name == "btrim" {
				return sqlCall(name, a)
			}
			if len(a) == 1 {
				return sqlCall(name, a)
			}
			return "TRIM(" + word + " " + a[1].SQL() + " FROM " + a[0].SQL() + ")"
		}
		in := []Expr{text}
		if two {
			in = append(in, chars)
		}
		sql := print(in)
		in, err := b.coerceAs(sql, in, isString)
		if err != nil {
			return nil, err
		}
		e := simple(name, in, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			if !two {
				return mapString(columnar.String, a[0], n, func(dst []byte, s string) []byte {
					return append(dst, trimSet(s, " ", left, right)...)
				}), nil
			}
			return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
				w.AppendString(trimSet(str(a[0], i), str(a[1], i), left, right))
				return nil
			})
		})
		e.text = print
		e.safe = true
		return e, nil
	}
}

// trimSet removes the characters of set from the ends of s.
func trimSet(s, set string, left, right bool) string {
	in := func(r rune) bool { return strings.ContainsRune(set, r) }
	if set == " " {
		if left {
			s = strings.TrimLeft(s, " ")
		}
		if right {
			s = strings.TrimRight(s, " ")
		}
		return s
	}
	if left {
		s = strings.TrimLeftFunc(s, in)
	}
	if right {
		s = strings.TrimRightFunc(s, in)
	}
	return s
}

// position is the place, in characters from 1, of sub in s at or after the character start; 0 if it is not there.
func position(sub, s string, start int32) int32 {
	if start < 1 {
		return 0
	}
	if sub == "" {
		return 1
	}
	skip := javatext.ByteOffset(s, int(start-1))
	if skip > len(s) || int(start-1) > javatext.Length(s) {
		return 0
	}
	k := strings.Index(s[skip:], sub)
	if k < 0 {
		return 0
	}
	return start + int32(javatext.Length(s[skip:skip+k]))
}

// bindContains binds contains, startswith and endswith over strings or binary values.
func bindContains(f func(s, sub []byte) bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		name := b.name()
		s := isString
		if args[0].Type().Kind == columnar.KindBinary && args[1].Type().Kind == columnar.KindBinary {
			s = isBinary
		}
		args, err := b.coerce(args, s)
		if err != nil {
			return nil, err
		}
		e := simple(name, args, columnar.Bool, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return bools(a, n, func(i int) bool { return f(raw(a[0], i), raw(a[1], i)) }), nil
		})
		e.safe = true
		return e, nil
	}
}

// bindConcatWs joins strings and arrays of strings, nulls left out.
func bindConcatWs(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, -1); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	in := make([]Expr, len(args))
	for i, a := range args {
		t := a.Type()
		switch {
		case i > 0 && t.Kind == columnar.KindArray && (t.Elem.Kind == columnar.KindString || t.Elem.Kind == columnar.KindNull):
			in[i] = b.implicit(a, columnar.ArrayOf(columnar.String, true))
		case i > 0 && t.Kind == columnar.KindArray && canCast(t.Elem, columnar.String, b.castMode()):
			in[i] = b.implicit(a, columnar.ArrayOf(columnar.String, true))
		default:
			to := b.implicitType(t, isString)
			if to == nil && !t.IsNested() && canCast(t, columnar.String, b.castMode()) {
				to = columnar.String
			}
			if to == nil {
				want := `("STRING" or "ARRAY<STRING>")`
				if i == 0 {
					want = `"STRING"`
				}
				return nil, unexpectedInput(sql, i, want, a)
			}
			in[i] = b.implicit(a, to)
		}
	}
	nullable := func(a []Expr) bool { return a[0].Nullable() }
	return &call{
		name: "concat_ws", args: in, typ: columnar.String, null: nullable(in), nullFn: nullable, nulls: true, safe: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			w := columnar.NewBuilder(columnar.String, n)
			for i := 0; i < n; i++ {
				if a[0].null(i) {
					w.AppendNull()
					continue
				}
				sep, buf, first := raw(a[0], i), w.Scratch(), true
				add := func(s []byte) {
					if !first {
						buf = append(buf, sep...)
					}
					first = false
					buf = append(buf, s...)
				}
				for _, v := range a[1:] {
					r := v.row(i)
					if v.IsNull(r) {
						continue
					}
					if v.Type.Kind != columnar.KindArray {
						add(v.BytesAt(r))
						continue
					}
					for j := v.Offsets[r]; j < v.Offsets[r+1]; j++ {
						if !v.Children[0].IsNull(int(j)) {
							add(v.Children[0].BytesAt(int(j)))
						}
					}
				}
				w.FinishScratch(buf)
			}
			return w.Finish(), nil
		},
	}, nil
}

// bindElt binds elt(n, a, b, …).
func bindElt(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, -1); err != nil {
		return nil, err
	}
	s := isString
	binary := true
	for _, a := range args[1:] {
		binary = binary && a.Type().Kind == columnar.KindBinary
	}
	if binary {
		s = isBinary
	}
	sql := b.sql(args)
	in := make([]Expr, len(args))
	for i, a := range args {
		sp := s
		if i == 0 {
			sp = isInt
		}
		t := b.implicitType(a.Type(), sp)
		if t == nil && i > 0 && !a.Type().IsNested() {
			t = columnar.String
		}
		if t == nil {
			return nil, unexpectedInput(sql, i, sp.text(), a)
		}
		in[i] = b.implicit(a, t)
	}
	out := in[1].Type()
	ansi := b.ANSI
	count := len(in) - 1
	return &call{name: "elt", args: in, typ: out, null: true, nulls: true, kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		w := columnar.NewBuilder(out, n)
		for i := 0; i < n; i++ {
			if a[0].null(i) {
				w.AppendNull()
				continue
			}
			k := int(i32(a[0], i))
			if k < 1 || k > count {
				if ansi {
					return nil, sparkerr.New("INVALID_ARRAY_INDEX", "the index %d is out of bounds. The array has %d elements. Use the SQL function `get()` to tolerate accessing element at invalid index and return NULL instead", k, count)
				}
				w.AppendNull()
				continue
			}
			w.AppendFrom(a[k].Column, a[k].row(i))
		}
		return w.Finish(), nil
	}}, nil
}

// substringIndex is what stands before the count-th delimiter, from the right when count is negative.
func substringIndex(s, delim string, count int32) string {
	if delim == "" || count == 0 {
		return ""
	}
	if count > 0 {
		at := 0
		for ; count > 0; count-- {
			k := strings.Index(s[at:], delim)
			if k < 0 {
				return s
			}
			at += k
			if count > 1 {
				at += len(delim)
			}
		}
		return s[:at]
	}
	end := len(s)
	for ; count < 0; count++ {
		k := strings.LastIndex(s[:end], delim)
		if k < 0 {
			return s
		}
		end = k
	}
	return s[end+len(delim):]
}

// splitPart is the part-th piece of s between delimiters, from the end when part is negative.
func splitPart(s, delim string, part int32) (string, error) {
	if part == 0 {
		return "", sparkerr.New("INVALID_INDEX_OF_ZERO", "the index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1)")
	}
	pieces := []string{s}
	if delim != "" {
		pieces = strings.Split(s, delim)
	}
	k := int(part) - 1
	if part < 0 {
		k = len(pieces) + int(part)
	}
	if k < 0 || k >= len(pieces) {
		return "", nil
	}
	return pieces[k], nil
}

// mask replaces letters and digits by stand-ins; a null stand-in keeps what it would replace.
func mask(dst []byte, s string, upper, lower, digit, other []byte) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		c := s[i : i+n]
		i += n
		var by []byte
		switch {
		case r >= 'A' && r <= 'Z' || unicode.IsUpper(r):
			by = upper
		case r >= 'a' && r <= 'z' || unicode.IsLower(r):
			by = lower
		case r >= '0' && r <= '9' || unicode.IsDigit(r):
			by = digit
		default:
			by = other
		}
		if by == nil {
			dst = append(dst, c...)
		} else {
			dst = append(dst, by...)
		}
	}
	return dst
}

func bindMask(b *Binder, args []Expr) (Expr, error) {
	if len(args) == 0 {
		return nil, sparkerr.New("REQUIRED_PARAMETER_NOT_FOUND", "cannot invoke routine `mask` because the parameter named `str` is required, but the routine call did not supply a value")
	}
	if err := b.argCount(args, 1, 5); err != nil {
		return nil, err
	}
	name := b.name()
	full := args[:len(args):len(args)]
	for k, d := range []Expr{NewString("X"), NewString("x"), NewString("n"), NewLiteral(columnar.Null, nil)} {
		if len(full) < k+2 {
			full = append(full, d)
		}
	}
	sql := sqlCall(name, full)
	in, err := b.expectAs(sql, full, isString)
	if err != nil {
		return nil, err
	}
	for i, a := range in[1:] {
		v, ok, err := b.foldable(a)
		if err != nil {
			return nil, err
		}
		names := [...]string{"upperChar", "lowerChar", "digitChar", "otherChar"}
		if !ok {
			return nil, mismatch("NON_FOLDABLE_INPUT", sql, "the input `%s` should be a foldable \"STRING\" expression; however, got \"%s\"", names[i], a.SQL())
		}
		if s, isText := v.(string); isText && utf8.RuneCountInString(s) != 1 {
			return nil, mismatch("INPUT_SIZE_NOT_ONE", sql, "length of `%s` should be 1", names[i])
		}
	}
	e := &call{name: name, args: in, typ: columnar.String, null: anyNullable(in), nullFn: anyNullable, nulls: true, kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		stand := func(v vec, i int) []byte {
			if v.null(i) {
				return nil
			}
			return raw(v, i)
		}
		w := columnar.NewBuilder(columnar.String, n)
		for i := 0; i < n; i++ {
			if a[0].null(i) {
				w.AppendNull()
				continue
			}
			w.FinishScratch(mask(w.Scratch(), str(a[0], i), stand(a[1], i), stand(a[2], i), stand(a[3], i), stand(a[4], i)))
		}
		return w.Finish(), nil
	}}
	return e, nil
}

// appendHex appends bytes as upper-case digits.
func appendHex(dst []byte, v []byte) []byte {
	at := len(dst)
	dst = hex.AppendEncode(dst, v)
	return append(dst[:at], bytes.ToUpper(dst[at:])...)
}

// isASCII tells whether every character of s is one byte.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
