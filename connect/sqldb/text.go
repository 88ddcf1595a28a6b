package sqldb

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/javatext"
)

// appendText writes the value of row i, which is not null, as text that databases read. Timestamps are in UTC.
func appendText(dst []byte, c *columnar.Column, i int) []byte {
	switch c.Type.Kind {
	case columnar.KindBool:
		return strconv.AppendBool(dst, c.Bits.Get(i))
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		return strconv.AppendInt(dst, intAt(c, i), 10)
	case columnar.KindFloat32:
		return appendFloat(dst, float64(columnar.Values[float32](c)[i]), 32)
	case columnar.KindFloat64:
		return appendFloat(dst, columnar.Values[float64](c)[i], 64)
	case columnar.KindDecimal:
		return columnar.AppendDec(dst, columnar.Values[columnar.Dec128](c)[i], c.Type.Scale)
	case columnar.KindString, columnar.KindBinary, columnar.KindVariant:
		return append(dst, c.BytesAt(i)...)
	case columnar.KindDate:
		return javatext.AppendDate(dst, columnar.Values[int32](c)[i])
	case columnar.KindTimestamp, columnar.KindTimestampNTZ:
		return javatext.AppendTimestampNTZ(dst, columnar.Values[int64](c)[i])
	case columnar.KindTime:
		return javatext.AppendTime(dst, columnar.Values[int64](c)[i])
	}
	from := len(dst)
	dst = datumjson.Append(dst, c.Type, c.Datum(i))
	if n := len(dst); n > from+1 && dst[from] == '"' && !c.Type.IsNested() { // intervals are plain text
		dst = append(dst[:from], dst[from+1:n-1]...)
	}
	return dst
}

func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// intAt is the value of an integer column.
func intAt(c *columnar.Column, i int) int64 {
	switch c.Type.Width() {
	case 1:
		return int64(columnar.Values[int8](c)[i])
	case 2:
		return int64(columnar.Values[int16](c)[i])
	case 4:
		return int64(columnar.Values[int32](c)[i])
	}
	return columnar.Values[int64](c)[i]
}

// isJSON tells whether values of a type are written as JSON.
func isJSON(t *columnar.Type) bool { return t.IsNested() || t.Kind == columnar.KindVariant }

// badRule says what becomes of text that a database cannot hold: NUL characters and what is no UTF-8.
type badRule uint8

const (
	replaceBad badRule = iota // U+FFFD stands in their place
	removeBad                 // they are left out
	failBad                   // the batch fails
)

func parseBadRule(s string) (badRule, error) {
	switch strings.ToLower(s) {
	case "replace":
		return replaceBad, nil
	case "remove":
		return removeBad, nil
	case "fail":
		return failBad, nil
	}
	return 0, fmt.Errorf("option \"badText\": found %q, expected replace, remove or fail", s)
}

// badText makes text fit for a database, and remembers which columns had text that was not.
type badText struct {
	db      *DB
	rule    badRule
	columns map[string]int
	numbers map[string]int
}

func newBadText(db *DB, rule badRule) *badText { return &badText{db: db, rule: rule} }

// clean gives text as the database can hold it. Without nul, NUL characters are fine.
func (b *badText) clean(column string, text []byte, nul bool) ([]byte, error) {
	if utf8.Valid(text) && (!nul || bytes.IndexByte(text, 0) < 0) {
		return text, nil
	}
	if b.rule == failBad {
		what := "text that is no UTF-8"
		if bytes.IndexByte(text, 0) >= 0 && nul {
			what = "a NUL character"
		}
		return nil, fmt.Errorf("column %q: %s, which %s cannot hold, in %.80q; set badText to replace or remove", column, what, b.db.Driver(), text)
	}
	if b.columns == nil {
		b.columns = map[string]int{}
	}
	b.columns[column]++
	with := "\uFFFD"
	if b.rule == removeBad {
		with = ""
	}
	text = bytes.ToValidUTF8(text, []byte(with))
	if nul {
		text = bytes.ReplaceAll(text, []byte{0}, []byte(with))
	}
	return text, nil
}

// cleanJSON is clean for JSON text, in which NUL stands as an escape that PostgreSQL does not take.
func (b *badText) cleanJSON(column string, text []byte, nul bool) ([]byte, error) {
	if nul && bytes.Contains(text, []byte(`\u0000`)) {
		var out []byte
		found := false
		for i := 0; i < len(text); {
			if text[i] != '\\' || i+1 == len(text) {
				out = append(out, text[i])
				i++
				continue
			}
			if bytes.HasPrefix(text[i:], []byte(`\u0000`)) {
				found = true
				if b.rule == replaceBad {
					out = append(out, "\uFFFD"...)
				}
				i += 6
				continue
			}
			out = append(out, text[i], text[i+1])
			i += 2
		}
		if found {
			if b.rule == failBad {
				return b.clean(column, []byte{0}, true)
			}
			if b.columns == nil {
				b.columns = map[string]int{}
			}
			b.columns[column]++
			text = out
		}
	}
	return b.clean(column, text, nul)
}

// report warns of what was changed.
func (b *badText) report() {
	var names []string
	for n := range b.columns {
		names = append(names, n)
	}
	sort.Strings(names)
	did := "replaced by U+FFFD"
	if b.rule == removeBad {
		did = "left out"
	}
	for _, n := range names {
		b.db.warn("column %q: %d values have NUL characters or are no UTF-8, which %s cannot hold; these were %s", n, b.columns[n], b.db.Driver(), did)
	}
	for n, k := range b.numbers {
		b.db.warn("column %q: %d values are NaN or infinite, which %s cannot hold; null stands for them", n, k, b.db.Driver())
	}
	b.columns, b.numbers = nil, nil
}

// noNumber is what becomes of a NaN or an infinity where a database has none: null, or with the rule fail an error.
func (b *badText) noNumber(column string, v float64) error {
	if b.rule == failBad {
		return fmt.Errorf("column %q: %v, which %s cannot hold; set badText to replace for null instead", column, v, b.db.Driver())
	}
	if b.numbers == nil {
		b.numbers = map[string]int{}
	}
	b.numbers[column]++
	return nil
}
