package javatext

import (
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// LikePattern is a compiled pattern of LIKE: "%" stands for any text, "_" for one character, and an escape in front
// of either or of itself takes its meaning away.
type LikePattern struct {
	// parts are the pieces between the "%"; text must have the first at its front and the last at its end, and the
	// others in order in between. A pattern without "%" has one part.
	parts []likePart
}

// likePart is a piece of a pattern without "%".
type likePart struct {
	// items are literal texts, and "" for "_". A part without "_" is a single literal, or none.
	items []string
}

// CompileLike compiles a pattern. It is refused if the escape stands before another character
// (INVALID_FORMAT.ESC_IN_THE_MIDDLE) or at the end (INVALID_FORMAT.ESC_AT_THE_END).
func CompileLike(pattern string, escape rune) (*LikePattern, error) {
	p := &LikePattern{parts: make([]likePart, 1)}
	var literal []byte
	last := &p.parts[0]
	flush := func() {
		if len(literal) > 0 {
			last.items = append(last.items, string(literal))
			literal = literal[:0]
		}
	}
	for i := 0; i < len(pattern); {
		r, n := utf8.DecodeRuneInString(pattern[i:])
		rest := pattern[i+n:]
		switch {
		case r == escape && rest == "":
			return nil, sparkerr.New("INVALID_FORMAT.ESC_AT_THE_END", "The format is invalid: '%s'. The escape character is not allowed to end with.", pattern)
		case r == escape:
			next, m := utf8.DecodeRuneInString(rest)
			if next != '_' && next != '%' && next != escape {
				return nil, sparkerr.New("INVALID_FORMAT.ESC_IN_THE_MIDDLE",
					"The format is invalid: '%s'. The escape character is not allowed to precede '%s'.", pattern, rest[:m])
			}
			literal = append(literal, rest[:m]...)
			n += m
		case r == '_':
			flush()
			last.items = append(last.items, "")
		case r == '%':
			flush()
			p.parts = append(p.parts, likePart{})
			last = &p.parts[len(p.parts)-1]
		default:
			literal = append(literal, pattern[i:i+n]...)
		}
		i += n
	}
	flush()
	return p, nil
}

// Match tells whether the whole of s matches.
func (p *LikePattern) Match(s string) bool {
	n, ok := p.parts[0].prefix(s)
	if !ok {
		return false
	}
	if len(p.parts) == 1 {
		return n == len(s)
	}
	s = s[n:]
	middle, last := p.parts[1:len(p.parts)-1], &p.parts[len(p.parts)-1]
	for i := range middle {
		if n, ok = middle[i].find(s); !ok {
			return false
		}
		s = s[n:]
	}
	return last.suffix(s)
}

// prefix returns the length of what the part matches at the front of s.
func (t *likePart) prefix(s string) (length int, ok bool) {
	i := 0
	for _, item := range t.items {
		if item == "" {
			if i >= len(s) {
				return 0, false
			}
			i = min(i+CharLen(s[i]), len(s))
			continue
		}
		if !strings.HasPrefix(s[i:], item) {
			return 0, false
		}
		i += len(item)
	}
	return i, true
}

// find returns the end of the first match in s.
func (t *likePart) find(s string) (end int, ok bool) {
	if len(t.items) == 0 {
		return 0, true
	}
	if first := t.items[0]; first != "" {
		for from := 0; ; {
			i := strings.Index(s[from:], first)
			if i < 0 {
				return 0, false
			}
			from += i
			if n, ok := t.prefix(s[from:]); ok {
				return from + n, true
			}
			from++
		}
	}
	for from := 0; from < len(s); from = min(from+CharLen(s[from]), len(s)) {
		if n, ok := t.prefix(s[from:]); ok {
			return from + n, true
		}
	}
	return 0, false
}

// suffix tells whether the part matches the end of s.
func (t *likePart) suffix(s string) bool {
	switch {
	case len(t.items) == 0:
		return true
	case len(t.items) == 1 && t.items[0] != "":
		return strings.HasSuffix(s, t.items[0])
	}
	// From the back, as the part has a fixed number of characters.
	end := len(s)
	for i := len(t.items) - 1; i >= 0; i-- {
		if item := t.items[i]; item != "" {
			if !strings.HasSuffix(s[:end], item) {
				return false
			}
			end -= len(item)
			continue
		}
		if end == 0 {
			return false
		}
		_, n := utf8.DecodeLastRuneInString(s[:end])
		end -= n
	}
	return true
}
