package rowwise

// Query is a whole query: what it reads, what it computes, and how far it has come.
type Query struct {
	Sources []*Source
	Root    Node
	MaxMark bool // the greatest of several watermarks counts, not the least
	before  Time // watermark of the batch before
	now     Time // watermark of the next batch
}

// Result is what a step gave.
type Result struct {
	Rows      []Row
	Watermark Time
	Late      int
	State     int
	Batches   int
}

// Step gives rows to the sources and runs batches until nothing is left to do.
func (q *Query) Step(in map[string][]Row) Result {
	res := Result{Watermark: q.now}
	n := 0
	for _, rows := range in {
		n += len(rows)
	}
	if n == 0 {
		res.State = q.Root.State()
		return res
	}
	moved := q.run(in, &res)
	if moved && q.Root.Driven() {
		q.run(nil, &res)
	}
	res.Watermark, res.State = q.now, q.Root.State()
	return res
}

// run runs one batch and says whether it moved the watermark.
func (q *Query) run(in map[string][]Row, res *Result) bool {
	b := &Batch{Late: q.before, Evict: q.now, Rows: in}
	res.Rows = append(res.Rows, q.Root.Run(b)...)
	res.Late += b.late
	res.Batches++
	mark, any := Time(0), false
	for _, s := range q.Sources {
		if !s.Marked {
			continue
		}
		w := s.watermark()
		if !any || (w > mark) == q.MaxMark {
			mark = w
		}
		any = true
	}
	q.before = q.now
	q.now = max(q.now, mark)
	return q.now > q.before
}
