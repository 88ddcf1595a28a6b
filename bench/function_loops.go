package main

import (
	"crypto/md5"
	"encoding/hex"
	"hash/crc32"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
)

// longs is a loop of numbers to BIGINT.
func longs(f func(in *functionInput, i int) int64) func(*functionInput) *columnar.Column {
	return func(in *functionInput) *columnar.Column {
		d := make([]int64, batchRows)
		for i := range d {
			d[i] = f(in, i)
		}
		return columnar.NewFixed(columnar.Int64, d, nil)
	}
}

// fixed is a column of values that a loop has filled.
func fixed[T columnar.Value](t *columnar.Type, d []T) *columnar.Column {
	return columnar.NewFixed(t, d, nil)
}

// texts is a loop that appends a text for each row.
func texts(f func(dst []byte, in *functionInput, i int) []byte) func(*functionInput) *columnar.Column {
	return func(in *functionInput) *columnar.Column {
		off, buf := make([]int32, batchRows+1), make([]byte, 0, batchRows*16)
		for i := range batchRows {
			buf = f(buf, in, i)
			off[i+1] = int32(len(buf))
		}
		return columnar.NewBytes(columnar.String, off, buf, nil)
	}
}

// truths is a loop that sets a bit for each row that holds.
func truths(f func(in *functionInput, i int) bool) func(*functionInput) *columnar.Column {
	return func(in *functionInput) *columnar.Column {
		bits := columnar.NewBitmap(batchRows)
		for i := range batchRows {
			if f(in, i) {
				bits.Set(i)
			}
		}
		return columnar.NewBools(batchRows, bits, nil)
	}
}

// lists is a loop that appends a list for each row.
func lists(f func(dst, elems []int64) []int64) func(*functionInput) *columnar.Column {
	return func(in *functionInput) *columnar.Column {
		elems := columnar.Values[int64](in.l.Children[0])
		off, out := make([]int32, batchRows+1), make([]int64, 0, len(elems))
		for i := range batchRows {
			out = f(out, elems[in.l.Offsets[i]:in.l.Offsets[i+1]])
			off[i+1] = int32(len(out))
		}
		return &columnar.Column{Type: in.l.Type, Len: batchRows, Offsets: off, Children: []*columnar.Column{fixed(columnar.Int64, out)}}
	}
}

// grouped is a loop over the groups of a number.
func grouped[T columnar.Value](t *columnar.Type, f func(in *functionInput, out []T)) func(*functionInput) *columnar.Column {
	return func(in *functionInput) *columnar.Column {
		out := make([]T, functionGroups)
		f(in, out)
		return fixed(t, out)
	}
}

// textKey finds a key at the top of a JSON object and gives its value as it stands, skipping what is before it.
func textKey(s, key string) string {
	for i := 1; i < len(s); {
		start := i + 1
		end := start + strings.IndexByte(s[start:], '"')
		name := s[start:end]
		i = end + 2
		from, depth, quoted := i, 0, false
		for ; i < len(s); i++ {
			switch c := s[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '[' || c == '{':
				depth++
			case depth > 0 && (c == ']' || c == '}'):
				depth--
			case depth == 0 && (c == ',' || c == '}'):
				goto value
			}
		}
	value:
		if name == key {
			return strings.Trim(s[from:i], `"`)
		}
		i++
	}
	return ""
}

// The patterns of the loops, as the engine compiles them: once.
func patterns() (word, digits *regexp.Regexp) {
	return regexp.MustCompile(`^[a-z]+ta`), regexp.MustCompile(`item/(\d+)`)
}

// functionBenches are the representatives of each family.
func functionBenches() []functionBench {
	word, digits := patterns()
	const day = 86_400_000_000
	return []functionBench{
		{family: "operators", text: "a + b", loop: longs(func(in *functionInput, i int) int64 { return in.a[i] + in.b[i] })},
		{family: "operators", text: "a * 3", loop: longs(func(in *functionInput, i int) int64 { return in.a[i] * 3 })},
		{family: "operators", text: "a % b", loop: longs(func(in *functionInput, i int) int64 { return in.a[i] % in.b[i] })},
		{family: "operators", text: "x * y", loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i] = in.x[i] * in.y[i]
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "operators", text: "d + e", loop: func(in *functionInput) *columnar.Column {
			d := make([]columnar.Dec128, batchRows)
			for i := range d {
				d[i], _ = in.d[i].Add(in.e[i])
			}
			return fixed(columnar.Decimal(11, 2), d)
		}},
		{family: "operators", text: "d * e", loop: func(in *functionInput) *columnar.Column {
			d := make([]columnar.Dec128, batchRows)
			for i := range d {
				d[i], _ = in.d[i].Mul(in.e[i])
			}
			return fixed(columnar.Decimal(21, 4), d)
		}},
		{family: "operators", text: "a < b AND x > 500", loop: truths(func(in *functionInput, i int) bool { return in.a[i] < in.b[i] && in.x[i] > 500 })},
		{family: "operators", text: "a BETWEEN 10 AND 500", loop: truths(func(in *functionInput, i int) bool { return in.a[i] >= 10 && in.a[i] <= 500 })},
		{family: "operators", text: "a IN (1, 5, 9, 100)", loop: truths(func(in *functionInput, i int) bool {
			return in.a[i] == 1 || in.a[i] == 5 || in.a[i] == 9 || in.a[i] == 100
		})},
		{family: "operators", text: "s = 'alpha beta'", loop: truths(func(in *functionInput, i int) bool { return in.s.StringAt(i) == "alpha beta" })},
		{family: "operators", text: "s LIKE 'al%'", loop: truths(func(in *functionInput, i int) bool { return strings.HasPrefix(in.s.StringAt(i), "al") })},
		{family: "conditional", text: "if(a < b, a, b)", loop: longs(func(in *functionInput, i int) int64 {
			if in.a[i] < in.b[i] {
				return in.a[i]
			}
			return in.b[i]
		})},
		{family: "conditional", text: "CASE WHEN a < 300 THEN 1L WHEN a < 600 THEN 2L ELSE 3L END", loop: longs(func(in *functionInput, i int) int64 {
			switch {
			case in.a[i] < 300:
				return 1
			case in.a[i] < 600:
				return 2
			}
			return 3
		})},
		{family: "conditional", text: "coalesce(nullif(a, 5), b)", loop: longs(func(in *functionInput, i int) int64 {
			if in.a[i] == 5 {
				return in.b[i]
			}
			return in.a[i]
		})},
		{family: "conversion", text: "CAST(a AS STRING)", loop: texts(func(dst []byte, in *functionInput, i int) []byte { return strconv.AppendInt(dst, in.a[i], 10) })},
		{family: "conversion", text: "CAST(n AS BIGINT)", loop: longs(func(in *functionInput, i int) int64 {
			v, _ := strconv.ParseInt(in.n.StringAt(i), 10, 64)
			return v
		})},
		{family: "conversion", text: "CAST(n AS DOUBLE)", loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i], _ = strconv.ParseFloat(in.n.StringAt(i), 64)
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "conversion", text: "CAST(x AS STRING)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return strconv.AppendFloat(dst, in.x[i], 'f', -1, 64)
		})},
		{family: "conversion", text: "CAST(w AS TIMESTAMP)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int64, batchRows)
			for i := range d {
				v, _ := time.Parse(time.DateTime, in.w.StringAt(i))
				d[i] = v.UnixMicro()
			}
			return fixed(columnar.Timestamp, d)
		}},
		{family: "conversion", text: "CAST(t AS STRING)", approximate: true, loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return time.UnixMicro(in.t[i]).UTC().AppendFormat(dst, "2006-01-02 15:04:05.999999")
		})},
		{family: "math", text: "sqrt(x)", loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i] = math.Sqrt(in.x[i])
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "math", text: "sin(x)", why: "gives the last bit that Spark gives, in two doubles; Go's differs in it", approximate: true, loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i] = math.Sin(in.x[i])
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "math", text: "pow(x, y)", approximate: true, loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i] = math.Pow(in.x[i], in.y[i])
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "math", text: "log10(x)", approximate: true, loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i] = math.Log10(in.x[i])
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "math", text: "round(x, 2)", approximate: true, loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i] = math.Round(in.x[i]*100) / 100
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "math", text: "floor(x)", loop: longs(func(in *functionInput, i int) int64 { return int64(math.Floor(in.x[i])) })},
		{family: "math", text: "abs(a)", loop: longs(func(in *functionInput, i int) int64 { return max(in.a[i], -in.a[i]) })},
		{family: "math", text: "greatest(a, b)", why: "compares as Spark orders, with nulls left out; the loop knows that there are none", loop: longs(func(in *functionInput, i int) int64 { return max(in.a[i], in.b[i]) })},
		{family: "bitwise", text: "a & b", loop: longs(func(in *functionInput, i int) int64 { return in.a[i] & in.b[i] })},
		{family: "bitwise", text: "shiftleft(a, 3)", loop: longs(func(in *functionInput, i int) int64 { return in.a[i] << 3 })},
		{family: "bitwise", text: "bit_count(a)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i, v := range in.a {
				for ; v != 0; v &= v - 1 {
					d[i]++
				}
			}
			return fixed(columnar.Int32, d)
		}},
		{family: "string", text: "upper(s)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, strings.ToUpper(in.s.StringAt(i))...)
		})},
		{family: "string", text: "length(s)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				for range in.s.StringAt(i) {
					d[i]++
				}
			}
			return fixed(columnar.Int32, d)
		}},
		{family: "string", text: "substring(s, 2, 3)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, string([]rune(in.s.StringAt(i))[1:4])...)
		})},
		{family: "string", text: "concat(s, '-', n)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(append(append(dst, in.s.BytesAt(i)...), '-'), in.n.BytesAt(i)...)
		})},
		{family: "string", text: "concat_ws(',', s, n)", why: "leaves nulls out and takes arrays among its arguments; the loop appends three texts", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(append(append(dst, in.s.BytesAt(i)...), ','), in.n.BytesAt(i)...)
		})},
		{family: "string", text: "trim(s)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, strings.Trim(in.s.StringAt(i), " ")...)
		})},
		{family: "string", text: "replace(s, 'eta', 'x')", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, strings.ReplaceAll(in.s.StringAt(i), "eta", "x")...)
		})},
		{family: "string", text: "instr(s, 'ta')", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				d[i] = int32(strings.Index(in.s.StringAt(i), "ta") + 1)
			}
			return fixed(columnar.Int32, d)
		}},
		{family: "string", text: "split_part(u, '/', 4)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, strings.Split(in.u.StringAt(i), "/")[3]...)
		})},
		{family: "string", text: "lpad(n, 8, '0')", why: "counts characters, not bytes, and the pad may be longer than one", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			for range 8 - len(in.n.BytesAt(i)) {
				dst = append(dst, '0')
			}
			return append(dst, in.n.BytesAt(i)...)
		})},
		{family: "string", text: "reverse(s)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			from := len(dst)
			dst = append(dst, in.s.BytesAt(i)...)
			slices.Reverse(dst[from:])
			return dst
		})},
		{family: "regex", text: `s RLIKE '^[a-z]+ta'`, loop: truths(func(in *functionInput, i int) bool { return word.MatchString(in.s.StringAt(i)) })},
		{family: "regex", text: `regexp_extract(u, 'item/(\\d+)', 1)`, loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, digits.FindStringSubmatch(in.u.StringAt(i))[1]...)
		})},
		{family: "regex", text: `regexp_replace(s, 'a', 'o')`, loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, strings.ReplaceAll(in.s.StringAt(i), "a", "o")...)
		})},
		{family: "url", text: "parse_url(u, 'HOST')", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			v, _ := url.Parse(in.u.StringAt(i))
			return append(dst, v.Host...)
		})},
		{family: "url", text: "url_encode(s)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, url.QueryEscape(in.s.StringAt(i))...)
		})},
		{family: "hash", text: "md5(s)", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			v := md5.Sum(in.s.BytesAt(i))
			return hex.AppendEncode(dst, v[:])
		})},
		{family: "hash", text: "crc32(s)", loop: longs(func(in *functionInput, i int) int64 { return int64(crc32.ChecksumIEEE(in.s.BytesAt(i))) })},
		{family: "hash", text: "xxhash64(a)", approximate: true, loop: longs(func(in *functionInput, i int) int64 {
			h := uint64(42) + 0x27D4EB2F165667C5 + 8
			k := uint64(in.a[i]) * 0xC2B2AE3D27D4EB4F
			h ^= (k<<31 | k>>33) * 0x9E3779B185EBCA87
			h = (h<<27|h>>37)*0x9E3779B185EBCA87 + 0x85EBCA77C2B2AE63
			h = (h ^ h>>33) * 0xC2B2AE3D27D4EB4F
			h = (h ^ h>>29) * 0x165667B19E3779F9
			return int64(h ^ h>>32)
		})},
		{family: "datetime", text: "year(t)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				d[i] = int32(time.UnixMicro(in.t[i]).UTC().Year())
			}
			return fixed(columnar.Int32, d)
		}},
		{family: "datetime", text: "hour(t)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				d[i] = int32(in.t[i] / 3_600_000_000 % 24)
			}
			return fixed(columnar.Int32, d)
		}},
		{family: "datetime", text: "date_trunc('HOUR', t)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int64, batchRows)
			for i := range d {
				d[i] = in.t[i] - in.t[i]%3_600_000_000
			}
			return fixed(columnar.Timestamp, d)
		}},
		{family: "datetime", text: "date_trunc('MONTH', t)", why: "goes through the calendar of the session's zone; the loop through that of UTC", loop: func(in *functionInput) *columnar.Column {
			d := make([]int64, batchRows)
			for i := range d {
				y, m, _ := time.UnixMicro(in.t[i]).UTC().Date()
				d[i] = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
			}
			return fixed(columnar.Timestamp, d)
		}},
		{family: "datetime", text: "date_format(t, 'yyyy-MM-dd HH:mm')", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return time.UnixMicro(in.t[i]).UTC().AppendFormat(dst, "2006-01-02 15:04")
		})},
		{family: "datetime", text: "to_timestamp(w, 'yyyy-MM-dd HH:mm:ss')", why: "interprets Java's pattern with its widths and zones", loop: func(in *functionInput) *columnar.Column {
			d := make([]int64, batchRows)
			for i := range d {
				v, _ := time.Parse(time.DateTime, in.w.StringAt(i))
				d[i] = v.UnixMicro()
			}
			return fixed(columnar.Timestamp, d)
		}},
		{family: "datetime", text: "date_add(day, 7)", why: "checks the range of dates; the loop adds", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				d[i] = in.day[i] + 7
			}
			return fixed(columnar.Date, d)
		}},
		{family: "datetime", text: "add_months(day, 1)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				v := time.Unix(int64(in.day[i])*86400, 0).UTC()
				last := time.Date(v.Year(), v.Month()+2, 0, 0, 0, 0, 0, time.UTC)
				next := time.Date(v.Year(), v.Month()+1, min(v.Day(), last.Day()), 0, 0, 0, 0, time.UTC)
				d[i] = int32(next.Unix() / 86400)
			}
			return fixed(columnar.Date, d)
		}},
		{family: "datetime", text: "unix_timestamp(t)", loop: longs(func(in *functionInput, i int) int64 { return in.t[i] / 1_000_000 })},
		{family: "datetime", text: "CAST(t AS DATE)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				d[i] = int32(in.t[i] / day)
			}
			return fixed(columnar.Date, d)
		}},
		{family: "json", text: "get_json_object(j, '$.url')", why: "reads the document whole, so that a fault behind the field gives NULL as in Spark; the loop stops at the first match of the name", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, textKey(in.j.StringAt(i), "url")...)
		})},
		{family: "json", text: "from_json(j, 'url STRING, amount DOUBLE').amount", loop: func(in *functionInput) *columnar.Column {
			d := make([]float64, batchRows)
			for i := range d {
				d[i], _ = strconv.ParseFloat(textKey(in.j.StringAt(i), "amount"), 64)
			}
			return fixed(columnar.Float64, d)
		}},
		{family: "json", text: "to_json(struct(a, n))", why: "escapes names and texts by their types; the loop knows that nothing needs it", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			dst = strconv.AppendInt(append(dst, `{"a":`...), in.a[i], 10)
			return append(append(append(dst, `,"n":"`...), in.n.BytesAt(i)...), `"}`...)
		})},
		{family: "variant", text: "variant_get(parse_json(j), '$.url', 'string')", why: "builds the document in the binary form of VARIANT, with its sorted dictionary, and then looks into it; the loop searches the text", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(dst, textKey(in.j.StringAt(i), "url")...)
		})},
		{family: "csv", text: "from_csv(w, 'x STRING').x", why: "a whole reader of CSV, with quotes, escapes and modes; the loop copies the text", loop: texts(func(dst []byte, in *functionInput, i int) []byte { return append(dst, in.w.BytesAt(i)...) })},
		{family: "csv", text: "to_csv(struct(a, n))", why: "quotes by the rules of the writer; the loop knows that nothing needs it", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(append(strconv.AppendInt(dst, in.a[i], 10), ','), in.n.BytesAt(i)...)
		})},
		{family: "format", text: "format_number(x, 2)", why: "rounds the exact decimal value half even, as Spark; the loop formats the nearest double", approximate: true, loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return strconv.AppendFloat(dst, in.x[i], 'f', 2, 64)
		})},
		{family: "format", text: "format_string('%d:%s', a, s)", why: "interprets Java's format with its flags; the loop appends", loop: texts(func(dst []byte, in *functionInput, i int) []byte {
			return append(append(strconv.AppendInt(dst, in.a[i], 10), ':'), in.s.BytesAt(i)...)
		})},
		{family: "array", text: "size(l)", loop: func(in *functionInput) *columnar.Column {
			d := make([]int32, batchRows)
			for i := range d {
				d[i] = in.l.Offsets[i+1] - in.l.Offsets[i]
			}
			return fixed(columnar.Int32, d)
		}},
		{family: "array", text: "element_at(l, 2)", why: "checks the index against each array, and nulls; the loop knows that there are ten", loop: longs(func(in *functionInput, i int) int64 {
			return columnar.Values[int64](in.l.Children[0])[in.l.Offsets[i]+1]
		})},
		{family: "array", text: "array_contains(l, 5)", loop: truths(func(in *functionInput, i int) bool {
			return slices.Contains(columnar.Values[int64](in.l.Children[0])[in.l.Offsets[i]:in.l.Offsets[i+1]], 5)
		})},
		{family: "array", text: "array_max(l)", why: "orders as Spark does, with nulls left out; the loop compares integers", loop: longs(func(in *functionInput, i int) int64 {
			return slices.Max(columnar.Values[int64](in.l.Children[0])[in.l.Offsets[i]:in.l.Offsets[i+1]])
		})},
		{family: "array", text: "sort_array(l)", loop: lists(func(dst, elems []int64) []int64 {
			from := len(dst)
			dst = append(dst, elems...)
			slices.Sort(dst[from:])
			return dst
		})},
		{family: "array", text: "array_distinct(l)", why: "one way for every type of element; the loop compares integers in an array of ten", loop: lists(func(dst, elems []int64) []int64 {
			from := len(dst)
			for _, v := range elems {
				if !slices.Contains(dst[from:], v) {
					dst = append(dst, v)
				}
			}
			return dst
		})},
		{family: "array", text: "array_union(l, array(1L))", why: "one way for every type of element; the loop compares integers in an array of ten", approximate: true, loop: lists(func(dst, elems []int64) []int64 {
			from := len(dst)
			for _, v := range elems {
				if !slices.Contains(dst[from:], v) {
					dst = append(dst, v)
				}
			}
			if !slices.Contains(dst[from:], 1) {
				dst = append(dst, 1)
			}
			return dst
		})},
		{family: "array", text: "array(a, b)", why: "copies columns of any type side by side; the loop writes two integers", loop: func(in *functionInput) *columnar.Column {
			off, out := make([]int32, batchRows+1), make([]int64, 2*batchRows)
			for i := range batchRows {
				out[2*i], out[2*i+1], off[i+1] = in.a[i], in.b[i], int32(2*i+2)
			}
			return &columnar.Column{Type: in.l.Type, Len: batchRows, Offsets: off, Children: []*columnar.Column{fixed(columnar.Int64, out)}}
		}},
		{family: "lambda", text: "transform(l, v -> v + 1)", why: "evaluates the body over all elements as a batch of its own, with checks of overflow; the loop adds in place", loop: lists(func(dst, elems []int64) []int64 {
			for _, v := range elems {
				dst = append(dst, v+1)
			}
			return dst
		})},
		{family: "lambda", text: "filter(l, v -> v > 500)", loop: lists(func(dst, elems []int64) []int64 {
			for _, v := range elems {
				if v > 500 {
					dst = append(dst, v)
				}
			}
			return dst
		})},
		{family: "lambda", text: "aggregate(l, 0L, (acc, v) -> acc + v)", why: "evaluates the body step by step over all rows, since each step needs the one before; the loop keeps a sum in a register", loop: longs(func(in *functionInput, i int) int64 {
			sum := int64(0)
			for _, v := range columnar.Values[int64](in.l.Children[0])[in.l.Offsets[i]:in.l.Offsets[i+1]] {
				sum += v
			}
			return sum
		})},
		{family: "map", text: "m['b']", loop: longs(func(in *functionInput, i int) int64 {
			for k := in.m.Offsets[i]; k < in.m.Offsets[i+1]; k++ {
				if in.m.Children[0].StringAt(int(k)) == "b" {
					return columnar.Values[int64](in.m.Children[1])[k]
				}
			}
			return 0
		})},
		{family: "map", text: "map_contains_key(m, 'b')", loop: truths(func(in *functionInput, i int) bool {
			for k := in.m.Offsets[i]; k < in.m.Offsets[i+1]; k++ {
				if in.m.Children[0].StringAt(int(k)) == "b" {
					return true
				}
			}
			return false
		})},
		{family: "aggregate", text: "count(*)", groups: functionGroups, loop: grouped(columnar.Int64, func(in *functionInput, out []int64) {
			for _, g := range in.group {
				out[g]++
			}
		})},
		{family: "aggregate", text: "sum(a)", groups: functionGroups, loop: grouped(columnar.Int64, func(in *functionInput, out []int64) {
			for i, g := range in.group {
				out[g] += in.a[i]
			}
		})},
		{family: "aggregate", text: "sum(d)", groups: functionGroups, loop: grouped(columnar.Decimal(20, 2), func(in *functionInput, out []columnar.Dec128) {
			for i, g := range in.group {
				out[g], _ = out[g].Add(in.d[i])
			}
		})},
		{family: "aggregate", text: "avg(x)", groups: functionGroups, loop: grouped(columnar.Float64, func(in *functionInput, out []float64) {
			n := make([]int64, functionGroups)
			for i, g := range in.group {
				out[g] += in.x[i]
				n[g]++
			}
			for g := range out {
				out[g] /= float64(n[g])
			}
		})},
		{family: "aggregate", text: "max(a)", groups: functionGroups, loop: grouped(columnar.Int64, func(in *functionInput, out []int64) {
			for i, g := range in.group {
				out[g] = max(out[g], in.a[i])
			}
		})},
		{family: "aggregate", text: "stddev(x)", groups: functionGroups, approximate: true, loop: grouped(columnar.Float64, func(in *functionInput, out []float64) {
			n, avg := make([]float64, functionGroups), make([]float64, functionGroups)
			for i, g := range in.group {
				n[g]++
				d := in.x[i] - avg[g]
				avg[g] += d / n[g]
				out[g] += d * (in.x[i] - avg[g])
			}
			for g := range out {
				out[g] = math.Sqrt(out[g] / (n[g] - 1))
			}
		})},
		{family: "aggregate", text: "max(s)", groups: functionGroups, loop: func(in *functionInput) *columnar.Column {
			best := make([]string, functionGroups)
			for i, g := range in.group {
				best[g] = max(best[g], in.s.StringAt(i))
			}
			return columnar.NewStrings(best)
		}},
		{family: "aggregate", text: "collect_list(a)", groups: functionGroups, loop: func(in *functionInput) *columnar.Column {
			all := make([][]int64, functionGroups)
			for i, g := range in.group {
				all[g] = append(all[g], in.a[i])
			}
			off, out := make([]int32, 1, functionGroups+1), make([]int64, 0, batchRows)
			for _, v := range all {
				out = append(out, v...)
				off = append(off, int32(len(out)))
			}
			return &columnar.Column{Type: in.l.Type, Len: functionGroups, Offsets: off, Children: []*columnar.Column{fixed(columnar.Int64, out)}}
		}},
		{family: "aggregate", text: "approx_count_distinct(a)", why: "the estimate of each group takes its registers and Spark's table of corrections; the loop counts exactly in a map of few values", groups: functionGroups, approximate: true, loop: grouped(columnar.Int64, func(in *functionInput, out []int64) {
			seen := make([]map[int64]struct{}, functionGroups)
			for i, g := range in.group {
				if seen[g] == nil {
					seen[g] = map[int64]struct{}{}
				}
				seen[g][in.a[i]] = struct{}{}
			}
			for g := range out {
				out[g] = int64(len(seen[g]))
			}
		})},
		{family: "aggregate", text: "percentile(a, 0.5)", why: "counts the values of each group and interpolates as Spark; the loop sorts integers", groups: functionGroups, approximate: true, loop: grouped(columnar.Float64, func(in *functionInput, out []float64) {
			all := make([][]int64, functionGroups)
			for i, g := range in.group {
				all[g] = append(all[g], in.a[i])
			}
			for g, v := range all {
				if len(v) == 0 {
					continue
				}
				slices.Sort(v)
				out[g] = float64(v[len(v)/2])
			}
		})},
	}
}
