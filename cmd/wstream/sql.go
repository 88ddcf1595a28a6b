package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/csvfmt"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/pipeline"
)

func (p *program) sqlCommand() *cli.Command {
	return &cli.Command{
		Name: "sql", Usage: "run SQL over files, the relations of a pipeline file, or nothing", ArgsUsage: "[STATEMENTS]",
		Description: "Statements are separated by `;` and come from the argument or standard input. Streams of a pipeline\nfile are read as bounded tables.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Usage: "the views and sources of the pipeline `FILE`"},
			&cli.StringFlag{Name: "format", Value: "table", Usage: "`FORMAT` of rows: table, jsonl or csv"},
			&cli.BoolFlag{Name: "lines", Usage: "one statement per line of standard input, each a JSON string"},
			&cli.BoolFlag{Name: "keep-going", Usage: "go on after a failing statement"},
			&cli.StringSliceFlag{Name: "set", Usage: "change a setting: `KEY=VALUE`, e.g. ansi=false, timezone=America/New_York"},
			&cli.IntFlag{Name: "rows", Value: 1000, Usage: "print at most `N` rows of a statement as a table"},
			&cli.StringSliceFlag{Name: "modules", Usage: "look for modules that are not at their path in `DIR`"},
		},
		Action: p.sql,
	}
}

// sqlLine is what --json prints of a statement.
type sqlLine struct {
	Schema *string           `json:"schema,omitempty"`
	Rows   []json.RawMessage `json:"rows,omitempty"`
	Error  *sqlError         `json:"error,omitempty"`
}

type sqlError struct {
	Condition string `json:"condition"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
}

func (p *program) sql(c *cli.Context) error {
	s, done, err := p.sqlSession(c)
	if err != nil {
		return err
	}
	defer done()
	switch c.String("format") {
	case "table", "jsonl", "csv":
	default:
		return invalid("flag --format: found %q, expected table, jsonl or csv", c.String("format"))
	}
	out := bufio.NewWriterSize(p.out, 1<<16)
	defer out.Flush()
	if c.Bool("lines") {
		return p.sqlLines(c, s, out)
	}
	text := strings.Join(c.Args().Slice(), " ")
	if text == "" || text == "-" {
		b, err := io.ReadAll(p.in)
		if err != nil {
			return err
		}
		text = string(b)
	}
	if strings.TrimSpace(text) == "" {
		return sparkerr.New("PARSE_EMPTY_STATEMENT", "there is no statement: give one as an argument, or some on standard input")
	}
	var last error
	for _, piece := range sql.Split(text) {
		if err := p.statement(c, s, piece.Text, out); err != nil {
			last = err
			if !c.Bool("keep-going") {
				return err
			}
			if !p.json {
				out.Flush()
				fmt.Fprintln(p.err, p.paint("31", "error: ")+err.Error())
			}
		}
	}
	if last != nil {
		return &reported{last}
	}
	return nil
}

// sqlLines runs one statement per line, each a JSON string; every line gives exactly one line.
func (p *program) sqlLines(c *cli.Context, s *sqlSession, out *bufio.Writer) error {
	in := bufio.NewReaderSize(p.in, 1<<20)
	var last error
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			var text string
			fail := json.Unmarshal(line, &text)
			if fail != nil {
				fail = invalid("line %d: found %s, expected a JSON string", n, strings.TrimSpace(string(line)))
				if p.json {
					p.printSQL(out, sqlLine{Error: sqlErrorOf(fail)})
				}
			} else {
				fail = p.statement(c, s, text, out)
			}
			if fail != nil {
				last = fail
				if !c.Bool("keep-going") {
					return fail
				}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if last != nil {
		return &reported{last}
	}
	return nil
}

// statement runs one statement and prints what it gives.
func (p *program) statement(c *cli.Context, s *sqlSession, text string, out *bufio.Writer) (err error) {
	res, err := runStatement(c.Context, s, text)
	if err != nil {
		if p.json {
			p.printSQL(out, sqlLine{Error: sqlErrorOf(err)})
			return &reported{err}
		}
		return err
	}
	switch {
	case p.json:
		schema := res.Schema.String()
		line := sqlLine{Schema: &schema, Rows: []json.RawMessage{}}
		each(res, func(b *columnar.Batch, i int) { line.Rows = append(line.Rows, datumjson.AppendRow(nil, b, i)) })
		p.printSQL(out, line)
	case len(res.Schema.Fields) == 0 && res.Rows() == 0:
	case c.String("format") == "jsonl":
		each(res, func(b *columnar.Batch, i int) {
			out.Write(datumjson.AppendRow(nil, b, i))
			out.WriteByte('\n')
		})
	case c.String("format") == "csv":
		return p.sqlCSV(res, s, out)
	default:
		zone, err := javatext.LookupZone(s.Settings.Zone.String())
		if err != nil {
			zone = javatext.UTC()
		}
		t := show.NewTable(res.Schema, show.Options{NumRows: c.Int("rows"), Zone: zone})
		for _, b := range res.Batches {
			if !t.Add(b) {
				break
			}
		}
		text := t.String()
		if strings.HasSuffix(text, "\n\n") { // show leaves a line free
			text = text[:len(text)-1]
		}
		out.WriteString(text)
	}
	return nil
}

// runStatement turns a panic, which would be a fault of ours, into an error of the statement.
func runStatement(ctx context.Context, s *sqlSession, text string) (res *batch.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = sparkerr.New("INTERNAL_ERROR", "%v", r)
		}
	}()
	if err := s.files.Set("timezone", s.Settings.Zone.String()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.catalog.Done()) }()
	return s.Run(ctx, text)
}

func each(res *batch.Result, f func(b *columnar.Batch, i int)) {
	for _, b := range res.Batches {
		b = columnar.NewBatch(res.Schema, b.Columns, b.Rows)
		for i := 0; i < b.Rows; i++ {
			f(b, i)
		}
	}
}

func (p *program) printSQL(out *bufio.Writer, line sqlLine) {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(line)
}

func sqlErrorOf(err error) *sqlError {
	f := failureOf(err)
	return &sqlError{Condition: f.Code, Message: f.Message, Line: f.Line, Column: f.Column}
}

// sqlSession runs statements, over files too.
type sqlSession struct {
	*batch.Session
	files   *engine.Session // reads the files that statements name
	catalog *engine.Files
}

// sqlSession makes the session that the flags ask for.
func (p *program) sqlSession(c *cli.Context) (*sqlSession, func(), error) {
	done := func() {}
	s := &batch.Session{Settings: plan.Settings{ANSI: true, Zone: time.UTC}}
	if file := c.String("file"); file != "" {
		files, err := p.loadSet([]string{file}, pipelineSets(c.StringSlice("set")))
		if err != nil {
			return nil, done, err
		}
		env, closeEnv, err := p.environment(c.Context, c.StringSlice("modules"))
		if err != nil {
			return nil, done, err
		}
		done = closeEnv
		rt, err := env.OpenBounded(c.Context, files[0])
		if err != nil {
			done()
			return nil, func() {}, err
		}
		s.Registry, s.Catalog, s.Input = env.Registry, rt.Catalog(), rt.ReadBounded
		s.Settings.ANSI, s.Settings.Zone = files[0].Settings.ANSI, rt.Zone
		s.Workers = 0
	} else {
		s.Registry = expr.NewRegistry(expr.Builtins())
		s.Catalog = pipeline.NoRelations{}
	}
	for _, kv := range c.StringSlice("set") {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			done()
			return nil, func() {}, invalid("flag --set: found %q, expected KEY=VALUE", kv)
		}
		if strings.Contains(k, ".") && !strings.HasPrefix(k, "settings.") && !strings.HasPrefix(k, "spark.") {
			continue // an option of the file
		}
		if err := s.Set(strings.TrimPrefix(k, "settings."), v); err != nil {
			done()
			return nil, func() {}, &coded{err, exitInvalid}
		}
	}
	files, err := engine.NewSession(connect.All(), engine.Options{Registry: s.Registry, Warn: p.warn})
	if err != nil {
		done()
		return nil, func() {}, err
	}
	catalog := engine.NewFiles(files, s.Catalog, s.Input)
	s.Catalog, s.Input = catalog, catalog.Read
	return &sqlSession{s, files, catalog}, done, nil
}

// sqlCSV prints rows as CSV with a header.
func (p *program) sqlCSV(res *batch.Result, s *sqlSession, out *bufio.Writer) error {
	o, err := csvfmt.ParseOptions(map[string]string{"header": "true"}, s.Settings.Zone.String())
	if err != nil {
		return err
	}
	w, err := csvfmt.NewWriter(res.Schema, o, true)
	if err != nil {
		return err
	}
	buf := w.AppendHeader(nil)
	for _, b := range res.Batches {
		for i := 0; i < b.Rows; i++ {
			buf = w.AppendRow(buf, b, i)
		}
	}
	_, err = out.Write(buf)
	return err
}

func envVar(name string) string { return os.Getenv(name) }
