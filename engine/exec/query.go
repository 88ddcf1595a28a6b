package exec

import (
	"context"
	"fmt"
	"sync"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
)

// Query is a compiled plan. Run is called by one goroutine at a time.
type Query struct {
	opt       Options
	schema    *columnar.Schema
	root      *pipe
	relations []*plan.Relation
	watermark []*plan.Watermark // by position in Result.Watermarks
	stateful  []stateful        // in order of their plan ID
	closed    bool
}

// Compile makes a query of an optimised plan. It asks Options.State for the stores that the plan
// needs, so that shapes which differ from the checkpoint's are found here.
func Compile(root plan.Node, opt Options) (*Query, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	c := &compiler{q: &Query{opt: opt}, opt: &opt}
	need := attrSet{}
	for _, a := range root.Output() {
		need[a.ID] = true
	}
	p, err := c.compile(root, need)
	if err != nil {
		return nil, err
	}
	if err := c.arrange(p, root.Output()); err != nil {
		return nil, err
	}
	q := c.q
	q.root = p
	q.schema = schemaOf(p.attrs)
	c.order()
	return q, nil
}

// Schema is the schema of the rows that Run emits.
func (q *Query) Schema() *columnar.Schema { return q.schema }

// Operators describes the stateful operators in order of their IDs.
func (q *Query) Operators() []OperatorInfo {
	out := make([]OperatorInfo, len(q.stateful))
	for i, op := range q.stateful {
		out[i] = op.info()
		out[i].Partitions = q.opt.Partitions
	}
	return out
}

// Relations are the plan's leaves that read something, streaming and static, in the order of the
// plan. A relation that a plan reads twice is there twice.
func (q *Query) Relations() []*plan.Relation { return q.relations }

// Refresh forgets what was built of a static relation, so that the next Run reads it again.
func (q *Query) Refresh(rel *plan.Relation) {
	for i, r := range q.relations {
		if r == rel {
			q.root.forget(i)
		}
	}
}

// Run runs one batch. When it fails, nothing may be concluded of how many rows were emitted, and
// the state must be aborted. The result belongs to the caller.
func (q *Query) Run(ctx context.Context, b Batch) (*Result, error) {
	if q.closed {
		return nil, fmt.Errorf("batch %d: the query is closed", b.ID)
	}
	r := q.newRun(ctx, &b)
	defer r.cancel(nil)
	out := &output{r: r}
	err := r.drive(q.root, sink{take: out.take})
	if err == nil {
		err = out.flush()
	}
	if err == nil {
		err = r.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("batch %d: %w", b.ID, err)
	}
	return r.res, nil
}

// Close frees what the query holds. User functions are closed by whoever bound them.
func (q *Query) Close() error {
	q.closed = true
	q.root.forgetAll()
	return nil
}

// stateful is an operator with state.
type stateful interface {
	info() OperatorInfo
	// stats completes the operator's counts after all rows of a run have passed.
	stats(r *run) OperatorStats
}

// run is one call of Query.Run.
type run struct {
	q      *Query
	opt    *Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	batch  *Batch
	res    *Result

	mu     sync.Mutex // over what workers add to: res and ops
	ops    map[stateful]*OperatorStats
	sideMu sync.Mutex // held in calls of Batch.Late and Batch.DeadLetter

	gateOnce sync.Once
	gateErr  error
}

// gate passes Batch.Gate. Everything that touches the state or hands on rows comes after it.
func (r *run) gate() error {
	if r.batch.Gate == nil {
		return nil
	}
	r.gateOnce.Do(func() { r.gateErr = r.batch.Gate(r.ctx) })
	return r.gateErr
}

// aside calls f, which hands on late or refused rows.
func (r *run) aside(f func() error) error {
	if err := r.gate(); err != nil {
		return err
	}
	r.sideMu.Lock()
	defer r.sideMu.Unlock()
	return f()
}

func (q *Query) newRun(ctx context.Context, b *Batch) *run {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{q: q, opt: &q.opt, ctx: ctx, cancel: cancel, batch: b, res: &Result{}, ops: map[stateful]*OperatorStats{}}
	r.res.Inputs = make([]InputStats, len(q.relations))
	for i, rel := range q.relations {
		r.res.Inputs[i].Relation = rel
	}
	r.res.Watermarks = make([]EventTimeStats, len(q.watermark))
	for i, w := range q.watermark {
		r.res.Watermarks[i].ID = w.ID
	}
	for _, op := range q.stateful {
		r.ops[op] = &OperatorStats{}
	}
	return r
}

// finish collects the counts of the operators.
func (r *run) finish() error {
	if err := r.gate(); err != nil {
		return err
	}
	for _, op := range r.q.stateful {
		s := op.stats(r)
		s.ID = op.info().ID
		r.res.Operators = append(r.res.Operators, s)
	}
	return nil
}

// count adds to the counts of an operator.
func (r *run) count(op stateful, f func(*OperatorStats)) {
	r.mu.Lock()
	f(r.ops[op])
	r.mu.Unlock()
}

// exprContext is a context for expressions in partition p, outside of a pipeline.
func (r *run) exprContext(p int) *expr.Context {
	c := r.opt.Expr
	c.BatchTime = r.batch.Time
	c.QueryID, c.BatchID, c.Attempt, c.Watermark = r.opt.QueryID, r.batch.ID, r.batch.Attempt, r.batch.EvictWatermark
	c.Partition = p
	c.Seed = seedOf(r.opt.Expr.Seed, r.batch.ID, p)
	return &c
}

// seedOf mixes the query's seed with batch and partition, so that a replay draws the same numbers.
func seedOf(seed, batch int64, partition int) int64 {
	return int64(columnar.HashUint64(uint64(seed) ^ columnar.HashUint64(uint64(batch)<<20^uint64(partition))))
}

// midway passes the crash points for work that is half done: the first of the partitions has its
// changes in the state, others may not.
func (r *run) midway(partition int) error {
	if partition != 0 {
		return nil
	}
	if r.batch.NoData {
		if err := r.batch.Failpoints.Hit(failpoint.NoDataMid, r.batch.ID); err != nil {
			return err
		}
	}
	return r.batch.Failpoints.Hit(failpoint.OpMid, r.batch.ID)
}
