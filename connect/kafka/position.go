package kafka

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"github.com/wstream/wstream/engine/connector"
)

// tp is a partition of a topic.
type tp struct {
	topic     string
	partition int32
}

// String names the partition as progress and watermarks do: "clicks-0".
func (t tp) String() string { return t.topic + "-" + strconv.Itoa(int(t.partition)) }

// position is the next offset to read of every partition.
type position map[tp]int64

// parsePosition reads Spark's form, {"topic": {"0": 23}}.
func parsePosition(raw []byte) (position, error) {
	p, lives, err := parseOffset(raw)
	for topic := range lives {
		return nil, fmt.Errorf("offsets of topic %q: %q is not the number of a partition", topic, lifeKey)
	}
	return p, err
}

// lifeKey stands among a topic's partitions in an offset, with the number of times that the topic was made again since
// the query has begun to read it. It is left out for 0.
const lifeKey = "life"

// parseOffset reads an offset of the source: the positions, and the lives of the topics that they belong to.
func parseOffset(raw []byte) (position, map[string]int64, error) {
	if raw == nil {
		return nil, nil, nil
	}
	var m map[string]map[string]int64
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, nil, fmt.Errorf("offsets %s: expected {\"topic\": {\"partition\": offset}}: %w", raw, err)
	}
	p, lives := position{}, map[string]int64{}
	for topic, parts := range m {
		for n, o := range parts {
			if n == lifeKey {
				lives[topic] = o
				continue
			}
			i, err := strconv.ParseInt(n, 10, 32)
			if err != nil || i < 0 {
				return nil, nil, fmt.Errorf("offsets of topic %q: %q is not the number of a partition", topic, n)
			}
			p[tp{topic, int32(i)}] = o
		}
	}
	return p, lives, nil
}

// offset is the position as JSON, in a fixed order. life tells the life of a topic.
func (p position) offset(life func(topic string) int64) connector.Offset {
	if p == nil {
		return nil
	}
	b := []byte{'{'}
	topic := ""
	for i, t := range p.sorted() {
		if i > 0 && t.topic == topic {
			b = append(b, ',')
		} else {
			if i > 0 {
				b = append(b, "},"...)
			}
			b = append(strconv.AppendQuote(b, t.topic), ":{"...)
			if n := life(t.topic); n > 0 {
				b = append(append(b, '"'), lifeKey...)
				b = append(strconv.AppendInt(append(b, `":`...), n, 10), ',')
			}
		}
		topic = t.topic
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(t.partition), 10)
		b = append(b, `":`...)
		b = strconv.AppendInt(b, p[t], 10)
	}
	if len(p) > 0 {
		b = append(b, '}')
	}
	return append(b, '}')
}

func (p position) sorted() []tp {
	out := make([]tp, 0, len(p))
	for t := range p {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].topic != out[j].topic {
			return out[i].topic < out[j].topic
		}
		return out[i].partition < out[j].partition
	})
	return out
}
