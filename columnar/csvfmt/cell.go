package csvfmt

import (
	"math"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/records"
)

// cell builds one column; rows are addressed by number so that a dropped record can be written over.
type cell struct {
	typ     *columnar.Type
	cap     int
	fixed   []byte
	base    unsafe.Pointer
	bits    columnar.Bitmap
	valid   columnar.Bitmap // nil until the first null
	offsets []int32
	data    []byte

	hintRows, hintBytes int
}

func newCell(t *columnar.Type) *cell {
	c := &cell{typ: t}
	if t.HasBytes() {
		c.offsets = make([]int32, 1)
	}
	return c
}

func (c *cell) grow(row int) {
	rows := max(2*c.cap, c.hintRows, row+1, 64)
	switch {
	case c.offsets != nil:
		offsets := make([]int32, rows+1)
		copy(offsets, c.offsets)
		c.offsets = offsets
		if c.data == nil {
			c.data = make([]byte, 0, c.hintBytes)
		}
	case c.typ.Kind == columnar.KindBool:
		bits := columnar.NewBitmap(rows)
		copy(bits, c.bits)
		c.bits = bits
	default:
		fixed := columnar.AlignedBytes(rows * c.typ.Width())
		copy(fixed, c.fixed)
		c.fixed, c.base = fixed, unsafe.Pointer(unsafe.SliceData(fixed))
	}
	if c.valid != nil {
		valid := columnar.NewBitmapSet(rows)
		copy(valid, c.valid)
		c.valid = valid
	}
	c.cap = rows
}

func (c *cell) setNull(row int) {
	if row >= c.cap {
		c.grow(row)
	}
	if c.valid == nil {
		c.valid = columnar.NewBitmapSet(c.cap)
	}
	c.valid.Clear(row)
	if c.offsets != nil {
		c.offsets[row+1] = c.offsets[row]
	}
}

// drop forgets row, the last one.
func (c *cell) drop(row int) {
	if c.valid != nil {
		c.valid.Set(row)
	}
	if c.offsets != nil {
		c.data = c.data[:c.offsets[row]]
	}
}

func (c *cell) finish(rows int) *columnar.Column {
	if rows > c.cap {
		c.grow(rows - 1)
	}
	out := &columnar.Column{Type: c.typ, Len: rows, Valid: c.valid, Bits: c.bits}
	if c.typ.Kind == columnar.KindNull {
		out.Valid = nil
	}
	if c.offsets != nil {
		out.Offsets, out.Data = c.offsets[:rows+1], c.data
	} else {
		out.Data = c.fixed[:rows*c.typ.Width()]
	}
	*c = cell{typ: c.typ, hintRows: rows + rows/16 + 16, hintBytes: len(c.data) + len(c.data)/16 + 64}
	if c.typ.HasBytes() {
		c.offsets = make([]int32, 1)
	}
	return out
}

// set reads a field's text as row's value; false when it is none of the type.
func (c *cell) set(d *Decoder, row int, s []byte) bool {
	if row >= c.cap {
		c.grow(row)
	}
	switch c.typ.Kind {
	case columnar.KindString, columnar.KindBinary:
		c.data = append(c.data, s...)
		c.offsets[row+1] = int32(len(c.data))
		return true
	case columnar.KindInt64:
		v, ok := integer(s)
		*(*int64)(unsafe.Add(c.base, row*8)) = v
		return ok
	case columnar.KindInt32:
		v, ok := integer(s)
		*(*int32)(unsafe.Add(c.base, row*4)) = int32(v)
		return ok && v == int64(int32(v))
	case columnar.KindInt16:
		v, ok := integer(s)
		*(*int16)(unsafe.Add(c.base, row*2)) = int16(v)
		return ok && v == int64(int16(v))
	case columnar.KindInt8:
		v, ok := integer(s)
		*(*int8)(unsafe.Add(c.base, row)) = int8(v)
		return ok && v == int64(int8(v))
	case columnar.KindFloat64:
		v, ok := d.float(s, 64)
		*(*float64)(unsafe.Add(c.base, row*8)) = v
		return ok
	case columnar.KindFloat32:
		v, ok := d.float(s, 32)
		*(*float32)(unsafe.Add(c.base, row*4)) = float32(v)
		return ok
	case columnar.KindBool:
		v, ok := boolean(s)
		c.bits.SetTo(row, v)
		return ok
	}
	return c.setSlow(d, row, textOf(s))
}

// textOf views bytes as a string for as long as they do not change.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (c *cell) setSlow(d *Decoder, row int, s string) bool {
	var err error
	switch c.typ.Kind {
	case columnar.KindTimestamp:
		v, ok := int64(0), false
		if d.isoTimestamp {
			v, ok = records.FastTimestamp(s, d.utc)
		}
		if !ok {
			v, err = d.formats.ParseTimestamp(s)
		}
		*(*int64)(unsafe.Add(c.base, row*8)) = v
	case columnar.KindTimestampNTZ:
		var v int64
		v, err = d.formats.ParseTimestampNTZ(s)
		*(*int64)(unsafe.Add(c.base, row*8)) = v
	case columnar.KindDate:
		var v int32
		v, err = d.formats.ParseDate(s)
		*(*int32)(unsafe.Add(c.base, row*4)) = v
	case columnar.KindTime:
		var v int64
		v, err = d.formats.ParseTime(s)
		*(*int64)(unsafe.Add(c.base, row*8)) = v
	case columnar.KindDecimal:
		var v columnar.Dec128
		v, err = d.formats.ParseDecimal(c.typ, s)
		*(*columnar.Dec128)(unsafe.Add(c.base, row*16)) = v
	default:
		var v columnar.Datum
		if v, err = records.ParseInterval(c.typ, s); err == nil {
			switch v := v.(type) {
			case int32:
				*(*int32)(unsafe.Add(c.base, row*4)) = v
			case int64:
				*(*int64)(unsafe.Add(c.base, row*8)) = v
			case columnar.CalendarInterval:
				*(*columnar.CalendarInterval)(unsafe.Add(c.base, row*16)) = v
			}
		}
	}
	if err != nil {
		d.cause = err
	}
	return err == nil
}

// integer reads what Java's parseLong takes, which is digits of any script.
func integer(s []byte) (int64, bool) {
	v, ok := asciiInteger(s)
	if !ok && !isASCII(s) {
		return asciiInteger([]byte(javatext.FoldDigits(string(s))))
	}
	return v, ok
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func asciiInteger(s []byte) (int64, bool) {
	if len(s) == 0 {
		return 0, false
	}
	i := 0
	negative := s[0] == '-'
	if negative || s[0] == '+' {
		i = 1
	}
	if i == len(s) {
		return 0, false
	}
	u := uint64(0)
	for _, c := range s[i:] {
		c -= '0'
		if c > 9 || u > (1<<63)/10 {
			return 0, false
		}
		u = u*10 + uint64(c)
	}
	if negative {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}

func boolean(s []byte) (v, ok bool) {
	switch len(s) {
	case 4:
		return true, s[0]|0x20 == 't' && s[1]|0x20 == 'r' && s[2]|0x20 == 'u' && s[3]|0x20 == 'e'
	case 5:
		return false, s[0]|0x20 == 'f' && s[1]|0x20 == 'a' && s[2]|0x20 == 'l' && s[3]|0x20 == 's' && s[4]|0x20 == 'e'
	}
	return false, false
}

// exact10 holds the powers of ten that a double holds exactly.
var exact10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float reads a floating-point number of some bits.
func (d *Decoder) float(s []byte, bits int) (float64, bool) {
	if bits == 64 && !d.oddFloats {
		// Digits and perhaps a point, all within 15 digits: one exact division.
		i, m, point := 0, uint64(0), -1
		negative := len(s) > 0 && s[0] == '-'
		if negative {
			i = 1
		}
		first := i
		for ; i < len(s); i++ {
			c := s[i] - '0'
			if c > 9 {
				if s[i] != '.' || point >= 0 {
					break
				}
				point = i
				continue
			}
			m = m*10 + uint64(c)
		}
		digits := i - first
		if point >= 0 {
			digits--
		}
		if i == len(s) && digits > 0 && digits <= 15 {
			v := float64(m)
			if point >= 0 {
				v /= exact10[len(s)-1-point]
			}
			if negative {
				v = -v
			}
			return v, true
		}
	}
	switch string(s) {
	case d.opts.NaNValue:
		return math.NaN(), true
	case d.opts.NegativeInf:
		return math.Inf(-1), true
	case d.opts.PositiveInf:
		return math.Inf(1), true
	}
	return javaFloat(textOf(s), bits)
}

// javaFloat reads what Java's parseDouble and parseFloat take: blanks around, a d or f behind, hexadecimal
// numbers with a binary exponent, NaN and Infinity in just these letters.
func javaFloat(s string, bits int) (float64, bool) {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	t := s
	if t != "" && (t[0] == '+' || t[0] == '-') {
		t = t[1:]
	}
	switch t {
	case "":
		return 0, false
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		v, _ := strconv.ParseFloat(s, 64)
		return v, true
	}
	hex := len(t) > 2 && t[0] == '0' && t[1]|0x20 == 'x'
	exponent := false
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c-'0' <= 9, c == '.':
		case c == '+' || c == '-':
			if prev := t[max(i-1, 0)] | 0x20; i == 0 || prev != 'e' && prev != 'p' {
				return 0, false
			}
		case hex && (i == 1 || c|0x20 >= 'a' && c|0x20 <= 'f' && !exponent):
		case hex && c|0x20 == 'p', !hex && c|0x20 == 'e':
			exponent = true
		case i == len(t)-1 && (c|0x20 == 'd' || c|0x20 == 'f'):
		default:
			return 0, false
		}
	}
	if hex && !exponent {
		return 0, false
	}
	if c := s[len(s)-1] | 0x20; (c == 'd' || c == 'f') && (!hex || exponent) {
		s = s[:len(s)-1]
	}
	v, err := strconv.ParseFloat(s, bits)
	return v, err == nil || v-v != 0 || v == 0 && err.(*strconv.NumError).Err == strconv.ErrRange
}
