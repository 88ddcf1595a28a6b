package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/bench/reference"
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
)

// cluster is a broker under test, a real one or one of the test's own process.
type cluster struct {
	t       *testing.T
	address string
	fake    *kfake.Cluster
	client  *kgo.Client
	admin   *kadm.Client
	warn    warnings
}

type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, fmt.Sprintf(format, args...))
}

func (w *warnings) all() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.texts, "\n")
}

func fakeCluster(t *testing.T, opts ...kfake.Opt) *cluster {
	t.Helper()
	f, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	c := newCluster(t, f.ListenAddrs()[0])
	c.fake = f
	return c
}

func newCluster(t *testing.T, address string) *cluster {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(8<<20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return &cluster{t: t, address: address, client: client, admin: kadm.NewClient(client)}
}

// topic makes a topic, and removes it at the end.
func (c *cluster) topic(name string, partitions int32, configs ...string) string {
	c.t.Helper()
	m := map[string]*string{}
	for i := 0; i < len(configs); i += 2 {
		m[configs[i]] = &configs[i+1]
	}
	if _, err := c.admin.CreateTopic(c.t.Context(), partitions, 1, m, name); err != nil {
		c.t.Fatalf("topic %q: %v", name, err)
	}
	if c.fake == nil {
		c.t.Cleanup(func() { c.admin.DeleteTopic(context.Background(), name) })
	}
	return name
}

// put writes values to a partition; "null" is a tombstone.
func (c *cluster) put(topic string, partition int32, values ...string) {
	c.t.Helper()
	var rs []*kgo.Record
	for _, v := range values {
		rs = append(rs, record1(topic, partition, v))
	}
	if err := c.client.ProduceSync(c.t.Context(), rs...).FirstErr(); err != nil {
		c.t.Fatal(err)
	}
}

func record1(topic string, partition int32, v string) *kgo.Record {
	r := &kgo.Record{Topic: topic, Partition: partition, Key: []byte("k"), Value: []byte(v)}
	if v == "null" {
		r.Value = nil
	}
	return r
}

// transact writes values in a transaction of their own.
func (c *cluster) transact(topic string, partition int32, end kgo.TransactionEndTry, values ...string) {
	c.t.Helper()
	p, err := kgo.NewClient(kgo.SeedBrokers(c.address), kgo.TransactionalID("tx-"+topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		c.t.Fatal(err)
	}
	defer p.Close()
	if err := p.BeginTransaction(); err != nil {
		c.t.Fatal(err)
	}
	for _, v := range values {
		p.Produce(c.t.Context(), record1(topic, partition, v), nil)
	}
	if err := p.Flush(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	if err := p.EndTransaction(c.t.Context(), end); err != nil {
		c.t.Fatal(err)
	}
}

// values reads what a reader of committed records sees of a topic: `partition:value`, sorted by partition and offset.
func (c *cluster) values(topic string) []string {
	c.t.Helper()
	var out []string
	for _, r := range c.read(topic) {
		out = append(out, string(r.Value))
	}
	return out
}

// settled is the end of each partition, once nothing before it is undecided.
func (c *cluster) settled(ctx context.Context, topic string) kadm.ListedOffsets {
	c.t.Helper()
	ends, err := reference.Settled(ctx, c.admin, topic)
	if err != nil {
		c.t.Fatal(err)
	}
	return ends
}

func (c *cluster) read(topic string) []*kgo.Record {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	ends := c.settled(ctx, topic)
	starts, err := c.admin.ListStartOffsets(ctx, topic)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := kgo.NewClient(kgo.SeedBrokers(c.address), kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.KeepControlRecords(), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	left := map[int32]bool{}
	ends.Each(func(o kadm.ListedOffset) {
		s, _ := starts.Lookup(topic, o.Partition)
		if o.Offset > s.Offset {
			left[o.Partition] = true
		}
	})
	out := map[int32][]*kgo.Record{}
	for len(left) > 0 {
		fs := r.PollFetches(ctx)
		if err := fs.Err0(); err != nil {
			c.t.Fatalf("topic %q: partitions %v: %v", topic, left, err)
		}
		fs.EachRecord(func(rec *kgo.Record) {
			end, _ := ends.Lookup(topic, rec.Partition)
			if !rec.Attrs.IsControl() && rec.Offset < end.Offset {
				out[rec.Partition] = append(out[rec.Partition], rec)
			}
			if rec.Offset >= end.Offset-1 {
				delete(left, rec.Partition)
			}
		})
	}
	var all []*kgo.Record
	for p := int32(0); p < 64; p++ {
		all = append(all, out[p]...)
	}
	return all
}

// options are options of a connector; pairs of name and value.
func (c *cluster) options(pairs ...string) connector.Options {
	m := map[string]string{"kafka.bootstrap.servers": c.address}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return connector.NewOptions(m)
}

func (c *cluster) env() connector.Env {
	return connector.Env{Name: "out", QueryID: "q-" + c.t.Name(), Now: time.Now, Warn: c.warn.add, BaseDir: c.t.TempDir()}
}

func (c *cluster) source(pairs ...string) *source {
	c.t.Helper()
	s, err := newSource(c.env(), c.options(pairs...))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { s.Close() })
	return s.(*source)
}

// batch asks a source for the next batch and reads it: the values in order, "null" for none.
func (c *cluster) batch(s *source, start connector.Offset) ([]string, connector.Offset, error) {
	c.t.Helper()
	end, _, err := s.Next(c.t.Context(), start, false)
	if err != nil {
		return nil, nil, err
	}
	if bytes.Equal(start, end) {
		return nil, end, nil
	}
	values, err := c.replay(s, start, end)
	return values, end, err
}

func (c *cluster) replay(s *source, start, end connector.Offset) ([]string, error) {
	c.t.Helper()
	parts, err := s.Plan(c.t.Context(), start, end)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range parts {
		values, err := c.readPart(p)
		if err != nil {
			return nil, err
		}
		out = append(out, values...)
	}
	return out, nil
}

// readPart reads the values of a piece of a batch.
func (c *cluster) readPart(p connector.Partition) ([]string, error) {
	var out []string
	return out, p.Read(c.t.Context(), nil, func(ch connector.Chunk) error {
		d, err := ch.Decode(c.t.Context())
		if err != nil {
			return err
		}
		v := d.Batch.Columns[colValue]
		for i := range d.Batch.Rows {
			if v.IsNull(i) {
				out = append(out, "null")
			} else {
				out = append(out, string(v.BytesAt(i)))
			}
		}
		return nil
	})
}

// logged is a source with a log of its own, as a checkpoint has it.
func (c *cluster) logged(log *memoryLog, pairs ...string) *source {
	c.t.Helper()
	env := c.env()
	env.Log, env.NextBatch = log, func() int64 { return int64(len(log.entries)) }
	s, err := newSource(env, c.options(pairs...))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { s.Close() })
	return s.(*source)
}

// until repeats what becomes true soon.
func (c *cluster) until(done func() bool) {
	c.t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); {
		if time.Now().After(end) {
			c.t.Fatal("it does not become true")
		}
		wait(c.t.Context(), 50*time.Millisecond)
	}
}

// memoryLog is a source's log.
type memoryLog struct{ entries []json.RawMessage }

func (l *memoryLog) copy() *memoryLog { return &memoryLog{slices.Clone(l.entries)} }

// Put implements connector.MetadataLog.
func (l *memoryLog) Put(_ int64, v json.RawMessage) error {
	l.entries = append(l.entries, v)
	return nil
}

// Each implements connector.MetadataLog.
func (l *memoryLog) Each(f func(int64, json.RawMessage) error) error {
	for i, v := range l.entries {
		if err := f(int64(i), v); err != nil {
			return err
		}
	}
	return nil
}

// Compact implements connector.MetadataLog.
func (l *memoryLog) Compact(int64, json.RawMessage) error { return nil }

// must is batch for what must succeed.
func (c *cluster) must(s *source, start connector.Offset) ([]string, connector.Offset) {
	c.t.Helper()
	v, end, err := c.batch(s, start)
	if err != nil {
		c.t.Fatal(err)
	}
	return v, end
}

func (c *cluster) equal(got []string, want ...string) {
	c.t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		c.t.Errorf("got  %q\nwant %q", got, want)
	}
}

// sinkSchema is the schema of rows for a sink.
func sinkSchema() *columnar.Schema {
	return columnar.NewSchema(columnar.Field{Name: "key", Type: columnar.String, Nullable: true}, columnar.Field{Name: "value", Type: columnar.String, Nullable: true})
}

// rows makes a batch with the same text as key and value.
func rows(values ...string) *columnar.Batch {
	c := columnar.NewStrings(values)
	return columnar.NewBatch(sinkSchema(), []*columnar.Column{c, c}, len(values))
}

// stamped fills a topic of two partitions: a0 to a3 of the times 1000 to 1003 in the first, b0 of 1001 in the other.
func (k *cluster) stamped(topic string) {
	k.t.Helper()
	stamp := func(p int32, ms int64, v string) {
		if err := k.client.ProduceSync(k.t.Context(), &kgo.Record{Topic: topic, Partition: p, Value: []byte(v), Timestamp: time.UnixMilli(ms)}).FirstErr(); err != nil {
			k.t.Fatal(err)
		}
	}
	for i := range 4 {
		stamp(0, int64(1000+i), fmt.Sprintf("a%d", i))
	}
	stamp(1, 1001, "b0")
}
