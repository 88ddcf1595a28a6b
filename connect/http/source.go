package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// source takes requests. One is answered when its body is durable in the buffer, whatever the batches do meanwhile; an offset
// is the number of a record of the buffer.
type source struct {
	env      connector.Env
	schema   *columnar.Schema
	path     string
	listener *listener
	token    string
	maxBody  int64
	perBatch int64 // bytes of a batch
	whole    bool  // a body is one row
	headers  bool  // there is the column headers
	buffer   *buffer
	started  chan struct{} // closed when it is known what earlier batches have
	fixed    int64         // availableNow: the end, -1 for none

	mu   sync.Mutex
	ends []int64 // of the last batches that were committed, oldest first
}

// keepBatches is how many batches a rollback may ask for again, and keepKeys how many requests are known by their key.
const (
	keepBatches = 100
	keepKeys    = 100_000
)

// maxKeyBytes is how long an Idempotency-Key may be.
const maxKeyBytes = 255

func schema(headers bool) *columnar.Schema {
	s := columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true},
		columnar.Field{Name: "timestamp", Type: columnar.Timestamp, Nullable: true})
	if headers {
		s.Fields = append(s.Fields, columnar.Field{Name: "headers", Type: columnar.MapOf(columnar.String, columnar.String, false), Nullable: true})
	}
	return s
}

// fixedSchema is the schema that the options ask for.
func fixedSchema(o connector.Options) (*columnar.Schema, error) {
	headers, err := o.Bool("includeHeaders", false)
	return schema(headers), err
}

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	if env.Static {
		return nil, errors.New("a source of requests cannot be static")
	}
	s := &source{env: env, token: o.String("token", ""), fixed: -1, started: make(chan struct{}), path: o.String("path", "/")}
	if s.env.Now == nil {
		s.env.Now = time.Now
	}
	if s.env.Warn == nil {
		s.env.Warn = func(string, ...any) {}
	}
	var room int64
	for _, size := range []struct {
		name string
		def  int64
		to   *int64
	}{{"maxBodySize", 16 << 20, &s.maxBody}, {"maxBufferSize", 1 << 30, &room}, {"maxBytesPerTrigger", 64 << 20, &s.perBatch}} {
		var err error
		if *size.to, err = o.Bytes(size.name, size.def); err == nil && *size.to < 1 {
			err = fmt.Errorf("option %q: found %d, expected a size above 0", size.name, *size.to)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if s.headers, err = o.Bool("includeHeaders", false); err != nil {
		return nil, err
	}
	s.schema = schema(s.headers)
	switch body := strings.ToLower(o.String("body", "lines")); body {
	case "lines", "whole":
		s.whole = body == "whole"
	default:
		return nil, fmt.Errorf("option \"body\": found %q, expected lines or whole", body)
	}
	address := o.String("address", "")
	switch {
	case address == "":
		return nil, errors.New("option \"address\" is missing: the address to listen on, such as 127.0.0.1:8080")
	case !strings.HasPrefix(s.path, "/"):
		return nil, fmt.Errorf("option \"path\": found %q, expected a path such as /rows", s.path)
	}
	files, err := s.certificate(o)
	if err != nil {
		return nil, err
	}
	fsys, dir := env.OwnFS, env.OwnDir
	if fsys == nil { // a query without checkpoint forgets all anyway
		fsys, dir = vfs.NewStrictMem(), "/buffer"
	}
	// A file of the buffer is a part of what it may hold, as it shrinks by whole files.
	l := limits{room: room, spare: room / 4, segment: min(16<<20, room/8+1), keys: keepKeys}
	if s.buffer, err = openBuffer(fsys, dir, l, s.env.Warn); err != nil {
		return nil, err
	}
	all := env.Shared.Get(sharedListeners, func() any { return &listeners{m: map[string]*listener{}} }).(*listeners)
	if s.listener, err = all.listen(address, s.path, files, http.HandlerFunc(s.serve), s.buffer.stop); err != nil {
		return nil, errors.Join(err, s.buffer.close())
	}
	return s, nil
}

// certificate is the names of the files for https, if they are given.
func (s *source) certificate(o connector.Options) (files [2]string, err error) {
	for i, name := range []string{"certificate", "privateKey"} {
		if files[i] = o.String(name, ""); files[i] != "" && !filepath.IsAbs(files[i]) {
			files[i] = filepath.Join(s.env.BaseDir, files[i])
		}
	}
	if (files[0] == "") != (files[1] == "") {
		err = errors.New("options \"certificate\" and \"privateKey\": found one, expected both or none")
	}
	return files, err
}

// answer is what a request is told when it is not taken.
type answer struct {
	status int
	text   string
}

// serve takes a request.
func (s *source) serve(w http.ResponseWriter, r *http.Request) {
	rows, no := s.take(w, r)
	if no == nil {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "{\"rows\":%d}\n", rows)
		return
	}
	switch no.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", "POST, PUT")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, no.text, no.status)
}

// take makes a request durable, and tells how many rows it has.
func (s *source) take(w http.ResponseWriter, r *http.Request) (int, *answer) {
	q := request{Key: r.Header.Get("Idempotency-Key")}
	switch {
	case r.Method != http.MethodPost && r.Method != http.MethodPut:
		return 0, &answer{http.StatusMethodNotAllowed, "post lines here"}
	case s.token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.token)) != 1:
		return 0, &answer{http.StatusUnauthorized, "the token is missing or wrong"}
	case len(q.Key) > maxKeyBytes:
		return 0, &answer{http.StatusBadRequest, fmt.Sprintf("the Idempotency-Key has %d bytes, and may have %d", len(q.Key), maxKeyBytes)}
	}
	var no *answer
	if q.body, no = s.body(w, r); no != nil {
		return 0, no
	}
	rows := s.rows(q.body)
	if rows == 0 {
		return 0, nil
	}
	q.At, q.Bytes = s.env.Now().UnixMicro(), len(q.body)
	if q.Key != "" {
		q.Hash = bodyHash(q.body)
	}
	if s.headers {
		q.Headers = keptHeaders(r.Header)
	}
	select {
	case <-s.started:
	case <-r.Context().Done():
		return 0, &answer{http.StatusServiceUnavailable, "the query has not started"}
	}
	switch err := s.buffer.put(q); {
	case errors.Is(err, errFull):
		return 0, &answer{http.StatusTooManyRequests, "rows come faster than they are processed, try again later"}
	case errors.Is(err, errReused):
		return 0, &answer{http.StatusUnprocessableEntity, err.Error()}
	case err != nil:
		return 0, &answer{http.StatusServiceUnavailable, err.Error()}
	}
	return rows, nil
}

// body reads the body of a request.
func (s *source) body(w http.ResponseWriter, r *http.Request) ([]byte, *answer) {
	var in io.Reader = http.MaxBytesReader(w, r.Body, s.maxBody)
	switch e := strings.ToLower(r.Header.Get("Content-Encoding")); e {
	case "", "identity":
	case "gzip":
		var err error
		if in, err = gzip.NewReader(in); err != nil {
			return nil, &answer{http.StatusBadRequest, "the body is not in gzip: " + err.Error()}
		}
	default:
		return nil, &answer{http.StatusUnsupportedMediaType, fmt.Sprintf("the encoding %q is not known, gzip is", e)}
	}
	text, err := io.ReadAll(io.LimitReader(in, s.maxBody+1))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong), err == nil && int64(len(text)) > s.maxBody:
		return nil, &answer{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", s.maxBody)}
	case err != nil:
		return nil, &answer{http.StatusBadRequest, err.Error()}
	case !utf8.Valid(text):
		return nil, &answer{http.StatusBadRequest, "the body is not text in UTF-8"}
	}
	return text, nil
}

// bodyHash tells bodies apart.
func bodyHash(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// keptHeaders are the headers of a request but for the secret ones and those of the connection.
func keptHeaders(h http.Header) map[string]string {
	out := map[string]string{}
	for name, v := range h {
		switch name {
		case "Authorization", "Cookie", "Proxy-Authorization", "Connection", "Content-Length", "Content-Encoding", "Accept-Encoding":
		default:
			out[strings.ToLower(name)] = strings.Join(v, ", ")
		}
	}
	return out
}

// rows is how many rows a body has.
func (s *source) rows(body []byte) int {
	if s.whole {
		return min(len(body), 1)
	}
	n := 0
	for len(body) > 0 {
		var line []byte
		if line, body = nextLine(body); len(line) > 0 {
			n++
		}
	}
	return n
}

// nextLine is the first line of a body, without its end.
func nextLine(body []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(body, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string { return "HTTPSource[" + s.listener.server.Addr + s.path + "]" }

// closeTimeout is how long requests that are on their way may take when the query ends.
const closeTimeout = time.Second

// Close implements connector.Source. Requests that are not durable yet are turned away.
func (s *source) Close() error {
	s.buffer.stop(errClosed)
	s.start(0)
	var err error
	if s.listener.remove(s.path) {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err = s.listener.server.Shutdown(ctx); err != nil {
			err = s.listener.server.Close()
		}
		<-s.listener.served
	}
	return errors.Join(err, s.buffer.close())
}

// start lets requests in, once it is known that earlier batches have the records up to at.
func (s *source) start(at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.started:
	default:
		s.buffer.begin(at)
		close(s.started)
	}
}

func parse(o connector.Offset) (int64, error) {
	if o == nil {
		return 0, nil
	}
	var n int64
	if err := json.Unmarshal(o, &n); err != nil {
		return 0, fmt.Errorf("offset %s is not the number of a record of the buffer", o)
	}
	return n, nil
}

func offset(n int64) connector.Offset {
	if n <= 0 {
		return nil
	}
	return connector.Offset(fmt.Sprint(n))
}

// Fix implements connector.Bounded.
func (s *source) Fix(_ context.Context, start connector.Offset) error {
	at, err := parse(start)
	if err != nil {
		return err
	}
	s.start(at)
	s.fixed, _ = s.buffer.end(at, 0)
	return nil
}

// Next implements connector.Source.
func (s *source) Next(_ context.Context, start connector.Offset, unlimited bool) (end, latest connector.Offset, err error) {
	at, err := parse(start)
	if err != nil {
		return nil, nil, err
	}
	s.start(at)
	most := s.perBatch
	if unlimited {
		most = 0
	}
	to, last := s.buffer.end(at, most)
	if s.fixed >= 0 {
		to = max(at, min(to, s.fixed))
	}
	if to == at {
		if err := s.buffer.fault(); err != nil && !errors.Is(err, errClosed) {
			return nil, nil, err
		}
	}
	return offset(to), offset(max(last, at)), nil
}

// Wait implements connector.Waiter.
func (s *source) Wait(ctx context.Context, start connector.Offset) error {
	at, err := parse(start)
	if err != nil {
		return err
	}
	for {
		ready, more := s.buffer.changed(at)
		if ready {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Plan implements connector.Source.
func (s *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := parse(start)
	if err != nil {
		return nil, err
	}
	to, err := parse(end)
	if err != nil {
		return nil, err
	}
	s.start(from)
	return []connector.Partition{&partition{s, from, to}}, nil
}

// Commit implements connector.Committer: what no rollback needs is forgotten.
func (s *source) Commit(_ context.Context, _ int64, end connector.Offset) error {
	to, err := parse(end)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := int64(0)
	if s.ends = append(s.ends, to); len(s.ends) > keepBatches {
		s.ends = s.ends[1:]
		keep = s.ends[0]
	}
	s.buffer.committed(to, keep)
	return nil
}

// appendHeaders adds the headers of a request, in order of name.
func appendHeaders(b *columnar.Builder, headers map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		b.Child(0).AppendBytes([]byte(name))
		b.Child(1).AppendBytes([]byte(strings.ToValidUTF8(headers[name], "\uFFFD")))
	}
	b.AppendNested()
}

// partition is the records behind from up to to.
type partition struct {
	s        *source
	from, to int64
}

// ID implements connector.Partition.
func (p *partition) ID() string { return "" }

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, _ []int, emit func(connector.Chunk) error) error {
	for id := p.from + 1; id <= p.to; id++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		payload, err := p.s.buffer.read(id)
		if err != nil {
			return fmt.Errorf("the buffer of requests does not have record %d of the batch any more (older ones are kept for a rollback as long as a quarter of maxBufferSize suffices): %w", id, err)
		}
		if err := emit(&chunk{p.s, id, payload}); err != nil {
			return err
		}
	}
	return nil
}

// chunk is a record of the buffer.
type chunk struct {
	s       *source
	id      int64
	payload []byte
}

// Decode implements connector.Chunk.
func (c *chunk) Decode(context.Context) (connector.Decoded, error) {
	h, err := readRecord(c.payload)
	if err != nil {
		return connector.Decoded{}, fmt.Errorf("record %d of the buffer: %w", c.id, err)
	}
	s := c.s
	var (
		offsets = []int32{0}
		data    = make([]byte, 0, h.bytes())
		times   []int64
		headers *columnar.Builder
	)
	if s.headers {
		headers = columnar.NewBuilder(s.schema.Fields[2].Type, len(h.Requests))
	}
	for i := range h.Requests {
		r := &h.Requests[i]
		for body := r.body; len(body) > 0; {
			line := body
			if body = nil; !s.whole {
				if line, body = nextLine(line); len(line) == 0 {
					continue
				}
			}
			data = append(data, line...)
			offsets, times = append(offsets, int32(len(data))), append(times, r.At)
			if headers != nil {
				appendHeaders(headers, r.Headers)
			}
		}
	}
	cols := []*columnar.Column{columnar.NewBytes(columnar.String, offsets, data, nil), columnar.NewFixed(columnar.Timestamp, times, nil)}
	if headers != nil {
		cols = append(cols, headers.Finish())
	}
	return connector.Decoded{Batch: columnar.NewBatch(s.schema, cols, len(times))}, nil
}
