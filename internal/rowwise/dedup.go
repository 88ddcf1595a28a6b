package rowwise

// Dedup keeps the first row of each key.
type Dedup struct {
	In     Node
	Time   int
	Marked bool // whether the time has a watermark
	Keys   []int
	Within bool // forget a key when the watermark has passed its first row by Delay
	Delay  Time
	seen   map[string]Time
}

const never Time = 1<<63 - 1

// Run implements Node.
func (d *Dedup) Run(b *Batch) []Row {
	if d.seen == nil {
		d.seen = map[string]Time{}
	}
	var out []Row
	for _, r := range d.In.Run(b) {
		t, ok := timeOf(r, d.Time)
		if d.Marked && ok && t <= b.Late {
			b.drop()
			continue
		}
		k := r.Key(d.Keys)
		if _, dup := d.seen[k]; dup {
			continue
		}
		end := never
		if d.Within { // a null time is as good as 1970
			end = t + d.Delay
		}
		if d.Marked && ok {
			for _, at := range d.Keys {
				if at == d.Time && !d.Within {
					end = t
				}
			}
		}
		d.seen[k] = end
		out = append(out, r)
	}
	for _, k := range sortedKeys(d.seen) {
		if d.seen[k] <= b.Evict {
			delete(d.seen, k)
		}
	}
	return out
}

// State implements Node.
func (d *Dedup) State() int { return len(d.seen) + d.In.State() }

// Driven implements Node.
func (d *Dedup) Driven() bool { return true }
