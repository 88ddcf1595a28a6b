package sql_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/sql"
)

// TestDeepNesting builds texts that nest, or go on, without end: they parse, or fail with Spark's
// condition for statements that are too complex, but neither hang nor overflow the stack.
func TestDeepNesting(t *testing.T) {
	const n = 20_000
	nest := func(open, core, end string, n int) string {
		return strings.Repeat(open, n) + core + strings.Repeat(end, n)
	}
	for name, text := range map[string]string{
		"parentheses":      nest("(", "1", ")", n),
		"open parentheses": nest("(", "", "", n),
		"nots":             nest("NOT ", "a", "", n),
		"bangs":            nest("!", "a", "", n),
		"minuses":          nest("- ", "a", "", n),
		"calls":            nest("f(", "1", ")", n),
		"cases":            nest("CASE WHEN ", "a", " THEN 1 END", n),
		"casts":            nest("CAST(", "a", " AS INT)", n),
		"bad casts":        nest("CAST(", "a", " AS 1)", n),
		"substrings":       nest("substring(", "a", ", 1, 2)", n),
		"distinct froms":   nest("substring(", "a", " IS DISTINCT FROM b)", n),
		"types":            "CAST(a AS " + nest("ARRAY<", "INT", ">", n) + ")",
		"rows":             nest("(", "1", ", 2)", n),
		"lambdas":          nest("x -> ", "x", "", n),
		"subqueries":       nest("(SELECT ", "1", ")", n),
		"in queries":       nest("a IN ((SELECT ", "1", ") UNION (SELECT 1))", n),
		"derived tables":   "(SELECT * FROM " + nest("((SELECT * FROM ", "t", ") x JOIN y)", n) + ")",
		"subscripts":       "a" + strings.Repeat("[0]", n),
		"casts by colon":   "a" + strings.Repeat("::INT", n),
		"sums":             "a" + strings.Repeat(" + a", n),
		"unions":           "(SELECT 1" + strings.Repeat(" UNION SELECT 1", n) + ")",
		"joins":            "(SELECT * FROM a" + strings.Repeat(" JOIN a", n) + ")",
		"pipes":            "(FROM t" + strings.Repeat(" |> WHERE a", n) + ")",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := sql.ParseExpr(text)
			if c := sparkerr.Condition(err); c != "FAILED_TO_PARSE_TOO_COMPLEX" && c != "PARSE_SYNTAX_ERROR" {
				t.Errorf("got %.200v", err)
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// TestLongLogical parses a chain that generated filters may have: it is balanced, so it has no limit.
func TestLongLogical(t *testing.T) {
	x, err := sql.ParseExpr("a = 0" + strings.Repeat(" OR a = 1", 50_000))
	if err != nil {
		t.Fatal(err)
	}
	depth := 0
	for {
		b, ok := x.(*sql.Binary)
		if !ok {
			break
		}
		depth++
		x = b.L
	}
	if depth > 20 {
		t.Errorf("the tree is %d deep", depth)
	}
}

// TestNestedDepthIsEnough parses nestings as deep as people write, and deeper.
func TestNestedDepthIsEnough(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(", 300) + "1" + strings.Repeat(")", 300),
		strings.Repeat("trim(", 300) + "a" + strings.Repeat(")", 300),
		strings.Repeat("substring(", 300) + "a" + strings.Repeat(", 1, 2)", 300),
		strings.Repeat("CASE WHEN a THEN 1 ELSE ", 200) + "0" + strings.Repeat(" END", 200),
		strings.Repeat("(SELECT max(a) FROM t WHERE b = ", 100) + "0" + strings.Repeat(")", 100),
	} {
		if _, err := sql.ParseExpr(text); err != nil {
			t.Errorf("%.40s…: %v", text, err)
		}
	}
}

// TestSpans checks that each node knows its text.
func TestSpans(t *testing.T) {
	const src = "SELECT (a + 1) * f(b,\n  'x') AS `c d`\nFROM (t) JOIN u ON t.x = u.x AND (t.y) > 1"
	q, err := sql.ParseQuery(src)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	sql.Walk(q, func(n sql.Node) bool {
		got = append(got, n.At().Text(src))
		return true
	})
	want := []string{
		src,
		"(a + 1) * f(b,\n  'x') AS `c d`",
		"(a + 1) * f(b,\n  'x')",
		"a + 1", "a", "1",
		"f(b,\n  'x')", "b", "'x'",
		"(t) JOIN u ON t.x = u.x AND (t.y) > 1",
		"t", "u",
		"t.x = u.x AND (t.y) > 1",
		"t.x = u.x", "t.x", "u.x",
		"(t.y) > 1", "t.y", "1",
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	at := q.(*sql.Select).From.(*sql.Join).Right.At()
	if at.Line != 3 || at.Col != 15 {
		t.Errorf("u stands at %d:%d", at.Line, at.Col)
	}
}

// TestEmpty tells blank texts apart from texts of comments.
func TestEmpty(t *testing.T) {
	for text, want := range map[string]string{
		"":        "PARSE_EMPTY_STATEMENT",
		" \n\t":   "PARSE_EMPTY_STATEMENT",
		"-- note": "PARSE_SYNTAX_ERROR",
		";":       "PARSE_SYNTAX_ERROR",
		"/* note": "UNCLOSED_BRACKETED_COMMENT",
	} {
		_, err := sql.ParseQuery(text)
		if got := sparkerr.Condition(err); got != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestTypeOrSchema reads what from_json takes.
func TestTypeOrSchema(t *testing.T) {
	for text, want := range map[string]string{
		"a INT, b STRING": "STRUCT<a: INT, b: STRING>",
		"array<int>":      "ARRAY<INT>",
		"struct<a:int>":   "STRUCT<a: INT>",
		"a":               "[UNSUPPORTED_DATATYPE] Unsupported data type \"A\".",
		"a foo":           "[PARSE_SYNTAX_ERROR] Syntax error at or near 'foo': expected the end of the text.",
	} {
		typ, err := sql.ParseTypeOrSchema(text)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = typ.String()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// FuzzParse parses anything: it must not panic, and must give either a tree whose nodes lie within
// their parents, or an error with a condition and a place in the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"SELECT a, sum(b) FILTER (WHERE c) OVER (PARTITION BY d ORDER BY e ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
		"WITH c AS (SELECT * EXCEPT (x) FROM VALUES (1, 'a''b') AS t(a, b)) SELECT /*+ BROADCAST(c) */ * FROM c LATERAL VIEW explode(m) e AS k, v",
		"FROM STREAM s WATERMARK ts DELAY OF INTERVAL 10 MINUTES |> WHERE a NOT LIKE ALL ('x', r'y') |> AGGREGATE count(*) GROUP BY k",
		"SELECT CASE a WHEN 1Y THEN X'1F' ELSE INTERVAL '1 02' DAY TO HOUR END::string, v:a[0].b, \"\\u0041\" || `q`",
		"SELECT * FROM a NATURAL JOIN (b LEFT SEMI JOIN c USING (x)) PIVOT (sum(a) FOR b IN (1 AS x)) GROUP BY CUBE(a), b HAVING 1 >>> 2 <=> 3",
		"CAST(a AS STRUCT<a: ARRAY<MAP<STRING, DECIMAL(5,2)>> NOT NULL COMMENT 'x'>)", "CASE END", "SELECT (1", "/* /* */", "1e400BD", "'\\",
		"TRIM(BOTH 'x' FROM s)", "a IN ((SELECT 1) UNION (SELECT 2))", "(x, y) -> x", "SELECT a FROM t GRUOP BY a", "日本", "\xff'\xff'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if q, err := sql.ParseQuery(src); err == nil {
			checkSpans(t, src, q)
		} else {
			checkError(t, src, err)
		}
		if x, err := sql.ParseExpr(src); err == nil {
			checkSpans(t, src, x)
		} else {
			checkError(t, src, err)
		}
		if fields, err := sql.ParseSchema(src); err != nil {
			checkError(t, src, err)
		} else {
			for _, f := range fields {
				_ = f.Type.String()
			}
		}
		if _, err := sql.ParseStatement(src); err != nil {
			checkError(t, src, err)
		}
		for _, p := range sql.Split(src) {
			if !strings.HasPrefix(src[p.Offset:], p.Text) {
				t.Fatalf("%q: the piece %q is not at %d", src, p.Text, p.Offset)
			}
		}
	})
}

// checkSpans checks that the node and all nodes below it lie in the text and in their parents.
func checkSpans(t *testing.T, src string, n sql.Node) {
	t.Helper()
	at := n.At()
	if at.Offset < 0 || at.End < at.Offset || at.End > len(src) || at.Line < 1 || at.Col < 1 {
		t.Fatalf("%q: %T at %+v", src, n, at)
	}
	sql.Walk(n, func(c sql.Node) bool {
		if c == n {
			return true
		}
		if in := c.At(); in.Offset < at.Offset || in.End > at.End {
			t.Fatalf("%q: %T at %+v outside %T at %+v", src, c, in, n, at)
		}
		checkSpans(t, src, c)
		return false
	})
}

func checkError(t *testing.T, src string, err error) {
	t.Helper()
	var e *sparkerr.Error
	if !errors.As(err, &e) || e.Condition == "" {
		t.Fatalf("%q: error without condition: %v", src, err)
	}
	if e.Line < 1 || e.Col < 1 || e.Line > strings.Count(src, "\n")+1 {
		t.Fatalf("%q: error without place: %+v", src, e)
	}
}
