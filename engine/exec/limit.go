package exec

import (
	"encoding/binary"
	"math"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/state"
)

// limit keeps count rows after the first offset. Over rows that a stream only adds to, it counts over the whole life of
// the query, in the state; behind an aggregation in complete mode it takes the first rows of each batch.
type limit struct {
	id            int
	opt           *Options
	input         *pipe
	count, offset int64
	store         *state.Store
}

func (c *compiler) limit(n *plan.Limit, need attrSet) (*pipe, error) {
	in, err := c.compileFor(true, n.Child, need)
	if err != nil {
		return nil, err
	}
	l := &limit{id: n.ID, opt: c.opt, input: in, count: n.Count, offset: n.Offset}
	if l.count < 0 {
		l.count = math.MaxInt64
	}
	if c.opt.Streaming && !in.static && n.ID >= 0 && (c.opt.Mode == connector.Append || !plan.Aggregates(n.Child)) {
		if l.store, err = c.store(n.ID, "limit", "limit", "", "count BIGINT NOT NULL", false, false); err != nil {
			return nil, err
		}
		c.q.stateful = append(c.q.stateful, l)
	}
	return &pipe{branches: []*branch{{source: l}}, attrs: in.attrs, static: in.static, lag: in.lag}, nil
}

func (l *limit) info() OperatorInfo {
	return OperatorInfo{ID: l.id, Name: "globalLimit", Stores: []string{l.store.Spec().Name}, ValueSchema: "count BIGINT NOT NULL"}
}

func (l *limit) stats(r *run) OperatorStats {
	s := *r.ops[l]
	s.RowsTotal, s.MemoryBytes = l.store.Rows(), l.store.MemoryUsed()
	return s
}

func (l *limit) forget(rel int) { l.input.forget(rel) }

func (l *limit) each(r *run, emit func(morsel) error) error {
	skip, left := l.offset, l.count
	seen := int64(0)
	if l.store != nil {
		if err := r.gate(); err != nil {
			return err
		}
		seen = l.load()
		left -= min(seen, left)
	}
	passed := int64(0)
	s := sink{take: func(item any) error {
		rows := item.(*columnar.Batch)
		if n := min(skip, int64(rows.Rows)); n > 0 {
			skip -= n
			rows = rows.Slice(int(n), rows.Rows)
		}
		if int64(rows.Rows) > left {
			rows = rows.Slice(0, int(left))
		}
		left -= int64(rows.Rows)
		passed += int64(rows.Rows)
		if rows.Rows > 0 {
			if err := emit(morsel{rows: rows}); err != nil {
				return err
			}
		}
		// A stream is read to its end all the same: its rows move the watermark.
		if left == 0 && (!l.opt.Streaming || l.input.static) {
			return errEnough
		}
		return nil
	}}
	if left == 0 && !l.opt.Streaming {
		return nil
	}
	if err := r.drive(l.input, s); err != nil {
		return err
	}
	if l.store != nil {
		l.save(r, seen, passed)
	}
	return nil
}

// part is where the only entry lies.
func (l *limit) part() (*state.Part, uint64) {
	h := columnar.HashBytes(nil)
	return l.store.Part(columnar.Bucket(h) % l.opt.Partitions), h
}

func (l *limit) load() int64 {
	p, h := l.part()
	v, ok := p.Get(h, nil)
	if !ok || len(v) != 9 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(v[1:]))
}

func (l *limit) save(r *run, seen, passed int64) {
	p, h := l.part()
	if passed == 0 {
		return
	}
	v := binary.LittleEndian.AppendUint64([]byte{1}, uint64(seen+passed))
	p.Put(h, nil, v, state.NoExpiry)
	r.count(l, func(s *OperatorStats) { s.RowsUpdated++ })
}
