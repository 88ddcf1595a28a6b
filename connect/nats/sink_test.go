package nats

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// memoryLog is the log of a sink, as a checkpoint keeps it.
type memoryLog struct {
	batches []int64
	values  []json.RawMessage
}

func (l *memoryLog) Put(batch int64, v json.RawMessage) error {
	l.batches, l.values = append(l.batches, batch), append(l.values, v)
	return nil
}

func (l *memoryLog) Each(f func(batch int64, v json.RawMessage) error) error {
	for i, b := range l.batches {
		if err := f(b, l.values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *memoryLog) Compact(batch int64, v json.RawMessage) error {
	l.batches, l.values = []int64{batch}, []json.RawMessage{v}
	return nil
}

var valueSchema = columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.String, Nullable: true})

// run writes a batch by a sink of its own, as a process that begins anew does.
func (s *station) run(log connector.MetadataLog, batch int64, replay bool, fail string, values ...string) error {
	s.t.Helper()
	points, err := failpoint.Parse(fail)
	if err != nil {
		s.t.Fatal(err)
	}
	sink, err := newSink(connector.Env{Name: "out", Log: log, QueryID: "q"}, connector.NewOptions(map[string]string{
		"servers": s.url, "stream": s.stream, "subject": s.stream + ".out", "timeout": "20s",
	}))
	if err != nil {
		s.t.Fatal(err)
	}
	defer sink.Close()
	if err := sink.(connector.Recoverer).Recover(s.t.Context(), batch-1); err != nil {
		s.t.Fatal(err)
	}
	w, err := sink.Begin(s.t.Context(), connector.BatchInfo{QueryID: "q", BatchID: batch, Replay: replay, Schema: valueSchema, Failpoints: points})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, v := range values {
		b := columnar.NewBatch(valueSchema, []*columnar.Column{columnar.NewStrings([]string{v})}, 1)
		if err := w.Write(s.t.Context(), b); err != nil {
			s.t.Fatal(err)
		}
	}
	return w.Commit(s.t.Context())
}

// TestSinkReplay writes a batch again after a crash at each point of the sink, in another order of its rows: each is there
// once, also when the server has forgotten the ids.
func TestSinkReplay(t *testing.T) {
	for _, window := range []time.Duration{time.Minute, 100 * time.Millisecond} {
		for _, point := range []string{failpoint.SinkStaged, failpoint.SinkPartial, ""} {
			t.Run(fmt.Sprint(window, point), func(t *testing.T) {
				s := newStation(t, func(c *jetstream.StreamConfig) { c.Duplicates = window })
				log := &memoryLog{}
				if err := s.run(log, 0, false, "", "a", "a", "b"); err != nil {
					t.Fatal(err)
				}
				fail := ""
				if point != "" {
					fail = point + "=err"
				}
				err := s.run(log, 1, false, fail, "a", "b", "b", "c", "")
				var fired *failpoint.Error
				if (point != "") != errors.As(err, &fired) {
					t.Fatalf("the point: %v", err)
				}
				if window < time.Second {
					time.Sleep(2 * window)
				}
				if err := s.run(log, 1, true, "", "c", "b", "", "b", "a"); err != nil {
					t.Fatal(err)
				}
				if err := s.run(log, 2, false, "", "a"); err != nil {
					t.Fatal(err)
				}
				got := s.texts()
				slices.Sort(got)
				if want := []string{"", "a", "a", "a", "a", "b", "b", "b", "c"}; !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		}
	}
}

// TestSinkNotes writes where a replay begins to look, and not at every batch.
func TestSinkNotes(t *testing.T) {
	s := newStation(t, nil)
	log := &memoryLog{}
	for batch := range int64(3) {
		if err := s.run(log, batch, false, "", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if len(log.batches) != 1 || log.batches[0] != 0 || !strings.HasPrefix(string(log.values[0]), `{"after":0,`) {
		t.Errorf("entries %d, %s", log.batches, log.values)
	}
	s.js.DeleteStream(t.Context(), s.stream)
	s.make(nil)
	if err := s.run(log, 3, false, "", "x"); err != nil {
		t.Fatal(err)
	}
	if len(log.batches) != 1 || log.batches[0] != 3 {
		t.Errorf("entries %d after the stream was made again", log.batches)
	}
}

// TestSinkColumns writes subjects and headers, and refuses what cannot be written.
func TestSinkColumns(t *testing.T) {
	s := newStation(t, nil)
	header := columnar.ArrayOf(columnar.StructOf(columnar.Field{Name: "key", Type: columnar.String, Nullable: true}, columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}), true)
	schema := columnar.NewSchema(columnar.Field{Name: "subject", Type: columnar.String, Nullable: true},
		columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}, columnar.Field{Name: "headers", Type: header, Nullable: true})
	sink, err := newSink(connector.Env{Name: "out", QueryID: "q"}, connector.NewOptions(map[string]string{"servers": s.url, "stream": s.stream, "timeout": "5s"}))
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	write := func(batch int64, subject, key, value string) error {
		t.Helper()
		h := columnar.NewBuilder(header, 1)
		h.Child(0).Child(0).AppendBytes([]byte(key))
		h.Child(0).Child(1).AppendBytes([]byte(value))
		h.Child(0).AppendNested()
		h.AppendNested()
		w, err := sink.Begin(t.Context(), connector.BatchInfo{QueryID: "q", BatchID: batch, Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		cols := []*columnar.Column{columnar.NewStrings([]string{subject}), columnar.NewBytes(columnar.Binary, []int32{0, 2}, []byte{0, 255}, nil), h.Finish()}
		if err := w.Write(t.Context(), columnar.NewBatch(schema, cols, 1)); err != nil {
			t.Fatal(err)
		}
		return w.Commit(t.Context())
	}
	if err := write(0, s.stream+".one", "X-A", "1"); err != nil {
		t.Fatal(err)
	}
	m, err := s.handle().GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if m.Subject != s.stream+".one" || string(m.Data) != "\x00\xff" || m.Header.Get("X-A") != "1" || !strings.HasPrefix(m.Header.Get("Nats-Msg-Id"), "q/out/0/") {
		t.Errorf("got %q, %q, %v", m.Subject, m.Data, m.Header)
	}
	for _, c := range []struct{ subject, key, value, want string }{
		{s.stream + ".*", "X", "", "[NATS_SINK.SUBJECT]"},
		{"", "X", "", "[NATS_SINK.SUBJECT]"},
		{s.stream + ".a", "X:", "", "[NATS_SINK.HEADER]"},
		{s.stream + ".a", "X", "a\r\nb: c", "[NATS_SINK.HEADER]"},
		{"elsewhere", "X", "", `subject "elsewhere"`},
	} {
		if err := write(1, c.subject, c.key, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %q: %v, want %s", c.subject, c.key, c.value, err, c.want)
		}
	}
	_, err = newLayout(columnar.NewSchema(columnar.Field{Name: "v", Type: columnar.String}), "s")
	if err == nil || !strings.Contains(err.Error(), "to_json") {
		t.Errorf("without a value: %v", err)
	}
}

// TestSinkServerRestart publishes a batch while the server is started again.
func TestSinkServerRestart(t *testing.T) {
	server := newService(t)
	s := stationAt(t, server.url, nil)
	var want []string
	for i := range 2000 {
		want = append(want, fmt.Sprintf("%04d", i))
	}
	done := make(chan error)
	go func() { done <- s.run(&memoryLog{}, 0, false, "", want...) }()
	time.Sleep(300 * time.Millisecond)
	server.restart()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	got := s.texts()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d messages, %d different ones, want %d", len(got), len(slices.Compact(got)), len(want))
	}
}
