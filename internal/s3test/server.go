// Package s3test is a small server with the S3 API for tests: buckets in memory, conditional writes, and faults on demand.
// It looks at no signature. What it answers a real server was seen to answer; scripts/s3.sh starts one of those.
package s3test

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wstream/wstream/internal/objectfs"
)

// Server is a running server.
type Server struct {
	// URL is its endpoint.
	URL string

	mu      sync.Mutex
	buckets map[string]*objectfs.MemStore
	fault   func(method, key string) Fault
	counts  map[string]int
}

// Fault is what is to happen to a request.
type Fault struct {
	// Status is what is answered in place of the result; 0 is no fault.
	Status int
	// Code is the S3 code of that answer.
	Code string
	// Applied says that the request is carried out all the same.
	Applied bool
	// Cut breaks the connection in place of an answer.
	Cut bool
	// Delay is waited before the answer.
	Delay time.Duration
	// NoConditions makes the server ignore conditions of a PUT, as some do.
	NoConditions bool
}

// Start starts a server with one bucket, which ends with the test.
func Start(t testing.TB, bucket string) *Server {
	s := &Server{buckets: map[string]*objectfs.MemStore{bucket: objectfs.NewMemStore()}, counts: map[string]int{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Env returns the environment with which a client finds the server, as NAME=VALUE.
func (s *Server) Env() []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + s.URL, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-east-1",
	}
}

// Getenv looks a variable up in Env.
func (s *Server) Getenv(name string) string { return Lookup(s.Env(), name) }

// Lookup looks a variable up in a list of NAME=VALUE.
func Lookup(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// Bucket returns the objects of a bucket.
func (s *Server) Bucket(name string) *objectfs.MemStore { return s.buckets[name] }

// OnRequest sets a function that is asked before every request what is to happen to it; nil for nothing.
func (s *Server) OnRequest(fn func(method, key string) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fn
}

// Count returns how many requests of a method there have been.
func (s *Server) Count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[method]
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	s.counts[r.Method]++
	fault := Fault{}
	if s.fault != nil {
		fault = s.fault(r.Method, key)
	}
	store := s.buckets[bucket]
	s.mu.Unlock()
	body, err := readBody(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "IncompleteBody", err.Error())
		return
	}
	if fault.Delay > 0 {
		time.Sleep(fault.Delay)
	}
	to := w
	if fault.Status != 0 || fault.Cut {
		to = httptest.NewRecorder()
	}
	switch {
	case (fault.Status != 0 || fault.Cut) && !fault.Applied:
	case store == nil:
		fail(to, http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	default:
		serve(to, r, store, key, body, fault.NoConditions)
	}
	switch {
	case fault.Cut:
		panic(http.ErrAbortHandler) // what net/http has for breaking a connection
	case fault.Status != 0:
		fail(w, fault.Status, fault.Code, "injected")
	}
}

// readBody reads a body, also one that is signed chunk by chunk.
func readBody(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in := bufio.NewReader(r.Body)
	var out []byte
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		digits, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(digits, 16, 64)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			_, err := io.Copy(io.Discard, in)
			return out, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		out = append(out, chunk[:n]...)
	}
}

func serve(w http.ResponseWriter, r *http.Request, store *objectfs.MemStore, key string, body []byte, noConditions bool) {
	ctx := context.WithoutCancel(r.Context())
	switch {
	case r.Method == http.MethodGet && key == "":
		list(w, r, store)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		data, etag, err := store.Get(ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			fail(w, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
			return
		}
		w.Header().Set("ETag", `"`+etag+`"`)
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(data)
		}
	case r.Method == http.MethodPut:
		cond := objectfs.Condition{IfAbsent: r.Header.Get("If-None-Match") == "*", IfMatch: strings.Trim(r.Header.Get("If-Match"), `"`)}
		if noConditions {
			cond = objectfs.Condition{}
		}
		etag, err := store.Put(ctx, key, body, cond)
		if errors.Is(err, objectfs.ErrPrecondition) {
			fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
			return
		}
		w.Header().Set("ETag", `"`+etag+`"`)
	case r.Method == http.MethodDelete:
		_ = store.Delete(ctx, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		fail(w, http.StatusNotImplemented, "NotImplemented", r.Method)
	}
}

type listed struct {
	XMLName        xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Prefix         string
	KeyCount       int
	IsTruncated    bool
	NextToken      string         `xml:"NextContinuationToken,omitempty"`
	Contents       []listedObject `xml:"Contents"`
	CommonPrefixes []listedPrefix `xml:"CommonPrefixes"`
}

type listedObject struct {
	Key          string
	LastModified string
	ETag         string
	Size         int64
}

type listedPrefix struct{ Prefix string }

// pageSize is how many objects one answer to a list holds; small, so that pages are tested.
const pageSize = 50

func list(w http.ResponseWriter, r *http.Request, store *objectfs.MemStore) {
	q := r.URL.Query()
	objects, _ := store.List(r.Context(), q.Get("prefix"), q.Get("delimiter") == "/")
	out := listed{Prefix: q.Get("prefix")}
	for _, o := range objects {
		if o.Key <= q.Get("continuation-token") {
			continue
		}
		if out.KeyCount == pageSize {
			out.IsTruncated = true
			break
		}
		out.KeyCount++
		out.NextToken = o.Key
		if o.Dir {
			out.CommonPrefixes = append(out.CommonPrefixes, listedPrefix{o.Key})
			continue
		}
		out.Contents = append(out.Contents, listedObject{o.Key, o.Modified.UTC().Format("2006-01-02T15:04:05.000Z"), `"` + o.ETag + `"`, o.Size})
	}
	if !out.IsTruncated {
		out.NextToken = ""
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
}
