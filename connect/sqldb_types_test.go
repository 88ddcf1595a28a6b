package connect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/connect"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// everyType is a value of each type, with the name of its column, its type, and SQL for it.
var everyType = [...]struct{ name, typ, value string }{
	{"b", "BOOLEAN", "true"},
	{"i8", "TINYINT", "-128Y"},
	{"i16", "SMALLINT", "32767S"},
	{"i32", "INT", "-2147483648"},
	{"i64", "BIGINT", "9223372036854775807L"},
	{"f", "FLOAT", "CAST(0.1 AS FLOAT)"},
	{"d", "DOUBLE", "1.7976931348623157E308D"},
	{"m", "DECIMAL(10,2)", "CAST('-12345678.90' AS DECIMAL(10,2))"},
	{"w", "DECIMAL(38,0)", "CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0))"},
	{"w38", "DECIMAL(38,38)", "CAST('-0.00000000000000000000000000000000000001' AS DECIMAL(38,38))"},
	{"s", "STRING", "'it''s \\\\ \"中国\" 😀'"},
	{"empty", "STRING", "''"},
	{"x", "BINARY", "X'00FF5C27'"},
	{"nox", "BINARY", "X''"},
	{"dt", "DATE", "DATE'0001-01-01'"},
	{"ts", "TIMESTAMP", "TIMESTAMP'2026-10-06 12:03:11.000001Z'"},
	{"ts0", "TIMESTAMP", "TIMESTAMP'1969-12-31 23:59:59.999999-05:00'"},
	{"nt", "TIMESTAMP_NTZ", "TIMESTAMP_NTZ'1960-01-02 03:04:05.5'"},
	{"tm", "TIME(6)", "TIME'23:59:59.999999'"},
	{"ym", "INTERVAL YEAR TO MONTH", "INTERVAL '-1-2' YEAR TO MONTH"},
	{"dtm", "INTERVAL DAY TO SECOND", "INTERVAL '-3 04:05:06.7' DAY TO SECOND"},
	{"dd", "INTERVAL DAY", "INTERVAL '5' DAY"},
	{"a", "ARRAY<INT>", "array(1, NULL, 3)"},
	{"o", "STRUCT<p: INT, q: STRING>", "named_struct('p', 1, 'q', 'z')"},
	{"mp", "MAP<STRING, DECIMAL(5,1)>", "map('k', CAST(1.5 AS DECIMAL(5,1)))"},
	{"mi", "MAP<INT, DATE>", "map(7, DATE'2024-02-29')"},
	{"v", "VARIANT", "parse_json('{\"a\":[1,\"x\",null]}')"},
	{"deep", "ARRAY<STRUCT<t: TIMESTAMP, x: BINARY>>", "array(named_struct('t', TIMESTAMP'2024-01-02 03:04:05.123456Z', 'x', X'01FF'))"},
}

// TestEveryType writes a value of each type of ours, and a row of nulls, to each database, and reads the table back as a static
// source with the same types: every value is the one that was written. In place of the expected values stand the same expressions.
func TestEveryType(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		b.reset(t, d, "every_type")
		var values, nulls, schema, same []string
		for _, c := range everyType {
			values = append(values, c.value+" AS "+c.name)
			nulls = append(nulls, "CAST(NULL AS "+c.typ+") AS "+c.name)
			schema = append(schema, c.name+" "+c.typ)
			text := "to_json(struct(back." + c.name + "))"
			if c.typ == "VARIANT" {
				text = "to_json(back.v)"
			}
			want := strings.NewReplacer("back."+c.name, c.value+" AS "+c.name).Replace(text)
			if c.typ == "VARIANT" {
				want = "to_json(" + c.value + ")"
			}
			same = append(same, "CASE WHEN n = 1 AND "+text+" <=> "+want+" OR n = 2 AND back."+c.name+" IS NULL THEN '' ELSE concat('"+c.name+": ', coalesce("+text+", 'null'), ' ') END")
		}
		b.write("one/1.json", `{"n":1}`+"\n"+`{"n":2}`+"\n")
		head := strings.Replace(strings.Replace(d.head(b), "schema: k STRING, n INT", "schema: n INT", 1), "path: in,", "path: one,", 1)
		quoted := func(sql string) string { return "\n    sql: |\n      " + sql + "\n" }
		text := head + "  back: {format: " + d.format + ", static: true, schema: \"n INT, " + strings.Join(schema, ", ") + "\", options: {connection: db, table: every_type}}\n" +
			"  two: {format: json, schema: n2 INT, options: {path: two}}\n" +
			"views:\n  rows:" + quoted("SELECT n, "+strings.Join(values, ", ")+" FROM input WHERE n = 1 UNION ALL SELECT n, "+strings.Join(nulls, ", ")+" FROM input WHERE n = 2") +
			"  compared:" + quoted("SELECT n, concat("+strings.Join(same, ", ")+") AS differs FROM two JOIN back ON two.n2 = back.n") +
			"sinks:\n  out: {from: rows, format: " + d.format + ", options: {connection: db, table: every_type}, trigger: {availableNow: true}, checkpointLocation: checkpoint}\n" +
			"  show: {from: compared, format: json, options: {path: show}, trigger: {availableNow: true}, checkpointLocation: checkpoint2}\n"
		b.write("two/1.json", `{"n2":1}`+"\n"+`{"n2":2}`+"\n")
		b.mustRun(text, "out")
		b.mustRun(text, "show")
		if got, want := b.content("show"), `{"n":1,"differs":""}`+"\n"+`{"n":2,"differs":""}`+"\n"; got != want {
			t.Errorf("values that differ: %s", got)
		}
	})
}

// TestTypePages makes a table with a column of each type of a database's page, and reads it without a schema: the types are those
// of the page.
func TestTypePages(t *testing.T) {
	databases(t, func(t *testing.T, b *bench, d *database) {
		b.reset(t, d, "type_pages")
		var spec *connector.Spec
		for _, s := range connect.All() {
			if s.Format == d.format {
				spec = s
			}
		}
		var casts []string
		for i, m := range spec.Types {
			casts = append(casts, fmt.Sprintf("CAST(NULL AS %s) AS c%d", m.Ours, i))
		}
		b.mustRun(d.head(b)+"views:\n  v: {sql: \"SELECT "+strings.Join(casts, ", ")+" FROM input\"}\n"+
			"sinks:\n  out: {from: v, format: "+d.format+", options: {connection: db, table: type_pages}, trigger: {availableNow: true}, checkpointLocation: checkpoint}\n", "out")
		s, err := spec.NewSource(connector.Env{Name: "back", Static: true, FS: vfs.OS(), BaseDir: b.dir, Zone: time.UTC, Shared: new(connector.Shared)},
			connector.NewOptions(map[string]string{"dsn": d.dsn, "table": "type_pages"}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i, f := range s.Schema().Fields {
			if m := spec.Types[i]; f.Type.SQL() != m.Back {
				t.Errorf("%s: a column of type %s is read as %s, the page says %s", m.Ours, m.Theirs, f.Type.SQL(), m.Back)
			}
		}
	})
}
