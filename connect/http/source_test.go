package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// opened is a source of a test, and where it listens.
type opened struct {
	*source
	t *testing.T
}

func openSource(t *testing.T, mem *vfs.Mem, shared *connector.Shared, options map[string]string) *opened {
	t.Helper()
	if options["address"] == "" {
		options["address"] = "127.0.0.1:0"
	}
	src, err := newSource(connector.Env{
		OwnFS: mem, OwnDir: "/c/buffers/" + strings.ReplaceAll(options["path"], "/", "_"), Shared: shared, Warn: t.Logf,
		Now: func() time.Time { return time.UnixMicro(1_700_000_000_000_000) },
	}, connector.NewOptions(options))
	if err != nil {
		t.Fatal(err)
	}
	return &opened{src.(*source), t}
}

// post sends a body; headers are pairs of name and value.
func (o *opened) post(path, body string, headers ...string) reply {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost, "http://"+o.listener.server.Addr+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return o.do(r)
}

func (o *opened) do(r *http.Request) reply {
	o.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// reply is what the listener has answered.
type reply struct {
	status int
	header http.Header
	text   string
}

// batch reads what a batch behind start has, as JSON, and commits it.
func (o *opened) batch(start connector.Offset) (rows []string, end connector.Offset) {
	o.t.Helper()
	end, _, err := o.Next(o.t.Context(), start, false)
	if err != nil {
		o.t.Fatal(err)
	}
	parts, err := o.Plan(o.t.Context(), start, end)
	if err != nil {
		o.t.Fatal(err)
	}
	opts, err := jsonfmt.ParseOptions(nil, "UTC")
	if err != nil {
		o.t.Fatal(err)
	}
	text, err := jsonfmt.NewWriter(o.schema.Struct(), opts)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, p := range parts {
		err := p.Read(o.t.Context(), nil, func(c connector.Chunk) error {
			d, err := c.Decode(o.t.Context())
			if err != nil {
				return err
			}
			for i := range d.Batch.Rows {
				rows = append(rows, strings.TrimSpace(string(text.AppendRow(nil, d.Batch, i))))
			}
			return nil
		})
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if err := o.Commit(o.t.Context(), 0, end); err != nil {
		o.t.Fatal(err)
	}
	return rows, end
}

// TestRequests goes through what a request may be, and the answers.
func TestRequests(t *testing.T) {
	o := openSource(t, vfs.NewStrictMem(), nil, map[string]string{"path": "/rows", "token": "secret", "maxBodySize": "100", "includeHeaders": "true"})
	if _, _, err := o.Next(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	auth := []string{"Authorization", "Bearer secret", "User-Agent", "test"}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, "zipped\n")
	z.Close()
	var bomb bytes.Buffer
	z = gzip.NewWriter(&bomb)
	z.Write(make([]byte, 1<<20))
	z.Close()
	for _, c := range []struct {
		name, path, body string
		headers          []string
		status           int
		answer           string
	}{
		{"lines", "/rows", "a\nb\r\n\n", auth, 200, `{"rows":2}`},
		{"nothing", "/rows", "\n\r\n", auth, 200, `{"rows":0}`},
		{"gzip", "/rows", zipped.String(), append([]string{"Content-Encoding", "gzip"}, auth...), 200, `{"rows":1}`},
		{"a key", "/rows", "c", append([]string{"Idempotency-Key", "k1", "X-Event", "push"}, auth...), 200, `{"rows":1}`},
		{"the same again", "/rows", "c", append([]string{"Idempotency-Key", "k1"}, auth...), 200, `{"rows":1}`},
		{"the key with another body", "/rows", "d", append([]string{"Idempotency-Key", "k1"}, auth...), 422, "another body"},
		{"a long key", "/rows", "d", append([]string{"Idempotency-Key", strings.Repeat("k", 256)}, auth...), 400, "256 bytes"},
		{"no token", "/rows", "x", nil, 401, "token"},
		{"a wrong token", "/rows", "x", []string{"Authorization", "Bearer other"}, 401, "token"},
		{"another path", "/other", "x", auth, 404, ""},
		{"too long", "/rows", strings.Repeat("x", 101), auth, 413, "more than 100 bytes"},
		{"too long when unpacked", "/rows", bomb.String(), append([]string{"Content-Encoding", "gzip"}, auth...), 413, "100 bytes"},
		{"not gzip", "/rows", "plain", append([]string{"Content-Encoding", "gzip"}, auth...), 400, "gzip"},
		{"another encoding", "/rows", "x", append([]string{"Content-Encoding", "br"}, auth...), 415, `"br"`},
		{"not UTF-8", "/rows", "\xff", auth, 400, "UTF-8"},
	} {
		if a := o.post(c.path, c.body, c.headers...); a.status != c.status || !strings.Contains(a.text, c.answer) {
			t.Errorf("%s: %d %s, want %d %s", c.name, a.status, a.text, c.status, c.answer)
		}
	}
	get, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+o.listener.server.Addr+"/rows", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := o.do(get); a.status != 405 || a.header.Get("Allow") != "POST, PUT" {
		t.Errorf("GET: %v", a)
	}
	rows, _ := o.batch(nil)
	const at = `,"timestamp":"2023-11-14T22:13:20.000Z","headers":{`
	want := []string{
		`{"value":"a"` + at + `"user-agent":"test"}}`, `{"value":"b"` + at + `"user-agent":"test"}}`, `{"value":"zipped"` + at + `"user-agent":"test"}}`,
		`{"value":"c"` + at + `"idempotency-key":"k1","user-agent":"test","x-event":"push"}}`,
	}
	if !slices.Equal(rows, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// TestFullBuffer answers with 429 until a batch is committed, and with 503 when the query ends.
func TestFullBuffer(t *testing.T) {
	o := openSource(t, vfs.NewStrictMem(), nil, map[string]string{"path": "/", "maxBufferSize": "10", "body": "whole"})
	if _, _, err := o.Next(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	if a := o.post("/deep/path", "{\n12345\n}"); a.status != 200 {
		t.Fatalf("answer %d", a.status)
	}
	if a := o.post("/", "67890"); a.status != 429 || a.header.Get("Retry-After") != "1" {
		t.Errorf("full: %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	rows, _ := o.batch(nil)
	if !slices.Equal(rows, []string{`{"value":"{\n12345\n}","timestamp":"2023-11-14T22:13:20.000Z"}`}) {
		t.Errorf("got %q", rows)
	}
	if a := o.post("/", "67890"); a.status != 200 {
		t.Errorf("after a commit: %d", a.status)
	}
	o.buffer.stop(errClosed)
	if a := o.post("/", "x"); a.status != 503 || a.header.Get("Retry-After") != "1" {
		t.Errorf("at the end: %d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// TestSharedAddress lets two sources listen at one address, each with its path, and refuses a third with the path of one.
func TestSharedAddress(t *testing.T) {
	mem, shared := vfs.NewStrictMem(), &connector.Shared{}
	first := openSource(t, mem, shared, map[string]string{"path": "/a", "address": "127.0.0.1:0"})
	address := first.listener.server.Addr
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	a := openSource(t, mem, shared, map[string]string{"path": "/a", "address": address})
	b := openSource(t, mem, shared, map[string]string{"path": "/b/", "address": address})
	_, err := newSource(connector.Env{Shared: shared}, connector.NewOptions(map[string]string{"path": "/a", "address": address}))
	if err == nil || !strings.Contains(err.Error(), `path "/a"`) {
		t.Errorf("a second source with the path: %v", err)
	}
	for _, o := range []*opened{a, b} {
		if _, _, err := o.Next(t.Context(), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	a.post("/a", "one")
	a.post("/b/x", "two")
	for _, c := range []struct {
		o    *opened
		want string
	}{{a, "one"}, {b, "two"}} {
		if rows, _ := c.o.batch(nil); len(rows) != 1 || !strings.Contains(rows[0], c.want) {
			t.Errorf("got %q, want %s", rows, c.want)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if answer := b.post("/b/y", "three"); answer.status != 200 {
		t.Errorf("the other source has ended: %d", answer.status)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestReplayOfRequests gives the same rows for the same offsets after a power loss, and goes on behind them.
func TestReplayOfRequests(t *testing.T) {
	mem := vfs.NewStrictMem()
	o := openSource(t, mem, nil, map[string]string{"path": "/"})
	if _, _, err := o.Next(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"a", "b", "c"} {
		if a := o.post("/", line, "Idempotency-Key", line); a.status != 200 {
			t.Fatal(a.status)
		}
	}
	end, _, err := o.Next(t.Context(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	mem.Crash()
	o.listener.server.Close()
	again := openSource(t, mem, nil, map[string]string{"path": "/"})
	parts, err := again.Plan(t.Context(), nil, end)
	if err != nil || len(parts) != 1 {
		t.Fatal(parts, err)
	}
	if a := again.post("/", "c", "Idempotency-Key", "c"); a.status != 200 {
		t.Error(a.status)
	}
	rows, next := again.batch(nil)
	if len(rows) != 3 || string(next) != string(end) {
		t.Errorf("got %q up to %s, want 3 rows up to %s", rows, next, end)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if _, err := o.Plan(context.Background(), json.RawMessage(`"x"`), nil); err == nil {
		t.Error("an offset that is no number is taken")
	}
}
