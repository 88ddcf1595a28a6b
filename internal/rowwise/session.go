package rowwise

import "sort"

// Session groups rows of a key that lie no further apart than a gap. A row of its output is start and end of the session,
// the keys, and the aggregates.
type Session struct {
	In     Node
	Mode   Mode
	Time   int
	Gap    func(Row) (Time, bool) // false for null
	Marked bool
	Keys   []int
	Aggs   []Agg
	open   map[string][]*session
}

type session struct {
	start, end Time
	keys       Row
	rows       []Row
}

// Run implements Node.
func (s *Session) Run(b *Batch) []Row {
	if s.open == nil {
		s.open = map[string][]*session{}
	}
	for _, r := range s.In.Run(b) {
		t, ok := timeOf(r, s.Time)
		gap, has := s.Gap(r)
		if !ok || !has || gap <= 0 {
			continue
		}
		if s.Marked && t+gap <= b.Late { // in complete mode too
			b.drop()
			continue
		}
		k := r.Key(s.Keys)
		one := &session{start: t, end: t + gap, rows: []Row{r}}
		for _, at := range s.Keys {
			one.keys = append(one.keys, r[at])
		}
		s.open[k] = merged(append(s.open[k], one))
	}
	var out []Row
	for _, k := range sortedKeys(s.open) {
		var keep []*session
		for _, x := range s.open[k] {
			final := s.Marked && x.end <= b.Evict
			if s.Mode == Complete || s.Mode == Append && final {
				row := append(Row{x.start, x.end}, x.keys...)
				for _, f := range s.Aggs {
					row = append(row, f(x.rows))
				}
				out = append(out, row)
			}
			if s.Mode == Complete || !final {
				keep = append(keep, x)
			}
		}
		s.open[k] = keep
	}
	return out
}

// merged joins sessions that touch.
func merged(in []*session) []*session {
	sort.SliceStable(in, func(i, j int) bool { return in[i].start < in[j].start })
	var out []*session
	for _, x := range in {
		if n := len(out); n > 0 && x.start <= out[n-1].end {
			last := out[n-1]
			last.end = max(last.end, x.end)
			last.rows = append(last.rows, x.rows...)
			continue
		}
		out = append(out, x)
	}
	return out
}

// State implements Node.
func (s *Session) State() int {
	n := s.In.State()
	for _, x := range s.open {
		n += len(x)
	}
	return n
}

// Driven implements Node.
func (s *Session) Driven() bool { return s.Mode != Complete || s.In.Driven() }
