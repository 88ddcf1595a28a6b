package rate

import (
	"encoding/json"
	"fmt"
	"sort"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// log is a source's log in memory.
type log map[int64]json.RawMessage

func (l log) Put(batch int64, v json.RawMessage) error { l[batch] = v; return nil }

func (l log) Each(f func(int64, json.RawMessage) error) error {
	for b, v := range l {
		if err := f(b, v); err != nil {
			return err
		}
	}
	return nil
}

func (l log) Compact(int64, json.RawMessage) error { return nil }

// values are the rows of a range as "value@ms", in order of value.
func values(t *testing.T, s connector.Source, from, to connector.Offset) []string {
	t.Helper()
	parts, err := s.Plan(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ value, time int64 }
	var rows []row
	for _, p := range parts {
		err := p.Read(t.Context(), nil, func(c connector.Chunk) error {
			d, err := c.Decode(t.Context())
			if err != nil {
				return err
			}
			for i, v := range columnar.Values[int64](d.Batch.Columns[1]) {
				rows = append(rows, row{v, columnar.Values[int64](d.Batch.Columns[0])[i] / 1000})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].value < rows[j].value })
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%d@%d", r.value, r.time))
	}
	return out
}

// TestRate shows that time that goes back repeats nothing, and that a restart goes on with the same rows.
func TestRate(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	env := connector.Env{Now: func() time.Time { return at }, Log: log{}}
	o := connector.NewOptions(map[string]string{"rowsPerSecond": "2"})
	s, err := newRate(env, o)
	if err != nil {
		t.Fatal(err)
	}
	next := func(s connector.Source, start connector.Offset) connector.Offset {
		end, _, err := s.Next(t.Context(), start, false)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	if end := next(s, nil); end != nil {
		t.Errorf("rows before the first second: %s", end)
	}
	at = at.Add(2500 * time.Millisecond)
	end := next(s, nil)
	want := "[0@1000000 1@1000500 2@1001000 3@1001500]"
	if got := fmt.Sprint(values(t, s, nil, end)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	at = at.Add(-time.Hour)
	if again := next(s, end); string(again) != string(end) {
		t.Errorf("time went back: %s behind %s", again, end)
	}
	restarted, err := newRate(env, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(values(t, restarted, nil, end)); got != want {
		t.Errorf("after a restart: got %s, want %s", got, want)
	}
}

func TestRamp(t *testing.T) {
	s := &source{perSecond: 10, ramp: 4}
	var got []int64
	for n := range int64(7) {
		got = append(got, s.valueAt(n))
	}
	if fmt.Sprint(got) != "[0 2 6 12 20 30 40]" {
		t.Errorf("got %v", got)
	}
}

func TestMicroBatch(t *testing.T) {
	s, err := newMicroBatch(connector.Env{}, connector.NewOptions(map[string]string{"rowsPerBatch": "3", "startTimestamp": "1000"}))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := s.Next(t.Context(), nil, false)
	second, _, _ := s.Next(t.Context(), first, false)
	if got := fmt.Sprint(values(t, s, nil, first), values(t, s, first, second)); got != "[0@1000 1@1000 2@1000] [3@2000 4@2000 5@2000]" {
		t.Errorf("got %s", got)
	}
	for _, bad := range []map[string]string{{}, {"rowsPerBatch": "0"}, {"rowsPerBatch": "1", "startTimestamp": "-1"}} {
		if _, err := newMicroBatch(connector.Env{}, connector.NewOptions(bad)); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
