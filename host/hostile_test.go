package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

var update = flag.Bool("update", false, "write what the hostile modules were seen to do into their comments")

// hostile is a module of testdata/hostile: its comment says how it is run and what must come of it.
type hostile struct {
	file     string
	function string
	limits   Limits
	allow    []string
	calls    int
	compiled bool // what takes the interpreter seconds runs on the compiler alone
	expect   []string
}

// readHostile reads the directives in a file's comment: `;; limits: fuel=1e6`, `;; engine: compiler`, `;; expect: …`.
func readHostile(t *testing.T, file string) hostile {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := hostile{file: file, function: "f", calls: 1}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, ok := strings.Cut(strings.TrimPrefix(line, ";; "), ": ")
		if !ok || !strings.HasPrefix(line, ";; ") {
			continue
		}
		switch key {
		case "function":
			h.function = value
		case "calls":
			fmt.Sscan(value, &h.calls)
		case "engine":
			h.compiled = value == "compiler"
		case "allow":
			h.allow = strings.Fields(value)
		case "expect":
			h.expect = append(h.expect, value)
		case "limits":
			m := map[string]string{}
			for _, f := range strings.Fields(value) {
				k, v, _ := strings.Cut(f, "=")
				m[k] = v
			}
			if h.limits, err = ParseLimits(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	return h
}

// logged counts the lines of a guest.
type logged struct{ text, cut int }

func (l *logged) Log(_, _ string, _ int, line string) {
	if strings.Contains(line, "were cut") {
		l.cut++
	} else {
		l.text++
	}
}

// outside is all that a guest may reach, and remembers what it was asked for.
type outside struct {
	log []string
	kv  map[string]string
}

func (o *outside) say(format string, args ...any) {
	o.log = append(o.log, fmt.Sprintf(format, args...))
}

func (o *outside) Exec(_ context.Context, connection, statement string, rows *columnar.Batch) (int64, error) {
	if connection == "broken" {
		return 0, errors.New("connection refused")
	}
	o.say("%s: %s %v", connection, statement, dump(rows))
	return int64(rows.Rows), nil
}

func (o *outside) Produce(_ context.Context, topic string, rows *columnar.Batch) error {
	o.say("%s: %v", topic, dump(rows))
	return nil
}

func (o *outside) Add(module, name string, delta float64) { o.say("add %s.%s %v", module, name, delta) }

func (o *outside) Observe(module, name string, v float64) { o.say("observe %s.%s %v", module, name, v) }

func (o *outside) Get(_ context.Context, ns string, key []byte) ([]byte, bool, error) {
	v, ok := o.kv[ns+"/"+string(key)]
	return []byte(v), ok, nil
}

func (o *outside) Put(_ context.Context, ns string, key, value []byte) error {
	if o.kv == nil {
		o.kv = map[string]string{}
	}
	o.kv[ns+"/"+string(key)] = string(value)
	o.say("put %s/%s %s", ns, key, value)
	return nil
}

func (o *outside) Delete(_ context.Context, ns string, key []byte) error {
	delete(o.kv, ns+"/"+string(key))
	o.say("delete %s/%s", ns, key)
	return nil
}

// run loads the module, calls it with four rows 0 1 2 3, and says what came of it.
func (h *hostile) run(t *testing.T, c Config) (got []string) {
	ctx := context.Background()
	host := newHost(t, c)
	perms, err := ParsePermissions(h.allow)
	if err != nil {
		t.Fatal(err)
	}
	log, db := &logged{}, &outside{}
	m, err := host.Load(ctx, ModuleConfig{
		Path: strings.TrimSuffix(h.file, ".wat") + ".wasm", Limits: h.limits, Permissions: perms,
		Capabilities: Capabilities{Log: log, SQL: db, Metrics: db, KV: db, Produce: db},
	})
	say := func(kind string, err error) []string {
		text := err.Error()
		_, text, _ = strings.Cut(text, ": ") // the module
		if rest, ok := strings.CutPrefix(text, fmt.Sprintf("function %q: ", h.function)); ok {
			text = rest
		}
		var trap *Trap
		if errors.As(err, &trap) && trap.Elapsed > 0 {
			text = strings.Replace(text, " after "+seconds(trap.Elapsed), "", 1)
		}
		if at := strings.Index(text, " in "); trap != nil && len(trap.Stack) > 0 && at > 0 {
			text = text[:at]
		}
		return append(got, kind+": "+text)
	}
	if err != nil {
		return say("load", err)
	}
	schema, _ := columnar.ParseDDL("v BIGINT")
	b, err := m.Bind(ctx, h.function, schema)
	if err != nil {
		return say("bind", err)
	}
	in := columnar.NewBatch(schema, []*columnar.Column{columnar.NewFixed(columnar.Int64, []int64{0, 1, 2, 3}, nil)}, 4)
	for range h.calls {
		var errs []RowError
		switch h.function {
		case "f":
			var keep columnar.Bitmap
			if keep, errs, err = b.Filter(ctx, Call{}, in); err == nil && len(errs) < 4 {
				line := "keeps"
				for _, i := range keep.Indices(nil, 4) {
					line += fmt.Sprint(" ", i)
				}
				got = append(got, line)
			}
		case "s", "d":
			var col *columnar.Column
			if col, errs, err = b.Scalar(ctx, Call{}, in); err == nil && len(errs) < 4 {
				line := "values"
				for i := range 4 {
					line += " " + cell(col, i)
				}
				got = append(got, line)
			}
		case "p", "m":
			var r Rows
			if r, err = b.Rows(ctx, Call{}, in); err == nil {
				if errs = r.Errors; len(errs) < 4 {
					got = append(got, "rows "+strings.Join(dump(r.Batch), " "))
				}
			}
		case "a":
			var acc, out *columnar.Column
			if acc, err = b.Update(ctx, Call{}, in, make([]uint32, 4), columnar.NewNull(columnar.Binary, 1)); err == nil {
				if acc, err = b.Merge(ctx, Call{}, acc, acc); err == nil {
					out, err = b.Finish(ctx, Call{}, acc)
				}
			}
			if err == nil {
				got = append(got, "value "+cell(out, 0))
			}
		case "g":
			var r GroupsOutput
			r, err = b.Groups(ctx, Call{}, GroupsInput{
				Rows: in, Offsets: []int32{0, 1, 2, 3, 4}, Keys: in, State: columnar.NewNull(columnar.Binary, 4),
				Expired: make([]bool, 4), Timeout: []int64{abi.NoTimeout, abi.NoTimeout, abi.NoTimeout, abi.NoTimeout},
			})
			if errs = r.Errors; err == nil && len(errs) < 4 {
				got = append(got, fmt.Sprintf("actions %v, %d rows", r.Action, r.Rows.Rows))
			}
		case "b":
			var w *BatchWriter
			if w, err = b.Begin(ctx, Call{}); err == nil {
				if err = w.Write(ctx, in); err == nil {
					err = w.Commit(ctx)
				}
				if err == nil {
					got = append(got, "committed")
				}
			}
		}
		if err != nil {
			return say("error", err)
		}
		got = append(got, rowLines(errs)...)
	}
	if log.text > 0 {
		got = append(got, fmt.Sprintf("log: %d lines, cut in %d calls", log.text, log.cut))
	}
	if len(db.log) > 0 {
		got = append(got, "outside: "+strings.Join(db.log, "; "))
	}
	return got
}

// rowLines prints row errors, neighbours with the same text on one line.
func rowLines(errs []RowError) (out []string) {
	for i := 0; i < len(errs); {
		j := i
		for j+1 < len(errs) && errs[j+1].Text == errs[i].Text && errs[j+1].Row == errs[j].Row+1 {
			j++
		}
		if i == j {
			out = append(out, fmt.Sprintf("row %d: %s", errs[i].Row, errs[i].Text))
		} else {
			out = append(out, fmt.Sprintf("rows %d-%d: %s", errs[i].Row, errs[j].Row, errs[i].Text))
		}
		i = j + 1
	}
	return out
}

// TestHostile runs every hostile module on both engines: what comes of it is what its comment says, and the same.
func TestHostile(t *testing.T) {
	files, err := filepath.Glob("testdata/hostile/*.wat")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		if base := filepath.Base(file); base == "prelude.wat" || base == "kinds.wat" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".wat"), func(t *testing.T) {
			h := readHostile(t, file)
			want := strings.Join(h.expect, "\n")
			for _, engine := range []Config{{}, {Interpreter: true}} {
				if engine.Interpreter && h.compiled {
					continue
				}
				got := strings.Join(h.run(t, engine), "\n")
				if got == want {
					continue
				}
				t.Errorf("interpreter %v:\n%s\nwant:\n%s", engine.Interpreter, got, want)
				if *update {
					h.rewrite(t, got)
					return
				}
			}
		})
	}
}

// rewrite puts what was seen into the file's comment.
func (h *hostile) rewrite(t *testing.T, got string) {
	text, err := os.ReadFile(h.file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	done := false
	for _, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, ";; expect: ") {
			out = append(out, line)
			continue
		}
		if !done {
			for _, g := range strings.Split(got, "\n") {
				out = append(out, ";; expect: "+g)
			}
			done = true
		}
	}
	if err := os.WriteFile(h.file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
