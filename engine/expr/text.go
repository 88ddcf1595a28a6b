package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// appendText appends row i of c as CAST(… AS STRING) writes it; the row is not null.
func appendText(dst []byte, c *columnar.Column, i int, zone *javatext.Zone) []byte {
	t := c.Type
	switch t.Kind {
	case columnar.KindBool:
		return strconv.AppendBool(dst, c.Bits.Get(i))
	case columnar.KindInt8:
		return strconv.AppendInt(dst, int64(columnar.Values[int8](c)[i]), 10)
	case columnar.KindInt16:
		return strconv.AppendInt(dst, int64(columnar.Values[int16](c)[i]), 10)
	case columnar.KindInt32:
		return strconv.AppendInt(dst, int64(columnar.Values[int32](c)[i]), 10)
	case columnar.KindInt64:
		return strconv.AppendInt(dst, columnar.Values[int64](c)[i], 10)
	case columnar.KindFloat32:
		return javatext.AppendFloat(dst, columnar.Values[float32](c)[i])
	case columnar.KindFloat64:
		return javatext.AppendDouble(dst, columnar.Values[float64](c)[i])
	case columnar.KindDecimal:
		return columnar.AppendDec(dst, columnar.Values[columnar.Dec128](c)[i], t.Scale)
	case columnar.KindString, columnar.KindBinary, columnar.KindVariant:
		return append(dst, c.BytesAt(i)...)
	case columnar.KindDate:
		return javatext.AppendDate(dst, columnar.Values[int32](c)[i])
	case columnar.KindTimestamp:
		return javatext.AppendTimestamp(dst, columnar.Values[int64](c)[i], zone)
	case columnar.KindTimestampNTZ:
		return javatext.AppendTimestampNTZ(dst, columnar.Values[int64](c)[i])
	case columnar.KindTime:
		return javatext.AppendTime(dst, columnar.Values[int64](c)[i])
	case columnar.KindYearMonth:
		return appendYearMonth(dst, columnar.Values[int32](c)[i], t)
	case columnar.KindDayTime:
		return appendDayTime(dst, columnar.Values[int64](c)[i], t)
	case columnar.KindCalendar:
		return appendCalendar(dst, columnar.Values[columnar.CalendarInterval](c)[i])
	case columnar.KindArray:
		dst = append(dst, '[')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ", "...)
			}
			dst = appendTextOrNull(dst, c.Children[0], int(j), zone)
		}
		return append(dst, ']')
	case columnar.KindMap:
		dst = append(dst, '{')
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				dst = append(dst, ", "...)
			}
			dst = appendTextOrNull(dst, c.Children[0], int(j), zone)
			dst = append(dst, " -> "...)
			dst = appendTextOrNull(dst, c.Children[1], int(j), zone)
		}
		return append(dst, '}')
	case columnar.KindStruct:
		dst = append(dst, '{')
		for k, ch := range c.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendTextOrNull(dst, ch, i, zone)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func appendTextOrNull(dst []byte, c *columnar.Column, i int, zone *javatext.Zone) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	return appendText(dst, c, i, zone)
}

// appendYearMonth writes an interval of months in ANSI style, e.g. INTERVAL '1-2' YEAR TO MONTH.
func appendYearMonth(dst []byte, months int32, t *columnar.Type) []byte {
	v := int64(months)
	dst = append(dst, "INTERVAL '"...)
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	switch {
	case t.Start == columnar.FieldYear && t.End == columnar.FieldYear:
		dst = strconv.AppendInt(dst, v/12, 10)
	case t.Start == columnar.FieldMonth:
		dst = strconv.AppendInt(dst, v, 10)
	default:
		dst = strconv.AppendInt(dst, v/12, 10)
		dst = append(dst, '-')
		dst = strconv.AppendInt(dst, v%12, 10)
	}
	return appendIntervalUnits(append(dst, '\''), t)
}

func appendIntervalUnits(dst []byte, t *columnar.Type) []byte {
	dst = append(dst, ' ')
	dst = append(dst, strings.ToUpper(t.Start.String())...)
	if t.Start != t.End {
		dst = append(dst, " TO "...)
		dst = append(dst, strings.ToUpper(t.End.String())...)
	}
	return dst
}

const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// fieldMicros is the length of a day-time field.
func fieldMicros(f columnar.IntervalField) uint64 {
	switch f {
	case columnar.FieldDay:
		return microsPerDay
	case columnar.FieldHour:
		return microsPerHour
	case columnar.FieldMinute:
		return microsPerMinute
	}
	return microsPerSecond
}

// appendDayTime writes an interval of microseconds in ANSI style, e.g. INTERVAL '1 02:03:04.5' DAY TO SECOND.
func appendDayTime(dst []byte, micros int64, t *columnar.Type) []byte {
	dst = append(dst, "INTERVAL '"...)
	rest := uint64(micros)
	if micros < 0 {
		dst = append(dst, '-')
		rest = -rest
	}
	for f := t.Start; f <= t.End; f++ {
		switch {
		case f == t.Start:
		case f == columnar.FieldHour:
			dst = append(dst, ' ')
		default:
			dst = append(dst, ':')
		}
		u := fieldMicros(f)
		n := rest / u
		rest %= u
		if f != columnar.FieldDay && n < 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, n, 10)
	}
	if t.End == columnar.FieldSecond && rest != 0 {
		dst = appendFraction(dst, rest)
	}
	return appendIntervalUnits(append(dst, '\''), t)
}

// appendFraction writes millionths behind a point without trailing zeros.
func appendFraction(dst []byte, micros uint64) []byte {
	s := strconv.FormatUint(micros+microsPerSecond, 10)[1:]
	return append(append(dst, '.'), strings.TrimRight(s, "0")...)
}

// appendCalendar writes a CalendarInterval, e.g. 1 years 2 months 3 days 4.5 seconds.
func appendCalendar(dst []byte, v columnar.CalendarInterval) []byte {
	start := len(dst)
	unit := func(n int64, name string) {
		if n != 0 {
			if len(dst) > start {
				dst = append(dst, ' ')
			}
			dst = strconv.AppendInt(dst, n, 10)
			dst = append(dst, name...)
		}
	}
	unit(int64(v.Months/12), " years")
	unit(int64(v.Months%12), " months")
	unit(int64(v.Days), " days")
	unit(v.Micros/microsPerHour, " hours")
	unit(v.Micros%microsPerHour/microsPerMinute, " minutes")
	if rest := v.Micros % microsPerMinute; rest != 0 {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		u := uint64(rest)
		if rest < 0 {
			dst = append(dst, '-')
			u = -u
		}
		dst = strconv.AppendUint(dst, u/microsPerSecond, 10)
		if f := u % microsPerSecond; f != 0 {
			dst = appendFraction(dst, f)
		}
		dst = append(dst, " seconds"...)
	}
	if len(dst) == start {
		dst = append(dst, "0 seconds"...)
	}
	return dst
}

// parseWhole reads a whole number as CAST does: blanks around, a sign, digits. With fraction, a
// point and digits may follow, which are cut off.
func parseWhole(s string, fraction bool) (int64, bool) {
	s = javatext.TrimAll(s)
	if s == "" {
		return 0, false
	}
	neg := s[0] == '-'
	if neg || s[0] == '+' {
		s = s[1:]
	}
	if s == "" {
		return 0, false
	}
	var v int64 // kept negative, so that the least value fits
	i := 0
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && fraction {
			break
		}
		if c < '0' || c > '9' {
			return 0, false
		}
		d := int64(c - '0')
		if v < math.MinInt64/10 || v*10 < math.MinInt64+d {
			return 0, false
		}
		v = v*10 - d
	}
	for i++; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	if neg {
		return v, true
	}
	return -v, v != math.MinInt64
}

// parseFloat reads a floating-point number as Java does: blanks around, an exponent, a d or f at the
// end; and the words nan, inf and infinity in any case.
func parseFloat(s string, bits int) (float64, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	if s == "" {
		return 0, false
	}
	body, sign := s, ""
	if s[0] == '-' || s[0] == '+' {
		sign, body = s[:1], s[1:]
	}
	switch strings.ToLower(body) {
	case "inf", "infinity":
		if sign == "-" {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	case "nan":
		return math.NaN(), sign == "" || body == "NaN"
	}
	if n := len(body) - 1; n > 0 && strings.IndexByte("dDfF", body[n]) >= 0 && !isHexFloat(body) {
		body = body[:n]
	}
	for i := 0; i < len(body); i++ {
		c := body[i]
		if !(c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+') {
			if isHexFloat(body) && c != '_' {
				continue
			}
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(sign+body, bits)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

func isHexFloat(s string) bool {
	return len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && strings.ContainsAny(s, "pP")
}

// parseBigDecimal reads a decimal number as Java's BigDecimal does, digits of any script included.
func parseBigDecimal(s string) (unscaled *big.Int, scale int, ok bool) {
	s = javatext.TrimAll(s)
	digits := make([]byte, 0, len(s))
	neg, point, seen := false, false, false
scan:
	for i, r := range s {
		switch {
		case i == 0 && (r == '-' || r == '+'):
			neg = r == '-'
		case r == '.' && !point:
			point = true
		case r == 'e' || r == 'E':
			e, err := strconv.Atoi(s[i+1:])
			if err != nil || !seen || strings.Contains(s[i+1:], "_") {
				return nil, 0, false
			}
			scale -= e
			break scan
		default:
			d, isDigit := digitValue(r)
			if !isDigit {
				return nil, 0, false
			}
			digits = append(digits, '0'+d)
			seen = true
			if point {
				scale++
			}
		}
	}
	if !seen {
		return nil, 0, false
	}
	v, good := new(big.Int).SetString(string(digits), 10)
	if !good {
		return nil, 0, false
	}
	if neg {
		v.Neg(v)
	}
	return v, scale, true
}

// digitValue is the value of a decimal digit of any script.
func digitValue(r rune) (byte, bool) {
	if r >= '0' && r <= '9' {
		return byte(r - '0'), true
	}
	if r < 0x80 || !unicode.Is(unicode.Nd, r) {
		return 0, false
	}
	// Digits of a script come in runs of ten that start at a zero.
	zero := r
	for unicode.Is(unicode.Nd, zero-1) && r-zero < 9 {
		zero--
	}
	return byte(r-zero) % 10, true
}

// parseBool reads a boolean as CAST does.
func parseBool(s string) (v, ok bool) {
	switch strings.ToLower(javatext.TrimAll(s)) {
	case "t", "true", "y", "yes", "1":
		return true, true
	case "f", "false", "n", "no", "0":
		return false, true
	}
	return false, false
}

// parseDecimal reads a decimal of a type; inRange is false for a number that the type cannot hold.
func parseDecimal(s string, t *columnar.Type) (v columnar.Dec128, ok, inRange bool) {
	u, scale, ok := parseBigDecimal(s)
	if !ok {
		return v, false, false
	}
	v, inRange = bigToDecimal(u, scale, t)
	return v, true, inRange
}

// bigToDecimal is u/10^scale as a value of a decimal type, rounded half up.
func bigToDecimal(u *big.Int, scale int, t *columnar.Type) (columnar.Dec128, bool) {
	if u.Sign() == 0 {
		return columnar.Dec128{}, true
	}
	// Digits before the point decide before any large power is computed.
	whole := len(new(big.Int).Abs(u).String()) - scale
	if whole > t.Precision-t.Scale+1 {
		return columnar.Dec128{}, false
	}
	if whole < -t.Scale-1 {
		return columnar.Dec128{}, true
	}
	d, ok := columnar.Dec128FromBig(bigHalfUp(u, scale-t.Scale))
	return d, ok && d.FitsPrecision(t.Precision)
}
