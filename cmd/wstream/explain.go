package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/pipeline"
	"github.com/wstream/wstream/state"
)

func (p *program) explainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "logical and optimised plan, state and promises of every sink", ArgsUsage: "FILE",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORMAT`: text, json or mermaid"},
			&cli.StringSliceFlag{Name: "sink", Usage: "only the sink `NAME`"},
			&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`"},
		},
		Action: p.explain,
	}
}

// planVersion is the version of the form that docs/formats/plan.md describes. A key more does not change it.
const planVersion = 1

// explained is a query as `explain --format json` shows it.
type explained struct {
	Version  int                 `json:"planVersion"`
	Sink     string              `json:"sink"`
	Format   string              `json:"format"`
	Mode     string              `json:"outputMode"`
	Promise  string              `json:"promise"`
	Schema   string              `json:"schema"`
	Analyzed *plan.Outline       `json:"analyzed"`
	Plan     *plan.Outline       `json:"plan"`
	State    []exec.OperatorInfo `json:"state"`
	Warnings []string            `json:"warnings,omitempty"`
}

func (p *program) explain(c *cli.Context) error {
	format := c.String("format")
	if p.json {
		format = "json"
	}
	if format != "text" && format != "json" && format != "mermaid" {
		return invalid("flag --format: found %q, expected text, json or mermaid", format)
	}
	files, err := p.loadFiles(c.Args().Slice())
	if err != nil {
		return err
	}
	env, done, err := p.environment(c.Context, c.StringSlice("modules"))
	if err != nil {
		return err
	}
	defer done()
	var all []explained
	var text strings.Builder
	for _, f := range files {
		rt, err := env.Open(c.Context, f, nil)
		if err != nil {
			return err
		}
		for _, s := range f.Queries() {
			if only := c.StringSlice("sink"); len(only) > 0 && !slicesContain(only, s.Name) {
				continue
			}
			compiled, err := rt.Compile(s)
			if err != nil {
				return err
			}
			e := explained{Version: planVersion, Sink: s.Name, Format: s.Format, Mode: string(s.Mode), Promise: env.Promise(s), Schema: outputSchema(compiled.Root), Analyzed: plan.OutlineOf(compiled.Analyzed), Plan: plan.OutlineOf(compiled.Root), Warnings: compiled.Warnings}
			if s.Foreach != "" {
				e.Format = "foreachBatch " + s.Foreach
			}
			if e.State, err = operators(rt, s, compiled); err != nil {
				return err
			}
			all = append(all, e)
			explainText(&text, e, compiled, format)
		}
	}
	if format == "json" {
		p.printJSON(result{Command: "explain", OK: true, Result: all})
		return nil
	}
	fmt.Fprint(p.out, text.String())
	return nil
}

func explainText(b *strings.Builder, e explained, c *pipeline.Compiled, format string) {
	if format == "mermaid" {
		fmt.Fprintf(b, "%%%% sink %s\n%s", e.Sink, plan.Mermaid(c.Root))
		return
	}
	fmt.Fprintf(b, "sink %q: %s, output mode %s\n", e.Sink, e.Format, e.Mode)
	if e.Promise != "" {
		fmt.Fprintf(b, "promise: %s\n", e.Promise)
	}
	fmt.Fprintf(b, "schema: %s\n", e.Schema)
	for _, w := range e.Warnings {
		fmt.Fprintf(b, "warning: %s\n", w)
	}
	fmt.Fprintf(b, "\n== analysed plan ==\n%s\n== optimised plan ==\n%s", plan.Text(c.Analyzed), plan.Text(c.Root))
	if len(e.State) > 0 {
		b.WriteString("\n== state ==\n")
		for _, o := range e.State {
			fmt.Fprintf(b, "%d %s\n   keys:   %s\n   values: %s\n", o.ID, o.Name, o.KeySchema, o.ValueSchema)
			if o.WatermarkDriven {
				b.WriteString("   shrinks with the watermark\n")
			}
		}
	}
	b.WriteByte('\n')
}

func outputSchema(n plan.Node) string {
	var parts []string
	for _, a := range n.Output() {
		t := a.Name + " " + a.Typ.SQL()
		if !a.Null {
			t += " NOT NULL"
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, ", ")
}

// operators compiles the plan over an empty state, to learn the shapes of its state.
func operators(rt *pipeline.Runtime, s *pipeline.Sink, c *pipeline.Compiled) ([]exec.OperatorInfo, error) {
	db, err := state.Open(state.Options{FS: memFS(), Dir: "/state", Partitions: rt.File.Settings.ShufflePartitions})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	q, err := exec.Compile(c.Root, exec.Options{Streaming: true, Mode: s.Mode, State: db, Expr: expr.Context{Zone: rt.Zone, ANSI: rt.File.Settings.ANSI}})
	if err != nil {
		return nil, err
	}
	defer q.Close()
	return q.Operators(), nil
}
