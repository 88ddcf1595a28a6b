package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/wstream/wstream/columnar"
)

// isolation runs a function over rows, or groups, in slices of a size that the guest can take. A slice that
// traps is tried once more on a fresh instance, then halved until the row that traps stands alone; that row
// is refused and the others are not affected.
type isolation struct {
	// run handles rows from … to and keeps what comes of it; a Trap must leave nothing behind.
	run func(from, to int, fresh bool) error
	// refuse notes that a row traps by itself.
	refuse func(row int, t *Trap)
	traps  int
}

// over handles n rows in slices of at most step.
func (x *isolation) over(ctx context.Context, n, step int) error {
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		err := x.run(from, to, false)
		var trap *Trap
		if errors.As(err, &trap) {
			err = x.run(from, to, true)
		}
		if errors.As(err, &trap) {
			err = x.halve(ctx, from, to, trap)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// halve handles rows that trapped together.
func (x *isolation) halve(ctx context.Context, from, to int, trap *Trap) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if to-from == 1 {
		if x.traps++; x.traps > maxTrapsPerCall {
			return fmt.Errorf("more than %d rows trap: row %d: %w", maxTrapsPerCall, from, trap)
		}
		x.refuse(from, trap)
		return nil
	}
	mid := from + (to-from)/2
	for _, half := range [2][2]int{{from, mid}, {mid, to}} {
		err := x.run(half[0], half[1], false)
		var t *Trap
		if errors.As(err, &t) {
			err = x.halve(ctx, half[0], half[1], t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// refusal is the error of a row that traps; its text is the same in a replay.
func refusal(row int, t *Trap) RowError {
	same := Trap{Reason: t.Reason, Stack: t.Stack}
	return RowError{row, TrapCode, same.Error()}
}

// sliceRows is how many rows of cols go to a guest at once.
func (b *Bound) sliceRows(cols []*columnar.Column, rows int) int {
	bytes := 1
	for _, c := range cols {
		bytes += columnBytes(c)
	}
	most := int(min(maxSliceBytes, b.module.config.Limits.MemoryBytes/4))
	if bytes <= most && rows <= maxSliceRows {
		return max(rows, 1)
	}
	return int(max(1, min(maxSliceRows, int64(rows)*int64(most)/int64(bytes))))
}

// columnBytes is the size that a column takes in a frame, unlike Size without what its slices share.
func columnBytes(c *columnar.Column) int {
	n := c.Len / 4 // bitmaps
	switch {
	case c.Type.HasBytes():
		return n + 4*c.Len + int(c.Offsets[c.Len]-c.Offsets[0])
	case c.Offsets != nil:
		n += 4 * c.Len
		for _, k := range c.Children {
			if k.Len > 0 {
				n += int(int64(columnBytes(k)) * int64(c.Offsets[c.Len]-c.Offsets[0]) / int64(k.Len))
			}
		}
		return n
	}
	for _, k := range c.Children {
		n += columnBytes(k)
	}
	return n + c.Len*c.Type.Width()
}

// cutColumns cuts columns to rows from … to.
func cutColumns(cols []*columnar.Column, from, to int) []*columnar.Column {
	out := make([]*columnar.Column, len(cols))
	for i, c := range cols {
		out[i] = c.Slice(from, to)
	}
	return out
}
