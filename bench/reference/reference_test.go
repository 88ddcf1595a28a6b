package reference

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/generate"
)

// TestScanClick compares the scanner with encoding/json over usual and unusual lines.
func TestScanClick(t *testing.T) {
	for _, line := range []string{
		`{"user_id":"u1","event_time":"2026-10-06T12:03:11.123Z","url":"/p/1","amount":12.34,"ua":"x"}`,
		`{"amount":-0.5,"url":"","event_time":"1969-12-31T23:59:59.999Z"}`,
		`{"ua":"a \"quoted\" \\ word","event_time":"2024-02-29T00:00:00.000Z","url":"/p/1","amount":7}`,
		`{"event_time":"2026-10-06T12:03:11.123Z","url":"/a\/b\u00e9","amount":1}`,
		`{"event_time":"2026-10-06T12:03:11Z","url":"/p","amount":1e2}`,
		`{ "event_time" : "2026-10-06T12:03:11.123+02:00", "url":"/p", "amount": 123456789012345678 }`,
		`{"n":null,"b":true,"o":{"url":"no"},"event_time":"2026-10-06T12:03:11.123Z","url":"/p","amount":0.1}`,
	} {
		for _, tail := range []string{"", "\n", "\n{}"} {
			var got Click
			next, err := ScanClick([]byte(line+tail), 0, &got)
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if want := len(line) + min(1, len(tail)); next != want {
				t.Errorf("%s: the next line at %d, want %d", line, next, want)
			}
			var want struct {
				Time   time.Time `json:"event_time"`
				URL    string    `json:"url"`
				Amount float64   `json:"amount"`
			}
			if err := json.Unmarshal([]byte(line), &want); err != nil {
				t.Fatal(err)
			}
			if got.TimeUs != want.Time.UnixMicro() || string(got.URL) != want.URL || got.Amount != want.Amount {
				t.Errorf("%s: got %d %q %v", line, got.TimeUs, got.URL, got.Amount)
			}
		}
	}
	for _, line := range []string{
		``, `{`, `{}`, `{"url"`, `{"url":`, `{"url":"`, `{"url":"/p"`, `{"url":"/p","amount":1}`, `[]`,
		`{"event_time":"2026-10-06T12:03:11.123Z","url":"/p","amount":}`,
		`{"event_time":"2026-10-06T12:03:11.123Z","url":"/p","amount":1} x`,
		`{"event_time":"2026-10-06X12:03:11.123Z","url":"/p","amount":1}`,
	} {
		var c Click
		if _, err := ScanClick([]byte(line), 0, &c); err == nil {
			t.Errorf("%s: no error", line)
		}
	}
}

// FuzzScanClick shows that no input makes the scanner run out of bounds, or read other values than encoding/json does.
func FuzzScanClick(f *testing.F) {
	f.Add([]byte(`{"user_id":"u1","event_time":"2026-10-06T12:03:11.123Z","url":"/p/1","amount":12.34,"ua":"x\"y"}`))
	f.Add([]byte(`{"event_time":"2026-10-06T12:03:11.123Z","url":"/p","amount":1` + "\n}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Click
		for p := 0; p < len(b); {
			next, err := ScanClick(b, p, &c)
			if err != nil {
				return
			}
			if next <= p || next > len(b) {
				t.Fatalf("from %d to %d of %d", p, next, len(b))
			}
			p = next
		}
	})
}

// TestTable compares the table with Go's map.
func TestTable(t *testing.T) {
	type key struct {
		window int64
		url    string
	}
	rnd, want := rand.New(rand.NewPCG(1, 2)), map[key]int64{}
	parts := []*Table{NewTable(), NewTable()}
	for range 50_000 {
		k := key{rnd.Int64N(20) * WindowUs, strings.Repeat("x", rnd.IntN(40)) + string(rune('a'+rnd.IntN(26)))}
		want[k]++
		parts[rnd.IntN(2)].Add(k.window, []byte(k.url), 0.5)
	}
	parts[0].Merge(parts[1])
	if parts[0].Len() != len(want) {
		t.Errorf("%d groups, want %d", parts[0].Len(), len(want))
	}
	parts[0].Each(func(url []byte, g *Group) {
		if n := want[key{g.WindowUs, string(url)}]; g.Count != n || g.Total != float64(n)/2 {
			t.Errorf("%d %s: %d, %v, want %d", g.WindowUs, url, g.Count, g.Total, n)
		}
	})
}

// TestFiles compares the job over files with one over encoding/json, and one goroutine with two.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	kind, err := generate.Find("clicks")
	if err != nil {
		t.Fatal(err)
	}
	const rows = 30_000
	if err := (generate.Files{Dir: dir, Rows: rows, Files: 3, Seed: 1}).Write(t.Context(), kind); err != nil {
		t.Fatal(err)
	}
	one, err := Files(dir, t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Files(dir, t.TempDir(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if one.Rows != rows || two.Rows != rows || one.Answer() != two.Answer() {
		t.Errorf("one goroutine: %d rows, %s\ntwo: %d rows, %s", one.Rows, one.Answer(), two.Rows, two.Answer())
	}
	// Columns see the same rows: the filter's count is that of the table's.
	var c Columns
	var all []byte
	for part := range 3 {
		g := kind.Rows(generate.Part{Seed: 1, Total: rows, First: part * rows / 3})
		for range rows / 3 {
			all = append(g.Append(all), '\n')
		}
	}
	if err := c.Decode(all); err != nil {
		t.Fatal(err)
	}
	counted := int64(0)
	one.Table.Each(func(_ []byte, g *Group) { counted += g.Count })
	if n := c.Filter(make([]byte, (rows+7)/8)); c.Len() != rows || int64(n) != counted {
		t.Errorf("%d columns' rows, %d pass the filter, the table counted %d", c.Len(), n, counted)
	}
	table := NewTable()
	c.Group(table)
	if n := c.GroupMap(); n != table.Len() {
		t.Errorf("%d groups by Go's map, %d by the table", n, table.Len())
	}
	if bytes.Count(all, []byte("\n")) != rows {
		t.Error("rows are missing")
	}
}

func BenchmarkDecode(b *testing.B) {
	lines, n := sample(b, 8192)
	var c Columns
	for b.Loop() {
		if err := c.Decode(lines); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(lines)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
}

func BenchmarkGroup(b *testing.B) {
	lines, n := sample(b, 8192)
	var c Columns
	if err := c.Decode(lines); err != nil {
		b.Fatal(err)
	}
	t := NewTable()
	for b.Loop() {
		c.Group(t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
}

func sample(b *testing.B, n int) (lines []byte, rows int) {
	kind, err := generate.Find("clicks")
	if err != nil {
		b.Fatal(err)
	}
	g := kind.Rows(generate.Part{Seed: 1, Total: 10_000_000})
	for range n {
		lines = append(g.Append(lines), '\n')
	}
	return lines, n
}
