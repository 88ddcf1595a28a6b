package show

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
)

// Options of a table.
type Options struct {
	NumRows  int            // rows that are shown
	Truncate int            // UTF-16 units that a cell may have; 0 for any number, and cells to the left
	Vertical bool           // a line for each field
	Zone     *javatext.Zone // of timestamps; UTC when nil
}

// Table collects the first rows of a result and prints them as df.show does.
type Table struct {
	opts  Options
	style Style
	names []string
	cells [][]string
	more  bool
}

// NewTable makes a table without rows.
func NewTable(s *columnar.Schema, opts Options) *Table {
	opts.NumRows = max(opts.NumRows, 0)
	if opts.Zone == nil {
		opts.Zone = javatext.UTC()
	}
	t := &Table{opts: opts, style: Pretty(opts.Zone)}
	for _, f := range s.Fields {
		t.names = append(t.names, escape(f.Name))
	}
	return t
}

// Add takes rows of b as far as there is room for them. It tells whether more rows would change anything.
func (t *Table) Add(b *columnar.Batch) (wanted bool) {
	var buf []byte
	for i := 0; i < b.Rows && !t.more; i++ {
		if len(t.cells) == t.opts.NumRows {
			t.more = true
			break
		}
		row := make([]string, len(b.Columns))
		for k, c := range b.Columns {
			buf = t.style.Append(buf[:0], c, i)
			row[k] = t.cell(string(buf))
		}
		t.cells = append(t.cells, row)
	}
	return !t.more
}

// cell is a value's text as it is shown.
func (t *Table) cell(s string) string {
	s = escape(strings.ToValidUTF8(s, "\uFFFD"))
	n := t.opts.Truncate
	switch {
	case n <= 0 || units(s) <= n:
		return s
	case n < 4:
		return cut(s, n)
	}
	return cut(s, n-3) + "..."
}

// escape makes control characters visible that would break the table.
func escape(s string) string {
	if !strings.ContainsAny(s, "\n\r\t\f\b\v\a") {
		return s
	}
	return strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`, "\v", `\v`, "\a", `\a`).Replace(s)
}

// width is the columns that s takes on a screen: UTF-16 units, and one more for each East Asian wide character.
func width(s string) int {
	n := units(s)
	for _, r := range s {
		switch {
		case r >= 0x1100 && r <= 0x115F, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7A3, r >= 0xF900 && r <= 0xFAFF,
			r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6:
			n++
		}
	}
	return n
}

const minWidth = 3

// String is what show prints.
func (t *Table) String() string {
	var b strings.Builder
	if t.opts.Vertical {
		t.vertical(&b)
	} else {
		t.grid(&b)
	}
	switch {
	case t.opts.Vertical && len(t.cells) == 0:
		b.WriteString("(0 rows)")
	case t.more:
		b.WriteString("only showing top " + strconv.Itoa(t.opts.NumRows))
		if t.opts.NumRows == 1 {
			b.WriteString(" row")
		} else {
			b.WriteString(" rows")
		}
	}
	b.WriteByte('\n')
	return b.String()
}

func pad(b *strings.Builder, with byte, n int) {
	for ; n > 0; n-- {
		b.WriteByte(with)
	}
}

func (t *Table) grid(b *strings.Builder) {
	widths := make([]int, len(t.names))
	for i, name := range t.names {
		widths[i] = max(minWidth, width(name))
	}
	for _, row := range t.cells {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	rule := func() {
		b.WriteByte('+')
		for i, w := range widths {
			if i > 0 {
				b.WriteByte('+')
			}
			pad(b, '-', w)
		}
		b.WriteString("+\n")
	}
	line := func(row []string) {
		b.WriteByte('|')
		for i, cell := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			if t.opts.Truncate > 0 {
				pad(b, ' ', widths[i]-width(cell))
				b.WriteString(cell)
			} else {
				b.WriteString(cell)
				pad(b, ' ', widths[i]-width(cell))
			}
		}
		b.WriteString("|\n")
	}
	rule()
	line(t.names)
	rule()
	for _, row := range t.cells {
		line(row)
	}
	rule()
}

func (t *Table) vertical(b *strings.Builder) {
	nameWidth, cellWidth := minWidth, minWidth
	for _, name := range t.names {
		nameWidth = max(nameWidth, width(name))
	}
	for _, row := range t.cells {
		for _, cell := range row {
			cellWidth = max(cellWidth, width(cell))
		}
	}
	for i, row := range t.cells {
		head := "-RECORD " + strconv.Itoa(i)
		b.WriteString(head)
		pad(b, '-', nameWidth+cellWidth+5-len(head))
		b.WriteByte('\n')
		for k, cell := range row {
			b.WriteString(" " + t.names[k])
			pad(b, ' ', nameWidth-width(t.names[k]))
			b.WriteString(" | " + cell)
			pad(b, ' ', cellWidth-width(cell))
			b.WriteString(" \n")
		}
	}
}

// Console is what the console sink prints for one batch: a banner and the table.
func Console(batchID int64, t *Table) string {
	const rule = "-------------------------------------------\n"
	return rule + "Batch: " + strconv.FormatInt(batchID, 10) + "\n" + rule + t.String()
}

// ConsoleOptions are the options of a console table: numRows (20), and truncate, which is true (20 characters) or
// false.
func ConsoleOptions(numRows int, truncate bool, zone *javatext.Zone) Options {
	o := Options{NumRows: numRows, Zone: zone}
	if truncate {
		o.Truncate = 20
	}
	return o
}
