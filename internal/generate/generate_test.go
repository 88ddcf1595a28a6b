package generate

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSameBytes shows that a folder is a function of its arguments, however many cores write it, and that another seed
// gives other rows.
func TestSameBytes(t *testing.T) {
	for _, kind := range Kinds() {
		read := func(seed uint64) []byte {
			dir := t.TempDir()
			if err := (Files{Dir: dir, Rows: 1003, Files: 4, Seed: seed}).Write(t.Context(), kind); err != nil {
				t.Fatal(err)
			}
			names, err := filepath.Glob(filepath.Join(dir, "*.json"))
			if err != nil || len(names) != 4 {
				t.Fatalf("%s: files %q, %v", kind.Name, names, err)
			}
			var all []byte
			var last time.Time
			for _, name := range names {
				b, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, b...)
				info, err := os.Stat(name)
				if err != nil || !info.ModTime().After(last) {
					t.Errorf("%s: modified %v, not after the one before, %v", name, info.ModTime(), err)
				}
				last = info.ModTime()
			}
			return all
		}
		a, b, c := read(1), read(1), read(2)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the same arguments gave other bytes", kind.Name)
		}
		if bytes.Equal(a, c) {
			t.Errorf("%s: another seed gave the same bytes", kind.Name)
		}
		if n := bytes.Count(a, []byte("\n")); n != 1003 {
			t.Errorf("%s: %d rows, want 1003", kind.Name, n)
		}
		for line := range bytes.Lines(a) {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatalf("%s: %s: %v", kind.Name, line, err)
			}
		}
	}
}

// TestClicks checks the shape that the benchmarks rely on.
func TestClicks(t *testing.T) {
	const n = 20_000
	rows := clicksKind().Rows(Part{Seed: 1, Total: n})
	urls, passing, size := map[string]int{}, 0, 0
	for range n {
		line := rows.Append(nil)
		size += len(line) + 1
		var c struct {
			URL    string    `json:"url"`
			Amount float64   `json:"amount"`
			Time   time.Time `json:"event_time"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		urls[c.URL]++
		if c.Amount > 1 {
			passing++
		}
		if from := time.UnixMilli(startMs()); c.Time.Before(from) || !c.Time.Before(from.Add(24*time.Hour)) {
			t.Fatalf("event time %v lies outside of the day", c.Time)
		}
	}
	if share := float64(passing) / n; share < 0.93 || share > 0.97 {
		t.Errorf("%.3f of the rows have an amount above 1, want about 0.95", share)
	}
	if mean := size / n; mean < 135 || mean > 160 {
		t.Errorf("lines of %d bytes, want about 150", mean)
	}
	if len(urls) < 500 || urls["/p/0"] < 50*urls["/p/200"] {
		t.Errorf("%d urls, %d and %d views of the 1st and 201st", len(urls), urls["/p/0"], urls["/p/200"])
	}
}

// TestKeys shows that every key comes as often as any other, for a number of keys with many factors too.
func TestKeys(t *testing.T) {
	for _, users := range []int{1, 2, 7, 1000, 5040} {
		seen := map[string]int{}
		rows := keysKind().Rows(Part{Seed: 1, Total: 3 * users, Keys: users})
		for range 3 * users {
			var k struct {
				User string `json:"user_id"`
			}
			if err := json.Unmarshal(rows.Append(nil), &k); err != nil {
				t.Fatal(err)
			}
			seen[k.User]++
		}
		if len(seen) != users {
			t.Errorf("%d users: saw %d", users, len(seen))
		}
		for user, n := range seen {
			if n != 3 {
				t.Errorf("%d users: %s came %d times, want 3", users, user, n)
				break
			}
		}
	}
}

// TestNexmark shows that bids are for auctions, and by persons, that came before.
func TestNexmark(t *testing.T) {
	rows := nexmarkKind().Rows(Part{Seed: 1, Total: 10_000})
	persons, auctions, bids := map[int]bool{}, map[int]bool{}, 0
	for i := range 10_000 {
		var e struct {
			Kind    int                                   `json:"event_type"`
			Person  *struct{ ID int }                     `json:"person"`
			Auction *struct{ ID, Seller, Category int }   `json:"auction"`
			Bid     *struct{ Auction, Bidder, Price int } `json:"bid"`
			Time    time.Time                             `json:"dateTime"`
		}
		if err := json.Unmarshal(rows.Append(nil), &e); err != nil {
			t.Fatal(err)
		}
		if want := startMs() + int64(i); e.Time.UnixMilli() != want {
			t.Fatalf("event %d at %v", i, e.Time)
		}
		switch e.Kind {
		case 0:
			persons[e.Person.ID] = true
		case 1:
			auctions[e.Auction.ID] = true
			if !persons[e.Auction.Seller] || e.Auction.Category < 10 || e.Auction.Category > 14 {
				t.Fatalf("event %d: auction %+v", i, *e.Auction)
			}
		case 2:
			bids++
			if !auctions[e.Bid.Auction] || !persons[e.Bid.Bidder] || e.Bid.Price < 100 {
				t.Fatalf("event %d: bid %+v", i, *e.Bid)
			}
		}
	}
	if len(persons) != 200 || len(auctions) != 600 || bids != 9200 {
		t.Errorf("%d persons, %d auctions, %d bids", len(persons), len(auctions), bids)
	}
}

// TestStamp compares the dates with those of the standard library.
func TestStamp(t *testing.T) {
	var s stamper
	for _, ms := range []int64{0, 1, dayMs - 1, dayMs, 951_782_400_000, 951_868_799_999, 4_107_542_400_000, startMs(), startMs() - 1} {
		got, want := string(s.append(nil, ms)), time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
		if got != want {
			t.Errorf("%d ms: got %s, want %s", ms, got, want)
		}
	}
	for day := int64(0); day < 100_000; day += 13 {
		got, want := string(s.append(nil, day*dayMs)), time.UnixMilli(day*dayMs).UTC().Format("2006-01-02T15:04:05.000Z")
		if got != want {
			t.Fatalf("day %d: got %s, want %s", day, got, want)
		}
	}
}

// TestPadded covers numbers wider than the padding.
func TestPadded(t *testing.T) {
	for _, c := range []struct {
		v, width int
		want     string
	}{{0, 6, "000000"}, {7, 1, "7"}, {99, 2, "99"}, {100, 2, "100"}, {99_999, 6, "099999"}, {1_234_567, 6, "1234567"}} {
		if got := string(appendPadded(nil, c.v, c.width)); got != c.want {
			t.Errorf("%d padded to %d: got %s, want %s", c.v, c.width, got, c.want)
		}
	}
}

// TestErrors covers an unknown kind, a folder that cannot be made, and an end before time.
func TestErrors(t *testing.T) {
	if _, err := Find("clickz"); err == nil || err.Error() != `no kind of data "clickz"; there are clicks, keys, nexmark, sensors` {
		t.Errorf("unknown kind: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (Files{Dir: file, Rows: 1, Files: 1}).Write(t.Context(), clicksKind()); err == nil {
		t.Error("a file in place of the folder: no error")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Files{Dir: t.TempDir(), Rows: 10, Files: 2}).Write(ended, clicksKind()); err == nil {
		t.Error("an ended context: no error")
	}
}

func BenchmarkClicks(b *testing.B) {
	rows := clicksKind().Rows(Part{Seed: 1, Total: 10_000_000})
	line := make([]byte, 0, 256)
	for b.Loop() {
		line = rows.Append(line[:0])
	}
	b.SetBytes(int64(len(line)))
}
