package reference

// Columns are the three fields of clicks as columns, laid out as Arrow does: the strings one after the other, with their
// ends. It is the plain way of decoding.
type Columns struct {
	TimeUs []int64
	Amount []float64
	// URLs holds the urls, and Ends the end of each in it.
	URLs []byte
	Ends []int32
}

// Decode fills the columns with all lines of b, and forgets what was there.
func (c *Columns) Decode(b []byte) error {
	c.TimeUs, c.Amount, c.URLs, c.Ends = c.TimeUs[:0], c.Amount[:0], c.URLs[:0], c.Ends[:0]
	var row Click
	for p := 0; p < len(b); {
		next, err := ScanClick(b, p, &row)
		if err != nil {
			return err
		}
		p = next
		c.TimeUs = append(c.TimeUs, row.TimeUs)
		c.Amount = append(c.Amount, row.Amount)
		c.URLs = append(c.URLs, row.URL...)
		c.Ends = append(c.Ends, int32(len(c.URLs)))
	}
	return nil
}

// Len is the number of rows.
func (c *Columns) Len() int { return len(c.TimeUs) }

// URL is the url of row i.
func (c *Columns) URL(i int) []byte {
	from := int32(0)
	if i > 0 {
		from = c.Ends[i-1]
	}
	return c.URLs[from:c.Ends[i]]
}

// Group adds all rows to a table, by window and url.
func (c *Columns) Group(t *Table) {
	from := int32(0)
	for i, us := range c.TimeUs {
		t.Add(us-us%WindowUs, c.URLs[from:c.Ends[i]], c.Amount[i])
		from = c.Ends[i]
	}
}

// windowURL is the key of GroupMap.
type windowURL struct {
	windowUs int64
	url      string
}

// GroupMap does the same with Go's own map, as most programs would, and returns the number of groups.
func (c *Columns) GroupMap() int {
	groups := map[windowURL]*Group{}
	for i, us := range c.TimeUs {
		key := windowURL{us - us%WindowUs, string(c.URL(i))}
		g := groups[key]
		if g == nil {
			g = &Group{}
			groups[key] = g
		}
		g.Count++
		g.Total += c.Amount[i]
	}
	return len(groups)
}

// Filter sets the bits of the rows with an amount above MinAmount and returns their number. bits has a bit a row, the lowest
// bit of a byte first, and is overwritten.
func (c *Columns) Filter(bits []byte) int {
	n := 0
	for at := 0; at < len(c.Amount); at += 8 {
		var b byte
		for i, a := range c.Amount[at:min(at+8, len(c.Amount))] {
			if a > MinAmount {
				b |= 1 << i
				n++
			}
		}
		bits[at/8] = b
	}
	return n
}
