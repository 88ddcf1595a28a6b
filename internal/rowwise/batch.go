package rowwise

// Mode is the output mode of a query.
type Mode string

// The output modes.
const (
	Append   Mode = "append"
	Update   Mode = "update"
	Complete Mode = "complete"
)

// Batch is what operators see of the batch that runs.
type Batch struct {
	Late  Time             // rows at or below it are late
	Evict Time             // state that ends at or below it is final
	Rows  map[string][]Row // what sources were given, by name; nothing in a batch without data
	late  int
}

// drop counts a late row.
func (b *Batch) drop() { b.late++ }

// Node is an operator of a query.
type Node interface {
	// Run gives the rows of a batch.
	Run(b *Batch) []Row
	// State is the number of rows that the operator and those below it keep.
	State() int
	// Driven says whether a moved watermark asks for a batch without data.
	Driven() bool
}

// Map computes a row of each row.
type Map struct {
	In Node
	To func(Row) Row
}

// Run implements Node.
func (m *Map) Run(b *Batch) []Row {
	var out []Row
	for _, r := range m.In.Run(b) {
		out = append(out, m.To(r))
	}
	return out
}

// State implements Node.
func (m *Map) State() int { return m.In.State() }

// Driven implements Node.
func (m *Map) Driven() bool { return m.In.Driven() }

// Union is all rows of its inputs, one input after the other.
type Union struct{ In []Node }

// Run implements Node.
func (u *Union) Run(b *Batch) []Row {
	var out []Row
	for _, n := range u.In {
		out = append(out, n.Run(b)...)
	}
	return out
}

// State implements Node.
func (u *Union) State() int {
	n := 0
	for _, in := range u.In {
		n += in.State()
	}
	return n
}

// Driven implements Node.
func (u *Union) Driven() bool {
	for _, in := range u.In {
		if in.Driven() {
			return true
		}
	}
	return false
}

// Source is a stream with or without a watermark.
type Source struct {
	Name   string
	Time   int              // the event time's position
	Delay  Time             // of the watermark
	Marked bool             // whether there is one
	Below  []func(Row) bool // filters that take rows before the watermark sees them
	max    Time
	seen   bool
}

// Run implements Node.
func (s *Source) Run(b *Batch) []Row {
	var out []Row
next:
	for _, r := range b.Rows[s.Name] {
		for _, keep := range s.Below {
			if !keep(r) {
				continue next
			}
		}
		if t, ok := timeOf(r, s.Time); ok && (!s.seen || t > s.max) {
			s.max, s.seen = t, true
		}
		out = append(out, r)
	}
	return out
}

// State implements Node.
func (s *Source) State() int { return 0 }

// Driven implements Node.
func (s *Source) Driven() bool { return false }

// watermark is where the source would have the watermark.
func (s *Source) watermark() Time {
	if !s.seen {
		return 0
	}
	t := s.max / Millisecond * Millisecond
	return max(0, t-s.Delay)
}
