package http

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

func schema() *columnar.Schema {
	return columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true},
		columnar.Field{Name: "timestamp", Type: columnar.Timestamp, Nullable: true})
}

// body is what one request brought.
type body struct {
	Lines []string `json:"lines"`
	At    int64    `json:"at"` // µs
	taken chan struct{}
}

// source listens. Bodies that a batch takes stand in the source's log, so that a restart has them; an offset is the id of
// the newest entry. A request is answered when the batch has been planned, which is when its lines cannot be lost any
// more.
type source struct {
	env     connector.Env
	server  *http.Server
	token   string
	maxBody int64

	mu      sync.Mutex
	waiting []*body
	size    int
	more    chan struct{} // closed when a body comes
	taken   map[int64][]*body
	last    int64
	fixed   int // availableNow: how many bodies may still be taken, -1 for all
	ended   error
}

// maxWaiting bounds the bytes of bodies that wait for a batch; beyond it requests are turned away.
const maxWaiting = 256 << 20

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	s := &source{env: env, token: o.String("token", ""), more: make(chan struct{}), taken: map[int64][]*body{}, last: -1, fixed: -1}
	var err error
	if s.maxBody, err = o.Bytes("maxBodySize", 16<<20); err != nil {
		return nil, err
	}
	if env.Static {
		return nil, errors.New("a source of requests cannot be static")
	}
	if s.env.Now == nil {
		s.env.Now = time.Now
	}
	if env.Log != nil {
		err := env.Log.Each(func(id int64, v json.RawMessage) error {
			var bodies []*body
			if err := json.Unmarshal(v, &bodies); err != nil {
				return fmt.Errorf("entry %d of the source's log: %w", id, err)
			}
			s.taken[id], s.last = bodies, id
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	address := o.String("address", "")
	if address == "" {
		return nil, errors.New("option \"address\" is missing: the address to listen on, such as 127.0.0.1:8080")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc(o.String("path", "/"), s.serve)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, Addr: l.Addr().String()}
	go func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.end(err)
		}
	}()
	return s, nil
}

// end lets nobody wait any longer.
func (s *source) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = err
		s.signal()
	}
}

// signal wakes who waits. The lock is held.
func (s *source) signal() {
	close(s.more)
	s.more = make(chan struct{})
}

// serve takes a request.
func (s *source) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "post lines here", http.StatusMethodNotAllowed)
		return
	}
	if s.token != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.token)) != 1 {
		http.Error(w, "the token is wrong", http.StatusUnauthorized)
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	b := &body{At: s.env.Now().UnixMicro(), taken: make(chan struct{})}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) > 0 {
			b.Lines = append(b.Lines, string(line))
		}
	}
	if len(b.Lines) > 0 {
		if !s.add(b, w) {
			return
		}
		select {
		case <-b.taken:
		case <-r.Context().Done(): // the caller went away, or the source was closed
			return
		}
	}
	fmt.Fprintf(w, "{\"rows\":%d}\n", len(b.Lines))
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// add lets a body wait for a batch, unless too much waits already.
func (s *source) add(b *body, w http.ResponseWriter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range b.Lines {
		n += len(l)
	}
	if s.size+n > maxWaiting || s.ended != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too much is waiting, try again later", http.StatusServiceUnavailable)
		return false
	}
	s.size += n
	s.waiting = append(s.waiting, b)
	s.signal()
	return true
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return schema() }

// Description implements connector.Source.
func (s *source) Description() string { return "HTTPSource[" + s.server.Addr + "]" }

// Close implements connector.Source. Requests that wait are turned away.
func (s *source) Close() error {
	s.end(errors.New("closed"))
	return s.server.Close()
}

func parse(o connector.Offset) (int64, error) {
	if o == nil {
		return -1, nil
	}
	var n int64
	if err := json.Unmarshal(o, &n); err != nil {
		return 0, fmt.Errorf("offset %s is not a number", o)
	}
	return n, nil
}

// Fix implements connector.Bounded.
func (s *source) Fix(context.Context, connector.Offset) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fixed = len(s.waiting)
	return nil
}

// Next implements connector.Source: a batch takes all that waits.
func (s *source) Next(_ context.Context, start connector.Offset, _ bool) (end, latest connector.Offset, err error) {
	at, err := parse(start)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last > at { // taken for a batch that was not planned
		return offset(s.last), offset(s.last), nil
	}
	n := len(s.waiting)
	if s.fixed >= 0 {
		n = min(n, s.fixed)
	}
	if n == 0 {
		if s.ended != nil {
			return nil, nil, s.ended
		}
		return start, start, nil
	}
	id := at + 1
	if s.env.NextBatch != nil {
		id = max(id, s.env.NextBatch())
	}
	bodies := s.waiting[:n:n]
	if s.env.Log != nil {
		v, err := json.Marshal(bodies)
		if err != nil {
			return nil, nil, err
		}
		if err := s.env.Log.Put(id, v); err != nil {
			return nil, nil, err
		}
	}
	s.waiting = append([]*body(nil), s.waiting[n:]...)
	if s.fixed >= 0 {
		s.fixed -= n
	}
	for _, b := range bodies {
		for _, l := range b.Lines {
			s.size -= len(l)
		}
	}
	s.taken[id], s.last = bodies, id
	return offset(id), offset(id), nil
}

func offset(n int64) connector.Offset {
	if n < 0 {
		return nil
	}
	return connector.Offset(fmt.Sprint(n))
}

// Wait implements connector.Waiter.
func (s *source) Wait(ctx context.Context, start connector.Offset) error {
	at, err := parse(start)
	if err != nil {
		return err
	}
	for {
		s.mu.Lock()
		ready, more := len(s.waiting) > 0 || s.last > at || s.ended != nil, s.more
		s.mu.Unlock()
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

// Plan implements connector.Source. It is called when the batch is durable: the requests are answered now.
func (s *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := parse(start)
	if err != nil {
		return nil, err
	}
	to, err := parse(end)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &partition{}
	for id := from + 1; id <= to; id++ {
		for _, b := range s.taken[id] {
			if b.taken != nil && !closed(b.taken) {
				close(b.taken)
			}
			p.bodies = append(p.bodies, b)
		}
	}
	if len(p.bodies) == 0 && to > from {
		return nil, fmt.Errorf("the source's log has no entry %d, which the offsets name", to)
	}
	return []connector.Partition{p}, nil
}

// keepEntries is how many entries a rollback may ask for again.
const keepEntries = 100

// Commit implements connector.Committer: what no rollback needs is forgotten.
func (s *source) Commit(_ context.Context, _ int64, end connector.Offset) error {
	to, err := parse(end)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) < 2*keepEntries {
		return nil
	}
	for id := range s.taken {
		if id < to-keepEntries {
			delete(s.taken, id)
		}
	}
	if s.env.Log == nil {
		return nil
	}
	return s.env.Log.Compact(to-keepEntries, json.RawMessage("[]"))
}

type partition struct{ bodies []*body }

// ID implements connector.Partition.
func (p *partition) ID() string { return "" }

// Read implements connector.Partition.
func (p *partition) Read(_ context.Context, _ []int, emit func(connector.Chunk) error) error {
	var texts []string
	var times []int64
	for _, b := range p.bodies {
		for _, l := range b.Lines {
			texts, times = append(texts, l), append(times, b.At)
		}
	}
	cols := []*columnar.Column{columnar.NewStrings(texts), columnar.NewFixed(columnar.Timestamp, times, nil)}
	return emit(connector.ReadyChunk{Batch: columnar.NewBatch(schema(), cols, len(texts))})
}
