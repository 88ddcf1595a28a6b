package http

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// commit writes values as a batch of a sink.
func commit(t *testing.T, sink connector.Sink, batch int64, values ...string) error {
	t.Helper()
	s := columnar.NewSchema(columnar.Field{Name: "v", Type: columnar.String, Nullable: true})
	w, err := sink.Begin(t.Context(), connector.BatchInfo{QueryID: "q", BatchID: batch, Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), columnar.NewBatch(s, []*columnar.Column{columnar.NewStrings(values)}, len(values))); err != nil {
		t.Fatal(err)
	}
	return w.Commit(t.Context())
}

// TestDeadLetters keeps the bodies that a receiver does not take, and goes on; a replay leaves the same file.
func TestDeadLetters(t *testing.T) {
	var taken []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if strings.Contains(string(text), "bad") {
			http.Error(w, "no such row", http.StatusUnprocessableEntity)
			return
		}
		taken = append(taken, string(text)+r.Header.Get("Idempotency-Key"))
	}))
	defer server.Close()
	dir := t.TempDir()
	warned := 0
	env := connector.Env{Name: "hook", BaseDir: dir, Warn: func(string, ...any) { warned++ }}
	options := map[string]string{"url": server.URL, "maxRowsPerRequest": "1", "deadLetterPath": "dead"}
	sink, err := newSink(env, connector.NewOptions(options))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := commit(t, sink, 7, "good", "bad", "fine"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"{\"v\":\"good\"}\nq/hook/7/0", "{\"v\":\"fine\"}\nq/hook/7/2"}; !slices.Equal(taken[:2], want) || !slices.Equal(taken[2:], want) || warned != 2 {
		t.Errorf("%q were taken, %d warnings", taken, warned)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "dead", "*"))
	if len(files) != 1 || filepath.Base(files[0]) != "q-7-1.json" {
		t.Fatalf("dead letters: %q", files)
	}
	if text, _ := os.ReadFile(files[0]); string(text) != "{\"v\":\"bad\"}\n" {
		t.Errorf("the dead letter is %q", text)
	}
	delete(options, "deadLetterPath")
	if sink, err = newSink(env, connector.NewOptions(options)); err != nil {
		t.Fatal(err)
	}
	var no *rejection
	if err := commit(t, sink, 8, "bad"); !errors.As(err, &no) || no.code != 422 || !strings.Contains(err.Error(), "no such row") {
		t.Errorf("without a folder for them: %v", err)
	}
}

// TestRetries tries again what may go away, as late as the receiver asks for, and nothing else.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		status   int
		after    string
		attempts int
		waited   time.Duration
	}{
		{500, "", 2, 0},
		{503, "1", 2, time.Second},
		{429, "", 2, 0},
		{408, "", 2, 0},
		{425, "", 2, 0},
		{400, "", 1, 0},
		{401, "", 1, 0},
		{403, "", 1, 0},
		{404, "1", 1, 0},
		{422, "", 1, 0},
		{302, "", 1, 0},
	} {
		var attempts int
		var first, last time.Time
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if last = time.Now(); attempts == 0 {
				first = last
			}
			if attempts++; attempts == 1 {
				w.Header().Set("Retry-After", c.after)
				w.WriteHeader(c.status)
			}
		}))
		sink, err := newSink(connector.Env{}, connector.NewOptions(map[string]string{"url": server.URL}))
		if err != nil {
			t.Fatal(err)
		}
		err = commit(t, sink, 0, "x")
		if attempts != c.attempts || (err == nil) != (c.attempts == 2) || last.Sub(first) < c.waited {
			t.Errorf("%d: %d attempts within %s, %v", c.status, attempts, last.Sub(first), err)
		}
		server.Close()
	}
}

// TestRetryAfter reads both forms of the header.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Wed, 31 Dec 2025 00:00:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
