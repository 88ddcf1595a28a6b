package pipeline

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Error is a fault of a pipeline file at a place in it.
type Error struct {
	File       string
	Line, Col  int    // 1-based; 0 when the fault is in no one place
	Message    string // without the place and the suggestion
	Suggestion string // nearest name, or empty
	Cause      error
}

// Error is "file:line:col: message; did you mean "x"?".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Col)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Suggestion != "" && !strings.Contains(e.Message, "did you mean") {
		fmt.Fprintf(&b, "; did you mean %q?", e.Suggestion)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errors are all faults of a file.
type Errors []*Error

// Error joins the faults, a line each.
func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults one by one.
func (l Errors) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// sorted orders faults by place.
func (l Errors) sorted() Errors {
	sort.SliceStable(l, func(i, j int) bool {
		if l[i].Line != l[j].Line {
			return l[i].Line < l[j].Line
		}
		return l[i].Col < l[j].Col
	})
	return l
}

// asSpark finds the Spark condition of an error.
func asSpark(err error) *sparkerr.Error {
	var e *sparkerr.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Nearest is the name most like word, or "" when none is alike.
func Nearest(word string, names []string) string {
	best, dist := "", len(word)/2+1
	for _, n := range names {
		if d := editDistance(strings.ToLower(word), strings.ToLower(n)); d < dist {
			best, dist = n, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours.
func editDistance(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
