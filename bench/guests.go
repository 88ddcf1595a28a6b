package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"unsafe"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/host"
)

// guestLanguage is a language that the guest of clicks is written in.
type guestLanguage struct {
	name string
	// path finds the module, or builds it.
	path func(ctx context.Context, e *env) (string, error)
}

// guestLanguages are all of them. The Go guest is too large to be kept, and is built when it is measured.
func guestLanguages() []guestLanguage {
	kept := func(file string) func(context.Context, *env) (string, error) {
		return func(_ context.Context, e *env) (string, error) {
			path := filepath.Join(e.root, "testdata", "guests", file)
			if _, err := os.Stat(path); err != nil {
				return "", missing(fmt.Sprintf("testdata/guests/%s is not built: make guests", file))
			}
			return path, nil
		}
	}
	return []guestLanguage{
		{"C", kept("clicks.wasm")},
		{"Rust", kept("clicks-rust.wasm")},
		{"AssemblyScript", kept("clicks-as.wasm")},
		{"Go", buildGoGuest},
	}
}

// buildGoGuest builds the Go guest into the run's folder, once.
func buildGoGuest(ctx context.Context, e *env) (string, error) {
	path := filepath.Join(e.dir, "clicks-go.wasm")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", path, "./clicks")
	cmd.Dir = filepath.Join(e.root, "guests", "go")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", missing(fmt.Sprintf("the Go guest does not build: %v: %s", err, bytes.TrimSpace(text)))
	}
	return path, nil
}

// bindGuest loads a module, with the counters of the fuel or without, and binds a function of it.
func bindGuest(ctx context.Context, e *env, path, function, input string, fuel bool) (*host.Bound, error) {
	h, err := host.New(ctx, host.Config{Unmetered: !fuel})
	if err != nil {
		return nil, err
	}
	e.stop = append(e.stop, func() error { return h.Close(context.Background()) })
	m, err := h.Load(ctx, host.ModuleConfig{Path: path, Config: map[string]string{"min_amount": "1"}})
	if err != nil {
		return nil, err
	}
	if _, err := m.Function(function); err != nil {
		return nil, missing(err.Error())
	}
	schema, err := columnar.ParseDDL(input)
	if err != nil {
		return nil, err
	}
	return m.Bind(ctx, function, schema)
}

// guestJob is a job that guests do, beside the engine's own way.
type guestJob struct {
	job, function, input string
	native               func(ctx context.Context, e *env) (run, error)
	batch                func(e *env) (*columnar.Batch, error)
	call                 func(ctx context.Context, f *host.Bound, in *columnar.Batch) (string, error)
}

// measurements are the engine's own way, and each language with the counters of the fuel and without.
func (j guestJob) measurements() []measurement {
	all := []measurement{{job: j.job, way: "wstream, without a guest", prepare: j.native}}
	for _, l := range guestLanguages() {
		for _, fuel := range []bool{true, false} {
			way := l.name + " guest"
			if !fuel {
				way += ", no fuel"
			}
			all = append(all, measurement{job: j.job, way: way, prepare: func(ctx context.Context, e *env) (run, error) {
				path, err := l.path(ctx, e)
				if err != nil {
					return nil, err
				}
				f, err := bindGuest(ctx, e, path, j.function, j.input, fuel)
				if err != nil {
					return nil, err
				}
				in, err := j.batch(e)
				return func(ctx context.Context) (outcome, error) {
					answer, err := j.call(ctx, f, in)
					return outcome{rows: in.Rows, answer: answer}, err
				}, err
			}})
		}
	}
	return all
}

// calling is the guests of the examples over clicks: parse over lines, and the filter. The first way is the engine's own.
func calling() []measurement {
	parse := guestJob{
		job: "parse clicks, all columns", function: "parse", input: "value BINARY",
		native: func(_ context.Context, e *env) (run, error) {
			lines, d, err := decoder(e, 0, 1, 2, 3, 4)
			return func(context.Context) (outcome, error) {
				b, _, err := d.Decode(lines)
				if err != nil {
					return outcome{}, err
				}
				return outcome{rows: b.Rows, answer: fmt.Sprintf("%d rows", b.Rows)}, nil
			}, err
		},
		batch: func(e *env) (*columnar.Batch, error) {
			lines, err := e.sample(batchRows)
			if err != nil {
				return nil, err
			}
			b := columnar.NewBuilder(columnar.Binary, batchRows)
			for line := range bytes.Lines(lines) {
				b.AppendBytes(bytes.TrimSuffix(line, []byte("\n")))
			}
			return columnar.NewBatch(nil, []*columnar.Column{b.Finish()}, batchRows), nil
		},
		call: func(ctx context.Context, f *host.Bound, in *columnar.Batch) (string, error) {
			r, err := f.Rows(ctx, host.Call{}, in)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d rows", r.Batch.Rows), nil
		},
	}
	filter := guestJob{
		job: "filter amount, ua", function: "is_human", input: "amount DOUBLE, ua STRING",
		native: nativeFilter,
		batch: func(e *env) (*columnar.Batch, error) {
			lines, d, err := decoder(e, 3, 4)
			if err != nil {
				return nil, err
			}
			in, _, err := d.Decode(lines)
			return in, err
		},
		call: func(ctx context.Context, f *host.Bound, in *columnar.Batch) (string, error) {
			keep, _, err := f.Filter(ctx, host.Call{}, in)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d pass", keep.Count(in.Rows)), nil
		},
	}
	return append(append(parse.measurements(), filter.measurements()...), boundary()...)
}

// nativeFilter is what the guest's filter does, in SQL.
func nativeFilter(_ context.Context, e *env) (run, error) {
	const query = `SELECT count(*) FROM clicks WHERE (amount IS NULL OR amount >= 1) AND (ua IS NULL OR
		NOT (lower(ua) LIKE '%bot%' OR lower(ua) LIKE '%crawl%' OR lower(ua) LIKE '%spider%'))`
	return overClicks(e, query, func(r *batch.Result, batches int) string {
		var n int64
		for _, b := range r.Batches {
			n += columnar.Values[int64](b.Columns[0])[0]
		}
		return fmt.Sprintf("%d pass", n/int64(batches))
	}, 3, 4)
}

// copyColumn copies a column's buffers, and gives the number of bytes.
func copyColumn(to []byte, c *columnar.Column) int {
	n := copy(to, c.Data)
	if len(c.Offsets) > 0 {
		n += copy(to[n:], unsafe.Slice((*byte)(unsafe.Pointer(&c.Offsets[0])), 4*len(c.Offsets)))
	}
	return n
}

// boundary is a call of a guest that does nothing, with four columns in and a bitmap out: all rows at once, and one by one.
// The plain way is the copy of the same bytes there and back.
func boundary() []measurement {
	const job = "boundary: 4 columns in, a bitmap out"
	batch := func(rows int) *columnar.Batch {
		ids, amounts, urls := make([]int64, rows), make([]float64, rows), columnar.NewBuilder(columnar.String, rows)
		for i := range rows {
			ids[i], amounts[i] = int64(i), float64(i)
			urls.AppendString(fmt.Sprintf("/products/%d", i%1000))
		}
		return columnar.NewBatch(nil, []*columnar.Column{
			columnar.NewFixed(columnar.Int64, ids, nil), columnar.NewFixed(columnar.Float64, amounts, nil),
			columnar.NewFixed(columnar.Timestamp, ids, nil), urls.Finish(),
		}, rows)
	}
	guest := func(way string, fuel bool, rows int) measurement {
		return measurement{job: job, way: way, prepare: func(ctx context.Context, e *env) (run, error) {
			f, err := bindGuest(ctx, e, filepath.Join(e.root, "bench", "testdata", "boundary.wasm"), "none", "id BIGINT, amount DOUBLE, at TIMESTAMP, url STRING", fuel)
			in := batch(rows)
			return func(ctx context.Context) (outcome, error) {
				keep, _, err := f.Filter(ctx, host.Call{}, in)
				return outcome{rows: rows, answer: fmt.Sprintf("%d pass", keep.Count(rows))}, err
			}, err
		}}
	}
	return []measurement{
		{job: job, way: "plain copy", prepare: func(context.Context, *env) (run, error) {
			in, bits := batch(batchRows), columnar.NewBitmap(batchRows)
			size := 0
			for _, c := range in.Columns {
				size += c.Size()
			}
			there := make([]byte, size)
			return func(context.Context) (outcome, error) {
				at := there
				for _, c := range in.Columns {
					at = at[copyColumn(at, c):]
				}
				back := columnar.NewBitmap(batchRows)
				copy(back, bits)
				return outcome{rows: batchRows, answer: fmt.Sprintf("%d pass", back.Count(batchRows))}, nil
			}, nil
		}},
		guest("a call", true, batchRows),
		guest("a call, no fuel", false, batchRows),
		guest("a call for each row", true, 1),
	}
}
