package connect_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestHTTPSourceKilled posts from several clients, which try again under the same Idempotency-Key until they are answered,
// while the program is killed again and again: each row that was acknowledged is written once, and no row twice.
func TestHTTPSourceKilled(t *testing.T) {
	address := freeAddress(t)
	k := newKilled(t, fmt.Sprintf("name: hooks\nsources:\n  input: {format: http, options: {address: %q, path: /rows, maxBytesPerTrigger: 4k}}\n"+
		"views:\n  v: {sql: SELECT value FROM input}\n"+
		"sinks:\n  out: {from: v, format: text, options: {path: out}, checkpointLocation: checkpoint}\n", address))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		mu       sync.Mutex
		rows     = map[string]bool{}
		retries  atomic.Int64
		clients  sync.WaitGroup
		stopping atomic.Bool
	)
	for c := range 4 {
		clients.Go(func() {
			for n := 0; !stopping.Load(); n++ {
				var body bytes.Buffer
				mu.Lock()
				for i := range 3 {
					row := fmt.Sprintf("%d-%d-%d", c, n, i)
					rows[row] = true // a request is repeated until it is answered, so each must be there
					fmt.Fprintln(&body, row)
				}
				mu.Unlock()
				retries.Add(postUntilTaken(t, "http://"+address+"/rows", fmt.Sprintf("%d-%d", c, n), body.Bytes(), n%2 == 1))
			}
		})
	}
	killing := make(chan int)
	go func() {
		killing <- k.killing(ctx, rand.New(rand.NewPCG(1, 2)), 150*time.Millisecond, 900*time.Millisecond)
	}()
	time.Sleep(killTime())
	stopping.Store(true)
	clients.Wait()
	cancel()
	times := <-killing
	k.finish()
	onceEach(t, k.lines("out"), rows)
	if retries.Load() == 0 || times < 3 {
		t.Errorf("%d kills, %d attempts more than requests: the test shows nothing", times, retries.Load())
	}
	t.Logf("%d rows, %d kills, %d attempts that were repeated", len(rows), times, retries.Load())
}

// postUntilTaken posts a body again and again under one key until it is answered with 200, and returns how often it had to be
// repeated.
func postUntilTaken(t *testing.T, url, key string, body []byte, zipped bool) (repeated int64) {
	if zipped {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(body)
		w.Close()
		body = b.Bytes()
	}
	client := &http.Client{Timeout: 5 * time.Second}
	for ; t.Context().Err() == nil; repeated++ {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return repeated
		}
		r.Header.Set("Idempotency-Key", key)
		if zipped {
			r.Header.Set("Content-Encoding", "gzip")
		}
		answer, err := client.Do(r)
		if err == nil {
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			switch {
			case answer.StatusCode == http.StatusOK && strings.Contains(string(text), "\"rows\":3"):
				return repeated
			case answer.StatusCode != http.StatusServiceUnavailable:
				t.Errorf("answer %s: %s", answer.Status, text)
				return repeated
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return repeated
}
