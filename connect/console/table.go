package console

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// table draws the first rows as Dataset.show does; values of more than truncate characters are cut, 0 cuts none.
func table(b *columnar.Batch, numRows, truncate int, zone *time.Location) (string, error) {
	shown := b.Slice(0, min(numRows, b.Rows))
	cells := make([][]string, len(b.Columns))
	widths := make([]int, len(b.Columns))
	for i, c := range shown.Columns {
		name := shown.Schema.Fields[i].Name
		text, err := expr.CastColumn(&expr.Context{Zone: zone}, c, columnar.String, expr.CastLegacy)
		if err != nil {
			return "", fmt.Errorf("column %q: %w", name, err)
		}
		cells[i] = []string{name}
		for r := range shown.Rows {
			v := "NULL"
			if !text.IsNull(r) {
				v = cut(text.StringAt(r), truncate)
			}
			cells[i] = append(cells[i], v)
		}
		widths[i] = 3
		for _, v := range cells[i] {
			widths[i] = max(widths[i], runewidth.StringWidth(v))
		}
	}
	line := "+"
	for _, w := range widths {
		line += strings.Repeat("-", w) + "+"
	}
	var out strings.Builder
	out.WriteString(line + "\n")
	for r := range shown.Rows + 1 {
		out.WriteByte('|')
		for i := range cells {
			pad := strings.Repeat(" ", widths[i]-runewidth.StringWidth(cells[i][r]))
			if truncate > 0 {
				out.WriteString(pad + cells[i][r] + "|")
			} else {
				out.WriteString(cells[i][r] + pad + "|")
			}
		}
		out.WriteByte('\n')
		if r == 0 {
			out.WriteString(line + "\n")
		}
	}
	out.WriteString(line + "\n")
	if b.Rows > shown.Rows {
		fmt.Fprintf(&out, "only showing top %d %s", numRows, map[bool]string{true: "row", false: "rows"}[numRows == 1])
	}
	out.WriteByte('\n')
	return out.String(), nil
}

func cut(s string, n int) string {
	if n == 0 || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	if n < 4 {
		return string(r[:n])
	}
	return string(r[:n-3]) + "..."
}
