package connect_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/internal/testservice"
)

// TestNATSKilled copies one stream to another while messages come and the program is killed again and again, longer than
// the server remembers the ids of messages: each message is there once.
func TestNATSKilled(t *testing.T) {
	url := testservice.NATS(t)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	unique := fmt.Sprint(time.Now().UnixNano())
	in, out := "IN"+unique, "OUT"+unique
	for _, name := range []string{in, out} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name + ".>"}, Duplicates: 100 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		defer js.DeleteStream(context.Background(), name) //nolint:errcheck // the stream has a name of its own
	}
	k := newKilled(t, fmt.Sprintf("name: copy\nsources:\n  input: {format: nats, options: {servers: %q, stream: %s, startingOffsets: earliest, maxOffsetsPerTrigger: 50}}\n"+
		"views:\n  v: {sql: 'SELECT value FROM input'}\n"+
		"sinks:\n  out: {from: v, format: nats, options: {servers: %q, stream: %s, subject: %s.copy}, checkpointLocation: checkpoint}\n", url, in, url, out, out))
	ctx, cancel := context.WithCancel(t.Context())
	killing := make(chan int)
	go func() {
		killing <- k.killing(ctx, rand.New(rand.NewPCG(3, 4)), 100*time.Millisecond, 700*time.Millisecond)
	}()
	want := map[string]bool{}
	for end := time.Now().Add(killTime()); time.Now().Before(end); {
		v := fmt.Sprint("m", len(want))
		want[v] = true
		if _, err := js.Publish(t.Context(), in+".x", []byte(v)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	times := <-killing
	k.finish()
	stream, err := js.Stream(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for seq := uint64(1); seq <= stream.CachedInfo().State.LastSeq; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m.Data))
	}
	onceEach(t, got, want)
	if times < 3 {
		t.Errorf("%d kills: the test shows nothing", times)
	}
	t.Logf("%d messages, %d kills", len(want), times)
}
