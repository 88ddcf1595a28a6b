package foreachbatch

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/host"
)

// sideLog is a sink's log in memory, which may fail once it has taken an entry, as a process that is killed then.
type sideLog struct {
	batches []int64
	values  []json.RawMessage
	crash   bool
}

func (l *sideLog) Put(batch int64, v json.RawMessage) error {
	l.batches, l.values = append(l.batches, batch), append(l.values, v)
	if l.crash {
		l.crash = false
		return errors.New("killed")
	}
	return nil
}

func (l *sideLog) Each(f func(int64, json.RawMessage) error) error {
	for i, b := range l.batches {
		if err := f(b, l.values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *sideLog) Compact(batch int64, v json.RawMessage) error {
	at := 0
	for at < len(l.batches) && l.batches[at] <= batch {
		at++
	}
	l.batches = append([]int64{batch}, l.batches[at:]...)
	l.values = append([]json.RawMessage{v}, l.values[at:]...)
	return nil
}

// keeper is a query whose foreachBatch function counts keys in the store, a table and a topic.
type keeper struct {
	t       *testing.T
	log     *sideLog
	dsn     string
	brokers string
	module  *host.Module
}

func newKeeper(t *testing.T, allow ...string) *keeper {
	ctx := context.Background()
	h, err := host.New(ctx, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(ctx) })
	p, err := host.ParsePermissions(allow)
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Load(ctx, host.ModuleConfig{Path: "testdata/keeper.wasm", Permissions: p})
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{t: t, log: &sideLog{}, dsn: filepath.Join(t.TempDir(), "counts.db"), module: m}
	db := k.open()
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE counts (k TEXT PRIMARY KEY, n TEXT)"); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *keeper) open() *sql.DB {
	db, err := sql.Open("sqlite", k.dsn)
	if err != nil {
		k.t.Fatal(err)
	}
	return db
}

// start opens the sink, as a process that starts.
func (k *keeper) start() connector.Sink {
	k.t.Helper()
	options := map[string]string{}
	if k.brokers != "" {
		options["kafka.bootstrap.servers"] = k.brokers
	}
	s, err := New(connector.Env{
		Name: "out", QueryID: "6bac51e3-a938-4d03-91b5-927a22440609", Log: k.log, Now: time.Now,
		Connection: func(name string) (connector.Connection, error) {
			return connector.Connection{Name: name, Driver: "sqlite", DSN: k.dsn}, nil
		},
	}, k.module, "count", connector.NewOptions(options))
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

// batch writes a batch of keys.
func (k *keeper) batch(s connector.Sink, id int64, replay bool, keys ...string) error {
	schema, err := columnar.ParseDDL("k STRING")
	if err != nil {
		k.t.Fatal(err)
	}
	ctx := context.Background()
	w, err := s.Begin(ctx, connector.BatchInfo{QueryID: "6bac51e3-a938-4d03-91b5-927a22440609", BatchID: id, Replay: replay, Schema: schema, BatchTime: time.Now().UnixMicro()})
	if err != nil {
		return err
	}
	b := columnar.NewBuilder(columnar.String, len(keys))
	for _, s := range keys {
		b.AppendString(s)
	}
	if err := w.Write(ctx, columnar.NewBatch(schema, []*columnar.Column{b.Finish()}, len(keys))); err != nil {
		return errors.Join(err, w.Abort(ctx))
	}
	return w.Commit(ctx)
}

// table is the content of the table, and store that of the log, as "a=2 b=1".
func (k *keeper) table() string {
	db := k.open()
	defer db.Close()
	rows, err := db.Query("SELECT k || '=' || n FROM counts ORDER BY k")
	if err != nil {
		k.t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			k.t.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		k.t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func (k *keeper) store() string {
	s, err := openStore(k.log)
	if err != nil {
		k.t.Fatal(err)
	}
	s.fold()
	var out []string
	for key, v := range s.values {
		out = append(out, fmt.Sprintf("%s=%d", key.key, v[0]))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestStoreAndTable kills the process between the store and the table: the batch that runs again gives what it would have.
func TestStoreAndTable(t *testing.T) {
	k := newKeeper(t, "kv:seen", "sql:db")
	s := k.start()
	if err := k.batch(s, 0, false, "a", "b", "a"); err != nil {
		t.Fatal(err)
	}
	k.log.crash = true
	if err := k.batch(s, 1, false, "a", "c"); err == nil {
		t.Fatal("did not fail")
	}
	if got := k.table(); got != "a=2 b=1" {
		t.Errorf("before the replay: %s", got)
	}
	for range 3 { // and again, when all is there
		s.Close()
		s = k.start()
		if err := k.batch(s, 1, true, "a", "c"); err != nil {
			t.Fatal(err)
		}
		if got, want := k.table(), "a=3 b=1 c=1"; got != want || k.store() != want {
			t.Errorf("table %s, store %s, want %s", got, k.store(), want)
		}
	}
	for i := range 200 {
		if err := k.batch(s, int64(2+i), false, "d"); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.store(); !strings.Contains(got, "d=200") || len(k.log.batches) > 2*compactAfter {
		t.Errorf("%s in %d entries", got, len(k.log.batches))
	}
	s.Close()
}

// TestStoreAlone hands a batch over once, by the store's own note of it.
func TestStoreAlone(t *testing.T) {
	k := newKeeper(t, "kv:seen")
	s := k.start()
	if err := k.batch(s, 0, false, "a", "a"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = k.start()
	defer s.Close()
	if err := k.batch(s, 0, true, "a", "a"); err != nil {
		t.Fatal(err)
	}
	if got := k.store(); got != "a=2" || len(k.log.batches) != 1 {
		t.Errorf("%s in %d entries", got, len(k.log.batches))
	}
}

// TestDenied names what the guest would have needed.
func TestDenied(t *testing.T) {
	k := newKeeper(t)
	s := k.start()
	defer s.Close()
	err := k.batch(s, 0, false, "a")
	if want := "(denied: kv:seen; add it to the module's `allow`)"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestProduce sends records within the batch's transaction: a batch that was given up is not seen, and one that was
// committed is not sent again.
func TestProduce(t *testing.T) {
	f, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "counts"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	k := newKeeper(t, "kv:seen", "sql:db", "produce:counts")
	k.brokers = f.ListenAddrs()[0]
	s := k.start()
	if err := k.batch(s, 0, false, "a", "b"); err != nil {
		t.Fatal(err)
	}
	k.log.crash = true
	if err := k.batch(s, 1, false, "a"); err == nil {
		t.Fatal("did not fail")
	}
	for range 2 {
		s.Close()
		s = k.start()
		if err := k.batch(s, 1, true, "a"); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if got, want := k.records(4), "a=1 a=2 b=1"; got != want {
		t.Errorf("records %s, want %s", got, want)
	}
}

// records reads what readers of committed records see of the topic.
func (k *keeper) records(most int) string {
	c, err := kgo.NewClient(kgo.SeedBrokers(k.brokers), kgo.ConsumeTopics("counts"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		k.t.Fatal(err)
	}
	defer c.Close()
	seen := map[string]int{}
	for n := 0; n < most; {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		fetches := c.PollFetches(ctx)
		over := ctx.Err() != nil
		cancel()
		fetches.EachRecord(func(r *kgo.Record) {
			seen[string(r.Key)+"="+string(r.Value)]++
			n++
		})
		if over {
			break
		}
	}
	var out []string
	for _, r := range slices.Sorted(maps.Keys(seen)) {
		out = append(out, strings.Repeat(r+" ", seen[r]))
	}
	return strings.TrimSpace(strings.Join(out, ""))
}
