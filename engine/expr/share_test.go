package expr_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
)

// counted is a function that counts the rows it is evaluated for.
func counted(rows *atomic.Int64) *expr.Function {
	return &expr.Function{Name: "counted", Family: "misc", Bind: func(b *expr.Binder, args []expr.Expr) (expr.Expr, error) {
		return expr.NewCounted(args[0], rows), nil
	}}
}

// TestEvaluations counts how often parts of a query are evaluated: constants once when the query is planned, parts
// that columns have in common once a row, and branches that a row does not take never.
func TestEvaluations(t *testing.T) {
	for _, c := range []struct {
		query string
		want  int64
	}{
		{"SELECT counted(1) + id FROM range(1000)", 1},
		{"SELECT id FROM range(1000) WHERE counted(5) > id", 1},
		{"SELECT counted(id) + 1 a, counted(id) + 1 b FROM range(1000)", 1000},
		{"SELECT abs(counted(id) * 2) a, abs(counted(id) * 2) + 1 b, upper(CAST(abs(counted(id) * 2) AS STRING)) c FROM range(1000)", 1000},
		{"SELECT counted(id) a, counted(id + 1) b FROM range(1000)", 2000},
		{"SELECT get_json_object(CAST(counted(id) AS STRING), '$.a') a, get_json_object(CAST(counted(id) AS STRING), '$.b') b FROM range(1000)", 1000},
		{"SELECT CASE WHEN id < 10 THEN counted(id) + 1 END a, CASE WHEN id >= 10 THEN counted(id) + 1 END b FROM range(1000)", 1000},
		{"SELECT id < 10 AND counted(id) + 1 > 5 FROM range(1000)", 10},
	} {
		var rows atomic.Int64
		s := &batch.Session{Registry: expr.NewRegistry(append(expr.Builtins(), counted(&rows))), Settings: plan.Settings{ANSI: true}}
		res, err := s.Run(t.Context(), c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if rows.Load() != c.want {
			t.Errorf("%s: evaluated for %d rows, want %d", c.query, rows.Load(), c.want)
		}
		if res.Rows() == 0 {
			t.Errorf("%s gave nothing", c.query)
		}
	}
}

// TestSharedPartsDiffer asks for parts that look alike and are not.
func TestSharedPartsDiffer(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"SELECT length(CAST(id AS STRING)) a, length(CAST(CAST(id AS DOUBLE) AS STRING)) b FROM range(1)", `{"a":1,"b":3}`},
		{"SELECT from_json(j, 'a INT') a, from_json(j, 'b INT') b, from_json(j, 'a STRING').a c FROM VALUES ('{\"a\":1,\"b\":2}') t(j)", `{"a":{"a":1},"b":{"b":2},"c":"1"}`},
		{"SELECT to_json(s, map('ignoreNullFields', 'false')) a, to_json(s) b FROM (SELECT struct(CAST(NULL AS INT) AS x, id AS y) s FROM range(1))", `{"a":"{\"x\":null,\"y\":0}","b":"{\"y\":0}"}`},
		{"SELECT round(x, 1) a, round(x, 2) b, trunc(d, 'MM') c, trunc(d, 'YY') e FROM VALUES (1.255, date'2026-03-05') t(x, d)", `{"a":"1.3","b":"1.26","c":"2026-03-01","e":"2026-01-01"}`},
		{"SELECT x / y a, try_divide(x, y) b FROM VALUES (1, 2) t(x, y)", `{"a":0.5,"b":0.5}`},
		{"SELECT rand(1) = rand(2) a, timestampadd(HOUR, x, t) b, timestampadd(DAY, x, t) c FROM VALUES (1, timestamp'2026-01-01 00:00:00') t(x, t)", `{"a":false,"b":"2026-01-01T01:00:00.000000Z","c":"2026-01-02T00:00:00.000000Z"}`},
	} {
		got, err := run(t, c.query)
		if err != nil || strings.TrimSpace(got) != c.want {
			t.Errorf("%s\n gave %s, %v\n want %s", c.query, got, err, c.want)
		}
	}
}
