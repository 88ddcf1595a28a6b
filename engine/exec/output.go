package exec

import "github.com/wstream/wstream/columnar"

// output hands the result to Batch.Emit. Small pieces, such as what a selective filter leaves of each
// morsel, are put together first: sinks have a price per piece.
type output struct {
	r     *run
	small []*columnar.Batch
	rows  int
}

func (o *output) take(item any) error {
	b := item.(*columnar.Batch)
	if err := o.r.gate(); err != nil {
		return err
	}
	o.r.res.OutputRows += int64(b.Rows)
	if len(o.small) == 0 && b.Rows >= o.r.opt.BatchRows/4 {
		return o.r.batch.Emit(b)
	}
	o.small = append(o.small, b)
	o.rows += b.Rows
	if o.rows < o.r.opt.BatchRows/2 {
		return nil
	}
	return o.flush()
}

// flush emits what was held back.
func (o *output) flush() error {
	if len(o.small) == 0 {
		return nil
	}
	b := columnar.ConcatBatches(o.small)
	o.small, o.rows = nil, 0
	return o.r.batch.Emit(b)
}
