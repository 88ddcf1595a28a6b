package connect_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/testdirs"
)

// killed runs a pipeline with the built program, which is killed by SIGKILL at moments of chance and started again.
type killed struct {
	t   *testing.T
	bin string
	dir string
}

// newKilled writes the pipeline to a folder of its own.
func newKilled(t *testing.T, text string) *killed {
	t.Helper()
	k := &killed{t: t, bin: testdirs.Program(t), dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(k.dir, "p.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return k
}

// killing runs the program again and again until ctx ends, each time for as long as between gives, and returns how often it
// was killed. A program that ends by itself is a fault.
func (k *killed) killing(ctx context.Context, rnd *rand.Rand, least, most time.Duration) (times int) {
	for ctx.Err() == nil {
		cmd := exec.Command(k.bin, "run", filepath.Join(k.dir, "p.yaml"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			k.t.Error(err)
			return times
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-time.After(least + time.Duration(rnd.Int64N(int64(most-least)))):
		case <-ctx.Done():
		case err := <-ended:
			k.t.Errorf("the program ended by itself: %v\n%s", err, out.String())
			return times
		}
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
			k.t.Error(err)
		}
		<-ended
		times++
	}
	return times
}

// finish runs the program without kills until it has done what is there.
func (k *killed) finish() {
	k.t.Helper()
	out, err := exec.Command(k.bin, "run", "--available-now", filepath.Join(k.dir, "p.yaml")).CombinedOutput()
	if err != nil {
		k.t.Fatalf("%v\n%s", err, out)
	}
}

// lines are the lines of the files of a folder that a reader sees.
func (k *killed) lines(folder string) []string {
	k.t.Helper()
	names, err := filepath.Glob(filepath.Join(k.dir, folder, "*"))
	if err != nil {
		k.t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		if base := filepath.Base(name); base[0] == '_' || base[0] == '.' {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			k.t.Fatal(err)
		}
		out = append(out, strings.Fields(string(b))...)
	}
	return out
}

// killTime is how long a test kills: a slice of WSTREAM_SOAK, some seconds where it is not set.
func killTime() time.Duration {
	if soak, err := time.ParseDuration(os.Getenv("WSTREAM_SOAK")); err == nil {
		return soak / 20
	}
	return 6 * time.Second
}

// freeAddress is an address of loopback that is free now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// onceEach compares lines with those that must be there exactly once.
func onceEach(t *testing.T, got []string, want map[string]bool) {
	t.Helper()
	seen := map[string]int{}
	for _, l := range got {
		seen[l]++
	}
	lost, twice, strange := 0, 0, 0
	for l := range want {
		switch n := seen[l]; {
		case n == 0:
			lost++
		case n > 1:
			twice++
		}
	}
	for l := range seen {
		if !want[l] {
			strange++
		}
	}
	if lost+twice+strange > 0 {
		t.Errorf("%d of %d rows are lost, %d are there more than once, %d nobody has sent", lost, len(want), twice, strange)
	}
}
