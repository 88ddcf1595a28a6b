package exec

import "github.com/wstream/wstream/columnar"

// sample keeps a share of the rows, drawn by the seed and the position of the row in its partition.
type sample struct {
	limit uint64 // a row is kept when its draw is below; all ones keeps every row
	seed  uint64
}

func (s *sample) push(w *worker, i int, in *columnar.Batch) error {
	base := uint64(w.context(i).RowBase)
	w.advance(i, in.Rows)
	if s.limit == ^uint64(0) {
		return w.push(i+1, in)
	}
	keep := columnar.NewBitmap(in.Rows)
	part := columnar.HashUint64(s.seed ^ uint64(w.part.index)<<32)
	for j := range in.Rows {
		if columnar.HashUint64(part+base+uint64(j)) < s.limit {
			keep.Set(j)
		}
	}
	return w.push(i+1, columnar.FilterBatch(in, keep))
}
