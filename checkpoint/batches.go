package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Batch is one batch as the logs have it.
type Batch struct {
	// ID is the batch id.
	ID int64
	// Offsets is its plan; nil if only the commit entry has been kept.
	Offsets *OffsetEntry
	// Commit is its end; nil if it has not been committed, or only the offset entry has been kept.
	Commit *CommitEntry
}

// Batches returns the batches of which the logs still have an entry, oldest first.
func (c *Checkpoint) Batches() ([]Batch, error) {
	var out []Batch
	for id := min(c.offsets.First(), c.commits.First()); id <= c.offsets.Last(); id++ {
		b := Batch{ID: id}
		var err error
		if b.Offsets, err = c.Offsets(id); err != nil && !errors.Is(err, ErrNoEntry) {
			return nil, err
		}
		if b.Commit, err = c.Commit(id); err != nil && !errors.Is(err, ErrNoEntry) {
			return nil, err
		}
		if b.Offsets != nil || b.Commit != nil {
			out = append(out, b)
		}
	}
	return out, nil
}

// Verify reads every entry of every log. It returns all that is wrong, each error naming its file; Open has checked
// already what a start depends on.
func (c *Checkpoint) Verify() error {
	var errs []error
	for id := c.offsets.First(); id <= c.offsets.Last(); id++ {
		if _, err := c.Offsets(id); err != nil {
			errs = append(errs, err)
		}
	}
	for id := c.commits.First(); id <= c.commits.Last(); id++ {
		if _, err := c.Commit(id); err != nil {
			errs = append(errs, err)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(c.man.Logs)) {
		if folder == "offsets" || folder == "commits" || c.side[folder] != nil {
			continue
		}
		log, err := c.openLog(folder, true, "", "")
		if err == nil {
			err = log.Scan(-1, c.offsets.Last(), func(int64, []byte) error { return nil })
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, s := range c.sides() {
		if err := s.Scan(func(SideEntry) error { return nil }); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Oldest returns the oldest batch that the checkpoint can be rolled back to, as far as its own logs go: the oldest one of
// which both logs have the entry, or -1 (before the first batch) if the logs have everything. The state may not go back as far.
func (c *Checkpoint) Oldest() int64 {
	if c.offsets.First() == 0 && c.commits.First() <= 0 {
		return -1
	}
	return max(c.offsets.First(), c.commits.First())
}

// Rollback makes the batch to the last one that was planned and committed; -1 goes back to before the first batch. What
// comes after it is void. It takes effect in one step. The state follows by itself when it is loaded at the new
// last commit; whether it still has that version the caller must have checked.
func (c *Checkpoint) Rollback(to int64) error {
	if to > c.commits.Last() || to < c.Oldest() {
		return fmt.Errorf("checkpoint %q: batch %d cannot be rolled back to: the batches are %d to %d", c.dir, to, c.Oldest(), c.commits.Last())
	}
	if err := c.CheckOwner(); err != nil {
		return err
	}
	for _, folder := range slices.Sorted(maps.Keys(c.man.Logs)) {
		if folder == "offsets" || folder == "commits" || c.side[folder] != nil {
			continue
		}
		log, err := c.openLog(folder, true, "", "")
		if err != nil {
			return err
		}
		c.side[folder] = &SideLog{c: c, folder: folder, log: log, begun: true}
	}
	if err := c.dropNote(); err != nil {
		return err
	}
	return c.begin(to, to)
}
