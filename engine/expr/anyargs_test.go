package expr

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/wstream/wstream/columnar"
)

// anyArgs are expressions of all types: constants, typed nulls, and columns of in with nulls.
func anyArgs(rng *rand.Rand, rows int) (args []Expr, in *columnar.Batch) {
	types := []*columnar.Type{
		columnar.Bool, columnar.Int8, columnar.Int16, columnar.Int32, columnar.Int64, columnar.Float32, columnar.Float64, columnar.Decimal(10, 2), columnar.Decimal(38, 18),
		columnar.String, columnar.Binary, columnar.Date, columnar.Timestamp, columnar.TimestampNTZ, columnar.Time,
		columnar.YearMonth(columnar.FieldYear, columnar.FieldMonth), columnar.DayTime(columnar.FieldDay, columnar.FieldSecond), columnar.Calendar,
		columnar.ArrayOf(columnar.Int32, true), columnar.ArrayOf(columnar.String, true), columnar.MapOf(columnar.String, columnar.Int32, true),
		columnar.ArrayOf(columnar.ArrayOf(columnar.Int64, true), true),
		columnar.StructOf(field("a", columnar.Int32, true), field("b", columnar.String, true)),
		columnar.ArrayOf(columnar.StructOf(field("a", columnar.Int32, true), field("b", columnar.String, true)), true),
	}
	in = &columnar.Batch{Rows: rows}
	args = []Expr{NewNull(), NewString("1"), NewString("a"), NewInt(1), NewInt(0), NewInt(-1), NewString("2026-03-01"), NewString("yyyy"), NewString("$.a"), NewBool(true)}
	for _, t := range types {
		c := randomValues(rng, t, rows)
		args = append(args, NewLiteral(t, nil), &Ref{Index: len(in.Columns), Name: "c", Typ: t, Null: true})
		if !c.IsNull(0) {
			args = append(args, NewLiteral(t, c.Datum(0)))
		}
		in.Columns = append(in.Columns, c)
	}
	return args, in
}

func randomValues(rng *rand.Rand, t *columnar.Type, n int) *columnar.Column {
	b := columnar.NewBuilder(t, n)
	for i := range n {
		switch {
		case i > 0 && rng.Intn(3) == 0:
			b.AppendNull()
		case t.Kind == columnar.KindMap:
			for k := range rng.Intn(3) {
				b.Child(0).AppendString(string(rune('a' + k)))
				b.Child(1).AppendInt(int64(k))
			}
			b.AppendNested()
		case t.Kind == columnar.KindCalendar:
			b.AppendCalendar(columnar.CalendarInterval{Months: int32(rng.Intn(5)), Days: int32(rng.Intn(5)), Micros: rng.Int63n(1e9)})
		case t.Kind == columnar.KindTime:
			b.AppendInt(rng.Int63n(86_400_000_000_000))
		case t.Kind == columnar.KindDate:
			b.AppendInt(rng.Int63n(40000) - 10000)
		case t.Kind == columnar.KindTimestamp || t.Kind == columnar.KindTimestampNTZ:
			b.AppendInt(rng.Int63n(4e15) - 1e15)
		default:
			appendRandom(rng, b)
		}
	}
	return b.Finish()
}

// TestAnyArguments gives every function arguments of all sorts: it refuses them, or gives
// a column of the type that it promised. Nothing panics.
func TestAnyArguments(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	trials := 60
	if testing.Short() {
		trials = 30
	}
	registry := NewRegistry(Builtins())
	for _, f := range registry.Functions() {
		args, in := anyArgs(rng, 3)
		for trial := range trials {
			n := rng.Intn(5)
			call := make([]Expr, n)
			for i := range call {
				call[i] = args[rng.Intn(len(args))]
				if f.Family == "lambda" && i > 0 && rng.Intn(2) == 0 {
					call[i] = &LambdaSource{Params: []string{"x", "y"}[:1+rng.Intn(2)], Resolve: func(v []*LambdaVar) (Expr, error) { return v[rng.Intn(len(v))], nil }}
				}
			}
			if err := tryCall(registry, f.Name, call, in, trial%4 != 0); err != nil {
				t.Errorf("%s: %v", sqlCall(f.Name, call), err)
				break
			}
		}
	}
}

func tryCall(registry *Registry, name string, args []Expr, in *columnar.Batch, ansi bool) (err error) {
	types := ""
	for _, a := range args {
		types += " " + a.Type().String()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("(%s) panic: %v", types, p)
		}
	}()
	b := &Binder{ANSI: ansi, Registry: registry}
	e, err := b.Func(name, args...)
	if err != nil {
		return known(err)
	}
	ctx := &Context{ANSI: ansi}
	_ = e.SQL()
	switch x := e.(type) {
	case Generator:
		cols, parent, err := x.Generate(ctx, in)
		if err != nil {
			return known(err)
		}
		for i, c := range cols {
			if c.Len != len(parent) || !c.Type.Equal(x.Columns()[i].Type) {
				return fmt.Errorf("(%s) column %d: %d rows of %s for %d of %s", types, i, c.Len, c.Type, len(parent), x.Columns()[i].Type)
			}
		}
		return nil
	case Aggregate:
		acc := x.New(ctx)
		acc.Grow(2)
		var cols []*columnar.Column
		for _, a := range x.Call().Args {
			c, err := a.Eval(ctx, in)
			if err != nil {
				return known(err)
			}
			cols = append(cols, c)
		}
		if err := acc.Update(make([]uint32, in.Rows), cols); err != nil {
			return known(err)
		}
		c, err := acc.Result()
		if err != nil {
			return known(err)
		}
		return promised(x, c, 2, types)
	case WindowFunction:
		c, err := x.Evaluate(ctx, &WindowPartition{Rows: in, Peers: []int32{0, 0, 2}})
		if err != nil {
			return known(err)
		}
		return promised(x, c, in.Rows, types)
	}
	c, err := e.Eval(ctx, in)
	if err != nil {
		return known(err)
	}
	if err := promised(e, c, in.Rows, types); err != nil {
		return err
	}
	none, err := e.Eval(ctx, in.Slice(0, 0))
	if err != nil {
		return fmt.Errorf("(%s) over no rows: %w", types, err)
	}
	return promised(e, none, 0, types)
}

// promised checks a result against what its expression says of itself.
func promised(e Expr, c *columnar.Column, rows int, types string) error {
	if c.Len != rows || !c.Type.Equal(e.Type()) {
		return fmt.Errorf("(%s) %d rows of %s, promised are %d of %s", types, c.Len, c.Type, rows, e.Type())
	}
	if !e.Nullable() && c.NullCount() > 0 {
		return fmt.Errorf("(%s) a null though none was promised", types)
	}
	for i := range rows {
		_ = c.Datum(i)
	}
	return nil
}

// known lets refusals pass, but not the faults of a planner.
func known(err error) error {
	var unbound errUnbound
	if errors.As(err, &unbound) {
		return fmt.Errorf("bound to something that cannot be evaluated: %w", err)
	}
	return nil
}
