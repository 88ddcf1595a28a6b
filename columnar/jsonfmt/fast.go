package jsonfmt

import (
	"encoding/base64"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/wstream/wstream/columnar"
)

// The functions of this file take the offset of a value's first byte and return the offset behind
// it, or -1 where the slow reader must decide; what they wrote by then is rolled back.

// space is the offset of the first byte from i on that is no blank. Whether line ends are blanks
// depends on whether a record may have several lines.
func (d *Decoder) space(b unsafe.Pointer, i int) int {
	for {
		c := byteAt(b, i)
		if c > ' ' || d.blanks>>c&1 == 0 {
			return i
		}
		i++
	}
}

// fastObject reads the members behind a brace at i-1 as row of the fields.
func (d *Decoder) fastObject(o *object, b unsafe.Pointer, i, row int) int {
	seen := uint64(0)
	if o.wide {
		clear(o.seen)
	}
	if byteAt(b, i) != '"' {
		i = d.space(b, i)
		if byteAt(b, i) == '}' {
			o.fillMissing(0, row)
			return i + 1
		}
	}
	m, before := o.first, (*member)(nil)
	for {
		if m == nil || !m.is(b, i) {
			if m = o.find(b, i, before); m == nil {
				return -1
			}
		}
		i += m.size
		if byteAt(b, i) != ':' {
			i = d.space(b, i)
			if byteAt(b, i) != ':' {
				return -1
			}
		}
		i++
		if byteAt(b, i) <= ' ' {
			i = d.space(b, i)
		}
		if n := m.node; n == nil {
			if i = d.skip(b, i); i < 0 {
				return -1
			}
		} else {
			if m.slot == 0 {
				if seen&m.bit != 0 {
					return -1
				}
				seen |= m.bit
			} else {
				if o.seen[m.slot]&m.bit != 0 {
					return -1
				}
				o.seen[m.slot] |= m.bit
			}
			switch n.op {
			case opString:
				if byteAt(b, i) == '"' {
					i = n.readString(b, i+1, row)
				} else {
					i = d.fastValue(n, b, i, row)
				}
			default:
				i = d.fastValue(n, b, i, row)
			}
			if i < 0 {
				return -1
			}
		}
		c := byteAt(b, i)
		if c <= ' ' {
			i = d.space(b, i)
			c = byteAt(b, i)
		}
		i++
		if c == '}' {
			break
		}
		if c != ',' {
			return -1
		}
		if byteAt(b, i) <= ' ' {
			i = d.space(b, i)
		}
		before, m = m, m.next
	}
	if seen != o.all[0] || o.wide {
		o.fillMissing(seen, row)
	}
	return i
}

// fastValue reads any value into row of n, which must be the next one.
func (d *Decoder) fastValue(n *node, b unsafe.Pointer, i, row int) int {
	c := byteAt(b, i)
	if c == 'n' {
		if *(*uint32)(unsafe.Add(b, i)) != 'n'|'u'<<8|'l'<<16|'l'<<24 {
			return -1
		}
		n.setNull(row)
		return i + 4
	}
	if row >= n.cap {
		n.grow(row)
	}
	switch n.op {
	case opString:
		if c == '"' {
			return n.readString(b, i+1, row)
		}
		return d.rawText(n, b, i, row)
	case opInt64:
		v, end := integerAt(b, i)
		if end < 0 {
			return -1
		}
		*(*int64)(unsafe.Add(n.base, row*8)) = v
		return end
	case opInt32:
		v, end := integerAt(b, i)
		if end < 0 || v != int64(int32(v)) {
			return -1
		}
		*(*int32)(unsafe.Add(n.base, row*4)) = int32(v)
		return end
	case opInt16:
		v, end := integerAt(b, i)
		if end < 0 || v != int64(int16(v)) {
			return -1
		}
		*(*int16)(unsafe.Add(n.base, row*2)) = int16(v)
		return end
	case opInt8:
		v, end := integerAt(b, i)
		if end < 0 || v < -128 || v > 255 { // up to 255, which wraps around
			return -1
		}
		*(*int8)(unsafe.Add(n.base, row)) = int8(v)
		return end
	case opFloat64:
		v, end := d.float64At(b, i)
		*(*float64)(unsafe.Add(n.base, row*8)) = v
		return end
	case opFloat32:
		v, end := d.float32At(b, i)
		*(*float32)(unsafe.Add(n.base, row*4)) = v
		return end
	case opBool:
		switch *(*uint32)(unsafe.Add(b, i)) {
		case 't' | 'r'<<8 | 'u'<<16 | 'e'<<24:
			n.bits.Set(row)
			return i + 4
		case 'f' | 'a'<<8 | 'l'<<16 | 's'<<24:
			if byteAt(b, i+4) == 'e' {
				n.bits.Clear(row)
				return i + 5
			}
		}
		return -1
	case opTimestamp:
		v, end := d.timestampAt(b, i)
		*(*int64)(unsafe.Add(n.base, row*8)) = v
		return end
	case opTimestampNTZ:
		v, end := d.timestampNTZAt(b, i)
		*(*int64)(unsafe.Add(n.base, row*8)) = v
		return end
	case opDate:
		v, end := d.dateAt(b, i)
		*(*int32)(unsafe.Add(n.base, row*4)) = v
		return end
	case opDecimal:
		v, end := d.decimalAt(n.typ, b, i)
		*(*columnar.Dec128)(unsafe.Add(n.base, row*16)) = v
		return end
	case opBinary:
		return d.fastBinary(n, b, i, row)
	case opStruct:
		if c != '{' {
			return -1
		}
		return d.fastObject(n.object, b, i+1, row)
	case opArray:
		if c != '[' {
			return -1
		}
		return d.fastArray(n, b, i+1, row)
	case opMap:
		if c != '{' {
			return -1
		}
		return d.fastMap(n, b, i+1, row)
	}
	return -1
}

func (d *Decoder) fastArray(n *node, b unsafe.Pointer, i, row int) int {
	kid := n.kids[0]
	i = d.space(b, i)
	if byteAt(b, i) == ']' {
		n.offsets[row+1] = int32(kid.n)
		return i + 1
	}
	for {
		if i = d.fastValue(kid, b, i, kid.n); i < 0 {
			return -1
		}
		kid.n++
		i = d.space(b, i)
		c := byteAt(b, i)
		i++
		if c == ']' {
			n.offsets[row+1] = int32(kid.n)
			return i
		}
		if c != ',' {
			return -1
		}
		i = d.space(b, i)
	}
}

// maxFastMap bounds the entries of a map that are compared pair by pair.
const maxFastMap = 64

func (d *Decoder) fastMap(n *node, b unsafe.Pointer, i, row int) int {
	keys, values := n.kids[0], n.kids[1]
	first := keys.n
	i = d.space(b, i)
	if byteAt(b, i) == '}' {
		n.offsets[row+1] = int32(keys.n)
		return i + 1
	}
	for {
		if byteAt(b, i) != '"' || keys.n-first >= maxFastMap {
			return -1
		}
		k := keys.n
		if k >= keys.cap {
			keys.grow(k)
		}
		if i = keys.readString(b, i+1, k); i < 0 {
			return -1
		}
		key := keys.buf[keys.offsets[k]:keys.offsets[k+1]]
		for j := first; j < k; j++ {
			if string(keys.buf[keys.offsets[j]:keys.offsets[j+1]]) == string(key) {
				return -1
			}
		}
		i = d.space(b, i)
		if byteAt(b, i) != ':' {
			return -1
		}
		i = d.space(b, i+1)
		if i = d.fastValue(values, b, i, k); i < 0 {
			return -1
		}
		keys.n, values.n = k+1, k+1
		i = d.space(b, i)
		c := byteAt(b, i)
		i++
		if c == '}' {
			n.offsets[row+1] = int32(keys.n)
			return i
		}
		if c != ',' {
			return -1
		}
		i = d.space(b, i)
	}
}

// readString copies a string whose text begins at i into row.
func (n *node) readString(b unsafe.Pointer, i, row int) int {
	if row >= n.cap {
		n.grow(row)
	}
	used := n.used
	if used+72 > len(n.buf) {
		n.room(72)
	}
	// Copy as it is looked through, a word at a time; what is too much is written over by the next.
	dst := unsafe.Add(unsafe.Pointer(unsafe.SliceData(n.buf)), used)
	for k := 0; k < 64; k += 8 {
		w := wordAt(b, i+k)
		*(*uint64)(unsafe.Add(dst, k)) = w
		if m := stops(w); m != 0 {
			k += bits.TrailingZeros64(m) >> 3
			if byteAt(b, i+k) != '"' {
				break
			}
			n.used = used + k
			n.offsets[row+1] = int32(used + k)
			return i + k + 1
		}
	}
	return n.readLongString(b, i, row)
}

// readLongString is readString for strings that are long, not ASCII or have escapes.
func (n *node) readLongString(b unsafe.Pointer, i, row int) int {
	end := quotedEnd(b, i)
	if byteAt(b, end) == '"' {
		n.room(end - i)
		text := sliceAt(b, i, end)
		if !utf8.Valid(text) {
			return -1
		}
		n.used += copy(n.buf[n.used:], text)
		n.offsets[row+1] = int32(n.used)
		return end + 1
	}
	for {
		switch byteAt(b, end) {
		case '\\':
			text := sliceAt(b, i, end)
			if !utf8.Valid(text) {
				return -1
			}
			n.room(len(text) + utf8.UTFMax)
			n.used += copy(n.buf[n.used:], text)
			r, next := unescapeAt(b, end+1)
			if next < 0 {
				return -1
			}
			n.used += utf8.EncodeRune(n.buf[n.used:], r)
			i = next
		case '"':
			text := sliceAt(b, i, end)
			if !utf8.Valid(text) {
				return -1
			}
			n.room(len(text))
			n.used += copy(n.buf[n.used:], text)
			n.offsets[row+1] = int32(n.used)
			return end + 1
		default:
			return -1
		}
		end = quotedEnd(b, i)
	}
}

// unescapeAt reads what follows a backslash, a surrogate pair as one character.
func unescapeAt(b unsafe.Pointer, i int) (r rune, end int) {
	switch c := byteAt(b, i); c {
	case '"', '\\', '/':
		return rune(c), i + 1
	case 'b':
		return '\b', i + 1
	case 'f':
		return '\f', i + 1
	case 'n':
		return '\n', i + 1
	case 'r':
		return '\r', i + 1
	case 't':
		return '\t', i + 1
	case 'u':
		if r = hexAt(b, i+1); r < 0 {
			return 0, -1
		}
		i += 5
		if r < 0xd800 || r >= 0xe000 {
			return r, i
		}
		if r >= 0xdc00 || byteAt(b, i) != '\\' || byteAt(b, i+1) != 'u' {
			return 0, -1
		}
		low := hexAt(b, i+2)
		if low < 0xdc00 || low >= 0xe000 {
			return 0, -1
		}
		return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), i + 6
	}
	return 0, -1
}

// hexAt reads four hex digits, -1 where there are none.
func hexAt(b unsafe.Pointer, i int) rune {
	r := rune(0)
	for k := range 4 {
		c := byteAt(b, i+k)
		switch {
		case c-'0' < 10:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// rawText keeps the text of a value that is no string as it is written.
func (d *Decoder) rawText(n *node, b unsafe.Pointer, i, row int) int {
	end := d.skip(b, i)
	if end < 0 {
		return -1
	}
	text := sliceAt(b, i, end)
	if d.reprint {
		// Printed anew, only these are sure to stay the same.
		switch c := text[0]; {
		case c == 't' || c == 'f':
		case c-'0' < 10 && len(text) <= 18:
			for _, c := range text {
				if c-'0' > 9 {
					return -1
				}
			}
		default:
			return -1
		}
	}
	n.room(len(text))
	n.used += copy(n.buf[n.used:], text)
	n.offsets[row+1] = int32(n.used)
	return end
}

// integerAt reads a number without point and exponent; end is -1 for any other.
func integerAt(b unsafe.Pointer, i int) (v int64, end int) {
	if m, scale, end, ok := shortAt(b, i); ok {
		if scale > 0 {
			return 0, -1
		}
		return int64(m), end
	}
	negative := byteAt(b, i) == '-'
	if negative {
		i++
	}
	first := i
	u := uint64(0)
	c := byteAt(b, i) - '0'
	for c < 10 {
		u = u*10 + uint64(c)
		i++
		c = byteAt(b, i) - '0'
	}
	digits := i - first
	if digits == 0 || digits > 19 || u > math.MaxInt64 || digits > 1 && byteAt(b, first) == '0' || c == point || c|0x20 == ('e'-'0')|0x20 {
		return 0, -1
	}
	if negative {
		return -int64(u), i
	}
	return int64(u), i
}

func (d *Decoder) float64At(b unsafe.Pointer, i int) (float64, int) {
	if m, scale, end, ok := shortAt(b, i); ok {
		return float64(m) / pow10[scale&15], end
	}
	n, ok := numberAt(b, i)
	if !ok {
		return 0, -1
	}
	if n.digits <= 19 && n.mantissa <= 1<<53 && n.exp >= -22 && n.exp <= 22 {
		// Both parts are exact doubles, so one rounding gives the nearest double.
		v := float64(n.mantissa)
		if n.exp < 0 {
			v /= pow10[-n.exp]
		} else {
			v *= pow10[n.exp]
		}
		if n.negative && (n.fraction || n.mantissa != 0) { // an integer -0 is 0
			v = -v
		}
		return v, n.end
	}
	if n.end-i > d.maxNumber {
		return 0, -1
	}
	v, _ := strconv.ParseFloat(textAt(b, i, n.end), 64) // beyond the range it gives an infinity
	return v, n.end
}

func (d *Decoder) float32At(b unsafe.Pointer, i int) (float32, int) {
	n, ok := numberAt(b, i)
	if !ok {
		return 0, -1
	}
	if n.digits <= 19 && n.mantissa <= 1<<24 && n.exp >= -10 && n.exp <= 10 {
		v := float32(n.mantissa)
		if n.exp < 0 {
			v /= float32(pow10[-n.exp])
		} else {
			v *= float32(pow10[n.exp])
		}
		if n.negative && (n.fraction || n.mantissa != 0) {
			v = -v
		}
		return v, n.end
	}
	if n.end-i > d.maxNumber {
		return 0, -1
	}
	v, _ := strconv.ParseFloat(textAt(b, i, n.end), 32)
	return float32(v), n.end
}

// decimalAt reads a number, or a number in quotes, that fits the type after rounding half up.
func (d *Decoder) decimalAt(t *columnar.Type, b unsafe.Pointer, i int) (columnar.Dec128, int) {
	quoted := byteAt(b, i) == '"'
	if quoted {
		i++
	}
	n, ok := numberAt(b, i)
	if !ok || n.digits > 18 {
		return columnar.Dec128{}, -1
	}
	if quoted {
		if byteAt(b, n.end) != '"' {
			return columnar.Dec128{}, -1
		}
		n.end++
	}
	v := columnar.Dec128FromInt64(int64(n.mantissa))
	switch shift := n.exp + t.Scale; {
	case shift < -18 || shift > 38:
		return columnar.Dec128{}, -1
	case shift < 0:
		unit := uint64(columnar.Pow10(-shift).Int64())
		q := n.mantissa / unit
		if rest := n.mantissa - q*unit; rest >= unit-rest {
			q++
		}
		v = columnar.Dec128FromInt64(int64(q))
	case shift > 0:
		if v, ok = v.Mul(columnar.Pow10(shift)); !ok {
			return columnar.Dec128{}, -1
		}
	}
	if !v.FitsPrecision(t.Precision) {
		return columnar.Dec128{}, -1
	}
	if n.negative {
		v = v.Neg()
	}
	return v, n.end
}

// plainString finds the end of an ASCII string without escapes whose quote is at i.
func plainString(b unsafe.Pointer, i int) (text string, end int) {
	if byteAt(b, i) != '"' {
		return "", -1
	}
	end = plainEnd(b, i+1)
	if byteAt(b, end) != '"' || end == i+1 {
		return "", -1
	}
	return textAt(b, i+1, end), end + 1
}

func (d *Decoder) timestampAt(b unsafe.Pointer, i int) (int64, int) {
	c := byteAt(b, i)
	if c != '"' {
		v, end := integerAt(b, i) // seconds
		return v * 1e6, end
	}
	if d.isoTimestamp {
		if days, ok := d.dayAt(b, i+1); ok {
			if micros, end, ok := clockAt(b, i+11); ok {
				micros += days * 86400e6
				switch byteAt(b, end) {
				case 'Z':
					if byteAt(b, end+1) == '"' {
						return micros, end + 2
					}
				case '"':
					if d.utc {
						return micros, end + 1
					}
				}
			}
		}
	}
	text, end := plainString(b, i)
	if end < 0 {
		return 0, -1
	}
	v, err := d.formats.ParseTimestamp(text)
	if err != nil {
		return 0, -1
	}
	return v, end
}

func (d *Decoder) timestampNTZAt(b unsafe.Pointer, i int) (int64, int) {
	if d.isoNTZ && byteAt(b, i) == '"' {
		if days, ok := d.dayAt(b, i+1); ok {
			if micros, end, ok := clockAt(b, i+11); ok && byteAt(b, end) == '"' {
				return days*86400e6 + micros, end + 1
			}
		}
	}
	text, end := plainString(b, i)
	if end < 0 {
		return 0, -1
	}
	v, err := d.formats.ParseTimestampNTZ(text)
	if err != nil {
		return 0, -1
	}
	return v, end
}

func (d *Decoder) dateAt(b unsafe.Pointer, i int) (int32, int) {
	if d.isoDate && byteAt(b, i) == '"' {
		if days, ok := d.dayAt(b, i+1); ok && byteAt(b, i+11) == '"' {
			return int32(days), i + 12
		}
	}
	text, end := plainString(b, i)
	if end < 0 {
		return 0, -1
	}
	v, err := d.formats.ParseDate(text)
	if err != nil {
		return 0, -1
	}
	return v, end
}

func (d *Decoder) fastBinary(n *node, b unsafe.Pointer, i, row int) int {
	if byteAt(b, i) != '"' {
		return -1
	}
	end := plainEnd(b, i+1)
	if byteAt(b, end) != '"' {
		return -1
	}
	text := sliceAt(b, i+1, end)
	n.room(len(text))
	size, err := base64.StdEncoding.Decode(n.buf[n.used:], text)
	if err != nil {
		return -1
	}
	n.used += size
	n.offsets[row+1] = int32(n.used)
	return end + 1
}
