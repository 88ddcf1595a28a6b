package connect_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/pipeline"
)

// TestHTTPSource answers a request when its lines are durable: a crash after that does not lose them.
func TestHTTPSource(t *testing.T) {
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	text := fmt.Sprintf("name: test\nsources:\n  input: {format: http, options: {address: %q, path: /rows, token: secret}}\nsinks:\n  out:\n    from: input\n"+
		"    format: text\n    options: {path: out}\n    checkpointLocation: checkpoint\nviews:\n  v: {sql: SELECT value FROM input}\n", address)
	text = strings.Replace(text, "from: input\n    format: text", "from: v\n    format: text", 1)
	start := func(fail string) *stream.Query {
		t.Helper()
		points, err := failpoint.Parse(fail)
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.open(text)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := r.Spec(r.File.Sink("out"), pipeline.RunOptions{Failpoints: points})
		if err != nil {
			t.Fatal(err)
		}
		q, err := stream.Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	post := func(token, lines string) int {
		t.Helper()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/rows", strings.NewReader(lines))
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	q := start("sink.staged@batch=1=err")
	if got := post("wrong", "x\n"); got != 401 {
		t.Errorf("a wrong token: %d", got)
	}
	if got := post("secret", "a\nb\r\n\n"); got != 200 {
		t.Errorf("answer %d", got)
	}
	if err := q.ProcessAllAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := post("secret", "c"); got != 200 { // durable, and then the query fails
		t.Errorf("answer %d", got)
	}
	if err := q.AwaitTermination(t.Context()); err == nil {
		t.Fatal("the point did not fire")
	}
	q = start("")
	if err := q.ProcessAllAvailable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := q.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.expect("a", "b", "c")
}

// TestHTTPSink posts batches again while the receiver cannot take them, under the same key.
func TestHTTPSink(t *testing.T) {
	b := newBench(t)
	filesInput(b)
	var mu sync.Mutex
	byKey, fails := map[string]string{}, 2
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if fails > 0 {
			fails--
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		text, _ := io.ReadAll(r.Body)
		key := r.Header.Get("Idempotency-Key")
		if old, ok := byKey[key]; ok && old != string(text) {
			t.Errorf("key %s: %s, was %s", key, text, old)
		}
		byKey[key] = string(text)
	}))
	defer server.Close()
	text := filesHead + fmt.Sprintf("views:\n  v: {sql: SELECT n FROM input}\nsinks:\n  out:\n    from: v\n    format: http\n    options: {url: %q, maxRowsPerRequest: 1, header.X-Test: y}\n"+
		"    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n", server.URL)
	survives(t, b, text, "out", func() { b.remove("checkpoint"); mu.Lock(); clear(byKey); fails = 1; mu.Unlock() }, func() string {
		var all bytes.Buffer
		for _, v := range byKey {
			all.WriteString(v)
		}
		return sorted(all.String())
	})
	if len(byKey) != 6 {
		t.Errorf("%d requests, want 6", len(byKey))
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such hook", http.StatusNotFound) })
	b.remove("checkpoint")
	begun := time.Now()
	if _, err := b.run(text, "out", ""); err == nil || !strings.Contains(err.Error(), "404 Not Found: no such hook") || time.Since(begun) > 20*time.Second {
		t.Errorf("got %v", err)
	}
}
