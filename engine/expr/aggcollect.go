package expr

import (
	"encoding/binary"

	"github.com/wstream/wstream/columnar"
)

// bindCollect binds collect_list and collect_set.
func bindCollect(set bool) func(b *Binder, args []Expr) (Expr, error) {
	return func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 1, 1); err != nil {
			return nil, err
		}
		t := args[0].Type()
		if set && hasMap(t) {
			return nil, mismatch("UNSUPPORTED_INPUT_TYPE", b.sql(args), "the input of `%s` can't be \"MAP\" type data", b.name())
		}
		out := columnar.ArrayOf(t, b.Call.RespectNulls)
		keep := b.Call.RespectNulls
		a := b.aggregate(args, out, false, []columnar.Field{field("values", out, false)},
			func(*Context) Accumulator { return &collectAcc{typ: out, set: set, nulls: keep} })
		a.order = true
		if !set {
			a.text = func(kids []Expr, distinct bool) string { return aggSQL("collect_list", kids, distinct) }
		}
		return a, nil
	}
}

// chains are lists of entries, one per group, in one memory.
type chains struct {
	head, tail []int32 // first and last entry of each group, from 1; 0 is none
	next       []int32 // entry behind each entry, from 1
}

func (c *chains) grow(n int) { c.head, c.tail = growTo(c.head, n), growTo(c.tail, n) }

// push adds a new entry to the list of group g; entries are numbered in order of their pushing.
func (c *chains) push(g uint32) {
	c.next = append(c.next, 0)
	k := int32(len(c.next))
	if t := c.tail[g]; t != 0 {
		c.next[t-1] = k
	} else {
		c.head[g] = k
	}
	c.tail[g] = k
}

// each gives the entries of all groups, group by group, and where each group's begin.
func (c *chains) each() (idx []int32, offsets []int32) {
	idx = make([]int32, 0, len(c.next))
	offsets = make([]int32, 1, len(c.head)+1)
	for _, h := range c.head {
		for k := h; k != 0; k = c.next[k-1] {
			idx = append(idx, k-1)
		}
		offsets = append(offsets, int32(len(idx)))
	}
	return idx, offsets
}

func (c *chains) reset() {
	c.head, c.tail, c.next = resetSlice(c.head), resetSlice(c.tail), c.next[:0]
}

// collectAcc collects values into arrays.
type collectAcc struct {
	typ    *columnar.Type
	set    bool
	nulls  bool
	list   chains
	values *columnar.Builder
	known  map[string]struct{} // of a set: group and encoded value
	key    []byte
}

func (a *collectAcc) Grow(n int) {
	a.list.grow(n)
	if a.values == nil {
		a.values = columnar.NewBuilder(a.typ.Elem, n)
		a.known = map[string]struct{}{}
	}
}

func (a *collectAcc) add(g uint32, c *columnar.Column, i int) {
	if a.set {
		a.key = binary.LittleEndian.AppendUint32(a.key[:0], g)
		a.key = columnar.AppendValue(a.key, c, i, true)
		if _, ok := a.known[string(a.key)]; ok {
			return
		}
		a.known[string(a.key)] = struct{}{}
	}
	a.list.push(g)
	a.values.AppendFrom(c, i)
}

func (a *collectAcc) Update(group []uint32, args []*columnar.Column) error {
	for i, g := range group {
		if a.nulls || !args[0].IsNull(i) {
			a.add(g, args[0], i)
		}
	}
	return nil
}

func (a *collectAcc) Merge(group []uint32, state []*columnar.Column) error {
	c := state[0]
	for i, g := range group {
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			a.add(g, c.Children[0], int(j))
		}
	}
	return nil
}

func (a *collectAcc) State() ([]*columnar.Column, error) {
	c, err := a.Result()
	return []*columnar.Column{c}, err
}

func (a *collectAcc) Result() (*columnar.Column, error) {
	n := len(a.list.head)
	if a.values == nil {
		return columnar.NewEmpty(a.typ), nil
	}
	idx, offsets := a.list.each()
	all := a.values.Finish()
	// The builder goes on behind what was collected so far.
	for i := 0; i < all.Len; i++ {
		a.values.AppendFrom(all, i)
	}
	return &columnar.Column{Type: a.typ, Len: n, Offsets: offsets, Children: []*columnar.Column{columnar.Take(all, idx)}}, nil
}

func (a *collectAcc) Reset() {
	a.list.reset()
	clear(a.known)
	if a.values != nil {
		a.values.Finish()
	}
}

// bindListagg binds listagg and string_agg.
func bindListagg(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	sep := ""
	printed := args
	if len(args) == 1 {
		printed = append(args[:1:1], NewLiteral(columnar.Null, nil))
	}
	args, err := b.coerce(args, isStringOrBinary)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		v, ok, err := b.foldable(args[1])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, nonFoldable(b.sql(args), "delimiter", args[1])
		}
		switch s := v.(type) {
		case string:
			sep = s
		case []byte:
			sep = string(s)
		}
	}
	t := args[0].Type()
	arr := columnar.ArrayOf(t, false)
	a := b.aggregate(args[:1:1], t, true, []columnar.Field{field("values", arr, false)},
		func(*Context) Accumulator { return &listaggAcc{collectAcc{typ: arr}, t, sep} })
	a.order = true
	order := b.Call.Order
	name := b.name()
	a.text = func(_ []Expr, distinct bool) string {
		if len(order) > 0 {
			s := aggSQL("listagg", printed, distinct)
			return s + " WITHIN GROUP (ORDER BY " + orderText(order) + ")"
		}
		return aggSQL(name, printed, distinct)
	}
	return a, nil
}

// orderText prints the keys of an ORDER BY.
func orderText(keys []SortKey) string {
	s := ""
	for i, k := range keys {
		if i > 0 {
			s += ", "
		}
		s += k.Expr.SQL()
		if k.Desc {
			s += " DESC"
		} else {
			s += " ASC"
		}
		if k.NullsFirst {
			s += " NULLS FIRST"
		} else {
			s += " NULLS LAST"
		}
	}
	return s
}

// listaggAcc joins strings.
type listaggAcc struct {
	collectAcc
	out *columnar.Type
	sep string
}

func (a *listaggAcc) Result() (*columnar.Column, error) {
	c, err := a.collectAcc.Result()
	if err != nil {
		return nil, err
	}
	b := columnar.NewBuilder(a.out, c.Len)
	for i := 0; i < c.Len; i++ {
		if c.Offsets[i] == c.Offsets[i+1] {
			b.AppendNull()
			continue
		}
		buf := b.Scratch()
		for j := c.Offsets[i]; j < c.Offsets[i+1]; j++ {
			if j > c.Offsets[i] {
				buf = append(buf, a.sep...)
			}
			buf = append(buf, c.Children[0].BytesAt(int(j))...)
		}
		b.FinishScratch(buf)
	}
	return b.Finish(), nil
}
