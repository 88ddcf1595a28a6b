package rowwise

import (
	"sort"
	"strings"
)

// Aggregate groups rows by a window of their time, by columns, or by both. A row of its output is start and end of the
// window, if there is one, the columns, and the aggregates.
type Aggregate struct {
	In    Node
	Mode  Mode
	Time  int  // position of the event time; it may also be the end of a window less a microsecond
	Size  Time // length of windows, 0 for none
	Slide Time
	Start Time
	// ByTime groups by the event time itself instead of windows of it.
	ByTime bool
	// Marked says whether the time has a watermark.
	Marked bool
	Keys   []int
	Aggs   []Agg
	groups map[string]*group
}

type group struct {
	head Row
	end  Time
	rows []Row
}

// Agg is an aggregate: a function of all rows of a group.
type Agg func(rows []Row) any

// windowsOf are the starts of the windows that hold an instant, latest first.
func (a *Aggregate) windowsOf(t Time) []Time {
	var out []Time
	first := t - ((t-a.Start)%a.Slide+a.Slide)%a.Slide
	for s := first; s+a.Size > t; s -= a.Slide {
		out = append(out, s)
	}
	return out
}

// Run implements Node.
func (a *Aggregate) Run(b *Batch) []Row {
	if a.groups == nil {
		a.groups = map[string]*group{}
	}
	touched := map[string]bool{}
	add := func(end Time, timed bool, head Row, r Row) {
		if timed && a.Marked && a.Mode != Complete && end <= b.Late {
			b.drop()
			return
		}
		at := make([]int, len(head))
		for i := range at {
			at[i] = i
		}
		k := head.Key(at)
		g := a.groups[k]
		if g == nil {
			g = &group{head: head, end: end}
			if !timed {
				g.end = 1<<63 - 1
			}
			a.groups[k] = g
		}
		g.rows = append(g.rows, r)
		touched[k] = true
	}
	for _, r := range a.In.Run(b) {
		var keys Row
		for _, k := range a.Keys {
			keys = append(keys, r[k])
		}
		switch t, ok := timeOf(r, max(a.Time, 0)); {
		case a.ByTime:
			add(t, ok, append(Row{r[a.Time]}, keys...), r)
		case a.Size == 0:
			add(0, false, keys, r)
		case ok:
			for _, s := range a.windowsOf(t) {
				add(s+a.Size, true, append(Row{s, s + a.Size}, keys...), r)
			}
		}
	}
	var out []Row
	for _, k := range sortedKeys(a.groups) {
		g := a.groups[k]
		final := a.Marked && g.end <= b.Evict
		if a.Mode == Complete || a.Mode == Update && touched[k] || a.Mode == Append && final {
			row := append(Row{}, g.head...)
			for _, f := range a.Aggs {
				row = append(row, f(g.rows))
			}
			out = append(out, row)
		}
		if final && a.Mode != Complete {
			delete(a.groups, k)
		}
	}
	return out
}

// State implements Node.
func (a *Aggregate) State() int { return len(a.groups) + a.In.State() }

// Driven implements Node.
func (a *Aggregate) Driven() bool { return a.Mode != Complete || a.In.Driven() }

// Count is count(*).
func Count(rows []Row) any { return int64(len(rows)) }

// values are the values of a column that are not null.
func values(rows []Row, at int) []int64 {
	var out []int64
	for _, r := range rows {
		if v, ok := r[at].(int64); ok {
			out = append(out, v)
		}
	}
	return out
}

// CountOf is count(column).
func CountOf(at int) Agg {
	return func(rows []Row) any { return int64(len(values(rows, at))) }
}

// Sum is sum(column), null over nothing.
func Sum(at int) Agg {
	return func(rows []Row) any {
		vs, s := values(rows, at), int64(0)
		if len(vs) == 0 {
			return nil
		}
		for _, v := range vs {
			s += v
		}
		return s
	}
}

// Avg is avg(column).
func Avg(at int) Agg {
	return func(rows []Row) any {
		vs := values(rows, at)
		if len(vs) == 0 {
			return nil
		}
		s := 0.0
		for _, v := range vs {
			s += float64(v)
		}
		return s / float64(len(vs))
	}
}

// Least is min(column), or max(column) if most is set.
func Least(at int, most bool) Agg {
	return func(rows []Row) any {
		vs := values(rows, at)
		if len(vs) == 0 {
			return nil
		}
		best := vs[0]
		for _, v := range vs {
			if (v > best) == most {
				best = v
			}
		}
		return best
	}
}

// SortedList is sort_array(collect_list(column)).
func SortedList(at int) Agg {
	return func(rows []Row) any {
		vs := values(rows, at)
		sort.Slice(vs, func(i, j int) bool { return vs[i] < vs[j] })
		out := []any{}
		for _, v := range vs {
			out = append(out, v)
		}
		return out
	}
}

// MaxText is max(column) of texts.
func MaxText(at int) Agg {
	return func(rows []Row) any {
		var best any
		for _, r := range rows {
			if s, ok := r[at].(string); ok && (best == nil || strings.Compare(s, best.(string)) > 0) {
				best = s
			}
		}
		return best
	}
}
