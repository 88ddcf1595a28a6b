package jsonfmt

import (
	"math/bits"
	"unsafe"
)

// The fast reader walks over raw memory by offset. It never checks for the end: every text that it is
// given ends in a byte below a space (a newline, or a zero behind a whole document), where each of
// its loops stops, and padBytes more bytes may be read behind that one.
const padBytes = 64

// Words of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func byteAt(b unsafe.Pointer, i int) byte { return *(*byte)(unsafe.Add(b, i)) }

func wordAt(b unsafe.Pointer, i int) uint64 { return *(*uint64)(unsafe.Add(b, i)) }

func textAt(b unsafe.Pointer, from, to int) string {
	return unsafe.String((*byte)(unsafe.Add(b, from)), to-from)
}

func sliceAt(b unsafe.Pointer, from, to int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(b, from)), to-from)
}

// stops marks, by its high bit, the first byte of v that is a quote, a backslash, a control character
// or no ASCII; bytes behind the first may be marked wrongly.
func stops(v uint64) uint64 {
	q, s := v^(ones*'"'), v^(ones*'\\')
	return ((q-ones)&^q | (s-ones)&^s | (v-ones*' ')&^v | v) & highs
}

// stopsASCII is stops for text in which bytes beyond ASCII are allowed.
func stopsASCII(v uint64) uint64 {
	q, s := v^(ones*'"'), v^(ones*'\\')
	return ((q-ones)&^q | (s-ones)&^s | (v-ones*' ')&^v) &^ v & highs
}

// plainEnd is the offset of the first byte from i on that stops marks.
func plainEnd(b unsafe.Pointer, i int) int {
	for {
		if m := stops(wordAt(b, i)); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// quotedEnd is the offset of the first quote, backslash or control character from i on.
func quotedEnd(b unsafe.Pointer, i int) int {
	for {
		if m := stopsASCII(wordAt(b, i)); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// point is a decimal point less '0'.
const point = 0xfe

// pow10 holds the powers of ten that a double holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// nonDigits marks, by its high bit, the bytes of v that are no digits.
func nonDigits(v uint64) uint64 {
	x := v ^ ones*'0'
	return (x | (x&^highs + ones*0x76)) & highs
}

// eightDigits is the number that the bytes of v, digits less '0', the first one lowest, write.
func eightDigits(v uint64) uint64 {
	v = v*10 + v>>8
	return (v&0x000000ff000000ff*0x000f424000000064 + v>>16&0x000000ff000000ff*0x0000271000000001) >> 32
}

// shortAt reads a number of at most seven digits, perhaps with a point, that starts at i, in a few steps without
// a loop: loops over digits, whose number differs from row to row, cost a wrong guess of the processor
// each. ok is false for what it does not know, and for what is no number.
func shortAt(b unsafe.Pointer, i int) (mantissa uint64, scale, end int, ok bool) {
	v := wordAt(b, i)
	m := nonDigits(v)
	if m == 0 {
		return 0, 0, 0, false
	}
	k := bits.TrailingZeros64(m) &^ 7 // bits of the digits in front
	digits, stop := k, byte(v>>k)
	if stop == '.' {
		m &= m - 1
		if m == 0 {
			return 0, 0, 0, false
		}
		below := uint64(1)<<k - 1
		digits = bits.TrailingZeros64(m)&^7 - 8
		stop = byte(v >> (digits + 8))
		v = v&below | v>>8&^below
		end = i + digits>>3 + 1
	} else {
		end = i + k>>3
	}
	if k == 0 || digits == k && end != i+k>>3 || stop|0x20 == 'e' || stop == '.' || k > 8 && byte(v) == '0' {
		return 0, 0, 0, false
	}
	v = (v - ones*'0') << (64 - digits)
	return eightDigits(v), (digits - k) >> 3, end, true
}

// number is the parts of a JSON number: ±mantissa × 10^exp.
type number struct {
	mantissa uint64
	exp      int
	end      int  // offset behind it
	digits   int  // of the mantissa, which is wrong when there are more than 19
	negative bool // has a minus sign
	fraction bool // has a point or an exponent
}

// numberAt reads the number at i; ok is false where there is none in proper form.
func numberAt(b unsafe.Pointer, i int) (n number, ok bool) {
	if byteAt(b, i) == '-' {
		n.negative = true
		i++
	}
	first := i
	m := uint64(0)
	c := byteAt(b, i) - '0'
	for c < 10 {
		m = m*10 + uint64(c)
		i++
		c = byteAt(b, i) - '0'
	}
	n.digits = i - first
	if n.digits == 0 || n.digits > 1 && byteAt(b, first) == '0' {
		return n, false
	}
	if c == point {
		n.fraction = true
		i++
		from := i
		c = byteAt(b, i) - '0'
		for c < 10 {
			m = m*10 + uint64(c)
			i++
			c = byteAt(b, i) - '0'
		}
		n.exp = from - i
		if n.exp == 0 {
			return n, false
		}
		n.digits += i - from
	}
	if byteAt(b, i)|0x20 == 'e' {
		n.fraction = true
		i++
		negative := false
		if s := byteAt(b, i); s == '+' || s == '-' {
			negative = s == '-'
			i++
		}
		from, e := i, 0
		for c = byteAt(b, i) - '0'; c < 10; c = byteAt(b, i) - '0' {
			if e < 1<<20 {
				e = e*10 + int(c)
			}
			i++
		}
		if i == from {
			return n, false
		}
		if negative {
			e = -e
		}
		n.exp += e
	}
	n.mantissa, n.end = m, i
	return n, true
}

// stampAt reads "YYYY-MM-DD" at i and gives the days since 1970-01-01; ok is false for anything else.
func (d *Decoder) dayAt(b unsafe.Pointer, i int) (days int64, ok bool) {
	ym := wordAt(b, i)
	dd := wordAt(b, i+8) & 0xffff
	if ym == d.lastMonth && dd == d.lastDay {
		return d.lastDays, true
	}
	// Eight bytes less "0000-00-" must be digits at six places and zero at the two dashes.
	const pattern = '0' | '0'<<8 | '0'<<16 | '0'<<24 | '-'<<32 | '0'<<40 | '0'<<48 | '-'<<56
	const limit = 0x76 | 0x76<<8 | 0x76<<16 | 0x76<<24 | 0x7f<<32 | 0x76<<40 | 0x76<<48 | 0x7f<<56
	x := ym ^ pattern
	if (x|(x&^highs+limit))&highs != 0 {
		return 0, false
	}
	z := dd ^ 0x3030
	if (z|(z&^0x8080+0x7676))&0x8080 != 0 {
		return 0, false
	}
	year := int(x&15)*1000 + int(x>>8&15)*100 + int(x>>16&15)*10 + int(x>>24&15)
	month := int(x>>40&15)*10 + int(x>>48&15)
	day := int(z&15)*10 + int(z>>8&15)
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	days = daysFromCivil(year, month, day)
	d.lastMonth, d.lastDay, d.lastDays = ym, dd, days
	return days, true
}

func daysIn(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// daysFromCivil is the days since 1970-01-01 of a proleptic Gregorian date.
func daysFromCivil(y, m, d int) int64 {
	if m <= 2 {
		y--
	}
	era := y / 400
	if y < 0 {
		era = (y - 399) / 400
	}
	yoe := y - era*400
	mp := (m + 9) % 12
	doe := yoe*365 + yoe/4 - yoe/100 + (153*mp+2)/5 + d - 1
	return int64(era)*146097 + int64(doe) - 719468
}

// clockAt reads "THH:MM:SS" and a fraction at i, where a blank may stand for the T, and gives the
// microseconds since midnight and the offset behind.
func clockAt(b unsafe.Pointer, i int) (micros int64, end int, ok bool) {
	if c := byteAt(b, i); c != 'T' && c != ' ' {
		return 0, 0, false
	}
	w := wordAt(b, i+1)
	const pattern = '0' | '0'<<8 | ':'<<16 | '0'<<24 | '0'<<32 | ':'<<40 | '0'<<48 | '0'<<56
	const limit = 0x76 | 0x76<<8 | 0x7f<<16 | 0x76<<24 | 0x76<<32 | 0x7f<<40 | 0x76<<48 | 0x76<<56
	x := w ^ pattern
	if (x|(x&^highs+limit))&highs != 0 {
		return 0, 0, false
	}
	h := int64(x&15)*10 + int64(x>>8&15)
	m := int64(x>>24&15)*10 + int64(x>>32&15)
	s := int64(x>>48&15)*10 + int64(x>>56&15)
	if h > 23 || m > 59 || s > 59 {
		return 0, 0, false
	}
	micros = ((h*60+m)*60 + s) * 1e6
	i += 9
	if byteAt(b, i) != '.' {
		return micros, i, true
	}
	i++
	from, scale := i, int64(100000)
	for c := byteAt(b, i) - '0'; c < 10; c = byteAt(b, i) - '0' {
		micros += int64(c) * scale
		scale /= 10
		i++
	}
	return micros, i, i > from && i-from <= 9
}
