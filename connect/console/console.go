// Package console is the sink that prints batches as tables, for people.
package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// Spec is the sink "console".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format:  "console",
		Doc:     "Prints the first rows of each batch as a table.",
		Promise: "at least once: a batch that is run again after a crash is printed again",
		Example: "sinks:\n  screen:\n    from: raw\n    format: console\n    options: {numRows: 20, truncate: false}\n",
		Options: []connector.Option{
			{Name: "numRows", Default: "20", Doc: "How many rows of each batch are printed."},
			{Name: "truncate", Default: "true", Doc: "Whether values of more than 20 characters are cut: true or false."},
		},
		NoCheckpoint: true,
		NewSink:      newSink,
	}
}

type sink struct {
	out      io.Writer
	zone     *time.Location
	numRows  int
	truncate int // characters, 0 for no limit
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
	s := &sink{out: env.Out, zone: env.Zone, numRows: int(min(max(n, 0), 1<<30)), schema: env.Schema}
	if cut {
		s.truncate = 20
	}
	if s.out == nil {
		s.out = os.Stdout
	}
	if s.zone == nil {
		s.zone = time.UTC
	}
	return s, nil
}

// Begin implements connector.Sink.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	w := &writer{sink: s, info: info, schema: info.Schema}
	if w.schema == nil {
		w.schema = s.schema
	}
	return w, nil
}

// Description implements connector.Sink.
func (s *sink) Description() string {
	return fmt.Sprintf("ConsoleTable[numRows=%d, truncate=%t]", s.numRows, s.truncate > 0)
}

// Close implements connector.Sink.
func (s *sink) Close() error { return nil }

// writer keeps as many rows as are printed, and one more, which tells that there are more.
type writer struct {
	sink   *sink
	info   connector.BatchInfo
	schema *columnar.Schema
	rows   []*columnar.Batch
	n      int
}

// Write implements connector.BatchWriter.
func (w *writer) Write(_ context.Context, b *columnar.Batch) error {
	if room := w.sink.numRows + 1 - w.n; room > 0 && b.Rows > 0 {
		b = b.Slice(0, min(room, b.Rows))
		w.rows = append(w.rows, b)
		w.n += b.Rows
	}
	return nil
}

const rule = "-------------------------------------------\n"

// Commit implements connector.BatchWriter: the batch is printed in one piece.
func (w *writer) Commit(context.Context) error {
	points := w.info.Failpoints
	for _, p := range []string{failpoint.SinkPartial, failpoint.SinkStaged} {
		if err := points.Hit(p, w.info.BatchID); err != nil {
			return err
		}
	}
	all := columnar.EmptyBatch(w.schema)
	if len(w.rows) > 0 {
		all = columnar.ConcatBatches(w.rows)
	}
	text, err := table(all, w.sink.numRows, w.sink.truncate, w.sink.zone)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%sBatch: %d\n%s%s", rule, w.info.BatchID, rule, text)
	_, err = w.sink.out.Write(out.Bytes())
	return err
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(context.Context) error { return nil }
