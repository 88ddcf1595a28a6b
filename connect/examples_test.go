package connect_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/stream"
	"github.com/wstream/wstream/internal/testservice"
	"github.com/wstream/wstream/pipeline"
)

// TestExamples runs the example of every connector, as it stands in its page, with the services that it needs.
func TestExamples(t *testing.T) {
	for _, s := range connect.All() {
		t.Run(s.Format, func(t *testing.T) {
			b := newBench(t)
			work := exampleWorld(t, b, s.Format)
			text := "name: example\n" + s.Example
			r, err := b.open(text)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.File.Sinks) != 1 {
				t.Fatalf("the example has %d sinks, want 1", len(r.File.Sinks))
			}
			spec, err := r.Spec(r.File.Sinks[0], pipeline.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			rows := make(chan int64, 1000)
			spec.Listeners = append(spec.Listeners, stream.Listener{Progress: func(p stream.Progress) {
				select {
				case rows <- p.NumInputRows:
				default:
				}
			}})
			q, err := stream.Start(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if work != nil {
				work()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for {
				select {
				case n := <-rows:
					if n == 0 {
						continue
					}
				case <-ctx.Done():
					t.Errorf("no rows within a minute: %v", q.Exception())
				}
				break
			}
			if err := q.Stop(context.Background()); err != nil {
				t.Error(err)
			}
			if err := q.Exception(); err != nil {
				t.Error(err)
			}
		})
	}
}

// exampleWorld prepares what the example of a format needs, and returns what must be done once it runs.
func exampleWorld(t *testing.T, b *bench, format string) func() {
	t.Helper()
	switch format {
	case "json", "csv", "text", "parquet", "avro", "arrow":
		b.write("people.json", `{"id":1,"name":"Ada"}`+"\n"+`{"id":2,"name":"Grace"}`+"\n")
		columns := "id, name"
		if format == "text" {
			columns = "name AS value"
		}
		b.mustRun("name: make\nsources:\n  people: {format: json, schema: 'id INT, name STRING', options: {path: people.json}}\n"+
			"views:\n  v: {sql: 'SELECT "+columns+" FROM people'}\n"+
			"sinks:\n  made: {from: v, format: "+format+", options: {path: incoming}, checkpointLocation: made, trigger: {availableNow: true}}\n", "made")
	case "postgres", "mysql":
		driver, dsn := "pgx", ""
		if format == "postgres" {
			dsn = testservice.Postgres(t)
		} else {
			driver, dsn = "mysql", testservice.MySQL(t)
		}
		t.Setenv("ANALYTICS_DSN", dsn)
		db, err := sql.Open(driver, dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		if _, err := db.Exec("DROP TABLE IF EXISTS ticks_per_key"); err != nil {
			t.Fatal(err)
		}
	case "kafka":
		return kafkaWorld(t)
	case "nats":
		natsWorld(t)
	case "socket":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		_, port, _ := net.SplitHostPort(l.Addr().String())
		t.Setenv("PORT", port)
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			w := bufio.NewWriter(c)
			for w.Flush() == nil {
				fmt.Fprintln(w, "a line")
				time.Sleep(50 * time.Millisecond)
			}
		}()
	case "http":
		address := freeAddress(t)
		t.Setenv("LISTEN", address)
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(server.Close)
		t.Setenv("HOOK", server.URL)
		return func() {
			answer, err := http.Post("http://"+address+"/rows", "application/x-ndjson", strings.NewReader("{}\n"))
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
		}
	}
	return nil
}

func kafkaWorld(t *testing.T) func() {
	t.Helper()
	brokers := testservice.Kafka(t)
	t.Setenv("KAFKA", brokers)
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopics(t.Context(), 1, 1, nil, "clicks", "totals"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: "clicks", Value: []byte("/")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func natsWorld(t *testing.T) {
	t.Helper()
	url := testservice.NATS(t)
	t.Setenv("NATS", url)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for name, subjects := range map[string]string{"ORDERS": "orders.>", "COPIES": "copies.>"} {
		if _, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subjects}}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { js.DeleteStream(context.Background(), name) }) //nolint:errcheck // the next run takes it as it is
	}
	if _, err := js.Publish(t.Context(), "orders.new", []byte("one")); err != nil {
		t.Fatal(err)
	}
}

// TestPages compares the pages of docs/connectors with the list of connectors: none is left over.
func TestPages(t *testing.T) {
	files, err := os.ReadDir("../docs/connectors")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range connect.All() {
		known[s.Format+".md"] = true
	}
	for _, f := range files {
		if !known[f.Name()] {
			t.Errorf("docs/connectors/%s is the page of no connector", f.Name())
		}
	}
	if len(files) != len(known) {
		t.Errorf("%d pages, %d connectors; run make docs", len(files), len(known))
	}
}
