package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/stream"
)

// Trigger says when batches run.
type Trigger = stream.Trigger

// ProcessingTime runs batches on an interval; 0 runs the next one as soon as there is data.
func ProcessingTime(d time.Duration) Trigger {
	return Trigger{Kind: stream.ProcessingTime, Interval: d}
}

// Once runs a single batch.
func Once() Trigger { return Trigger{Kind: stream.Once} }

// AvailableNow runs as many batches as the limits ask for over what is there at the start.
func AvailableNow() Trigger { return Trigger{Kind: stream.AvailableNow} }

// Continuous runs the shortest batches that there can be.
func Continuous(d time.Duration) Trigger { return Trigger{Kind: stream.Continuous, Interval: d} }

// The output modes.
const (
	Append   = connector.Append
	Update   = connector.Update
	Complete = connector.Complete
)

// DataStreamWriter describes a streaming query that is to be started. Its methods change it and return it.
type DataStreamWriter struct {
	df         *DataFrame
	format     string
	mode       connector.OutputMode
	trigger    Trigger
	name       string
	checkpoint string
	options    map[string]string
	foreach    func(ctx context.Context, rows *DataFrame, batch int64) error
	sides      map[string]stream.Sink
	listeners  []stream.Listener
	err        error
}

// WriteStream begins to describe a streaming query of the frame.
func (df *DataFrame) WriteStream() *DataStreamWriter {
	return &DataStreamWriter{df: df, options: map[string]string{}, sides: map[string]stream.Sink{}, err: df.err}
}

// Format is the name of the connector that the result goes to.
func (w *DataStreamWriter) Format(format string) *DataStreamWriter { w.format = format; return w }

// OutputMode is Append (the default), Update or Complete.
func (w *DataStreamWriter) OutputMode(m connector.OutputMode) *DataStreamWriter { w.mode = m; return w }

// Trigger says when batches run; without it as soon as there is data.
func (w *DataStreamWriter) Trigger(t Trigger) *DataStreamWriter { w.trigger = t; return w }

// QueryName is the name of the query in errors and progress events.
func (w *DataStreamWriter) QueryName(name string) *DataStreamWriter { w.name = name; return w }

// Option sets an option of the connector. "checkpointLocation" is the folder of the checkpoint; without it the query begins
// anew at each start.
func (w *DataStreamWriter) Option(name, value string) *DataStreamWriter {
	switch strings.ToLower(name) {
	case "checkpointlocation":
		w.checkpoint = value
	case "queryname":
		w.name = value
	default:
		w.options[name] = value
	}
	return w
}

// Options sets several options.
func (w *DataStreamWriter) Options(options map[string]string) *DataStreamWriter {
	for k, v := range options {
		w.Option(k, v)
	}
	return w
}

// ForeachBatch hands every batch to a function, as a bounded data frame with the batch's id. A batch may come again after a
// crash, with the same id and rows: the function makes the output exactly-once by it.
func (w *DataStreamWriter) ForeachBatch(f func(ctx context.Context, rows *DataFrame, batch int64) error) *DataStreamWriter {
	w.foreach = f
	return w
}

// SideSink opens a sink for late rows or dead letters under a name that the frame uses, see DataFrame.LateRowsTo.
func (w *DataStreamWriter) SideSink(name, format string, options map[string]string) *DataStreamWriter {
	sink, err := w.df.s.sink(format, Append, options)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("sink %q: %w", name, err)
	}
	w.sides[name] = sink
	return w
}

// Listener is told of the events of the query.
func (w *DataStreamWriter) Listener(l stream.Listener) *DataStreamWriter {
	w.listeners = append(w.listeners, l)
	return w
}

// Start checks the query by the rules of streaming and starts it. A path is the option "path". The query ends with ctx.
func (w *DataStreamWriter) Start(ctx context.Context, path ...string) (*StreamingQuery, error) {
	if len(path) == 1 {
		w.Option("path", path[0])
	}
	spec, err := w.spec()
	if err != nil {
		return nil, err
	}
	return w.df.s.streams.start(ctx, spec)
}

// spec is the query as package stream takes it.
func (w *DataStreamWriter) spec() (stream.Spec, error) {
	s := w.df.s
	var none stream.Spec
	if w.err != nil {
		return none, w.err
	}
	if w.mode == "" {
		w.mode = Append
	}
	a, n, err := w.df.plan()
	if err != nil {
		return none, err
	}
	warnings, err := plan.CheckStreaming(n, w.mode)
	if err != nil {
		return none, err
	}
	spec := stream.Spec{
		Name: w.name, Plan: plan.Number(a.Optimize(n)), Mode: w.mode, Trigger: w.trigger, Sources: map[string]stream.Source{},
		SideSinks: w.sides, Checkpoint: s.absolute(w.checkpoint), FS: s.opts.FS, Settings: s.streamSettings(), Clock: s.opts.Clock,
		Listeners: append(w.listeners, s.streams.listeners()...), Failpoints: s.opts.Failpoints, Warnings: warnings,
	}
	if err := sourcesOf(spec.Plan, spec.Sources); err != nil {
		return none, err
	}
	switch {
	case w.foreach != nil:
		spec.Sink = stream.Sink{Kind: "foreachBatch", Open: func(connector.Env) (connector.Sink, error) {
			return &foreachSink{s: s, f: w.foreach}, nil
		}}
	case w.format == "":
		return none, fmt.Errorf("the query has no sink; set Format or ForeachBatch")
	default:
		if spec.Sink, err = s.sink(w.format, w.mode, w.options); err != nil {
			return none, err
		}
	}
	return spec, nil
}

// absolute is a folder as the session finds it; none stays none.
func (s *Session) absolute(dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.opts.BaseDir, dir)
}

// sourcesOf finds what a plan reads.
func sourcesOf(root plan.Node, to map[string]stream.Source) (err error) {
	seen := map[string]*relation{}
	plan.Walk(root, func(n plan.Node) bool {
		r, ok := n.(*plan.Relation)
		if !ok {
			return true
		}
		rel, ok := r.Table.(*relation)
		if !ok {
			err = fmt.Errorf("relation %q cannot be read", r.Source)
			return false
		}
		if other := seen[r.Source]; other != nil && other != rel {
			err = sparkerr.New("DUPLICATED_SOURCE_NAME", "two sources are called %q; give each a Name of its own", r.Source)
			return false
		}
		seen[r.Source] = rel
		to[r.Source] = stream.Source{Kind: rel.spec.Format, Static: !rel.streaming, Refresh: rel.refresh, Open: rel.open}
		return true
	})
	return err
}

// sink describes a sink of a connector.
func (s *Session) sink(format string, mode connector.OutputMode, options map[string]string) (stream.Sink, error) {
	spec, err := s.spec(format, false)
	if err != nil {
		return stream.Sink{}, err
	}
	if spec.Modes != nil && !slices.Contains(spec.Modes, mode) {
		return stream.Sink{}, sparkerr.New("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
			"data source %s does not support %s output mode; it takes %v", spec.Format, mode, spec.Modes)
	}
	o := connector.NewOptions(options)
	if err := s.checkOptions(spec, o); err != nil {
		return stream.Sink{}, err
	}
	return stream.Sink{Kind: spec.Format, Open: func(env connector.Env) (connector.Sink, error) {
		return spec.NewSink(s.env(env, nil), o)
	}}, nil
}

// foreachSink calls a function with each batch.
type foreachSink struct {
	s *Session
	f func(ctx context.Context, rows *DataFrame, batch int64) error
}

// Begin implements connector.Sink.
func (k *foreachSink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	return &foreachWriter{sink: k, info: info}, nil
}

// Description implements connector.Sink.
func (k *foreachSink) Description() string { return "ForeachBatchSink" }

// Close implements connector.Sink.
func (k *foreachSink) Close() error { return nil }

type foreachWriter struct {
	sink *foreachSink
	info connector.BatchInfo
	rows []*columnar.Batch
}

// Write implements connector.BatchWriter.
func (w *foreachWriter) Write(_ context.Context, b *columnar.Batch) error {
	w.rows = append(w.rows, b)
	return nil
}

// Commit implements connector.BatchWriter.
func (w *foreachWriter) Commit(ctx context.Context) error {
	err := w.sink.f(ctx, w.sink.s.local(w.info.Schema, w.rows...), w.info.BatchID)
	if err != nil {
		return sparkerr.New("FOREACH_BATCH_USER_FUNCTION_ERROR", "an error occurred in the function of foreachBatch").WithCause(err)
	}
	return nil
}

// Abort implements connector.BatchWriter.
func (w *foreachWriter) Abort(context.Context) error { return nil }
