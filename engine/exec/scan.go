package exec

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/internal/failpoint"
)

// scan reads a relation: its partitions one after the other, their chunks decoded by the workers.
type scan struct {
	rel    *plan.Relation
	index  int // in Query.Relations
	need   []int
	schema *columnar.Schema // of the columns in need
}

// newScan is a scan of the columns of rel that are needed.
func newScan(rel *plan.Relation, index int, need attrSet) (*scan, []*expr.Attr) {
	s := &scan{rel: rel, index: index, need: []int{}}
	var attrs []*expr.Attr
	for i, a := range rel.Attrs {
		if need[a.ID] {
			s.need = append(s.need, i)
			attrs = append(attrs, a)
		}
	}
	s.schema = schemaOf(attrs)
	return s, attrs
}

func (s *scan) each(r *run, emit func(morsel) error) error {
	if s.rel.Streaming && r.batch.NoData {
		return nil
	}
	parts, err := r.batch.Input(r.ctx, s.rel)
	if err != nil {
		return fmt.Errorf("source %q: %w", s.rel.Source, err)
	}
	for i, p := range parts {
		at := partition{index: i, id: p.ID()}
		var down error // an error from further down the pipeline keeps its own text
		err := p.Read(r.ctx, s.need, func(c connector.Chunk) error {
			m := morsel{part: at, scan: s}
			if ready, ok := c.(connector.ReadyChunk); ok {
				m.rows = s.take(r, connector.Decoded{Batch: ready.Batch})
			} else {
				m.chunk = c
			}
			if down = emit(m); down != nil {
				return down
			}
			down = r.batch.Failpoints.Hit(failpoint.SourceMid, r.batch.ID)
			return down
		})
		if down != nil {
			return down
		}
		if err != nil {
			return fmt.Errorf("source %q: %w", s.rel.Source, err)
		}
	}
	return nil
}

// decode decodes a chunk in a worker.
func (s *scan) decode(w *worker, c connector.Chunk) (*columnar.Batch, error) {
	d, err := c.Decode(w.ctx)
	if err != nil {
		return nil, fmt.Errorf("source %q: %w", s.rel.Source, err)
	}
	return s.take(w.run, d), nil
}

// take counts rows and leaves out columns that nobody needs.
func (s *scan) take(r *run, d connector.Decoded) *columnar.Batch {
	r.mu.Lock()
	in := &r.res.Inputs[s.index]
	in.Rows += int64(d.Batch.Rows)
	in.CorruptRows += d.CorruptRows
	if in.Sample == "" {
		in.Sample = d.Sample
	}
	r.mu.Unlock()
	if identity(s.need, len(d.Batch.Columns)) {
		return d.Batch
	}
	return pick(s.schema, d.Batch, s.need)
}

func (s *scan) forget(int) {}

// rowsSource gives rows that are there already, in pieces.
type rowsSource struct{ rows []*columnar.Batch }

func (s *rowsSource) each(_ *run, emit func(morsel) error) error {
	for _, b := range s.rows {
		if err := emit(morsel{rows: b}); err != nil {
			return err
		}
	}
	return nil
}

func (s *rowsSource) forget(int) {}
