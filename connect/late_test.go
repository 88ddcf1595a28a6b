package connect_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestLateRows sends late rows to sinks of their own, which learn the columns with the first rows, and shows that these
// survive crashes like the others.
func TestLateRows(t *testing.T) {
	for _, format := range []string{"json", "sqlite"} {
		t.Run(format, func(t *testing.T) {
			b := newBench(t)
			d := &database{format: "sqlite", dsn: filepath.Join(b.dir, "late.db")}
			for i, minutes := range []string{"00 50", "10 55", "20 59"} {
				text := ""
				for _, m := range strings.Fields(minutes) {
					text += fmt.Sprintf(`{"t":"2026-10-06T12:%s:00Z"}`+"\n", m)
				}
				b.write(fmt.Sprintf("in/%d.json", i), text)
				b.stamp(fmt.Sprintf("in/%d.json", i), i)
			}
			options := "{path: late}"
			if format == "sqlite" {
				options = "{connection: db, table: late}"
			}
			text := fmt.Sprintf(`
name: test
connections:
  db: {driver: sqlite, dsn: %q}
sources:
  input: {format: json, schema: t TIMESTAMP, options: {path: in, maxFilesPerTrigger: 1}}
views:
  marked:
    from: input
    steps:
      - watermark: {column: t, delay: 10 minutes}
  counts:
    sql: "SELECT window.start AS s, count(*) AS n FROM marked GROUP BY window(t, '10 minutes')"
    late: late_rows
sinks:
  late_rows: {format: %s, options: %s}
  out:
    from: counts
    format: json
    options: {path: out}
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`, d.dsn, format, options)
			content := func() string {
				if format == "json" {
					return b.content("late")
				}
				return lateTable(t, d)
			}
			survivesIn(t, b, text, "out", func() { b.remove("late", "out", "late.db", "late.db-wal", "late.db-shm", "checkpoint") }, content, 2)
			if got := content(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "12:20:00") {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
