package pipeline

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"go.yaml.in/yaml/v3"
)

// rowsOf reads rows of a schema from a YAML list of mappings, with faults at their places.
func (r *reader) rowsOf(n *yaml.Node, s *columnar.Schema, what string) *columnar.Batch {
	n = deref(n)
	builders := make([]*columnar.Builder, len(s.Fields))
	for i, f := range s.Fields {
		builders[i] = columnar.NewBuilder(f.Type, len(n.Content))
	}
	rows := 0
	if n.Kind != yaml.SequenceNode {
		if n.Tag != "!!null" {
			r.fail(posOf(n), "%s: found %s, expected a list of rows", what, kindName(n))
		}
	} else {
		for _, c := range n.Content {
			c = deref(c)
			row, err := datumjson.RowFromAny(s, messageRow(c, s))
			if err != nil {
				r.fail(posOf(c), "%s: row %d: %s", what, rows+1, err)
				continue
			}
			for i, d := range row {
				builders[i].AppendDatum(d)
			}
			rows++
		}
	}
	cols := make([]*columnar.Column, len(builders))
	for i, b := range builders {
		cols[i] = b.Finish()
	}
	return columnar.NewBatch(s, cols, rows)
}

// messageRow is nodeValue for a row, but one for a source of messages (Kafka, lines of text) may give the
// fields of the message instead of the source's columns: they become the JSON text in the column value.
func messageRow(n *yaml.Node, s *columnar.Schema) any {
	v := s.IndexFold("value")
	if n.Kind != yaml.MappingNode || v < 0 || !s.Fields[v].Type.HasBytes() {
		return nodeValue(n, s.Struct())
	}
	isColumn := false
	for i := 0; i+1 < len(n.Content); i += 2 {
		isColumn = isColumn || s.IndexFold(n.Content[i].Value) >= 0
	}
	if isColumn || len(n.Content) == 0 {
		o := nodeValue(n, s.Struct()).(datumjson.Object)
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := deref(n.Content[i+1]); o[i/2].Name == s.Fields[v].Name && (k.Kind == yaml.MappingNode || k.Kind == yaml.SequenceNode) {
				o[i/2].Value = message(k, s.Fields[v].Type)
			}
		}
		return o
	}
	return datumjson.Object{{Name: s.Fields[v].Name, Value: message(n, s.Fields[v].Type)}}
}

// message is a YAML node as the JSON text of a message, in base64 for a BINARY column as everywhere in tests.
func message(n *yaml.Node, t *columnar.Type) string {
	text := appendJSON(nil, n)
	if t.Kind == columnar.KindBinary {
		return base64.StdEncoding.EncodeToString(text)
	}
	return string(text)
}

// appendJSON writes a YAML node as JSON, keys in the order of the file.
func appendJSON(dst []byte, n *yaml.Node) []byte {
	n = deref(n)
	text := func(v any) []byte {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(v) != nil {
			return []byte("null")
		}
		return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, text(n.Content[i].Value)...), ':')
			dst = appendJSON(dst, n.Content[i+1])
		}
		return append(dst, '}')
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, c := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, c)
		}
		return append(dst, ']')
	}
	return append(dst, text(nodeValue(n, nil))...)
}

// nodeValue turns a YAML node into what datumjson reads for type t: a plain scalar of a STRING column
// is its text, whatever it looks like.
func nodeValue(n *yaml.Node, t *columnar.Type) any {
	n = deref(n)
	switch n.Kind {
	case yaml.MappingNode:
		o := make(datumjson.Object, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			o = append(o, datumjson.Member{Name: name, Value: nodeValue(n.Content[i+1], memberType(t, name))})
		}
		return o
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			et := (*columnar.Type)(nil)
			if t != nil && (t.Kind == columnar.KindArray) {
				et = t.Elem
			}
			out = append(out, nodeValue(c, et))
		}
		return out
	}
	if n.Tag == "!!null" {
		return nil
	}
	if t != nil && (t.Kind == columnar.KindString || t.Kind == columnar.KindBinary) {
		return n.Value
	}
	switch n.Tag {
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		v := strings.ReplaceAll(strings.TrimPrefix(n.Value, "+"), "_", "")
		if json.Valid([]byte(v)) {
			return json.Number(v)
		}
		var f float64
		if n.Decode(&f) == nil {
			return f
		}
	}
	return n.Value
}

func memberType(t *columnar.Type, name string) *columnar.Type {
	if t == nil {
		return nil
	}
	switch t.Kind {
	case columnar.KindStruct:
		for _, f := range t.Fields {
			if f.Name == name {
				return f.Type
			}
		}
	case columnar.KindMap:
		return t.Elem
	}
	return nil
}

// rowText is a row in the notation of tests, for messages.
func rowText(b *columnar.Batch, i int) string { return string(datumjson.AppendRow(nil, b, i)) }

// fmtPos is a place as file:line:col.
func fmtPos(file string, p Pos) string { return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Col) }

func watermarkType() *columnar.Type { return columnar.Timestamp }
