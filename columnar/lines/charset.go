package lines

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Charset is a character set that text may be in.
type Charset uint8

// The character sets that Spark reads and writes.
const (
	UTF8 Charset = iota
	ASCII
	Latin1
	UTF16 // by byte order mark, big-endian without one
	UTF16BE
	UTF16LE
	UTF32 // by byte order mark, big-endian without one
	UTF32BE
	UTF32LE
)

// ParseCharset reads a Java name or alias of a character set; "" is UTF-8.
func ParseCharset(name string) (Charset, error) {
	switch strings.ToUpper(name) {
	case "", "UTF-8", "UTF8":
		return UTF8, nil
	case "US-ASCII", "ASCII", "ISO646-US":
		return ASCII, nil
	case "ISO-8859-1", "ISO8859_1", "ISO_8859-1", "LATIN1", "L1", "ISO8859-1":
		return Latin1, nil
	case "UTF-16", "UTF16":
		return UTF16, nil
	case "UTF-16BE":
		return UTF16BE, nil
	case "UTF-16LE":
		return UTF16LE, nil
	case "UTF-32", "UTF32":
		return UTF32, nil
	case "UTF-32BE":
		return UTF32BE, nil
	case "UTF-32LE":
		return UTF32LE, nil
	}
	return UTF8, fmt.Errorf("character set %q is unknown", name)
}

// DecodeReader gives the text of r as UTF-8. What is no character becomes U+FFFD; UTF-8 itself is
// passed on as it is.
func DecodeReader(r io.Reader, c Charset) io.Reader {
	if c == UTF8 {
		return r
	}
	return &charsetReader{r: r, c: c, in: make([]byte, 0, 32<<10)}
}

type charsetReader struct {
	r    io.Reader
	c    Charset
	in   []byte // read and not yet decoded
	out  []byte
	rest []byte
	err  error
}

// Read implements io.Reader.
func (d *charsetReader) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if d.err != nil && len(d.in) == 0 {
			return 0, d.err
		}
		if d.err == nil {
			n, err := d.r.Read(d.in[len(d.in):cap(d.in)])
			d.in, d.err = d.in[:len(d.in)+n], err
		}
		used := 0
		d.out, used = d.decode(d.out[:0], d.in, d.err != nil)
		d.in = d.in[:copy(d.in, d.in[used:])]
		d.rest = d.out
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// decode appends the characters of src to dst and tells how many bytes it took; at the end it takes
// all of them.
func (d *charsetReader) decode(dst, src []byte, end bool) ([]byte, int) {
	i := 0
	switch d.c {
	case ASCII, Latin1:
		for _, b := range src {
			r := rune(b)
			if d.c == ASCII && b >= utf8.RuneSelf {
				r = utf8.RuneError
			}
			dst = utf8.AppendRune(dst, r)
		}
		return dst, len(src)
	case UTF16, UTF32:
		width := 2
		if d.c == UTF32 {
			width = 4
		}
		if len(src) < width && !end {
			return dst, 0
		}
		big, little := UTF16BE, UTF16LE
		if d.c == UTF32 {
			big, little = UTF32BE, UTF32LE
		}
		d.c = big
		if len(src) >= width {
			switch {
			case width == 2 && src[0] == 0xff && src[1] == 0xfe, width == 4 && src[0] == 0xff && src[1] == 0xfe && src[2] == 0 && src[3] == 0:
				d.c, i = little, width
			case width == 2 && src[0] == 0xfe && src[1] == 0xff, width == 4 && src[0] == 0 && src[1] == 0 && src[2] == 0xfe && src[3] == 0xff:
				i = width
			}
		}
		out, n := d.decode(dst, src[i:], end)
		return out, i + n
	case UTF16BE, UTF16LE:
		unit := binary.BigEndian.Uint16
		if d.c == UTF16LE {
			unit = binary.LittleEndian.Uint16
		}
		for i+2 <= len(src) {
			r := rune(unit(src[i:]))
			if utf16.IsSurrogate(r) {
				if i+4 > len(src) && !end {
					return dst, i
				}
				low := rune(utf8.RuneError)
				if i+4 <= len(src) {
					low = rune(unit(src[i+2:]))
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 2
				}
			}
			dst = utf8.AppendRune(dst, r)
			i += 2
		}
	default:
		word := binary.BigEndian.Uint32
		if d.c == UTF32LE {
			word = binary.LittleEndian.Uint32
		}
		for i+4 <= len(src) {
			r := rune(utf8.RuneError)
			if w := word(src[i:]); w <= utf8.MaxRune {
				r = rune(w)
			}
			dst = utf8.AppendRune(dst, r)
			i += 4
		}
	}
	if end && i < len(src) {
		return utf8.AppendRune(dst, utf8.RuneError), len(src)
	}
	return dst, i
}

// separator is a line separator in the character set as Java has it: UTF-16 begins with a byte order mark.
func (c Charset) separator(sep string) []byte {
	if sep == "" {
		return nil
	}
	if c == UTF16 {
		return c.Encode([]byte{0xfe, 0xff}, sep)
	}
	return c.Encode(nil, sep)
}

// Encode appends s, which is UTF-8, in a character set; what the set does not have becomes '?'. UTF-16 and
// UTF-32 are written big-endian, the byte order mark is the caller's to write.
func (c Charset) Encode(dst []byte, s string) []byte {
	if c == UTF8 {
		return append(dst, s...)
	}
	for _, r := range s {
		switch c {
		case ASCII, Latin1:
			if r >= 0x100 || c == ASCII && r >= utf8.RuneSelf {
				r = '?'
			}
			dst = append(dst, byte(r))
		case UTF16, UTF16BE, UTF16LE:
			var units [2]uint16
			for _, u := range utf16.AppendRune(units[:0], r) {
				if c == UTF16LE {
					dst = binary.LittleEndian.AppendUint16(dst, u)
				} else {
					dst = binary.BigEndian.AppendUint16(dst, u)
				}
			}
		case UTF32LE:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(r))
		default:
			dst = binary.BigEndian.AppendUint32(dst, uint32(r))
		}
	}
	return dst
}
