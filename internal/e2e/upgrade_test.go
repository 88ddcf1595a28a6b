package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upgradePipeline is what has made the checkpoint.
const upgradePipeline = `name: upgrade
settings: {shufflePartitions: 2, keepBatches: 100}
sources:
  a: {format: rate-micro-batch, options: {rowsPerBatch: 20, startTimestamp: 1000, advanceMillisPerBatch: 7000}}
  b: {format: rate-micro-batch, options: {rowsPerBatch: 15, startTimestamp: 3000, advanceMillisPerBatch: 7000}}
views:
  x: {from: a, steps: [{watermark: {column: timestamp, delay: 5 seconds}}]}
  y: {from: b, steps: [{watermark: {column: timestamp, delay: 5 seconds}}]}
  windowed: {sql: "SELECT window.start AS start, value % 4 AS k, count(*) AS n FROM x GROUP BY window(timestamp, '10 seconds'), value % 4"}
  joined: {sql: "SELECT x.value AS l, y.value AS r FROM x LEFT JOIN y ON x.value = y.value AND y.timestamp BETWEEN x.timestamp AND x.timestamp + INTERVAL 4 SECONDS"}
  once: {from: x, steps: [{sql: "SELECT value % 9 AS k, timestamp FROM x"}, {dropDuplicatesWithinWatermark: [k]}]}
  plain: {sql: "SELECT value, timestamp FROM a WHERE value % 3 = 0"}
sinks:
  out: {from: VIEW, format: json, options: {path: out}, outputMode: append, trigger: {once: true}, checkpointLocation: checkpoint}
`

// upgrade is a change of the pipeline between two runs. A refusal names what has changed.
type upgrade struct {
	what, view string
	from, to   string // text that is replaced
	allowed    bool
	says       string // what a refusal says
}

// upgrades is the table of what a restart may change and what not.
func upgrades() []upgrade {
	return []upgrade{
		{"nothing", "windowed", "", "", true, ""},
		{"the number of state partitions", "windowed", "shufflePartitions: 2", "shufflePartitions: 5", true, ""},
		{"how many batches are kept", "windowed", "keepBatches: 100", "keepBatches: 7", true, ""},
		{"a limit of rates", "plain", "rowsPerBatch: 20", "rowsPerBatch: 30", true, ""},
		{"a filter", "plain", "value % 3 = 0", "value % 5 = 0", true, ""},
		{"a projection with the same columns", "plain", "SELECT value, timestamp", "SELECT value * 2 AS value, timestamp", true, ""},
		{"a filter before the grouping", "windowed", "FROM x GROUP", "FROM x WHERE value % 2 = 0 GROUP", true, ""},
		{"the folder of the sink", "windowed", "path: out", "path: other", true, ""},
		{"the format of the sink", "windowed", "format: json", "format: csv", true, ""},
		{"the delay of the watermark", "windowed", "delay: 5 seconds", "delay: 9 seconds", true, ""},
		{"the trigger", "windowed", "once: true", "processingTime: 1 second", true, ""},
		{"the name of a column of the result", "windowed", "count(*) AS n", "count(*) AS many", true, ""},
		{"a grouping key more", "windowed", "'10 seconds'), value % 4", "'10 seconds'), value % 4, value % 2", false, "value % 2"},
		{"a grouping key less", "windowed", "'10 seconds'), value % 4", "'10 seconds')", false, "group"},
		{"another grouping key of the same type", "windowed", "value % 4", "value % 3", false, "value % 3"},
		{"the type of a grouping key", "windowed", "value % 4", "string(value % 4)", false, "STRING"},
		{"the length of a window", "windowed", "'10 seconds'", "'20 seconds'", false, "20000000 us"},
		{"another aggregate", "windowed", "count(*) AS n", "count(*) AS n, max(value) AS m", false, "max"},
		{"the output mode with state", "windowed", "outputMode: append", "outputMode: update", false, "output mode"},
		{"the key of a join", "joined", "ON x.value = y.value", "ON x.value % 5 = y.value % 5", false, "% 5"},
		{"the kind of a join, whose state is the same", "joined", "LEFT JOIN", "JOIN", true, ""},
		{"the time bound of a join, from the next batch on", "joined", "INTERVAL 4 SECONDS", "INTERVAL 6 SECONDS", true, ""},
		{"the columns of a deduplication", "once", "[k]", "[k, timestamp]", false, "timestamp"},
		{"the kind of a source", "plain", "a: {format: rate-micro-batch, options: {rowsPerBatch: 20, startTimestamp: 1000, advanceMillisPerBatch: 7000}}", "a: {format: rate, options: {rowsPerSecond: 5}}", false, "rate"},
		{"one source more", "plain", "0\"}", "0 UNION ALL SELECT value, timestamp FROM b\"}", false, "source"},
		{"stateful to stateless", "windowed", "from: windowed", "from: plain", false, ""},
		{"stateless to stateful", "plain", "from: plain", "from: once", false, ""},
	}
}

// TestUpgradeRules changes one thing of a pipeline between two runs, for each line of the table: the next run goes on, or it is refused
// before anything is run, in words that name what has changed; `wstream plan` has said so before.
func TestUpgradeRules(t *testing.T) {
	for _, u := range upgrades() {
		t.Run(u.what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "window", "", 100, "")
			file := filepath.Join(s.dir, "u.yaml")
			text := strings.Replace(upgradePipeline, "VIEW", u.view, 1)
			s.check(os.WriteFile(file, []byte(text), 0o644))
			for range 3 {
				if out, err := s.command("run", "-q", file).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			changed := strings.ReplaceAll(text, u.from, u.to)
			if changed == text && u.from != "" {
				t.Fatalf("%q is not in the pipeline", u.from)
			}
			s.check(os.WriteFile(file, []byte(changed), 0o644))
			said, err := s.command("plan", "--json", file).Output()
			if err != nil && u.allowed {
				t.Errorf("plan: %v\n%s", err, said)
			}
			var plan struct {
				Result []struct{ Verdict string }
			}
			if e := json.Unmarshal(said, &plan); e == nil && len(plan.Result) == 1 {
				if verdict := plan.Result[0].Verdict; (verdict == "same" || strings.HasPrefix(verdict, "safe")) != u.allowed {
					t.Errorf("plan says %q", verdict)
				}
			}
			before := treeOf(t, filepath.Join(s.dir, "checkpoint", "offsets"))
			run := s.command("run", "-q", "--available-now", file)
			if u.allowed {
				if !strings.Contains(changed, "once: true") {
					s.check(os.WriteFile(file, []byte(strings.Replace(changed, "processingTime: 1 second", "once: true", 1)), 0o644))
				}
				run = s.command("run", "-q", file)
			}
			out, err := run.CombinedOutput()
			switch {
			case u.allowed && err != nil:
				t.Errorf("refused: %v\n%s", err, out)
			case !u.allowed && err == nil:
				t.Errorf("it went on")
			case !u.allowed && !strings.Contains(strings.ToLower(string(out)), strings.ToLower(u.says)):
				t.Errorf("the refusal does not name %q:\n%s", u.says, out)
			case !u.allowed:
				if ls, err := s.command("checkpoint", "ls", filepath.Join(s.dir, "checkpoint")).CombinedOutput(); err != nil || strings.Count(string(ls), "\n") > 5 {
					t.Errorf("after the refusal: %v\n%s\n%s", err, ls, before)
				}
			}
		})
	}
}
