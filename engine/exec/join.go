package exec

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

func (c *compiler) join(n *plan.Join, need attrSet) (*pipe, error) {
	p, err := c.compileJoin(n, need)
	return p, operatorError("join", err)
}

func (c *compiler) compileJoin(n *plan.Join, need attrSet) (*pipe, error) {
	left, right := plan.IsStreaming(n.Left), plan.IsStreaming(n.Right)
	if c.opt.Streaming && left && right {
		return c.streamJoin(n, need)
	}
	// The built side is held in memory: a static side on a stream, otherwise the right one. The side
	// whose rows must all come out is the one that is probed, where there is a choice.
	kind, probe, build := n.Kind, n.Left, n.Right
	if kind == plan.RightJoin || c.opt.Streaming && right {
		probe, build = build, probe
		switch kind {
		case plan.RightJoin:
			kind = plan.LeftJoin
		case plan.LeftJoin:
			kind = plan.RightJoin
		case plan.LeftSemi, plan.LeftAnti:
			return nil, fmt.Errorf("a %s join with the stream on the right cannot be run", kind)
		}
	}
	if c.opt.Streaming && (left || right) && (kind == plan.RightJoin || kind == plan.FullJoin) {
		return nil, fmt.Errorf("a join that needs all of the stream before unmatched rows of the table come out cannot be run")
	}
	want := need
	if n.Cond != nil {
		want = want.with(n.Cond)
	}
	pp, err := c.compile(probe, want)
	if err != nil {
		return nil, err
	}
	bp, err := c.compile(build, want)
	if err != nil {
		return nil, err
	}
	j := &joinProbe{kind: kind, build: &builtSide{input: bp}, nullAware: n.NullAware, once: n.Once}
	cond := splitJoin(n.Cond, pp.attrs, bp.attrs)
	pairAttrs := append(append([]*expr.Attr{}, pp.attrs...), bp.attrs...)
	residual := conjunction(cond.left, cond.right, cond.both)
	if n.NullAware && (len(cond.keys) != 1 || residual != nil) {
		// NOT IN over several columns, or correlated: every pair is looked at.
		cond.keys, residual = nil, n.Cond
	}
	var probeKeys, buildKeys []expr.Expr
	for i, k := range cond.keys {
		probeKeys, buildKeys = append(probeKeys, k.left), append(buildKeys, k.right)
		if k.nullSafe {
			j.build.nullSafe |= 1 << i
		}
	}
	if j.keys, err = bind(probeKeys, pp.attrs); err != nil {
		return nil, err
	}
	if j.build.keys, err = bind(buildKeys, bp.attrs); err != nil {
		return nil, err
	}
	if residual != nil {
		if j.residual, err = expr.BindRefs(residual, pairAttrs); err != nil {
			return nil, err
		}
	}
	j.build.schema = schemaOf(bp.attrs)
	types := make([]*columnar.Type, len(buildKeys))
	for i, k := range buildKeys {
		types[i] = k.Type()
	}
	j.build.shape = newKeyShape(types)
	attrs := need.of(pp.attrs)
	j.keepProbe = positions(pp.attrs, attrs)
	if kind != plan.LeftSemi && kind != plan.LeftAnti {
		ba := need.of(bp.attrs)
		j.keepBuild = positions(bp.attrs, ba)
		attrs = append(attrs, ba...)
	}
	out := n.Output()
	for i, a := range attrs { // an outer join makes columns nullable
		if k := position(out, a.ID); k >= 0 {
			attrs[i] = out[k]
		}
	}
	j.schema, j.probeTypes, j.width = schemaOf(attrs), typesOf(pp.attrs), len(pp.attrs)
	serial := residual != nil && positional(residual)
	pp.add(j, serial)
	res := &pipe{branches: pp.branches, attrs: attrs, static: pp.static && bp.static, lag: pp.lag}
	if kind == plan.RightJoin || kind == plan.FullJoin {
		j.build.track = true
		res.branches = append(res.branches, &branch{source: &unmatchedRows{j: j}})
	}
	return res, nil
}

// builtSide is the side of a join that is held in memory, with a table of its keys.
type builtSide struct {
	input    *pipe
	keys     []expr.Expr
	nullSafe uint64 // keys where null equals null, by position
	shape    *keyShape
	schema   *columnar.Schema
	track    bool // which rows have matched is kept

	done    bool
	run     *run // that has loaded it
	rows    *columnar.Batch
	table   *keyTable
	offsets []int32 // rows of group g are index[offsets[g]:offsets[g+1]]
	index   []int32
	hasNull bool // some row has a null key that matches nothing
	matched columnar.Bitmap
}

// load reads the side, unless a static one on a stream is there already.
func (b *builtSide) load(r *run) error {
	if b.done && (r.opt.Streaming || b.run == r) {
		return nil
	}
	rows, err := r.collect(b.input)
	if err != nil {
		return err
	}
	if rows == nil {
		rows = columnar.EmptyBatch(b.schema)
	}
	b.rows, b.hasNull = rows, false
	b.matched = nil
	if b.track {
		b.matched = columnar.NewBitmap(rows.Rows)
	}
	b.table = newKeyTable(b.shape)
	if len(b.keys) > 0 {
		keys, err := evalAll(r.exprContext(0), b.keys, rows)
		if err != nil {
			return operatorError("join", err)
		}
		idx := allRows(rows.Rows)
		if valid := notNull(keys, b.nullSafe); valid != nil {
			idx = valid.Indices(nil, rows.Rows)
			b.hasNull = len(idx) < rows.Rows
			keys = takeAll(keys, idx)
		}
		group := make([]uint32, len(idx))
		if err := b.table.assign(keys, len(idx), group); err != nil {
			return operatorError("join", err)
		}
		order, offsets := byGroup(group, b.table.len())
		b.index, b.offsets = make([]int32, len(order)), offsets
		for i, o := range order {
			b.index[i] = idx[o]
		}
	}
	b.done, b.run = true, nil
	if !r.opt.Streaming {
		b.run = r
	}
	return nil
}

// notNull are the rows without a null in a key that matches no null; nil when all are.
func notNull(keys []*columnar.Column, nullSafe uint64) columnar.Bitmap {
	var valid columnar.Bitmap
	for i, k := range keys {
		if nullSafe>>i&1 == 0 {
			v := k.Valid
			if k.Type.Kind == columnar.KindNull {
				v = columnar.NewBitmap(k.Len)
			}
			valid = columnar.And(valid, v)
		}
	}
	return valid
}

func allRows(n int) []int32 {
	idx := make([]int32, n)
	for i := range idx {
		idx[i] = int32(i)
	}
	return idx
}

// joinProbe joins the rows that pass with the built side.
type joinProbe struct {
	kind       plan.JoinKind // seen from the rows that pass, the left
	keys       []expr.Expr
	residual   expr.Expr // over the columns of both sides, nil for none
	nullAware  bool
	once       bool // of the matches of a row the first counts
	build      *builtSide
	keepProbe  []int
	keepBuild  []int
	probeTypes []*columnar.Type
	width      int // columns that pass
	schema     *columnar.Schema
}

func (j *joinProbe) prepare(r *run) error { return j.build.load(r) }

func (j *joinProbe) forget(rel int) {
	if rel < 0 || j.build.input.reads(rel) {
		j.build.done = false
	}
	j.build.input.forget(rel)
}

// reads tells whether relation rel is somewhere below. What cannot be looked into counts as yes.
func (p *pipe) reads(rel int) bool {
	for _, b := range p.branches {
		switch s := b.source.(type) {
		case *scan:
			if s.index == rel {
				return true
			}
		case *rowsSource:
		default:
			return true
		}
		for _, st := range b.steps {
			if j, ok := st.(*joinProbe); ok && j.build.input.reads(rel) {
				return true
			}
		}
	}
	return false
}

// probing is what a worker needs for looking up.
type probing struct {
	rows    keyRows
	group   []uint32
	matched columnar.Bitmap
}

func (j *joinProbe) newLocal(*worker) any {
	p := &probing{}
	if j.build.track {
		p.matched = columnar.NewBitmap(j.build.rows.Rows)
	}
	return p
}

func (j *joinProbe) close(_ *run, local any) error {
	for i, w := range local.(*probing).matched {
		j.build.matched[i] |= w
	}
	return nil
}

func (j *joinProbe) push(w *worker, i int, in *columnar.Batch) error {
	p := w.local[i].(*probing)
	ctx := w.context(i)
	w.advance(i, in.Rows)
	b := j.build
	var nulls columnar.Bitmap // rows whose key is not null; nil for all
	if len(j.keys) > 0 {
		keys, err := evalAll(ctx, j.keys, in)
		if err != nil {
			return operatorError("join", err)
		}
		if cap(p.group) < in.Rows {
			p.group = make([]uint32, in.Rows)
		}
		p.group = p.group[:in.Rows]
		b.table.find(&p.rows, keys, in.Rows, p.group)
		if nulls = notNull(keys, b.nullSafe); nulls != nil {
			for r := range p.group {
				if !nulls.Get(r) {
					p.group[r] = noGroup
				}
			}
		}
	}
	if j.kind == plan.LeftAnti && j.nullAware && len(j.keys) > 0 {
		return j.notIn(w, i, in, p.group, nulls)
	}
	o := &joinOutput{j: j, w: w, step: i, in: in, local: p, ctx: ctx}
	var all []int32
	if len(j.keys) == 0 {
		all = allRows(b.rows.Rows)
	}
	for r := range in.Rows {
		cand := all
		if len(j.keys) > 0 {
			cand = nil
			if g := p.group[r]; g != noGroup {
				cand = b.index[b.offsets[g]:b.offsets[g+1]]
			}
		}
		if err := o.row(int32(r), cand); err != nil {
			return err
		}
	}
	return o.finish()
}

// notIn is the anti join of NOT IN: nothing is outside of a set that holds null, and null is outside
// of the empty set only.
func (j *joinProbe) notIn(w *worker, i int, in *columnar.Batch, group []uint32, valid columnar.Bitmap) error {
	if j.build.rows.Rows > 0 {
		if j.build.hasNull {
			return nil
		}
		keep := columnar.NewBitmap(in.Rows)
		for r, g := range group {
			if g == noGroup && (valid == nil || valid.Get(r)) {
				keep.Set(r)
			}
		}
		return w.push(i+1, columnar.FilterBatch(pick(j.schema, in, j.keepProbe), keep))
	}
	return w.push(i+1, pick(j.schema, in, j.keepProbe))
}

// joinOutput gathers candidate pairs, checks the rest of the condition for many at once, and emits
// what matches, in order of the rows that pass.
type joinOutput struct {
	j     *joinProbe
	w     *worker
	step  int
	in    *columnar.Batch
	local *probing
	ctx   *expr.Context

	probe, build []int32 // candidates
	rows         []int32 // rows that have candidates here or end here, in order
	ends         []int32 // where the candidates of each of these end
	open         bool    // the last row goes on in the next block
	hit          bool    // the first row has matched in an earlier block

	outProbe, outBuild []int32 // pairs to be emitted; -1 for no match
	kept               []int32 // semi and anti join: rows to be emitted
}

// row adds a row with its candidates.
func (o *joinOutput) row(r int32, cand []int32) error {
	size := o.w.run.opt.BatchRows
	if o.j.residual == nil && len(cand) > 0 && (o.j.once || o.j.kind == plan.LeftSemi || o.j.kind == plan.LeftAnti) {
		cand = cand[:1]
	}
	for {
		n := min(len(cand), size-len(o.build))
		for _, b := range cand[:n] {
			o.probe, o.build = append(o.probe, r), append(o.build, b)
		}
		cand = cand[n:]
		o.rows, o.ends, o.open = append(o.rows, r), append(o.ends, int32(len(o.build))), len(cand) > 0
		if len(o.build) >= size || len(o.rows) >= 2*size {
			if err := o.check(); err != nil {
				return err
			}
		}
		if len(cand) == 0 {
			return nil
		}
		if err := o.w.ctx.Err(); err != nil {
			return err
		}
	}
}

// check decides about the candidates gathered so far.
func (o *joinOutput) check() error {
	j := o.j
	var pass columnar.Bitmap // nil: all
	if j.residual != nil && len(o.build) > 0 {
		c, err := j.residual.Eval(o.ctx, o.pairs(j.residual))
		if err != nil {
			return operatorError("join", err)
		}
		pass = trueRows(c)
		if j.nullAware { // a comparison with null may be true
			pass = complement(falseRows(c), len(o.build))
		}
	}
	at := int32(0)
	for k, r := range o.rows {
		hit := k == 0 && o.hit
		for ; at < o.ends[k]; at++ {
			if pass != nil && !pass.Get(int(at)) || hit && j.once {
				continue
			}
			hit = true
			if o.local.matched != nil {
				o.local.matched.Set(int(o.build[at]))
			}
			switch j.kind {
			case plan.LeftSemi, plan.LeftAnti:
			default:
				o.outProbe, o.outBuild = append(o.outProbe, r), append(o.outBuild, o.build[at])
			}
		}
		if k == len(o.rows)-1 && o.open {
			o.hit = hit
			break
		}
		o.hit = false
		switch {
		case j.kind == plan.LeftSemi && hit, j.kind == plan.LeftAnti && !hit:
			o.kept = append(o.kept, r)
		case !hit && (j.kind == plan.LeftJoin || j.kind == plan.FullJoin):
			o.outProbe, o.outBuild = append(o.outProbe, r), append(o.outBuild, -1)
		}
	}
	o.probe, o.build, o.rows, o.ends = o.probe[:0], o.build[:0], o.rows[:0], o.ends[:0]
	if len(o.outProbe) >= o.w.run.opt.BatchRows {
		return o.emit()
	}
	return nil
}

// falseRows are the rows where a BOOLEAN column is false.
func falseRows(c *columnar.Column) columnar.Bitmap {
	if c.Type.Kind == columnar.KindNull {
		return columnar.NewBitmap(c.Len)
	}
	return columnar.And(complement(c.Bits, c.Len), c.Valid)
}

// pairs are the candidates as rows of both sides, with the columns that e refers to.
func (o *joinOutput) pairs(e expr.Expr) *columnar.Batch {
	cols := make([]*columnar.Column, o.j.width+len(o.j.build.rows.Columns))
	expr.Walk(e, func(x expr.Expr) bool {
		if r, ok := x.(*expr.Ref); ok && cols[r.Index] == nil {
			if r.Index < o.j.width {
				cols[r.Index] = columnar.Take(o.in.Columns[r.Index], o.probe)
			} else {
				cols[r.Index] = columnar.Take(o.j.build.rows.Columns[r.Index-o.j.width], o.build)
			}
		}
		return true
	})
	return columnar.NewBatch(nil, cols, len(o.build))
}

// emit pushes the pairs.
func (o *joinOutput) emit() error {
	n := len(o.outProbe)
	if n == 0 {
		return nil
	}
	cols := make([]*columnar.Column, 0, len(o.j.schema.Fields))
	for _, p := range o.j.keepProbe {
		cols = append(cols, columnar.Take(o.in.Columns[p], o.outProbe))
	}
	for _, p := range o.j.keepBuild {
		cols = append(cols, columnar.Take(o.j.build.rows.Columns[p], o.outBuild))
	}
	o.outProbe, o.outBuild = o.outProbe[:0], o.outBuild[:0]
	return o.w.pushPieces(o.step+1, columnar.NewBatch(o.j.schema, cols, n))
}

// finish decides about the rest and emits it.
func (o *joinOutput) finish() error {
	if err := o.check(); err != nil {
		return err
	}
	if o.j.kind == plan.LeftSemi || o.j.kind == plan.LeftAnti {
		rows := pick(o.j.schema, o.in, o.j.keepProbe)
		if len(o.kept) < o.in.Rows {
			rows = columnar.TakeBatch(rows, o.kept)
		}
		return o.w.push(o.step+1, rows)
	}
	return o.emit()
}

// unmatchedRows gives the rows of the built side that nothing has matched, after all rows have passed.
type unmatchedRows struct{ j *joinProbe }

func (u *unmatchedRows) forget(int) {}

func (u *unmatchedRows) each(r *run, emit func(morsel) error) error {
	b := u.j.build
	idx := complement(b.matched, b.rows.Rows).Indices(nil, b.rows.Rows)
	for len(idx) > 0 {
		n := min(len(idx), r.opt.BatchRows)
		cols := make([]*columnar.Column, 0, len(u.j.schema.Fields))
		for _, p := range u.j.keepProbe {
			cols = append(cols, columnar.NewNull(u.j.probeTypes[p], n))
		}
		for _, p := range u.j.keepBuild {
			cols = append(cols, columnar.Take(b.rows.Columns[p], idx[:n]))
		}
		if err := emit(morsel{rows: columnar.NewBatch(u.j.schema, cols, n)}); err != nil {
			return err
		}
		idx = idx[n:]
	}
	return nil
}
