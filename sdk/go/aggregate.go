package wstream

// AggregateRows makes a handler of an aggregate function. A group's accumulator has size bytes, zero in a group that is
// new. update folds a row into it, merge another group's accumulator, and finish adds the group's value to out, which is
// of type t. All three must give the same for the same bytes.
func AggregateRows(size int, t Type, update func(c *Call, row int, acc []byte), merge func(acc, other []byte),
	finish func(acc []byte, out *Builder),
) Handler {
	return func(c *Call) error {
		if c.op == opFinish {
			in, out, zero := c.Column(0), c.Output(t), make([]byte, size)
			for row := range c.rows {
				acc := zero
				if !in.IsNull(row) {
					acc = in.Bytes(row)
				}
				finish(acc, out)
			}
			return nil
		}
		var old, group *section
		for i := range c.sections {
			switch c.sections[i].id {
			case sectionAccumulators:
				old = &c.sections[i]
			case sectionGroupIndex:
				group = &c.sections[i]
			}
		}
		if old == nil || group == nil {
			return errRequest
		}
		accs := make([]byte, size*old.rows)
		for i := range old.rows {
			if !old.columns[0].IsNull(i) {
				copy(accs[i*size:(i+1)*size], old.columns[0].Bytes(i))
			}
		}
		index := view[int32](group.columns[0].data)
		for row := range c.rows {
			at := int(index[row]) * size
			acc := accs[at : at+size : at+size]
			switch {
			case c.op != opMerge:
				update(c, row, acc)
			case !c.Column(0).IsNull(row):
				merge(acc, c.Column(0).Bytes(row))
			}
		}
		answer := takeBuilder(TypeBinary, old.rows)
		for i := range old.rows {
			answer.Bytes(accs[i*size : (i+1)*size])
		}
		c.outSections = append(c.outSections, outSection{sectionAccumulators, old.rows, []*Builder{answer}})
		return nil
	}
}
