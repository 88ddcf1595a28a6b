package main

import (
	"context"
	"fmt"
	"time"

	"github.com/wstream/wstream/bench/reference"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
)

// batchRows is the number of rows that the kernels work on: a batch that fits the second-level cache.
const batchRows = 8192

// decoding is JSON lines into columns.
func decoding() []measurement {
	const job = "decode JSON"
	return []measurement{
		{job: job, way: "plain scanner", prepare: func(_ context.Context, e *env) (run, error) {
			lines, err := e.sample(batchRows)
			var c reference.Columns
			return func(context.Context) (outcome, error) {
				err := c.Decode(lines)
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d rows", c.Len())}, err
			}, err
		}},
		{job: job, way: "wstream", prepare: func(_ context.Context, e *env) (run, error) {
			lines, d, err := decoder(e)
			if err != nil {
				return nil, err
			}
			return func(context.Context) (outcome, error) {
				b, _, err := d.Decode(lines)
				if err != nil {
					return outcome{}, err
				}
				return outcome{rows: b.Rows, answer: fmt.Sprintf("%d rows", b.Rows)}, nil
			}, nil
		}},
	}
}

// clicksSchema is what a click is made of, and clicksNeed what the job reads of it.
var (
	clicksSchema = columnar.NewSchema(
		columnar.Field{Name: "user_id", Type: columnar.String, Nullable: true}, columnar.Field{Name: "event_time", Type: columnar.Timestamp, Nullable: true},
		columnar.Field{Name: "url", Type: columnar.String, Nullable: true}, columnar.Field{Name: "amount", Type: columnar.Float64, Nullable: true},
		columnar.Field{Name: "ua", Type: columnar.String, Nullable: true})
	clicksNeed = []int{1, 2, 3}
)

// decoder is the engine's decoder of clicks, of some of their columns, with a batch of them.
func decoder(e *env, need ...int) ([]byte, *jsonfmt.Decoder, error) {
	lines, err := e.sample(batchRows)
	if err != nil {
		return nil, nil, err
	}
	opts, err := jsonfmt.ParseOptions(nil, "UTC")
	if err != nil {
		return nil, nil, err
	}
	if need == nil {
		need = clicksNeed
	}
	d, err := jsonfmt.New(clicksSchema, need, opts)
	return lines, d, err
}

// grouping is columns into counts and sums by window and url, over a table that holds the groups already.
func grouping() []measurement {
	const job = "group by window, url"
	return []measurement{
		{job: job, way: "plain table", prepare: func(_ context.Context, e *env) (run, error) {
			c, err := decoded(e)
			t := reference.NewTable()
			return func(context.Context) (outcome, error) {
				c.Group(t)
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d groups", t.Len())}, nil
			}, err
		}},
		{job: job, way: "Go map", prepare: func(_ context.Context, e *env) (run, error) {
			c, err := decoded(e)
			return func(context.Context) (outcome, error) {
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d groups", c.GroupMap())}, nil
			}, err
		}},
		{job: job, way: "wstream", prepare: func(_ context.Context, e *env) (run, error) {
			const query = "SELECT window, url, count(*), sum(amount) FROM clicks GROUP BY window(event_time, '10 minutes'), url"
			return overClicks(e, query, func(r *batch.Result, _ int) string { return fmt.Sprintf("%d groups", r.Rows()) })
		}},
	}
}

// overClicks is a query over the view clicks, which is one batch many times over, since a query of its own is planned each
// time; show gives the answer of one batch, of how many there are.
func overClicks(e *env, query string, show func(r *batch.Result, batches int) string, columns ...int) (run, error) {
	lines, d, err := decoder(e, columns...)
	if err != nil {
		return nil, err
	}
	in, _, err := d.Decode(lines)
	if err != nil {
		return nil, err
	}
	s, err := engine.NewSession(nil, engine.Options{})
	if err != nil {
		return nil, err
	}
	many := make([]*columnar.Batch, 64)
	for i := range many {
		many[i] = in
	}
	if err := s.CreateDataFrame(d.Schema(), many...).CreateOrReplaceTempView("clicks"); err != nil {
		return nil, err
	}
	q := s.SQL(query)
	return func(ctx context.Context) (outcome, error) {
		r, err := q.Collect(ctx)
		if err != nil {
			return outcome{}, err
		}
		return outcome{rows: len(many) * in.Rows, answer: show(r, len(many))}, nil
	}, nil
}

// filtering is a column of amounts into a bitmap.
func filtering() []measurement {
	const job = "filter amount > 1"
	return []measurement{
		{job: job, way: "plain loop", prepare: func(_ context.Context, e *env) (run, error) {
			c, err := decoded(e)
			bits := make([]byte, (batchRows+7)/8)
			return func(context.Context) (outcome, error) {
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d pass", c.Filter(bits))}, nil
			}, err
		}},
		{job: job, way: "wstream", prepare: func(_ context.Context, e *env) (run, error) {
			lines, d, err := decoder(e)
			if err != nil {
				return nil, err
			}
			in, _, err := d.Decode(lines)
			if err != nil {
				return nil, err
			}
			bind := &expr.Binder{ANSI: true, Registry: expr.NewRegistry(expr.Builtins())}
			amount := &expr.Ref{Index: 2, Name: "amount", Typ: columnar.Float64, Null: true}
			cond, err := bind.Compare(">", amount, expr.NewLiteral(columnar.Float64, 1.0))
			if err != nil {
				return nil, err
			}
			ctx := &expr.Context{Zone: time.UTC, ANSI: true}
			return func(context.Context) (outcome, error) {
				c, err := cond.Eval(ctx, in)
				if err != nil {
					return outcome{}, err
				}
				// A null row does not pass.
				return outcome{rows: in.Rows, answer: fmt.Sprintf("%d pass", columnar.And(c.Bits, c.Valid).Count(in.Rows))}, nil
			}, nil
		}},
	}
}

// decoded is a batch of clicks as columns.
func decoded(e *env) (*reference.Columns, error) {
	lines, err := e.sample(batchRows)
	if err != nil {
		return nil, err
	}
	c := &reference.Columns{}
	return c, c.Decode(lines)
}
