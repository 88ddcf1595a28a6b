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
	if raw == nil {
		return nil, nil
	}
	var m map[string]map[string]int64
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("offsets %s: expected {\"topic\": {\"partition\": offset}}: %w", raw, err)
	}
	p := position{}
	for topic, parts := range m {
		for n, o := range parts {
			i, err := strconv.ParseInt(n, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("offsets of topic %q: %q is not the number of a partition", topic, n)
			}
			p[tp{topic, int32(i)}] = o
		}
	}
	return p, nil
}

// offset is the position as JSON, in a fixed order.
func (p position) offset() connector.Offset {
	if p == nil {
		return nil
	}
	b := []byte{'{'}
	topic := ""
	for i, t := range p.sorted() {
		switch {
		case i == 0:
			b = append(strconv.AppendQuote(b, t.topic), ":{"...)
		case t.topic != topic:
			b = append(strconv.AppendQuote(append(b, "},"...), t.topic), ":{"...)
		default:
			b = append(b, ',')
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
