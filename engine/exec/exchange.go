package exec

import (
	"fmt"
	"math"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// exchanged are rows on their way to the tasks of a stateful operator: with their encoded keys,
// the hashes of these, and for each partition its rows in order of arrival.
type exchanged struct {
	rows *columnar.Batch
	keys columnar.RowKeys
	hash []uint64
	part [][]int32
	time []int64 // when the row's state expires, if it does

	valid columnar.Bitmap // joins: rows whose key may match; nil for all
	alone *columnar.Batch // joins: rows that can match nothing and come out alone; nil for none

	// Joins whose order shows: Spark's partition of each row, and its place among the rows that came in (nil: its number).
	base              int64
	spark, aloneSpark []int32
	place, alonePlace []int32
}

// distribute fills in keys, hashes and partitions.
func (x *exchanged) distribute(keys []*columnar.Column, partitions int) {
	n := x.rows.Rows
	x.hash = encodeKeys(&x.keys, keys, n, nil)
	x.part = splitRows(x.hash, partitions)
}

// splitRows distributes rows over partitions by the bucket of their hash.
func splitRows(hash []uint64, partitions int) [][]int32 {
	out := make([][]int32, partitions)
	n := len(hash)
	for p := range out {
		out[p] = make([]int32, 0, n/partitions+n/(8*partitions)+8)
	}
	for r, h := range hash {
		p := columnar.Bucket(h) % partitions
		out[p] = append(out[p], int32(r))
	}
	return out
}

// exchange runs a pipe and gives its rows to flush in order, in lists of not much more than limit
// bytes, or all at once when limit is 0; prepare makes an item of rows in the worker, nil for none.
func (r *run) exchange(p *pipe, limit int64, prepare func(w *worker, rows *columnar.Batch) (*exchanged, error), flush func([]*exchanged) error) error {
	var list []*exchanged
	bytes := int64(0)
	err := r.drive(p, sink{
		prepare: func(w *worker, rows *columnar.Batch) (any, error) {
			x, err := prepare(w, rows)
			if x == nil || err != nil {
				return nil, err
			}
			return x, nil
		},
		take: func(item any) error {
			x := item.(*exchanged)
			list = append(list, x)
			bytes += rowsSize(x.rows) + int64(len(x.keys.Data)+16*len(x.hash))
			if limit == 0 || bytes < limit {
				return nil
			}
			full := list
			list, bytes = nil, 0
			return flush(full)
		},
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return flush(list)
}

// columnsAt picks columns.
func columnsAt(cols []*columnar.Column, pos []int) []*columnar.Column {
	out := make([]*columnar.Column, len(pos))
	for i, p := range pos {
		out[i] = cols[p]
	}
	return out
}

// typesOf are the types of columns.
func typesOf(attrs []*expr.Attr) []*columnar.Type {
	out := make([]*columnar.Type, len(attrs))
	for i, a := range attrs {
		out[i] = a.Typ
	}
	return out
}

// encodeKeys encodes keys for the state and gives their hashes.
func encodeKeys(enc *columnar.RowKeys, cols []*columnar.Column, n int, hash []uint64) []uint64 {
	columnar.EncodeRows(enc, cols, n, true)
	return enc.Hashes(hash)
}

// takeAll takes rows of columns.
func takeAll(cols []*columnar.Column, idx []int32) []*columnar.Column {
	out := make([]*columnar.Column, len(cols))
	for i, c := range cols {
		out[i] = columnar.Take(c, idx)
	}
	return out
}

// rowsSize is the bytes of rows, those only that belong to them: slices share buffers.
func rowsSize(b *columnar.Batch) int64 {
	n := int64(0)
	for _, c := range b.Columns {
		n += columnSize(c)
	}
	return n
}

func columnSize(c *columnar.Column) int64 {
	n := int64(c.Len) * int64(1+c.Type.Width())
	if c.Offsets != nil {
		n += int64(c.Len)*4 + int64(c.Offsets[c.Len]-c.Offsets[0])
	}
	for _, k := range c.Children {
		n += columnSize(k)
	}
	return n
}

// concatRows appends batches of one schema. A column holds at most 2 GiB of bytes.
func concatRows(bs []*columnar.Batch) (*columnar.Batch, error) {
	if len(bs) == 1 {
		return bs[0], nil
	}
	for i := range bs[0].Columns {
		n := int64(0)
		for _, b := range bs {
			if c := b.Columns[i]; c.Type.HasBytes() {
				n += int64(c.Offsets[c.Len] - c.Offsets[0])
			}
		}
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("column %q has %d MiB in rows that must be in memory at once; the limit is 2 GiB", bs[0].Schema.Fields[i].Name, n>>20)
		}
	}
	return columnar.ConcatBatches(bs), nil
}
