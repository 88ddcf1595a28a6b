package sdk

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/host"
)

// exampleCase is a call of one of the examples with rows as JSON, and the rows of its answer.
type exampleCase struct {
	function string
	in, want []string
	refused  int
}

var exampleCases = []exampleCase{
	{"parse", []string{
		`{"value":"eyJ1c2VyX2lkIjoiYW5uIiwiZXZlbnRfdGltZSI6IjIwMjYtMTAtMDZUMTI6MDA6MDBaIiwidXJsIjoiLyIsImFtb3VudCI6Mi41fQ=="}`,
		`{"value":"bm8="}`, `{"value":null}`, `{"value":"e30="}`,
	}, []string{
		`{"user_id":"ann","event_time":"2026-10-06T12:00:00.000000Z","url":"/","amount":2.5}`,
		`{"user_id":null,"event_time":null,"url":null,"amount":null}`,
	}, 2},
	{"is_human", []string{`{"ua":"Mozilla"}`, `{"ua":"Googlebot/2.1"}`, `{"ua":null}`, `{"ua":"bo"}`, `{"ua":"bot"}`}, []string{"1", "0", "1", "1", "0"}, 0},
	{"domain", []string{`{"url":"https://a.b/c"}`, `{"url":null}`, `{"url":"nothing"}`, `{"url":"x://é"}`}, []string{
		`{"domain":"a.b"}`, `{"domain":null}`, `{"domain":null}`, `{"domain":"é"}`,
	}, 1},
	{"basket", []string{
		`{"items":[{"price":1.5,"quantity":2},{"price":2.0,"quantity":null},null,{"price":1.0,"quantity":1}]}`, `{"items":null}`, `{"items":[]}`,
	}, []string{`{"total":4.0}`, `{"total":null}`, `{"total":0.0}`}, 0},
	{"links", []string{`{"url":"https://a.b/x/y?k=v&l=w&m"}`, `{"url":null}`, `{"url":"https://é"}`, `{"url":"x"}`, `{"url":"https://a.b/x//?"}`}, []string{
		`{"path":["x","y"],"query":{"k":"v","l":"w"},"place":{"host":"a.b","length":7}}`,
		`{"path":null,"query":null,"place":null}`,
		`{"path":[""],"query":{},"place":{"host":"é","length":2}}`,
		`{"path":[""],"query":{},"place":{"host":"","length":0}}`,
		`{"path":["x","",""],"query":{},"place":{"host":"a.b","length":7}}`,
	}, 0},
}

// TestExamples holds the examples of all languages against the same inputs: they are one guest, written five times.
func TestExamples(t *testing.T) {
	ctx := context.Background()
	h, err := host.New(ctx, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(ctx)
	modules := map[string]string{
		"c": "../testdata/guests/examples.wasm", "rust": "../testdata/guests/examples-rust.wasm", "assemblyscript": "../testdata/guests/examples-as.wasm",
	}
	if !testing.Short() {
		modules["go"] = buildGo(t, filepath.Join("go", "examples"))
	}
	script, err := os.ReadFile("js/examples/examples.js")
	if err != nil {
		t.Fatal(err)
	}
	code, err := JavaScript(script)
	if err != nil {
		t.Fatal(err)
	}
	modules["js"] = filepath.Join(t.TempDir(), "examples.wasm")
	if err := os.WriteFile(modules["js"], code, 0o644); err != nil {
		t.Fatal(err)
	}
	manifests := map[string]string{}
	for language, path := range modules {
		t.Run(language, func(t *testing.T) {
			m, err := h.Load(ctx, host.ModuleConfig{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			functions, err := json.Marshal(m.Manifest().Functions)
			if err != nil {
				t.Fatal(err)
			}
			manifests[string(functions)] = language
			for _, c := range exampleCases {
				testExample(ctx, t, m, c)
			}
			testMean(ctx, t, m)
			testSessions(ctx, t, m)
		})
	}
	if len(manifests) != 1 {
		t.Errorf("the languages' examples have other functions: %v", manifests)
	}
}

// buildGo builds a guest in Go, of a folder of the module around it.
func buildGo(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func rowsOf(t *testing.T, s *columnar.Schema, lines []string) *columnar.Batch {
	t.Helper()
	cols := make([]*columnar.Builder, len(s.Fields))
	for i, f := range s.Fields {
		cols[i] = columnar.NewBuilder(f.Type, 0)
	}
	for _, line := range lines {
		row, err := datumjson.ParseRow(s, []byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for i, d := range row {
			cols[i].AppendDatum(d)
		}
	}
	out := make([]*columnar.Column, len(cols))
	for i, b := range cols {
		out[i] = b.Finish()
	}
	return columnar.NewBatch(s, out, len(lines))
}

func linesOf(b *columnar.Batch) []string {
	out := make([]string, b.Rows)
	for i := range out {
		out[i] = string(datumjson.AppendRow(nil, b, i))
	}
	return out
}

func testExample(ctx context.Context, t *testing.T, m *host.Module, c exampleCase) {
	t.Helper()
	spec, err := m.Function(c.function)
	if err != nil {
		t.Error(err)
		return
	}
	b, err := m.Bind(ctx, c.function, spec.Input)
	if err != nil {
		t.Error(err)
		return
	}
	in := rowsOf(t, spec.Input, c.in)
	var got []string
	var errs []host.RowError
	switch spec.Kind.String() {
	case "filter":
		var keep columnar.Bitmap
		if keep, errs, err = b.Filter(ctx, host.Call{}, in); err == nil {
			for i := range in.Rows {
				got = append(got, map[bool]string{true: "1", false: "0"}[keep.Get(i)])
			}
		}
	case "scalar":
		var col *columnar.Column
		if col, errs, err = b.Scalar(ctx, host.Call{}, in); err == nil {
			got = linesOf(columnar.NewBatch(b.Output(), []*columnar.Column{col}, in.Rows))
		}
	default:
		var r host.Rows
		if r, err = b.Rows(ctx, host.Call{}, in); err == nil {
			got, errs = linesOf(r.Batch), r.Errors
		}
	}
	if err != nil || len(errs) != c.refused {
		t.Errorf("%s: refused %v, %v", c.function, errs, err)
	}
	if len(got) != len(c.want) {
		t.Errorf("%s: %d rows, want %d: %v", c.function, len(got), len(c.want), got)
		return
	}
	for i, want := range c.want {
		if got[i] != want {
			t.Errorf("%s: row %d\n got %s\nwant %s", c.function, i, got[i], want)
		}
	}
}

func testMean(ctx context.Context, t *testing.T, m *host.Module) {
	t.Helper()
	spec, err := m.Function("mean")
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bind(ctx, "mean", spec.Input)
	if err != nil {
		t.Fatal(err)
	}
	in := rowsOf(t, spec.Input, []string{`{"x":1}`, `{"x":null}`, `{"x":3}`, `{"x":8}`})
	acc, err := b.Update(ctx, host.Call{}, in, []uint32{0, 0, 0, 1}, columnar.NewNull(columnar.Binary, 3))
	if err == nil {
		acc, err = b.Merge(ctx, host.Call{}, acc, columnar.Take(acc, []int32{1, 2, 0}))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Finish(ctx, host.Call{}, acc)
	if err != nil {
		t.Fatal(err)
	}
	got := linesOf(columnar.NewBatch(b.Output(), []*columnar.Column{out}, 3))
	for i, want := range []string{`{"mean":4.0}`, `{"mean":8.0}`, `{"mean":2.0}`} {
		if got[i] != want {
			t.Errorf("mean: group %d is %s, want %s", i, got[i], want)
		}
	}
}

func testSessions(ctx context.Context, t *testing.T, m *host.Module) {
	t.Helper()
	spec, err := m.Function("sessions")
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bind(ctx, "sessions", spec.Input)
	if err != nil {
		t.Fatal(err)
	}
	const minute = 60_000_000
	in := rowsOf(t, spec.Input, []string{`{"user_id":"ann","ts":"1970-01-01T00:02:00Z"}`, `{"user_id":"ann","ts":"1970-01-01T00:01:00Z"}`})
	keys := columnar.NewBatch(spec.Key, []*columnar.Column{columnar.NewStrings([]string{"ann"})}, 1)
	first, err := b.Groups(ctx, host.Call{}, host.GroupsInput{
		Rows: in, Offsets: []int32{0, 2}, Keys: keys, State: columnar.NewNull(columnar.Binary, 1), Expired: []bool{false}, Timeout: []int64{-1 << 63},
	})
	if err != nil {
		t.Fatal(err)
	}
	if first.Rows.Rows != 0 || first.Timeout[0] != 7*minute {
		t.Errorf("sessions: %d rows, time-out %d", first.Rows.Rows, first.Timeout[0])
	}
	second, err := b.Groups(ctx, host.Call{}, host.GroupsInput{
		Rows: in.Slice(0, 0), Offsets: []int32{0, 0}, Keys: keys, State: first.State, Expired: []bool{true}, Timeout: first.Timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := linesOf(second.Rows); len(got) != 1 || got[0] != `{"user_id":"ann","clicks":2}` || !second.State.IsNull(0) {
		t.Errorf("sessions: %v", got)
	}
}
