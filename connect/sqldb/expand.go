package sqldb

import (
	"fmt"
	"strings"

	"github.com/wstream/wstream/columnar"
)

// expansion is a statement for databases without arrays: for an INSERT of one row of values it is written once for many
// rows, for any other statement once for each.
type expansion struct {
	head, tail string
	pieces     []piece // of a row of values with its brackets, or of the whole statement
	many       bool
}

// piece is text, or a parameter if it is above 0.
type piece struct {
	text  string
	param int
}

// expand prepares a statement; tail adapts what stands behind the row of values.
func expand(text string, tail func(st *statement, from int) (string, error)) (*expansion, error) {
	st, err := scan(text)
	if err != nil {
		return nil, err
	}
	x := &expansion{}
	from, to := 0, len(st.tokens)
	if in, ok := st.insert(); ok {
		x.many = true
		x.head = st.text[:st.at(in.open)]
		x.tail = st.text[st.at(in.tail):]
		if tail != nil {
			if x.tail, err = tail(st, in.tail); err != nil {
				return nil, err
			}
		}
		from, to = in.open, in.tail
	}
	at, end := 0, len(st.text)
	if x.many { // without a comment that may follow the row
		at, end = st.at(from), st.tokens[to-1].to
	}
	for i := from; i < to; i++ {
		if t := st.tokens[i]; t.kind == 'p' {
			x.pieces = append(x.pieces, piece{text: st.text[at:t.from]}, piece{param: t.param})
			at = t.to
		}
	}
	x.pieces = append(x.pieces, piece{text: strings.TrimSpace(st.text[at:end])})
	return x, nil
}

// check refuses a statement that has more parameters than its rows have columns.
func (x *expansion) check(b *columnar.Batch) error {
	for _, p := range x.pieces {
		if p.param > len(b.Columns) {
			return fmt.Errorf("a statement has %d parameters, its rows have %d columns", p.param, len(b.Columns))
		}
	}
	return nil
}
