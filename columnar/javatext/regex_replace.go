package javatext

import (
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Replacement is a compiled replacement of regexp_replace: "$1" and "${name}" stand for groups, a backslash takes the
// meaning of the next character away.
type Replacement struct {
	pattern *Pattern
	text    string
	parts   []replacementPart
	// err is what is wrong with it, which Java notices only at a match.
	err error
}

// replacementPart is a text, or a group if text is "".
type replacementPart struct {
	text  string
	group int
}

// CompileReplacement prepares a replacement for a pattern. What is wrong with it shows at the first match, as in Java.
func (p *Pattern) CompileReplacement(text string) *Replacement {
	r := &Replacement{pattern: p, text: text}
	var literal []byte
	flush := func() {
		if len(literal) > 0 {
			r.parts = append(r.parts, replacementPart{text: string(literal)})
			literal = nil
		}
	}
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\\':
			if i++; i == len(text) {
				r.err = illegalArgument("character to be escaped is missing")
				return r
			}
			_, n := utf8.DecodeRuneInString(text[i:])
			literal = append(literal, text[i:i+n]...)
			i += n
		case '$':
			group, n, err := p.groupReference(text[i+1:])
			if err != nil {
				r.err = err
				return r
			}
			flush()
			r.parts = append(r.parts, replacementPart{group: group})
			i += 1 + n
		default:
			literal = append(literal, c)
			i++
		}
	}
	flush()
	return r
}

func illegalArgument(text string) error {
	return &JavaError{Exception: "java.lang.IllegalArgumentException", Text: text}
}

// groupReference reads what stands behind a "$".
func (p *Pattern) groupReference(s string) (group, length int, err error) {
	if s == "" {
		return 0, 0, illegalArgument("Illegal group reference: group index is missing")
	}
	if s[0] == '{' {
		n := 1
		for n < len(s) && (isASCIILetter(s[n]) || isASCIIDigit(s[n])) {
			n++
		}
		name := s[1:n]
		if name == "" || n == len(s) || s[n] != '}' {
			return 0, 0, illegalArgument("named capturing group is missing trailing '}'")
		}
		if isASCIIDigit(name[0]) {
			return 0, 0, illegalArgument("capturing group name {" + name + "} starts with digit character")
		}
		group, ok := p.names[name]
		if !ok {
			return 0, 0, illegalArgument("No group with name {" + name + "}")
		}
		return group, n + 1, nil
	}
	if !isASCIIDigit(s[0]) {
		return 0, 0, illegalArgument("Illegal group reference")
	}
	group = int(s[0] - '0')
	length = 1
	for length < len(s) && isASCIIDigit(s[length]) {
		longer := group*10 + int(s[length]-'0')
		if longer > p.GroupCount() {
			break
		}
		group = longer
		length++
	}
	if group > p.GroupCount() {
		return 0, 0, &JavaError{Exception: "java.lang.IndexOutOfBoundsException", Text: "No group " + s[:1]}
	}
	return group, length, nil
}

// AppendReplaced writes s with each match replaced, as regexp_replace(s, regexp, replacement, position): matches are looked for
// from a position on that counts from 1 in units of UTF-16; the text before it is not looked at. The error
// is INVALID_REGEXP_REPLACE.
func (r *Replacement) AppendReplaced(dst []byte, s string, position int) ([]byte, error) {
	if !utf8.ValidString(s) {
		s = javaString(s)
	}
	skip := 0
	for units := position - 1; units > 0; {
		if skip == len(s) {
			return append(dst, s...), nil
		}
		n := CharLen(s[skip])
		skip += n
		units--
		if n == 4 {
			units--
		}
	}
	if position > 1 && skip == len(s) {
		return append(dst, s...), nil
	}
	dst = append(dst, s[:skip]...)
	m := r.pattern.matcher(s[skip:])
	defer r.pattern.release(m)
	from := 0
	for ok := m.next(true); ok; ok = m.next(false) {
		if r.err != nil {
			return dst, sparkerr.New("INVALID_REGEXP_REPLACE", "Could not perform regexp_replace for source = \"%s\", pattern = \"%s\", replacement = \"%s\" and position = %d.",
				s, r.pattern.source, r.text, position).WithCause(r.err)
		}
		dst = append(dst, m.s[from:m.caps[0]]...)
		for i := range r.parts {
			if part := &r.parts[i]; part.text != "" {
				dst = append(dst, part.text...)
			} else if from, to := m.caps[2*part.group], m.caps[2*part.group+1]; from >= 0 && to >= 0 {
				dst = append(dst, m.s[from:to]...)
			}
		}
		from = m.caps[1]
	}
	return append(dst, m.s[from:]...), nil
}
