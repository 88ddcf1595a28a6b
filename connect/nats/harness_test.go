package nats

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/testservice"
)

// station is a stream of a test on a real server.
type station struct {
	t      *testing.T
	url    string
	stream string
	conn   *nats.Conn
	js     jetstream.JetStream
}

// newStation makes a stream of its own on the server of the tests.
func newStation(t *testing.T, change func(c *jetstream.StreamConfig)) *station {
	t.Helper()
	return stationAt(t, testservice.NATS(t), change)
}

func stationAt(t *testing.T, url string, change func(c *jetstream.StreamConfig)) *station {
	t.Helper()
	s := &station{t: t, url: url, stream: fmt.Sprintf("T%d", time.Now().UnixNano())}
	var err error
	if s.conn, err = nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.conn.Close)
	if s.js, err = jetstream.New(s.conn); err != nil {
		t.Fatal(err)
	}
	s.make(change)
	t.Cleanup(func() { _ = s.js.DeleteStream(context.Background(), s.stream) })
	return s
}

// make makes the stream, with the subjects STREAM.>.
func (s *station) make(change func(c *jetstream.StreamConfig)) {
	s.t.Helper()
	c := jetstream.StreamConfig{Name: s.stream, Subjects: []string{s.stream + ".>"}, Storage: jetstream.FileStorage}
	if change != nil {
		change(&c)
	}
	if _, err := s.js.CreateStream(s.t.Context(), c); err != nil {
		s.t.Fatal(err)
	}
}

// handle is the stream.
func (s *station) handle() jetstream.Stream {
	s.t.Helper()
	h, err := s.js.Stream(s.t.Context(), s.stream)
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

// publish adds a message for each text, to STREAM.subject.
func (s *station) publish(subject string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if _, err := s.js.Publish(s.t.Context(), s.stream+"."+subject, []byte(text)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// texts are the messages of the stream.
func (s *station) texts() []string {
	s.t.Helper()
	c := &client{name: s.stream, timeout: time.Minute, conn: s.conn, js: s.js}
	info, err := c.info(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	r := &reader{client: c}
	defer r.close()
	var out []string
	if err := r.read(s.t.Context(), 1, info.State.LastSeq+1, func(m *message) error {
		out = append(out, string(m.Data()))
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// opened is a source of a test.
type opened struct {
	*source
	t      *testing.T
	warned []string
}

// open opens a source of the stream; options are pairs of name and value.
func (s *station) open(options ...string) *opened {
	s.t.Helper()
	m := map[string]string{"servers": s.url, "stream": s.stream, "startingOffsets": "earliest", "timeout": "30s"}
	for i := 0; i < len(options); i += 2 {
		m[options[i]] = options[i+1]
	}
	o := &opened{t: s.t}
	src, err := newSource(connector.Env{Warn: func(f string, args ...any) { o.warned = append(o.warned, fmt.Sprintf(f, args...)) }}, connector.NewOptions(m))
	if err != nil {
		s.t.Fatal(err)
	}
	o.source = src.(*source)
	s.t.Cleanup(func() { o.Close() })
	return o
}

// next is the end of the batch behind start.
func (o *opened) next(start connector.Offset) connector.Offset {
	o.t.Helper()
	end, _, err := o.Next(o.t.Context(), start, false)
	if err != nil {
		o.t.Fatal(err)
	}
	return end
}

// rows reads a batch, as JSON without the columns stream and timestamp.
func (o *opened) rows(start, end connector.Offset) ([]string, error) {
	o.t.Helper()
	parts, err := o.Plan(o.t.Context(), start, end)
	if err != nil {
		return nil, err
	}
	opts, err := jsonfmt.ParseOptions(nil, "UTC")
	if err != nil {
		o.t.Fatal(err)
	}
	text, err := jsonfmt.NewWriter(o.schema.Struct(), opts)
	if err != nil {
		o.t.Fatal(err)
	}
	var rows []string
	for _, p := range parts {
		err := p.Read(o.t.Context(), nil, func(c connector.Chunk) error {
			d, err := c.Decode(o.t.Context())
			for i := range d.Batch.Rows {
				rows = append(rows, strings.TrimSpace(string(text.AppendRow(nil, d.Batch, i))))
			}
			return err
		})
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// values reads a batch, and gives the column value.
func (o *opened) values(start, end connector.Offset) []string {
	o.t.Helper()
	values, err := o.tryValues(start, end)
	if err != nil {
		o.t.Fatal(err)
	}
	return values
}

func (o *opened) tryValues(start, end connector.Offset) (values []string, err error) {
	parts, err := o.Plan(o.t.Context(), start, end)
	for _, p := range parts {
		err = p.Read(o.t.Context(), nil, func(c connector.Chunk) error {
			d, err := c.Decode(o.t.Context())
			for i := range d.Batch.Rows {
				values = append(values, string(d.Batch.Columns[0].BytesAt(i)))
			}
			return err
		})
	}
	return values, err
}

// service starts and stops a server of a test's own, by the script.
type service struct {
	t   *testing.T
	dir string
	url string
}

func newService(t *testing.T) *service {
	t.Helper()
	testservice.NATS(t) // skips where there are no services
	s := &service{t: t, dir: t.TempDir()}
	s.start("0")
	t.Cleanup(s.stop)
	return s
}

func (s *service) script(args ...string) string {
	s.t.Helper()
	out, err := exec.Command(filepath.Join("..", "..", "scripts", "nats.sh"), args...).Output()
	if err != nil {
		s.t.Fatalf("nats.sh %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

func (s *service) start(port string) { s.url = s.script("start", s.dir, port) }
func (s *service) stop()             { s.script("stop", s.dir) }

// restart stops the server and starts it at the same port.
func (s *service) restart() {
	s.stop()
	s.start(s.url[strings.LastIndexByte(s.url, ':')+1:])
}
