package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/generate"
	"github.com/wstream/wstream/internal/objectfs"
	"github.com/wstream/wstream/internal/s3test"
	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
)

// useObjects puts the checkpoint of the stage into an object store, and returns its location: the small server of this
// process, or a real one.
func (s *stage) useObjects(which string) string {
	s.t.Helper()
	bucket := testservice.S3Bucket
	if which == "real" {
		s.env = testservice.S3(s.t)
	} else {
		s.env = s3test.Start(s.t, bucket).Env()
	}
	location := fmt.Sprintf("s3://%s/e2e/%d", bucket, time.Now().UnixNano())
	fsys := objectfs.NewS3(func(name string) string { return s3test.Lookup(s.env, name) }, objectfs.Options{})
	s.history.fs, s.history.dir = fsys, location
	if which == "real" {
		s.t.Cleanup(func() {
			if err := fsys.RemoveAll(location); err != nil {
				s.t.Error(err)
			}
		})
	}
	return location
}

// TestClicksKilledS3 is the main job with its checkpoints in a real server with the S3 API, with kill -9 on the way.
func TestClicksKilledS3(t *testing.T) {
	env := testservice.S3(t)
	clicksOverObjects(t, testservice.S3Bucket, env, number("WSTREAM_KILLS", 5))
}

// TestClicksKilledSmallS3 is the same with the small server of the tests, which fails now and then as well.
func TestClicksKilledSmallS3(t *testing.T) {
	server := s3test.Start(t, "bucket")
	n := 0
	server.OnRequest(func(string, string) s3test.Fault {
		n++
		switch {
		case n%17 == 0:
			return s3test.Fault{Status: 503, Code: "SlowDown"}
		case n%29 == 0:
			return s3test.Fault{Status: 500, Code: "InternalError", Applied: true}
		case n%41 == 0:
			return s3test.Fault{Cut: true, Applied: true}
		case n%7 == 0:
			return s3test.Fault{Delay: 30 * time.Millisecond}
		}
		return s3test.Fault{}
	})
	clicksOverObjects(t, "bucket", server.Env(), 3)
	t.Logf("%d requests, of which %d failed", n, n/17+n/29+n/41)
}

func clicksOverObjects(t *testing.T, bucket string, env []string, kills int) {
	t.Helper()
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	s := &stage{t: t}
	bin := testdirs.Program(t)
	dir := setUp(t, "sqlite", "counts.db", "    format: text\n    options: {path: in, maxFilesPerTrigger: 2}")
	location := fmt.Sprintf("s3://%s/clicks/%d", bucket, time.Now().UnixNano())
	file := filepath.Join(dir, "clicks.yaml")
	text, err := os.ReadFile(file)
	s.check(err)
	s.check(os.WriteFile(file, bytes.ReplaceAll(text, []byte("checkpointLocation: checkpoint/"), []byte("checkpointLocation: "+location+"/")), 0o644))
	kind := mustFind(t)
	gen := number("WSTREAM_CLICKS", 100_000)
	s.check((generate.Files{Dir: filepath.Join(dir, "in"), Rows: gen, Files: 10, Seed: 7}).Write(t.Context(), kind))
	sd := seed()
	killed(t, bin, dir, kills, sd)
	compareSQLite(t, dir, inFolder(t, filepath.Join(dir, "in")))
	checkArchive(t, bin, dir, inFolder(t, filepath.Join(dir, "in")))
	fsys := objectfs.NewS3(func(name string) string { return s3test.Lookup(env, name) }, objectfs.Options{})
	for _, q := range []string{"table", "archive"} {
		h := newHistory(location + "/" + q)
		h.fs = fsys
		h.check(t)
		t.Logf("%s: %s", q, h)
	}
	for _, args := range [][]string{
		{"checkpoint", "ls", location + "/table"},
		{"checkpoint", "show", location + "/table"},
		{"checkpoint", "verify", location + "/table"},
		{"checkpoint", "fork", location + "/table", location + "/copy"},
		{"checkpoint", "verify", location + "/copy"},
		{"checkpoint", "fork", location + "/table", filepath.Join(dir, "copy")},
		{"checkpoint", "verify", filepath.Join(dir, "copy")},
		{"state", "ls", location + "/table"},
		{"checkpoint", "rollback", "--to", "3", location + "/copy"},
		{"plan", file},
		{"doctor", file},
	} {
		if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
	s.check(fsys.RemoveAll(location))
}

// TestStoppedOwner stops a process as a debugger or a paused machine does, lets another one take its checkpoint over, and
// wakes the first one up: it ends with a message that names the other, and the sink has every row once.
func TestStoppedOwner(t *testing.T) {
	for _, objects := range []string{"", "small"} {
		for _, point := range []string{failpoint.OffsetDurable, failpoint.SourceMid, failpoint.StateCommitted, failpoint.SinkStaged, failpoint.SinkPublished} {
			t.Run(point+"/"+objects, func(t *testing.T) {
				t.Parallel()
				a := &answers{by: map[string][]string{}}
				want := a.of(t, "window", matrixFiles)
				p, err := filePlace(t, "")
				if err != nil {
					t.Fatal(err)
				}
				s := newStage(t, "window", p.block, 100, objects)
				s.env = append(s.env, "WSTREAM_S3_LEASE=1s")
				s.writeInput(0, matrixFiles)
				first := s.command("run", "--fail-at", point+"@batch=2=sleep:1000", filepath.Join(s.dir, "p.yaml"))
				var said bytes.Buffer
				first.Stderr = &said
				s.check(first.Start())
				for range 500 {
					if s.history.look(t); s.history.offsets[2] != nil {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				time.Sleep(300 * time.Millisecond) // into the sleep at the point
				s.check(first.Process.Signal(syscall.SIGSTOP))
				if s.history.commits[2] != nil {
					t.Fatal("batch 2 was not slowed down")
				}
				second := s.command("run", "--available-now", filepath.Join(s.dir, "p.yaml"))
				if objects == "" { // the lock of a folder holds as long as its process is there
					out, err := second.CombinedOutput()
					if err == nil || second.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), fmt.Sprintf("process %d", first.Process.Pid)) {
						t.Errorf("the second process says %v\n%s", err, out)
					}
					s.check(os.Remove(filepath.Join(s.dir, "checkpoint", "lock")))
					second = s.command("run", "--available-now", filepath.Join(s.dir, "p.yaml"))
				}
				if out, err := second.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				rows := rowsIn(t, s, "file")
				s.check(first.Process.Signal(syscall.SIGCONT))
				err = first.Wait()
				if err == nil || !strings.Contains(said.String(), fmt.Sprintf("was taken over by process %d", second.Process.Pid)) {
					t.Errorf("the first process says %v\n%s", err, said.String())
				}
				if after := rowsIn(t, s, "file"); !slices.Equal(rows, after) || !slices.Equal(rows, want) {
					t.Errorf("the sink had %d rows, has %d, and should have %d", len(rows), len(after), len(want))
				}
				s.history.check(t)
			})
		}
	}
}
