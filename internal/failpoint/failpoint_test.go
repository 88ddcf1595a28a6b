package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want []Rule
	}{
		{"", nil},
		{"plan.done@batch=3", []Rule{{PlanDone, 3, 1, Kill, 0}}},
		{"op.mid@batch=0:2=err", []Rule{{OpMid, 0, 2, Err, 0}}},
		{"sink.partial@batch=1=torn, purge.mid@batch=2=sleep:50,", []Rule{
			{SinkPartial, 1, 1, Torn, 0}, {PurgeMid, 2, 1, Sleep, 50 * time.Millisecond},
		}},
		{"recover.mid=err", []Rule{{RecoverMid, AnyBatch, 1, Err, 0}}},
		{"stop.mid@batch=7=kill", []Rule{{StopMid, 7, 1, Kill, 0}}},
	} {
		s, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if (s == nil) != (c.want == nil) {
			t.Errorf("%q: %v", c.text, s)
			continue
		}
		for i := range c.want {
			if s.rules[i] != c.want[i] {
				t.Errorf("%q: %+v", c.text, s.rules[i])
			}
		}
	}
	for _, c := range []struct{ text, want string }{
		{"plan.dun@batch=1", `failpoint "plan.dun@batch=1": no such point; the points are plan.done, `},
		{"plan.done@1", `expected "batch=N" after "@", got "1"`},
		{"plan.done@batch=x", `batch must be a number from 0 on, got "x"`},
		{"plan.done@batch=-1", `batch must be a number`},
		{"plan.done@batch=1:0", `nth must be a number from 1 on, got "0"`},
		{"plan.done@batch=1=explode", `no action "explode"; the actions are kill, err, sleep:MS and torn`},
		{"plan.done@batch=1=sleep", `sleep takes milliseconds, as in "sleep:50", got "sleep"`},
		{"plan.done@batch=1=err:3", `action "err" takes no argument`},
	} {
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestNil(t *testing.T) {
	var s *Set
	if err := s.Hit(PlanDone, 0); err != nil || s.Armed(PlanDone, 0) || s.Fired() != nil {
		t.Fatal(err)
	}
	var got []byte
	err := s.Write(OffsetLogPartial, 0, []byte("abcd"), func(b []byte) error { got = append(got, b...); return nil })
	if err != nil || string(got) != "abcd" {
		t.Fatal(string(got), err)
	}
}

func TestHit(t *testing.T) {
	s, err := Parse("op.mid@batch=2:3=err,source.mid=kill")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	s.OnKill(func() { killed++ })
	for batch := range int64(4) {
		for pass := 1; pass < 5; pass++ {
			err := s.Hit(OpMid, batch)
			var fired *Error
			if (batch == 2 && pass == 3) != errors.As(err, &fired) {
				t.Fatalf("batch %d, pass %d: %v", batch, pass, err)
			}
		}
	}
	_ = s.Hit(SourceMid, 9)
	_ = s.Hit(SourceMid, 9)
	if f := s.Fired(); killed != 1 || f[OpMid] != 1 || f[SourceMid] != 1 {
		t.Fatal(killed, f)
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		action Action
		want   string
		killed int
	}{
		{Err, "abc", 0}, {Torn, "abc\x00\x00\x00\x00", 1}, {Sleep, "abcdefg", 0},
	} {
		s := New(Rule{OffsetLogPartial, 1, 1, c.action, 0})
		var got []byte
		killed := 0
		s.OnKill(func() {
			killed++
			panic("killed")
		})
		func() {
			defer func() { _ = recover() }()
			_ = s.Write(OffsetLogPartial, 1, []byte("abcdefg"), func(b []byte) error { got = append(got, b...); return nil })
		}()
		if string(got) != c.want || killed != c.killed {
			t.Errorf("action %d: %q, killed %d", c.action, got, killed)
		}
	}
}

// TestKill dies by SIGKILL in a child process.
func TestKill(t *testing.T) {
	if text := os.Getenv("TEST_FAILPOINT"); text != "" {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Hit(PlanDone, 5)
		t.Fatal("still alive")
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestKill$")
	cmd.Env = append(os.Environ(), "TEST_FAILPOINT=plan.done@batch=5")
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatal(err)
	}
}
