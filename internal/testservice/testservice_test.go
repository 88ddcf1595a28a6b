package testservice_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/internal/testservice"
)

// TestKafka shows that the broker keeps a transaction's records and hides an aborted one's from a reader of committed
// records, which every exactly-once test builds upon.
func TestKafka(t *testing.T) {
	broker := testservice.Kafka(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	topic := fmt.Sprintf("testservice-%d-%d", os.Getpid(), time.Now().UnixNano())

	producer, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	admin := kadm.NewClient(producer)
	if _, err := admin.CreateTopic(ctx, 1, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := admin.DeleteTopics(context.WithoutCancel(ctx), topic); err != nil {
			t.Error(err)
		}
	}()
	for _, batch := range []struct {
		value string
		end   kgo.TransactionEndTry
	}{{"kept", kgo.TryCommit}, {"aborted", kgo.TryAbort}, {"kept too", kgo.TryCommit}} {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(ctx, kgo.StringRecord(batch.value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := producer.EndTransaction(ctx, batch.end); err != nil {
			t.Fatal(err)
		}
	}

	consumer, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	var got []string
	for len(got) < 2 {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
	}
	if want := []string{"kept", "kept too"}; !slices.Equal(got, want) {
		t.Errorf("committed records: got %q, want %q", got, want)
	}
}

// TestPostgres shows that the server answers and knows ON CONFLICT.
func TestPostgres(t *testing.T) {
	ctx := t.Context()
	db, err := pgx.Connect(ctx, testservice.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(ctx))
	for _, statement := range []string{
		"CREATE TEMPORARY TABLE t (k int PRIMARY KEY, n int)",
		"INSERT INTO t VALUES (1, 1)",
		"INSERT INTO t VALUES (1, 2) ON CONFLICT (k) DO UPDATE SET n = t.n + excluded.n",
	} {
		if _, err := db.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var n int
	if err := db.QueryRow(ctx, "SELECT n FROM t").Scan(&n); err != nil || n != 3 {
		t.Errorf("n = %d, %v, want 3", n, err)
	}
}

// TestMySQL shows that the server answers and knows ON DUPLICATE KEY.
func TestMySQL(t *testing.T) {
	ctx := t.Context()
	db, err := sql.Open("mysql", testservice.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{
		"CREATE TEMPORARY TABLE t (k int PRIMARY KEY, n int)",
		"INSERT INTO t VALUES (1, 1)",
		"INSERT INTO t VALUES (1, 2) ON DUPLICATE KEY UPDATE n = n + VALUES(n)",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var n int
	if err := conn.QueryRowContext(ctx, "SELECT n FROM t").Scan(&n); err != nil || n != 3 {
		t.Errorf("n = %d, %v, want 3", n, err)
	}
}
