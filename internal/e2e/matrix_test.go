package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
	"github.com/wstream/wstream/testdata/guests"
)

// The matrix: every crash point × every sink × every kind of state × an early and a later batch, with the built program and
// a real SIGKILL. What the sink has in the end must be what a run without a crash gives, the commit log must have no gap,
// and a batch that runs again must have the entry of the first time.

// cell is one crash.
type cell struct {
	point, action, sink, kind string
	batch                     int64
	objects                   string // where the checkpoint is in an object store: "small" or "real"; empty is a folder
}

func (c cell) String() string {
	s := fmt.Sprintf("%s@batch=%d=%s/%s/%s", c.point, c.batch, c.action, c.sink, c.kind)
	if c.objects != "" {
		s += "/s3-" + c.objects
	}
	return s
}

// kinds are the queries, by the kind of their state. Each gives rows (window_start, window_end, url, cnt) in which no url
// stands twice.
func kinds() map[string]string {
	return map[string]string{
		"stateless": `
  result:
    sql: SELECT ts AS window_start, ts AS window_end, concat(k, '-', id) AS url, v AS cnt FROM input WHERE v % 3 <> 2`,
		"window": `
  result:
    sql: |
      SELECT window.start AS window_start, window.end AS window_end, concat(k, '-', unix_seconds(window.start)) AS url, count(*) AS cnt
      FROM input GROUP BY window(ts, '5 seconds'), k`,
		"session": `
  result:
    sql: |
      SELECT session_window.start AS window_start, session_window.end AS window_end, concat(k, '-', unix_seconds(session_window.start)) AS url,
             sum(v) AS cnt
      FROM input GROUP BY session_window(ts, '2 seconds'), k`,
		"join": `
  result:
    sql: |
      SELECT input.ts AS window_start, coalesce(r.ts, input.ts) AS window_end, concat(input.id, '-', coalesce(string(r.id), 'none')) AS url, input.v AS cnt
      FROM input LEFT JOIN r ON input.k = r.k AND r.ts BETWEEN input.ts AND input.ts + INTERVAL 2 SECONDS`,
		"dedup": `
  result:
    from: input
    steps:
      - dropDuplicatesWithinWatermark: [k]
      - sql: "SELECT ts AS window_start, ts AS window_end, concat(k, '-', unix_seconds(ts)) AS url, v AS cnt FROM input"`,
	}
}

// driven says that a moved watermark of the kind asks for a batch without data.
func driven(kind string) bool { return kind != "stateless" }

const matrixFiles = 6

// impossible is the reason for which a point cannot come by in a cell, empty if it must.
func impossible(c cell) string {
	stateless := c.kind == "stateless"
	switch c.point {
	case failpoint.OpMid, failpoint.StateLogPartial, failpoint.StateCommitted, failpoint.StateSnapshotMid:
		if stateless {
			return "there is no state"
		}
	case failpoint.NoDataMid:
		if stateless {
			return "only a moved watermark asks for a batch without data"
		}
		if c.batch == 0 {
			return "the first batch has data"
		}
	case failpoint.SinkPartial, failpoint.SinkStaged:
		if c.sink == "kafka" && c.batch == 0 && (c.kind == "window" || c.kind == "session") {
			return "no window is closed in the first batch, and without records there is no transaction"
		}
		if c.sink == "kafka" && c.batch == 3 && c.kind == "dedup" {
			return "no key of the fourth batch is new, and without records there is no transaction"
		}
	case failpoint.PurgeMid:
		if c.batch == 0 {
			return "at the first batch there is nothing old"
		}
	}
	return ""
}

// before is how many files are read by a run before the one that crashes. Most points crash the first run; a batch without
// data comes when there are no more files, and files of the checkpoint are old when there has been a run before.
func before(c cell) (files int, crashInIt bool) {
	switch {
	case impossible(c) != "":
		return matrixFiles, true
	case c.point == failpoint.NoDataMid:
		return int(c.batch), true // batches 0 to N-1 have data, N has none
	case c.point == failpoint.StopMid && driven(c.kind) && c.batch > 0:
		return int(c.batch), true // N is the batch without data, the last one before the stop
	case c.point == failpoint.StopMid:
		return int(c.batch) + 1, true
	case c.point == failpoint.PurgeMid && driven(c.kind):
		return int(c.batch) - 1, false // and a batch without data
	case c.point == failpoint.PurgeMid:
		return int(c.batch), false
	}
	return matrixFiles, true
}

// place is a sink under test: the lines of its block in the pipeline, and a way to read what it shows.
type place struct {
	block string
	rows  func(t *testing.T) []string
}

// stage is the folder of a cell.
type stage struct {
	t        *testing.T
	bin, dir string
	env      []string // more than our own environment
	history  *history
	fired    bool
}

// command is the program with arguments.
func (s *stage) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.bin, args...)
	cmd.Env = append(os.Environ(), s.env...)
	return cmd
}

// writeInput writes the files with the given numbers. All times of the first one are within the delay of the watermark,
// which it does not move; the last one moves it beyond everything.
func (s *stage) writeInput(from, to int) {
	s.t.Helper()
	for f := from; f < to; f++ {
		var in, right bytes.Buffer
		for i := range 12 {
			sec := f*10 + 1 + i*3/4
			fmt.Fprintf(&in, `{"id":%d,"k":"k%d","ts":"1970-01-01T00:%02d:%02dZ","v":%d}`+"\n", f*12+i, (f*12+i)/4%7, sec/60, sec%60, i)
			if i%3 != 0 {
				fmt.Fprintf(&right, `{"id":%d,"k":"k%d","ts":"1970-01-01T00:%02d:%02dZ"}`+"\n", 1000+f*12+i, (f*12+i)/4%7, sec/60, sec%60)
			}
		}
		if f == matrixFiles-1 {
			fmt.Fprintln(&in, `{"id":9999,"k":"end","ts":"1970-01-01T01:00:00Z","v":1}`)
			fmt.Fprintln(&right, `{"id":9998,"k":"other end","ts":"1970-01-01T01:00:00Z"}`)
		}
		for folder, b := range map[string][]byte{"in": in.Bytes(), "right": right.Bytes()} {
			name := filepath.Join(s.dir, folder, fmt.Sprintf("%03d.json", f))
			s.check(os.MkdirAll(filepath.Dir(name), 0o755))
			s.check(os.WriteFile(name, b, 0o644))
			// The order of files is by time, then by name.
			at := time.Unix(1_700_000_000+int64(f), 0)
			s.check(os.Chtimes(name, at, at))
		}
	}
}

func (s *stage) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

const matrixPipeline = `name: matrix
settings: {keepBatches: %d}
modules:
  clicks:
    path: clicks.wasm
    config: {connection: analytics, min_amount: "1"}
    allow: ["sql:analytics"]
connections:
  analytics: {driver: sqlite, dsn: counts.db}
sources:
  input_raw: {format: json, schema: "id BIGINT, k STRING, ts TIMESTAMP, v BIGINT", options: {path: in, maxFilesPerTrigger: 1}}
  right_raw: {format: json, schema: "id BIGINT, k STRING, ts TIMESTAMP", options: {path: right, maxFilesPerTrigger: 1}}
views:
  input: {from: input_raw, steps: [{watermark: {column: ts, delay: 10 seconds}}]}
  r: {from: right_raw, steps: [{watermark: {column: ts, delay: 10 seconds}}]}%s
  records: {sql: "SELECT concat(url, ' ', cnt) AS value FROM result"}
sinks:
  out:
    outputMode: append
    checkpointLocation: %s
%s
`

// newStage writes the pipeline of a cell.
func newStage(t *testing.T, kind, block string, keep int, objects string) *stage {
	t.Helper()
	s := &stage{t: t, bin: testdirs.Program(t), dir: t.TempDir()}
	s.history = newHistory(filepath.Join(s.dir, "checkpoint"))
	location := "checkpoint"
	if objects != "" {
		location = s.useObjects(objects)
	}
	s.check(os.WriteFile(filepath.Join(s.dir, "clicks.wasm"), guests.Clicks(), 0o644))
	s.check(os.WriteFile(filepath.Join(s.dir, "p.yaml"), fmt.Appendf(nil, matrixPipeline, keep, kinds()[kind], location, block), 0o644))
	return s
}

// run runs the program to its end, and tells whether it was killed.
func (s *stage) run(points ...string) (killed bool) {
	s.t.Helper()
	args := []string{"run", "--available-now"}
	for _, p := range points {
		args = append(args, "--fail-at", p)
	}
	cmd := s.command(append(args, filepath.Join(s.dir, "p.yaml"))...)
	out, err := cmd.CombinedOutput()
	s.history.look(s.t)
	return s.wasKilled(cmd, err, out)
}

func (s *stage) wasKilled(cmd *exec.Cmd, err error, out []byte) bool {
	s.t.Helper()
	if err == nil {
		return false
	}
	if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGKILL {
		return true
	}
	s.t.Fatalf("%v\n%s", err, out)
	return false
}

// stop runs the program until a batch is committed, and asks it to end then.
func (s *stage) stop(batch int64, points ...string) (killed bool) {
	s.t.Helper()
	args := []string{"run", "--json"}
	for _, p := range points {
		args = append(args, "--fail-at", p)
	}
	cmd := s.command(append(args, filepath.Join(s.dir, "p.yaml"))...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	s.check(err)
	s.check(cmd.Start())
	guard := time.AfterFunc(time.Minute, func() { cmd.Process.Signal(syscall.SIGQUIT) })
	defer guard.Stop()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Event    string
			Progress struct{ BatchID int64 }
		}
		s.check(json.Unmarshal(lines.Bytes(), &e))
		if e.Event == "progress" && e.Progress.BatchID == batch {
			s.check(cmd.Process.Signal(syscall.SIGTERM))
			break
		}
	}
	io.Copy(io.Discard, out)
	err = cmd.Wait()
	s.history.look(s.t)
	if cmd.ProcessState.ExitCode() == 143 {
		return false
	}
	return s.wasKilled(cmd, err, errs.Bytes())
}

// play runs a cell.
func (s *stage) play(c cell) {
	s.t.Helper()
	at := fmt.Sprintf("%s@batch=%d=%s", c.point, c.batch, c.action)
	files, inIt := before(c)
	s.writeInput(0, files)
	switch {
	case c.point == failpoint.StopMid:
		s.fired = s.stop(c.batch, at)
	case c.point == failpoint.RecoverMid:
		// A crash, and then ten in what mends it: at the start of the replay, and at its end.
		first := s.run(fmt.Sprintf("%s@batch=%d", failpoint.SinkPublished, c.batch))
		s.fired = first
		for i := range 10 {
			killed := s.run(fmt.Sprintf("%s@batch=%d:%d", c.point, c.batch, 1+i%2))
			s.fired = s.fired && killed
		}
	case inIt:
		s.fired = s.run(at)
	default:
		s.run()
	}
	s.writeInput(files, matrixFiles)
	if !inIt {
		s.fired = s.run(at)
	}
	s.run()
	s.history.check(s.t)
}

// tally counts cells, and the faults that fired by their point.
type tally struct {
	mu                        sync.Mutex
	fired, missed, impossible map[string]int
	cells                     int
	sinks                     map[string]int
}

func newTally() *tally {
	return &tally{fired: map[string]int{}, missed: map[string]int{}, impossible: map[string]int{}, sinks: map[string]int{}}
}

func (y *tally) add(t *testing.T, c cell, fired bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.cells++
	reason := impossible(c)
	switch {
	case fired:
		y.fired[c.point]++
		y.sinks[c.sink]++
		if reason != "" {
			t.Errorf("%s is listed as impossible (%s), but came by", c.point, reason)
		}
	case reason != "":
		y.impossible[reason]++
	default:
		y.missed[c.point]++
		t.Errorf("%s did not come by: the cell has tested nothing", c.point)
	}
}

// log prints the counts.
func (y *tally) log(t *testing.T) {
	fired := 0
	for _, n := range y.fired {
		fired += n
	}
	t.Logf("%d cells, in %d of them the fault fired", y.cells, fired)
	for _, p := range failpoint.Names() {
		t.Logf("  %-20s fired %d, missed %d", p, y.fired[p], y.missed[p])
	}
	for sink, n := range y.sinks {
		t.Logf("  sink %s: %d", sink, n)
	}
	for reason, n := range y.impossible {
		t.Logf("  impossible, %s: %d", reason, n)
	}
}

// answers are the rows of runs without a crash, by kind.
type answers struct {
	mu sync.Mutex
	by map[string][]string
}

// of runs a kind without a crash into files, once: so many files by a first run, the others by a second one.
func (a *answers) of(t *testing.T, kind string, files int) []string {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	name := fmt.Sprintf("%s after %d files", kind, files)
	if rows := a.by[name]; rows != nil {
		return rows
	}
	p, err := filePlace(t, "")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, kind, p.block, 100, "")
	s.writeInput(0, files)
	s.run()
	s.writeInput(files, matrixFiles)
	s.run()
	s.history.check(t)
	rows := rowsOfFiles(t, filepath.Join(s.dir, "out"))
	if len(rows) < 10 || len(slices.Compact(slices.Clone(rows))) != len(rows) {
		t.Fatalf("%s: the run without a crash gave %d rows: %q", kind, len(rows), rows)
	}
	a.by[name] = rows
	return rows
}

// playCell runs a cell and compares.
func playCell(t *testing.T, c cell, want []string, y *tally) {
	makePlace := places()[c.sink]
	keep := 100
	if c.point == failpoint.PurgeMid {
		keep = 1
	}
	unique := fmt.Sprintf("m%d", time.Now().UnixNano())
	p, err := makePlace(t, unique)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, c.kind, p.block, keep, c.objects)
	s.play(c)
	y.add(t, c, s.fired)
	var got []string
	if p.rows != nil {
		got = p.rows(t)
	} else {
		got = rowsIn(t, s, c.sink)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the sink has %d rows\n%s\nand not the %d of a run without a crash\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
}

// allCells lists the cells of sinks.
func allCells(sinks ...string) []cell {
	var out []cell
	for _, point := range failpoint.Names() {
		actions := []string{"kill"}
		if point == failpoint.OffsetLogPartial || point == failpoint.CommitLogPartial || point == failpoint.StateLogPartial {
			actions = append(actions, "torn")
		}
		for _, action := range actions {
			for _, sink := range sinks {
				for _, kind := range []string{"stateless", "window", "session", "join", "dedup"} {
					for _, batch := range []int64{0, 3} {
						out = append(out, cell{point, action, sink, kind, batch, ""})
					}
				}
			}
		}
	}
	return out
}

// TestMatrix runs all cells with sinks that need no service, and a sample of WSTREAM_SAMPLE (120) of those with one,
// chosen by the printed seed (WSTREAM_TEST_SEED).
func TestMatrix(t *testing.T) {
	if os.Getenv("WSTREAM_SOAK") == "" {
		t.Skip("WSTREAM_SOAK is not set: `make soak` runs the full matrix")
	}
	cells := allCells("file", "foreachBatch", "delta", "sqlite")
	services := allCells(reachable()...)
	sd := seed()
	rng := rand.New(rand.NewPCG(sd, 1))
	rng.Shuffle(len(services), func(i, j int) { services[i], services[j] = services[j], services[i] })
	sample := min(number("WSTREAM_SAMPLE", 120), len(services))
	t.Logf("seed %d: %d cells without a service, %d of %d with one (%s)", sd, len(cells), sample, len(services), strings.Join(reachable(), ", "))
	cells = append(cells, services[:sample]...)
	objects := allCells("file", "foreachBatch", "delta", "sqlite")
	rng.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
	for i := range min(number("WSTREAM_SAMPLE_S3", 120), len(objects)) {
		objects[i].objects = "small"
		if os.Getenv(testservice.S3Var) != "" {
			objects[i].objects = "real"
		}
		cells = append(cells, objects[i])
	}
	runCells(t, cells)
}

// TestCrashSlice is a fixed slice of the matrix.
func TestCrashSlice(t *testing.T) {
	runCells(t, []cell{
		{failpoint.OffsetLogPartial, "torn", "file", "window", 3, ""},
		{failpoint.OffsetDurable, "kill", "delta", "join", 0, ""},
		{failpoint.SourceMid, "kill", "sqlite", "session", 3, ""},
		{failpoint.OpMid, "kill", "file", "dedup", 3, ""},
		{failpoint.StateLogPartial, "torn", "file", "join", 3, ""},
		{failpoint.StateSnapshotMid, "kill", "file", "window", 3, ""},
		{failpoint.SinkStaged, "kill", "foreachBatch", "session", 3, ""},
		{failpoint.SinkPublished, "kill", "delta", "window", 3, ""},
		{failpoint.CommitLogPartial, "torn", "sqlite", "stateless", 0, ""},
		{failpoint.PurgeMid, "kill", "file", "dedup", 3, ""},
		{failpoint.NoDataMid, "kill", "foreachBatch", "window", 3, ""},
		{failpoint.StopMid, "kill", "file", "join", 3, ""},
		{failpoint.OffsetLogPartial, "torn", "file", "session", 3, "small"},
		{failpoint.StateCommitted, "kill", "foreachBatch", "window", 3, "small"},
		{failpoint.SinkPublished, "kill", "file", "window", 3, "small"},
		{failpoint.CommitLogUnsynced, "kill", "sqlite", "dedup", 0, "small"},
		{failpoint.StateSnapshotMid, "kill", "file", "join", 3, "small"},
		{failpoint.PurgeMid, "kill", "file", "stateless", 3, "small"},
	})
}

func runCells(t *testing.T, cells []cell) {
	testdirs.Program(t)
	y, a := newTally(), &answers{by: map[string][]string{}}
	t.Run("cells", func(t *testing.T) {
		for _, c := range cells {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				files, _ := before(c)
				playCell(t, c, a.of(t, c.kind, files), y)
			})
		}
	})
	y.log(t)
}
