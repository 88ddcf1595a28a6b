package rowwise_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/host"
	"github.com/wstream/wstream/internal/rowwise"
	"github.com/wstream/wstream/pipeline"
)

// TestRandomQueries asks random questions of the engine and of the evaluator. Every answer has to agree: the rows of each
// step, the watermark, the rows dropped as late, the rows in state and the number of batches; straight, with a crash between
// all batches, and restored at other numbers of partitions. WSTREAM_SEED asks a single question and prints it.
func TestRandomQueries(t *testing.T) {
	if s := os.Getenv("WSTREAM_SEED"); s != "" {
		seed, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		try(t, environment(t), seed, true)
		return
	}
	n := int64(300)
	if testing.Short() {
		n = 50
	}
	many(t, 0, n)
}

// TestSoakRandomQueries asks WSTREAM_SEEDS (10,000) questions. It runs with `make soak`.
func TestSoakRandomQueries(t *testing.T) {
	n := int64(10_000)
	if s := os.Getenv("WSTREAM_SEEDS"); s != "" {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n = v
	} else if os.Getenv("WSTREAM_SOAK") == "" {
		t.Skip("WSTREAM_SOAK is not set")
	}
	many(t, 0, n)
}

func many(t *testing.T, from, n int64) {
	env := environment(t)
	began := time.Now()
	for seed := from; seed < from+n; seed++ {
		if !try(t, env, seed, false) {
			t.Logf("seed %d; again with: WSTREAM_SEED=%d go test -run TestRandomQueries -v ./internal/rowwise", seed, seed)
			if os.Getenv("WSTREAM_GO_ON") == "" {
				return
			}
		}
	}
	t.Logf("%d seeds agree in %s", n, time.Since(began).Round(time.Millisecond))
}

// environment has connectors that tests replace.
func environment(t *testing.T) *pipeline.Environment {
	h, err := host.New(context.Background(), host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return &pipeline.Environment{
		Registry: expr.NewRegistry(expr.Builtins()), Host: h,
		Connectors: []*connector.Spec{
			{Format: "json", LenientOptions: true, NeedsSchema: true, Options: []connector.Option{{Name: "path"}}, NewSource: func(connector.Env, connector.Options) (connector.Source, error) { return nil, os.ErrInvalid }},
			{Format: "memory", NoCheckpoint: true, NewSink: func(connector.Env, connector.Options) (connector.Sink, error) { return nil, os.ErrInvalid }},
		},
	}
}

// try asks one question and says whether the answers agree.
func try(t *testing.T, env *pipeline.Environment, seed int64, show bool) bool {
	t.Helper()
	q := ask(seed)
	texts := []string{q.text(q.steps)}
	if q.orderly && q.mode == rowwise.Append && !q.first && !q.max {
		// Cut into batches in whatever way, the rows of the whole are the same.
		whole, others := q.cuts()
		want := all(q, whole)
		for _, cut := range others {
			if got := all(q, cut); got != want {
				t.Errorf("seed %d: the evaluator itself depends on the cut into batches:\n%s\nand\n%s", seed, want, got)
				return false
			}
			texts = append(texts, q.text(cut))
		}
	}
	ok := true
	for _, text := range texts {
		if show {
			t.Log("\n" + text)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("seed-%d_test.yaml", seed))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := pipeline.LoadTest(path)
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
			return false
		}
		for _, mode := range pipeline.Modes() {
			if err := env.RunTest(context.Background(), f, mode); err != nil {
				t.Errorf("seed %d, mode %s: %v\n%s", seed, mode, err, text)
				ok = false
				break
			}
		}
		if !ok {
			break
		}
	}
	return ok
}

// cuts puts all rows into one step, and into steps of random sizes; each ends with a step that closes everything.
func (q *question) cuts() (whole []step, others [][]step) {
	rows := map[string][]rowwise.Row{}
	top := start
	for _, s := range q.steps {
		for name, rs := range s.rows {
			for _, r := range rs {
				if t, ok := r[0].(rowwise.Time); ok && t > top {
					top = t
				}
			}
			rows[name] = append(rows[name], rs...)
		}
	}
	last := func() step {
		s := step{rows: map[string][]rowwise.Row{}}
		for _, name := range q.sources {
			s.rows[name] = []rowwise.Row{{top + 48*60*minute, "z", int64(9)}}
		}
		return s
	}
	whole = []step{{rows: rows}, last()}
	for range 2 {
		// By time, so that nothing comes late however the rows are cut.
		left := map[string][]rowwise.Row{}
		for name, rs := range rows {
			left[name] = append([]rowwise.Row{}, rs...)
		}
		var out []step
		for {
			s, n := step{rows: map[string][]rowwise.Row{}}, 0
			for _, name := range q.sources {
				k := min(q.rnd.Intn(5), len(left[name]))
				s.rows[name], left[name] = left[name][:k], left[name][k:]
				n += k + len(left[name])
			}
			out = append(out, s)
			if q.chance(30) {
				out = append(out, step{restart: true})
			}
			if n == 0 {
				break
			}
		}
		others = append(others, append(out, last()))
	}
	return whole, others
}

// all are the rows of all steps, in order of their text.
func all(q *question, steps []step) string {
	eval := q.build()
	var lines []string
	for _, s := range steps {
		if s.restart {
			continue
		}
		for _, r := range eval.Step(s.rows).Rows {
			lines = append(lines, q.line(q.columns, r))
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// text is the question as a pipeline test with the evaluator's answers.
func (q *question) text(steps []step) string {
	var b strings.Builder
	b.WriteString("pipeline:\n  name: random\n")
	if q.max {
		b.WriteString("  settings: {watermarkPolicy: max}\n")
	}
	b.WriteString("  sources:\n")
	for _, s := range q.sources {
		fmt.Fprintf(&b, "    %s:\n      format: json\n      schema: ts TIMESTAMP, k STRING, v INT\n      options: {path: %s}\n", s, s)
	}
	b.WriteString("  views:\n" + strings.Join(q.views, ""))
	fmt.Fprintf(&b, "  sinks:\n    out:\n      from: result\n      format: memory\n      outputMode: %s\nsteps:\n", q.mode)
	eval := q.build()
	marked := false
	for _, m := range q.marked {
		marked = marked || m
	}
	for _, s := range steps {
		if s.restart {
			b.WriteString("  - restart: true\n    output: []\n    batches: 0\n")
			continue
		}
		b.WriteString("  - input:\n")
		for _, name := range q.sources {
			fmt.Fprintf(&b, "      %s:", name)
			q.list(&b, "        ", []string{"ts", "k", "v"}, s.rows[name])
		}
		res := eval.Step(s.rows)
		b.WriteString("    output:")
		q.list(&b, "      ", q.columns, res.Rows)
		if marked {
			fmt.Fprintf(&b, "    watermark: %q\n", instant(res.Watermark))
		}
		fmt.Fprintf(&b, "    lateRows: %d\n    batches: %d\n", res.Late, res.Batches)
		if res.Batches > 0 {
			fmt.Fprintf(&b, "    stateRows: %d\n", res.State)
		}
	}
	return b.String()
}

func (q *question) list(b *strings.Builder, indent string, columns []string, rows []rowwise.Row) {
	if len(rows) == 0 {
		b.WriteString(" []\n")
		return
	}
	b.WriteString("\n")
	for _, r := range rows {
		b.WriteString(indent + "- " + q.line(columns, r) + "\n")
	}
}

func (q *question) line(columns []string, r rowwise.Row) string {
	var parts []string
	for i, c := range columns {
		parts = append(parts, fmt.Sprintf("%q: %s", c, value(r[i])))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func instant(t rowwise.Time) string {
	return time.UnixMicro(int64(t)).UTC().Format("2006-01-02T15:04:05.999999Z")
}

func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case rowwise.Time:
		return strconv.Quote(instant(v))
	case string:
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', 17, 64)
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, value(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}
