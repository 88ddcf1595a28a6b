package exec

import (
	"context"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ---- expressions of the tests

// fn is an expression over columns of data, computed a row at a time.
type fn struct {
	typ  *columnar.Type
	name string
	args []expr.Expr
	f    func(args []columnar.Datum) (columnar.Datum, error)
}

func (f *fn) Type() *columnar.Type  { return f.typ }
func (f *fn) Nullable() bool        { return true }
func (f *fn) Children() []expr.Expr { return f.args }
func (f *fn) SQL() string           { return f.name }
func (f *fn) WithChildren(c []expr.Expr) expr.Expr {
	out := *f
	out.args = c
	return &out
}

func (f *fn) Eval(ctx *expr.Context, in *columnar.Batch) (*columnar.Column, error) {
	cols, err := evalAll(ctx, f.args, in)
	if err != nil {
		return nil, err
	}
	b := columnar.NewBuilder(f.typ, in.Rows)
	row := make([]columnar.Datum, len(cols))
	for i := range in.Rows {
		for k, c := range cols {
			row[k] = c.Datum(i)
		}
		v, err := f.f(row)
		if err != nil {
			return nil, err
		}
		b.AppendDatum(v)
	}
	return b.Finish(), nil
}

// agg is an aggregate whose accumulators are lists of data, in the simplest way.
type agg struct {
	name    string
	typ     *columnar.Type
	state   *columnar.Type
	ordered bool
	call    expr.AggCall
	// step folds a row's arguments into an accumulator, nil at first; merge folds two, the first earlier.
	step  func(acc columnar.Datum, args []columnar.Datum) columnar.Datum
	merge func(a, b columnar.Datum) columnar.Datum
	empty columnar.Datum
}

func (a *agg) Type() *columnar.Type { return a.typ }
func (a *agg) Nullable() bool       { return true }
func (a *agg) Children() []expr.Expr {
	out := append([]expr.Expr{}, a.call.Args...)
	if a.call.Filter != nil {
		out = append(out, a.call.Filter)
	}
	for _, k := range a.call.Order {
		out = append(out, k.Expr)
	}
	return out
}
func (a *agg) SQL() string { return a.name }
func (a *agg) WithChildren(c []expr.Expr) expr.Expr {
	out := *a
	n := len(a.call.Args)
	out.call.Args, c = c[:n:n], c[n:]
	if a.call.Filter != nil {
		out.call.Filter, c = c[0], c[1:]
	}
	out.call.Order = append([]expr.SortKey{}, a.call.Order...)
	for i := range out.call.Order {
		out.call.Order[i].Expr = c[i]
	}
	return &out
}

func (a *agg) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	panic("eval of an aggregate")
}
func (a *agg) Name() string { return a.name }
func (a *agg) State() []columnar.Field {
	return []columnar.Field{{Name: "acc", Type: a.state, Nullable: true}}
}
func (a *agg) New(*expr.Context) expr.Accumulator { return &accOf{a: a} }
func (a *agg) OrderSensitive() bool               { return a.ordered }
func (a *agg) Call() *expr.AggCall                { return &a.call }

type accOf struct {
	a *agg
	v []columnar.Datum
}

func (x *accOf) Grow(n int) {
	for len(x.v) < n {
		x.v = append(x.v, x.a.empty)
	}
}

func (x *accOf) Update(group []uint32, args []*columnar.Column) error {
	row := make([]columnar.Datum, len(args))
	for i, g := range group {
		for k, c := range args {
			row[k] = c.Datum(i)
		}
		x.v[g] = x.a.step(x.v[g], row)
	}
	return nil
}

func (x *accOf) Merge(group []uint32, state []*columnar.Column) error {
	for i, g := range group {
		x.v[g] = x.a.merge(x.v[g], state[0].Datum(i))
	}
	return nil
}

func (x *accOf) State() ([]*columnar.Column, error) {
	return []*columnar.Column{columnar.FromData(x.a.state, x.v...)}, nil
}

func (x *accOf) Result() (*columnar.Column, error) { return columnar.FromData(x.a.typ, x.v...), nil }
func (x *accOf) Reset()                            { x.v = nil }

func countStar() *agg {
	add := func(a, b columnar.Datum) columnar.Datum { return a.(int64) + b.(int64) }
	return &agg{
		name: "count(1)", typ: columnar.Int64, state: columnar.Int64, empty: int64(0), merge: add,
		step: func(a columnar.Datum, _ []columnar.Datum) columnar.Datum { return a.(int64) + 1 },
	}
}

// sumOf is the sum of a BIGINT, null without values.
func sumOf(e expr.Expr) *agg {
	add := func(a, b columnar.Datum) columnar.Datum {
		if a == nil {
			return b
		}
		if b == nil {
			return a
		}
		return a.(int64) + b.(int64)
	}
	return &agg{
		name: "sum(" + e.SQL() + ")", typ: columnar.Int64, state: columnar.Int64, merge: add, call: expr.AggCall{Args: []expr.Expr{e}},
		step: func(a columnar.Datum, args []columnar.Datum) columnar.Datum { return add(a, args[0]) },
	}
}

// listOf collects values in order, nulls left out.
func listOf(e expr.Expr) *agg {
	typ := columnar.ArrayOf(e.Type(), true)
	return &agg{
		name: "collect_list(" + e.SQL() + ")", typ: typ, state: typ, ordered: true, empty: []columnar.Datum{}, call: expr.AggCall{Args: []expr.Expr{e}},
		merge: func(a, b columnar.Datum) columnar.Datum {
			return append(append([]columnar.Datum{}, a.([]columnar.Datum)...), b.([]columnar.Datum)...)
		},
		step: func(a columnar.Datum, args []columnar.Datum) columnar.Datum {
			if args[0] == nil {
				return a
			}
			return append(append([]columnar.Datum{}, a.([]columnar.Datum)...), args[0])
		},
	}
}

// ---- plans and sources

func attr(id int, name string, t *columnar.Type) *expr.Attr {
	return &expr.Attr{ID: expr.AttrID(id), Name: name, Typ: t, Null: true}
}

func alias(id int, name string, e expr.Expr) *expr.Alias {
	return &expr.Alias{Child: e, Name: name, ID: expr.AttrID(id)}
}

// marked is a column with a watermark.
func marked(a *expr.Attr, delay int64) *expr.Attr {
	out := *a
	out.EventTime = &expr.Watermark{DelayMicros: delay}
	return &out
}

// withWatermark puts a watermark on a column.
func withWatermark(n plan.Node, id int, column *expr.Attr, delay int64) *plan.Watermark {
	w := &plan.Watermark{ID: id, Column: column, DelayMicros: delay, Child: n}
	for _, a := range n.Output() {
		if a.ID == column.ID {
			a = marked(a, delay)
			a.EventTime.NodeID = id
		}
		w.Attrs = append(w.Attrs, a)
	}
	return w
}

var windowType = columnar.StructOf(columnar.Field{Name: "start", Type: columnar.Timestamp}, columnar.Field{Name: "end", Type: columnar.Timestamp})

// memory is a partition in memory; lazy chunks are decoded by the workers.
type memory struct {
	id   string
	rows []*columnar.Batch
	lazy bool
}

func (m *memory) ID() string { return m.id }
func (m *memory) Read(ctx context.Context, need []int, emit func(connector.Chunk) error) error {
	for _, b := range m.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := connector.Chunk(connector.ReadyChunk{Batch: b})
		if m.lazy {
			c = lazyChunk{b}
		}
		if err := emit(c); err != nil {
			return err
		}
	}
	return nil
}

type lazyChunk struct{ b *columnar.Batch }

func (c lazyChunk) Decode(context.Context) (connector.Decoded, error) {
	return connector.Decoded{Batch: c.b}, nil
}

// row is a row of data.
type row []columnar.Datum

// batchOf makes a batch of rows.
func batchOf(attrs []*expr.Attr, rows []row) *columnar.Batch {
	b := make([]*columnar.Builder, len(attrs))
	for i, a := range attrs {
		b[i] = columnar.NewBuilder(a.Typ, len(rows))
	}
	for _, r := range rows {
		for i, v := range r {
			b[i].AppendDatum(v)
		}
	}
	cols := make([]*columnar.Column, len(attrs))
	for i := range b {
		cols[i] = b[i].Finish()
	}
	return columnar.NewBatch(schemaOf(attrs), cols, len(rows))
}

// pieces cuts rows into batches of up to n rows.
func pieces(attrs []*expr.Attr, rows []row, n int) []*columnar.Batch {
	var out []*columnar.Batch
	for len(rows) > 0 {
		k := min(n, len(rows))
		out = append(out, batchOf(attrs, rows[:k]))
		rows = rows[k:]
	}
	return out
}

// rowsOf gives the rows of batches.
func rowsOf(bs []*columnar.Batch) []row {
	var out []row
	for _, b := range bs {
		for i := range b.Rows {
			r := make(row, len(b.Columns))
			for k, c := range b.Columns {
				r[k] = c.Datum(i)
			}
			out = append(out, r)
		}
	}
	return out
}

// show prints rows one a line; sorted unless ordered.
func show(rows []row, ordered bool) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = fmt.Sprint([]columnar.Datum(r)...)
		parts := make([]string, len(r))
		for k, v := range r {
			parts[k] = fmt.Sprint(v)
		}
		lines[i] = strings.Join(parts, " | ")
	}
	if !ordered {
		sort.Strings(lines)
	}
	return strings.Join(lines, "\n")
}

func same(t *testing.T, what string, got, want []row, ordered bool) {
	t.Helper()
	if g, w := show(got, ordered), show(want, ordered); g != w {
		have := map[string]int{}
		for _, l := range strings.Split(w, "\n") {
			have[l]++
		}
		var extra, missing []string
		for _, l := range strings.Split(g, "\n") {
			if have[l]--; have[l] < 0 {
				extra = append(extra, l)
			}
		}
		for l, n := range have {
			for ; n > 0; n-- {
				missing = append(missing, l)
			}
		}
		if len(extra) == 0 && len(missing) == 0 {
			extra = []string{"other order:", g}
		}
		t.Fatalf("%s: got %d rows, want %d\nnot expected:\n%s\nmissing:\n%s", what, len(got), len(want), strings.Join(extra, "\n"), strings.Join(missing, "\n"))
	}
}

// stream runs a streaming plan batch after batch over a state in memory.
type stream struct {
	t      testing.TB
	q      *Query
	db     *state.DB
	id     int64
	late   int64 // watermark of the batch before
	mark   int64
	delay  []int64
	seen   []int64
	input  map[string][]*columnar.Batch
	parts  int // partitions that the input of each relation is cut into
	lates  []row
	letter []string
}

func newStream(t testing.TB, root plan.Node, mode connector.OutputMode, opt Options) *stream {
	t.Helper()
	parts := opt.Partitions
	if parts == 0 {
		parts = 2
	}
	db, err := state.Open(state.Options{Partitions: parts})
	if err != nil {
		t.Fatal(err)
	}
	opt.State, opt.Streaming, opt.Mode = db, true, mode
	if opt.Workers == 0 {
		opt.Workers = 2
	}
	q, err := Compile(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Load(-1); err != nil {
		t.Fatal(err)
	}
	s := &stream{t: t, q: q, db: db, input: map[string][]*columnar.Batch{}, parts: 1}
	for _, w := range q.watermark {
		s.delay = append(s.delay, w.DelayMicros)
		s.seen = append(s.seen, 0)
	}
	t.Cleanup(func() { q.Close() })
	return s
}

// batch runs one batch and commits it. The watermark of the next one follows from what was seen.
func (s *stream) batch(noData bool) ([]row, *Result) {
	s.t.Helper()
	var out []*columnar.Batch
	res, err := s.q.Run(context.Background(), Batch{
		ID: s.id, Time: s.id * 1e6, LateWatermark: s.late, EvictWatermark: s.mark, NoData: noData,
		Input: func(_ context.Context, rel *plan.Relation) ([]connector.Partition, error) {
			rows := s.input[rel.Source]
			var parts []connector.Partition
			for i := 0; i < s.parts; i++ {
				parts = append(parts, &memory{id: fmt.Sprint("p", i), rows: rows[i*len(rows)/s.parts : (i+1)*len(rows)/s.parts], lazy: i%2 == 0})
			}
			return parts, nil
		},
		Emit: func(b *columnar.Batch) error {
			out = append(out, b)
			return nil
		},
		Late: func(sink, op string, mark int64, rows *columnar.Batch) error {
			for _, r := range rowsOf([]*columnar.Batch{rows}) {
				s.lates = append(s.lates, append(row{sink, op, mark}, r...))
			}
			return nil
		},
		DeadLetter: func(sink string, rows *columnar.Batch, texts []string, module string) error {
			for i, r := range rowsOf([]*columnar.Batch{rows}) {
				s.letter = append(s.letter, fmt.Sprintln(sink, module, texts[i], []columnar.Datum(r)))
			}
			return nil
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.db.Commit(s.id); err != nil {
		s.t.Fatal(err)
	}
	s.id++
	s.late = s.mark
	mark := int64(-1)
	for i, w := range res.Watermarks {
		if w.Count > 0 {
			s.seen[i] = max(s.seen[i], (w.Max-s.delay[i])/1000*1000)
		}
		if mark < 0 || s.seen[i] < mark {
			mark = s.seen[i]
		}
	}
	s.mark = max(s.mark, mark)
	for _, b := range out {
		for i, c := range b.Columns {
			if c.Len != b.Rows || !c.Type.Equal(s.q.Schema().Fields[i].Type) {
				s.t.Fatalf("column %d has %d rows of %s, want %d of %s", i, c.Len, c.Type, b.Rows, s.q.Schema().Fields[i].Type)
			}
		}
	}
	return rowsOf(out), res
}

// data runs a batch with data, and one without if the watermark moved.
func (s *stream) step() []row {
	s.t.Helper()
	before := s.mark
	out, _ := s.batch(false)
	if s.mark > before {
		more, _ := s.batch(true)
		out = append(out, more...)
	}
	return out
}

// bounded runs a bounded plan.
func bounded(t testing.TB, root plan.Node, opt Options, input map[string][]*columnar.Batch) []row {
	t.Helper()
	q, err := Compile(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	var out []*columnar.Batch
	_, err = q.Run(context.Background(), Batch{
		Time: time.Now().UnixMicro(),
		Input: func(_ context.Context, rel *plan.Relation) ([]connector.Partition, error) {
			return []connector.Partition{&memory{rows: input[rel.Source], lazy: true}}, nil
		},
		Emit: func(b *columnar.Batch) error {
			out = append(out, b)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rowsOf(out)
}

// seeded gives a random source whose seed is printed when the test fails.
func seeded(t *testing.T) *rand.Rand {
	seed := time.Now().UnixNano() % 1e6
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}
