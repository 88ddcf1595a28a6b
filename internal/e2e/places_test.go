package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/bench/reference"
	"github.com/wstream/wstream/internal/testservice"
)

// places are the sinks of the matrix. Each makes a place of its own for a cell, under a unique name.
func places() map[string]func(t *testing.T, unique string) (place, error) {
	return map[string]func(t *testing.T, unique string) (place, error){
		"file": filePlace,
		"delta": func(*testing.T, string) (place, error) {
			return place{block: "    from: result\n    format: delta\n    options: {path: out}"}, nil
		},
		"foreachBatch": func(*testing.T, string) (place, error) {
			return place{block: "    from: result\n    foreachBatch: clicks.upsert"}, nil
		},
		"sqlite": func(*testing.T, string) (place, error) {
			return place{block: "    from: result\n    format: sqlite\n    options: {connection: analytics, table: clicks_per_window}"}, nil
		},
		"postgres": func(t *testing.T, unique string) (place, error) {
			return table(t, "postgres", "pgx", testservice.Postgres(t), testservice.Postgres(t), unique)
		},
		"mysql": func(t *testing.T, unique string) (place, error) {
			return table(t, "mysql", "mysql", testservice.MySQL(t), testservice.MySQL(t), unique)
		},
		"kafka": topicPlace,
	}
}

// reachable are the sinks whose service is there.
func reachable() []string {
	var out []string
	for _, s := range []struct{ sink, variable string }{
		{"kafka", testservice.KafkaVar}, {"postgres", testservice.PostgresVar}, {"mysql", testservice.MySQLVar},
	} {
		if os.Getenv(s.variable) != "" {
			out = append(out, s.sink)
		}
	}
	return out
}

func filePlace(*testing.T, string) (place, error) {
	return place{block: "    from: result\n    format: json\n    options: {path: out}"}, nil
}

// rowsIn reads a place that lies in the folder of the stage.
func rowsIn(t *testing.T, s *stage, sink string) []string {
	t.Helper()
	switch sink {
	case "file":
		return rowsOfFiles(t, filepath.Join(s.dir, "out"))
	case "delta":
		f := filepath.Join(s.dir, "read.yaml")
		s.check(os.WriteFile(f, []byte("sources:\n  out: {format: delta, static: true, options: {path: out}}\n"), 0o644))
		cmd := exec.Command(s.bin, "sql", "--file", f, "--format", "jsonl", "SELECT url, cnt FROM out")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("read the Delta table: %v\n%s", err, errs.String())
		}
		return rowsOfJSON(t, out)
	default:
		db, err := sql.Open("sqlite", filepath.Join(s.dir, "counts.db"))
		s.check(err)
		defer db.Close()
		return rowsOfTable(t, db, "clicks_per_window")
	}
}

// rowsOfFiles reads all files that a reader of the folder sees.
func rowsOfFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, f := range files {
		if base := filepath.Base(f); base[0] == '_' || base[0] == '.' {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, rowsOfJSON(t, b)...)
	}
	slices.Sort(rows)
	return rows
}

func rowsOfJSON(t *testing.T, lines []byte) []string {
	t.Helper()
	var rows []string
	for line := range bytes.Lines(lines) {
		var r struct {
			URL string `json:"url"`
			Cnt int64  `json:"cnt"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, fmt.Sprintf("%s %d", r.URL, r.Cnt))
	}
	return rows
}

func rowsOfTable(t *testing.T, db *sql.DB, table string) []string {
	t.Helper()
	rows, err := db.Query("SELECT url, cnt FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var url string
		var cnt int64
		if err := rows.Scan(&url, &cnt); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %d", url, cnt))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// table is a table of a database of its own name.
func table(t *testing.T, format, driver, dsn, address, unique string) (place, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return place{}, err
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP TABLE IF EXISTS " + unique); err != nil {
			t.Error(err)
		}
		db.Close()
	})
	return place{
		block: fmt.Sprintf("    from: result\n    format: %s\n    options: {dsn: %q, table: %s}", format, address, unique),
		rows:  func(t *testing.T) []string { return rowsOfTable(t, db, unique) },
	}, nil
}

// topicPlace is a topic of two partitions.
func topicPlace(t *testing.T, unique string) (place, error) {
	broker := testservice.Kafka(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return place{}, err
	}
	admin := kadm.NewClient(cl)
	if _, err := admin.CreateTopic(t.Context(), 2, 1, nil, unique); err != nil {
		return place{}, err
	}
	t.Cleanup(func() {
		if _, err := admin.DeleteTopics(context.Background(), unique); err != nil {
			t.Error(err)
		}
		cl.Close()
	})
	return place{
		block: fmt.Sprintf("    from: records\n    format: kafka\n    options: {kafka.bootstrap.servers: %q, topic: %s}", broker, unique),
		rows:  func(t *testing.T) []string { return recordsOf(t, broker, unique) },
	}, nil
}

// recordsOf reads what a reader of committed records sees.
func recordsOf(t *testing.T, broker, topic string) []string {
	t.Helper()
	var rows []string
	err := reference.Read(t.Context(), broker, topic, func(value []byte) error {
		rows = append(rows, strings.TrimSpace(string(value)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
