package nats

import (
	"context"
	"maps"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Schema is the schema of a source, with headers where includeHeaders asks for them.
func Schema(headers bool) *columnar.Schema {
	s := columnar.NewSchema(
		columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true},
		columnar.Field{Name: "subject", Type: columnar.String, Nullable: true},
		columnar.Field{Name: "sequence", Type: columnar.Int64, Nullable: true},
		columnar.Field{Name: "timestamp", Type: columnar.Timestamp, Nullable: true},
		columnar.Field{Name: "stream", Type: columnar.String, Nullable: true},
	)
	if headers {
		s.Fields = append(s.Fields, columnar.Field{Name: "headers", Nullable: true, Type: columnar.ArrayOf(columnar.StructOf(
			columnar.Field{Name: "key", Type: columnar.String, Nullable: true}, columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}), true)})
	}
	return s
}

// partition is a range of sequences.
type partition struct {
	s    *source
	from uint64
	to   *position
}

// ID implements connector.Partition.
func (p *partition) ID() string { return p.s.client.name }

// Bounds of a chunk.
const (
	chunkRows  = 8192
	chunkBytes = 4 << 20
)

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, _ []int, emit func(connector.Chunk) error) error {
	s, to := p.s, p.to.Next
	info, err := s.look(ctx)
	if err != nil {
		return err
	}
	if !p.to.Created.Equal(info.Created) {
		return s.dataLoss("STREAM_MADE_AGAIN", to-p.from, "stream %q was deleted and made again: the batch with sequences %s is gone", s.client.name, span{p.from, to - 1})
	}
	var gaps []span
	c, at := newColumns(s), p.from
	err = s.reader.read(ctx, p.from, to, func(m *message) error {
		if m.sequence > at {
			gaps = append(gaps, span{at, m.sequence - 1})
		}
		at = m.sequence + 1
		if c.add(m); len(c.sequences) < chunkRows && len(c.values) < chunkBytes {
			return nil
		}
		full := c
		c = newColumns(s)
		return emit(full)
	})
	if err != nil {
		return err
	}
	if at < to {
		gaps = append(gaps, span{at, to - 1})
	}
	if len(gaps) > 0 || s.subjects != nil {
		if info, err = s.look(ctx); err != nil { // as it is now that all was read
			return err
		}
		if err := s.missing(info, p.from, to, gaps); err != nil {
			return err
		}
	}
	if len(c.sequences) == 0 {
		return nil
	}
	return emit(c)
}

// columns collects messages; it is a chunk of its own.
type columns struct {
	schema      *columnar.Schema
	stream      string
	values      []byte
	valueEnds   []int32
	subjects    []byte
	subjectEnds []int32
	sequences   []int64
	times       []int64
	headers     *columnar.Builder
}

func newColumns(s *source) *columns {
	c := &columns{schema: s.schema, stream: s.client.name, valueEnds: []int32{0}, subjectEnds: []int32{0}}
	if s.headers {
		c.headers = columnar.NewBuilder(s.schema.Fields[5].Type, 0)
	}
	return c
}

// add appends a message.
func (c *columns) add(m *message) {
	c.values = append(c.values, m.Data()...)
	c.valueEnds = append(c.valueEnds, int32(len(c.values)))
	c.subjects = append(c.subjects, m.Subject()...)
	c.subjectEnds = append(c.subjectEnds, int32(len(c.subjects)))
	c.sequences = append(c.sequences, int64(m.sequence))
	c.times = append(c.times, m.at.UnixMicro())
	if c.headers != nil {
		c.addHeaders(m)
	}
}

// addHeaders appends the headers of a message in order of name, null for none.
func (c *columns) addHeaders(m jetstream.Msg) {
	all := m.Headers()
	if len(all) == 0 {
		c.headers.AppendNull()
		return
	}
	item := c.headers.Child(0)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, v := range all[name] {
			item.Child(0).AppendBytes([]byte(name))
			item.Child(1).AppendBytes([]byte(v))
			item.AppendNested()
		}
	}
	c.headers.AppendNested()
}

// Decode implements connector.Chunk.
func (c *columns) Decode(context.Context) (connector.Decoded, error) {
	n := len(c.sequences)
	streams := make([]string, n)
	for i := range streams {
		streams[i] = c.stream
	}
	cols := []*columnar.Column{
		columnar.NewBytes(columnar.Binary, c.valueEnds, c.values, nil), columnar.NewBytes(columnar.String, c.subjectEnds, c.subjects, nil),
		columnar.NewFixed(columnar.Int64, c.sequences, nil), columnar.NewFixed(columnar.Timestamp, c.times, nil), columnar.NewStrings(streams),
	}
	if c.headers != nil {
		cols = append(cols, c.headers.Finish())
	}
	return connector.Decoded{Batch: columnar.NewBatch(c.schema, cols, n)}, nil
}
