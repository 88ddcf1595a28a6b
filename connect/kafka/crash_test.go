package kafka

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
)

// copyJob is a pipeline from topic to topic, with state between them.
const copyJob = `name: copy
sources:
  input:
    format: kafka
    options: {kafka.bootstrap.servers: %q, subscribe: %s, startingOffsets: earliest, maxOffsetsPerTrigger: 60, kafka.isolation.level: read_committed, kafka.group.id: %[2]s-lag}
views:
  once:
    from: input
    steps:
      - sql: "SELECT key, value FROM input"
      - dropDuplicates: [value]
sinks:
  out:
    from: once
    format: kafka
    options: {kafka.bootstrap.servers: %[1]q, topic: %[3]s}
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`

// copying is one run of the matrix: two topics and a folder.
type copying struct {
	*cluster
	bin, in, out, dir string
	want              []string
}

// newCopying fills a topic of three partitions: rows, some in transactions, some in aborted ones, some twice.
func newCopying(t *testing.T, name string) *copying {
	t.Helper()
	return newCopyingAt(t, name, testservice.Kafka(t))
}

func newCopyingAt(t *testing.T, name, broker string) *copying {
	t.Helper()
	j := &copying{bin: testdirs.Program(t), cluster: newCluster(t, broker), dir: t.TempDir()}
	unique := fmt.Sprintf("%s-%d", name, time.Now().UnixNano())
	j.in, j.out = j.topic("in-"+unique, 3), j.topic("out-"+unique, 2)
	for p := range int32(3) {
		for part := range 4 {
			var values []string
			for i := range 20 {
				values = append(values, fmt.Sprintf("p%d.%d.%d", p, part, i))
			}
			switch j.want = append(j.want, values...); part {
			case 0:
				j.put(j.in, p, append(values, values[:5]...)...)
			case 1:
				j.transact(j.in, p, kgo.TryAbort, "aborted 1", "aborted 2")
				j.transact(j.in, p, kgo.TryCommit, values...)
			default:
				j.put(j.in, p, values...)
			}
		}
	}
	slices.Sort(j.want)
	if err := os.WriteFile(filepath.Join(j.dir, "p.yaml"), fmt.Appendf(nil, copyJob, j.address, j.in, j.out), 0o644); err != nil {
		t.Fatal(err)
	}
	return j
}

// start begins a run of the program.
func (j *copying) start(failAt ...string) (*exec.Cmd, *strings.Builder) {
	j.t.Helper()
	args := []string{"run"}
	for _, f := range failAt {
		args = append(args, "--fail-at", f)
	}
	cmd := exec.Command(j.bin, append(args, filepath.Join(j.dir, "p.yaml"))...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	return cmd, &out
}

// run runs the program to its end and tells whether it was killed; any other failure ends the test.
func (j *copying) run(failAt ...string) bool {
	j.t.Helper()
	cmd, out := j.start(failAt...)
	err := cmd.Wait()
	if err == nil {
		return false
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return true
	}
	j.t.Fatalf("run %q: %v\n%s", failAt, err, out)
	return false
}

// check compares what a reader of committed records sees.
func (j *copying) check() {
	j.t.Helper()
	got := j.values(j.out)
	slices.Sort(got)
	if slices.Equal(got, j.want) {
		return
	}
	count := map[string]int{}
	for _, v := range got {
		count[v]++
	}
	for _, v := range j.want {
		count[v]--
	}
	for v, n := range count {
		if n != 0 {
			j.t.Errorf("%q: %+d", v, n)
		}
	}
}

// TestCrashMatrix kills the program at every crash point, in the first batch and in a later one, and starts it again.
func TestCrashMatrix(t *testing.T) {
	testservice.Kafka(t)
	for _, point := range failpoint.Names() {
		for _, batch := range []int{0, 2} {
			t.Run(fmt.Sprintf("%s@%d", point, batch), func(t *testing.T) {
				j := newCopying(t, "crash")
				at := fmt.Sprintf("%s@batch=%d", point, batch)
				fired := false
				switch point {
				case failpoint.RecoverMid: // a crash, and then one in what mends it
					j.run(fmt.Sprintf("%s@batch=%d", failpoint.SinkPublished, batch))
					fired = j.run(at)
				default:
					fired = j.run(at)
				}
				j.run()
				j.check()
				if !fired {
					t.Logf("%s did not come by", at)
				}
			})
		}
	}
}

// TestKilledAnywhere kills the program from outside, again and again, at moments of chance.
func TestKilledAnywhere(t *testing.T) {
	j := newCopying(t, "kill")
	seed := uint64(time.Now().UnixNano() % 1_000_000)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 12 {
		cmd, _ := j.start()
		time.Sleep(time.Duration(50+r.IntN(900)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
	}
	j.run()
	j.check()
}

// TestBrokerRestarts stops a real broker of the test's own while the program copies, and starts it again.
func TestBrokerRestarts(t *testing.T) {
	testservice.Kafka(t)
	dir := t.TempDir()
	script := func(args ...string) string {
		out, err := exec.Command("../../scripts/kafka.sh", args...).Output()
		if err != nil {
			t.Fatalf("kafka.sh %q: %v", args, err)
		}
		lines := strings.Fields(string(out))
		return lines[max(len(lines)-1, 0)]
	}
	address := script("start", dir, "0")
	t.Cleanup(func() { exec.Command("../../scripts/kafka.sh", "stop", dir).Run() })
	j := newCopyingAt(t, "restart", address)
	cmd, out := j.start(failpoint.SourceMid+"@batch=1=sleep:1500", failpoint.SinkPartial+"@batch=2=sleep:3000")
	time.Sleep(time.Second)
	exec.Command("../../scripts/kafka.sh", "stop", dir).Run()
	script("start", dir, address[strings.LastIndexByte(address, ':')+1:])
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	j.check()
}
