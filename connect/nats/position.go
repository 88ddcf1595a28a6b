package nats

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/wstream/wstream/engine/connector"
)

// position is an offset of the source.
type position struct {
	Stream  string    `json:"stream"`
	Created time.Time `json:"created"` // of the stream: one that is made again begins anew
	Next    uint64    `json:"next"`    // the sequence behind the last one of the batch
	First   uint64    `json:"first,omitempty"`
}

// parsePosition reads an offset; nil is nil.
func parsePosition(o connector.Offset) (*position, error) {
	if o == nil {
		return nil, nil
	}
	var p position
	if err := json.Unmarshal(o, &p); err != nil || p.Next == 0 {
		return nil, fmt.Errorf("offset %s: expected {\"stream\": …, \"created\": …, \"next\": sequence}", o)
	}
	return &p, nil
}

func (p position) offset() (connector.Offset, error) { return json.Marshal(p) }

// span is a range of sequences, both ends included.
type span struct{ from, to uint64 }

// String is "5 to 9", or "5" for one sequence.
func (s span) String() string {
	if s.from == s.to {
		return fmt.Sprint(s.from)
	}
	return fmt.Sprintf("%d to %d", s.from, s.to)
}
