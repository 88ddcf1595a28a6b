// Package jsonrows reads JSON objects, one a row, into columns, directed by a list of fields: in one pass, without an
// allocation per row, without reflection.
package jsonrows

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wstream/wstream/sdk/go"
)

// Field is a member of the objects. Types are String, Float64, Int64, Int32, Bool and Timestamp (ISO 8601; UTC where
// no zone is given).
type Field struct {
	Name string
	Type wstream.Type
}

// Codes of refused rows.
const (
	Syntax = 1 // the row is not a JSON object
	Type   = 2 // a value is of another type than its field
	Range  = 3 // a number does not fit
)

// Handler makes a handler of a parse function, whose input is one column of texts and whose output are the fields. A
// missing field and null are null; of a repeated field the last value counts; members that no field names are skipped
// at any depth. A row that is no object, or has a value of another type, is refused with a text that names the field.
func Handler(fields []Field) wstream.Handler {
	named := make([]field, len(fields))
	for i, f := range fields {
		named[i] = field{f, `"` + f.Name + `":`}
	}
	return func(c *wstream.Call) error {
		p := parser{fields: named, values: make([]value, len(fields))}
		out := make([]*wstream.Builder, len(fields))
		for i, f := range fields {
			out[i] = c.Output(f.Type)
		}
		in := c.Column(0)
		refused := false
		for row := range c.Rows() {
			code := Syntax
			p.at = -1
			if !in.IsNull(row) {
				code = p.object(in.Bytes(row))
			}
			if code != 0 {
				if !refused { // so far it was row for row
					refused = true
					for k := range row {
						c.Parent(k)
					}
					c.Parents()
				}
				c.Refuse(row, int32(code), p.text(code))
				continue
			}
			if refused {
				c.Parent(row)
			}
			for i := range fields {
				p.emit(i, out[i])
			}
		}
		return nil
	}
}

// field is a field with its key as it mostly is written.
type field struct {
	Field
	pattern string
}

// value is what a row has for a field.
type value struct {
	set   bool
	bytes []byte // of a string, in the row's text or in the parser's scratch
	bits  uint64
}

// parser reads one object at a time.
type parser struct {
	fields  []field
	values  []value
	b       []byte
	p       int
	at      int // the field being read, -1 for none
	scratch []byte
	stack   []byte
}

// text says what is wrong with a row.
func (r *parser) text(code int) string {
	if r.at < 0 {
		return "not a JSON object"
	}
	what := `": not JSON`
	switch code {
	case Type:
		what = `": the value is of another type`
	case Range:
		what = `": the number is out of range`
	}
	return `field "` + r.fields[r.at].Name + what
}

func (r *parser) emit(i int, b *wstream.Builder) {
	v := &r.values[i]
	switch {
	case !v.set:
		b.Null()
	case r.fields[i].Type == wstream.TypeString:
		b.Bytes(v.bytes)
	case r.fields[i].Type == wstream.TypeBool:
		b.Bool(v.bits != 0)
	case r.fields[i].Type == wstream.TypeInt32:
		b.Int32(int32(v.bits))
	default: // eight bytes, whatever they are
		b.Int64(int64(v.bits))
	}
}

// blank passes over white space.
func (r *parser) blank() {
	for r.p < len(r.b) && (r.b[r.p] == ' ' || r.b[r.p] == '\n' || r.b[r.p] == '\t' || r.b[r.p] == '\r') {
		r.p++
	}
}

// take passes over c if it comes next, after white space.
func (r *parser) take(c byte) bool {
	if r.p < len(r.b) && r.b[r.p] == c {
		r.p++
		return true
	}
	r.blank()
	if r.p < len(r.b) && r.b[r.p] == c {
		r.p++
		return true
	}
	return false
}

// object reads a row's object; 0 or a code.
func (r *parser) object(b []byte) int {
	r.b, r.p, r.scratch = b, 0, r.scratch[:0]
	for i := range r.values {
		r.values[i].set = false
	}
	if !r.take('{') {
		return Syntax
	}
	if !r.take('}') {
		next := 0
		for {
			if next < len(r.fields) && r.expected(r.fields[next].pattern) {
				r.at = next // members mostly come in the order of the fields
			} else {
				if !r.take('"') {
					return Syntax
				}
				key, ok := r.str()
				if !ok || !r.take(':') {
					return Syntax
				}
				r.at = r.find(key)
			}
			if r.p < len(r.b) && r.b[r.p] <= ' ' {
				r.blank()
			}
			if r.at < 0 {
				if !r.skip() {
					return Syntax
				}
			} else {
				next = r.at + 1
				if code := r.value(r.at); code != 0 {
					return code
				}
				r.at = -1
			}
			if r.p < len(r.b) && r.b[r.p] == ',' {
				r.p++
				continue
			}
			if r.take(',') {
				continue
			}
			if r.take('}') {
				break
			}
			return Syntax
		}
	}
	r.blank()
	if r.p != len(r.b) {
		return Syntax
	}
	return 0
}

// expected passes over a field's key and colon, if they come next and as the field's name is written.
func (r *parser) expected(pattern string) bool {
	end := r.p + len(pattern)
	if end > len(r.b) || string(r.b[r.p:end]) != pattern {
		return false
	}
	r.p = end
	return true
}

// find is the field of a key.
func (r *parser) find(key []byte) int {
	for i := range r.fields {
		if r.fields[i].Name == string(key) {
			return i
		}
	}
	return -1
}

// word passes over a literal.
func (r *parser) word(w string) bool {
	if len(r.b)-r.p < len(w) || string(r.b[r.p:r.p+len(w)]) != w {
		return false
	}
	r.p += len(w)
	return true
}

// value reads the value of field i.
func (r *parser) value(i int) int {
	if r.p >= len(r.b) {
		return Syntax
	}
	v := &r.values[i]
	c := r.b[r.p]
	if c == 'n' {
		if !r.word("null") {
			return Syntax
		}
		v.set = false
		return 0
	}
	var ok bool
	switch r.fields[i].Type {
	case wstream.TypeString, wstream.TypeTimestamp:
		if c != '"' {
			return Type
		}
		r.p++
		if v.bytes, ok = r.str(); !ok {
			return Syntax
		}
		if r.fields[i].Type == wstream.TypeTimestamp {
			us, ok := Timestamp(v.bytes)
			if !ok {
				return Type
			}
			v.bits = uint64(us)
		}
	case wstream.TypeBool:
		v.bits = 0
		if c == 't' {
			v.bits = 1
		}
		if !r.word([2]string{"false", "true"}[v.bits]) {
			return Type
		}
	default:
		if c != '-' && c-'0' > 9 {
			return Type
		}
		n, ok := r.number()
		if !ok {
			return Syntax
		}
		if code := n.store(r.fields[i].Type, v); code != 0 {
			return code
		}
	}
	v.set = true
	return 0
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// str reads a string from behind its opening quote. The result is the row's own bytes, or the scratch where there
// are escapes.
func (r *parser) str() ([]byte, bool) {
	from := r.p
	b := r.b[from:]
	plain := true
	p := 0
	for {
		for p+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[p:])
			q, s := w^(ones*'"'), w^(ones*'\\')
			stop := ((q-ones)&^q | (s-ones)&^s | (w - ones*' ') | w) & tops
			if stop != 0 {
				p += bits.TrailingZeros64(stop) >> 3
				break
			}
			p += 8
		}
		if p >= len(b) {
			return nil, false
		}
		switch c := b[p]; {
		case c == '"':
			r.p = from + p + 1
			if plain {
				return b[:p:p], true
			}
			return r.unescape(b[:p])
		case c == '\\':
			plain = false
			p += 2
		case c < ' ':
			return nil, false
		case c < utf8.RuneSelf:
			p++
		default:
			_, n := utf8.DecodeRune(b[p:])
			if n < 2 {
				return nil, false
			}
			p += n
		}
	}
}

// unescape resolves escapes; half a surrogate pair becomes U+FFFD.
func (r *parser) unescape(s []byte) ([]byte, bool) {
	from := len(r.scratch)
	out := r.scratch
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case '"', '\\', '/':
			out = append(out, s[i])
		case 'u':
			v, ok := hex4(s[i+1:])
			if !ok {
				return nil, false
			}
			i += 4
			if utf16.IsSurrogate(v) {
				w, ok := rune(0), false
				if v < 0xdc00 && len(s) > i+6 && s[i+1] == '\\' && s[i+2] == 'u' {
					w, ok = hex4(s[i+3:])
				}
				if v = utf16.DecodeRune(v, w); ok && v != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, v)
		default:
			return nil, false
		}
	}
	r.scratch = out
	return out[from:], true
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s[:4]), 16, 32)
	return rune(v), err == nil
}

// number is a JSON number.
type number struct {
	text     []byte
	mantissa uint64
	digits   int
	exponent int
	negative bool
	whole    bool
}

func (r *parser) digits(m *uint64) int {
	b, v, n := r.b[r.p:], *m, 0
	for n < len(b) && b[n]-'0' < 10 {
		v = v*10 + uint64(b[n]-'0')
		n++
	}
	*m = v
	r.p += n
	return n
}

func (r *parser) number() (n number, ok bool) {
	from := r.p
	n.whole = true
	if r.b[r.p] == '-' {
		n.negative = true
		r.p++
	}
	first := r.p
	n.digits = r.digits(&n.mantissa)
	if n.digits == 0 || n.digits > 1 && r.b[first] == '0' {
		return n, false
	}
	if r.p < len(r.b) && r.b[r.p] == '.' {
		r.p++
		f := r.digits(&n.mantissa)
		if f == 0 {
			return n, false
		}
		n.digits, n.exponent, n.whole = n.digits+f, -f, false
	}
	if r.p < len(r.b) && r.b[r.p]|32 == 'e' {
		r.p++
		if r.p < len(r.b) && (r.b[r.p] == '+' || r.b[r.p] == '-') {
			r.p++
		}
		var e uint64
		if r.digits(&e) == 0 {
			return n, false
		}
		n.exponent, n.whole = 1000, false // left to strconv
	}
	n.text = r.b[from:r.p]
	return n, true
}

var powers = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
	1e18, 1e19, 1e20, 1e21, 1e22,
}

// store converts the number to a field's type.
func (n *number) store(t wstream.Type, v *value) int {
	if t == wstream.TypeFloat64 {
		if n.digits <= 19 && n.mantissa <= 1<<53 && n.exponent <= 0 && n.exponent >= -22 {
			f := float64(n.mantissa) / powers[-n.exponent]
			if n.negative {
				f = -f
			}
			v.bits = floatBits(f)
			return 0
		}
		f, err := strconv.ParseFloat(string(n.text), 64)
		if err != nil {
			return Range
		}
		v.bits = floatBits(f)
		return 0
	}
	if !n.whole {
		return Type
	}
	limit := uint64(1) << 63
	if t == wstream.TypeInt32 {
		limit = 1 << 31
	}
	if !n.negative {
		limit--
	}
	if n.digits > 19 || n.mantissa > limit {
		return Range
	}
	v.bits = n.mantissa
	if n.negative {
		v.bits = -n.mantissa
	}
	return 0
}

// skip passes over a value that no field names, without recursion.
func (r *parser) skip() bool {
	r.stack = r.stack[:0]
	for {
		r.blank()
		if r.p >= len(r.b) {
			return false
		}
		c := r.b[r.p]
		switch {
		case c == '{' || c == '[':
			r.p++
			r.stack = append(r.stack, c)
			if r.take(c + 2) { // '}' and ']' are two after '{' and '['
				r.stack = r.stack[:len(r.stack)-1]
				break
			}
			if c == '{' && !r.key() {
				return false
			}
			continue
		case c == '"':
			r.p++
			if _, ok := r.str(); !ok {
				return false
			}
		case c == 't' && r.word("true"), c == 'f' && r.word("false"), c == 'n' && r.word("null"):
		case c == '-' || c-'0' < 10:
			if _, ok := r.number(); !ok {
				return false
			}
		default:
			return false
		}
		for { // after a value
			if len(r.stack) == 0 {
				return true
			}
			open := r.stack[len(r.stack)-1]
			if r.take(open + 2) {
				r.stack = r.stack[:len(r.stack)-1]
				continue
			}
			if !r.take(',') || open == '{' && !r.key() {
				return false
			}
			break
		}
	}
}

// key passes over a key and its colon.
func (r *parser) key() bool {
	if !r.take('"') {
		return false
	}
	_, ok := r.str()
	return ok && r.take(':')
}
