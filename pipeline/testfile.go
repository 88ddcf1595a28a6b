package pipeline

import (
	"os"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// TestFile is a pipeline test as written.
type TestFile struct {
	Path      string
	Pipeline  *File
	Sink      string
	Steps     []*TestStep
	Error     string // condition that starting the query must fail with
	ErrorPos  Pos
	planFault error // the fault of a pipeline that cannot even be read, where an error is expected
	text      []byte
}

// TestStep is one step of a test.
type TestStep struct {
	Restart      bool
	Input        []testInput
	Output       *yaml.Node // nil when not written
	Ordered      bool
	Watermark    string
	LateRows     *int64
	StateRows    *int64
	Batches      *int64
	RuntimeError string
	Pos          Pos
	hasInput     bool
	node         *yaml.Node
}

type testInput struct {
	source string
	rows   *yaml.Node
	pos    Pos
}

// LoadTest reads a test file.
func LoadTest(path string) (*TestFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &reader{file: path, text: text, env: osEnv}
	n := r.parse()
	if n == nil {
		return nil, r.errs
	}
	t := &TestFile{Path: path, text: text}
	dir := filepath.Dir(path)
	for _, e := range r.entries(n, "test", []string{"pipeline", "sink", "steps", "error"}) {
		switch e.key {
		case "pipeline":
			t.pipeline(r, e, dir)
		case "sink":
			t.Sink = r.str(e, "test")
		case "error":
			t.Error, t.ErrorPos = r.str(e, "test"), posOf(e.value)
		case "steps":
			if e.value.Kind != yaml.SequenceNode {
				r.fail(posOf(e.value), "test: steps: found %s, expected a list", kindName(e.value))
				continue
			}
			for _, c := range e.value.Content {
				t.Steps = append(t.Steps, r.testStep(deref(c)))
			}
		}
	}
	if t.Pipeline == nil && t.planFault == nil {
		r.fail(Pos{1, 1}, "test: no `pipeline`")
	}
	if t.Error == "" && len(t.Steps) == 0 {
		r.fail(Pos{1, 1}, "test: neither `steps` nor `error`")
	}
	if len(r.errs) > 0 {
		if t.Error == "" {
			return nil, r.errs.sorted()
		}
		if t.planFault == nil {
			return nil, r.errs.sorted()
		}
	}
	return t, nil
}

// pipeline reads the pipeline of a test: a path, or the pipeline itself. Faults of a pipeline whose test
// expects an error are kept for the comparison.
func (t *TestFile) pipeline(r *reader, e entry, dir string) {
	if e.value.Kind == yaml.ScalarNode {
		f, err := Load(filepath.Join(dir, e.value.Value))
		if err != nil {
			t.planFault = err
			return
		}
		t.Pipeline = f
		return
	}
	sub := &reader{file: r.file, text: r.text, env: r.env}
	f := sub.pipeline(e.value, dir)
	if f.Name == "" {
		f.Name = "test"
	}
	t.Pipeline = f
	if len(sub.errs) > 0 {
		t.planFault = sub.errs.sorted()
	}
}

func (r *reader) testStep(n *yaml.Node) *TestStep {
	s := &TestStep{Pos: posOf(n), node: n}
	count := func(e entry) *int64 {
		v, err := strconv.ParseInt(e.value.Value, 10, 64)
		if err != nil {
			r.fail(posOf(e.value), "step: %s: found %s, expected a whole number", e.key, kindName(e.value))
		}
		return &v
	}
	for _, e := range r.entries(n, "step", []string{"input", "output", "watermark", "lateRows", "stateRows", "batches", "ordered", "restart", "runtimeError"}) {
		switch e.key {
		case "restart":
			s.Restart = r.boolean(e, "step")
		case "input":
			s.hasInput = true
			for _, in := range r.entries(e.value, "input", nil) {
				s.Input = append(s.Input, testInput{in.key, in.value, in.pos})
			}
		case "output":
			s.Output = e.value
		case "ordered":
			s.Ordered = r.boolean(e, "step")
		case "watermark":
			s.Watermark = r.str(e, "step")
		case "lateRows":
			s.LateRows = count(e)
		case "stateRows":
			s.StateRows = count(e)
		case "batches":
			s.Batches = count(e)
		case "runtimeError":
			s.RuntimeError = r.str(e, "step")
		}
	}
	if s.Restart && s.hasInput {
		r.fail(s.Pos, "step: `restart` stands without `input`")
	}
	return s
}
