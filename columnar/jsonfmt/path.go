package jsonfmt

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
)

// Path is a compiled path of get_json_object, such as `$.a[0]['b c'][*]`. It is safe for several goroutines.
type Path struct{ steps []pathStep }

type pathStep struct {
	kind  stepKind
	name  string
	index int64
}

type stepKind uint8

const (
	stepName     stepKind = iota // .name, ['name']
	stepAnyName                  // .*, ['*']: accepted, but matches nothing, in Spark as here
	stepIndex                    // [0]
	stepAnyIndex                 // [*]
)

// CompilePath reads a path; ok is false for one that is none, for which get_json_object gives NULL.
func CompilePath(s string) (p *Path, ok bool) {
	s, ok = strings.CutPrefix(s, "$")
	if !ok {
		return nil, false
	}
	p = &Path{}
	for s != "" {
		switch {
		case strings.HasPrefix(s, "[*]"):
			p.steps = append(p.steps, pathStep{kind: stepAnyIndex})
			s = s[3:]
		case strings.HasPrefix(s, "['"):
			name, rest, found := strings.Cut(s[2:], "']")
			if !found || name == "" || strings.ContainsAny(name, "'?") {
				return nil, false
			}
			p.addName(name)
			s = rest
		case s[0] == '[':
			digits, rest, found := strings.Cut(s[1:], "]")
			n, err := strconv.ParseInt(digits, 10, 64)
			if !found || err != nil || strings.Trim(digits, "0123456789") != "" {
				return nil, false
			}
			p.steps = append(p.steps, pathStep{kind: stepIndex, index: n})
			s = rest
		case s[0] == '.':
			end := 1
			for end < len(s) && s[end] != '.' && s[end] != '[' {
				end++
			}
			if end == 1 {
				return nil, false
			}
			p.addName(s[1:end])
			s = s[end:]
		default:
			return nil, false
		}
	}
	return p, true
}

func (p *Path) addName(name string) {
	if name == "*" {
		p.steps = append(p.steps, pathStep{kind: stepAnyName})
		return
	}
	p.steps = append(p.steps, pathStep{kind: stepName, name: name})
}

// pathStyle says how a match is written.
type pathStyle uint8

const (
	rawStyle     pathStyle = iota // a string without quotes
	quotedStyle                   // as JSON
	flattenStyle                  // elements of arrays one by one
)

// Extractor applies paths and other functions to documents. It serves one goroutine.
type Extractor struct {
	r    reader
	opts Options
}

// NewExtractor makes an extractor with Spark's leniencies for JSON in functions.
func NewExtractor() *Extractor {
	e := &Extractor{opts: Options{Features: jsontoken.DefaultFeatures()}}
	e.opts.Features.ReplacementDecoding = true
	// These functions do not know NaN and the like.
	e.opts.Features.NonNumericNumbers = false
	e.r.opts = &e.opts
	return e
}

func (e *Extractor) begin(doc []byte) (jsontoken.Token, error) {
	e.r.s.Reset(doc, e.opts.Features)
	return e.r.s.Next()
}

// AppendPath writes what get_json_object gives for a document behind dst; found is false for NULL.
func (e *Extractor) AppendPath(dst, doc []byte, p *Path) (out []byte, found bool) {
	t, err := e.begin(doc)
	if err != nil || t == jsontoken.None {
		return dst, false
	}
	w := pathWriter{dst: dst}
	found, err = e.path(&w, rawStyle, p.steps)
	if err != nil || !found {
		return dst, false
	}
	return w.dst, true
}

// pathWriter puts commas between the values of an array.
type pathWriter struct {
	dst     []byte
	inArray bool
	some    bool
}

func (w *pathWriter) before() {
	if w.inArray && w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
}

func (e *Extractor) path(w *pathWriter, style pathStyle, steps []pathStep) (bool, error) {
	s := &e.r.s
	t := s.Current()
	if len(steps) == 0 {
		switch {
		case t == jsontoken.String && style == rawStyle:
			text, err := s.Text()
			w.dst = append(w.dst, text...)
			return err == nil, err
		case t == jsontoken.StartArray && style == flattenStyle:
			return e.each(func() (bool, error) { return e.path(w, style, nil) })
		}
		w.before()
		var err error
		w.dst, err = e.r.print(w.dst)
		return err == nil, err
	}
	step := steps[0]
	switch {
	case t == jsontoken.StartObject && step.kind == stepName:
		return e.member(w, style, steps)
	case t == jsontoken.StartArray && step.kind == stepAnyIndex && len(steps) > 1 && steps[1].kind == stepAnyIndex:
		return e.array(w, func(in *pathWriter) (bool, error) { return e.path(in, flattenStyle, steps[2:]) })
	case t == jsontoken.StartArray && step.kind == stepAnyIndex && style != quotedStyle:
		// One match stands for itself, several are an array.
		inner := style
		if style == rawStyle {
			inner = quotedStyle
		}
		in := pathWriter{inArray: true}
		matches := 0
		_, err := e.each(func() (bool, error) {
			found, err := e.path(&in, inner, steps[1:])
			if found {
				matches++
			}
			return found, err
		})
		if err != nil || matches == 0 {
			return false, err
		}
		w.before()
		if matches > 1 {
			w.dst = append(append(append(w.dst, '['), in.dst...), ']')
		} else {
			w.dst = append(w.dst, in.dst...)
		}
		return true, nil
	case t == jsontoken.StartArray && step.kind == stepAnyIndex:
		return e.array(w, func(in *pathWriter) (bool, error) { return e.path(in, quotedStyle, steps[1:]) })
	case t == jsontoken.StartArray && step.kind == stepIndex:
		if len(steps) > 1 && steps[1].kind == stepAnyIndex {
			style = quotedStyle
		}
		return e.element(w, style, step.index, steps[1:])
	}
	return false, s.Skip()
}

// each calls f for each element of the current array, and tells whether any call did.
func (e *Extractor) each(f func() (bool, error)) (bool, error) {
	any := false
	for {
		t, err := e.r.s.Next()
		if err != nil {
			return false, err
		}
		if t == jsontoken.EndArray || t == jsontoken.None {
			return any, nil
		}
		found, err := f()
		if err != nil {
			return false, err
		}
		any = any || found
	}
}

// array writes the matches within the current array as an array.
func (e *Extractor) array(w *pathWriter, f func(in *pathWriter) (bool, error)) (bool, error) {
	w.before()
	in := pathWriter{dst: append(w.dst, '['), inArray: true}
	found, err := e.each(func() (bool, error) { return f(&in) })
	w.dst = append(in.dst, ']')
	return found, err
}

// member looks for a field of the current object; the first match counts.
func (e *Extractor) member(w *pathWriter, style pathStyle, steps []pathStep) (bool, error) {
	s := &e.r.s
	found := false
	for {
		t, err := s.Next()
		if err != nil {
			return false, err
		}
		if t == jsontoken.EndObject || t == jsontoken.None {
			return found, nil
		}
		name, ok := s.Name()
		match := !found && ok && string(name) == steps[0].name
		if t, err = s.Next(); err != nil {
			return false, err
		}
		if match && t != jsontoken.Null {
			if found, err = e.path(w, style, steps[1:]); err != nil {
				return false, err
			}
			continue
		}
		if err := s.Skip(); err != nil {
			return false, err
		}
	}
}

// element goes to one element of the current array, and then to the array's end.
func (e *Extractor) element(w *pathWriter, style pathStyle, index int64, steps []pathStep) (bool, error) {
	s := &e.r.s
	found := false
	for i := int64(0); ; i++ {
		t, err := s.Next()
		if err != nil {
			return false, err
		}
		if t == jsontoken.EndArray || t == jsontoken.None {
			return found, nil
		}
		if i == index {
			if found, err = e.path(w, style, steps); err != nil {
				return false, err
			}
		} else if err := s.Skip(); err != nil {
			return false, err
		}
	}
}

// ArrayLength is the number of elements of a document that is an array; ok is false for anything else.
func (e *Extractor) ArrayLength(doc []byte) (n int32, ok bool) {
	t, err := e.begin(doc)
	if err != nil || t != jsontoken.StartArray {
		return 0, false
	}
	for {
		t, err := e.r.s.Next()
		if err != nil || t == jsontoken.None {
			return 0, false
		}
		if t == jsontoken.EndArray {
			return n, true
		}
		if e.r.s.Skip() != nil {
			return 0, false
		}
		n++
	}
}

// ObjectKeys gives the names of a document that is an object, in its order and as often as they occur; ok is false for
// anything else.
func (e *Extractor) ObjectKeys(doc []byte) (keys []string, ok bool) {
	t, err := e.begin(doc)
	if err != nil || t != jsontoken.StartObject {
		return nil, false
	}
	keys = []string{}
	for {
		t, err := e.r.s.Next()
		if err != nil || t == jsontoken.None {
			return nil, false
		}
		if t == jsontoken.EndObject {
			return keys, true
		}
		name, _ := e.r.s.Text()
		keys = append(keys, string(name))
		if _, err := e.r.s.Next(); err != nil || e.r.s.Skip() != nil {
			return nil, false
		}
	}
}

// Tuple gives the top-level fields of a document by name, as json_tuple does: text of strings without quotes, other values
// as JSON, nil for what is missing or null and for all of a text that is no object.
func (e *Extractor) Tuple(doc []byte, names []string) []*string {
	out := make([]*string, len(names))
	t, err := e.begin(doc)
	if err != nil || t != jsontoken.StartObject {
		return out
	}
	s := &e.r.s
	for {
		t, err := s.Next()
		if err != nil {
			clear(out)
			return out
		}
		if t == jsontoken.EndObject || t == jsontoken.None {
			return out
		}
		name, _ := s.Text()
		index := -1
		for i, n := range names {
			if n == string(name) {
				index = i
				break
			}
		}
		if t, err = s.Next(); err == nil && index >= 0 && t != jsontoken.Null {
			var text []byte
			if t == jsontoken.String {
				text, err = s.Text()
			} else {
				text, err = e.r.print(nil)
			}
			value := string(text)
			for i := index; i < len(names); i++ {
				if names[i] == names[index] {
					out[i] = &value
				}
			}
		} else if err == nil {
			err = s.Skip()
		}
		if err != nil {
			clear(out)
			return out
		}
	}
}
