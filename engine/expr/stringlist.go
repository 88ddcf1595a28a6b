package expr

import (
	"bytes"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// stringFunctions are the functions of strings and binary values.
func stringFunctions() []*Function {
	const family = "string"
	f := func(name, signature, doc, example string, bind func(b *Binder, args []Expr) (Expr, error), aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Family: family, Signature: signature, Doc: doc, Example: example, Bind: bind}
	}
	characters := func(v []byte, binary bool) int {
		if binary {
			return len(v)
		}
		return javatext.Length(string(v))
	}
	return []*Function{
		f("length", "length(expr)", "Characters of a string, bytes of a binary value.", "SELECT length('Spark') → 5", bytesInt(characters), "len", "char_length", "character_length"),
		f("octet_length", "octet_length(expr)", "Bytes of a string or binary value.", "SELECT octet_length('é') → 2", bytesInt(func(v []byte, _ bool) int { return len(v) })),
		f("bit_length", "bit_length(expr)", "Bits of a string or binary value.", "SELECT bit_length('a') → 8", bytesInt(func(v []byte, _ bool) int { return 8 * len(v) })),
		f("upper", "upper(str)", "The string in upper case.", "SELECT upper('a') → A", stringFn(javatext.AppendUpper), "ucase"),
		f("lower", "lower(str)", "The string in lower case.", "SELECT lower('A') → a", stringFn(javatext.AppendLower), "lcase"),
		f("initcap", "initcap(str)", "Each word with a capital.", "SELECT initcap('sPark sql') → Spark Sql", stringFn(javatext.AppendInitcap)),
		f("trim", "trim([chars,] str)", "The string without blanks, or without some characters, at its ends.", "SELECT trim(' a ') → a", bindTrim(true, true, "BOTH")),
		f("btrim", "btrim(str[, chars])", "The string without blanks, or without some characters, at its ends.", "SELECT btrim('xax', 'x') → a", bindTrim(true, true, "BOTH")),
		f("ltrim", "ltrim([chars,] str)", "The string without blanks at its beginning.", "SELECT ltrim(' a') → a", bindTrim(true, false, "LEADING")),
		f("rtrim", "rtrim([chars,] str)", "The string without blanks at its end.", "SELECT rtrim('a ') → a", bindTrim(false, true, "TRAILING")),
		f("ascii", "ascii(str)", "The number of the first character.", "SELECT ascii('a') → 97", typed{specs: []spec{isString}, out: columnar.Int32, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s := str(a[0], i)
			r, n := utf8.DecodeRuneInString(s)
			if n == 0 {
				r = 0
			}
			w.AppendInt(int64(r))
			return nil
		}}.bind),
		f("chr", "chr(n)", "The character of a number, modulo 256.", "SELECT chr(65) → A", typed{specs: []spec{isBigint}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			n := i64(a[0], i)
			switch {
			case n < 0:
				w.AppendString("")
			case n&0xff == 0:
				w.AppendString("\x00")
			default:
				w.AppendString(string(rune(n & 0xff)))
			}
			return nil
		}}.bind, "char"),
		f("soundex", "soundex(str)", "The Soundex code.", "SELECT soundex('Miller') → M460", strictString(stringFn(func(dst []byte, s string) []byte { return append(dst, javatext.Soundex(s)...) }))),
		f("base64", "base64(bin)", "Base64 of a binary value.", "SELECT base64('Spark') → U3Bhcms=", typed{specs: []spec{isBinary}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.FinishScratch(javatext.AppendBase64(w.Scratch(), raw(a[0], i)))
			return nil
		}}.bind),
		f("unbase64", "unbase64(str)", "The binary value of Base64.", "SELECT unbase64('U3Bhcms=') → Spark", typed{specs: []spec{isString}, out: columnar.Binary, nullable: true, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			out, ok := javatext.AppendUnbase64(w.Scratch(), str(a[0], i))
			if !ok {
				return sparkerr.New("CONVERSION_INVALID_INPUT", "the value '%s' cannot be converted to \"BINARY\" because it is malformed base64", str(a[0], i))
			}
			w.FinishScratch(out)
			return nil
		}}.bind),
		f("hex", "hex(expr)", "Hexadecimal digits of a number, a string or a binary value.", "SELECT hex(17) → 11", bindHex),
		f("unhex", "unhex(str)", "The bytes of hexadecimal digits, NULL if there are others.", "SELECT unhex('414243') → ABC", typed{specs: []spec{isString}, out: columnar.Binary, nullable: true, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			v, ok := unhex(str(a[0], i))
			if !ok {
				w.AppendNull()
			} else {
				w.AppendBytes(v)
			}
			return nil
		}}.bind),
		f("substring", "substring(str, pos[, len])", "Characters from a place on, from 1, or from the end when negative.", "SELECT substring('Spark SQL', 5, 1) → k", bindSubstring, "substr"),
		f("left", "left(str, n)", "The first characters.", "SELECT left('Spark', 2) → Sp", typed{specs: []spec{isStringOrBinary, isInt}, outOf: sameAsFirst, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			substringOf(w, a[0], i, 1, max(i32(a[1], i), 0))
			return nil
		}}.bind),
		f("right", "right(str, n)", "The last characters.", "SELECT right('Spark', 2) → rk", typed{specs: []spec{isString, isInt}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			n := i32(a[1], i)
			if n <= 0 {
				w.AppendString("")
				return nil
			}
			substringOf(w, a[0], i, -n, n)
			return nil
		}}.bind),
		f("lpad", "lpad(str, len[, pad])", "The string brought to a length from the left.", "SELECT lpad('hi', 5, '?') → ???hi", bindPad(true)),
		f("rpad", "rpad(str, len[, pad])", "The string brought to a length from the right.", "SELECT rpad('hi', 5, '?') → hi???", bindPad(false)),
		f("repeat", "repeat(str, n)", "The string n times.", "SELECT repeat('ab', 2) → abab", typed{specs: []spec{isString, isInt}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s, n := raw(a[0], i), max(i32(a[1], i), 0)
			if int64(len(s))*int64(n) > maxString {
				return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "the string would have %d bytes, the limit is %d", int64(len(s))*int64(n), maxString)
			}
			w.AppendBytes(bytes.Repeat(s, int(n)))
			return nil
		}}.bind),
		f("space", "space(n)", "n blanks.", "SELECT space(2) → '  '", typed{specs: []spec{isInt}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			n := max(i32(a[0], i), 0)
			if int64(n) > maxString {
				return sparkerr.New("COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER", "the string would have %d bytes, the limit is %d", n, maxString)
			}
			w.AppendString(strings.Repeat(" ", int(n)))
			return nil
		}}.bind),
		f("replace", "replace(str, search[, by])", "The string with every occurrence replaced.", "SELECT replace('aba', 'a', 'x') → xbx", typed{specs: []spec{isString, isString, isString}, defaults: []Expr{NewString("")}, show: true, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s, from := str(a[0], i), str(a[1], i)
			if from != "" {
				s = strings.ReplaceAll(s, from, str(a[2], i))
			}
			w.AppendString(s)
			return nil
		}}.bind),
		f("translate", "translate(str, from, to)", "The string with characters replaced one by one, or left out.", "SELECT translate('abc', 'ab', 'x') → xc", typed{specs: []spec{isString, isString, isString}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.FinishScratch(translate(w.Scratch(), str(a[0], i), str(a[1], i), str(a[2], i)))
			return nil
		}}.bind),
		f("overlay", "overlay(str, by, pos[, len])", "The string with a part replaced.", "SELECT overlay('Spark SQL', '_', 6) → Spark_SQL", bindOverlay),
		f("instr", "instr(str, sub)", "The place of the first occurrence, from 1; 0 for none.", "SELECT instr('SparkSQL', 'SQL') → 6", typed{specs: []spec{isString, isString}, out: columnar.Int32, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendInt(int64(position(str(a[1], i), str(a[0], i), 1)))
			return nil
		}}.bind),
		f("locate", "locate(sub, str[, pos])", "The place of the first occurrence at or after pos, from 1; 0 for none.", "SELECT locate('bar', 'foobarbar', 5) → 7", bindLocate, "position"),
		f("find_in_set", "find_in_set(str, list)", "The place of a string in a list parted by commas; 0 for none.", "SELECT find_in_set('ab', 'abc,b,ab') → 3", typed{specs: []spec{isString, isString}, out: columnar.Int32, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s := str(a[0], i)
			n := 0
			if !strings.Contains(s, ",") {
				for k, p := range strings.Split(str(a[1], i), ",") {
					if p == s {
						n = k + 1
						break
					}
				}
			}
			w.AppendInt(int64(n))
			return nil
		}}.bind),
		f("contains", "contains(str, sub)", "Whether the string contains another.", "SELECT contains('Spark', 'ar') → true", bindContains(bytes.Contains)),
		f("startswith", "startswith(str, sub)", "Whether the string begins with another.", "SELECT startswith('Spark', 'Sp') → true", bindContains(bytes.HasPrefix)),
		f("endswith", "endswith(str, sub)", "Whether the string ends with another.", "SELECT endswith('Spark', 'rk') → true", bindContains(bytes.HasSuffix)),
		f("concat_ws", "concat_ws(sep[, str | array]…)", "Strings joined by a separator, NULLs left out.", "SELECT concat_ws('-', 'a', NULL, 'b') → a-b", bindConcatWs),
		f("elt", "elt(n, a, b, …)", "The n-th of the arguments.", "SELECT elt(1, 'a', 'b') → a", bindElt),
		f("substring_index", "substring_index(str, delim, n)", "What stands before the n-th delimiter, from the right when n is negative.", "SELECT substring_index('a.b.c', '.', 2) → a.b", typed{specs: []spec{isString, isString, isInt}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendString(substringIndex(str(a[0], i), str(a[1], i), i32(a[2], i)))
			return nil
		}}.bind),
		f("split_part", "split_part(str, delim, n)", "The n-th piece between delimiters, from the end when n is negative.", "SELECT split_part('a.b.c', '.', 3) → c", typed{specs: []spec{isString, isString, isInt}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s, err := splitPart(str(a[0], i), str(a[1], i), i32(a[2], i))
			if err == nil {
				w.AppendString(s)
			}
			return err
		}}.bind),
		f("levenshtein", "levenshtein(a, b[, limit])", "How many changes turn one string into the other; -1 beyond the limit.", "SELECT levenshtein('kitten', 'sitting') → 3", bindLevenshtein),
		f("encode", "encode(str, charset)", "The bytes of a string in a character set.", "SELECT encode('abc', 'utf-8') → abc", bindCharset("encode")),
		f("decode_charset", "decode(bin, charset)", "The string of bytes in a character set: decode of two arguments.", "SELECT decode(X'616263', 'utf-8') → abc", bindCharset("decode")),
		f("quote", "quote(str)", "The string in single quotes.", "SELECT quote('a') → 'a'", stringFn(func(dst []byte, s string) []byte {
			return append(append(append(dst, '\''), strings.ReplaceAll(javatext.MakeValidUTF8(s), "'", "\\'")...), '\'')
		})),
		f("mask", "mask(str[, upper[, lower[, digit[, other]]]])", "The string with its letters and digits replaced.", "SELECT mask('AbCD123-@$#') → XxXXnnn-@$#", bindMask),
		f("luhn_check", "luhn_check(str)", "Whether digits pass Luhn's test.", "SELECT luhn_check('79927398713') → true", typed{specs: []spec{isString}, out: columnar.Bool, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendBool(luhn(str(a[0], i)))
			return nil
		}}.bind),
		f("is_valid_utf8", "is_valid_utf8(str)", "Whether the string is UTF-8.", "SELECT is_valid_utf8('a') → true", typed{specs: []spec{isString}, out: columnar.Bool, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			w.AppendBool(javatext.IsValidUTF8(str(a[0], i)))
			return nil
		}}.bind),
		f("make_valid_utf8", "make_valid_utf8(str)", "The string with what is not UTF-8 replaced.", "SELECT make_valid_utf8('a') → a", stringFn(func(dst []byte, s string) []byte { return append(dst, javatext.MakeValidUTF8(s)...) })),
		f("validate_utf8", "validate_utf8(str)", "The string, an error if it is not UTF-8.", "SELECT validate_utf8('a') → a", typed{specs: []spec{isString}, out: columnar.String, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s := str(a[0], i)
			if err := javatext.ValidateUTF8(s); err != nil {
				return err
			}
			w.AppendString(s)
			return nil
		}}.bind),
		f("try_validate_utf8", "try_validate_utf8(str)", "The string, NULL if it is not UTF-8.", "SELECT try_validate_utf8('a') → a", typed{specs: []spec{isString}, out: columnar.String, nullable: true, row: func(_ *Context, w *columnar.Builder, a []vec, i int) error {
			s := str(a[0], i)
			if !javatext.IsValidUTF8(s) {
				w.AppendNull()
			} else {
				w.AppendString(s)
			}
			return nil
		}}.bind),
		f("to_binary", "to_binary(str[, format])", "The bytes of a string in hex, base64 or utf-8.", "SELECT to_binary('abc', 'utf-8') → abc", bindToBinary(false)),
		f("try_to_binary", "try_to_binary(str[, format])", "The same, NULL where that fails.", "SELECT try_to_binary('a!', 'base64') → NULL", bindToBinary(true)),
		f("sentences", "sentences(str[, lang, country])", "The words of the sentences of a text.", "SELECT sentences('Hi there! Good morning.') → [[Hi, there], [Good, morning]]", bindSentences),
	}
}

// maxString is the most bytes of a string that a function makes.
const maxString = 1 << 30

func bindHex(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	args, err := b.coerce(args, oneOf(isBigint, isBinary, isString))
	if err != nil {
		return nil, err
	}
	number := args[0].Type().Kind == columnar.KindInt64
	return simple("hex", args, columnar.String, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.String, a, n, func(w *columnar.Builder, i int) error {
			if number {
				w.AppendString(strings.ToUpper(new(big.Int).SetUint64(uint64(i64(a[0], i))).Text(16)))
			} else {
				w.FinishScratch(appendHex(w.Scratch(), raw(a[0], i)))
			}
			return nil
		})
	}), nil
}

// unhex reads hexadecimal digits; an odd number of them gets a zero in front.
func unhex(s string) ([]byte, bool) {
	if len(s)%2 == 1 {
		s = "0" + s
	}
	out := make([]byte, len(s)/2)
	for i := range out {
		hi, lo := hexDigit(s[2*i]), hexDigit(s[2*i+1])
		if hi < 0 || lo < 0 {
			return nil, false
		}
		out[i] = byte(hi<<4 | lo)
	}
	return out, true
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|32 >= 'a' && c|32 <= 'f':
		return int(c|32-'a') + 10
	}
	return -1
}

func bindSubstring(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	name := b.name()
	full := args
	if len(args) == 2 {
		full = append(args[:2:2], NewInt(1<<31-1))
	}
	args, err := b.coerceAs(sqlCall(name, full), full, isStringOrBinary, isInt, isInt)
	if err != nil {
		return nil, err
	}
	out := args[0].Type()
	e := simple(name, args, out, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(out, a, n, func(w *columnar.Builder, i int) error {
			substringOf(w, a[0], i, i32(a[1], i), i32(a[2], i))
			return nil
		})
	})
	e.safe = true
	return e, nil
}

// translate replaces the characters of from by those of to at the same place, and drops those beyond.
func translate(dst []byte, s, from, to string) []byte {
	target := []rune(to)
	m := map[rune]int{}
	for k, r := range []rune(from) {
		if _, ok := m[r]; !ok {
			m[r] = k
		}
	}
	for _, r := range s {
		k, ok := m[r]
		switch {
		case !ok:
			dst = utf8.AppendRune(dst, r)
		case k < len(target):
			dst = utf8.AppendRune(dst, target[k])
		}
	}
	return dst
}

func bindOverlay(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 3, 4); err != nil {
		return nil, err
	}
	name := b.name()
	full := args
	if len(args) == 3 {
		full = append(args[:3:3], NewInt(-1))
	}
	binary := args[0].Type().Kind == columnar.KindBinary && args[1].Type().Kind == columnar.KindBinary
	s, out := isString, columnar.String
	if binary {
		s, out = isBinary, columnar.Binary
	}
	full, err := b.coerceAs(sqlCall(name, full), full, s, s, isInt, isInt)
	if err != nil {
		return nil, err
	}
	return simple(name, full, out, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(out, a, n, func(w *columnar.Builder, i int) error {
			pos, length := i32(a[2], i), i32(a[3], i)
			by := str(a[1], i)
			if length < 0 {
				length = int32(javatext.Length(by))
				if binary {
					length = int32(len(by))
				}
			}
			head, tail := columnar.NewBuilder(out, 1), columnar.NewBuilder(out, 1)
			substringOf(head, a[0], i, 1, pos-1)
			substringOf(tail, a[0], i, pos+length, 1<<31-1)
			w.AppendString(head.Finish().StringAt(0) + by + tail.Finish().StringAt(0))
			return nil
		})
	}), nil
}

func bindLocate(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	name := b.name()
	full := args
	if len(args) == 2 {
		full = append(args[:2:2], NewInt(1))
	}
	full, err := b.coerceAs(sqlCall(name, full), full, isString, isString, isInt)
	if err != nil {
		return nil, err
	}
	nullable := func(a []Expr) bool { return a[0].Nullable() || a[1].Nullable() }
	return &call{
		name: name, args: full, typ: columnar.Int32, null: nullable(full), nullFn: nullable, nulls: true, safe: true,
		kernel: func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			w := columnar.NewBuilder(columnar.Int32, n)
			for i := 0; i < n; i++ {
				switch {
				case a[2].null(i):
					w.AppendInt(0)
				case a[0].null(i) || a[1].null(i):
					w.AppendNull()
				default:
					w.AppendInt(int64(position(str(a[0], i), str(a[1], i), i32(a[2], i))))
				}
			}
			return w.Finish(), nil
		},
	}, nil
}

func bindLevenshtein(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	name := b.name()
	args, err := b.coerce(args, isString, isString, isInt)
	if err != nil {
		return nil, err
	}
	return simple(name, args, columnar.Int32, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(columnar.Int32, a, n, func(w *columnar.Builder, i int) error {
			limit := -1
			if len(a) == 3 {
				if limit = int(i32(a[2], i)); limit < 0 {
					w.AppendInt(-1)
					return nil
				}
			}
			w.AppendInt(int64(javatext.Levenshtein(str(a[0], i), str(a[1], i), limit)))
			return nil
		})
	}), nil
}

// bindCharset binds encode and decode with a character set.
func bindCharset(function string) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 2, 2); err != nil {
			return nil, err
		}
		in, out := isString, columnar.Binary
		if function == "decode" {
			in, out = isBinary, columnar.String
		}
		args, err := b.coerceAs(sqlCall(function, args), args, in, isString)
		if err != nil {
			return nil, err
		}
		e := simple(function, args, out, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(out, a, n, func(w *columnar.Builder, i int) error {
				name := str(a[1], i)
				cs, err := javatext.LookupCharset(name, function)
				if err != nil {
					return err
				}
				var v []byte
				var ok bool
				if function == "decode" {
					v, ok = cs.AppendDecoded(w.Scratch(), raw(a[0], i))
				} else {
					v, ok = cs.AppendEncoded(w.Scratch(), str(a[0], i))
				}
				if !ok {
					return javatext.MalformedCoding(function, name)
				}
				w.FinishScratch(v)
				return nil
			})
		})
		e.null, e.nullFn = true, nil
		return e, nil
	}
}

// luhn tells whether digits pass Luhn's test.
func luhn(s string) bool {
	if s == "" {
		return false
	}
	sum := 0
	for i := 0; i < len(s); i++ {
		c := s[len(s)-1-i]
		if c < '0' || c > '9' {
			return false
		}
		d := int(c - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func bindToBinary(try bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 2); err != nil {
			return nil, err
		}
		name, sql := b.name(), b.sql(args)
		args, err := b.coerce(args, isString)
		if err != nil {
			return nil, err
		}
		format := "hex"
		if len(args) == 2 {
			v, ok, err := b.foldable(args[1])
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, mismatch("NON_FOLDABLE_INPUT", sql, "the input `fmt` should be a foldable \"STRING\" expression; however, got \"%s\"", args[1].SQL())
			}
			s, isText := v.(string)
			if !isText {
				return Named(NewLiteral(columnar.Binary, nil), sql), nil
			}
			format = strings.ToLower(s)
		}
		switch format {
		case "hex", "utf-8", "utf8", "base64":
		default:
			if try {
				return Named(NewLiteral(columnar.Binary, nil), sql), nil
			}
			return nil, mismatch("INVALID_ARG_VALUE", sql, "the `fmt` value must to be a case-insensitive \"STRING\" literal of 'hex', 'utf-8', 'utf8', or 'base64', but got '%s'", format)
		}
		e := simple(name, args[:1], columnar.Binary, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
			return rows(columnar.Binary, a, n, func(w *columnar.Builder, i int) error {
				s := str(a[0], i)
				var v []byte
				var err error
				switch format {
				case "hex":
					var ok bool
					if v, ok = unhex(s); !ok {
						err = sparkerr.New("CONVERSION_INVALID_INPUT", "the value '%s' (HEX) cannot be converted to \"BINARY\" because it is malformed. Correct the value as per the syntax, or change its format. Use `try_to_binary` to tolerate malformed input and return NULL instead", s)
					}
				case "base64":
					v, err = javatext.AppendToBinaryBase64(nil, s)
				default:
					v = []byte(s)
				}
				if err != nil {
					if !try {
						return err
					}
					w.AppendNull()
					return nil
				}
				w.AppendBytes(v)
				return nil
			})
		})
		e.null, e.nullFn = true, nil
		e.text = func([]Expr) string { return sql }
		return e, nil
	}
}

// bindSentences parts a text into sentences and words, by the rules of the root locale in short: a
// sentence ends at . ! or ? before a blank, words are runs of letters, digits and apostrophes.
func bindSentences(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 3); err != nil {
		return nil, err
	}
	name := b.name()
	full := args
	for len(full) < 3 {
		full = append(full[:len(full):len(full)], NewString(""))
	}
	sql := sqlCall(name, full)
	in, err := b.coerceAs(sql, full, isString)
	if err != nil {
		return nil, err
	}
	out := columnar.ArrayOf(columnar.ArrayOf(columnar.String, false), false)
	return simple(name, in, out, func(_ *Context, a []vec, n int) (*columnar.Column, error) {
		return rows(out, a, n, func(w *columnar.Builder, i int) error {
			for _, words := range sentences(str(a[0], i)) {
				for _, s := range words {
					w.Child(0).Child(0).AppendString(s)
				}
				w.Child(0).AppendNested()
			}
			w.AppendNested()
			return nil
		})
	}), nil
}
