package rowwise

// Kind is the kind of a join.
type Kind string

// The kinds of joins of two streams.
const (
	Inner Kind = "JOIN"
	Left  Kind = "LEFT JOIN"
	Right Kind = "RIGHT JOIN"
	Full  Kind = "FULL JOIN"
	Semi  Kind = "LEFT SEMI JOIN"
)

// Join joins two streams. A row of its output is the left row and the right row, or the left row alone for Semi.
type Join struct {
	Kind        Kind
	Left, Right Node
	Time        [2]int  // position of the event time of each side
	Marked      [2]bool // whether it has a watermark
	Width       [2]int  // columns of each side
	Match       func(l, r Row) bool
	// Done says from which watermark on a row of a side matches nothing that may still come; false is never.
	Done [2]func(Row) (Time, bool)
	// Evicts says whether rows of a side are ever done.
	Evicts bool
	state  [2][]*kept
}

type kept struct {
	row     Row
	matched bool
}

// Run implements Node.
func (j *Join) Run(b *Batch) []Row {
	var out []Row
	in := [2][]Row{j.Left.Run(b), j.Right.Run(b)}
	for side, rows := range in {
		for _, r := range rows {
			if t, ok := timeOf(r, j.Time[side]); ok && j.Marked[side] && t <= b.Late {
				b.drop()
				continue
			}
			mine := &kept{row: r}
			for _, other := range j.state[1-side] {
				l, rr := mine, other
				if side == 1 {
					l, rr = other, mine
				}
				if j.Kind == Semi && l.matched || !j.Match(l.row, rr.row) {
					continue
				}
				l.matched, rr.matched = true, true
				if j.Kind == Semi {
					out = append(out, l.row)
				} else {
					out = append(out, append(append(Row{}, l.row...), rr.row...))
				}
			}
			if j.Kind == Semi && side == 0 && mine.matched {
				continue
			}
			if w, ok := j.Done[side](r); ok && b.Evict >= w {
				out = j.unmatched(out, side, mine)
				continue
			}
			j.state[side] = append(j.state[side], mine)
		}
	}
	for side := range j.state {
		var keep []*kept
		for _, x := range j.state[side] {
			if j.Kind == Semi && side == 0 && x.matched {
				continue
			}
			if w, ok := j.Done[side](x.row); ok && b.Evict >= w {
				out = j.unmatched(out, side, x)
				continue
			}
			keep = append(keep, x)
		}
		j.state[side] = keep
	}
	return out
}

// unmatched emits a row that goes, if it is preserved and has matched nothing.
func (j *Join) unmatched(out []Row, side int, x *kept) []Row {
	if x.matched || !(j.Kind == Full || j.Kind == Left && side == 0 || j.Kind == Right && side == 1) {
		return out
	}
	if side == 0 {
		return append(out, append(append(Row{}, x.row...), make(Row, j.Width[1])...))
	}
	return append(out, append(make(Row, j.Width[0]), x.row...))
}

// State implements Node.
func (j *Join) State() int {
	return len(j.state[0]) + len(j.state[1]) + j.Left.State() + j.Right.State()
}

// Driven implements Node.
func (j *Join) Driven() bool {
	return j.Evicts || j.Left.Driven() || j.Right.Driven()
}
