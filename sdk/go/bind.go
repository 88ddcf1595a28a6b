package wstream

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"
)

// Bind is what a function is told once, before its first call.
type Bind struct {
	Function string
	Input    []InputColumn     // the columns that calls will have, in order
	Config   map[string]string // the module's config in the pipeline file
	TimeZone string            // of the session
}

// InputColumn is a column of the input. Type is DDL.
type InputColumn struct {
	Name, Type string
	Nullable   bool
}

var errRequest = errors.New("malformed bind request")

// parseBind reads the request, whose fields the host writes in this order.
func parseBind(text []byte) (*Bind, error) {
	r := jsonReader{b: text}
	b := &Bind{Config: map[string]string{}}
	r.object(func(key string) {
		switch key {
		case "function":
			b.Function = r.str()
		case "timezone":
			b.TimeZone = r.str()
		case "config":
			r.object(func(key string) { b.Config[key] = r.str() })
		case "input":
			r.array(func() {
				var c InputColumn
				r.object(func(key string) {
					switch key {
					case "name":
						c.Name = r.str()
					case "type":
						c.Type = r.str()
					case "nullable":
						c.Nullable = r.boolean()
					default:
						r.bad = true
					}
				})
				b.Input = append(b.Input, c)
			})
		default:
			r.bad = true
		}
	})
	if r.bad || r.p != len(r.b) {
		return nil, errRequest
	}
	return b, nil
}

// jsonReader reads the compact JSON that the host writes: no blanks between tokens.
type jsonReader struct {
	b   []byte
	p   int
	bad bool
}

func (r *jsonReader) take(c byte) bool {
	if r.p < len(r.b) && r.b[r.p] == c {
		r.p++
		return true
	}
	return false
}

func (r *jsonReader) want(c byte) {
	if !r.take(c) {
		r.bad = true
	}
}

func (r *jsonReader) object(member func(key string)) {
	r.want('{')
	for first := true; !r.bad && !r.take('}'); first = false {
		if !first {
			r.want(',')
		}
		key := r.str()
		r.want(':')
		if !r.bad {
			member(key)
		}
	}
}

func (r *jsonReader) array(item func()) {
	r.want('[')
	for first := true; !r.bad && !r.take(']'); first = false {
		if !first {
			r.want(',')
		}
		if !r.bad {
			item()
		}
	}
}

func (r *jsonReader) boolean() bool {
	for _, w := range [...]string{"true", "false"} {
		if len(r.b)-r.p >= len(w) && string(r.b[r.p:r.p+len(w)]) == w {
			r.p += len(w)
			return w == "true"
		}
	}
	r.bad = true
	return false
}

func (r *jsonReader) str() string {
	r.want('"')
	var out []byte
	for !r.bad {
		if r.p >= len(r.b) {
			r.bad = true
			break
		}
		c := r.b[r.p]
		r.p++
		switch {
		case c == '"':
			return string(out)
		case c != '\\':
			out = append(out, c)
		case r.p >= len(r.b):
			r.bad = true
		default:
			out = r.escape(out)
		}
	}
	return ""
}

func (r *jsonReader) escape(out []byte) []byte {
	c := r.b[r.p]
	r.p++
	switch c {
	case 'n':
		return append(out, '\n')
	case 't':
		return append(out, '\t')
	case 'r':
		return append(out, '\r')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'u':
		v := r.hex4()
		if utf16.IsSurrogate(v) && r.take('\\') && r.take('u') {
			v = utf16.DecodeRune(v, r.hex4())
		}
		return utf8.AppendRune(out, v)
	}
	return append(out, c)
}

func (r *jsonReader) hex4() rune {
	if len(r.b)-r.p < 4 {
		r.bad = true
		return 0
	}
	v := rune(0)
	for _, c := range r.b[r.p : r.p+4] {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c|32 >= 'a' && c|32 <= 'f':
			v = v<<4 | rune(c|32-'a'+10)
		default:
			r.bad = true
		}
	}
	r.p += 4
	return v
}
