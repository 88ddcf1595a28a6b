package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// chunk is what one batch reads of a source.
type chunk []row

type row struct {
	k  int32
	v  int64
	ts int64 // seconds since 1970
}

// fill makes the rows. Time goes on by fits and starts; some rows are late, some come twice, some are of a far key.
func (s *scenario) fill(r *rand.Rand) {
	now, v := int64(1_700_000_000), int64(0)
	for range 1 + r.IntN(3) {
		phase := map[string][]chunk{}
		for range 1 + r.IntN(5) {
			now += int64(pick(r, 0, 3, 11, 40))
			for _, name := range s.sources {
				c := chunk{}
				for range r.IntN(7) {
					v++
					at := now + r.Int64N(12) - 3
					if r.IntN(12) == 0 {
						at -= 60
					}
					c = append(c, row{int32(r.IntN(5)), v, at})
					if r.IntN(8) == 0 {
						c = append(c, row{c[len(c)-1].k, v, at})
					}
				}
				phase[name] = append(phase[name], c)
			}
		}
		s.phases = append(s.phases, phase)
	}
}

// json writes a chunk as the lines of a file.
func (c chunk) json() []byte {
	var b strings.Builder
	for _, r := range c {
		fmt.Fprintf(&b, "{\"k\":%d,\"v\":%d,\"ts\":%q}\n", r.k, r.v, time.Unix(r.ts, 0).UTC().Format(time.RFC3339))
	}
	return []byte(b.String())
}

// batch is a chunk as columns.
func (c chunk) batch(schema *columnar.Schema) *columnar.Batch {
	k, v, ts := make([]int32, len(c)), make([]int64, len(c)), make([]int64, len(c))
	for i, r := range c {
		k[i], v[i], ts[i] = r.k, r.v, r.ts*1_000_000
	}
	return columnar.NewBatch(schema, []*columnar.Column{
		columnar.NewFixed(columnar.Int32, k, nil), columnar.NewFixed(columnar.Int64, v, nil), columnar.NewFixed(columnar.Timestamp, ts, nil),
	}, len(c))
}

// errSource is what a source fails with.
var errSource = errors.New("the source is out of order")

// source is a source of chunks in memory, as one process has it. An offset is the number of chunks read.
type source struct {
	p    *process
	name string
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.p.w.schema }

// Description implements connector.Source.
func (s *source) Description() string { return "sim[" + s.name + "]" }

// Close implements connector.Source.
func (s *source) Close() error { return nil }

func position(o connector.Offset) (n int, err error) {
	if o == nil {
		return 0, nil
	}
	err = json.Unmarshal(o, &n)
	return n, err
}

// fails says whether a fault of the source strikes now.
func (s *source) fails(k kind) bool {
	p := s.p
	if p.dead {
		return true
	}
	if p.fault == nil || p.fault.kind != k {
		return false
	}
	if p.ops++; p.ops != p.fault.at {
		return false
	}
	p.hit(k)
	return true
}

// Next implements connector.Source: one chunk a batch.
func (s *source) Next(_ context.Context, start connector.Offset, _ bool) (end, latest connector.Offset, err error) {
	if s.fails(sourceError) {
		return nil, nil, errSource
	}
	at, err := position(start)
	if err != nil {
		return nil, nil, err
	}
	there := len(s.p.w.there[s.name])
	s.p.w.trace.add("next", s.name, int64(at), 0)
	return connector.Offset(strconv.Itoa(min(at+1, there))), connector.Offset(strconv.Itoa(there)), nil
}

// Fix implements connector.Bounded: nothing is added while a query runs.
func (s *source) Fix(context.Context, connector.Offset) error { return nil }

// Plan implements connector.Source.
func (s *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := position(start)
	if err != nil {
		return nil, err
	}
	to, err := position(end)
	if err != nil {
		return nil, err
	}
	var out []connector.Partition
	for i := from; i < to; i++ {
		out = append(out, &part{s, s.p.w.there[s.name][i]})
	}
	return out, nil
}

// part is a chunk to be read, in two pieces.
type part struct {
	s *source
	c chunk
}

// ID implements connector.Partition.
func (p *part) ID() string { return p.s.name }

// Read implements connector.Partition.
func (p *part) Read(_ context.Context, _ []int, emit func(connector.Chunk) error) error {
	half := len(p.c) / 2
	for i, c := range []chunk{p.c[:half], p.c[half:]} {
		if i == 1 && p.s.fails(sourceMid) {
			return errSource
		}
		if len(c) == 0 {
			continue
		}
		if err := emit(connector.ReadyChunk{Batch: c.batch(p.s.p.w.schema)}); err != nil {
			return err
		}
	}
	return nil
}
