package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader turns YAML nodes into values and collects faults.
type reader struct {
	file string
	text []byte
	env  func(string) (string, bool)
	errs Errors

	broken nodes // scalars whose variables could not be filled in
}

// nodes is a set of YAML nodes.
type nodes map[*yaml.Node]bool

// within tells whether one of the set lies in n.
func (s nodes) within(n *yaml.Node) bool {
	if len(s) == 0 {
		return false
	}
	n = deref(n)
	return s[n] || slices.ContainsFunc(n.Content, s.within)
}

// textPos is the place of a text in its file: where its first line begins, and where later ones do.
type textPos struct {
	line, col int
	indent    int // column of the later lines of a block, 0 when unknown
}

// at is the place in the file of a line and column within the text.
func (t textPos) at(line, col int) Pos {
	if line <= 1 {
		return Pos{t.line, t.col + col - 1}
	}
	return Pos{t.line + line - 1, max(t.indent, 1) + col - 1}
}

func posOf(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }

func (r *reader) fail(p Pos, format string, args ...any) *Error {
	e := &Error{File: r.file, Line: p.Line, Col: p.Col, Message: fmt.Sprintf(format, args...)}
	r.errs = append(r.errs, e)
	return e
}

// parseYAML reads a document; a syntax error is one fault.
func (r *reader) parse() *yaml.Node {
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(r.text))
	if err := dec.Decode(&doc); err != nil {
		line := 0
		msg := strings.TrimPrefix(err.Error(), "yaml: ")
		if _, e := fmt.Sscanf(msg, "line %d:", &line); e == nil {
			if i := strings.Index(msg, ": "); i >= 0 {
				msg = msg[i+2:]
			}
		}
		if err.Error() == "EOF" {
			msg = "the file is empty"
		}
		r.fail(Pos{max(line, 1), 1}, "not valid YAML: %s", msg)
		return nil
	}
	root := &doc
	if doc.Kind == yaml.DocumentNode {
		root = doc.Content[0]
	}
	r.substitute(root, 0)
	return root
}

// substitute fills ${VAR} in, in every scalar.
func (r *reader) substitute(n *yaml.Node, depth int) {
	if depth > 1000 {
		r.fail(posOf(n), "the file is nested deeper than 1000 levels")
		return
	}
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "$") {
		v, err := expandVars(n.Value, r.env)
		if err != nil {
			r.fail(posOf(n), "%s", err)
			if r.broken == nil {
				r.broken = nodes{}
			}
			r.broken[n] = true
		}
		if v != n.Value {
			n.Value = v
		}
	}
	for _, c := range n.Content {
		r.substitute(c, depth+1)
	}
}

// expandVars replaces ${VAR} and ${VAR:-default}; $${ stands for a literal ${.
func expandVars(s string, env func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return b.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1])
			b.WriteString("${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			return s, fmt.Errorf("variable %q has no closing brace; write $${ for a literal ${", s[i:])
		}
		name, def, has := strings.Cut(s[i+2:i+end], ":-")
		s = s[i+end+1:]
		v, ok := env(name)
		switch {
		case ok && (v != "" || !has):
			b.WriteString(v)
		case has:
			b.WriteString(def)
		case name == "":
			return s, fmt.Errorf("a variable without a name; write ${NAME}, or $${ for a literal ${")
		default:
			return b.String(), fmt.Errorf("variable %q is not set; set it in the environment, or give a default: ${%s:-value}", name, name)
		}
	}
}

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	pos   Pos
	value *yaml.Node
}

// entries are the keys of a mapping in order; known, when not nil, are the keys that may stand there.
func (r *reader) entries(n *yaml.Node, what string, known []string) []entry {
	n = deref(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		r.fail(posOf(n), "%s: found %s, expected a mapping", what, kindName(n))
		return nil
	}
	var out []entry
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Value == "<<" && k.Tag == "!!merge" {
			for _, e := range r.entries(v, what, known) {
				if !seen[e.key] {
					out = append(out, e)
				}
			}
			continue
		}
		if seen[k.Value] {
			r.fail(posOf(k), "%s: key %q stands there twice", what, k.Value)
			continue
		}
		seen[k.Value] = true
		if known != nil && !contains(known, k.Value) {
			e := r.fail(posOf(k), "%s: no key %q; known are: %s", what, k.Value, strings.Join(known, ", "))
			e.Suggestion = Nearest(k.Value, known)
			continue
		}
		out = append(out, entry{k.Value, posOf(k), deref(v)})
	}
	return out
}

func deref(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return "nothing"
		}
		return fmt.Sprintf("%q", n.Value)
	}
	return "something else"
}

// str reads a scalar as text.
func (r *reader) str(e entry, what string) string {
	if e.value.Kind != yaml.ScalarNode || e.value.Tag == "!!null" {
		r.fail(posOf(e.value), "%s: %s: found %s, expected a text", what, e.key, kindName(e.value))
		return ""
	}
	return e.value.Value
}

// boolean reads true or false.
func (r *reader) boolean(e entry, what string) bool {
	switch strings.ToLower(e.value.Value) {
	case "true":
		return true
	case "false":
		return false
	}
	r.fail(posOf(e.value), "%s: %s: found %s, expected true or false", what, e.key, kindName(e.value))
	return false
}

// choice reads one of some words.
func (r *reader) choice(e entry, what string, words ...string) string {
	s := r.str(e, what)
	if s != "" && !contains(words, s) {
		er := r.fail(posOf(e.value), "%s: %s: found %q, expected one of %s", what, e.key, s, strings.Join(words, ", "))
		er.Suggestion = Nearest(s, words)
		return ""
	}
	return s
}

// texts reads a list of texts.
func (r *reader) texts(e entry, what string) ([]string, []Pos) {
	if e.value.Kind != yaml.SequenceNode {
		r.fail(posOf(e.value), "%s: %s: found %s, expected a list", what, e.key, kindName(e.value))
		return nil, nil
	}
	out, at := []string{}, []Pos{}
	for _, c := range e.value.Content {
		c = deref(c)
		if c.Kind != yaml.ScalarNode {
			r.fail(posOf(c), "%s: %s: found %s, expected a text", what, e.key, kindName(c))
			continue
		}
		out, at = append(out, c.Value), append(at, posOf(c))
	}
	return out, at
}

// options reads a mapping of scalars, or of lists that become comma-separated texts.
func (r *reader) options(e entry, what string) (map[string]string, map[string]Pos) {
	out, at := map[string]string{}, map[string]Pos{}
	for _, o := range r.entries(e.value, what+": "+e.key, nil) {
		switch o.value.Kind {
		case yaml.ScalarNode:
			if o.value.Tag == "!!null" {
				r.fail(posOf(o.value), "%s: option %q has no value", what, o.key)
				continue
			}
			out[o.key] = o.value.Value
		case yaml.SequenceNode:
			parts, _ := r.texts(o, what)
			out[o.key] = strings.Join(parts, ",")
		default:
			r.fail(posOf(o.value), "%s: option %q: found %s, expected a text, a number or a list", what, o.key, kindName(o.value))
			continue
		}
		at["options."+strings.ToLower(o.key)] = o.pos
	}
	return out, at
}

// sqlText reads a query with its place.
func (r *reader) sqlText(e entry, what string) *SQL {
	s := &SQL{Text: r.str(e, what), at: textPos{line: e.value.Line, col: e.value.Column}}
	lines := bytes.Split(r.text, []byte("\n"))
	switch e.value.Style {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		s.at.line++
		for l := e.value.Line; l < len(lines); l++ {
			if t := bytes.TrimLeft(lines[l], " "); len(bytes.TrimSpace(t)) > 0 {
				s.at.indent = len(lines[l]) - len(t) + 1
				break
			}
		}
		s.at.col = s.at.indent
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		s.at.col++
	}
	return s
}

// osEnv looks variables up in the environment of the process.
func osEnv(name string) (string, bool) { return os.LookupEnv(name) }

func fileExists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}
