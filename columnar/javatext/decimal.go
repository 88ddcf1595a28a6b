package javatext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// RoundingMode says what becomes of the digits that a rounding cuts off.
type RoundingMode uint8

// The rounding modes of java.math.RoundingMode that Spark uses.
const (
	HalfUp   RoundingMode = iota // to the nearer, the middle away from zero: round
	HalfEven                     // to the nearer, the middle to the even digit: bround
	Ceiling                      // towards positive infinity: ceil
	Floor                        // towards negative infinity: floor
	Down                         // towards zero
)

// DecimalStatus says whether a text or number could become a DECIMAL.
type DecimalStatus uint8

// What may come of it.
const (
	DecimalOK DecimalStatus = iota
	// DecimalInvalid: it is no number (CAST_INVALID_INPUT), or is NaN or infinite.
	DecimalInvalid
	// DecimalTooLarge: it does not fit the precision (NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION).
	DecimalTooLarge
	// DecimalUnsupported: it has more than 38 digits before the point (NUMERIC_OUT_OF_SUPPORTED_RANGE).
	DecimalUnsupported
)

// decimalText is a decimal number as it stands in a text: ±0.DIGITS * 10^exp, with no leading zeros.
type decimalText struct {
	digits   []byte
	exp      int
	negative bool
}

// ParseDecimal reads a decimal the way CAST(s AS DECIMAL(precision, scale)) does: what java.math.BigDecimal takes,
// with blanks around it, rounded half up to the scale.
func ParseDecimal(s string, precision, scale int) (Int128, DecimalStatus) {
	var buf [64]byte
	t, ok := parseDecimalText(buf[:0], strings.Trim(s, javaTrimSet))
	if !ok {
		return Int128{}, DecimalInvalid
	}
	if t.exp > maxDigits {
		return Int128{}, DecimalUnsupported
	}
	return t.decimal(precision, scale, HalfUp)
}

// DecimalFromDouble makes a DECIMAL of the digits that AppendDouble writes, rounded half up.
func DecimalFromDouble(v float64, precision, scale int) (Int128, DecimalStatus) {
	if v-v != 0 {
		return Int128{}, DecimalInvalid
	}
	if v == 0 {
		return Int128{}, DecimalOK
	}
	var d decimalDigits
	t := d.text(v)
	return t.decimal(precision, scale, HalfUp)
}

// text returns the digits of a finite number.
func (d *decimalDigits) text(v float64) decimalText {
	negative := v < 0
	if negative {
		v = -v
	}
	if v != 0 {
		d.setDouble(v)
	}
	return decimalText{digits: d.digits[:d.n], exp: d.decExp, negative: negative}
}

// parseDecimalText takes a number apart: [sign] digits [. digits] [e [sign] digits].
func parseDecimalText(buf []byte, s string) (t decimalText, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			s = FoldDigits(s)
			break
		}
	}
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		t.negative = s[i] == '-'
		i++
	}
	t.digits = buf
	seen, point := 0, false
	// exp counts the places before the point; zeros in front count only as a move of the point.
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if !isASCIIDigit(c) {
			break
		}
		seen++
		switch {
		case c != '0' || len(t.digits) > 0:
			t.digits = append(t.digits, c)
			if !point {
				t.exp++
			}
		case point:
			t.exp--
		}
	}
	if seen == 0 {
		return t, false
	}
	if i < len(s) {
		if s[i]|0x20 != 'e' {
			return t, false
		}
		e, ok := parseDecimalExponent(s[i+1:])
		if !ok {
			return t, false
		}
		t.exp += e
	}
	if len(t.digits) == 0 {
		// Java counts one digit for zero, which an exponent may move too far.
		t.exp++
	}
	return t, true
}

// parseDecimalExponent reads an exponent of at most ten digits within 32 bits.
func parseDecimalExponent(s string) (e int, ok bool) {
	negative := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if s == "" {
		return 0, false
	}
	for i := 0; i < len(s); i++ {
		if !isASCIIDigit(s[i]) {
			return 0, false
		}
		if e = e*10 + int(s[i]-'0'); e > 1<<31-1 {
			return 0, false
		}
	}
	if negative {
		e = -e
	}
	return e, true
}

// FoldDigits writes the decimal digits of all scripts as those of ASCII, as BigDecimal and Integer.parseInt read them.
func FoldDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.Is(unicode.Nd, r) {
			return r
		}
		// The digits of a script are ten in a row, and rows of several scripts may adjoin.
		n := rune(0)
		for unicode.Is(unicode.Nd, r-n-1) {
			n++
		}
		return '0' + n%10
	}, s)
}

// decimal rounds the number to a scale.
func (t *decimalText) decimal(precision, scale int, mode RoundingMode) (Int128, DecimalStatus) {
	if len(t.digits) == 0 {
		return Int128{}, DecimalOK
	}
	keep := t.exp + scale
	if keep > maxDigits {
		return Int128{}, DecimalTooLarge
	}
	var hi, lo uint64
	for i := range keep {
		digit := uint64(0)
		if i < len(t.digits) {
			digit = uint64(t.digits[i] - '0')
		}
		hi, lo = mulAdd(hi, lo, 10, digit)
	}
	if keep < len(t.digits) && t.roundsUp(keep, lo&1 != 0, mode) {
		hi, lo = mulAdd(hi, lo, 1, 1)
	}
	if !fitsDigits(hi, lo, precision) {
		return Int128{}, DecimalTooLarge
	}
	return signedInt128(hi, lo, t.negative), DecimalOK
}

// roundsUp tells whether the first keep digits (0 or fewer means none) grow by one when the rest is cut off.
// odd says that the last of them is odd.
func (t *decimalText) roundsUp(keep int, odd bool, mode RoundingMode) bool {
	rest := t.digits[max(0, keep):]
	nonZero := false
	for _, c := range rest {
		nonZero = nonZero || c != '0'
	}
	switch mode {
	case Ceiling:
		return nonZero && !t.negative
	case Floor:
		return nonZero && t.negative
	case Down:
		return false
	}
	if keep < 0 || rest[0] < '5' {
		return false
	}
	if mode == HalfUp || rest[0] > '5' || odd {
		return true
	}
	for _, c := range rest[1:] {
		if c != '0' {
			return true
		}
	}
	return false
}

// pow10Table holds 10^0 to 10^38.
var pow10Table = func() (t [maxDigits + 1][2]uint64) {
	t[0] = [2]uint64{0, 1}
	for i := 1; i < len(t); i++ {
		t[i][0], t[i][1] = mulAdd(t[i-1][0], t[i-1][1], 10, 0)
	}
	return t
}()

// fitsDigits tells whether an absolute value has at most so many digits.
func fitsDigits(hi, lo uint64, precision int) bool {
	if precision > maxDigits {
		precision = maxDigits
	}
	limit := pow10Table[precision]
	return hi < limit[0] || hi == limit[0] && lo < limit[1]
}

// AppendDecimal writes v / 10^scale plainly, with all digits of the scale. The scale must not be negative.
func AppendDecimal(dst []byte, v Int128, scale int) []byte {
	if v.Hi < 0 {
		dst = append(dst, '-')
	}
	hi, lo := v.abs()
	var buf [40]byte
	p := digits128(&buf, hi, lo)
	n := len(buf) - p
	if n <= scale {
		dst = append(dst, '0')
	}
	if n > scale {
		dst = append(dst, buf[p:len(buf)-scale]...)
		p = len(buf) - scale
	}
	if scale > 0 {
		dst = append(dst, '.')
		for ; n < scale; n++ {
			dst = append(dst, '0')
		}
		dst = append(dst, buf[p:]...)
	}
	return dst
}

// RoundDecimal returns v / 10^from rounded to the scale to, which may be negative; then the result has scale
// 0. ok is false if it has more than 38 digits.
func RoundDecimal(v Int128, from, to int, mode RoundingMode) (r Int128, ok bool) {
	hi, lo := v.abs()
	if hi == 0 && lo == 0 {
		return v, true
	}
	var buf [40]byte
	p := digits128(&buf, hi, lo)
	t := decimalText{digits: buf[p:], exp: len(buf) - p - from, negative: v.Hi < 0}
	r, status := t.decimal(maxDigits, to, mode)
	if status != DecimalOK || to >= 0 {
		return r, status == DecimalOK
	}
	hi, lo = r.abs()
	for ; to < 0 && (hi != 0 || lo != 0); to++ {
		if !fitsDigits(hi, lo, maxDigits-1) {
			return Int128{}, false
		}
		hi, lo = mulAdd(hi, lo, 10, 0)
	}
	return signedInt128(hi, lo, r.Hi < 0), true
}
