package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/internal/generate"
	"github.com/wstream/wstream/internal/testdirs"
	"github.com/wstream/wstream/internal/testservice"
)

// ownDatabase makes a database that no other test knows, since the guest's table has one name, and returns its address.
func ownDatabase(t *testing.T, dsn string) string {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	name := fmt.Sprintf("soak_%d", time.Now().UnixNano())
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP DATABASE " + name + " WITH (FORCE)") })
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// TestSoakClicks kills the main job with kill -9 every one to six seconds for as long as WSTREAM_SOAK says (30m), while
// clicks arrive in a real broker, and compares the tables of a real PostgreSQL and the Parquet files with the answer. It
// looks at the commit logs after every kill: no entry may change, none may be missing. WSTREAM_CLICKS is the number of
// clicks for each second (1,500), WSTREAM_TEST_SEED decides the moments.
func TestSoakClicks(t *testing.T) {
	if os.Getenv("WSTREAM_SOAK") == "" {
		t.Skip("WSTREAM_SOAK is not set: `make soak` runs this for 30 minutes")
	}
	lasts, err := time.ParseDuration(os.Getenv("WSTREAM_SOAK"))
	if err != nil {
		t.Fatalf("WSTREAM_SOAK: %v", err)
	}
	bin, broker, dsn := testdirs.Program(t), testservice.Kafka(t), ownDatabase(t, testservice.Postgres(t))
	topic := fmt.Sprintf("clicks-soak-%d", time.Now().UnixNano())
	table := fmt.Sprintf("soak_%d", time.Now().UnixNano())
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir := setUp(t, "postgres", dsn, kafkaSource(broker, topic))
	// A second table by the sink itself, which only appends: a batch that is published twice shows as rows that stand there twice.
	addSink(t, dir, fmt.Sprintf(`  appended:
    from: per_window
    format: postgres
    options: {connection: analytics, table: %s}
    checkpointLocation: checkpoint/appended
settings: {keepBatches: 2000}
`, table))
	perSecond := number("WSTREAM_CLICKS", 1500)
	total := int(lasts.Seconds()) * perSecond
	make4(t, broker, topic)
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	lines := make(chan []byte, 1)
	go func() { lines <- feed(t, ctx, broker, topic, mustFind(t), perSecond, total) }()

	sd := seed()
	rng := rand.New(rand.NewPCG(sd, 0))
	histories := []*history{
		newHistory(filepath.Join(dir, "checkpoint/archive")), newHistory(filepath.Join(dir, "checkpoint/table")),
		newHistory(filepath.Join(dir, "checkpoint/appended")),
	}
	kills := 0
	for ctx.Err() == nil {
		if killAfter(t, bin, dir, time.Duration(1000+rng.IntN(5000))*time.Millisecond) {
			kills++
		}
		for _, h := range histories {
			h.look(t)
		}
		if t.Failed() {
			t.Fatalf("seed %d: after kill %d", sd, kills)
		}
		if kills%50 == 0 {
			t.Logf("%d kills, %s", kills, histories[1])
		}
	}
	want := expected(t, <-lines)
	cmd := exec.Command(bin, "run", "--available-now", filepath.Join(dir, "clicks.yaml"))
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("the last run: %v\n%s", err, out.String())
	}
	t.Logf("seed %d: %s, %d kills with SIGKILL, %d windows expected", sd, lasts, kills, len(want))
	for _, h := range histories {
		h.check(t)
		t.Logf("%s: %s", filepath.Base(h.dir), h)
	}
	compare(t, db, `SELECT extract(epoch FROM window_start)::bigint, url, cnt FROM clicks_per_window`, want)
	checkArchive(t, bin, dir, want)
	var rows, keys int
	if err := db.QueryRow(`SELECT count(*), count(DISTINCT (window_start, url)) FROM `+table).Scan(&rows, &keys); err != nil {
		t.Fatal(err)
	}
	if rows != keys || rows == 0 {
		t.Errorf("the table that is appended to has %d rows of %d windows", rows, keys)
	}
	t.Logf("appended: %d rows, none twice", rows)
}

// killAfter runs the pipeline and kills it after a time; false if it had ended before.
func killAfter(t *testing.T, bin, dir string, wait time.Duration) bool {
	t.Helper()
	cmd := exec.Command(bin, "run", filepath.Join(dir, "clicks.yaml"))
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-time.After(wait):
		killed := cmd.Process.Signal(syscall.SIGKILL) == nil
		<-done
		return killed
	case err := <-done:
		t.Fatalf("the query ended by itself: %v\n%s", err, out.String())
		return false
	}
}

// addSink writes more lines behind the pipeline's sinks.
func addSink(t *testing.T, dir, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "clicks.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// make4 makes a topic of four partitions.
func make4(t *testing.T, broker, topic string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 4, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
}

// feed produces clicks at a steady rate until ctx ends or all are there, and returns them.
func feed(t *testing.T, ctx context.Context, broker, topic string, kind generate.Kind, perSecond, total int) []byte {
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer cl.Close()
	gen := kind.Rows(generate.Part{Seed: 7, Total: total})
	var all []byte
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; n < total && ctx.Err() == nil; {
		for range min(perSecond/10, total-n) {
			from := len(all)
			all = append(gen.Append(all), '\n')
			value := append([]byte(nil), all[from:len(all)-1]...)
			cl.Produce(context.WithoutCancel(ctx), &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
				if err != nil {
					t.Error(err)
				}
			})
			n++
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	if err := cl.Flush(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
	return all
}
