package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// Finding is one thing that Check looked at.
type Finding struct {
	Function string // empty for the module
	What     string // "odd values", "same on a used instance", …
	Problem  string // empty if all is well
	Detail   string // what was seen besides: "3 of 100 rows refused"
}

// Check tries every function of a module on batches that are made up from its declared input: none, one and many
// rows, nulls, empty and long texts, limits of numbers, and, for parse functions, texts that are no records. Rows may be
// refused; a trap, an answer that the contract does not allow, or another answer from a used instance than from a fresh
// one is a problem.
func (m *Module) Check(ctx context.Context) []Finding {
	var out []Finding
	for i := range m.specs {
		s := &m.specs[i]
		b, err := m.Bind(ctx, s.Name, sampleSchema(s))
		if err != nil {
			out = append(out, Finding{Function: s.Name, What: "bind", Problem: err.Error()})
			continue
		}
		for _, c := range []struct {
			what string
			rows int
			odd  bool
		}{{"no rows", 0, false}, {"one row", 1, false}, {"a hundred rows", 100, false}, {"odd values", 100, true}} {
			out = append(out, b.checkRows(ctx, c.what, c.rows, c.odd))
		}
	}
	return out
}

// sampleSchema is what a function is tried with.
func sampleSchema(s *abi.Spec) *columnar.Schema {
	if s.Input != nil {
		return s.Input
	}
	return columnar.NewSchema(
		columnar.Field{Name: "s", Type: columnar.String, Nullable: true}, columnar.Field{Name: "i", Type: columnar.Int64, Nullable: true},
		columnar.Field{Name: "d", Type: columnar.Float64, Nullable: true}, columnar.Field{Name: "t", Type: columnar.Timestamp, Nullable: true})
}

// checkRows calls the function on a fresh instance, and twice on one that is not, and compares.
func (b *Bound) checkRows(ctx context.Context, what string, rows int, odd bool) Finding {
	f := Finding{Function: b.spec.Name, What: what}
	in := b.sample(rows, odd)
	var first []byte
	for try := range 3 {
		if try == 0 {
			b.module.pool.drain(ctx)
		}
		got, refused, err := b.try(ctx, in)
		if err != nil {
			f.Problem = err.Error()
			return f
		}
		if refused > 0 {
			f.Detail = fmt.Sprintf("%d of %d rows refused", refused, rows)
		}
		if try == 0 {
			first = got
		} else if !bytes.Equal(first, got) {
			f.Problem = "a used instance answers otherwise than a fresh one"
			return f
		}
	}
	return f
}

// try calls the function and gives its answer as bytes. A row that traps is an error here.
func (b *Bound) try(ctx context.Context, in *columnar.Batch) (answer []byte, refused int, err error) {
	call := Call{QueryID: "check", BatchID: 1, BatchTime: 1_700_000_000_000_000, Watermark: 0}
	f := &abi.Frame{}
	var errs []RowError
	switch b.spec.Kind {
	case abi.KindParse, abi.KindMap:
		var r Rows
		if r, err = b.Rows(ctx, call, in); err == nil {
			f.Header.Rows, f.Columns, errs = r.Batch.Rows, r.Batch.Columns, r.Errors
		}
	case abi.KindFilter:
		var keep columnar.Bitmap
		keep, errs, err = b.Filter(ctx, call, in)
		f.Header.Rows, f.Columns = in.Rows, []*columnar.Column{columnar.NewBools(in.Rows, keep, nil)}
	case abi.KindScalar:
		var c *columnar.Column
		c, errs, err = b.Scalar(ctx, call, in)
		f.Header.Rows, f.Columns = in.Rows, []*columnar.Column{c}
	case abi.KindAggregate:
		var c *columnar.Column
		if c, err = b.tryAggregate(ctx, call, in); err == nil {
			f.Header.Rows, f.Columns = c.Len, []*columnar.Column{c}
		}
	case abi.KindState:
		var r GroupsOutput
		if r, err = b.Groups(ctx, call, b.sampleGroups(in)); err == nil {
			f.Header.Rows, f.Columns, errs = r.Rows.Rows, r.Rows.Columns, r.Errors
			f.Sections = []abi.Section{{ID: abi.SectionState, Rows: r.State.Len, Columns: []*columnar.Column{r.State, columnar.NewFixed(columnar.Int64, r.Timeout, nil)}}}
		}
	case abi.KindForeachBatch:
		err = b.tryBatch(ctx, call, in)
	}
	for _, e := range errs {
		if e.Code == TrapCode && err == nil {
			err = fmt.Errorf("row %d: %s", e.Row, e.Text)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	answer, err = abi.Encode(f)
	return answer, len(errs), err
}

// tryBatch hands a batch to a foreachBatch function. It may say that it cannot go on, since here it is denied
// everything; it may not trap.
func (b *Bound) tryBatch(ctx context.Context, call Call, in *columnar.Batch) error {
	w, err := b.Begin(ctx, call)
	if err != nil {
		return err
	}
	defer w.Abort(ctx)
	if err = w.Write(ctx, in); err == nil {
		err = w.Commit(ctx)
	}
	var status *StatusError
	if errors.As(err, &status) {
		return nil
	}
	return err
}

func (b *Bound) tryAggregate(ctx context.Context, call Call, in *columnar.Batch) (*columnar.Column, error) {
	group := make([]uint32, in.Rows)
	for i := range group {
		group[i] = uint32(i % 3)
	}
	acc, err := b.Update(ctx, call, in, group, columnar.NewNull(columnar.Binary, 3))
	if err != nil {
		return nil, err
	}
	if acc, err = b.Merge(ctx, call, acc, acc); err != nil {
		return nil, err
	}
	return b.Finish(ctx, call, acc)
}

// drain closes the idle instances.
func (p *pool) drain(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.idle {
		in.close(ctx)
	}
	p.idle = nil
}

// sample makes up rows of the function's input, the same each time.
func (b *Bound) sample(rows int, odd bool) *columnar.Batch {
	r := rand.New(rand.NewPCG(uint64(rows), 7))
	cols := make([]*columnar.Column, len(b.input.Fields))
	for i, f := range b.input.Fields {
		k := columnar.NewBuilder(f.Type, rows)
		for range rows {
			appendSample(r, k, odd)
		}
		cols[i] = k.Finish()
	}
	return columnar.NewBatch(b.input, cols, rows)
}

// sampleGroups makes each three rows a group without state, and adds one whose time-out has passed.
func (b *Bound) sampleGroups(in *columnar.Batch) GroupsInput {
	g := GroupsInput{Rows: in, Offsets: []int32{0}}
	for from := 0; from < in.Rows; from += 3 {
		g.Offsets = append(g.Offsets, int32(min(from+3, in.Rows)))
		g.Expired = append(g.Expired, false)
		g.Timeout = append(g.Timeout, abi.NoTimeout)
	}
	n := len(g.Expired)
	keys := make([]*columnar.Column, len(b.spec.Key.Fields))
	for i, f := range b.spec.Key.Fields {
		idx := make([]int32, n)
		for k := range idx {
			idx[k] = g.Offsets[k]
		}
		keys[i] = columnar.NewNull(f.Type, n)
		if c := b.input.IndexFold(f.Name); c >= 0 {
			keys[i] = columnar.Take(in.Columns[c], idx)
		}
	}
	g.Keys = columnar.NewBatch(b.spec.Key, keys, n)
	g.State = columnar.NewNull(columnar.Binary, n)
	return g
}

// oddTexts are texts that trip parsers up.
var oddTexts = []string{
	"", " ", "null", "{", "}", "{}", "[]", `{"a":}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, "\x00", "é", "😀", "1e999", "-",
	`{"":{}}`, `"`, `\`, "{\"a\":\"\n\"}", "0x10", "NaN", strings.Repeat("[", 10_000), strings.Repeat("long ", 1_000),
}

func appendSample(r *rand.Rand, b *columnar.Builder, odd bool) {
	t := b.Type()
	if t.Kind == columnar.KindNull || r.IntN(8) == 0 {
		b.AppendNull()
		return
	}
	switch {
	case t.Kind == columnar.KindBool:
		b.AppendBool(r.IntN(2) == 0)
	case t.HasBytes() && odd:
		b.AppendString(oddTexts[r.IntN(len(oddTexts))])
	case t.HasBytes():
		b.AppendString(fmt.Sprintf(`{"user_id":"u%d","url":"/p/%d","amount":%d.5,"ts":"2026-10-06T12:00:%02dZ"}`, r.IntN(100), r.IntN(10), r.IntN(100), r.IntN(60)))
	case t.Kind == columnar.KindDecimal:
		b.AppendDecimal(columnar.Dec128FromInt64(int64(r.IntN(10))))
	case t.Kind == columnar.KindCalendar:
		b.AppendCalendar(columnar.CalendarInterval{Days: int32(r.IntN(10))})
	case t.IsFloating() && odd:
		b.AppendFloat([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}[r.IntN(7)])
	case t.IsFloating():
		b.AppendFloat(r.Float64() * 100)
	case t.Kind == columnar.KindArray:
		for range r.IntN(3) {
			appendSample(r, b.Child(0), odd)
		}
		b.AppendNested()
	case t.Kind == columnar.KindMap:
		b.AppendNested()
	case t.Kind == columnar.KindStruct:
		for i := range t.Fields {
			appendSample(r, b.Child(i), odd)
		}
		b.AppendNested()
	case odd:
		b.AppendInt([]int64{0, -1, 1, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32}[r.IntN(7)])
	default:
		b.AppendInt(int64(r.IntN(1_000_000)))
	}
}
