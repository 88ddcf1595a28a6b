package rowwise_test

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/wstream/wstream/internal/rowwise"
)

const (
	second = 1000 * rowwise.Millisecond
	minute = 60 * second
)

// question is a random query, as text for the engine and as nodes for the evaluator, and its input.
type question struct {
	rnd     *rand.Rand
	sources []string // names
	marked  map[string]bool
	delay   map[string]rowwise.Time
	views   []string // YAML
	mode    rowwise.Mode
	max     bool
	columns []string // of the result
	build   func() *rowwise.Query
	steps   []step
	orderly bool // no row comes late
	// timeless says that the aggregation does not use ts.
	timeless bool
	first    bool // which rows come first matters
	known    [2]bool
}

// step is the input of one step, or a restart.
type step struct {
	restart bool
	rows    map[string][]rowwise.Row
}

// stream is a relation in the making: its name, the node that computes it, and where its columns are.
type stream struct {
	name   string
	node   func(map[string]*rowwise.Source) rowwise.Node
	marked bool // ts has a watermark
}

func (q *question) one(of ...string) string { return of[q.rnd.Intn(len(of))] }

func (q *question) chance(percent int) bool { return q.rnd.Intn(100) < percent }

func (q *question) view(name, sql string) {
	q.views = append(q.views, fmt.Sprintf("    %s:\n      sql: %q\n", name, sql))
}

func (q *question) steps2(name, from string, lines ...string) {
	q.views = append(q.views, fmt.Sprintf("    %s:\n      from: %s\n      steps:\n        - %s\n", name, from, strings.Join(lines, "\n        - ")))
}

// ask makes a question of a seed.
func ask(seed int64) *question {
	q := &question{rnd: rand.New(rand.NewSource(seed)), marked: map[string]bool{}, delay: map[string]rowwise.Time{}}
	q.mode = []rowwise.Mode{rowwise.Append, rowwise.Append, rowwise.Update, rowwise.Complete}[q.rnd.Intn(4)]
	q.orderly = q.chance(30)
	q.sources = []string{"a"}
	two := q.chance(45)
	if two {
		q.sources = append(q.sources, "b")
		q.max = q.chance(25)
	}
	for _, s := range q.sources {
		q.marked[s] = q.mode == rowwise.Append || q.chance(60)
		q.delay[s] = rowwise.Time(q.rnd.Intn(5)) * 2 * minute
		if q.chance(20) {
			q.delay[s] += rowwise.Time(q.rnd.Intn(1000)) * rowwise.Millisecond
		}
		if q.orderly {
			q.delay[s] = 40 * minute
		}
	}
	if two && q.marked["a"] != q.marked["b"] {
		q.marked["b"] = q.marked["a"]
	}
	q.query(two)
	q.input()
	return q
}

// query chooses the pipeline.
func (q *question) query(two bool) {
	var in []stream
	below := map[string][]func(rowwise.Row) bool{}
	for _, s := range q.sources {
		from := s
		if q.chance(25) {
			least := int64(q.rnd.Intn(4))
			q.view(s+"_filtered", fmt.Sprintf("SELECT * FROM %s WHERE v > %d", s, least))
			below[s] = append(below[s], func(r rowwise.Row) bool { v, ok := r[2].(int64); return ok && v > least })
			from = s + "_filtered"
		}
		if q.marked[s] {
			q.steps2(s+"_marked", from, fmt.Sprintf("watermark: {column: ts, delay: %d milliseconds}", q.delay[s]/rowwise.Millisecond))
			from = s + "_marked"
		}
		if q.chance(20) { // behind the watermark, where it goes below all the same
			q.view(s+"_known", fmt.Sprintf("SELECT * FROM %s WHERE k <> 'x'", from))
			below[s] = append(below[s], func(r rowwise.Row) bool { k, ok := r[1].(string); return ok && k != "x" })
			from = s + "_known"
			if s == "a" {
				q.known[0] = true
			} else {
				q.known[1] = true
			}
		}
		in = append(in, stream{from, func(m map[string]*rowwise.Source) rowwise.Node { return m[s] }, q.marked[s]})
	}
	var root func(map[string]*rowwise.Source) rowwise.Node
	base := in[0]
	switch {
	case two && q.mode != rowwise.Complete && q.chance(60):
		if q.mode == rowwise.Append && q.chance(25) {
			base = q.joinForMore(in, below)
			root = q.final(base)
			break
		}
		root = q.join(in, below)
	case two:
		base = stream{"united", func(m map[string]*rowwise.Source) rowwise.Node {
			return &rowwise.Union{In: []rowwise.Node{in[0].node(m), in[1].node(m)}}
		}, in[0].marked}
		q.view("united", fmt.Sprintf("SELECT ts, k, v FROM %s UNION ALL SELECT ts, k, v FROM %s", in[0].name, in[1].name))
		root = q.final(base)
	default:
		root = q.final(base)
	}
	q.build = func() *rowwise.Query {
		m := map[string]*rowwise.Source{}
		out := &rowwise.Query{MaxMark: q.max}
		for _, s := range q.sources {
			m[s] = &rowwise.Source{Name: s, Delay: q.delay[s], Marked: q.marked[s], Below: below[s]}
			out.Sources = append(out.Sources, m[s])
		}
		out.Root = root(m)
		return out
	}
}

// final puts a deduplication or nothing, and an aggregation or nothing, over a stream of ts, k and v.
func (q *question) final(s stream) func(map[string]*rowwise.Source) rowwise.Node {
	dedups := 0
	if q.chance(35) {
		s = q.dedup(s)
		dedups++
	}
	switch {
	case q.mode != rowwise.Complete && (!s.marked && q.mode == rowwise.Append || q.chance(20)):
		if dedups == 0 {
			s = q.dedup(s)
		}
		q.view("result", "SELECT ts, k, v FROM "+s.name)
		q.columns = []string{"ts", "k", "v"}
		return s.node
	case s.marked && q.mode == rowwise.Append && q.chance(30):
		return q.chain(s)
	case q.mode != rowwise.Update && (s.marked || q.mode == rowwise.Complete) && q.chance(30):
		return q.session(s)
	case q.mode != rowwise.Append && q.chance(30):
		return q.plain(s)
	}
	return q.windows(s)
}

func (q *question) dedup(s stream) stream {
	var keys []int
	var names []string
	for i, n := range []string{"ts", "k", "v"} {
		if q.chance(60) {
			keys, names = append(keys, i), append(names, n)
		}
	}
	if len(keys) == 0 {
		keys, names = []int{1}, []string{"k"}
	}
	q.first = q.first || len(keys) < 3
	within := s.marked && q.chance(50) && !q.joined(s)
	word := "dropDuplicates"
	delay := rowwise.Time(0)
	if within {
		word = "dropDuplicatesWithinWatermark"
		delay = q.delay["a"]
		if s.name == "united" {
			q.delay["b"] = q.delay["a"] // whose delay of the two counts is no question for here
			for i, v := range q.views {
				if strings.HasPrefix(v, "    b_marked:") {
					q.views[i] = fmt.Sprintf("    b_marked:\n      from: %s\n      steps:\n        - watermark: {column: ts, delay: %d milliseconds}\n", strings.TrimSpace(strings.Split(strings.Split(v, "from: ")[1], "\n")[0]), q.delay["b"]/rowwise.Millisecond)
				}
			}
		}
	}
	name := "unique"
	q.steps2(name, s.name, fmt.Sprintf("%s: [%s]", word, strings.Join(names, ", ")))
	return stream{name, func(m map[string]*rowwise.Source) rowwise.Node {
		// A time that nobody above asks for is not read, so that no row is late by it.
		marked := s.marked && (within || !q.timeless || keys[0] == 0)
		return &rowwise.Dedup{In: s.node(m), Marked: marked, Keys: keys, Within: within, Delay: delay}
	}, s.marked}
}

func (q *question) joined(s stream) bool { return s.name == "joined" }

// aggregates chooses aggregates of v in the given column.
func (q *question) aggregates(at int) (text []string, names []string, aggs []rowwise.Agg) {
	all := []struct {
		sql string
		agg rowwise.Agg
	}{
		{"count(*)", rowwise.Count},
		{"count(v)", rowwise.CountOf(at)},
		{"sum(v)", rowwise.Sum(at)},
		{"avg(v)", rowwise.Avg(at)},
		{"min(v)", rowwise.Least(at, false)},
		{"max(v)", rowwise.Least(at, true)},
		{"sort_array(collect_list(v))", rowwise.SortedList(at)},
		{"max(k)", rowwise.MaxText(at - 1)},
	}
	for n := 1 + q.rnd.Intn(3); n > 0; n-- {
		x := all[q.rnd.Intn(len(all))]
		name := fmt.Sprintf("x%d", len(names))
		text, names, aggs = append(text, x.sql+" AS "+name), append(names, name), append(aggs, x.agg)
	}
	return text, names, aggs
}

// windowText chooses a window.
func (q *question) windowText() (args string, size, slide, start rowwise.Time) {
	size = rowwise.Time(1+q.rnd.Intn(12)) * minute
	slide = size
	args = fmt.Sprintf("'%d seconds'", size/second)
	if q.chance(40) {
		slide = max(second, size/rowwise.Time(1+q.rnd.Intn(3))/second*second)
		if q.chance(30) {
			slide = max(30*second, rowwise.Time(1+q.rnd.Int63n(int64(size/second)))*second)
		}
		args += fmt.Sprintf(", '%d seconds'", slide/second)
		if q.chance(30) {
			start = rowwise.Time(q.rnd.Int63n(int64(slide/second))) * second
			args += fmt.Sprintf(", '%d seconds'", start/second)
		}
	}
	return args, size, slide, start
}

func (q *question) windows(s stream) func(map[string]*rowwise.Source) rowwise.Node {
	args, size, slide, start := q.windowText()
	text, names, aggs := q.aggregates(2)
	a := rowwise.Aggregate{Mode: q.mode, Size: size, Slide: slide, Start: start, Marked: s.marked, Aggs: aggs}
	head, by := []string{"window.start AS s", "window.end AS e"}, []string{"window(ts, " + args + ")"}
	q.columns = []string{"s", "e"}
	if q.chance(12) {
		a.ByTime, a.Size = true, 0
		head, by, q.columns = []string{"ts"}, []string{"ts"}, []string{"ts"}
	}
	if q.chance(60) {
		a.Keys = []int{1}
		head, by, q.columns = append(head, "k"), append(by, "k"), append(q.columns, "k")
	}
	q.columns = append(q.columns, names...)
	q.view("result", fmt.Sprintf("SELECT %s FROM %s GROUP BY %s", strings.Join(append(head, text...), ", "), s.name, strings.Join(by, ", ")))
	return func(m map[string]*rowwise.Source) rowwise.Node {
		c := a
		c.In = s.node(m)
		return &c
	}
}

func (q *question) plain(s stream) func(map[string]*rowwise.Source) rowwise.Node {
	text, names, aggs := q.aggregates(2)
	q.timeless = true
	q.columns = append([]string{"k"}, names...)
	q.view("result", fmt.Sprintf("SELECT k, %s FROM %s GROUP BY k", strings.Join(text, ", "), s.name))
	return func(m map[string]*rowwise.Source) rowwise.Node {
		return &rowwise.Aggregate{In: s.node(m), Mode: q.mode, Time: -1, Keys: []int{1}, Aggs: aggs}
	}
}

func (q *question) session(s stream) func(map[string]*rowwise.Source) rowwise.Node {
	gap := rowwise.Time(1+q.rnd.Intn(8)) * minute
	sql := fmt.Sprintf("'%d seconds'", gap/second)
	fn := func(rowwise.Row) (rowwise.Time, bool) { return gap, true }
	if q.chance(30) {
		sql = fmt.Sprintf("CASE WHEN v > 2 THEN '%d seconds' WHEN v = 0 THEN '0 seconds' WHEN v = 1 THEN '1 minute' END", gap/second)
		fn = func(r rowwise.Row) (rowwise.Time, bool) {
			switch v, ok := r[2].(int64); {
			case ok && v > 2:
				return gap, true
			case ok && v == 0:
				return 0, true
			case ok && v == 1:
				return minute, true
			}
			return 0, false
		}
	}
	text, names, aggs := q.aggregates(2)
	q.columns = append([]string{"s", "e", "k"}, names...)
	q.view("result", fmt.Sprintf("SELECT session_window.start AS s, session_window.end AS e, k, %s FROM %s GROUP BY session_window(ts, %s), k", strings.Join(text, ", "), s.name, sql))
	return func(m map[string]*rowwise.Source) rowwise.Node {
		return &rowwise.Session{In: s.node(m), Mode: q.mode, Gap: fn, Marked: s.marked, Keys: []int{1}, Aggs: aggs}
	}
}

// chain puts windows, sessions or a deduplication over windows.
func (q *question) chain(s stream) func(map[string]*rowwise.Source) rowwise.Node {
	args, size, slide, start := q.windowText()
	q.view("first", fmt.Sprintf("SELECT window_time(window) AS ts, k, v FROM (SELECT window, k, count(*) AS v FROM %s GROUP BY window(ts, %s), k)", s.name, args))
	first := stream{"first", func(m map[string]*rowwise.Source) rowwise.Node {
		return &rowwise.Map{
			In: &rowwise.Aggregate{In: s.node(m), Mode: q.mode, Size: size, Slide: slide, Start: start, Marked: true, Keys: []int{1}, Aggs: []rowwise.Agg{rowwise.Count}},
			To: func(r rowwise.Row) rowwise.Row { return rowwise.Row{r[1].(rowwise.Time) - 1, r[2], r[3]} },
		}
	}, true}
	switch q.rnd.Intn(3) {
	case 0:
		return q.windows(first)
	case 1:
		return q.session(first)
	}
	// Which of the windows that end together comes first is no question for here, so that k is left out.
	q.view("result", "SELECT ts, v FROM deduplicated")
	q.steps2("deduplicated", "first", "dropDuplicates: [ts, v]")
	q.columns = []string{"ts", "v"}
	return func(m map[string]*rowwise.Source) rowwise.Node {
		return &rowwise.Map{In: &rowwise.Dedup{In: first.node(m), Marked: true, Keys: []int{0, 2}}, To: func(r rowwise.Row) rowwise.Row { return rowwise.Row{r[0], r[2]} }}
	}
}

// notNull adds filters below the watermark that the condition of a join implies.
func notNull(below map[string][]func(rowwise.Row) bool, source string, at ...int) {
	for _, i := range at {
		below[source] = append(below[source], func(r rowwise.Row) bool { return r[i] != nil })
	}
}

// joinForMore joins on equal times and keys, so that the result is a stream as any other.
func (q *question) joinForMore(in []stream, below map[string][]func(rowwise.Row) bool) stream {
	q.view("joined", fmt.Sprintf("SELECT l.ts, l.k, r.v FROM %s l JOIN %s r ON l.k = r.k AND l.ts = r.ts", in[0].name, in[1].name))
	notNull(below, "a", 0, 1)
	notNull(below, "b", 0, 1)
	q.passOn(below, rowwise.Inner)
	return stream{"joined", func(m map[string]*rowwise.Source) rowwise.Node {
		done := func(r rowwise.Row) (rowwise.Time, bool) { return r[0].(rowwise.Time), in[0].marked }
		j := &rowwise.Join{
			Kind: rowwise.Inner, Left: in[0].node(m), Right: in[1].node(m), Marked: [2]bool{in[0].marked, in[1].marked}, Width: [2]int{3, 3},
			Match: func(l, r rowwise.Row) bool { return l[0] == r[0] && l[1] == r[1] }, Done: [2]func(rowwise.Row) (rowwise.Time, bool){done, done}, Evicts: in[0].marked,
		}
		return &rowwise.Map{In: j, To: func(r rowwise.Row) rowwise.Row { return rowwise.Row{r[0], r[1], r[5]} }}
	}, in[0].marked}
}

// passOn gives a condition on the key of one side to the other, as the optimiser does, where no row is lost by it.
func (q *question) passOn(below map[string][]func(rowwise.Row) bool, kind rowwise.Kind) {
	known := func(r rowwise.Row) bool { k, ok := r[1].(string); return ok && k != "x" }
	if q.known[0] && kind != rowwise.Right && kind != rowwise.Full {
		below["b"] = append(below["b"], known)
	}
	if q.known[1] && kind != rowwise.Left && kind != rowwise.Full {
		below["a"] = append(below["a"], known)
	}
}

// join is a join of two streams as the last operator.
func (q *question) join(in []stream, below map[string][]func(rowwise.Row) bool) func(map[string]*rowwise.Source) rowwise.Node {
	kind := rowwise.Inner
	if q.mode == rowwise.Append {
		kind = []rowwise.Kind{rowwise.Inner, rowwise.Left, rowwise.Right, rowwise.Full, rowwise.Semi}[q.rnd.Intn(5)]
	}
	marked := in[0].marked
	on := []string{"l.k = r.k"}
	match := []func(l, r rowwise.Row) bool{func(l, r rowwise.Row) bool { return l[1] != nil && l[1] == r[1] }}
	var needs [2][]int
	needs[0], needs[1] = []int{1}, []int{1}
	var done [2]func(rowwise.Row) (rowwise.Time, bool)
	none := func(rowwise.Row) (rowwise.Time, bool) { return 0, false }
	done[0], done[1] = none, none
	timed := kind != rowwise.Inner || q.chance(75)
	switch {
	case timed && q.chance(40):
		on = append(on, "l.ts = r.ts")
		match = append(match, func(l, r rowwise.Row) bool { return l[0] != nil && l[0] == r[0] })
		same := func(r rowwise.Row) (rowwise.Time, bool) { t, ok := r[0].(rowwise.Time); return t, ok && marked }
		done[0], done[1] = same, same
		needs[0], needs[1] = append(needs[0], 0), append(needs[1], 0)
	case timed:
		lo, hi := -rowwise.Time(q.rnd.Intn(8))*minute, rowwise.Time(q.rnd.Intn(8))*minute
		strict := q.chance(30)
		sign, extra := "=", rowwise.Millisecond
		if strict {
			sign, extra = "", 0
			lo, hi = lo-minute, hi+minute
		}
		upper := kind == rowwise.Inner && q.chance(15)
		on = append(on, fmt.Sprintf("r.ts <%s l.ts + INTERVAL %d SECONDS", sign, hi/second))
		if !upper {
			on = append(on, fmt.Sprintf("r.ts >%s l.ts - INTERVAL %d SECONDS", sign, -lo/second))
		}
		match = append(match, func(l, r rowwise.Row) bool {
			lt, ok := l[0].(rowwise.Time)
			rt, ok2 := r[0].(rowwise.Time)
			if !ok || !ok2 {
				return false
			}
			if strict {
				return rt < lt+hi && (upper || rt > lt+lo)
			}
			return rt <= lt+hi && (upper || rt >= lt+lo)
		})
		done[0] = func(r rowwise.Row) (rowwise.Time, bool) {
			t, ok := r[0].(rowwise.Time)
			return t + hi + extra, ok && marked
		}
		if !upper {
			done[1] = func(r rowwise.Row) (rowwise.Time, bool) {
				t, ok := r[0].(rowwise.Time)
				return t - lo + extra, ok && marked
			}
		}
		needs[0], needs[1] = append(needs[0], 0), append(needs[1], 0)
	}
	if q.chance(25) {
		on = append(on, "l.v <> r.v")
		match = append(match, func(l, r rowwise.Row) bool { return l[2] != nil && r[2] != nil && l[2] != r[2] })
		needs[0], needs[1] = append(needs[0], 2), append(needs[1], 2)
	}
	q.passOn(below, kind)
	if kind == rowwise.Inner || kind == rowwise.Semi || kind == rowwise.Right {
		notNull(below, "a", needs[0]...)
	}
	if kind == rowwise.Inner || kind == rowwise.Semi || kind == rowwise.Left {
		notNull(below, "b", needs[1]...)
	}
	columns := "l.ts AS lt, l.k AS lk, l.v AS lv, r.ts AS rt, r.k AS rk, r.v AS rv"
	q.columns = []string{"lt", "lk", "lv", "rt", "rk", "rv"}
	if kind == rowwise.Semi {
		columns, q.columns = "l.ts AS lt, l.k AS lk, l.v AS lv", q.columns[:3]
	}
	q.view("result", fmt.Sprintf("SELECT %s FROM %s l %s %s r ON %s", columns, in[0].name, kind, in[1].name, strings.Join(on, " AND ")))
	return func(m map[string]*rowwise.Source) rowwise.Node {
		return &rowwise.Join{
			Kind: kind, Left: in[0].node(m), Right: in[1].node(m), Marked: [2]bool{marked, marked}, Width: [2]int{3, 3}, Done: done, Evicts: timed && marked,
			Match: func(l, r rowwise.Row) bool {
				for _, f := range match {
					if !f(l, r) {
						return false
					}
				}
				return true
			},
		}
	}
}

// start is where event times begin: 2026-01-01T10:00:00Z.
const start = rowwise.Time(1_767_261_600_000_000)

// input makes the rows: times that go forward with some disorder, few keys, nulls.
func (q *question) input() {
	clock := start
	for n := 3 + q.rnd.Intn(6); n > 0; n-- {
		s := step{rows: map[string][]rowwise.Row{}}
		for _, name := range q.sources {
			if q.chance(15) {
				continue
			}
			for r := q.rnd.Intn(7); r >= 0; r-- {
				s.rows[name] = append(s.rows[name], q.row(clock))
			}
		}
		clock += rowwise.Time(q.rnd.Intn(15)) * minute
		if q.chance(15) {
			clock += rowwise.Time(q.rnd.Intn(60)) * minute
		}
		q.steps = append(q.steps, s)
		if q.chance(20) {
			q.steps = append(q.steps, step{restart: true})
		}
	}
	if q.chance(50) { // everything closes
		s := step{rows: map[string][]rowwise.Row{}}
		for _, name := range q.sources {
			s.rows[name] = []rowwise.Row{{clock + 48*60*minute, "z", int64(9)}}
		}
		q.steps = append(q.steps, s)
	}
}

func (q *question) row(clock rowwise.Time) rowwise.Row {
	r := rowwise.Row{nil, nil, nil}
	t := clock + rowwise.Time(q.rnd.Intn(600))*second
	if !q.orderly {
		t -= rowwise.Time(q.rnd.Intn(1200)) * second
	}
	switch {
	case q.chance(15):
		t = t / (5 * minute) * (5 * minute) // instants at which windows begin, and others fall together
	case q.chance(10):
		t += rowwise.Time(q.rnd.Intn(1_000_000))
	}
	if !q.chance(4) {
		r[0] = t
	}
	if !q.chance(7) {
		r[1] = q.one("x", "y", "z", "y")
	}
	if !q.chance(8) {
		r[2] = int64(q.rnd.Intn(6))
	}
	return r
}
