package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
)

// Result is the rows of an action.
type Result = batch.Result

// run runs the frame over bounded data.
func (df *DataFrame) run(ctx context.Context, action string) (*Result, error) {
	a, n, err := df.plan()
	if err != nil {
		return nil, err
	}
	if plan.IsStreaming(n) {
		return nil, sparkerr.New("UNSUPPORTED_STREAMING_OPERATION.BATCH_ACTION",
			"queries with streaming sources must be executed with writeStream.start(); %s is for bounded data", action)
	}
	var mu sync.Mutex
	var closers []func() error
	b := df.s.batch()
	b.Input = func(ctx context.Context, rel *plan.Relation) ([]connector.Partition, error) {
		r, ok := rel.Table.(*relation)
		if !ok {
			return nil, fmt.Errorf("relation %q cannot be read", rel.Source)
		}
		parts, close, err := r.partitions(ctx)
		if err == nil {
			mu.Lock()
			closers = append(closers, close)
			mu.Unlock()
		}
		return parts, err
	}
	res, err := b.Execute(ctx, a.Optimize(n))
	for _, c := range closers {
		err = errors.Join(err, c())
	}
	if err != nil {
		return nil, err
	}
	return res, nil
}

// Collect runs the frame and gives its rows. Streams are refused, as by every action.
func (df *DataFrame) Collect(ctx context.Context) (*Result, error) { return df.run(ctx, "collect") }

// Count runs the frame and counts its rows.
func (df *DataFrame) Count(ctx context.Context) (int64, error) {
	res, err := df.run(ctx, "count")
	if err != nil {
		return 0, err
	}
	return int64(res.Rows()), nil
}

// Show prints the first n rows as a table, values cut to truncate characters; 0 cuts none. One row more than n is asked for,
// to know whether there are others.
func (df *DataFrame) Show(ctx context.Context, to io.Writer, n, truncate int) error {
	return df.show(ctx, to, n, truncate, false)
}

// ShowVertical is Show with a line for each value.
func (df *DataFrame) ShowVertical(ctx context.Context, to io.Writer, n, truncate int) error {
	return df.show(ctx, to, n, truncate, true)
}

func (df *DataFrame) show(ctx context.Context, to io.Writer, n, truncate int, vertical bool) error {
	zone, err := javatext.LookupZone(df.s.settings().Zone.String())
	if err != nil {
		return err
	}
	if df.err == nil && !df.IsStreaming() { // a LIMIT would hide what is wrong with showing a stream
		df = df.Limit(n + 1)
	}
	res, err := df.run(ctx, "show")
	if err != nil {
		return err
	}
	t := show.NewTable(res.Schema, show.Options{NumRows: n, Truncate: truncate, Vertical: vertical, Zone: zone})
	for _, b := range res.Batches {
		if !t.Add(b) {
			break
		}
	}
	_, err = io.WriteString(to, t.String())
	return err
}

// Explain is the optimised plan as text.
func (df *DataFrame) Explain() (string, error) {
	a, n, err := df.plan()
	if err != nil {
		return "", err
	}
	root := a.Optimize(n)
	if plan.IsStreaming(root) {
		root = plan.Number(root)
	}
	return plan.Text(root), nil
}

// Rows is the result as values, row by row, for small results.
func Rows(r *Result) [][]columnar.Datum {
	var out [][]columnar.Datum
	for _, b := range r.Batches {
		for i := range b.Rows {
			row := make([]columnar.Datum, len(b.Columns))
			for k, c := range b.Columns {
				row[k] = c.Datum(i)
			}
			out = append(out, row)
		}
	}
	return out
}
