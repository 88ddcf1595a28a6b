// Package console is the sink that prints batches as tables, for people.
package console

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/show"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// Spec is the sink "console".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format:  "console",
		Doc:     "Prints the first rows of each batch as a table.",
		Promise: "at least once: a batch that is run again after a crash is printed again",
		Example: "sources:\n  ticks: {format: rate, options: {rowsPerSecond: 100}}\nsinks:\n  screen:\n    from: ticks\n    format: console\n    options: {numRows: 20, truncate: false}\n",
		Options: []connector.Option{
			{Name: "numRows", Type: "number", Default: "20", Doc: "How many rows of each batch are printed."},
			{Name: "truncate", Type: "boolean", Default: "true", Doc: "Whether values of more than 20 characters are cut: true or false."},
		},
		NoCheckpoint: true,
		NewSink:      newSink,
	}
}

type sink struct {
	out      io.Writer
	numRows  int
	truncate bool
	zone     *javatext.Zone
	schema   *columnar.Schema
}

func newSink(env connector.Env, o connector.Options) (connector.Sink, error) {
	n, err := o.Int("numRows", 20)
	if err != nil {
		return nil, err
	}
	cut := true
	if v, ok := o.Get("truncate"); ok {
		// A number is refused, as Spark does: cutting to a width is for show() alone.
		if cut, err = o.Bool("truncate", true); err != nil {
			if _, e := strconv.Atoi(v); e == nil {
				return nil, fmt.Errorf("%w; the console cuts values to 20 characters or not at all", err)
			}
			return nil, err
		}
	}
	s := &sink{out: env.Out, zone: javatext.UTC(), numRows: int(min(max(n, 0), 1<<30)), truncate: cut, schema: env.Schema}
	if s.out == nil {
		s.out = os.Stdout
	}
	if env.Zone != nil {
		if s.zone, err = javatext.LookupZone(env.Zone.String()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Begin implements connector.Sink.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	schema := info.Schema
	if schema == nil {
		schema = s.schema
	}
	return &writer{s.out, info, show.NewTable(schema, show.ConsoleOptions(s.numRows, s.truncate, s.zone))}, nil
}

// Description implements connector.Sink.
func (s *sink) Description() string {
	return fmt.Sprintf("ConsoleTable[numRows=%d, truncate=%t]", s.numRows, s.truncate)
}

// Close implements connector.Sink.
func (s *sink) Close() error { return nil }

// writer is one batch.
type writer struct {
	out   io.Writer
	info  connector.BatchInfo
	table *show.Table
}

// Write implements connector.BatchWriter.
func (w *writer) Write(_ context.Context, b *columnar.Batch) error {
	w.table.Add(b)
	return nil
}

// Commit implements connector.BatchWriter: the batch is printed in one piece.
func (w *writer) Commit(context.Context) error {
	for _, p := range []string{failpoint.SinkPartial, failpoint.SinkStaged} {
		if err := w.info.Failpoints.Hit(p, w.info.BatchID); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w.out, show.Console(w.info.BatchID, w.table))
	return err
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(context.Context) error { return nil }
