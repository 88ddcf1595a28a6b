package pipeline

import (
	"bytes"
	"context"
	"fmt"

	"github.com/wstream/wstream/columnar/datumjson"
	"go.yaml.in/yaml/v3"
)

// UpdateTest runs a test and gives its text with the outputs, watermarks and counts that were found in
// place of those that were written. Comments and everything else stay.
func (e *Environment) UpdateTest(ctx context.Context, t *TestFile) ([]byte, error) {
	if t.Error != "" {
		return t.text, nil
	}
	r := &testRun{env: e, test: t, mode: Straight}
	defer r.close()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(t.text, &doc); err != nil {
		return nil, err
	}
	steps := child(doc.Content[0], "steps")
	if steps == nil {
		return nil, fmt.Errorf("%s: no steps", t.Path)
	}
	first := int64(0)
	for i, s := range t.Steps {
		if s.RuntimeError != "" {
			break
		}
		blind := *s
		blind.Output, blind.Watermark, blind.LateRows, blind.StateRows, blind.Batches = nil, "", nil, nil, nil
		from := first
		if err := r.step(ctx, &blind, &first); err != nil {
			return nil, err
		}
		got := r.got[len(r.got)-1]
		out, err := rowsNodeOf(got)
		if err != nil {
			return nil, err
		}
		step := deref(steps.Content[i])
		set(step, "output", out)
		number := func(key string, old *int64, v int64) {
			if old != nil {
				set(step, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: fmt.Sprint(v)})
			}
		}
		late := int64(0)
		for b := from; b < first; b++ {
			late += r.late[b]
		}
		number("lateRows", s.LateRows, late)
		number("stateRows", s.StateRows, r.state[first-1])
		number("batches", s.Batches, first-from)
		if s.Watermark != "" {
			w, _ := r.query.Watermark()
			text := string(datumjson.Append(nil, watermarkType(), w))
			set(step, "watermark", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: text[1 : len(text)-1]})
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// rowsNodeOf writes rows as a YAML list of flow mappings.
func rowsNodeOf(s StepResult) (*yaml.Node, error) {
	seq := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, b := range s.Rows {
		for i := 0; i < b.Rows; i++ {
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(rowText(b, i)), &doc); err != nil {
				return nil, err
			}
			n := doc.Content[0]
			plain(n)
			seq.Content = append(seq.Content, n)
		}
	}
	if len(seq.Content) == 0 {
		seq.Style = yaml.FlowStyle
	}
	return seq, nil
}

// plain drops the quotes that JSON needs and YAML does not; the encoder puts those back that it needs.
func plain(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	for _, c := range n.Content {
		plain(c)
	}
}

func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return deref(n.Content[i+1])
		}
	}
	return nil
}

func set(n *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			n.Content[i+1] = v
			return
		}
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
}
