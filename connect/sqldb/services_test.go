package sqldb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/testservice"
)

// each runs a test with a connection to each database that is there.
func each(t *testing.T, f func(t *testing.T, c connector.Connection)) {
	t.Run("sqlite", func(t *testing.T) {
		f(t, connector.Connection{Name: "db", Driver: "sqlite", DSN: filepath.Join(t.TempDir(), "a b%#.db")})
	})
	t.Run("postgres", func(t *testing.T) {
		f(t, connector.Connection{Name: "db", Driver: "postgres", DSN: testservice.Postgres(t)})
	})
	t.Run("mysql", func(t *testing.T) {
		f(t, connector.Connection{Name: "db", Driver: "mysql", DSN: testservice.MySQL(t)})
	})
}

// environment is that of a sink with one connection.
func environment(c connector.Connection, name string, shared *connector.Shared) connector.Env {
	return connector.Env{
		Name: name, Shared: shared, Connection: func(string) (connector.Connection, error) { return c, nil },
	}
}

func rowsOf(t *testing.T, ddl string, rows ...[]columnar.Datum) *columnar.Batch {
	t.Helper()
	s, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	b := columnar.NewBatch(s, nil, len(rows))
	for i, f := range s.Fields {
		var col []columnar.Datum
		for _, r := range rows {
			col = append(col, r[i])
		}
		b.Columns = append(b.Columns, columnar.FromData(f.Type, col...))
	}
	return b
}

// ask is the result of a query as text.
func ask(t *testing.T, c connector.Connection, query string) string {
	t.Helper()
	db, err := Open(connector.Env{}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out strings.Builder
	err = db.retry(t.Context(), func(s session) error {
		if !strings.HasPrefix(query, "SELECT") {
			_, err := s.exec(t.Context(), query)
			return err
		}
		return s.query(t.Context(), query, nil, func(v [][]byte) error {
			for i, x := range v {
				if x == nil {
					x = []byte("NULL")
				}
				fmt.Fprintf(&out, "%.*s%s", i, " ", x)
			}
			out.WriteByte('\n')
			return nil
		})
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out.String()
}

// write commits one batch.
func write(ctx context.Context, s connector.Sink, info connector.BatchInfo, rows ...*columnar.Batch) error {
	w, err := s.Begin(ctx, info)
	if err != nil {
		return err
	}
	for _, b := range rows {
		if err := w.Write(ctx, b); err != nil {
			return errors.Join(err, w.Abort(ctx))
		}
	}
	return w.Commit(ctx)
}

func open(t *testing.T, c connector.Connection, env connector.Env, options ...string) connector.Sink {
	t.Helper()
	m := map[string]string{"connection": "db"}
	for i := 0; i < len(options); i += 2 {
		m[options[i]] = options[i+1]
	}
	s, err := newSink(c.Driver, env, connector.NewOptions(m))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestTwoWriters has two sinks write to one table at the same time, as two queries of a process do.
func TestTwoWriters(t *testing.T) {
	each(t, func(t *testing.T, c connector.Connection) {
		ask(t, c, "DROP TABLE IF EXISTS two_writers")
		var shared connector.Shared
		var wg sync.WaitGroup
		for k := range 2 {
			s := open(t, c, environment(c, fmt.Sprintf("sink%d", k), &shared), "table", "two_writers", "mode", "upsert", "key", "[k]")
			wg.Go(func() {
				for i := range int64(20) {
					b := rowsOf(t, "k INT NOT NULL, n BIGINT", []columnar.Datum{int32(0), i}, []columnar.Datum{int32(k + 1), i})
					if err := write(t.Context(), s, connector.BatchInfo{QueryID: t.Name(), BatchID: i, Schema: b.Schema}, b); err != nil {
						t.Errorf("sink %d: batch %d: %v", k, i, err)
					}
				}
			})
		}
		wg.Wait()
		if got := ask(t, c, "SELECT k, n FROM two_writers ORDER BY k"); got != "0 19\n1 19\n2 19\n" {
			t.Errorf("got\n%s", got)
		}
		ask(t, c, "DELETE FROM "+LedgerTable+" WHERE query_id = '"+t.Name()+"'")
	})
}

// TestCreateAtOnce has many transactions make the same table, as guests of several queries do in their first batches, and write
// to it: each of them is committed.
func TestCreateAtOnce(t *testing.T) {
	each(t, func(t *testing.T, c connector.Connection) {
		for round := range 5 {
			ask(t, c, "DROP TABLE IF EXISTS at_once")
			var shared connector.Shared
			var wg sync.WaitGroup
			const queries = 6
			for k := range queries {
				wg.Go(func() {
					db, err := Open(environment(c, fmt.Sprintf("sink%d", k), &shared), c)
					if err != nil {
						t.Error(err)
						return
					}
					defer db.Close()
					b := rowsOf(t, "k INT NOT NULL, n BIGINT", []columnar.Datum{int32(k), int64(round)})
					info := connector.BatchInfo{QueryID: fmt.Sprintf("%s-%d-%d", t.Name(), round, k), Schema: b.Schema}
					tx, err := db.Begin(t.Context(), "out", info)
					if err != nil {
						t.Error(err)
						return
					}
					one := &columnar.Batch{Schema: &columnar.Schema{}, Rows: 1}
					if _, err = tx.Exec(t.Context(), "create table\n IF NOT exists at_once (k INT NOT NULL PRIMARY KEY, n BIGINT)", one); err == nil {
						if _, err = tx.Exec(t.Context(), "INSERT INTO at_once (k, n) VALUES ($1, $2)", b); err == nil {
							err = tx.Commit(t.Context())
						}
					}
					if err != nil {
						t.Errorf("query %d: %v", k, errors.Join(err, tx.Rollback(t.Context())))
					}
				})
			}
			wg.Wait()
			if got := ask(t, c, "SELECT count(*) FROM at_once"); got != fmt.Sprintf("%d\n", queries) {
				t.Errorf("%s rows, want %d", got, queries)
			}
		}
		ask(t, c, "DELETE FROM "+LedgerTable+" WHERE query_id LIKE '"+t.Name()+"%'")
	})
}

// proxy stands before a server and can lose what it answers.
type proxy struct {
	server string
	listen net.Listener
	lose   atomic.Bool // the answer to the next COMMIT
	cut    atomic.Bool // the connection before the next INSERT
}

func newProxy(t *testing.T, server string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{server: server, listen: l}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	var mute atomic.Bool
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := client.Read(buf)
			if err != nil {
				server.Close()
				return
			}
			if bytes.Contains(buf[:n], []byte("COMMIT")) && p.lose.CompareAndSwap(true, false) {
				mute.Store(true)
			}
			if bytes.Contains(buf[:n], []byte("INSERT INTO")) && p.cut.CompareAndSwap(true, false) {
				client.Close()
				server.Close()
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err == io.EOF || err != nil {
			return
		}
		if mute.Load() {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestLostConnection loses a connection in the middle of a transaction, and the answer to a COMMIT that has happened.
func TestLostConnection(t *testing.T) {
	each(t, func(t *testing.T, c connector.Connection) {
		var p *proxy
		through := c
		switch c.Driver {
		case "sqlite":
			t.Skip("there is no connection")
		case "postgres":
			u, err := url.Parse(c.DSN)
			if err != nil {
				t.Fatal(err)
			}
			p = newProxy(t, u.Host)
			u.Host = p.listen.Addr().String()
			through.DSN = u.String()
		case "mysql":
			config, err := mysql.ParseDSN(c.DSN)
			if err != nil {
				t.Fatal(err)
			}
			p = newProxy(t, config.Addr)
			config.Addr = p.listen.Addr().String()
			through.DSN = config.FormatDSN()
		}
		ask(t, c, "DROP TABLE IF EXISTS lost")
		s := open(t, c, environment(through, "sink", nil), "table", "lost")
		for i := range int64(4) {
			b := rowsOf(t, "n BIGINT", []columnar.Datum{i}, []columnar.Datum{i + 100})
			switch i {
			case 1:
				p.cut.Store(true)
			case 2, 3:
				p.lose.Store(true)
			}
			if err := write(t.Context(), s, connector.BatchInfo{QueryID: t.Name(), BatchID: i, Schema: b.Schema}, b); err != nil {
				t.Fatalf("batch %d: %v", i, err)
			}
		}
		if p.cut.Load() || p.lose.Load() {
			t.Error("nothing was lost")
		}
		if got := ask(t, c, "SELECT n FROM lost ORDER BY n"); got != "0\n1\n2\n3\n100\n101\n102\n103\n" {
			t.Errorf("got\n%s", got)
		}
		ask(t, c, "DELETE FROM "+LedgerTable+" WHERE query_id = '"+t.Name()+"'")
	})
}

// TestAccumulate runs a statement whose rows touch the same row of the table several times.
func TestAccumulate(t *testing.T) {
	each(t, func(t *testing.T, c connector.Connection) {
		ask(t, c, "DROP TABLE IF EXISTS accumulate")
		ask(t, c, "CREATE TABLE accumulate (k VARCHAR(10) PRIMARY KEY, n INT)")
		db, err := Open(connector.Env{}, c)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		info := connector.BatchInfo{QueryID: t.Name(), BatchID: 0}
		tx, err := db.Begin(t.Context(), "sink", info)
		if err != nil {
			t.Fatal(err)
		}
		b := rowsOf(t, "k STRING, n BIGINT", []columnar.Datum{"a", int64(1)}, []columnar.Datum{"b", int64(2)}, []columnar.Datum{"a", int64(-5)}, []columnar.Datum{"a", nil})
		add := "INSERT INTO accumulate (k, n) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET n = accumulate.n + COALESCE(excluded.n, 10)"
		if _, err := tx.Exec(t.Context(), add, b); err != nil {
			t.Fatal(err)
		}
		n, err := tx.Exec(t.Context(), "UPDATE accumulate SET n = n * $2 WHERE k = $1", rowsOf(t, "k STRING, f INT", []columnar.Datum{"a", int32(3)}, []columnar.Datum{"z", int32(3)}))
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, c, "SELECT k, n FROM accumulate ORDER BY k"); got != "a 18\nb 2\n" {
			t.Errorf("got\n%s", got)
		}
		tx, err = db.Begin(t.Context(), "sink", info)
		if err != nil || !tx.Done() {
			t.Errorf("the ledger does not have the batch: %v", err)
		}
		tx.Rollback(t.Context())
		ask(t, c, "DELETE FROM "+LedgerTable+" WHERE query_id = '"+t.Name()+"'")
	})
}

// TestForeignTypes writes to a table that somebody else has made, with columns of other types.
func TestForeignTypes(t *testing.T) {
	c := connector.Connection{Name: "db", Driver: "postgres", DSN: testservice.Postgres(t)}
	ask(t, c, `DROP TABLE IF EXISTS "Foreign"`)
	ask(t, c, "DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'ok')")
	ask(t, c, `CREATE TABLE "Foreign" (id uuid, small smallint, big numeric, t timestamp, d date, v varchar(5), m mood, j jsonb, i integer, extra int DEFAULT 7, iv interval)`)
	s := open(t, c, environment(c, "sink", nil), "table", "Foreign")
	const ddl = "ID STRING, small BIGINT, big INT, t TIMESTAMP, d TIMESTAMP, v STRING, m STRING, j STRING, i DECIMAL(5,0), iv INTERVAL DAY TO SECOND"
	row := func(small int64, v string) []columnar.Datum {
		return []columnar.Datum{
			"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", small, int32(5), int64(1_500_000), int64(86_400_000_000), v, "ok", `{"a":"x,\"y"}`,
			columnar.Dec128FromInt64(42), int64(90_000_000),
		}
	}
	b := rowsOf(t, ddl, row(7, "né"), row(-7, `"\`))
	if err := write(t.Context(), s, connector.BatchInfo{QueryID: t.Name(), BatchID: 0, Schema: b.Schema}, b); err != nil {
		t.Fatal(err)
	}
	want := "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 -7 5 1970-01-01 00:00:01.5 1970-01-02 \"\\ ok {\"a\": \"x,\\\"y\"} 42 7 00:01:30\n" +
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11 7 5 1970-01-01 00:00:01.5 1970-01-02 né ok {\"a\": \"x,\\\"y\"} 42 7 00:01:30\n"
	if got := ask(t, c, `SELECT id, small, big, t, d, v, m, j, i, extra, iv FROM "Foreign" ORDER BY small`); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, bad := range []struct {
		row  []columnar.Datum
		want string
	}{{row(40000, "x"), `column "small": 40000 does not fit`}, {row(1, "too long"), "widen the column"}} {
		b := rowsOf(t, ddl, bad.row, bad.row)
		err := write(t.Context(), s, connector.BatchInfo{QueryID: t.Name(), BatchID: 1, Schema: b.Schema}, b)
		if err == nil || !strings.Contains(err.Error(), bad.want) || !strings.Contains(err.Error(), `table "Foreign"`) {
			t.Errorf("got %v, want %q", err, bad.want)
		}
	}
	ask(t, c, "DELETE FROM "+LedgerTable+" WHERE query_id = '"+t.Name()+"'")
}

// TestNumeric writes decimals in PostgreSQL's binary format.
func TestNumeric(t *testing.T) {
	c := connector.Connection{Name: "db", Driver: "postgres", DSN: testservice.Postgres(t)}
	ask(t, c, "DROP TABLE IF EXISTS decimals")
	ask(t, c, "CREATE TABLE decimals (i int, n numeric)")
	var rows [][]columnar.Datum
	var want strings.Builder
	for _, text := range []string{"0", "1", "-1", "9999", "10000", "10001", "-12345678", "99999999999999999999999999999999999999", "-1000000000000000000000000000000000000"} {
		for _, scale := range []int{0, 3, 4, 9} {
			d, ok := parseDec(text)
			if !ok {
				t.Fatal(text)
			}
			rows = append(rows, []columnar.Datum{int32(len(rows)), d, int32(scale)})
			fmt.Fprintf(&want, "%s\n", columnar.AppendDec(nil, d, scale))
		}
	}
	for _, scale := range []int{0, 3, 4, 9} {
		var part [][]columnar.Datum
		for _, r := range rows {
			if r[2] == int32(scale) {
				part = append(part, r[:2])
			}
		}
		s := open(t, c, environment(c, fmt.Sprintf("sink%d", scale), nil), "table", "decimals")
		b := rowsOf(t, fmt.Sprintf("i INT, n DECIMAL(38,%d)", scale), part...)
		if err := write(t.Context(), s, connector.BatchInfo{QueryID: t.Name(), BatchID: 0, Schema: b.Schema}, b); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, c, "SELECT n FROM decimals ORDER BY i"); got != want.String() {
		t.Errorf("got\n%swant\n%s", got, want.String())
	}
	ask(t, c, "DELETE FROM "+LedgerTable+" WHERE query_id = '"+t.Name()+"'")
}

func parseDec(s string) (columnar.Dec128, bool) {
	neg := strings.HasPrefix(s, "-")
	d := columnar.Dec128{}
	for _, c := range strings.TrimPrefix(s, "-") {
		var ok bool
		if d, ok = d.MulInt64(10); !ok {
			return d, false
		}
		if d, ok = d.Add(columnar.Dec128FromInt64(int64(c - '0'))); !ok {
			return d, false
		}
	}
	if neg {
		d = d.Neg()
	}
	return d, true
}
