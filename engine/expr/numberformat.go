package expr

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// numberToken is a part of a format of to_number and to_char.
type numberToken struct {
	kind   byte // '9' at most and '0' exactly so many digits, ',', '.', '$', 'S', '-' for MI, '<' and '>' for PR
	digits int
}

// numberFormat is a format of digits, such as '$99,999.90S'.
type numberFormat struct {
	text                     string
	tokens                   []numberToken
	precision, scale, before int
}

// compileNumberFormat reads a format; its errors are those of Spark.
func compileNumberFormat(text string) (*numberFormat, error) {
	upper := strings.ToUpper(text)
	f := &numberFormat{text: upper}
	if upper == "" {
		return nil, sparkerr.New("INVALID_FORMAT.EMPTY", "The format is invalid: '%s'. The number format string cannot be empty.", text)
	}
	bad := false
	for i := 0; i < len(upper); {
		switch c := upper[i]; c {
		case '0', '9':
			n := 0
			for i < len(upper) && (upper[i] == '0' || upper[i] == '9') {
				i, n = i+1, n+1
			}
			f.tokens = append(f.tokens, numberToken{c, n})
			continue
		case '.', 'D':
			f.tokens = append(f.tokens, numberToken{kind: '.'})
		case ',', 'G':
			f.tokens = append(f.tokens, numberToken{kind: ','})
		case '$', 'S':
			f.tokens = append(f.tokens, numberToken{kind: c})
		case 'M', 'P':
			if i+1 < len(upper) && upper[i:i+2] == "MI" {
				f.tokens = append(f.tokens, numberToken{kind: '-'})
				i++
			} else if i+1 < len(upper) && upper[i:i+2] == "PR" {
				f.tokens = append([]numberToken{{kind: '<'}}, f.tokens...)
				f.tokens = append(f.tokens, numberToken{kind: '>'})
				i++
			} else {
				bad = true
			}
		default:
			bad = true
		}
		i++
	}
	return f, f.check(bad)
}

// check refuses formats that make no sense.
func (f *numberFormat) check(unknown bool) error {
	count := map[byte]int{}
	point := false
	for i, t := range f.tokens {
		switch t.kind {
		case '0', '9':
			count['9']++
			f.precision += t.digits
			if point {
				f.scale += t.digits
			} else {
				f.before += t.digits
			}
			continue
		case '.':
			point = true
		case ',':
			if point {
				return sparkerr.New("INVALID_FORMAT.THOUSANDS_SEPS_MUST_BEFORE_DEC", "The format is invalid: '%s'. Thousands separators (, or G) may not appear after the decimal point in the number format.", f.text)
			}
			if !f.digitsAt(i-1) || !f.digitsAt(i+1) {
				return sparkerr.New("INVALID_FORMAT.CONT_THOUSANDS_SEPS", "The format is invalid: '%s'. Thousands separators (, or G) must have digits in between them in the number format.", f.text)
			}
			continue
		}
		count[t.kind]++
	}
	if count['9'] == 0 {
		return sparkerr.New("INVALID_FORMAT.WRONG_NUM_DIGIT", "The format is invalid: '%s'. The format string requires at least one number digit.", f.text)
	}
	for _, k := range []struct {
		kind byte
		name string
	}{{'.', ". or D"}, {'$', "$"}, {'S', "S"}, {'-', "MI"}, {'>', "PR"}} {
		if count[k.kind] > 1 {
			return sparkerr.New("INVALID_FORMAT.WRONG_NUM_TOKEN", "The format is invalid: '%s'. The format string requires at most one %s.", f.text, k.name)
		}
	}
	// Tokens come in this order, each at most once, digits with separators as one.
	const order = "<-S$9.9$-S>"
	at := 0
	for i, t := range f.tokens {
		kind := t.kind
		switch {
		case kind == ',':
			continue
		case kind == '0' || kind == '9':
			if i > 0 && (f.tokens[i-1].kind == ',' || f.digitsAt(i-1)) {
				continue
			}
			kind = '9'
		}
		n := strings.IndexByte(order[at:], kind)
		if n < 0 {
			unknown = true
			break
		}
		at += n + 1
	}
	if unknown {
		return sparkerr.New("INVALID_FORMAT.UNEXPECTED_TOKEN", "The format is invalid: '%s'. Found an unexpected token in the format string; the structure of the format string must match: [MI|S] [$] [0|9|G|,]* [.|D] [0|9]* [$] [PR|MI|S].", f.text)
	}
	if f.precision > 38 {
		return sparkerr.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal precision %d exceeds max precision 38.", f.precision)
	}
	return nil
}

func (f *numberFormat) digitsAt(i int) bool {
	return i >= 0 && i < len(f.tokens) && (f.tokens[i].kind == '0' || f.tokens[i].kind == '9')
}

// parse reads a number; ok is false where the text does not match.
func (f *numberFormat) parse(s string) (v columnar.Dec128, ok bool) {
	digits := make([]byte, 0, 40)
	after, point, negative, open := 0, false, false, 0
	at := 0
	next := func(c byte) bool {
		if at < len(s) && s[at] == c {
			at++
			return true
		}
		return false
	}
	for i := 0; i < len(f.tokens); i++ {
		for at < len(s) && (s[at] == ' ' || s[at] >= '\t' && s[at] <= '\r') {
			at++
		}
		switch f.tokens[i].kind {
		case '0', '9':
			first := i
			for i+1 < len(f.tokens) && (f.tokens[i+1].kind == ',' || f.digitsAt(i+1)) {
				i++
			}
			groups := []int{0}
		scan:
			for ; at < len(s); at++ {
				switch c := s[at]; {
				case c >= '0' && c <= '9':
					groups[len(groups)-1]++
					digits = append(digits, c)
					if point {
						after++
					}
				case c == ',':
					groups = append(groups, 0)
				case c == ' ' || c >= '\t' && c <= '\r':
				default:
					break scan
				}
			}
			if !f.matchGroups(f.tokens[first:i+1], groups) {
				return v, false
			}
		case '.':
			point = point || next('.')
		case '$':
			if !next('$') {
				return v, false
			}
		case 'S':
			if !next('+') && next('-') {
				negative = !negative
			}
		case '-':
			if next('-') {
				negative = !negative
			}
		case '<':
			if next('<') {
				open++
			}
		case '>':
			if next('>') {
				open--
				negative = !negative
			}
		}
	}
	if at < len(s) || open != 0 || len(digits) == 0 || after > f.scale {
		return v, false
	}
	for ; after < f.scale; after++ {
		digits = append(digits, '0')
	}
	n, status := javatext.ParseDecimal(string(digits), 38, 0)
	if status != javatext.DecimalOK {
		return v, false
	}
	v = columnar.Dec128(n)
	if negative {
		v = v.Neg()
	}
	return v, true
}

// matchGroups compares the digits between separators with the format, from the right.
func (f *numberFormat) matchGroups(tokens []numberToken, groups []int) bool {
	for i := len(tokens) - 1; i >= 0; i-- {
		if tokens[i].kind == ',' {
			continue
		}
		have := 0
		if n := len(groups); n > 0 {
			have, groups = groups[n-1], groups[:n-1]
		}
		if have > tokens[i].digits || tokens[i].kind == '0' && have != tokens[i].digits {
			return false
		}
	}
	return len(groups) == 0
}

// append writes v / 10^scale by the format; what does not fit becomes #.
func (f *numberFormat) append(dst []byte, v columnar.Dec128, scale int) []byte {
	plain := string(javatext.AppendDecimal(nil, javatext.Int128(v), scale))
	plain = strings.TrimPrefix(plain, "-")
	before, after, _ := strings.Cut(plain, ".")
	before, after = strings.TrimLeft(before, "0"), strings.TrimRight(after, "0")
	start := len(dst)
	if len(before) > f.before || len(after) > f.scale {
		for _, c := range []byte(f.text) {
			if c == '0' || c == '9' {
				c = '#'
			}
			dst = append(dst, c)
		}
		return dst
	}
	before = strings.Repeat(" ", f.before-len(before)) + before
	after += strings.Repeat(" ", f.scale-len(after))
	negative, point := v.Hi < 0, false
	for _, t := range f.tokens {
		switch t.kind {
		case '0', '9':
			from := &before
			if point {
				from = &after
			}
			for _, c := range []byte((*from)[:t.digits]) {
				switch {
				case c != ' ':
					dst = append(dst, c)
				case t.kind == '0' || point:
					dst = append(dst, '0')
				default:
					dst = appendPad(dst, start)
				}
			}
			*from = (*from)[t.digits:]
		case ',':
			if n := len(dst); n > start && dst[n-1] >= '0' && dst[n-1] <= '9' {
				dst = append(dst, ',')
			} else {
				dst = appendPad(dst, start)
			}
		case '.':
			if n := len(dst); n > start && dst[n-1] == ' ' {
				dst[n-1] = '0'
			}
			dst, point = append(dst, '.'), true
		case '$':
			dst = append(dst, '$')
		case 'S':
			sign := byte('+')
			if negative {
				sign = '-'
			}
			dst = appendSign(stripPoint(dst, start), start, sign)
		case '-':
			if negative {
				dst = appendSign(stripPoint(dst, start), start, '-')
			} else {
				dst = append(dst, ' ')
			}
		case '<':
			if negative {
				dst = append(dst, '<')
			}
		case '>':
			if dst = stripPoint(dst, start); negative {
				dst = appendSign(dst, start, '>')
			} else {
				dst = append(dst, "  "...)
			}
		}
	}
	return stripPoint(dst, start)
}

// appendPad appends a space, in front of a sign or a currency that stands last.
func appendPad(dst []byte, start int) []byte {
	at := len(dst)
	for at > start && strings.IndexByte("+-$<", dst[at-1]) >= 0 {
		at--
	}
	dst = append(dst, 0)
	copy(dst[at+1:], dst[at:])
	dst[at] = ' '
	return dst
}

// appendSign appends a sign behind the last character that is not a space.
func appendSign(dst []byte, start int, c byte) []byte {
	at := len(dst)
	for at > start && dst[at-1] == ' ' {
		at--
	}
	if at == start {
		at = len(dst)
	}
	if at == len(dst) {
		return append(dst, c)
	}
	dst[at] = c
	return dst
}

// stripPoint blanks a decimal point that stands last.
func stripPoint(dst []byte, start int) []byte {
	if n := len(dst); n > start && dst[n-1] == '.' {
		dst[n-1] = ' '
	}
	return dst
}

// formatArg is the constant format of to_number and to_char; nil for NULL.
func (b *Binder) formatArg(sql string, args []Expr) (*numberFormat, error) {
	v, err := b.constant(sql, args, 1, isString, "format")
	if err != nil || v == nil {
		return nil, err
	}
	return compileNumberFormat(v.(string))
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
			buf = f.append(buf[:0], columnar.Values[columnar.Dec128](a[0].Column)[a[0].row(i)], scale)
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
			return Named(NewLiteral(columnar.Decimal(38, 18), nil), sql), nil
		}
		typ := columnar.Decimal(f.precision, f.scale)
		e := simple(b.name(), in, typ, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(typ, a, n, func(w *columnar.Builder, i int) error {
				v, ok := f.parse(str(a[0], i))
				switch {
				case ok:
					w.AppendDecimal(v)
				case try:
					w.AppendNull()
				default:
					return sparkerr.New("INVALID_FORMAT.MISMATCH_INPUT", "The format is invalid: %s. The input \"STRING\" %s does not match the format.", f.text, str(a[0], i))
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
