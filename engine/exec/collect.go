package exec

import (
	"context"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// collector gathers the arguments of DISTINCT and WITHIN GROUP calls, and feeds them to the
// function when the result is asked for: once each, in order. Its state is the list of rows.
type collector struct {
	call   *aggCall
	inner  expr.Accumulator
	groups int
	types  []*columnar.Type
	chunk  [][]*columnar.Column // rows in order of arrival
	group  [][]uint32
	seen   *keyTable // group and arguments that were there, for DISTINCT
}

// collectedField describes the state of a call that collects.
func collectedField(c *aggCall) columnar.Field {
	var fields []columnar.Field
	for i, a := range c.args {
		name := "arg"
		if i >= len(c.call.Args) {
			name = "order"
		}
		fields = append(fields, columnar.Field{Name: name, Type: a.Type(), Nullable: true})
	}
	return columnar.Field{Name: "rows", Type: columnar.ArrayOf(columnar.StructOf(fields...), false)}
}

func newCollector(c *aggCall, ctx *expr.Context) *collector {
	k := &collector{call: c, inner: c.agg.New(ctx)}
	for _, a := range c.args {
		k.types = append(k.types, a.Type())
	}
	if c.call.Distinct {
		k.seen = newKeyTable(newKeyShape(append([]*columnar.Type{columnar.Int64}, k.types[:len(c.call.Args)]...)))
	}
	return k
}

// Grow implements expr.Accumulator.
func (k *collector) Grow(n int) { k.groups = max(k.groups, n) }

// Update implements expr.Accumulator.
func (k *collector) Update(group []uint32, args []*columnar.Column) error {
	n := len(group)
	own := make([]uint32, n)
	copy(own, group)
	if k.seen != nil {
		ids := make([]int64, n)
		for i, g := range group {
			ids[i] = int64(g)
		}
		keys := append([]*columnar.Column{columnar.NewFixed(columnar.Int64, ids, nil)}, args[:len(k.call.call.Args)]...)
		numbers, before := make([]uint32, n), k.seen.len()
		if err := k.seen.assign(keys, n, numbers); err != nil {
			return err
		}
		var fresh []int32
		for i, x := range numbers {
			if int(x) == before { // numbers rise by one with each new key
				fresh = append(fresh, int32(i))
				before++
			}
		}
		if len(fresh) < n {
			args = takeAll(args, fresh)
			for i, r := range fresh {
				own[i] = own[r]
			}
			own = own[:len(fresh)]
		}
	}
	if len(own) > 0 {
		k.chunk = append(k.chunk, args)
		k.group = append(k.group, own)
	}
	return nil
}

// Merge implements expr.Accumulator.
func (k *collector) Merge(group []uint32, state []*columnar.Column) error {
	list := state[0]
	if list.Len == 0 {
		return nil
	}
	from, to := list.Offsets[0], list.Offsets[list.Len]
	items := list.Children[0].Slice(int(from), int(to))
	owner := make([]uint32, 0, items.Len)
	for i, g := range group {
		for j := list.Offsets[i]; j < list.Offsets[i+1]; j++ {
			owner = append(owner, g)
		}
	}
	if len(owner) == 0 {
		return nil
	}
	return k.Update(owner, items.Children)
}

// rows gives all rows in order of their group, and within it in order of arrival.
func (k *collector) rows() (cols []*columnar.Column, group []uint32) {
	if len(k.chunk) == 0 {
		for _, t := range k.types {
			cols = append(cols, columnar.NewEmpty(t))
		}
		return cols, nil
	}
	for _, g := range k.group {
		group = append(group, g...)
	}
	for i := range k.types {
		parts := make([]*columnar.Column, len(k.chunk))
		for j, c := range k.chunk {
			parts[j] = c[i]
		}
		cols = append(cols, columnar.Concat(parts))
	}
	idx, _ := byGroup(group, k.groups)
	sorted := make([]uint32, len(group))
	for i, r := range idx {
		sorted[i] = group[r]
	}
	return takeAll(cols, idx), sorted
}

// byGroup gives the rows in order of their group, stable, and where each group begins.
func byGroup(group []uint32, groups int) (idx, offsets []int32) {
	offsets = make([]int32, groups+1)
	for _, g := range group {
		offsets[g+1]++
	}
	for g := range groups {
		offsets[g+1] += offsets[g]
	}
	at := append([]int32(nil), offsets...)
	idx = make([]int32, len(group))
	for r, g := range group {
		idx[at[g]] = int32(r)
		at[g]++
	}
	return idx, offsets
}

// State implements expr.Accumulator.
func (k *collector) State() ([]*columnar.Column, error) {
	cols, group := k.rows()
	typ := collectedField(k.call).Type
	offsets := make([]int32, k.groups+1)
	for _, g := range group {
		offsets[g+1]++
	}
	for g := range k.groups {
		offsets[g+1] += offsets[g]
	}
	item := &columnar.Column{Type: typ.Elem, Len: len(group), Children: cols}
	return []*columnar.Column{{Type: typ, Len: k.groups, Offsets: offsets, Children: []*columnar.Column{item}}}, nil
}

// Result implements expr.Accumulator.
func (k *collector) Result() (*columnar.Column, error) {
	cols, group := k.rows()
	n := len(k.call.call.Args)
	if order := k.call.call.Order; len(order) > 0 && len(group) > 0 {
		keys := []sortKey{newSortKey(groupColumn(group), expr.SortKey{})}
		for i, o := range order {
			keys = append(keys, newSortKey(cols[n+i], o))
		}
		idx := make([]int32, len(group))
		for i := range idx {
			idx[i] = int32(i)
		}
		if err := sortRows(context.Background(), keys, idx); err != nil {
			return nil, err
		}
		cols = takeAll(cols, idx) // group stays as it is: it was sorted, and is the first key
	}
	k.inner.Reset()
	k.inner.Grow(k.groups)
	if len(group) > 0 {
		if err := k.inner.Update(group, cols[:n]); err != nil {
			return nil, err
		}
	}
	return k.inner.Result()
}

func groupColumn(group []uint32) *columnar.Column {
	v := make([]int64, len(group))
	for i, g := range group {
		v[i] = int64(g)
	}
	return columnar.NewFixed(columnar.Int64, v, nil)
}

// Reset implements expr.Accumulator.
func (k *collector) Reset() {
	k.groups, k.chunk, k.group = 0, nil, nil
	k.inner.Reset()
	if k.seen != nil {
		k.seen.reset()
	}
}
