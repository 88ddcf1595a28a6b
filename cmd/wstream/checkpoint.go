package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/connect/sqldb"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/vfs"
	"github.com/wstream/wstream/state"
)

func (p *program) checkpointCommand() *cli.Command {
	return &cli.Command{Name: "checkpoint", Usage: "look at checkpoints, check them, go back, try a change on a copy", Subcommands: []*cli.Command{
		{Name: "ls", Usage: "the batches of a checkpoint", ArgsUsage: "DIR", Action: p.checkpointList},
		{
			Name: "show", Usage: "offsets, watermark, commit and state of a checkpoint", ArgsUsage: "DIR",
			Flags: []cli.Flag{&cli.Int64Flag{Name: "batch", Value: -1, Usage: "of batch `N`; the last one if not given"}}, Action: p.checkpointShow,
		},
		{Name: "verify", Usage: "read every entry and the state, and name what is damaged", ArgsUsage: "DIR", Action: p.checkpointVerify},
		{
			Name: "repair", Usage: "mend what can be mended without losing or doubling a row, and name what cannot", ArgsUsage: "DIR",
			Flags: []cli.Flag{&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done"}}, Action: p.checkpointRepair,
		},
		{
			Name: "rollback", Usage: "make an earlier batch the last one; without --to it says which ones there are", ArgsUsage: "DIR",
			Flags: []cli.Flag{&cli.Int64Flag{Name: "to", Usage: "the batch that becomes the last one; -1 for before the first"}}, Action: p.checkpointRollback,
		},
		{Name: "fork", Usage: "copy a checkpoint under a new query id, to try a change on", ArgsUsage: "DIR TO", Action: p.checkpointFork},
	}}
}

// openCheckpoint opens the checkpoint in the folder that is the first argument.
func openCheckpoint(c *cli.Context, o checkpoint.Options) (*checkpoint.Checkpoint, error) {
	if c.Args().Len() < 1 {
		return nil, invalid("which folder? e.g. `wstream checkpoint show checkpoint/clicks`")
	}
	fsys, err := objectfs.For(c.Args().First())
	if err != nil {
		return nil, invalid("%v", err)
	}
	cp, err := checkpoint.Open(fsys, c.Args().First(), o)
	if err != nil {
		var locked *checkpoint.LockedError
		if errors.As(err, &locked) || os.IsPermission(err) {
			return nil, environment(err)
		}
		return nil, err
	}
	return cp, nil
}

// batchLine is a batch as `ls` shows it.
type batchLine struct {
	Batch      int64            `json:"batch"`
	Time       string           `json:"time,omitempty"`
	Watermark  string           `json:"watermark,omitempty"`
	Committed  bool             `json:"committed"`
	NoData     bool             `json:"noData,omitempty"`
	InputRows  int64            `json:"inputRows"`
	OutputRows int64            `json:"outputRows"`
	StateRows  map[string]int64 `json:"stateRows,omitempty"`
}

func lineOf(b checkpoint.Batch) batchLine {
	l := batchLine{Batch: b.ID, Committed: b.Commit != nil, InputRows: -1, OutputRows: -1}
	if b.Offsets != nil {
		l.Time, l.Watermark, l.NoData = isoTime(b.Offsets.TimestampMs), isoTime(b.Offsets.WatermarkMs), b.Offsets.NoData
	}
	if b.Commit != nil {
		l.InputRows, l.OutputRows, l.StateRows = b.Commit.InputRows, b.Commit.OutputRows, b.Commit.StateRows
	}
	return l
}

func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

func (p *program) checkpointList(c *cli.Context) error {
	cp, err := openCheckpoint(c, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer cp.Close()
	batches, err := cp.Batches()
	if err != nil {
		return err
	}
	lines := make([]batchLine, len(batches))
	var b strings.Builder
	fmt.Fprintf(&b, "%8s  %-24s  %-24s  %10s  %10s  %s\n", "batch", "time", "watermark", "rows in", "rows out", "state")
	for i, x := range batches {
		l := lineOf(x)
		lines[i] = l
		state := "not committed"
		if l.Committed {
			state = stateText(l.StateRows)
		}
		fmt.Fprintf(&b, "%8d  %-24s  %-24s  %10s  %10s  %s\n", l.Batch, l.Time, l.Watermark, number(l.InputRows), number(l.OutputRows), state)
	}
	p.succeed("checkpoint ls", b.String(), lines)
	return nil
}

func number(n int64) string {
	if n < 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

func stateText(rows map[string]int64) string {
	var names []string
	for n := range rows {
		names = append(names, n)
	}
	sort.Strings(names)
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %d", n, rows[n]))
	}
	return strings.Join(parts, ", ")
}

func (p *program) checkpointShow(c *cli.Context) error {
	cp, err := openCheckpoint(c, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer cp.Close()
	id := c.Int64("batch")
	if id < 0 {
		id = cp.LastOffsetsID()
	}
	var off *checkpoint.OffsetEntry
	var commit *checkpoint.CommitEntry
	if id >= 0 {
		if off, err = cp.Offsets(id); err != nil {
			return err
		}
		if id <= cp.LastCommitID() {
			if commit, err = cp.Commit(id); err != nil {
				return err
			}
		}
	}
	out := map[string]any{"queryId": cp.QueryID(), "folder": cp.Dir(), "lastPlanned": cp.LastOffsetsID(), "lastCommitted": cp.LastCommitID(), "owner": cp.Owner(), "offsets": off, "commit": commit}
	if a := cp.Ancestors(); len(a) > 0 {
		out["forkedFrom"] = a
	}
	var b strings.Builder
	fmt.Fprintf(&b, "query %s in %s\n", cp.QueryID(), cp.Dir())
	fmt.Fprintf(&b, "last committed batch: %s\n", batchText(cp.LastCommitID()))
	if cp.LastOffsetsID() > cp.LastCommitID() {
		fmt.Fprintf(&b, "batch %d is planned and not committed: the next start runs it again over the same offsets\n", cp.LastOffsetsID())
	}
	if o := cp.Owner(); o.PID != 0 {
		fmt.Fprintf(&b, "last owner: %s\n", o)
	}
	if off != nil {
		fmt.Fprintf(&b, "\nbatch %d, planned at %s, watermark %s\n", id, isoTime(off.TimestampMs), isoTime(off.WatermarkMs))
		for _, s := range off.Sources {
			start, end := compactJSON(s.Start), compactJSON(s.End)
			fmt.Fprintf(&b, "  source %q: from %s to %s\n", s.Name, start, end)
		}
		if off.NoData {
			b.WriteString("  without data: run for the watermark or a timer\n")
		}
	}
	if commit != nil {
		fmt.Fprintf(&b, "  committed: %s rows in, %s rows out, next watermark %s\n", number(commit.InputRows), number(commit.OutputRows), isoTime(commit.NextWatermarkMs))
		if len(commit.StateRows) > 0 {
			fmt.Fprintf(&b, "  rows in state: %s\n", stateText(commit.StateRows))
		}
		for _, n := range sortedKeys(commit.Modules) {
			fmt.Fprintf(&b, "  module %q: sha256 %s\n", n, commit.Modules[n])
		}
	}
	p.succeed("checkpoint show", b.String(), out)
	return nil
}

func compactJSON(v json.RawMessage) string {
	if v == nil {
		return "the beginning"
	}
	return string(v)
}

func batchText(id int64) string {
	if id < 0 {
		return "none"
	}
	return fmt.Sprint(id)
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func (p *program) checkpointVerify(c *cli.Context) error {
	cp, err := openCheckpoint(c, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer cp.Close()
	if err := cp.Verify(); err != nil {
		return err
	}
	text := fmt.Sprintf("checkpoint %s is whole: %s committed", cp.Dir(), count(int(cp.LastCommitID()+1), "batch"))
	db, err := openState(cp, cp.LastCommitID())
	if err != nil {
		return err
	}
	if db != nil {
		text += fmt.Sprintf("; the state of batch %d has the hash that the commit log names", cp.LastCommitID())
		defer db.Close()
	}
	p.succeed("checkpoint verify", text, map[string]any{"lastCommitted": cp.LastCommitID(), "state": db != nil})
	return nil
}

// openState loads the state as of a batch; nil when the query has none.
func openState(cp *checkpoint.Checkpoint, batch int64) (*state.DB, error) {
	dir := vfs.Join(cp.Dir(), "state")
	if there, err := vfs.Exists(cp.FS(), dir); !there || err != nil || batch < 0 {
		return nil, err // a query without state has no such folder
	}
	db, err := state.Open(state.Options{FS: cp.FS(), Dir: dir, QueryID: cp.QueryID(), Ancestors: cp.Ancestors(), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	commit, err := cp.Commit(batch)
	if err == nil && commit.StateHash != nil {
		err = db.LoadCommitted(batch, uint64(*commit.StateHash))
	} else if err == nil {
		err = db.Load(batch)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// rollbackWarning says what a rollback does not take back.
func rollbackWarning(cp *checkpoint.Checkpoint, to int64) string {
	last := cp.LastCommitID()
	if last <= to {
		return ""
	}
	which := fmt.Sprintf("batches %d to %d have", to+1, last)
	if to+1 == last {
		return fmt.Sprintf("batch %d has been published: ", last) + rollbackSinks(cp)
	}
	return which + " been published: " + rollbackSinks(cp)
}

func rollbackSinks(cp *checkpoint.Checkpoint) string {
	return fmt.Sprintf("files are replaced when these batches come again, but a Delta table, Kafka and a database have noted their ids "+
		"(the ledger %s, query id %s) and ignore rows that come under them again. For other rows delete those notes and what was written, or "+
		"`wstream checkpoint fork` after the rollback: a fork has an id of its own, and needs a sink of its own", sqldb.LedgerTable, cp.QueryID())
}

// rollbackChoices says which batches a checkpoint can go back to, and what that does not take back.
func rollbackChoices(c *cli.Context) error {
	cp, err := openCheckpoint(c, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer cp.Close()
	last, oldest := cp.LastCommitID(), cp.Oldest()
	text := fmt.Sprintf("which batch? --to N makes batch N the last one; the last one is %s, and it can be %s", batchText(last), batchText(oldest))
	if oldest < last {
		text = fmt.Sprintf("which batch? --to N makes batch N the last one; the last one is %d, and the oldest that it can be is %d", last, oldest)
		text += "\n" + rollbackWarning(cp, oldest)
	}
	return invalid("%s", text)
}

func (p *program) checkpointRollback(c *cli.Context) error {
	if !c.IsSet("to") {
		return rollbackChoices(c)
	}
	cp, err := openCheckpoint(c, checkpoint.Options{})
	if err != nil {
		return err
	}
	defer cp.Close()
	warning := rollbackWarning(cp, c.Int64("to"))
	to := c.Int64("to")
	if to >= 0 {
		db, err := openState(cp, to)
		if err != nil {
			return fmt.Errorf("the state cannot go back to batch %d: %w", to, err)
		}
		if db != nil {
			db.Close()
		}
	}
	if err := cp.Rollback(to); err != nil {
		return err
	}
	text, result := fmt.Sprintf("batch %s is the last one now; what came after it runs again at the next start", batchText(to)), map[string]any{"lastCommitted": to}
	if warning != "" {
		result["warning"] = warning
		text += "\nwarning: " + warning
	}
	p.succeed("checkpoint rollback", text, result)
	return nil
}

func (p *program) checkpointFork(c *cli.Context) error {
	if c.Args().Len() != 2 {
		return invalid("expected two folders: `wstream checkpoint fork FROM TO`")
	}
	fsys, err := objectfs.For(c.Args().Slice()...)
	if err != nil {
		return invalid("%v", err)
	}
	id, err := checkpoint.Fork(fsys, c.Args().Get(0), c.Args().Get(1))
	if err != nil {
		return err
	}
	p.succeed("checkpoint fork", fmt.Sprintf("%s is a copy with the query id %s; its sink should be another one than the original's", c.Args().Get(1), id), map[string]any{"queryId": id})
	return nil
}
