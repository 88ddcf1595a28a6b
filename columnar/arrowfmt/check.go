package arrowfmt

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
)

// check tells what is wrong with a column that a damaged file gave: buffers that are too short for their rows, offsets
// that fall or that point behind the data.
func check(c *columnar.Column) error {
	if c.Valid != nil && len(c.Valid) < columnar.BitmapWords(c.Len) || c.Bits != nil && len(c.Bits) < columnar.BitmapWords(c.Len) {
		return fmt.Errorf("broken Arrow file: a bitmap of %s is too short for %d rows", c.Type, c.Len)
	}
	if w := c.Type.Width(); w > 0 && len(c.Data) < c.Len*w {
		return fmt.Errorf("broken Arrow file: %d bytes of %s for %d rows", len(c.Data), c.Type, c.Len)
	}
	if c.Offsets != nil {
		end := len(c.Data)
		for _, k := range c.Children {
			end = k.Len
		}
		if err := checkOffsets(c, end); err != nil {
			return err
		}
	}
	for _, k := range c.Children {
		if c.Type.Kind == columnar.KindStruct && k.Len != c.Len || c.Type.Kind == columnar.KindMap && k.Len != c.Children[0].Len {
			return fmt.Errorf("broken Arrow file: a part of %s has %d rows, expected %d", c.Type, k.Len, c.Len)
		}
		if err := check(k); err != nil {
			return err
		}
	}
	return nil
}

func checkOffsets(c *columnar.Column, end int) error {
	if len(c.Offsets) < c.Len+1 {
		return fmt.Errorf("broken Arrow file: %d offsets of %s for %d rows", len(c.Offsets), c.Type, c.Len)
	}
	at := int32(0)
	for _, o := range c.Offsets[:c.Len+1] {
		if o < at || int(o) > end {
			return fmt.Errorf("broken Arrow file: an offset of %s is %d, expected one from %d to %d", c.Type, o, at, end)
		}
		at = o
	}
	return nil
}
