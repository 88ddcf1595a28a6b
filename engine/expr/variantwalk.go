package expr

import (
	"encoding/json"
	"strconv"
	"strings"
)

// jsonEnd is the end of the JSON value that begins at i, behind blanks, in a text that is valid.
func jsonEnd(text []byte, i int) int {
	i = jsonSpace(text, i)
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default:
			for i < len(text) && strings.IndexByte(",:]} \t\n\r", text[i]) < 0 {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

// jsonSpace skips blanks.
func jsonSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// stringEnd is the position behind the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// jsonString reads a string in quotes.
func jsonString(text []byte) string {
	if len(text) >= 2 && strings.IndexByte(string(text), '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return string(text)
	}
	return s
}

// jsonParts calls f for the elements of an array or the members of an object, whose names are in quotes, until f gives
// false. For other values it calls nothing.
func jsonParts(text []byte, f func(name, value []byte) bool) {
	i := jsonSpace(text, 0)
	if i >= len(text) || text[i] != '{' && text[i] != '[' {
		return
	}
	object := text[i] == '{'
	for i = jsonSpace(text, i+1); i < len(text) && text[i] != ']' && text[i] != '}'; {
		var name []byte
		if object {
			end := stringEnd(text, i)
			name = text[i:end]
			if i = jsonSpace(text, end); i < len(text) && text[i] == ':' {
				i = jsonSpace(text, i+1)
			}
		}
		end := jsonEnd(text, i)
		if !f(name, text[i:end]) {
			return
		}
		if i = jsonSpace(text, end); i < len(text) && text[i] == ',' {
			i = jsonSpace(text, i+1)
		}
	}
}

// jsonFirst is the first character of a value.
func jsonFirst(text []byte) byte {
	if i := jsonSpace(text, 0); i < len(text) {
		return text[i]
	}
	return 0
}

// variantStep is a step of a path into a variant: the name of a member, or the index of an element.
type variantStep struct {
	name  string
	index int // -1 for a name
}

// parseVariantPath reads a path such as $.a[0]['b c']["d"]; ok is false for anything else.
func parseVariantPath(s string) (steps []variantStep, ok bool) {
	s, ok = strings.CutPrefix(s, "$")
	if !ok {
		return nil, false
	}
	for s != "" {
		switch {
		case s[0] == '.':
			end := strings.IndexAny(s[1:], ".[") + 1
			if end == 0 {
				end = len(s)
			}
			if end == 1 {
				return nil, false
			}
			steps = append(steps, variantStep{s[1:end], -1})
			s = s[end:]
		case strings.HasPrefix(s, "['"), strings.HasPrefix(s, `["`):
			q := s[1:2]
			name, rest, found := strings.Cut(s[2:], q)
			if !found || !strings.HasPrefix(rest, "]") {
				return nil, false
			}
			steps = append(steps, variantStep{name, -1})
			s = rest[1:]
		case s[0] == '[':
			digits, rest, found := strings.Cut(s[1:], "]")
			n, err := strconv.ParseInt(digits, 10, 32)
			if !found || err != nil || strings.Trim(digits, "0123456789") != "" {
				return nil, false
			}
			steps = append(steps, variantStep{"", int(n)})
			s = rest
		default:
			return nil, false
		}
	}
	return steps, true
}

// variantAt is the value at a path, or nil.
func variantAt(text []byte, steps []variantStep) []byte {
	for _, s := range steps {
		var found []byte
		switch c := jsonFirst(text); {
		case s.index < 0 && c == '{':
			jsonParts(text, func(name, value []byte) bool {
				if jsonString(name) == s.name {
					found = value
				}
				return found == nil
			})
		case s.index >= 0 && c == '[':
			k := s.index
			jsonParts(text, func(_, value []byte) bool {
				if k == 0 {
					found = value
				}
				k--
				return found == nil
			})
		}
		if found == nil {
			return nil
		}
		text = found
	}
	return text
}
