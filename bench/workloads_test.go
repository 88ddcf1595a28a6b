package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wstream/wstream/bench/reference"
	"github.com/wstream/wstream/internal/generate"
	"github.com/wstream/wstream/internal/testservice"
)

// binaryVar names the environment variable with the built program. It is not looked for in bin/, where a test run would
// take whatever was built some day.
const binaryVar = "WSTREAM_TEST_BIN"

// peer runs bench/peer over generated rows and returns what it printed. vars are more of BENCH_*.
func peer(t *testing.T, workload string, vars ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./peer", workload)
	cmd.Env = append(append(os.Environ(), "WSTREAM_BIN="+os.Getenv(binaryVar), "BENCH_CKPT="+t.TempDir()), vars...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("peer %s: %v\n%s%s", workload, err, out.String(), errs.String())
	}
	if !strings.Contains(out.String(), "BENCH elapsed=") {
		t.Errorf("peer %s: says no BENCH elapsed=:\n%s", workload, out.String())
	}
	return out.String()
}

// rows writes some rows of a kind into a new folder.
func rows(t *testing.T, kind string, n int) string {
	t.Helper()
	if os.Getenv(binaryVar) == "" {
		t.Skipf("%s is not set; `make build` builds bin/wstream", binaryVar)
	}
	k, err := generate.Find(kind)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := (generate.Files{Dir: dir, Rows: n, Files: 4, Seed: 1}).Write(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return dir
}

// results reads the JSON lines of a folder.
func results(t *testing.T, dir string) []map[string]any {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, name := range names {
		for _, line := range readLines(t, name) {
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%s: %s: %v", name, line, err)
			}
			all = append(all, v)
		}
	}
	return all
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(string(b), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// TestClicksFiles compares the whole path with the plain loop.
func TestClicksFiles(t *testing.T) {
	in, out := rows(t, "clicks", 20_000), t.TempDir()
	peer(t, "clicks-files", "BENCH_IN="+in, "BENCH_OUT="+out, "BENCH_FORMAT=json")
	got, err := filesAnswer(out)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := reference.Files(in, t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got != plain.Answer() {
		t.Errorf("got %s, the plain loop %s", got, plain.Answer())
	}
}

// TestClicksKafka does the same over a real broker.
func TestClicksKafka(t *testing.T) {
	broker, in := testservice.Kafka(t), rows(t, "clicks", 20_000)
	e := &env{root: "..", dir: t.TempDir(), broker: broker}
	defer func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	}()
	var topics [3]string
	for i, name := range []string{"in", "out", "plain"} {
		var err error
		if topics[i], err = e.topic(t.Context(), name, 4); err != nil {
			t.Fatal(err)
		}
	}
	if err := reference.Load(t.Context(), broker, topics[0], in); err != nil {
		t.Fatal(err)
	}
	peer(t, "clicks-kafka", "BENCH_BROKER="+broker, "BENCH_IN="+topics[0], "BENCH_OUT="+topics[1], "BENCH_BATCH=2000")
	got, err := topicAnswer(t.Context(), broker, topics[1])
	if err != nil {
		t.Fatal(err)
	}
	plain, err := reference.Kafka(t.Context(), broker, topics[0], topics[2])
	if err != nil {
		t.Fatal(err)
	}
	if again, err := topicAnswer(t.Context(), broker, topics[2]); err != nil || again != plain.Answer() {
		t.Errorf("the plain loop's topic holds %s, %v, its table %s", again, err, plain.Answer())
	}
	if got != plain.Answer() {
		t.Errorf("got %s, the plain loop %s", got, plain.Answer())
	}
}

// TestThrownAway runs the workloads whose rows go nowhere, and the one that prints them.
func TestThrownAway(t *testing.T) {
	clicks := rows(t, "clicks", 5000)
	peer(t, "parse-only", "BENCH_IN="+clicks)
	peer(t, "stateless-files", "BENCH_IN="+clicks)
	peer(t, "high-cardinality", "BENCH_IN="+rows(t, "keys", 5000))
	if out := peer(t, "start-up", "BENCH_IN="+clicks); !strings.Contains(out, "ROW |2026-10-06 00:00:00|/p/") {
		t.Errorf("start-up prints no ROW:\n%.500s", out)
	}
}

// TestUpsert compares the table's sums with the input's.
func TestUpsert(t *testing.T) {
	url, ctx := testservice.Postgres(t), t.Context()
	in := rows(t, "clicks", 5000)
	db, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(ctx))
	for _, s := range []string{
		"DROP TABLE IF EXISTS totals",
		"CREATE TABLE totals (window_start timestamp, user_id text, cnt bigint, total double precision, PRIMARY KEY (window_start, user_id))",
	} {
		if _, err := db.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	peer(t, "upsert", "BENCH_IN="+in, "BENCH_PG="+url)
	var counted, days int
	if err := db.QueryRow(ctx, "SELECT sum(cnt), count(DISTINCT window_start) FROM totals").Scan(&counted, &days); err != nil {
		t.Fatal(err)
	}
	if counted != 5000 || days != 1 {
		t.Errorf("%d rows counted in %d days", counted, days)
	}
}

// TestNexmark checks of every query what can be said without doing it again.
func TestNexmark(t *testing.T) {
	in := rows(t, "nexmark", 60_000) // a minute of events
	bids, some := 0, 0
	for _, e := range results(t, in) {
		if b, ok := e["bid"].(map[string]any); ok {
			bids++
			if int(b["auction"].(float64))%123 == 0 {
				some++
			}
		}
	}
	for query, check := range map[string]func([]map[string]any) bool{
		"q0": func(r []map[string]any) bool { return len(r) == bids },
		"q1": func(r []map[string]any) bool { return len(r) == bids },
		"q2": func(r []map[string]any) bool { return len(r) == some },
		"q3": func(r []map[string]any) bool {
			for _, v := range r {
				if s := v["state"]; s != "OR" && s != "ID" && s != "CA" {
					return false
				}
			}
			return len(r) > 0
		},
		// The only whole minute is closed by nothing: its rows stay in the state.
		"q4": func(r []map[string]any) bool { return len(r) == 0 },
		"q5": func(r []map[string]any) bool { return len(r) > 0 },
		"q7": func(r []map[string]any) bool { return len(r) >= 4 },
		"q8": func(r []map[string]any) bool { return len(r) > 0 },
		"q11": func(r []map[string]any) bool {
			n := 0.0
			for _, v := range r {
				n += v["bid_count"].(float64)
			}
			return len(r) > 0 && int(n) <= bids
		},
		"q12": nil, // update mode, which files do not take: it has to run to its end
	} {
		t.Run(query, func(t *testing.T) {
			out := t.TempDir()
			vars := []string{"BENCH_IN=" + in, "BENCH_OUT=" + out, "BENCH_QUERY=" + query}
			if check == nil {
				peer(t, "nexmark", vars...)
				return
			}
			peer(t, "nexmark", append(vars, "BENCH_SINK=json")...)
			if r := results(t, out); !check(r) {
				t.Errorf("%d rows of %d bids, the first: %v", len(r), bids, r[:min(3, len(r))])
			}
		})
	}
}
