package wstream

// PanicCode is the code of a row that was refused because its handler panicked.
const PanicCode = 2

// FailCode is the code of a row that was refused because its handler gave an error.
const FailCode = 1

// FilterRows makes a handler of a function that looks at one row. An error refuses the row, and so does a panic.
func FilterRows(keep func(c *Call, row int) (bool, error)) Handler {
	return func(c *Call) error {
		out := c.Output(TypeBool)
		c.each(func(row int) error {
			v, err := keep(c, row)
			if err == nil {
				out.Bool(v)
			}
			return err
		}, func(int) { out.Bool(false) })
		return nil
	}
}

// ScalarRows makes a handler of a function that adds the value of one row to out. An error refuses the row, and so
// does a panic; its value is null.
func ScalarRows(t Type, value func(c *Call, row int, out *Builder) error) Handler {
	return scalarRows(func(c *Call) *Builder { return c.Output(t) }, value)
}

// ScalarRowsOf is ScalarRows for a value of any type: column makes a new builder of it, e.g. by NewList.
func ScalarRowsOf(column func() *Builder, value func(c *Call, row int, out *Builder) error) Handler {
	return scalarRows(func(c *Call) *Builder { return c.OutputOf(column()) }, value)
}

func scalarRows(column func(c *Call) *Builder, value func(c *Call, row int, out *Builder) error) Handler {
	return func(c *Call) error {
		out := column(c)
		c.each(func(row int) error { return value(c, row, out) }, func(row int) {
			out.undo(row)
			out.Null()
		})
		return nil
	}
}

// ParseRows makes a handler of a function that adds any number of rows for one input row: a value to each of the
// outputs, whose types are given. An error refuses the row, and so does a panic; what it has added is taken back.
func ParseRows(types []Type, row func(c *Call, row int, out []*Builder) error) Handler {
	return parseRows(func(c *Call) []*Builder {
		out := make([]*Builder, len(types))
		for i, t := range types {
			out[i] = c.Output(t)
		}
		return out
	}, row)
}

// ParseRowsOf is ParseRows for outputs of any types: columns makes new builders of them, e.g. by NewList.
func ParseRowsOf(columns func() []*Builder, row func(c *Call, row int, out []*Builder) error) Handler {
	return parseRows(func(c *Call) []*Builder {
		out := columns()
		for _, b := range out {
			c.OutputOf(b)
		}
		return out
	}, row)
}

func parseRows(columns func(c *Call) []*Builder, row func(c *Call, row int, out []*Builder) error) Handler {
	return func(c *Call) error {
		out := columns(c)
		c.Parents()
		c.each(func(i int) error {
			err := row(c, i, out)
			if err == nil {
				for c.parents.rows < out[0].rows {
					c.parents.Int32(int32(i))
				}
			}
			return err
		}, func(int) {
			for _, b := range out {
				b.undo(c.parents.rows)
			}
		})
		return nil
	}
}

// each calls f for every row, and refused after those that gave an error or panicked. A panic costs one more
// call of the loop, nothing else does.
func (c *Call) each(f func(row int) error, refused func(row int)) {
	for row := 0; row < c.rows; {
		row = c.from(row, f, refused)
	}
}

// from handles rows until the last or a panic, and gives the row to go on with.
func (c *Call) from(row int, f func(row int) error, refused func(row int)) (next int) {
	defer func() {
		if p := recover(); p != nil {
			c.Refuse(row, PanicCode, "panic: "+panicText(p))
			refused(row)
			next = row + 1
		}
	}()
	for ; row < c.rows; row++ {
		if err := f(row); err != nil {
			c.Refuse(row, FailCode, err.Error())
			refused(row)
		}
	}
	return row
}

// panicText is what a panic says.
func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "a value that is no text"
}
