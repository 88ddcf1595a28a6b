package nats

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/engine/connector"
)

func numbers(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprint(i))
	}
	return out
}

// TestSource reads messages in order with all their columns, in batches of a limited size, and the same ones again.
func TestSource(t *testing.T) {
	s := newStation(t, nil)
	s.publish("a", numbers(1, 5)...)
	m := nats.NewMsg(s.stream + ".b")
	m.Header.Set("X-B", "2")
	m.Header.Add("X-A", "1")
	m.Header.Add("X-A", "one")
	if _, err := s.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	o := s.open("maxOffsetsPerTrigger", "4", "includeHeaders", "true")
	one := o.next(nil)
	if got := o.values(nil, one); !slices.Equal(got, numbers(1, 4)) {
		t.Errorf("batch 0: %q", got)
	}
	two := o.next(one)
	rows, err := o.rows(one, two)
	if err != nil {
		t.Fatal(err)
	}
	want := `"subject":"` + s.stream + `.b","sequence":6,`
	if len(rows) != 2 || !strings.Contains(rows[1], want) || !strings.HasSuffix(rows[1], `"headers":[{"key":"X-A","value":"MQ=="},{"key":"X-A","value":"b25l"},{"key":"X-B","value":"Mg=="}]}`) {
		t.Errorf("batch 1: %q", rows)
	}
	if end := o.next(two); string(end) != string(two) {
		t.Errorf("nothing is there, and the next batch would end at %s", end)
	}
	again := s.open("maxOffsetsPerTrigger", "1")
	if got := again.values(one, two); !slices.Equal(got, []string{"5", ""}) {
		t.Errorf("again: %q", got)
	}
	if got := again.values(nil, one); !slices.Equal(got, numbers(1, 4)) {
		t.Errorf("again from the start: %q", got)
	}
	if lag := o.Lag(one, two); lag[s.stream] != 2 {
		t.Errorf("lag %v", lag)
	}
}

// TestStart begins where the options say, also if nothing is there yet and the query starts again before there is.
func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		option string
		value  func(middle time.Time) string
		want   []string
	}{
		"earliest": {"startingOffsets", func(time.Time) string { return "earliest" }, numbers(1, 9)},
		"latest":   {"startingOffsets", func(time.Time) string { return "latest" }, numbers(9, 9)},
		"sequence": {"startingOffsets", func(time.Time) string { return "7" }, numbers(7, 9)},
		"time":     {"startingTimestamp", func(middle time.Time) string { return fmt.Sprint(middle.UnixMilli()) }, numbers(6, 9)},
		"past":     {"startingTimestamp", func(time.Time) string { return "0" }, numbers(1, 9)},
		"future":   {"startingTimestamp", func(middle time.Time) string { return fmt.Sprint(middle.UnixMilli() + 3600_000) }, numbers(9, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStation(t, nil)
			s.publish("a", numbers(1, 5)...)
			time.Sleep(5 * time.Millisecond)
			value := c.value(time.Now())
			time.Sleep(5 * time.Millisecond)
			s.publish("a", numbers(6, 8)...)
			o := s.open(c.option, value)
			end := o.next(nil)
			if end == nil {
				t.Fatal("the start is not decided")
			}
			got := o.values(nil, end)
			s.publish("a", "9")
			o = s.open(c.option, value)
			if got = append(got, o.values(end, o.next(end))...); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSubjects reads some subjects only, and makes no batch of the others.
func TestSubjects(t *testing.T) {
	s := newStation(t, nil)
	s.publish("a.x", "1")
	s.publish("c", "2")
	s.publish("b", "3")
	s.publish("c", "4")
	o := s.open("subject", s.stream+".a.*, "+s.stream+".b")
	begun := time.Now()
	one := o.next(nil)
	if got := o.values(nil, one); !slices.Equal(got, []string{"1", "3"}) {
		t.Errorf("got %q", got)
	}
	if took := time.Since(begun); took > quiet {
		t.Errorf("it took %s to see that no more comes", took)
	}
	s.publish("c", "5")
	if end := o.next(one); string(end) != string(one) {
		t.Errorf("a batch of other subjects up to %s", end)
	}
	s.publish("b", "6")
	two := o.next(one)
	if got := o.values(one, two); !slices.Equal(got, []string{"6"}) {
		t.Errorf("got %q", got)
	}
}

// TestDataLoss names the sequences that are gone, by whatever they went, or goes on without them.
func TestDataLoss(t *testing.T) {
	for _, c := range []struct {
		name   string
		lose   func(s *station)
		text   string
		rest   []string
		config func(c *jetstream.StreamConfig)
	}{
		{"purged", func(s *station) { s.handle().Purge(s.t.Context(), jetstream.WithPurgeSequence(6)) }, "sequences 3 to 5 are gone", numbers(6, 8), nil},
		{"purged wholly", func(s *station) { s.handle().Purge(s.t.Context()) }, "sequences 3 to 8 are gone", nil, nil},
		{"deleted", func(s *station) {
			for _, n := range []uint64{4, 5, 7} {
				s.handle().DeleteMsg(s.t.Context(), n)
			}
		}, "sequences 4 to 5, 7 are gone", []string{"3", "6", "8"}, nil},
		{"the last one deleted", func(s *station) { s.handle().DeleteMsg(s.t.Context(), 8) }, "sequences 8 are gone", numbers(3, 7), nil},
		{"expired", func(s *station) {
			info, _ := s.js.Stream(s.t.Context(), s.stream)
			conf := info.CachedInfo().Config
			conf.MaxMsgs = 4
			if _, err := s.js.UpdateStream(s.t.Context(), conf); err != nil {
				s.t.Fatal(err)
			}
		}, "sequences 3 to 4 are gone", numbers(5, 8), nil},
		{"made for it", func(s *station) { s.publish("a", "9") }, "", []string{"9"}, func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStation(t, c.config)
			s.publish("a", numbers(1, 8)...)
			o := s.open()
			if c.config != nil { // a stream that keeps the last message of a subject
				end := o.next(nil)
				c.lose(s)
				if got, err := o.tryValues(nil, end); err != nil || len(got) != 0 {
					t.Errorf("got %q, %v", got, err)
				}
				if got := o.values(end, o.next(end)); !slices.Equal(got, c.rest) {
					t.Errorf("got %q", got)
				}
				return
			}
			start, err := position{Stream: s.stream, Created: s.handle().CachedInfo().Created, Next: 3}.offset()
			if err != nil {
				t.Fatal(err)
			}
			end := o.next(start)
			c.lose(s)
			if _, err := s.open().tryValues(start, end); err == nil || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "[NATS_DATA_LOSS.MESSAGES_GONE]") {
				t.Errorf("got %v, want %s", err, c.text)
			}
			o = s.open("failOnDataLoss", "false")
			if got := o.values(start, end); !slices.Equal(got, c.rest) || len(o.warned) != 1 || !strings.Contains(o.warned[0], c.text) {
				t.Errorf("got %q, warnings %q", got, o.warned)
			}
		})
	}
}

// TestMadeAgain tells of a stream that was deleted and made again, and reads the new one from its start if it may.
func TestMadeAgain(t *testing.T) {
	s := newStation(t, nil)
	s.publish("a", numbers(1, 5)...)
	o := s.open()
	end := o.next(nil)
	s.js.DeleteStream(t.Context(), s.stream)
	if _, _, err := o.Next(t.Context(), end, false); err == nil || !strings.Contains(err.Error(), "there is no stream") {
		t.Errorf("without the stream: %v", err)
	}
	s.make(nil)
	s.publish("a", "6", "7")
	if _, _, err := o.Next(t.Context(), end, false); err == nil || !strings.Contains(err.Error(), "[NATS_DATA_LOSS.STREAM_MADE_AGAIN]") {
		t.Errorf("made again: %v", err)
	}
	o = s.open("failOnDataLoss", "false")
	next := o.next(end)
	if got := o.values(end, next); !slices.Equal(got, []string{"6", "7"}) || len(o.warned) != 1 {
		t.Errorf("got %q, warnings %q", got, o.warned)
	}
}

// TestRefusedStreams refuses streams that forget what was read, and ones that are not there.
func TestRefusedStreams(t *testing.T) {
	s := newStation(t, func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy })
	if _, _, err := s.open().Next(t.Context(), nil, false); err == nil || !strings.Contains(err.Error(), "retention") {
		t.Errorf("a work queue: %v", err)
	}
	if _, _, err := s.open("stream", "NONE").Next(t.Context(), nil, false); err == nil || !strings.Contains(err.Error(), `no stream "NONE"`) {
		t.Errorf("no stream: %v", err)
	}
	_, err := newSource(connector.Env{}, connector.NewOptions(map[string]string{"servers": "nats://127.0.0.1:1", "stream": "X"}))
	if err == nil || !strings.Contains(err.Error(), "nats at nats://127.0.0.1:1 cannot be reached") {
		t.Errorf("no server: %v", err)
	}
}

// TestManyMessages reads what comes while the server is started again in the middle.
func TestManyMessages(t *testing.T) {
	server := newService(t)
	s := stationAt(t, server.url, nil)
	const n = 3000
	publish := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if _, err := s.js.PublishAsync(s.stream+".a", fmt.Append(nil, i)); err != nil {
				t.Fatal(err)
			}
			if i%1000 == 999 {
				<-s.js.PublishAsyncComplete()
			}
		}
		<-s.js.PublishAsyncComplete()
	}
	publish(0, n)
	o := s.open("maxOffsetsPerTrigger", "1000")
	var got []string
	one := o.next(nil)
	got = append(got, o.values(nil, one)...)
	server.restart()
	two := o.next(one)
	got = append(got, o.values(one, two)...)
	restarted := make(chan bool)
	go func() { server.restart(); close(restarted) }()
	three := o.next(two)
	got = append(got, o.values(two, three)...)
	<-restarted
	if len(got) != n {
		t.Fatalf("%d messages", len(got))
	}
	for i, v := range got {
		if v != fmt.Sprint(i) {
			t.Fatalf("message %d is %s", i, v)
		}
	}
}

// TestWait returns soon after a message has come.
func TestWait(t *testing.T) {
	s := newStation(t, nil)
	o := s.open()
	end := o.next(nil)
	go func() {
		time.Sleep(50 * time.Millisecond)
		s.js.Publish(t.Context(), s.stream+".a", []byte("1"))
	}()
	begun := time.Now()
	if err := o.Wait(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > 700*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	if got := o.values(end, o.next(end)); !slices.Equal(got, []string{"1"}) {
		t.Errorf("got %q", got)
	}
}
