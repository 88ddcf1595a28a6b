package exec

import (
	"fmt"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// streamJoin joins two streams. The rows of both sides are kept in the state, under the key of the
// join, until no later row of the other side can match them; each row meets the rows of the other
// side that came before it.
type streamJoin struct {
	id       int
	opt      *Options
	kind     plan.JoinKind
	side     [2]*joinSide
	residual expr.Expr // over the columns of the left, then of the right; nil for none
	nullSafe uint64
	schema   *columnar.Schema
	keep     []int // output columns among left and right columns
	width    int   // columns of the left side
	ordered  bool  // rows come out in Spark's order
	lag      int64
	late     string
	keyDDL   string
}

// A stored row is the row encoding of matched BOOLEAN and the side's columns.
const (
	matchedAt = 1 // the value of the flag
	rowAt     = 2 // the columns
)

// joinSide is one input of a stream-stream join.
type joinSide struct {
	input     *pipe
	keys      []expr.Expr
	pre       expr.Expr // condition on this side alone
	types     []*columnar.Type
	ddl       string
	store     *state.Store
	event     *eventTime // by which rows are late
	keyEvent  *eventTime // among the keys: state goes by the event time of the key
	bound     *timeBound // state goes by the row's event time
	preserved bool       // rows without a match come out
	order     expr.Expr  // hash of the keys, where the order of rows shows
}

// evicts tells whether the side's state ever shrinks.
func (s *joinSide) evicts() bool { return s.keyEvent != nil || s.bound != nil }

func (c *compiler) streamJoin(n *plan.Join, need attrSet) (*pipe, error) {
	j := &streamJoin{id: n.ID, opt: c.opt, kind: n.Kind, late: c.late, ordered: c.first}
	want := need.with(n.Cond)
	nodes := [2]plan.Node{n.Left, n.Right}
	var event [2]*expr.Attr
	for i, node := range nodes {
		// Rows are late by an event time that reaches the join: one that is selected or that the condition uses.
		var err error
		if event[i], err = oneEventTime("the "+[2]string{"left", "right"}[i]+" side of a join", want.of(node.Output())); err != nil {
			return nil, err
		}
	}
	for i, node := range nodes {
		if c.late == "" {
			continue
		}
		if event[i] == nil {
			for _, a := range node.Output() {
				if a.EventTime != nil && event[i] == nil {
					event[i] = a
				}
			}
		}
		want = want.withAttrs(node.Output())
	}
	for i, node := range nodes {
		in, err := c.compile(node, want)
		if err != nil {
			return nil, err
		}
		s := &joinSide{input: in, types: typesOf(in.attrs), ddl: schemaOf(in.attrs).String()}
		if event[i] != nil {
			s.event = &eventTime{column: position(in.attrs, event[i].ID), window: event[i].Typ.Kind == columnar.KindStruct}
		}
		j.side[i] = s
		j.lag = max(j.lag, in.lag)
	}
	left, right := j.side[0], j.side[1]
	switch n.Kind {
	case plan.Inner, plan.Cross, plan.LeftSemi:
	case plan.LeftJoin:
		left.preserved = true
	case plan.RightJoin:
		right.preserved = true
	case plan.FullJoin:
		left.preserved, right.preserved = true, true
	default:
		return nil, fmt.Errorf("a %s join of two streams cannot be run", n.Kind)
	}
	cond := splitJoin(n.Cond, left.input.attrs, right.input.attrs)
	if len(cond.keys) == 0 {
		return nil, fmt.Errorf("a join of two streams without an equality cannot be run")
	}
	if err := j.bindKeys(cond); err != nil {
		return nil, err
	}
	for _, s := range j.side {
		if !j.ordered {
			continue
		}
		var err error
		if s.order, err = c.shuffleHash(s.keys); err != nil {
			return nil, err
		}
		j.ordered = s.order != nil
	}
	j.width = len(left.input.attrs)
	both := append(append([]*expr.Attr{}, left.input.attrs...), right.input.attrs...)
	for i, pre := range [][]expr.Expr{cond.left, cond.right} {
		if e := conjunction(pre); e != nil {
			b, err := expr.BindRefs(e, j.side[i].input.attrs)
			if err != nil {
				return nil, err
			}
			j.side[i].pre = b
		}
	}
	if e := conjunction(cond.both); e != nil {
		b, err := expr.BindRefs(e, both)
		if err != nil {
			return nil, err
		}
		j.residual = b
	}
	lag := j.lag
	for i, s := range j.side {
		if s.keyEvent != nil || event[i] == nil || event[1-i] == nil || s.event.window {
			continue
		}
		if b, ok := timeBoundOf(cond.both, event[i], event[1-i], c.opt.Expr.Zone, c.opt.Expr.ANSI); ok {
			s.bound = &b
			lag = max(lag, j.lag+b.shift)
		}
	}
	// The analyser has looked at how the condition is written; what counts is what it computes.
	for i, must := range [2]bool{left.preserved || n.Kind == plan.LeftSemi, right.preserved} {
		if must && !j.side[i].evicts() {
			return nil, sparkerr.New("UNSUPPORTED_STREAMING_OPERATION.OUTER_JOIN_WITHOUT_TIME_BOUND", "%s join of two streams needs a time bound by which rows of the %s side are done with; the condition gives none: add one such as r.time BETWEEN l.time AND l.time + INTERVAL 1 HOUR", n.Kind, [2]string{"left", "right"}[i])
		}
	}
	out := n.Output()
	var attrs []*expr.Attr
	for _, a := range out {
		if need[a.ID] {
			attrs = append(attrs, a)
		}
	}
	j.keep, j.schema = positions(both, attrs), schemaOf(attrs)
	for i, s := range j.side {
		var err error
		if s.store, err = c.store(j.id, [2]string{"left", "right"}[i], "join", j.keyDDL, "matched BOOLEAN, "+s.ddl, s.evicts(), true); err != nil {
			return nil, err
		}
	}
	c.q.stateful = append(c.q.stateful, j)
	return &pipe{branches: []*branch{{source: j}}, attrs: attrs, lag: lag}, nil
}

// bindKeys binds the keys of both sides, and finds the first one that carries an event time.
func (j *streamJoin) bindKeys(cond joinCondition) error {
	var keys [2][]expr.Expr
	schema := &columnar.Schema{}
	eventKey := -1
	for i, k := range cond.keys {
		keys[0], keys[1] = append(keys[0], k.left), append(keys[1], k.right)
		if k.nullSafe {
			j.nullSafe |= 1 << i
		}
		schema.Fields = append(schema.Fields, columnar.Field{Name: k.left.SQL(), Type: k.left.Type(), Nullable: true})
		for _, e := range []expr.Expr{k.left, k.right} {
			if a, ok := e.(*expr.Attr); ok && a.EventTime != nil && eventKey < 0 {
				eventKey = i
			}
		}
	}
	j.keyDDL = schema.String()
	for i, s := range j.side {
		b, err := bind(keys[i], s.input.attrs)
		if err != nil {
			return err
		}
		s.keys = b
		if eventKey >= 0 {
			s.keyEvent = &eventTime{column: eventKey, window: keys[i][eventKey].Type().Kind == columnar.KindStruct}
		}
	}
	return nil
}

func (j *streamJoin) info() OperatorInfo {
	l, r := j.side[0], j.side[1]
	return OperatorInfo{
		ID: j.id, Name: "symmetricHashJoin", Stores: []string{l.store.Spec().Name, r.store.Spec().Name},
		KeySchema: j.keyDDL, ValueSchema: l.ddl + " | " + r.ddl,
		WatermarkDriven: l.evicts() || r.evicts(), Unbounded: !l.evicts() || !r.evicts(),
	}
}

func (j *streamJoin) stats(r *run) OperatorStats {
	s := *r.ops[j]
	for _, side := range j.side {
		s.RowsTotal += side.store.Rows()
		s.MemoryBytes += side.store.MemoryUsed()
	}
	return s
}

func (j *streamJoin) forget(rel int) {
	j.side[0].input.forget(rel)
	j.side[1].input.forget(rel)
}

func (j *streamJoin) each(r *run, emit func(morsel) error) error {
	sorted := &inOrder{opt: j.opt}
	give := func(parts [][]joined) error {
		for p, rows := range parts {
			for _, b := range rows {
				if j.ordered {
					sorted.add(b.rows, b.part, b.place)
					continue
				}
				if err := emit(morsel{rows: b.rows, part: partition{index: p}}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i := range j.side {
		if err := j.take(r, i, give); err != nil {
			return err
		}
	}
	if err := r.gate(); err != nil {
		return err
	}
	out := make([][]joined, r.opt.Partitions)
	err := parallel(r.opt.Partitions, func(p int) error {
		for i := range j.side {
			rows, err := j.evict(r, i, p)
			if err != nil {
				return err
			}
			out[p] = append(out[p], rows...)
		}
		return r.midway(p)
	})
	if err != nil {
		return operatorError("join", err)
	}
	if err := give(out); err != nil {
		return err
	}
	if rows := sorted.sorted(); rows != nil {
		return emit(morsel{rows: rows})
	}
	return nil
}

// joined are output rows; where their order shows, with Spark's partition of each and its place there.
type joined struct {
	rows  *columnar.Batch
	part  []int32
	place []int64
}

// Within a partition Spark joins the left side's rows, then the right side's, and then gives what comes out unmatched, of the
// left and of the right: the phase of a row is the upper part of its place.
const phaseShift = 56

// take reads one side, joins it with what the state has of the other side, and adds it to its own.
func (j *streamJoin) take(r *run, i int, give func([][]joined) error) error {
	s := j.side[i]
	cutoff := r.lateWatermark(j.lag)
	prepare := func(w *worker, rows *columnar.Batch) (*exchanged, error) {
		if s.event != nil {
			if late := s.event.late(rows.Columns, cutoff); late != nil {
				if err := w.dropLate(j, j.late, "join", cutoff, rows, late); err != nil {
					return nil, err
				}
				rows = columnar.FilterBatch(rows, complement(late, rows.Rows))
			}
		}
		if rows.Rows == 0 {
			return nil, nil
		}
		x := &exchanged{rows: rows}
		ctx := &w.expr
		if s.pre != nil {
			c, err := s.pre.Eval(ctx, rows)
			if err != nil {
				return nil, operatorError("join", err)
			}
			pass := trueRows(c)
			if s.preserved {
				x.alone = columnar.FilterBatch(rows, complement(pass, rows.Rows))
				if err := j.placeAlone(ctx, s, x, complement(pass, rows.Rows), rows.Rows); err != nil {
					return nil, operatorError("join", err)
				}
			}
			x.rows = columnar.FilterBatch(rows, pass)
			if j.ordered {
				x.place = pass.Indices(nil, rows.Rows)
			}
		}
		keys, err := evalAll(ctx, s.keys, x.rows)
		if err != nil {
			return nil, operatorError("join", err)
		}
		x.valid = notNull(keys, j.nullSafe)
		if x.valid != nil && !s.preserved { // matches nothing, ever
			idx := x.valid.Indices(nil, x.rows.Rows)
			x.rows, keys, x.valid = columnar.TakeBatch(x.rows, idx), takeAll(keys, idx), nil
			if x.place != nil {
				for k, at := range idx {
					idx[k] = x.place[at]
				}
			}
			x.place = idx
		}
		if j.ordered {
			if x.spark, err = j.opt.sparkPartitions(ctx, s.order, x.rows); err != nil {
				return nil, operatorError("join", err)
			}
		}
		switch {
		case s.keyEvent != nil:
			x.time = s.keyEvent.expiry(keys)
		case s.bound != nil:
			x.time = s.bound.expiry(s.event, x.rows)
		}
		x.distribute(keys, r.opt.Partitions)
		return x, nil
	}
	base := int64(i) << phaseShift
	return r.exchange(s.input, r.opt.ExchangeBytes, prepare, func(list []*exchanged) error {
		if err := r.gate(); err != nil {
			return err
		}
		out := make([][]joined, r.opt.Partitions)
		for _, x := range list {
			x.base = base
			base += int64(x.rows.Rows)
			if x.alone != nil {
				base += int64(x.alone.Rows)
			}
		}
		err := parallel(r.opt.Partitions, func(p int) error {
			t := &joinTask{j: j, r: r, i: i, mine: s.store.Part(p), other: j.side[1-i].store.Part(p), ctx: r.exprContext(p)}
			start := time.Now()
			for _, x := range list {
				if err := t.join(x, x.part[p]); err != nil {
					return err
				}
				if p == 0 && x.alone != nil && x.alone.Rows > 0 {
					t.out = append(t.out, joined{j.withNulls(i, x.alone.Columns, x.alone.Rows), x.aloneSpark, placesFrom(x.base, x.alonePlace)})
				}
			}
			out[p] = t.out
			r.count(j, func(s *OperatorStats) {
				s.RowsUpdated += t.updated
				s.RowsRemoved += t.removed
				s.Updates += time.Since(start)
			})
			if err := t.mine.Err(); err != nil {
				return err
			}
			if err := t.other.Err(); err != nil {
				return err
			}
			return r.midway(p)
		})
		if err != nil {
			return operatorError("join", err)
		}
		return give(out)
	})
}

// expiry is the watermark at which each row can match no later one.
func (b *timeBound) expiry(event *eventTime, rows *columnar.Batch) []int64 {
	v, valid := event.values(rows.Columns)
	out := make([]int64, len(v))
	for i, t := range v {
		out[i] = t + b.shift
		if valid != nil && !valid.Get(i) {
			out[i] = state.NoExpiry
		}
	}
	return out
}

// withNulls are rows of side i with nulls for the other one, as output.
func (j *streamJoin) withNulls(i int, cols []*columnar.Column, n int) *columnar.Batch {
	out := make([]*columnar.Column, len(j.keep))
	for k, p := range j.keep {
		side := 0
		if p >= j.width {
			side, p = 1, p-j.width
		}
		if side == i {
			out[k] = cols[p]
		} else {
			out[k] = columnar.NewNull(j.side[side].types[p], n)
		}
	}
	return columnar.NewBatch(j.schema, out, n)
}

// joinTask joins rows of side i in one partition.
type joinTask struct {
	j           *streamJoin
	r           *run
	i           int
	mine, other *state.Part
	ctx         *expr.Context
	out         []joined
	updated     int64
	removed     int64
	value       []byte
	spent       []state.Ref // left rows of a semi join that have come out now
}

// join joins rows of x, then keeps them.
func (t *joinTask) join(x *exchanged, rows []int32) error {
	j := t.j
	refs := make([]state.Ref, len(rows))
	t.other.FindRows(&x.keys, x.hash, rows, refs)
	matched := columnar.NewBitmap(x.rows.Rows)
	semi := j.kind == plan.LeftSemi
	var mine []int32
	var theirs []state.Ref
	for k, row := range rows {
		if x.valid != nil && !x.valid.Get(int(row)) {
			continue
		}
		for ref := refs[k]; ref != 0; ref = t.other.Next(ref) {
			if semi && t.i == 1 && t.other.Value(ref)[matchedAt] != 0 {
				continue // the left row came out before
			}
			mine, theirs = append(mine, row), append(theirs, ref)
			if len(mine) >= t.r.opt.BatchRows {
				if err := t.match(x, mine, theirs, matched); err != nil {
					return err
				}
				mine, theirs = mine[:0], theirs[:0]
				if err := t.r.ctx.Err(); err != nil {
					return err
				}
			}
		}
	}
	if err := t.match(x, mine, theirs, matched); err != nil {
		return err
	}
	for _, ref := range t.spent {
		t.other.Remove(ref)
	}
	t.removed += int64(len(t.spent))
	t.spent = t.spent[:0]
	if semi && t.i == 0 {
		if n := matched.Count(x.rows.Rows); n > 0 {
			t.emit(x, matched.Indices(nil, x.rows.Rows), columnar.FilterBatch(x.rows, matched).Columns, nil, n)
		}
	}
	return t.keep(x, rows, matched)
}

// match checks candidate pairs and emits those that match.
func (t *joinTask) match(x *exchanged, mine []int32, theirs []state.Ref, matched columnar.Bitmap) error {
	if len(mine) == 0 {
		return nil
	}
	j := t.j
	semi := j.kind == plan.LeftSemi
	other := j.side[1-t.i]
	values := make([][]byte, len(theirs))
	for k, ref := range theirs {
		values[k] = t.other.Value(ref)[rowAt:]
	}
	var oc []*columnar.Column
	var err error
	if j.residual != nil || !(semi && t.i == 0) {
		if oc, err = decodeRows(other.types, values); err != nil {
			return err
		}
	}
	mc := takeAll(x.rows.Columns, mine)
	if j.residual != nil {
		c, err := j.residual.Eval(t.ctx, columnar.NewBatch(nil, t.sides(mc, oc), len(mine)))
		if err != nil {
			return err
		}
		pass := trueRows(c)
		if n := pass.Count(len(mine)); n < len(mine) {
			idx := pass.Indices(make([]int32, 0, n), len(mine))
			mc, oc = takeAll(mc, idx), takeAll(oc, idx)
			for k, at := range idx {
				mine[k], theirs[k] = mine[at], theirs[at]
			}
			mine, theirs = mine[:n], theirs[:n]
		}
	}
	if len(mine) == 0 {
		return nil
	}
	for _, row := range mine {
		matched.Set(int(row))
	}
	if semi {
		if t.i == 0 {
			return nil // comes out once, however many match
		}
		var first []int32
		for k, ref := range theirs {
			if t.other.Value(ref)[matchedAt] == 0 {
				t.other.Mut(ref)[matchedAt] = 1
				first, t.spent = append(first, int32(k)), append(t.spent, ref)
			}
		}
		if len(first) > 0 {
			by := make([]int32, len(first))
			for k, at := range first {
				by[k] = mine[at]
			}
			t.emit(x, by, takeAll(oc, first), nil, len(first))
		}
		return nil
	}
	if other.preserved {
		for _, ref := range theirs {
			if t.other.Value(ref)[matchedAt] == 0 {
				t.other.Mut(ref)[matchedAt] = 1
			}
		}
	}
	s := t.sides(mc, oc)
	t.emit(x, mine, s[:j.width], s[j.width:], len(mine))
	return nil
}

// sides puts the columns of both sides in order.
func (t *joinTask) sides(mine, other []*columnar.Column) []*columnar.Column {
	if other == nil {
		other = make([]*columnar.Column, len(t.j.side[1-t.i].types))
	}
	if t.i == 0 {
		return append(append(make([]*columnar.Column, 0, len(mine)+len(other)), mine...), other...)
	}
	return append(append(make([]*columnar.Column, 0, len(mine)+len(other)), other...), mine...)
}

// emit adds n output rows, each of which the row by of x has made.
func (t *joinTask) emit(x *exchanged, by []int32, left, right []*columnar.Column, n int) {
	j := t.j
	cols := make([]*columnar.Column, len(j.keep))
	for k, p := range j.keep {
		if p < j.width {
			cols[k] = left[p]
		} else {
			cols[k] = right[p-j.width]
		}
	}
	out := joined{rows: columnar.NewBatch(j.schema, cols, n)}
	if j.ordered {
		at := make([]int32, n)
		out.part = make([]int32, n)
		for i, row := range by {
			out.part[i], at[i] = x.spark[row], row
			if x.place != nil {
				at[i] = x.place[row]
			}
		}
		out.place = placesFrom(x.base, at)
	}
	t.out = append(t.out, out)
}

// placesFrom are the places of rows that follow a base.
func placesFrom(base int64, at []int32) []int64 {
	out := make([]int64, len(at))
	for i, p := range at {
		out[i] = base + int64(p)
	}
	return out
}

// placeAlone notes partitions and places of the rows that come out alone.
func (j *streamJoin) placeAlone(ctx *expr.Context, s *joinSide, x *exchanged, alone columnar.Bitmap, n int) error {
	if !j.ordered {
		return nil
	}
	var err error
	x.alonePlace = alone.Indices(nil, n)
	x.aloneSpark, err = j.opt.sparkPartitions(ctx, s.order, x.alone)
	return err
}

// keep adds rows to the state of their side.
func (t *joinTask) keep(x *exchanged, rows []int32, matched columnar.Bitmap) error {
	var enc columnar.RowKeys
	columnar.EncodeRows(&enc, takeAll(x.rows.Columns, rows), len(rows), false)
	for k, row := range rows {
		hit := matched.Get(int(row))
		if hit && t.j.kind == plan.LeftSemi && t.i == 0 {
			continue
		}
		expiry := state.NoExpiry
		if x.time != nil {
			expiry = x.time[row]
		}
		t.value = append(t.value[:0], 1, 0)
		if hit {
			t.value[matchedAt] = 1
		}
		t.value = append(t.value, enc.Row(k)...)
		t.mine.Append(x.hash[row], x.keys.Row(int(row)), t.value, expiry)
		t.updated++
	}
	return nil
}

// evict removes rows that can match no more, and gives those that must come out without a match.
func (j *streamJoin) evict(r *run, i, p int) ([]joined, error) {
	s := j.side[i]
	if !s.evicts() {
		return nil, nil
	}
	start := time.Now()
	part := s.store.Part(p)
	upTo := r.evictWatermark(j.lag)
	var out []joined
	if s.preserved {
		var values [][]byte
		flush := func() error {
			n := len(values)
			if n == 0 {
				return nil
			}
			cols, err := decodeRows(s.types, values)
			if err != nil {
				return err
			}
			rows := joined{rows: j.withNulls(i, cols, n)}
			if j.ordered {
				if rows.part, err = j.opt.sparkPartitions(r.exprContext(p), s.order, columnar.NewBatch(schemaOf(s.input.attrs), cols, n)); err != nil {
					return err
				}
				rows.place = make([]int64, n)
				for k := range rows.place {
					rows.place[k] = int64(2+i) << phaseShift
				}
			}
			out = append(out, rows)
			values = values[:0]
			return r.ctx.Err()
		}
		for _, ref := range part.Due(upTo, nil) {
			if v := part.Value(ref); v[matchedAt] == 0 {
				values = append(values, v[rowAt:])
			}
			if len(values) >= r.opt.BatchRows {
				if err := flush(); err != nil {
					return nil, err
				}
			}
		}
		if err := flush(); err != nil {
			return nil, err
		}
	}
	n, err := part.Expired(upTo, nil)
	r.count(j, func(s *OperatorStats) {
		s.RowsRemoved += int64(n)
		s.Removals += time.Since(start)
	})
	return out, err
}
