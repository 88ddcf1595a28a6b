package sqldb

import (
	"strings"
	"testing"
)

// TestAdapt shows how statements of guests are written for each database.
func TestAdapt(t *testing.T) {
	for _, c := range []struct{ in, postgres, mysql, sqlite string }{
		{
			`INSERT INTO t (a, b) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET b = excluded.b, n = t.n + 1;`,
			`INSERT INTO t (a, b)  SELECT p.c1, p.c2 FROM unnest($1, $2) AS p(c1, c2) ON CONFLICT (a) DO UPDATE SET b = excluded.b, n = t.n + 1`,
			`INSERT INTO t (a, b) VALUES (@1, @2),(@1, @2) ON DUPLICATE KEY UPDATE b = VALUES(b), n = t.n + 1`,
			`INSERT INTO t (a, b) VALUES (?1, ?2),(?3, ?4) ON CONFLICT (a) DO UPDATE SET b = excluded.b, n = t.n + 1`,
		},
		{
			`insert into "odd (t" values (upper($1 || ')'), $2::int, 7) -- $9` + "\n" + `on conflict ("k") do nothing`,
			`insert into "odd (t"  SELECT upper(p.c1 || ')'), p.c2::int, 7 FROM unnest($1, $2) AS p(c1, c2) on conflict ("k") do nothing`,
			`insert into "odd (t" values (upper(@1 || ')'), @2::int, 7),(upper(@1 || ')'), @2::int, 7) ON DUPLICATE KEY UPDATE "k" = "k"`,
			`insert into "odd (t" values (upper(?1 || ')'), ?2::int, 7),(upper(?3 || ')'), ?4::int, 7) on conflict ("k") do nothing`,
		},
		{`UPDATE t SET a = $2 WHERE k = $1`, ``, `UPDATE t SET a = @2 WHERE k = @1`, `UPDATE t SET a = ?1 WHERE k = ?2`},
		{`INSERT INTO t VALUES ($1), ($2)`, ``, `INSERT INTO t VALUES (@1), (@2)`, `INSERT INTO t VALUES (?1), (?2)`},
		{`INSERT INTO t SELECT $1`, ``, `INSERT INTO t SELECT @1`, `INSERT INTO t SELECT ?1`},
		{`INSERT INTO t VALUES ($1, DEFAULT)`, ``, `INSERT INTO t VALUES (@1, DEFAULT)`, `INSERT INTO t VALUES (?1, DEFAULT)`},
	} {
		st, err := scan(c.in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if in, ok := st.insert(); ok {
			got = unnest(st, in)
		}
		if got != c.postgres {
			t.Errorf("%s\n PostgreSQL %s\n want       %s", c.in, got, c.postgres)
		}
		x, err := expand(c.in, onDuplicateKey)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString(x.head)
		for i := range 2 {
			if i == 1 {
				if !x.many {
					break
				}
				b.WriteByte(',')
			}
			for _, p := range x.pieces {
				b.WriteString(p.text)
				if p.param > 0 {
					b.WriteString("@" + string(rune('0'+p.param)))
				}
			}
		}
		if got := strings.TrimSpace(b.String() + " " + x.tail); got != c.mysql {
			t.Errorf("%s\n MySQL %s\n want  %s", c.in, got, c.mysql)
		}
		if x, err = expand(c.in, nil); err != nil {
			t.Fatal(err)
		}
		s := &sqliteStatement{x: x}
		n := 1
		if x.many {
			n = 2
		}
		if got := strings.TrimSpace(s.text(n)); got != c.sqlite {
			t.Errorf("%s\n SQLite %s\n want   %s", c.in, got, c.sqlite)
		}
	}
	for _, bad := range []string{"SELECT 'open", "SELECT /* open", "SELECT $0", "SELECT $99999999999"} {
		if _, err := scan(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if _, err := expand("INSERT INTO t VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = 1 WHERE t.b < 2", onDuplicateKey); err == nil {
		t.Error("WHERE is not refused for MySQL")
	}
}
