// Package generate makes sample and benchmark data as JSON lines: clicks of a web shop, counts over very many keys, the
// Nexmark auction, and sensor readings. All of it is a function of the kind, the seed, the number of rows and the number of
// parts, so that two runs with the same arguments give the same bytes, and parts can be made at the same time.
package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Kind is a kind of data that can be made.
type Kind struct {
	// Name is what the user types.
	Name string
	// Doc is one sentence for a list of kinds.
	Doc string
	// Schema is the DDL that reads the lines back.
	Schema string
	// Key is the field that becomes the key of a Kafka record, always a string; empty where rows have none.
	Key string
	// rows makes the generator of a part.
	rows func(Part) Rows
}

// Part is a run of consecutive rows of the whole.
type Part struct {
	// Seed is that of the whole.
	Seed uint64
	// Total is the number of rows of the whole. Event times are spread over it.
	Total int
	// First is the number of the part's first row, from 0.
	First int
	// Keys is the number of distinct keys, for the kinds that let it be chosen; 0 takes the kind's own.
	Keys int
}

// Rows gives a part's rows, one after the other. It is not safe for several goroutines.
type Rows interface {
	// Append adds the next row to dst, without a line end, and returns the longer slice.
	Append(dst []byte) []byte
}

// Kinds lists all kinds, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{clicksKind(), keysKind(), nexmarkKind(), sensorsKind()}
}

// Find looks a kind up by its name.
func Find(name string) (Kind, error) {
	kinds := Kinds()
	names := make([]string, len(kinds))
	for i, k := range kinds {
		if k.Name == name {
			return k, nil
		}
		names[i] = k.Name
	}
	return Kind{}, fmt.Errorf("no kind of data %q; there are %s", name, strings.Join(names, ", "))
}

// Rows makes the generator of a part.
func (k Kind) Rows(p Part) Rows { return k.rows(p) }

// startMs is the event time of the first row, in milliseconds since 1970: 2026-10-06T00:00:00Z. It is fixed, so that the
// same data can be made again on any day.
func startMs() int64 { return time.Date(2026, time.October, 6, 0, 0, 0, 0, time.UTC).UnixMilli() }

// dayMs is the span over which event times are spread where the kind does not say otherwise.
const dayMs = 24 * 60 * 60 * 1000

// source returns the part's own random numbers.
func source(p Part) *rand.Rand { return rand.New(rand.NewPCG(p.Seed, uint64(p.First))) }

// at spreads event times evenly: the offset of row i of n over span milliseconds.
func at(i, n int, spanMs int64) int64 { return int64(float64(i) * (float64(spanMs) / float64(n))) }
