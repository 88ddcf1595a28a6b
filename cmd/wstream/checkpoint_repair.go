package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/state"
)

// repaired is the result of a repair.
type repaired struct {
	DryRun   bool                 `json:"dryRun,omitempty"`
	Findings []checkpoint.Finding `json:"findings"`
}

func (p *program) checkpointRepair(c *cli.Context) error {
	if c.Args().Len() < 1 {
		return invalid("which folder? e.g. `wstream checkpoint repair checkpoint/clicks`")
	}
	dir := c.Args().First()
	fsys, err := objectfs.For(dir)
	if err != nil {
		return invalid("%v", err)
	}
	if there, err := vfs.Exists(fsys, dir); err != nil {
		return err
	} else if !there {
		return fmt.Errorf("checkpoint %q: %w", dir, checkpoint.ErrNotFound)
	}
	at := dir
	if c.Bool("dry-run") {
		// A repair of a copy: what it finds second depends on what it has mended first.
		tmp, err := os.MkdirTemp("", "wstream-repair-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		at = filepath.Join(tmp, "copy")
		if err := checkpoint.Copy(fsys, dir, at); err != nil {
			return err
		}
	}
	found, err := repairAll(fsys, at)
	if err != nil {
		var locked *checkpoint.LockedError
		if errors.As(err, &locked) || os.IsPermission(err) {
			return environment(err)
		}
		return err
	}
	if found == nil {
		found = []checkpoint.Finding{}
	}
	left := 0
	var b strings.Builder
	for i, f := range found {
		found[i].Damage = strings.ReplaceAll(f.Damage, at, dir)
		verdict := "repaired"
		switch {
		case !f.Repaired:
			verdict = "left"
			left++
		case c.Bool("dry-run"):
			verdict = "to be repaired"
		}
		fmt.Fprintf(&b, "%s: %s: %s: %s\n", verdict, f.File, found[i].Damage, f.Action)
	}
	if left > 0 {
		return fmt.Errorf("checkpoint %q: not everything can be repaired:\n%s", dir, strings.TrimSpace(b.String()))
	}
	if len(found) == 0 {
		fmt.Fprintf(&b, "checkpoint %s is whole: there is nothing to repair\n", dir)
	}
	p.succeed("checkpoint repair", b.String(), repaired{c.Bool("dry-run"), found})
	return nil
}

// repairAll mends the checkpoint and then its state.
func repairAll(fsys vfs.FS, dir string) ([]checkpoint.Finding, error) {
	found, err := checkpoint.Repair(fsys, dir)
	if err != nil {
		return found, err
	}
	for _, f := range found {
		if !f.Repaired && !strings.HasPrefix(f.File, "logs/") && !strings.Contains(f.Action, "older batch") {
			return found, nil // the checkpoint does not open
		}
	}
	more, err := repairState(fsys, dir)
	return append(found, more...), err
}

// repairState deletes damaged snapshots where the change log can stand in for them, and drops the last record of the change
// log, with the commit entry of its batch, if that record is what is damaged.
func repairState(fsys vfs.FS, dir string) (found []checkpoint.Finding, err error) {
	there, err := vfs.Exists(fsys, vfs.Join(dir, "state"))
	if err != nil || !there {
		return nil, err
	}
	for range 2 {
		cp, err := checkpoint.Open(fsys, dir, checkpoint.Options{ReadOnly: true})
		if err != nil {
			return found, err
		}
		last := cp.LastCommitID()
		o := state.Options{FS: fsys, Dir: vfs.Join(dir, "state"), QueryID: cp.QueryID(), Ancestors: cp.Ancestors()}
		db, damage := openState(cp, last)
		_ = cp.Close()
		if damage == nil {
			if db != nil {
				_ = db.Close()
			}
			bad, err := state.DamagedSnapshots(o)
			for name, why := range bad {
				if err == nil {
					err = state.RemoveSnapshot(o, name)
				}
				found = append(found, checkpoint.Finding{
					File: "state/" + name, Damage: reasonOf(why), Repaired: true, Action: fmt.Sprintf("deleted: the change log has what it held, up to batch %d", last),
				})
			}
			return found, err
		}
		f := checkpoint.Finding{File: "state", Damage: damage.Error()}
		ok, err := state.CutLast(o, damage)
		if err != nil {
			return found, err
		}
		if !ok {
			f.Action = "the state of the last batch cannot be put together again; " + olderState(fsys, dir, last)
			return append(found, f), nil
		}
		if _, newest, err := state.Versions(o); err != nil || newest != last-1 {
			f.Action = fmt.Sprintf("the record of the last batch is cut off, and the change log ends with batch %d where %d is committed; restore it from a copy", newest, last)
			return append(found, f), err
		}
		if err := checkpoint.CutCommit(fsys, dir); err != nil {
			return found, err
		}
		f.Repaired, f.Action = true, fmt.Sprintf("the record is dropped, and the commit entry of batch %d: it runs again at the next start, over the same offsets", last)
		found = append(found, f)
	}
	return found, nil
}

// reasonOf is the text of an error behind the name of its file.
func reasonOf(err error) string {
	_, reason, ok := strings.Cut(err.Error(), ": ")
	if !ok {
		return err.Error()
	}
	return reason
}

// olderState names the newest batch before the last whose state can be loaded.
func olderState(fsys vfs.FS, dir string, last int64) string {
	cp, err := checkpoint.Open(fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err.Error()
	}
	defer cp.Close()
	for batch := last - 1; batch >= max(cp.Oldest(), 0); batch-- {
		if db, err := openState(cp, batch); err == nil {
			if db != nil {
				_ = db.Close()
			}
			return fmt.Sprintf("that of batch %d can: `wstream checkpoint rollback --to %d %s`", batch, batch, dir)
		}
	}
	return "nor that of an older one; restore it from a copy of the checkpoint, or start with a new one"
}
