package exec

import (
	"cmp"
	"slices"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// Where an operator keeps the first of several rows (deduplication, LIMIT, first) behind an
// operator with state, the order in which rows come out of that shows in the result. Spark's is that of its shuffle
// partitions: Murmur3 of the keys modulo their number. Ours follows it there, and there only,
// because it costs a hash for each row.

// spark is the partition in which Spark has a row, from the hash of its key.
func (o *Options) spark(hash int32) int32 {
	n := int32(o.OrderPartitions)
	return (hash%n + n) % n
}

// shuffle makes the aggregation give its groups in the order of Spark's partitions.
func (a *aggregate) shuffle(c *compiler, n *plan.Aggregate) error {
	var keys []expr.Expr
	for i, k := range n.Keys {
		at := plan.NamedAttr(k)
		if n.Session != nil && at.ID == n.Session.ID || at.Typ.Kind == columnar.KindMap {
			continue
		}
		keys = append(keys, &expr.Ref{Index: i, Name: at.Name, Typ: at.Typ, Null: at.Null})
	}
	if len(keys) == 0 {
		return nil
	}
	var err error
	a.hash, err = c.binder().Func("hash", keys...)
	return err
}

// shuffled puts rows in the order of Spark's partitions; the hash is their last column.
func (a *aggregate) shuffled(parts [][]*columnar.Batch) [][]*columnar.Batch {
	var all []*columnar.Batch
	for _, rows := range parts {
		all = append(all, rows...)
	}
	if len(all) == 0 {
		return nil
	}
	rows := columnar.ConcatBatches(all)
	hash := columnar.Values[int32](rows.Columns[len(rows.Columns)-1])
	group := make([]uint32, len(hash))
	for i, h := range hash {
		group[i] = uint32(a.opt.spark(h))
	}
	idx, _ := byGroup(group, a.opt.OrderPartitions)
	rows = columnar.NewBatch(a.schema, rows.Columns[:len(rows.Columns)-1], rows.Rows)
	return [][]*columnar.Batch{{columnar.TakeBatch(rows, idx)}}
}

// shuffleHash is the hash of columns by which Spark distributes rows, or nil where there is none.
func (c *compiler) shuffleHash(keys []expr.Expr) (expr.Expr, error) {
	var hashed []expr.Expr
	for _, k := range keys {
		if k.Type().Kind != columnar.KindMap {
			hashed = append(hashed, k)
		}
	}
	if len(hashed) == 0 {
		return nil, nil
	}
	return c.binder().Func("hash", hashed...)
}

// sparkPartitions are the partitions of rows by a hash of their key.
func (o *Options) sparkPartitions(ctx *expr.Context, hash expr.Expr, rows *columnar.Batch) ([]int32, error) {
	h, err := hash.Eval(ctx, rows)
	if err != nil {
		return nil, err
	}
	out := make([]int32, rows.Rows)
	for i, v := range columnar.Values[int32](h) {
		out[i] = o.spark(v)
	}
	return out, nil
}

// inOrder collects the rows of an operator and gives them by Spark's partition, those of one partition by their place.
type inOrder struct {
	opt   *Options
	rows  []*columnar.Batch
	part  []int32
	place []int64
}

// add adds rows with their partitions and places; without places they follow one another.
func (o *inOrder) add(rows *columnar.Batch, part []int32, place []int64) {
	o.rows, o.part = append(o.rows, rows), append(o.part, part...)
	for i := range part {
		at := int64(0)
		if place != nil {
			at = place[i]
		}
		o.place = append(o.place, at)
	}
}

// sorted are all rows in order, nil for none.
func (o *inOrder) sorted() *columnar.Batch {
	if len(o.part) == 0 {
		return nil
	}
	idx := make([]int32, len(o.part))
	for i := range idx {
		idx[i] = int32(i)
	}
	slices.SortStableFunc(idx, func(a, b int32) int {
		return cmp.Or(cmp.Compare(o.part[a], o.part[b]), cmp.Compare(o.place[a], o.place[b]))
	})
	return columnar.TakeBatch(columnar.ConcatBatches(o.rows), idx)
}
