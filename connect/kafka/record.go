package kafka

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// layout says in which columns of the output the parts of a record are, -1 for none.
type layout struct {
	key, value, headers, topic, partition int
	fixed                                 string // the topic of all rows
}

// newLayout finds the columns by name and checks their types, with Spark's rules.
func newLayout(s *columnar.Schema, topic string) (layout, error) {
	l := layout{fixed: topic}
	find := func(name string) int { return s.IndexFold(name) }
	l.key, l.value, l.headers, l.topic, l.partition = find("key"), find("value"), find("headers"), find("topic"), find("partition")
	if l.fixed != "" {
		l.topic = -1
	} else if l.topic < 0 {
		return l, sparkerr.New("KAFKA_SINK.NO_TOPIC", "the topic option is required when there is no column \"topic\"; set option \"topic\"")
	}
	if l.value < 0 {
		return l, sparkerr.New("KAFKA_SINK.COLUMN", "the sink kafka needs a column \"value\", found %s; e.g. SELECT to_json(struct(*)) AS value", s)
	}
	for _, c := range []struct {
		name, want string
		at         int
		ok         func(*columnar.Type) bool
	}{
		{"key", "STRING or BINARY", l.key, isText},
		{"value", "STRING or BINARY", l.value, isText},
		{"topic", "STRING", l.topic, func(t *columnar.Type) bool { return t.Kind == columnar.KindString }},
		{"partition", "INT", l.partition, func(t *columnar.Type) bool { return t.Kind == columnar.KindInt32 }},
		{"headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>", l.headers, isHeaders},
	} {
		if c.at >= 0 && !c.ok(s.Fields[c.at].Type) {
			return l, sparkerr.New("KAFKA_SINK.COLUMN", "column %q of the sink kafka is %s, expected %s", c.name, s.Fields[c.at].Type.SQL(), c.want)
		}
	}
	return l, nil
}

func isText(t *columnar.Type) bool {
	return t.Kind == columnar.KindString || t.Kind == columnar.KindBinary || t.Kind == columnar.KindNull
}

func isHeaders(t *columnar.Type) bool {
	if t.Kind != columnar.KindArray || t.Elem.Kind != columnar.KindStruct || len(t.Elem.Fields) != 2 {
		return false
	}
	f := t.Elem.Fields
	return strings.EqualFold(f[0].Name, "key") && f[0].Type.Kind == columnar.KindString &&
		strings.EqualFold(f[1].Name, "value") && f[1].Type.Kind == columnar.KindBinary
}

// anyPartition is the partition of a record that goes where its key sends it.
const anyPartition = -1

// records turns rows into records. Keys and values point into the batch, which must stay as it is until they are sent.
func (l *layout) records(b *columnar.Batch) ([]kgo.Record, error) {
	out := make([]kgo.Record, b.Rows)
	text := func(at int, set func(r *kgo.Record, v []byte)) {
		if at < 0 || b.Columns[at].Type.Kind == columnar.KindNull {
			return
		}
		c := b.Columns[at]
		for i := range out {
			if c.IsNull(i) {
				continue
			}
			v := c.BytesAt(i)
			if v == nil {
				v = []byte{} // empty is not null: a null value is a tombstone
			}
			set(&out[i], v)
		}
	}
	text(l.key, func(r *kgo.Record, v []byte) { r.Key = v })
	text(l.value, func(r *kgo.Record, v []byte) { r.Value = v })
	if l.topic < 0 {
		for i := range out {
			out[i].Topic = l.fixed
		}
	} else {
		name := "" // rows of one topic come in a row: their names share one text
		c := b.Columns[l.topic]
		for i := range out {
			if c.IsNull(i) {
				return nil, sparkerr.New("KAFKA_NULL_TOPIC_IN_DATA", "the data contains a null topic; use the option \"topic\" to set one")
			}
			if v := c.BytesAt(i); string(v) != name {
				name = string(v)
			}
			out[i].Topic = name
		}
	}
	for i := range out {
		out[i].Partition = anyPartition
	}
	if l.partition >= 0 {
		c := b.Columns[l.partition]
		v := columnar.Values[int32](c)
		for i := range out {
			if !c.IsNull(i) {
				if v[i] < 0 {
					return nil, sparkerr.New("KAFKA_SINK.PARTITION", "column \"partition\": found %d, expected 0 or more", v[i])
				}
				out[i].Partition = v[i]
			}
		}
	}
	if l.headers >= 0 {
		return out, l.addHeaders(b.Columns[l.headers], out)
	}
	return out, nil
}

func (l *layout) addHeaders(c *columnar.Column, out []kgo.Record) error {
	item := c.Children[0]
	keys, values := item.Children[0], item.Children[1]
	for i := range out {
		if c.IsNull(i) {
			continue
		}
		from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
		hs := make([]kgo.RecordHeader, 0, to-from)
		for j := from; j < to; j++ {
			if item.IsNull(j) || keys.IsNull(j) {
				return sparkerr.New("KAFKA_SINK.HEADER", "column \"headers\": a header without a key cannot be written")
			}
			h := kgo.RecordHeader{Key: string(keys.BytesAt(j))}
			if !values.IsNull(j) {
				h.Value = values.BytesAt(j)
			}
			hs = append(hs, h)
		}
		out[i].Headers = hs
	}
	return nil
}

// partitioner sends a record to the partition that it names, or as Kafka's own clients do: by the murmur2 hash of its
// key; those without a key together, to another partition with each request.
type partitioner struct{ byKey kgo.Partitioner }

func newPartitioner() kgo.Partitioner { return partitioner{kgo.StickyKeyPartitioner(nil)} }

// ForTopic implements kgo.Partitioner.
func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	return &topicPartitioner{p.byKey.ForTopic(topic)}
}

type topicPartitioner struct{ byKey kgo.TopicPartitioner }

// RequiresConsistency implements kgo.TopicPartitioner.
func (p *topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition != anyPartition || p.byKey.RequiresConsistency(r)
}

// Partition implements kgo.TopicPartitioner.
func (p *topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition != anyPartition {
		return int(r.Partition)
	}
	return p.byKey.Partition(r, n)
}

// OnNewBatch implements kgo.TopicPartitionerOnNewBatch.
func (p *topicPartitioner) OnNewBatch() {
	if o, ok := p.byKey.(kgo.TopicPartitionerOnNewBatch); ok {
		o.OnNewBatch()
	}
}
