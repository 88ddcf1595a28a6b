// Package rate holds sources that make rows by themselves: so many a second, or so many a batch. They serve tests and
// measurements.
package rate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// schema is that of both sources.
func schema(connector.Options) (*columnar.Schema, error) {
	return columnar.NewSchema(columnar.Field{Name: "timestamp", Type: columnar.Timestamp, Nullable: true},
		columnar.Field{Name: "value", Type: columnar.Int64, Nullable: true}), nil
}

// Specs are the sources "rate" and "rate-micro-batch".
func Specs() []*connector.Spec {
	return []*connector.Spec{
		{
			Format:      "rate",
			Doc:         "Makes so many rows a second: a timestamp, and a number that counts from 0.",
			Example:     "sources:\n  ticks:\n    format: rate\n    options: {rowsPerSecond: 10, numPartitions: 2}\nsinks:\n  screen: {from: ticks, format: console}\n",
			FixedSchema: schema,
			Options: []connector.Option{
				{Name: "rowsPerSecond", Type: "number", Default: "1", Doc: "How many rows are made in a second."},
				{Name: "rampUpTime", Type: "duration", Default: "0s", Doc: "How long the rate takes to grow to rowsPerSecond."},
				{Name: "numPartitions", Type: "number", Default: "the processors", Doc: "How many partitions share the rows."},
			},
			NewSource: newRate,
		},
		{
			Format:      "rate-micro-batch",
			Doc:         "Makes so many rows a batch: the timestamp of the batch, and a number that counts from 0. A replay makes the same.",
			Example:     "sources:\n  ticks:\n    format: rate-micro-batch\n    options: {rowsPerBatch: 10, advanceMillisPerBatch: 60000}\nsinks:\n  screen: {from: ticks, format: console, trigger: {processingTime: 1 second}}\n",
			FixedSchema: schema,
			Options: []connector.Option{
				{Name: "rowsPerBatch", Type: "number", Required: true, Doc: "How many rows a batch has."},
				{Name: "startTimestamp", Type: "number", Default: "0", Doc: "The timestamp of the first batch, in ms since 1970."},
				{Name: "advanceMillisPerBatch", Type: "number", Default: "1000", Doc: "How many ms the timestamp moves on with each batch."},
				{Name: "numPartitions", Type: "number", Default: "the processors", Doc: "How many partitions share the rows."},
			},
			NewSource: newMicroBatch,
		},
	}
}

// positive reads an option that must be above 0.
func positive(o connector.Options, name string, def int64) (int64, error) {
	n, err := o.Int(name, def)
	if err == nil && n <= 0 {
		err = fmt.Errorf("option %q: found %d, expected a number above 0", name, n)
	}
	return n, err
}

// source makes rows per second. An offset is the whole seconds since the start of the query, whose time stands in the
// source's log, so that a restart goes on counting.
type source struct {
	schema     *columnar.Schema
	now        func() time.Time
	perSecond  int64
	ramp       int64 // s
	partitions int64
	start      int64 // ms
	last       int64 // the greatest second that was given: time may go back
	fixed      int64 // for availableNow, -1 for none
}

func newRate(env connector.Env, o connector.Options) (connector.Source, error) {
	s := &source{now: env.Now, fixed: -1}
	s.schema, _ = schema(o)
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	if s.perSecond, err = positive(o, "rowsPerSecond", 1); err != nil {
		return nil, err
	}
	ramp, err := o.Duration("rampUpTime", 0)
	if err != nil {
		return nil, err
	}
	s.ramp = int64(ramp / time.Second)
	if s.partitions, err = positive(o, "numPartitions", 2); err != nil {
		return nil, err
	}
	s.start = s.now().UnixMilli()
	return s, s.recall(env)
}

// begun is the entry of the source's log.
type begun struct {
	StartTime int64 `json:"startTimeMs"`
}

// recall takes the time of the start from the log, or puts it there.
func (s *source) recall(env connector.Env) error {
	if env.Log == nil || env.Static {
		return nil
	}
	found := false
	err := env.Log.Each(func(_ int64, v json.RawMessage) error {
		var b begun
		if err := json.Unmarshal(v, &b); err != nil {
			return fmt.Errorf("the source's log: %w", err)
		}
		found, s.start = true, b.StartTime
		return nil
	})
	if err != nil || found {
		return err
	}
	v, err := json.Marshal(begun{s.start})
	if err != nil {
		return err
	}
	id := int64(0)
	if env.NextBatch != nil {
		id = env.NextBatch()
	}
	return env.Log.Put(id, v)
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string {
	return fmt.Sprintf("RateStreamV2[rowsPerSecond=%d, rampUpTimeSeconds=%d, numPartitions=%d]", s.perSecond, s.ramp, s.partitions)
}

// Close implements connector.Source.
func (s *source) Close() error { return nil }

func parse(o connector.Offset) (int64, error) {
	if o == nil {
		return 0, nil
	}
	var n int64
	if err := json.Unmarshal(o, &n); err != nil || n < 0 {
		return 0, fmt.Errorf("offset %s is not a number of seconds", o)
	}
	return n, nil
}

func offset(n int64) connector.Offset {
	if n == 0 {
		return nil
	}
	return connector.Offset(fmt.Sprint(n))
}

// Fix implements connector.Bounded.
func (s *source) Fix(context.Context, connector.Offset) error {
	s.fixed = s.second()
	return nil
}

// second is the whole seconds since the start; it never goes back.
func (s *source) second() int64 {
	s.last = max(s.last, (s.now().UnixMilli()-s.start)/1000)
	return s.last
}

// Next implements connector.Source.
func (s *source) Next(_ context.Context, start connector.Offset, _ bool) (end, latest connector.Offset, err error) {
	at, err := parse(start)
	if err != nil {
		return nil, nil, err
	}
	s.last = max(s.last, at)
	n := s.second()
	if s.fixed >= 0 {
		n = max(at, min(n, s.fixed))
	}
	return offset(n), offset(n), nil
}

// valueAt is how many rows there are in the first n seconds. The rate grows by equal whole steps during the ramp.
func (s *source) valueAt(n int64) int64 {
	if n <= s.ramp {
		return n * (n + 1) / 2 * (s.perSecond / (s.ramp + 1))
	}
	return s.valueAt(s.ramp) + (n-s.ramp)*s.perSecond
}

// Plan implements connector.Source.
func (s *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := parse(start)
	if err != nil {
		return nil, err
	}
	to, err := parse(end)
	if err != nil {
		return nil, err
	}
	first, last := s.valueAt(from), s.valueAt(to)
	perValue := float64(to-from) * 1000 / float64(max(last-first, 1))
	at := func(value int64) int64 {
		return (s.start + from*1000 + int64(math.Round(float64(value-first)*perValue))) * 1000
	}
	return split(s.schema, first, last, s.partitions, at), nil
}

// split divides the values from first up to last among partitions, in turn as Spark does.
func split(schema *columnar.Schema, first, last, partitions int64, at func(value int64) int64) []connector.Partition {
	var out []connector.Partition
	for p := range min(partitions, last-first) {
		out = append(out, &partition{schema, p, first + p, last, partitions, at})
	}
	return out
}

// partition is each step-th value.
type partition struct {
	schema            *columnar.Schema
	id                int64
	first, last, step int64
	at                func(value int64) int64 // timestamp of a value in µs
}

// ID implements connector.Partition.
func (p *partition) ID() string { return fmt.Sprint(p.id) }

// rows is how many rows a batch has.
const rows = 8192

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, _ []int, emit func(connector.Chunk) error) error {
	for v := p.first; v < p.last; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min((p.last-v+p.step-1)/p.step, rows)
		times, values := make([]int64, n), make([]int64, n)
		for i := range values {
			times[i], values[i] = p.at(v), v
			v += p.step
		}
		b := columnar.NewBatch(p.schema, []*columnar.Column{
			columnar.NewFixed(columnar.Timestamp, times, nil), columnar.NewFixed(columnar.Int64, values, nil),
		}, int(n))
		if err := emit(connector.ReadyChunk{Batch: b}); err != nil {
			return err
		}
	}
	return nil
}
