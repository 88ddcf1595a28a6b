package connect_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// totalsPipeline hands items to a function of the guest in Go: to "set" the totals of a running query, to "add" the rows
// as they came.
func totalsPipeline(t *testing.T, b *bench, d *database, wasm, function, sql, mode string) string {
	t.Helper()
	for i, text := range []string{
		`{"item":"tea","n":1}` + "\n" + `{"item":"cake","n":10}` + "\n" + `{"item":"tea","n":2}`, `{"item":"tea","n":3}`, `{"item":"cake","n":20}`,
	} {
		name := fmt.Sprintf("orders/%d.json", i)
		b.write(name, text+"\n")
		b.stamp(name, i)
	}
	code, err := os.ReadFile(wasm)
	if err != nil {
		t.Fatal(err)
	}
	b.write("totals.wasm", string(code))
	return fmt.Sprintf(`
name: test
modules:
  totals: {path: totals.wasm, allow: ["sql:results"]}
connections:
  results: {driver: %s, dsn: %q}
sources:
  orders: {format: json, schema: "item STRING, n BIGINT", options: {path: orders, maxFilesPerTrigger: 1}}
views:
  rows: {sql: %q}
sinks:
  out: {from: rows, foreachBatch: totals.%s, outputMode: %s, trigger: {availableNow: true}, checkpointLocation: checkpoint}
`, d.format, d.dsn, sql, function, mode)
}

// TestForeachBatchTotals crashes a pipeline at every point: "set" would be right without the ledger too, since a row says what
// the total is; "add" is right by the ledger alone.
func TestForeachBatchTotals(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest in Go")
	}
	wasm := filepath.Join(t.TempDir(), "totals.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w -buildid=", "-o", wasm, "./totals")
	cmd.Dir = filepath.Join("..", "guests", "go")
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, c := range []struct{ function, sql, mode string }{
		{"set", "SELECT item, sum(n) AS total FROM orders GROUP BY item", "update"},
		{"add", "SELECT item, n AS total FROM orders", "append"},
	} {
		t.Run(c.function, func(t *testing.T) {
			databases(t, func(t *testing.T, b *bench, d *database) {
				text := totalsPipeline(t, b, d, wasm, c.function, c.sql, c.mode)
				content := func() string { return sorted(d.rows(t, "SELECT item, total FROM totals")) }
				survives(t, b, text, "out", func() { b.reset(t, d, "totals") }, content)
				if got, want := content(), "cake 30\ntea 6\n"; got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			})
		})
	}
}
