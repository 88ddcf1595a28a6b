// Package socket is a source of the lines that a TCP server sends, for demonstrations.
package socket

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// Spec is the source "socket".
func Spec() *connector.Spec {
	return &connector.Spec{
		Format:  "socket",
		Doc:     "The lines that a TCP server sends. What was sent cannot be read again: lines are lost when the query ends between two batches.",
		Example: "sources:\n  lines:\n    format: socket\n    options: {host: localhost, port: \"${PORT:-9999}\", includeTimestamp: true}\nsinks:\n  screen: {from: lines, format: console}\n",
		Options: []connector.Option{
			{Name: "host", Type: "text", Required: true, Doc: "The server."},
			{Name: "port", Type: "number", Required: true, Doc: "Its port."},
			{Name: "includeTimestamp", Type: "boolean", Default: "false", Doc: "Whether a column timestamp has the time at which a line came."},
			{Name: "numPartitions", Type: "number", Default: "1", Doc: "Not needed: taken for the sake of pipelines from Spark."},
		},
		FixedSchema: func(o connector.Options) (*columnar.Schema, error) {
			with, err := o.Bool("includeTimestamp", false)
			return schema(with), err
		},
		NewSource: newSource,
	}
}

func schema(withTime bool) *columnar.Schema {
	s := columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true})
	if withTime {
		s.Fields = append(s.Fields, columnar.Field{Name: "timestamp", Type: columnar.Timestamp, Nullable: true})
	}
	return s
}

// line is a line with the time at which it came.
type line struct {
	text string
	at   int64 // µs
}

// source reads in the background. An offset is the number of lines that came before, less one; a restart begins anew, with
// offsets behind those of the run before.
type source struct {
	schema *columnar.Schema
	now    func() time.Time
	addr   string
	conn   net.Conn
	done   chan struct{} // closed when the reading has ended

	mu    sync.Mutex
	lines []line
	base  int64 // number of the first line that is kept
	fixed int64 // for availableNow: the number behind the last line, -1 for none
	more  chan struct{}
	err   error
	asked bool
}

const connectTimeout = 10 * time.Second

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	with, err := o.Bool("includeTimestamp", false)
	if err != nil {
		return nil, err
	}
	port, err := o.Int("port", 0)
	if err != nil {
		return nil, err
	}
	host, ok := o.Get("host")
	if !ok || port < 1 || port > 65535 {
		return nil, errors.New("options \"host\" and \"port\" must name a server")
	}
	s := &source{schema: schema(with), now: env.Now, addr: net.JoinHostPort(host, fmt.Sprint(port)), fixed: -1, more: make(chan struct{}), done: make(chan struct{})}
	if s.now == nil {
		s.now = time.Now
	}
	if s.conn, err = net.DialTimeout("tcp", s.addr, connectTimeout); err != nil {
		return nil, fmt.Errorf("%w: start the server first, e.g. nc -lk %d", err, port)
	}
	if env.Warn != nil {
		env.Warn("a socket cannot be read again: lines are lost when the query fails or is stopped; do not use it in production")
	}
	go s.read()
	return s, nil
}

// maxWaiting bounds the lines that wait for a batch; then the server has to wait.
const maxWaiting = 1 << 20

// read takes lines until the connection ends.
func (s *source) read() {
	defer close(s.done)
	r := bufio.NewReaderSize(s.conn, 64<<10)
	for {
		text, err := r.ReadString('\n')
		if text != "" {
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
			if !s.add(line{text, s.now().UnixMicro()}) {
				return
			}
		}
		if err != nil {
			s.mu.Lock()
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				s.err = err
			}
			s.signal()
			s.mu.Unlock()
			return
		}
	}
}

// add keeps a line, waiting for room. It is false when the source was closed.
func (s *source) add(l line) bool {
	for {
		s.mu.Lock()
		if len(s.lines) < maxWaiting {
			s.lines = append(s.lines, l)
			s.signal()
			s.mu.Unlock()
			return true
		}
		room := s.more
		s.mu.Unlock()
		<-room // Commit and Close signal too
		if errors.Is(s.fault(), net.ErrClosed) {
			return false
		}
	}
}

func (s *source) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// signal wakes who waits. The lock is held.
func (s *source) signal() {
	close(s.more)
	s.more = make(chan struct{})
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string { return "TextSocketV2[host: " + s.addr + "]" }

// Close implements connector.Source.
func (s *source) Close() error {
	err := s.conn.Close()
	s.mu.Lock()
	s.err = net.ErrClosed
	s.signal()
	s.mu.Unlock()
	<-s.done
	return err
}

func parse(o connector.Offset) (int64, error) {
	if o == nil {
		return 0, nil
	}
	var n int64
	if err := json.Unmarshal(o, &n); err != nil {
		return 0, fmt.Errorf("offset %s is not a number of lines", o)
	}
	return n + 1, nil
}

func offset(n int64) connector.Offset {
	if n == 0 {
		return nil
	}
	return connector.Offset(fmt.Sprint(n - 1))
}

// Fix implements connector.Bounded.
func (s *source) Fix(_ context.Context, start connector.Offset) error {
	at, err := parse(start)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebase(at)
	s.fixed = s.base + int64(len(s.lines))
	return nil
}

// rebase numbers the lines from start on if the numbers of an earlier run go that far. The lock is held.
func (s *source) rebase(start int64) {
	if !s.asked {
		s.base, s.asked = max(s.base, start), true
	}
}

// Next implements connector.Source.
func (s *source) Next(_ context.Context, start connector.Offset, _ bool) (end, latest connector.Offset, err error) {
	at, err := parse(start)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebase(at)
	n := s.base + int64(len(s.lines))
	if s.fixed >= 0 {
		n = min(n, s.fixed)
	}
	if n <= at && s.err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.addr, s.err)
	}
	return offset(max(n, at)), offset(max(n, at)), nil
}

// Wait implements connector.Waiter.
func (s *source) Wait(ctx context.Context, start connector.Offset) error {
	at, err := parse(start)
	if err != nil {
		return err
	}
	for {
		s.mu.Lock()
		s.rebase(at)
		ready, more := s.base+int64(len(s.lines)) > at || s.err != nil, s.more
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

// Plan implements connector.Source. Lines of an earlier run are gone.
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
	s.rebase(to)
	from, to = max(from-s.base, 0), min(to-s.base, int64(len(s.lines)))
	if from >= to {
		return nil, nil
	}
	return []connector.Partition{&partition{s.schema, s.lines[from:to:to]}}, nil
}

// Commit implements connector.Committer: lines of committed batches are forgotten.
func (s *source) Commit(_ context.Context, _ int64, end connector.Offset) error {
	n, err := parse(end)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := min(n-s.base, int64(len(s.lines))); k > 0 {
		s.lines = append([]line(nil), s.lines[k:]...)
		s.base += k
		s.signal()
	}
	return nil
}

type partition struct {
	schema *columnar.Schema
	lines  []line
}

// ID implements connector.Partition.
func (p *partition) ID() string { return "" }

// Read implements connector.Partition.
func (p *partition) Read(_ context.Context, _ []int, emit func(connector.Chunk) error) error {
	texts, times := make([]string, len(p.lines)), make([]int64, len(p.lines))
	for i, l := range p.lines {
		texts[i], times[i] = l.text, l.at
	}
	b := columnar.NewBatch(p.schema, []*columnar.Column{columnar.NewStrings(texts)}, len(texts))
	if len(p.schema.Fields) > 1 {
		b.Columns = append(b.Columns, columnar.NewFixed(columnar.Timestamp, times, nil))
	}
	return emit(connector.ReadyChunk{Batch: b})
}
