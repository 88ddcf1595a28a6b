package pipeline

import (
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
			row, err := datumjson.RowFromAny(s, nodeValue(c, s.Struct()))
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
