package javatext

import (
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// ToCharFormat is a compiled number format of to_char and to_number: [MI|S] [$] digits [.|D] digits [$] [PR|MI|S],
// where digits are 9 (may be missing), 0 (always there) and "," or "G" between them. It is safe for use by several
// goroutines.
type ToCharFormat struct {
	format           string // in upper case
	tokens           []toCharToken
	precision, scale int
}

// toCharTokenKind says what a token is.
type toCharTokenKind uint8

const (
	tokenDigits toCharTokenKind = iota // a group of digits and separators
	tokenPoint
	tokenDollar
	tokenSign        // S
	tokenMinus       // MI
	tokenOpenBracket // of PR, at the front
	tokenCloseBracket
	tokenUnknown
)

// toCharToken is a token of a format.
type toCharToken struct {
	kind  toCharTokenKind
	parts []toCharDigits
	char  rune // of tokenUnknown
}

// toCharDigits is a run of digits, or a separator if count is 0.
type toCharDigits struct {
	count int
	exact bool // all of them must be there
}

// CompileToCharFormat compiles a format, whose letters may be in any case. The error is INVALID_FORMAT of some kind.
func CompileToCharFormat(format string) (*ToCharFormat, error) {
	f := &ToCharFormat{format: string(AppendUpper(nil, format))}
	f.tokenize()
	if err := f.check(); err != nil {
		return nil, err
	}
	point := false
	for _, token := range f.tokens {
		point = point || token.kind == tokenPoint
		for _, part := range token.parts {
			f.precision += part.count
			if point {
				f.scale += part.count
			}
		}
	}
	return f, nil
}

// Precision and Scale are those of the DECIMAL that to_number gives.
func (f *ToCharFormat) Precision() int { return f.precision }

// Scale returns the number of digits behind the point.
func (f *ToCharFormat) Scale() int { return f.scale }

func (f *ToCharFormat) tokenize() {
	s := f.format
	point := false
	digits := func(part toCharDigits) {
		if n := len(f.tokens); n == 0 || f.tokens[n-1].kind != tokenDigits {
			f.tokens = append(f.tokens, toCharToken{kind: tokenDigits})
		}
		last := &f.tokens[len(f.tokens)-1]
		last.parts = append(last.parts, part)
	}
	add := func(kind toCharTokenKind) { f.tokens = append(f.tokens, toCharToken{kind: kind}) }
	brackets := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '0' || r == '9':
			n = len(s[i:]) - len(strings.TrimLeft(s[i:], "09"))
			digits(toCharDigits{count: n, exact: r == '0' && !point})
		case r == ',' || r == 'G':
			digits(toCharDigits{})
		case r == '.' || r == 'D':
			add(tokenPoint)
			point = true
		case r == '$':
			add(tokenDollar)
		case r == 'S':
			add(tokenSign)
		case strings.HasPrefix(s[i:], "MI"):
			add(tokenMinus)
			n = 2
		case strings.HasPrefix(s[i:], "PR"):
			brackets++
			add(tokenCloseBracket)
			n = 2
		default:
			f.tokens = append(f.tokens, toCharToken{kind: tokenUnknown, char: r})
		}
		i += n
	}
	for range brackets {
		f.tokens = append([]toCharToken{{kind: tokenOpenBracket}}, f.tokens...)
	}
}

func (f *ToCharFormat) invalid(kind, text string) error {
	return sparkerr.New("INVALID_FORMAT."+kind, "The format is invalid: '%s'. %s", f.format, text)
}

// check refuses tokens in the wrong order or number.
func (f *ToCharFormat) check() error {
	if f.format == "" {
		return f.invalid("EMPTY", "The number format string cannot be empty.")
	}
	firstDigits, firstDollar, firstPoint := -1, -1, -1
	var counts [tokenUnknown + 1]int
	for i, token := range f.tokens {
		counts[token.kind]++
		switch {
		case token.kind == tokenDigits && firstDigits < 0:
			firstDigits = i
		case token.kind == tokenDollar && firstDollar < 0:
			firstDollar = i
		case token.kind == tokenPoint && firstPoint < 0:
			firstPoint = i
		}
	}
	switch {
	case firstDigits < 0:
		return f.invalid("WRONG_NUM_DIGIT", "The format string requires at least one number digit.")
	case firstDigits < firstDollar:
		return f.invalid("CUR_MUST_BEFORE_DIGIT", "Currency characters must appear before digits in the number format.")
	case firstPoint >= 0 && firstPoint < firstDollar:
		return f.invalid("CUR_MUST_BEFORE_DEC", "Currency characters must appear before any decimal point in the number format.")
	}
	for i, token := range f.tokens {
		if token.kind == tokenDigits && (firstPoint < 0 || i < firstPoint) && hasLoneSeparator(token.parts) {
			return f.invalid("CONT_THOUSANDS_SEPS", "Thousands separators (, or G) must have digits in between them in the number format.")
		}
	}
	for i, token := range f.tokens {
		if token.kind != tokenDigits || firstPoint < 0 || i < firstPoint {
			continue
		}
		for _, part := range token.parts {
			if part.count == 0 {
				return f.invalid("THOUSANDS_SEPS_MUST_BEFORE_DEC", "Thousands separators (, or G) may not appear after the decimal point in the number format.")
			}
		}
	}
	for _, kind := range []toCharTokenKind{tokenPoint, tokenSign, tokenMinus, tokenDollar, tokenCloseBracket} {
		if counts[kind] > 1 {
			return f.invalid("WRONG_NUM_TOKEN", "At most one "+kind.String()+" is allowed in the number format.")
		}
	}
	return f.checkOrder()
}

// hasLoneSeparator tells whether a separator has no digits on either side.
func hasLoneSeparator(parts []toCharDigits) bool {
	for i, part := range parts {
		if part.count == 0 && (i == 0 || i == len(parts)-1 || parts[i-1].count == 0 || parts[i+1].count == 0) {
			return true
		}
	}
	return false
}

// toCharOrder is the order in which tokens may stand, each at most once.
var toCharOrder = [...][]toCharTokenKind{
	{tokenOpenBracket}, {tokenMinus, tokenSign}, {tokenDollar}, {tokenDigits}, {tokenPoint}, {tokenDigits}, {tokenDollar}, {tokenMinus, tokenSign, tokenCloseBracket},
}

func (f *ToCharFormat) checkOrder() error {
	next := 0
	for _, allowed := range toCharOrder {
		if next == len(f.tokens) {
			break
		}
		for _, kind := range allowed {
			if f.tokens[next].kind == kind {
				next++
				break
			}
		}
	}
	if next == len(f.tokens) {
		return nil
	}
	what := f.tokens[next].kind.String()
	if f.tokens[next].kind == tokenUnknown {
		what = "character '" + string(f.tokens[next].char) + "''"
	}
	return f.invalid("UNEXPECTED_TOKEN", "Found the unexpected "+what+" in the format string; the structure of the format string must match: "+
		"`[MI|S]` `[$]` `[0|9|G|,]*` `[.|D]` `[0|9]*` `[$]` `[PR|MI|S]`.")
}

// String returns what messages call the token.
func (k toCharTokenKind) String() string {
	return [...]string{"digit sequence", ". or D", "$", "S", "MI", "PR", "PR", "character"}[k]
}

// AppendDecimal writes v / 10^scale, as to_char does: aligned to the right in the width of the format, with "#" for all
// digits if they do not fit.
func (f *ToCharFormat) AppendDecimal(dst []byte, v Int128, scale int) []byte {
	var buf [64]byte
	hi, lo := v.abs()
	text := AppendDecimal(buf[:0], signedInt128(hi, lo, false), scale)
	before, after, _ := strings.Cut(string(text), ".")
	before = strings.TrimLeft(before, "0")
	after = strings.TrimRight(after, "0")
	whole := f.precision - f.scale
	overflow := len(before) > whole || len(after) > f.scale
	w := toCharWriter{dst: dst, start: len(dst), negative: v.Hi < 0}
	// digit returns the digit at a place of the format; ' ' in front of the number, '0' behind it.
	w.digit = func(i int) byte {
		switch {
		case overflow:
			return '#'
		case i < whole-len(before):
			return ' '
		case i < whole:
			return before[i-(whole-len(before))]
		case i-whole < len(after):
			return after[i-whole]
		}
		return '0'
	}
	for i := range f.tokens {
		w.token(&f.tokens[i])
	}
	out := w.dst[w.start:]
	if len(out) == 0 || string(out) == "+" || string(out) == "-" {
		return append(w.dst[:w.start], ' ')
	}
	w.dropPoint()
	return w.dst
}

// toCharWriter writes the tokens of a format.
type toCharWriter struct {
	dst      []byte
	start    int
	negative bool
	point    bool
	next     int // place of the next digit
	digit    func(i int) byte
}

func (w *toCharWriter) last() byte {
	if len(w.dst) == w.start {
		return 0
	}
	return w.dst[len(w.dst)-1]
}

func (w *toCharWriter) token(token *toCharToken) {
	switch token.kind {
	case tokenDigits:
		for _, part := range token.parts {
			if part.count == 0 {
				if isASCIIDigit(w.last()) {
					w.dst = append(w.dst, ',')
				} else {
					w.space()
				}
			}
			for range part.count {
				c := w.digit(w.next)
				w.next++
				switch {
				case c == ' ' && part.exact:
					w.dst = append(w.dst, '0')
				case c == ' ':
					w.space()
				default:
					w.dst = append(w.dst, c)
				}
			}
		}
	case tokenPoint:
		// A number without a whole part has a zero there.
		if w.last() == ' ' {
			w.dst[len(w.dst)-1] = '0'
		}
		w.dst = append(w.dst, '.')
		w.point = true
	case tokenDollar:
		w.dst = append(w.dst, '$')
	case tokenSign:
		w.dropPoint()
		if w.negative {
			w.sign('-')
		} else {
			w.sign('+')
		}
	case tokenMinus:
		w.dropPoint()
		if w.negative {
			w.sign('-')
		} else {
			w.dst = append(w.dst, ' ')
		}
	case tokenOpenBracket:
		if w.negative {
			w.dst = append(w.dst, '<')
		}
	case tokenCloseBracket:
		w.dropPoint()
		if w.negative {
			w.sign('>')
		} else {
			w.dst = append(w.dst, ' ', ' ')
		}
	}
}

// space writes a space in front of a sign that stands last.
func (w *toCharWriter) space() {
	if c := w.last(); c == '+' || c == '-' || c == '<' {
		w.dst[len(w.dst)-1] = ' '
		w.dst = append(w.dst, c)
		return
	}
	w.dst = append(w.dst, ' ')
}

// sign writes a sign behind the number, in front of the spaces that end it.
func (w *toCharWriter) sign(c byte) {
	i := len(w.dst)
	for i > w.start && w.dst[i-1] == ' ' {
		i--
	}
	if i == len(w.dst) {
		w.dst = append(w.dst, c)
		return
	}
	w.dst[i] = c
	w.dst = append(w.dst, ' ')
}

// dropPoint replaces a point that stands last by a space.
func (w *toCharWriter) dropPoint() {
	if w.last() == '.' {
		w.dst[len(w.dst)-1] = ' '
	}
}

// ParseDecimal reads a number by the format, as to_number does, with the scale of the format. ok is false if the text does
// not match (INVALID_FORMAT.MISMATCH_INPUT).
func (f *ToCharFormat) ParseDecimal(s string) (v Int128, ok bool) {
	p := toCharParser{s: s}
	for i := range f.tokens {
		if !p.token(&f.tokens[i]) {
			return Int128{}, false
		}
	}
	if p.i < len(s) || len(p.before) == 0 && len(p.after) == 0 {
		return Int128{}, false
	}
	digits := append(p.before, p.after...)
	for range f.scale - len(p.after) {
		digits = append(digits, '0')
	}
	var hi, lo uint64
	for _, c := range digits {
		hi, lo = mulAdd(hi, lo, 10, uint64(c-'0'))
	}
	return signedInt128(hi, lo, p.negative), len(digits) <= maxDigits && fitsDigits(hi, lo, f.precision)
}

// MismatchError is the refusal of a text that ParseDecimal does not read.
func (f *ToCharFormat) MismatchError(s string) error {
	return sparkerr.New("INVALID_FORMAT.MISMATCH_INPUT", "The format is invalid: %s. The input \"STRING\" %s does not match the format.", f.format, s)
}

// toCharParser reads a text by the tokens of a format.
type toCharParser struct {
	s             string
	i             int
	before, after []byte
	point         bool
	negative      bool
	open          bool // the bracket of PR is
}

// accept takes a character if it is next.
func (p *toCharParser) accept(c byte) bool {
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *toCharParser) token(token *toCharToken) bool {
	switch token.kind {
	case tokenDigits:
		return p.digits(token)
	case tokenPoint:
		if p.accept('.') {
			p.point = true
		}
	case tokenDollar:
		return p.i == len(p.s) || p.accept('$')
	case tokenSign:
		if !p.accept('+') && p.accept('-') {
			p.negative = !p.negative
		}
	case tokenMinus:
		if p.accept('-') {
			p.negative = !p.negative
		}
	case tokenOpenBracket:
		if p.accept('<') {
			p.negative, p.open = !p.negative, true
		}
	case tokenCloseBracket:
		return p.accept('>') == p.open
	}
	return true
}

// digits reads groups of digits and compares their lengths with those of the format.
func (p *toCharParser) digits(token *toCharToken) bool {
	var counts []int
	n := 0
loop:
	for p.i < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[p.i:])
		switch {
		case r >= '0' && r <= '9':
			n++
			if p.point {
				p.after = append(p.after, byte(r))
			} else {
				p.before = append(p.before, byte(r))
			}
		case r == ',':
			counts = append(counts, n)
			n = 0
		case IsWhitespace(r):
		default:
			break loop
		}
		p.i += size
	}
	counts = append(counts, n)
	// Groups are compared from the right; those that the text lacks on the left are empty.
	k := len(counts)
	for _, part := range token.parts {
		if part.count > 0 {
			k--
		}
	}
	if k > 0 {
		return false
	}
	for _, part := range token.parts {
		if part.count == 0 {
			continue
		}
		have := 0
		if k >= 0 {
			have = counts[k]
		}
		if have > part.count || part.exact && have != part.count {
			return false
		}
		k++
	}
	return true
}
