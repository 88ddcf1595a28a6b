package jsonfmt

import (
	"unicode/utf8"
	"unsafe"
)

// maxSkipDepth bounds the nesting that the fast reader passes over; a bit each.
const maxSkipDepth = 60

// skip passes over a value that nobody reads, and checks that it is proper JSON.
func (d *Decoder) skip(b unsafe.Pointer, i int) int {
	switch c := byteAt(b, i); {
	case c == '"':
		return skipString(b, i+1)
	case c == '{' || c == '[':
		return d.skipNested(b, i)
	default:
		return d.skipScalar(b, i)
	}
}

func (d *Decoder) skipScalar(b unsafe.Pointer, i int) int {
	switch word := *(*uint32)(unsafe.Add(b, i)); {
	case byteAt(b, i) == '-' || byteAt(b, i)-'0' < 10:
		n, ok := numberAt(b, i)
		if !ok || n.end-i > d.maxNumber {
			return -1
		}
		return n.end
	case word == 'n'|'u'<<8|'l'<<16|'l'<<24, word == 't'|'r'<<8|'u'<<16|'e'<<24:
		return i + 4
	case word == 'f'|'a'<<8|'l'<<16|'s'<<24 && byteAt(b, i+4) == 'e':
		return i + 5
	}
	return -1
}

// skipString passes over a string whose text begins at i.
func skipString(b unsafe.Pointer, i int) int {
	from := i
	i = plainEnd(b, i)
	if byteAt(b, i) == '"' {
		return i + 1
	}
	for {
		i = quotedEnd(b, i)
		switch byteAt(b, i) {
		case '"':
			if !utf8.Valid(sliceAt(b, from, i)) {
				return -1
			}
			return i + 1
		case '\\':
			switch byteAt(b, i+1) {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if hexAt(b, i+2) < 0 {
					return -1
				}
				i += 6
			default:
				return -1
			}
		default:
			return -1
		}
	}
}

func (d *Decoder) skipNested(b unsafe.Pointer, i int) int {
	objects := uint64(0) // a bit for each open level, set for objects
	depth := 0
	for {
		// At i a value begins.
		switch c := byteAt(b, i); c {
		case '{', '[':
			if depth == maxSkipDepth {
				return -1
			}
			depth++
			objects <<= 1
			i = d.space(b, i+1)
			if c == '{' {
				objects |= 1
				if byteAt(b, i) != '}' {
					if i = d.skipName(b, i); i < 0 {
						return -1
					}
					continue
				}
			} else if byteAt(b, i) != ']' {
				continue
			}
		case '"':
			if i = skipString(b, i+1); i < 0 {
				return -1
			}
		default:
			if i = d.skipScalar(b, i); i < 0 {
				return -1
			}
		}
		// Behind a value, or at the end of an empty object or array.
		for {
			i = d.space(b, i)
			c := byteAt(b, i)
			i++
			if c == ',' {
				i = d.space(b, i)
				if objects&1 != 0 {
					if i = d.skipName(b, i); i < 0 {
						return -1
					}
				}
				break
			}
			if c == '}' && objects&1 == 0 || c == ']' && objects&1 != 0 || c != '}' && c != ']' {
				return -1
			}
			objects >>= 1
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// skipName passes over a name, the colon and blanks.
func (d *Decoder) skipName(b unsafe.Pointer, i int) int {
	if byteAt(b, i) != '"' {
		return -1
	}
	if i = skipString(b, i+1); i < 0 {
		return -1
	}
	i = d.space(b, i)
	if byteAt(b, i) != ':' {
		return -1
	}
	return d.space(b, i+1)
}
