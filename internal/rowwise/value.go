package rowwise

import (
	"fmt"
	"sort"
	"strings"
)

// Time is an instant or a duration in microseconds.
type Time int64

// Millisecond is the unit of watermarks.
const Millisecond Time = 1000

// Row is a list of values: nil, Time, int64, float64, string, or []any of them.
type Row []any

// Key makes one text of the values at some positions, so that rows can be found by them. Null is a value like any other.
func (r Row) Key(at []int) string {
	var b strings.Builder
	for _, i := range at {
		fmt.Fprintf(&b, "%T %v|", r[i], r[i])
	}
	return b.String()
}

// timeOf is the instant at a position, if it is not null.
func timeOf(r Row, at int) (Time, bool) {
	t, ok := r[at].(Time)
	return t, ok
}

// sortedKeys are the keys of a map in order, so that a run gives the same each time.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
