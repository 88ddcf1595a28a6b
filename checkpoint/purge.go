package checkpoint

import "github.com/wstream/wstream/internal/failpoint"

// Purge forgets the entries of batches before the last keep committed ones, as far as whole segments hold nothing else,
// and returns the oldest batch that is to be kept: older versions of the state may go as well. Logs of sources and sinks
// are theirs to compact. An error leaves files behind that count no more; the next Purge or start deletes them.
func (c *Checkpoint) Purge(keep int) (keepFrom int64, err error) {
	keepFrom = max(c.commits.Last()-int64(max(keep, 1))+1, 0)
	dropped := map[string][]string{
		"offsets": c.offsets.DropBelow(keepFrom),
		"commits": c.commits.DropBelow(keepFrom),
	}
	if len(dropped["offsets"])+len(dropped["commits"])+len(c.undeleted) == 0 {
		return keepFrom, nil
	}
	for _, folder := range []string{"offsets", "commits"} {
		for _, name := range dropped[folder] {
			c.undeleted = append(c.undeleted, c.path(folder, name))
		}
	}
	m := c.man.clone()
	m.Logs["offsets"], m.Logs["commits"] = c.offsets.Segments(), c.commits.Segments()
	if err := c.storeManifest(m); err != nil {
		return keepFrom, err
	}
	for i, name := range c.undeleted {
		if err := removeIfThere(c.fs, name); err != nil {
			c.undeleted = c.undeleted[i:]
			return keepFrom, err
		}
		if err := c.opts.Failpoints.Hit(failpoint.PurgeMid, c.commits.Last()); err != nil {
			return keepFrom, err
		}
	}
	c.undeleted = nil
	return keepFrom, nil
}
