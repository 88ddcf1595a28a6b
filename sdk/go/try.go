package wstream

// Trial is a call outside of the host, for unit tests: what goes in beside the rows. The zero value will do.
type Trial struct {
	Config      map[string]string // what Bind sees
	BatchID     int64
	Watermark   int64
	BatchTime   int64
	First, Last bool
	Commit      bool
}

// Tried is what a function answered.
type Tried struct {
	Rows    int
	Columns []*Column // the output's columns; of a filter one, of which rows stay
	Parents []int32   // the input row that each output row comes from; nil if row for row
	Refused []Refused
}

// Refused is a row that a function refused.
type Refused struct {
	Row, Code int
	Text      string
}

// Try calls a function with columns that were built for it, as the host would, and gives what it answers. It goes through
// the bytes of a frame in both directions. What a function asks of the host is denied, as the host does by default.
func (t Trial) Try(f Function, input ...*Builder) (*Tried, error) {
	call := f.Call
	if f.Bind != nil {
		config := t.Config
		if config == nil {
			config = map[string]string{}
		}
		h, err := f.Bind(&Bind{Function: f.Name, Config: config, TimeZone: "UTC"})
		if err != nil {
			return nil, err
		}
		call = h
	}
	in := &Call{out: input, BatchID: t.BatchID, Watermark: t.Watermark, BatchTime: t.BatchTime}
	if t.First {
		in.flags |= flagFirst
	}
	if t.Last {
		in.flags |= flagLast
	}
	if t.Commit {
		in.op = opCommit
	}
	c := decode(in.encode(nil))
	if err := call(c); err != nil {
		return nil, err
	}
	out := decode(c.encode(nil))
	r := &Tried{Rows: out.rows, Columns: out.columns}
	for _, s := range out.sections {
		switch s.id {
		case sectionParents:
			r.Parents = append([]int32{}, view[int32](s.columns[0].data)...)
		case sectionErrors:
			for i := range s.rows {
				r.Refused = append(r.Refused, Refused{int(s.columns[0].Int32(i)), int(s.columns[1].Int32(i)), s.columns[2].String(i)})
			}
		}
	}
	return r, nil
}
