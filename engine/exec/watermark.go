package exec

import (
	"math/bits"

	"github.com/wstream/wstream/columnar"
)

// watermark observes the event times that pass.
type watermark struct {
	index       int // in Result.Watermarks
	column      int
	window      bool // the column is a window: its end is observed
	byPartition bool
}

// eventTimes are event times as one worker has seen them.
type eventTimes struct {
	count    int64
	max, min int64
	sumHi    uint64 // 128-bit sum
	sumLo    uint64
	part     map[string]int64
}

func (m *watermark) newLocal(*worker) any { return &eventTimes{} }

func (m *watermark) push(w *worker, i int, in *columnar.Batch) error {
	t := w.local[i].(*eventTimes)
	c := in.Columns[m.column]
	if m.window {
		c = c.Children[1].WithValid(columnar.And(c.Valid, c.Children[1].Valid))
	}
	most, ok := t.observe(c)
	if ok && m.byPartition {
		if t.part == nil {
			t.part = map[string]int64{}
		}
		if old, seen := t.part[w.part.id]; !seen || most > old {
			t.part[w.part.id] = most
		}
	}
	return w.push(i+1, in)
}

// observe adds the values of a column and gives the greatest of them.
func (t *eventTimes) observe(c *columnar.Column) (most int64, ok bool) {
	v := columnar.Values[int64](c)
	n, first := 0, true
	lo, hi := int64(0), int64(0)
	sumLo, sumHi := t.sumLo, t.sumHi
	for i, x := range v {
		if c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		if first {
			lo, hi, first = x, x, false
		}
		lo, hi = min(lo, x), max(hi, x)
		var carry uint64
		sumLo, carry = bits.Add64(sumLo, uint64(x), 0)
		sumHi += uint64(x>>63) + carry
		n++
	}
	if n == 0 {
		return 0, false
	}
	t.sumLo, t.sumHi = sumLo, sumHi
	t.merge(int64(n), lo, hi)
	return hi, true
}

func (t *eventTimes) merge(n, lo, hi int64) {
	if t.count == 0 {
		t.min, t.max = lo, hi
	}
	t.min, t.max = min(t.min, lo), max(t.max, hi)
	t.count += n
}

func (m *watermark) close(r *run, local any) error {
	t := local.(*eventTimes)
	if t.count == 0 {
		return nil
	}
	s := &r.res.Watermarks[m.index]
	sum := columnar.Dec128{Lo: t.sumLo, Hi: int64(t.sumHi)}
	total := s.Avg*float64(s.Count) + float64(sum.Hi)*(1<<64) + float64(sum.Lo)
	if s.Count == 0 {
		s.Min, s.Max = t.min, t.max
	}
	s.Min, s.Max = min(s.Min, t.min), max(s.Max, t.max)
	s.Count += t.count
	s.Avg = total / float64(s.Count)
	for id, v := range t.part {
		if s.MaxByPartition == nil {
			s.MaxByPartition = map[string]int64{}
		}
		if old, seen := s.MaxByPartition[id]; !seen || v > old {
			s.MaxByPartition[id] = v
		}
	}
	return nil
}
