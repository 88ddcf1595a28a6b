package expr_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/engine/batch"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/internal/testdirs"
)

// TestConstantsAsColumns: an expression over constants and the same expression over columns that
// hold these constants in every row agree, also when rows of nulls stand between, and a result
// that is said not to be null is not.
func TestConstantsAsColumns(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdirs.Shared(t, "oracle/functions"), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	registry := expr.NewRegistry(expr.Builtins())
	n := 0
	for _, f := range files {
		in, err := os.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(in)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			var g struct {
				Expr, Error, Timezone string
				ANSI                  *bool
			}
			if json.Unmarshal(sc.Bytes(), &g) != nil || g.Expr == "" || g.Error != "" || g.Timezone != "" {
				continue
			}
			ansi := g.ANSI == nil || *g.ANSI
			if e := boundExpr(registry, g.Expr, ansi); e != nil {
				n++
				if err := sameOverColumns(e, ansi); err != nil {
					t.Errorf("%s: %v", g.Expr, err)
				}
			}
		}
		in.Close()
	}
	t.Logf("%d expressions", n)
}

// boundExpr binds an expression, or gives nil for what is no plain expression.
func boundExpr(r *expr.Registry, text string, ansi bool) expr.Expr {
	q, err := sql.ParseQuery("SELECT " + text)
	if err != nil {
		return nil
	}
	s := &batch.Session{Registry: r, Settings: plan.Settings{ANSI: ansi, Zone: time.UTC}}
	n, err := s.Plan(q)
	if err != nil {
		return nil
	}
	p, ok := n.(*plan.Project)
	if !ok || len(p.Exprs) != 1 {
		return nil
	}
	e := p.Exprs[0]
	plain := true
	expr.Walk(e, func(x expr.Expr) bool {
		switch x.(type) {
		case *expr.Attr, expr.Aggregate, expr.Generator, *expr.WindowCall:
			plain = false
		}
		return plain
	})
	if !plain || !expr.IsDeterministic(e) {
		return nil
	}
	return e
}

func sameOverColumns(e expr.Expr, ansi bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx := &expr.Context{Zone: time.UTC, ANSI: ansi}
	want, err := e.Eval(ctx, columnar.NewBatch(columnar.NewSchema(), nil, 1))
	if err != nil {
		return nil // guarded constants that the analyser folded otherwise
	}
	if want.IsNull(0) && !e.Nullable() {
		return fmt.Errorf("is null but said not to be")
	}
	var values []*expr.Literal
	over := expr.Transform(e, func(x expr.Expr) expr.Expr {
		l, ok := x.(*expr.Literal)
		if !ok {
			return x
		}
		values = append(values, l)
		return &expr.Ref{Index: len(values) - 1, Name: l.SQL(), Typ: l.Typ, Null: true}
	})
	if len(values) == 0 {
		return nil
	}
	for _, nulls := range []bool{false, true} {
		cols := make([]*columnar.Column, len(values))
		for i, l := range values {
			// The batch is a slice of a longer one, so that buffers do not start at their first row.
			b := columnar.NewBuilder(l.Typ, 8)
			for row := range 8 {
				if nulls && row%2 == 0 {
					b.AppendNull()
				} else {
					b.AppendDatum(l.Value)
				}
			}
			cols[i] = b.Finish().Slice(1, 6)
		}
		got, err := over.Eval(&expr.Context{Zone: time.UTC, ANSI: ansi}, columnar.NewBatch(nil, cols, 5))
		if err != nil {
			if nulls {
				continue // a null where none may be, such as a map's key
			}
			return fmt.Errorf("over columns: %w", err)
		}
		if got.Len != 5 {
			return fmt.Errorf("%d rows of 5", got.Len)
		}
		for _, row := range []int{0, 2, 4} {
			a, b := want.Datum(0), got.Datum(row)
			if !reflect.DeepEqual(a, b) && string(datumjson.Append(nil, want.Type, a)) != string(datumjson.Append(nil, want.Type, b)) {
				return fmt.Errorf("over columns (nulls between: %v) %s, as constants %s", nulls, datumjson.Append(nil, want.Type, b), datumjson.Append(nil, want.Type, a))
			}
		}
	}
	return nil
}
