package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Columns of the source, in order.
const (
	colKey = iota
	colValue
	colTopic
	colPartition
	colOffset
	colTimestamp
	colTimestampType
	colHeaders
)

// Schema is the schema of a Kafka source, with headers where includeHeaders asks for them.
func Schema(headers bool) *columnar.Schema {
	s := columnar.NewSchema(
		columnar.Field{Name: "key", Type: columnar.Binary, Nullable: true},
		columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true},
		columnar.Field{Name: "topic", Type: columnar.String, Nullable: true},
		columnar.Field{Name: "partition", Type: columnar.Int32, Nullable: true},
		columnar.Field{Name: "offset", Type: columnar.Int64, Nullable: true},
		columnar.Field{Name: "timestamp", Type: columnar.Timestamp, Nullable: true},
		columnar.Field{Name: "timestampType", Type: columnar.Int32, Nullable: true},
	)
	if headers {
		s.Fields = append(s.Fields, columnar.Field{Name: "headers", Nullable: true, Type: columnar.ArrayOf(columnar.StructOf(
			columnar.Field{Name: "key", Type: columnar.String, Nullable: true}, columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}), true)})
	}
	return s
}

// chunk is record batches of one partition that were fetched and not decoded yet.
type chunk struct {
	part     tp
	batches  []rawBatch
	from, to int64 // offsets [from, to) count
	schema   *columnar.Schema
	need     []bool
	codec    kgo.Decompressor
}

// Decode implements connector.Chunk.
func (c *chunk) Decode(context.Context) (connector.Decoded, error) {
	rows := 0
	for i := range c.batches {
		rows += int(max(c.batches[i].count, 0))
	}
	w := newWriter(c, rows)
	for i := range c.batches {
		if err := w.batch(&c.batches[i]); err != nil {
			return connector.Decoded{}, fmt.Errorf("topic %q, partition %d: %w", c.part.topic, c.part.partition, err)
		}
	}
	return connector.Decoded{Batch: w.finish()}, nil
}

// bytesColumn collects a nullable binary column.
type bytesColumn struct {
	on      bool
	offsets []int32
	data    []byte
	valid   columnar.Bitmap
	nulls   bool
}

func (b *bytesColumn) add(v []byte, row int) {
	if v == nil {
		b.nulls = true
	} else {
		b.valid.Set(row)
		b.data = append(b.data, v...)
	}
	b.offsets = append(b.offsets, int32(len(b.data)))
}

func (b *bytesColumn) column(rows int) *columnar.Column {
	if !b.on {
		return columnar.NewNull(columnar.Binary, rows)
	}
	c := columnar.NewBytes(columnar.Binary, b.offsets, b.data, nil)
	if b.nulls {
		c.Valid = b.valid
	}
	return c
}

// writer turns records into columns.
type writer struct {
	c          *chunk
	rows       int
	key, value bytesColumn
	offset     []int64
	timestamp  []int64
	stampType  []int32
	headers    *columnar.Builder
}

func newWriter(c *chunk, rows int) *writer {
	w := &writer{c: c}
	size := 0
	for i := range c.batches {
		size += len(c.batches[i].data)
	}
	for col, b := range map[int]*bytesColumn{colKey: &w.key, colValue: &w.value} {
		if b.on = c.need[col]; b.on {
			b.offsets = append(make([]int32, 0, rows+1), 0)
			b.valid = columnar.NewBitmap(rows)
			if col == colValue {
				b.data = make([]byte, 0, size)
			}
		}
	}
	if c.need[colOffset] {
		w.offset = make([]int64, 0, rows)
	}
	if c.need[colTimestamp] {
		w.timestamp = make([]int64, 0, rows)
	}
	if c.need[colTimestampType] {
		w.stampType = make([]int32, 0, rows)
	}
	if len(c.schema.Fields) > colHeaders && c.need[colHeaders] {
		w.headers = columnar.NewBuilder(c.schema.Fields[colHeaders].Type, rows)
	}
	return w
}

// batch adds the records of a batch that lie in the chunk's range.
func (w *writer) batch(r *rawBatch) error {
	b, err := r.records(w.c.codec)
	if err != nil {
		return err
	}
	first, appended, byAppend := r.timestamps()
	stamp := int32(0)
	if byAppend {
		stamp = 1
	}
	var rec record
	for n := int32(0); n < r.count; n++ {
		rest, ok := nextRecord(b, r.base, first, &rec)
		if !ok {
			return fmt.Errorf("record %d of the batch at offset %d cannot be read", n, r.base)
		}
		b = rest
		if rec.offset < w.c.from || rec.offset >= w.c.to {
			continue
		}
		if w.key.on {
			w.key.add(rec.key, w.rows)
		}
		if w.value.on {
			w.value.add(rec.value, w.rows)
		}
		if w.offset != nil {
			w.offset = append(w.offset, rec.offset)
		}
		if w.timestamp != nil {
			if byAppend {
				rec.timestamp = appended
			}
			w.timestamp = append(w.timestamp, rec.timestamp*1000)
		}
		if w.stampType != nil {
			w.stampType = append(w.stampType, stamp)
		}
		if w.headers != nil {
			if err := w.header(rec.headers); err != nil {
				return fmt.Errorf("offset %d: %w", rec.offset, err)
			}
		}
		w.rows++
	}
	return nil
}

func (w *writer) header(b []byte) error {
	n, b, ok := varint(b)
	if !ok || n < 0 || n > int64(len(b)) {
		return fmt.Errorf("headers cannot be read")
	}
	if n == 0 {
		w.headers.AppendNull()
		return nil
	}
	item := w.headers.Child(0)
	for ; n > 0; n-- {
		var k, v []byte
		if k, b, ok = field(b); !ok {
			return fmt.Errorf("headers cannot be read")
		}
		if v, b, ok = field(b); !ok {
			return fmt.Errorf("headers cannot be read")
		}
		item.Child(0).AppendBytes(k)
		if v == nil {
			item.Child(1).AppendNull()
		} else {
			item.Child(1).AppendBytes(v)
		}
		item.AppendNested()
	}
	w.headers.AppendNested()
	return nil
}

func (w *writer) finish() *columnar.Batch {
	n := w.rows
	fixed := func(col int, full *columnar.Column) *columnar.Column {
		if full != nil {
			return full
		}
		return columnar.NewNull(w.c.schema.Fields[col].Type, n)
	}
	cols := make([]*columnar.Column, len(w.c.schema.Fields))
	cols[colKey], cols[colValue] = w.key.column(n), w.value.column(n)
	var topic, part, off, ts, st *columnar.Column
	if w.c.need[colTopic] {
		topic = columnar.Repeat(columnar.String, w.c.part.topic, n)
	}
	if w.c.need[colPartition] {
		part = columnar.Repeat(columnar.Int32, w.c.part.partition, n)
	}
	if w.offset != nil {
		off = columnar.NewFixed(columnar.Int64, w.offset, nil)
	}
	if w.timestamp != nil {
		ts = columnar.NewFixed(columnar.Timestamp, w.timestamp, nil)
	}
	if w.stampType != nil {
		st = columnar.NewFixed(columnar.Int32, w.stampType, nil)
	}
	cols[colTopic], cols[colPartition], cols[colOffset] = fixed(colTopic, topic), fixed(colPartition, part), fixed(colOffset, off)
	cols[colTimestamp], cols[colTimestampType] = fixed(colTimestamp, ts), fixed(colTimestampType, st)
	if len(cols) > colHeaders {
		var h *columnar.Column
		if w.headers != nil {
			h = w.headers.Finish()
		}
		cols[colHeaders] = fixed(colHeaders, h)
	}
	return columnar.NewBatch(w.c.schema, cols, n)
}
