package javatext

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// TestToChar compares number formats of to_char and to_number with Spark's.
func TestToChar(t *testing.T) {
	goldenLines(t, "tochar", "\t", func(line int, f []string) {
		format := mustUnquote(t, f[0])
		p, err := CompileToCharFormat(format)
		if err != nil || len(f) == 2 {
			if got := strings.TrimPrefix(sparkerr.Condition(err), "INVALID_FORMAT."); got != f[1] {
				t.Errorf("line %d: format %q is refused with %q, want %s", line, format, got, f[1])
			}
			return
		}
		if got := fmt.Sprintf("%d,%d", p.Precision(), p.Scale()); got != f[1] {
			t.Errorf("line %d: type of %q is %s, want %s", line, format, got, f[1])
		}
		v, scale := mustDecimal(t, f[2])
		if got := string(p.AppendDecimal(nil, v, scale)); got != mustUnquote(t, f[3]) {
			t.Errorf("line %d: to_char(%s, %q) is %q, want %s", line, f[2], format, got, f[3])
		}
		text := mustUnquote(t, f[4])
		got := "null"
		if v, ok := p.ParseDecimal(text); ok {
			got = string(AppendDecimal(nil, v, p.Scale()))
		}
		// "-" is an error of Spark's own for what does not fit.
		if got != f[5] && (f[5] != "-" || got != "null") {
			t.Errorf("line %d: to_number(%q, %q) is %s, want %s", line, text, format, got, f[5])
		}
	})
}

func FuzzToChar(f *testing.F) {
	f.Add("S$9,999.99MI", int64(-123456), "-$1,2")
	f.Add("0PR", int64(5), "<5>")
	f.Fuzz(func(t *testing.T, format string, v int64, s string) {
		p, err := CompileToCharFormat(format)
		if err != nil {
			return
		}
		p.AppendDecimal(nil, Int128FromInt64(v), 3)
		if v, ok := p.ParseDecimal(s); ok && p.Precision() > 38 && v.Sign() != 0 {
			_ = strconv.Itoa(p.Scale())
		}
	})
}
