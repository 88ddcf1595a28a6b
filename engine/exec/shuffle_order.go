package exec

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// Where an operator keeps the first of several rows (deduplication, LIMIT, first) behind an
// aggregation, the order in which groups come out shows in the result. Spark's is that of its shuffle
// partitions: Murmur3 of the keys modulo their number. Ours follows it there, and there only,
// because it costs a hash for each group.

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
	n := int32(a.opt.Partitions)
	for i, h := range hash {
		group[i] = uint32((h%n + n) % n)
	}
	idx, _ := byGroup(group, int(n))
	rows = columnar.NewBatch(a.schema, rows.Columns[:len(rows.Columns)-1], rows.Rows)
	return [][]*columnar.Batch{{columnar.TakeBatch(rows, idx)}}
}
