package sql_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/wstream/wstream/engine/sql"
)

// maxLine is the width up to which dump keeps a node on one line.
const maxLine = 100

// dump writes a node for the golden files: its type and its fields that are not empty. Names, numbers
// and strings are written as themselves.
func dump(v any) string {
	return layout(tree(reflect.ValueOf(v)), 0)
}

// item is a piece of a dump: a text, or a head with parts in parentheses.
type item struct {
	label string // of a field, or empty
	text  string // the whole item, if parts is nil
	parts []item
}

func (it item) flat() string {
	s := it.label + it.text
	if it.parts == nil {
		return s
	}
	ps := make([]string, len(it.parts))
	for i, p := range it.parts {
		ps[i] = p.flat()
	}
	return s + "(" + strings.Join(ps, " ") + ")"
}

func layout(it item, indent int) string {
	pad := strings.Repeat("  ", indent)
	if flat := it.flat(); it.parts == nil || len(pad)+len(flat) <= maxLine {
		return pad + flat
	}
	lines := []string{pad + it.label + it.text}
	for _, p := range it.parts {
		lines = append(lines, layout(p, indent+1))
	}
	return strings.Join(lines, "\n")
}

func tree(v reflect.Value) item {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return item{text: "nil"}
		}
		if s, ok := short(v.Interface()); ok {
			return item{text: s}
		}
		v = v.Elem()
	}
	if s, ok := short(v.Interface()); ok {
		return item{text: s}
	}
	switch v.Kind() {
	case reflect.Struct:
		it := item{text: v.Type().Name(), parts: []item{}}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Name == "Span" || v.Field(i).IsZero() {
				continue
			}
			if b, ok := v.Field(i).Interface().(bool); ok && b {
				it.parts = append(it.parts, item{text: f.Name})
				continue
			}
			sub := tree(v.Field(i))
			sub.label = f.Name + "="
			it.parts = append(it.parts, sub)
		}
		if len(it.parts) == 0 {
			it.parts = nil
		}
		return it
	case reflect.Slice:
		it := item{parts: []item{}}
		for i := range v.Len() {
			it.parts = append(it.parts, tree(v.Index(i)))
		}
		return it
	case reflect.String:
		return item{text: v.String()}
	}
	return item{text: fmt.Sprint(v.Interface())}
}

// short writes the leaves of the tree.
func short(v any) (string, bool) {
	switch n := v.(type) {
	case sql.Ident:
		if n.Quoted {
			return sql.JoinName([]sql.Ident{n}), true
		}
		return n.Name, true
	case *sql.Column:
		return dotted(n.Parts), true
	case *sql.NumberLit:
		switch n.Kind {
		case sql.Float, sql.Double:
			return fmt.Sprintf("%s:%s", n.Kind, strconv.FormatFloat(n.Float, 'g', -1, 64)), true
		case sql.Decimal:
			return fmt.Sprintf("decimal(%d,%d):%se-%d", n.Precision, n.Scale, n.Unscaled, n.Scale), true
		}
		return fmt.Sprintf("%s:%d", n.Kind, n.Int), true
	case *sql.StringLit:
		return strconv.Quote(n.Value), true
	case *sql.BinaryLit:
		return fmt.Sprintf("X'%X'", n.Value), true
	case *sql.TypedLit:
		return n.Type + strconv.Quote(n.Value), true
	case *sql.NullLit:
		return "NULL", true
	case *sql.BoolLit:
		return strings.ToUpper(strconv.FormatBool(n.Value)), true
	case *sql.IntervalLit:
		if n.YearMonth() {
			return fmt.Sprintf("INTERVAL[%s..%s]%d months", n.Start, n.End, n.Months), true
		}
		return fmt.Sprintf("INTERVAL[%s..%s]%d µs", n.Start, n.End, n.Micros), true
	case *sql.Type:
		return n.String(), true
	case rune:
		return strconv.QuoteRune(n), true
	case sql.Nulls:
		return [...]string{"", "IGNORE", "RESPECT"}[n], true
	case sql.GroupingKind:
		return [...]string{"ROLLUP", "CUBE", "SETS"}[n], true
	case sql.SampleKind:
		return [...]string{"PERCENT", "ROWS", "BUCKET"}[n], true
	case sql.BoundKind:
		return [...]string{"UNBOUNDED-PRECEDING", "PRECEDING", "CURRENT-ROW", "FOLLOWING", "UNBOUNDED-FOLLOWING"}[n], true
	case fmt.Stringer:
		return n.String(), true
	}
	return "", false
}

func dotted(parts []sql.Ident) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i], _ = short(p)
	}
	return strings.Join(out, ".")
}
