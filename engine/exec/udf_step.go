package exec

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/udf"
)

// call identifies the calls that a worker makes for its partition.
func (w *worker) call() udf.Call { return w.run.call(w.part.index) }

func (r *run) call(partition int) udf.Call {
	return udf.Call{
		QueryID: r.opt.QueryID, BatchID: r.batch.ID, Partition: partition, Attempt: r.batch.Attempt,
		Watermark: r.batch.EvictWatermark, BatchTime: r.batch.Time,
	}
}

// refusals is what onError says of rows that a user function refuses.
type refusals struct {
	operator string
	module   string
	function string
	policy   plan.OnError
}

// handle deals with the rows of in that were refused. aside is how rows are handed on.
func (p *refusals) handle(r *run, in *columnar.Batch, errs []udf.RowError, aside func(func() error) error) error {
	if len(errs) == 0 {
		return nil
	}
	for _, e := range errs {
		if e.Row < 0 || e.Row >= in.Rows {
			return operatorError(p.operator, fmt.Errorf("module %q: function %q: refused row %d of %d", p.module, p.function, e.Row, in.Rows))
		}
	}
	if !p.policy.Skip && p.policy.DeadLetter == "" {
		e := errs[0]
		return operatorError(p.operator, fmt.Errorf("module %q: function %q: row %d: %s (code %d)", p.module, p.function, e.Row, e.Text, e.Code))
	}
	r.mu.Lock()
	r.res.SkippedRows += int64(len(errs))
	r.mu.Unlock()
	if p.policy.DeadLetter == "" || r.batch.DeadLetter == nil {
		return nil
	}
	idx, texts := make([]int32, len(errs)), make([]string, len(errs))
	for i, e := range errs {
		idx[i], texts[i] = int32(e.Row), e.Text
	}
	rows := columnar.TakeBatch(in, idx)
	return aside(func() error { return r.batch.DeadLetter(p.policy.DeadLetter, rows, texts, p.module) })
}

// udfRows applies a parse or map function, whose rows replace the input's.
type udfRows struct {
	fn       udf.RowFunction
	input    []int
	schema   *columnar.Schema // of the input columns
	keep     []int            // result columns of the output
	out      *columnar.Schema
	refusals refusals
}

func (u *udfRows) push(w *worker, i int, in *columnar.Batch) error {
	res, err := u.fn.Rows(w.ctx, w.call(), pick(u.schema, in, u.input))
	if err != nil {
		return operatorError(u.refusals.operator, err)
	}
	if err := u.refusals.handle(w.run, in, res.Errors, w.aside); err != nil {
		return err
	}
	if res.Batch == nil {
		return nil
	}
	return w.pushPieces(i+1, pick(u.out, res.Batch, u.keep))
}

// udfFilter keeps the rows that a filter function accepts.
type udfFilter struct {
	fn       udf.FilterFunction
	input    []int
	schema   *columnar.Schema
	keep     []int
	out      *columnar.Schema
	refusals refusals
}

func (u *udfFilter) push(w *worker, i int, in *columnar.Batch) error {
	bits, errs, err := u.fn.Filter(w.ctx, w.call(), pick(u.schema, in, u.input))
	if err != nil {
		return operatorError(u.refusals.operator, err)
	}
	if err := u.refusals.handle(w.run, in, errs, w.aside); err != nil {
		return err
	}
	if len(errs) > 0 {
		bits = append(columnar.Bitmap(nil), bits...)
		for _, e := range errs {
			bits.Clear(e.Row)
		}
	}
	return w.push(i+1, columnar.FilterBatch(pick(u.out, in, u.keep), bits))
}
