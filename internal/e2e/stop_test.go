package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/failpoint"
)

// TestStopFinishesTheBatch asks the program to end while a batch runs, slowed down at one point or another: the batch is
// committed, and the exit code says that the end was a clean one.
func TestStopFinishesTheBatch(t *testing.T) {
	for _, sink := range []string{"file", "foreachBatch", "sqlite"} {
		for _, point := range []string{failpoint.OffsetDurable, failpoint.OpMid, failpoint.SinkStaged} {
			t.Run(sink+"/"+point, func(t *testing.T) {
				t.Parallel()
				p, err := places()[sink](t, "")
				if err != nil {
					t.Fatal(err)
				}
				s := newStage(t, "window", p.block, 100, "")
				s.writeInput(0, matrixFiles)
				cmd := exec.Command(s.bin, "run", "--fail-at", fmt.Sprintf("%s@batch=2=sleep:1500", point), filepath.Join(s.dir, "p.yaml"))
				s.check(cmd.Start())
				for range 200 {
					if s.history.look(t); s.history.offsets[2] != nil {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				if s.history.commits[2] != nil {
					t.Fatal("batch 2 was not slowed down")
				}
				s.check(cmd.Process.Signal(syscall.SIGTERM))
				cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != 143 {
					t.Errorf("exit code %d", code)
				}
				s.history.check(t)
				if s.history.commits[2] == nil || len(s.history.commits) != 3 {
					t.Errorf("%d batches are committed", len(s.history.commits))
				}
			})
		}
	}
}
