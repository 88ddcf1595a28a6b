package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wstream": main})
}

// TestScripts runs the sessions of the command line in testdata. Beside the usual commands of scripts there are
//
//	code N COMMAND…  the command ends with exit code N
//	bare N COMMAND…  wstream with a command, where nothing is in PATH, ends with exit code N
//	await FILE       the file is there within ten seconds
//	scrape LOG FILE  what is served at the address that LOG names as that of the metrics, once a batch has been committed
func TestScripts(t *testing.T) {
	guests, err := filepath.Abs(filepath.Join("..", "..", "testdata", "guests"))
	if err != nil {
		t.Fatal(err)
	}
	hostile, err := filepath.Abs(filepath.Join("..", "..", "host", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("GUESTS", guests)
			e.Setenv("HOSTILE", hostile)
			e.Setenv("REALHOME", os.Getenv("HOME"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": scriptCode, "bare": scriptBare, "await": scriptAwait, "scrape": scriptScrape},
	})
}

func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%s", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, expected %d", got, want)
	}
}

func scriptBare(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bare N COMMAND…")
	}
	program, err := exec.LookPath("wstream")
	if program == "" {
		for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
			if p := filepath.Join(dir, "wstream"); err != nil {
				if _, err = os.Stat(p); err == nil {
					program = p
				}
			}
		}
	}
	ts.Check(err)
	path := ts.Getenv("PATH")
	ts.Setenv("PATH", ts.MkAbs("nothing"))
	defer ts.Setenv("PATH", path)
	scriptCode(ts, false, append([]string{args[0], program}, args[1:]...))
}

func scriptAwait(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for range 200 {
		if found, _ := filepath.Glob(ts.MkAbs(args[0])); len(found) > 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	list, _ := os.ReadDir(ts.MkAbs("."))
	ts.Fatalf("%s is not there after ten seconds; there is %s", args[0], fmt.Sprint(list))
}

func scriptScrape(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: scrape LOG FILE")
	}
	at := regexp.MustCompile(`http://\S+/metrics`)
	var last string
	for range 200 {
		time.Sleep(50 * time.Millisecond)
		log, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil || at.Find(log) == nil {
			continue
		}
		response, err := http.Get(string(at.Find(log)))
		ts.Check(err)
		text, err := io.ReadAll(response.Body)
		ts.Check(err)
		ts.Check(response.Body.Close())
		if last = string(text); strings.Contains(last, "wstream_batches_total{") {
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o666))
			return
		}
	}
	ts.Fatalf("no batch within ten seconds; the last answer was %q", last)
}
