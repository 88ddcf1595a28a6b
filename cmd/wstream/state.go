package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/checkpoint"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/state"
)

func (p *program) stateCommand() *cli.Command {
	flags := func(more ...cli.Flag) []cli.Flag {
		return append([]cli.Flag{
			&cli.Int64Flag{Name: "batch", Value: -1, Usage: "as of batch `N`; the last committed one if not given"},
			&cli.StringFlag{Name: "store", Usage: "only the store `NAME`"},
			&cli.IntFlag{Name: "limit", Value: 100, Usage: "at most `N` rows of each store"},
		}, more...)
	}
	return &cli.Command{Name: "state", Usage: "rows of a query's state, at any batch that is kept", Subcommands: []*cli.Command{
		{Name: "ls", Usage: "the rows of the state", ArgsUsage: "DIR", Flags: flags(), Action: p.stateList},
		{Name: "get", Usage: "the rows whose key contains a text", ArgsUsage: "DIR TEXT", Flags: flags(), Action: p.stateGet},
		{Name: "diff", Usage: "what changed between two batches", ArgsUsage: "DIR", Flags: flags(&cli.Int64Flag{Name: "from", Required: true, Usage: "the earlier batch"}), Action: p.stateDiff},
	}}
}

// stateRow is an entry of a store.
type stateRow struct {
	Store  string `json:"store"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Expiry string `json:"expiry,omitempty"`
}

// stateRows reads the entries of all stores as of a batch.
func stateRows(c *cli.Context, cp *checkpoint.Checkpoint, batch int64) ([]stateRow, error) {
	db, err := openState(cp, batch)
	if err != nil || db == nil {
		return nil, err
	}
	defer db.Close()
	var out []stateRow
	var names []string
	for _, s := range db.Stores() {
		names = append(names, s.Spec().Name)
	}
	if only := c.String("store"); only != "" && !slices.Contains(names, only) {
		return nil, invalid("--store: there is no store %q; there are %s", only, strings.Join(names, ", "))
	}
	for _, s := range db.Stores() {
		spec := s.Spec()
		if only := c.String("store"); only != "" && only != spec.Name {
			continue
		}
		keys, err := columnar.ParseDDL(spec.KeySchema)
		if err != nil {
			return nil, err
		}
		values, err := columnar.ParseDDL(spec.ValueSchema)
		if err != nil {
			return nil, err
		}
		for i := 0; i < db.Partitions(); i++ {
			part := s.Part(i)
			err := part.Each(func(ref state.Ref) error {
				r := stateRow{Store: spec.Name, Key: rowJSON(keys, part.Key(ref)), Value: rowJSON(values, part.Value(ref))}
				if e := part.Expiry(ref); spec.Expiring && e != state.NoExpiry {
					r.Expiry = time.UnixMicro(e).UTC().Format("2006-01-02T15:04:05.000000Z")
				}
				out = append(out, r)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].Store != out[j].Store {
			return out[i].Store < out[j].Store
		}
		return out[i].Key < out[j].Key
	})
	return out, nil
}

// rowJSON decodes an encoded row for display; what does not fit its schema is shown in hex.
func rowJSON(s *columnar.Schema, data []byte) string {
	var b strings.Builder
	b.WriteByte('{')
	rest := data
	for i, f := range s.Fields {
		builder := columnar.NewBuilder(f.Type, 1)
		var ok bool
		if rest, ok = columnar.DecodeValue(builder, rest); !ok {
			return fmt.Sprintf("0x%x", data)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q: %s", f.Name, datumjson.Append(nil, f.Type, builder.Finish().Datum(0)))
	}
	if len(rest) > 0 {
		fmt.Fprintf(&b, ", \"…\": \"0x%x\"", rest)
	}
	b.WriteByte('}')
	return b.String()
}

func (p *program) stateList(c *cli.Context) error { return p.showState(c, "state ls", "") }

func (p *program) stateGet(c *cli.Context) error {
	if c.Args().Len() != 2 {
		return invalid("expected a folder and a text: `wstream state get DIR TEXT`")
	}
	return p.showState(c, "state get", c.Args().Get(1))
}

func (p *program) showState(c *cli.Context, command, text string) error {
	cp, err := openCheckpoint(c, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer cp.Close()
	batch := c.Int64("batch")
	if batch < 0 {
		batch = cp.LastCommitID()
	}
	rows, err := stateRows(c, cp, batch)
	if err != nil {
		return err
	}
	shown := map[string]int{}
	var kept []stateRow
	for _, r := range rows {
		if strings.Contains(r.Key, text) && shown[r.Store] < c.Int("limit") {
			shown[r.Store]++
			kept = append(kept, r)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "state after batch %s: %s\n", batchText(batch), count(len(rows), "row"))
	for _, r := range kept {
		fmt.Fprintf(&b, "%s  %s → %s", r.Store, r.Key, r.Value)
		if r.Expiry != "" {
			fmt.Fprintf(&b, "  until %s", r.Expiry)
		}
		b.WriteByte('\n')
	}
	p.succeed(command, b.String(), map[string]any{"batch": batch, "total": len(rows), "rows": kept})
	return nil
}

func (p *program) stateDiff(c *cli.Context) error {
	cp, err := openCheckpoint(c, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer cp.Close()
	to := c.Int64("batch")
	if to < 0 {
		to = cp.LastCommitID()
	}
	old, err := stateRows(c, cp, c.Int64("from"))
	if err != nil {
		return err
	}
	now, err := stateRows(c, cp, to)
	if err != nil {
		return err
	}
	type change struct {
		Store string `json:"store"`
		Key   string `json:"key"`
		From  string `json:"from,omitempty"`
		To    string `json:"to,omitempty"`
	}
	id := func(r stateRow) string { return r.Store + "\x00" + r.Key + "\x00" }
	before := map[string][]string{}
	for _, r := range old {
		before[id(r)] = append(before[id(r)], r.Value)
	}
	var changes []change
	for _, r := range now {
		k := id(r)
		if v := before[k]; len(v) > 0 {
			if v[0] != r.Value {
				changes = append(changes, change{r.Store, r.Key, v[0], r.Value})
			}
			before[k] = v[1:]
			continue
		}
		changes = append(changes, change{Store: r.Store, Key: r.Key, To: r.Value})
	}
	for _, r := range old {
		if v := before[id(r)]; len(v) > 0 {
			changes = append(changes, change{Store: r.Store, Key: r.Key, From: v[0]})
			before[id(r)] = v[1:]
		}
	}
	var b strings.Builder
	for i, x := range changes {
		if i == c.Int("limit") {
			fmt.Fprintf(&b, "… and %d more\n", len(changes)-i)
			break
		}
		switch {
		case x.From == "":
			fmt.Fprintf(&b, "+ %s  %s → %s\n", x.Store, x.Key, x.To)
		case x.To == "":
			fmt.Fprintf(&b, "- %s  %s → %s\n", x.Store, x.Key, x.From)
		default:
			fmt.Fprintf(&b, "~ %s  %s: %s → %s\n", x.Store, x.Key, x.From, x.To)
		}
	}
	fmt.Fprintf(&b, "%s between batch %d and batch %d\n", count(len(changes), "change"), c.Int64("from"), to)
	p.succeed("state diff", b.String(), changes)
	return nil
}
