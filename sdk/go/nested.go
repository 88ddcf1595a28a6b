package wstream

// NewList makes a builder of ARRAY rows: for each row add any number of values to element (Child(0)), then call End.
func NewList(element *Builder) *Builder {
	return &Builder{Type: TypeList, passed: -1, offsets: []int32{0}, children: []*Builder{element}}
}

// NewMap makes a builder of MAP rows: for each row add any number of keys to key (Child(0)) and as many values to value
// (Child(1)), then call End. Keys must not be null.
func NewMap(key, value *Builder) *Builder {
	return &Builder{Type: TypeMap, passed: -1, offsets: []int32{0}, children: []*Builder{key, value}}
}

// NewStruct makes a builder of STRUCT rows: for each row add one value to each member (Child(i)), then call End.
func NewStruct(members ...*Builder) *Builder {
	return &Builder{Type: TypeStruct, passed: -1, children: members}
}

// Child is a builder below this one: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a
// struct.
func (b *Builder) Child(i int) *Builder { return b.children[i] }

// End ends a row of a list, map or struct: the row holds what was added to the children since the last one.
func (b *Builder) End() {
	b.close()
	b.row()
}

// close notes where a row of a list or map ends. Where children of a row do not fit each other it is the handler's
// fault, which costs the row.
func (b *Builder) close() {
	if b.Type == TypeStruct {
		for _, c := range b.children {
			if c.rows != b.rows+1 {
				panic("a struct's row wants one value of each member")
			}
		}
		return
	}
	n := b.children[0].rows
	if b.Type == TypeMap && b.children[1].rows != n {
		panic("a map's row wants a value for each key")
	}
	b.offsets = append(b.offsets, int32(n))
}

// nullChildren makes the children fit a row that is null.
func (b *Builder) nullChildren() {
	if b.Type == TypeStruct {
		for _, c := range b.children {
			c.undo(b.rows)
			c.Null()
		}
		return
	}
	from := int(b.offsets[len(b.offsets)-1])
	for _, c := range b.children {
		c.undo(from)
	}
	b.offsets = append(b.offsets, int32(from))
}

// undoChildren takes back what belongs to no row below n.
func (b *Builder) undoChildren(n int) {
	if !b.Type.nested() {
		return
	}
	if b.offsets != nil {
		n = int(b.offsets[n])
	}
	for _, c := range b.children {
		c.undo(n)
	}
}

// nestedFrom adds row i of an input column of the same type, which is not null.
func (b *Builder) nestedFrom(c *Column, i int) {
	from, to := i, i+1
	if b.offsets != nil {
		from, to = c.Range(i)
	}
	for k, child := range b.children {
		for j := from; j < to; j++ {
			child.From(c.Child(k), j)
		}
	}
	b.End()
}
