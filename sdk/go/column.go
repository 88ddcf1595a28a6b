package wstream

// Column is an input column. What it gives shares the host's bytes and is valid during the call.
type Column struct {
	Type     Type
	Len      int
	Param    uint32    // of decimals: precision | scale<<8
	Children []*Column // elements of a list, the struct of a map's entries, members of a struct

	valid   []byte
	offsets []int32
	data    []byte
}

// IsNull tells whether row i is null.
func (c *Column) IsNull(i int) bool {
	return c.Type == TypeNull || c.valid != nil && c.valid[i>>3]>>(i&7)&1 == 0
}

// Bytes is the value of row i of a STRING or BINARY column.
func (c *Column) Bytes(i int) []byte {
	return c.data[c.offsets[i]:c.offsets[i+1]:c.offsets[i+1]]
}

// String is the value of row i of a STRING column.
func (c *Column) String(i int) string { return text(c.data[c.offsets[i]:c.offsets[i+1]]) }

// Range is where the elements of row i of a list or map lie in its children.
func (c *Column) Range(i int) (from, to int) { return int(c.offsets[i]), int(c.offsets[i+1]) }

// Child is a column below this one: 0 the elements of a list, 0 the keys and 1 the values of a map, i member i of a
// struct. The elements of row i of a list or map are those of Range(i); a member's row i belongs to row i.
func (c *Column) Child(i int) *Column {
	if c.Type == TypeMap {
		return c.Children[0].Children[i]
	}
	return c.Children[i]
}

// Bool is the value of row i of a BOOLEAN column.
func (c *Column) Bool(i int) bool { return c.data[i>>3]>>(i&7)&1 != 0 }

// Int8 is the value of row i of a TINYINT column.
func (c *Column) Int8(i int) int8 { return int8(c.data[i]) }

// Int16 is the value of row i of a SMALLINT column.
func (c *Column) Int16(i int) int16 { return view[int16](c.data)[i] }

// Int32 is the value of row i of an INT or DATE column.
func (c *Column) Int32(i int) int32 { return view[int32](c.data)[i] }

// Int64 is the value of row i of a BIGINT or TIMESTAMP column.
func (c *Column) Int64(i int) int64 { return view[int64](c.data)[i] }

// Float32 is the value of row i of a FLOAT column.
func (c *Column) Float32(i int) float32 { return view[float32](c.data)[i] }

// Float64 is the value of row i of a DOUBLE column.
func (c *Column) Float64(i int) float64 { return view[float64](c.data)[i] }

// Int64s are all values of a BIGINT or TIMESTAMP column; those of null rows mean nothing.
func (c *Column) Int64s() []int64 { return view[int64](c.data) }

// Float64s are all values of a DOUBLE column; those of null rows mean nothing.
func (c *Column) Float64s() []float64 { return view[float64](c.data) }
