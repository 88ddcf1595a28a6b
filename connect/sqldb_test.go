package connect_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	_ "modernc.org/sqlite"

	"github.com/wstream/wstream/internal/testservice"
)

// database is one that tests write to.
type database struct {
	format, dsn string
	db          *sql.DB // of mysql and sqlite
	pg          *pgconn.PgConn
}

// databases runs a test with each database that is there.
func databases(t *testing.T, f func(t *testing.T, b *bench, d *database)) {
	for _, format := range []string{"sqlite", "postgres", "mysql"} {
		t.Run(format, func(t *testing.T) {
			b := newBench(t)
			d := &database{format: format}
			switch format {
			case "sqlite":
				d.dsn = filepath.Join(b.dir, "test.db")
			case "postgres":
				d.dsn = testservice.Postgres(t)
			case "mysql":
				d.dsn = testservice.MySQL(t)
			}
			var err error
			if format == "postgres" {
				if d.pg, err = pgconn.Connect(t.Context(), d.dsn); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.pg.Close(context.Background()) })
			} else {
				if d.db, err = sql.Open(format, d.dsn); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { d.db.Close() })
			}
			f(t, b, d)
		})
	}
}

func (d *database) exec(t *testing.T, statement string) {
	t.Helper()
	if d.pg != nil {
		if _, err := d.pg.Exec(t.Context(), statement).ReadAll(); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return
	}
	if _, err := d.db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// rows is a result as text, a line for each row.
func (d *database) rows(t *testing.T, query string) string {
	t.Helper()
	if d.pg != nil {
		results, err := d.pg.Exec(t.Context(), query).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		var out strings.Builder
		for _, row := range results[0].Rows {
			for i, v := range row {
				if i > 0 {
					out.WriteByte(' ')
				}
				if v == nil {
					v = []byte("<nil>")
				}
				out.Write(v)
			}
			out.WriteByte('\n')
		}
		return out.String()
	}
	r, err := d.db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	cols, _ := r.Columns()
	var out strings.Builder
	for r.Next() {
		values, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if i > 0 {
				out.WriteByte(' ')
			}
			if v, ok := v.([]byte); ok {
				out.Write(v)
				continue
			}
			fmt.Fprint(&out, v)
		}
		out.WriteByte('\n')
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// head is the part of a pipeline with the connection and three files of one batch each.
func (d *database) head(b *bench) string {
	for i, text := range []string{
		`{"k":"a","n":1}` + "\n" + `{"k":"b","n":2}` + "\n" + `{"k":null,"n":9}` + "\n",
		`{"k":"a","n":10}` + "\n" + `{"k":"A","n":3}` + "\n" + `{"k":"a ","n":4}` + "\n",
		`{"k":"b","n":5}` + "\n" + `{"k":null,"n":1}` + "\n" + `{"k":"c","n":7}` + "\n",
	} {
		name := fmt.Sprintf("in/%d.json", i)
		b.write(name, text)
		b.stamp(name, i)
	}
	return fmt.Sprintf(`
name: test
connections:
  db: {driver: %s, dsn: %q}
sources:
  input:
    format: json
    schema: k STRING, n INT
    options: {path: in, maxFilesPerTrigger: 1}
`, d.format, d.dsn)
}

func TestUpsert(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		text := d.head(b) + `
views:
  sums: {sql: "SELECT k, count(*) AS cnt, sum(n) AS total FROM input GROUP BY k"}
sinks:
  out:
    from: sums
    format: ` + d.format + `
    options: {connection: db, table: upserts, mode: upsert, key: [k]}
    outputMode: update
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`
		content := func() string { return d.rows(t, "SELECT k, cnt, total FROM upserts ORDER BY total, cnt") }
		survives(t, b, text, "out", func() { b.reset(t, d, "upserts") }, content)
		if got, want := content(), "A 1 3\na  1 4\nb 2 7\nc 1 7\n<nil> 2 10\na 2 11\n"; sorted(got) != sorted(want) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestAppend(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		text := d.head(b) + `
sinks:
  out:
    from: input
    format: ` + d.format + `
    options: {connection: db, table: appends}
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`
		content := func() string { return sorted(d.rows(t, "SELECT k, n FROM appends")) }
		survives(t, b, text, "out", func() { b.reset(t, d, "appends") }, content)
		if got, want := content(), "a 1\nb 2\n<nil> 9\na 10\nA 3\na  4\nb 5\n<nil> 1\nc 7\n"; got != sorted(want) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestComplete(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		text := d.head(b) + `
views:
  sums: {sql: "SELECT k, sum(n) AS total FROM input GROUP BY k"}
sinks:
  out:
    from: sums
    format: ` + d.format + `
    options: {connection: db, table: completes}
    outputMode: complete
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`
		content := func() string { return sorted(d.rows(t, "SELECT k, total FROM completes")) }
		survives(t, b, text, "out", func() { b.reset(t, d, "completes") }, content)
		if got, want := content(), "A 3\na  4\nb 7\nc 7\n<nil> 10\na 11\n"; got != sorted(want) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

// TestTypes writes a value of each type, and reads the table back as a static source.
func TestTypes(t *testing.T) {
	const schema = "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f FLOAT, d DOUBLE, m DECIMAL(10,2), w DECIMAL(38,10), " +
		"s STRING, x BINARY, dt DATE, ts TIMESTAMP, nt TIMESTAMP_NTZ, a ARRAY<INT>, o STRUCT<p: INT, q: STRING>"
	databases(t, func(t *testing.T, b *bench, d *database) {
		b.reset(t, d, "types")
		b.write("types/1.json", `{"b":true,"i8":-8,"i16":16,"i32":-32,"i64":228930314431312345,"f":0.1,"d":1e-7,"m":"12345678.90",`+
			`"w":"-1234567890123456789012345678.0123456789","s":"it's \\ \"中国\"","x":"AP8=","dt":"1969-12-31","ts":"2026-10-06T12:03:11.000001Z",`+
			`"nt":"1960-01-02 03:04:05.5","a":[1,null,3],"o":{"p":1,"q":"z"}}`+"\n"+`{}`+"\n")
		head := strings.Replace(d.head(b), "schema: k STRING, n INT", "schema: "+`"`+schema+`"`, 1)
		head = strings.Replace(head, "path: in,", "path: types,", 1)
		text := head + `
  back:
    format: ` + d.format + `
    static: true
    schema: "` + strings.NewReplacer("a ARRAY<INT>", "a STRING", "o STRUCT<p: INT, q: STRING>", "o STRING").Replace(schema) + `"
    options: {connection: db, table: types}
  again: {format: json, schema: "` + schema + `", options: {path: types}}
views:
  joined: {sql: "SELECT back.* EXCEPT (a, o), back.a LIKE '[1,%3]' AS a2, back.o LIKE '%\"z\"%' AS q FROM again JOIN back ON again.i32 <=> back.i32 WHERE back.i32 IS NOT NULL"}
sinks:
  out:
    from: input
    format: ` + d.format + `
    options: {connection: db, table: types}
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
  show:
    from: joined
    format: console
    options: {truncate: false}
    trigger: {availableNow: true}
`
		b.mustRun(text, "out")
		b.mustRun(text, "show")
		got := b.out.b.String()
		for _, want := range []string{
			"|true|-8 |16 |-32|228930314431312345|0.1|1.0E-7|12345678.90|-1234567890123456789012345678.0123456789|it's \\ \"中国\"",
			"|1969-12-31|2026-10-06 12:03:11.000001|1960-01-02 03:04:05.5|true|true|",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwithout %s", got, want)
			}
		}
	})
}

// TestNUL shows what becomes of text that a database cannot hold.
func TestNUL(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		b.reset(t, d, "nuls")
		head := d.head(b)
		b.write("in/0.json", `{"k":"ok","n":1}`+"\n"+`{"k":"a\u0000b","n":2}`+"\n"+`{"k":"too","n":3}`+"\n")
		text := head + `
sinks:
  out:
    from: input
    format: ` + d.format + `
    options: {connection: db, table: nuls, badText: replace}
    trigger: {availableNow: true}
    checkpointLocation: checkpoint
`
		if d.format == "postgres" {
			if _, err := b.run(strings.Replace(text, "badText: replace", "badText: fail", 1), "out", ""); err == nil || !strings.Contains(err.Error(), `column "k"`) {
				t.Errorf("badText fail: %v", err)
			}
		}
		b.mustRun(text, "out")
		want := "a\x00b"
		if d.format == "postgres" {
			want = "a\uFFFDb"
			if !b.warned(`column "k": 1 values have NUL`) {
				t.Errorf("no warning names the column: %q", b.warn)
			}
		}
		if got := d.rows(t, "SELECT k FROM nuls WHERE n = 2 AND k <> 'b'"); got != want+"\n" {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestTableFaults shows that errors name the table, the column and what to do.
func TestTableFaults(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		head := d.head(b)
		sink := func(options string) string {
			return head + "sinks:\n  out:\n    from: input\n    format: " + d.format + "\n    options: {connection: db, table: faults, " + options +
				"}\n    trigger: {availableNow: true}\n    checkpointLocation: checkpoint\n"
		}
		for _, c := range []struct{ create, options, want string }{
			{"k VARCHAR(20)", "mode: append", `column "n"; add it with ALTER TABLE`},
			{"k VARCHAR(20), n INT", "mode: upsert, key: [k]", "CREATE UNIQUE INDEX"},
			{"k VARCHAR(20) UNIQUE, n INT", "mode: upsert, key: [kk]", `no column "kk"`},
			{"k VARCHAR(20), n SMALLINT NOT NULL", "mode: upsert", `"key" is missing`},
			{"k VARCHAR(20), n SMALLINT NOT NULL", "mode: append, key: k", `did you mean mode: upsert`},
		} {
			b.reset(t, d, "faults")
			d.exec(t, "CREATE TABLE faults ("+c.create+")")
			_, err := b.run(sink(c.options), "out", "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: got %v, want %q", c.create, c.options, err, c.want)
			}
			if err != nil && !strings.Contains(c.want, `"key"`) && !strings.Contains(c.want, "mean") && !strings.Contains(err.Error(), `table "faults"`) {
				t.Errorf("%v does not name the table", err)
			}
		}
	})
}

// lateTable is what the table late has, "" while it is not there.
func lateTable(t *testing.T, d *database) string {
	t.Helper()
	db, err := sql.Open("sqlite", d.dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return (&database{format: "sqlite", db: db}).rows(t, "SELECT t, _watermark FROM late ORDER BY t")
}
