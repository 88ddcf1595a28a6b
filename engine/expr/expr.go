// Package expr holds bound expressions: typed, resolved trees that are evaluated a batch at a
// time over columns, and the functions of Spark SQL that they are made of.
//
// An expression is made by the analyser (engine/plan) from the SQL syntax tree: names become Attr,
// function calls are bound through the registry, which checks and coerces the arguments. Before a
// query runs, BindRefs turns attributes into positions of the input batch.
package expr

import (
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/engine/udf"
)

// Context is what an evaluation needs beside its batch. One Context serves one goroutine.
type Context struct {
	Zone      *time.Location // session time zone
	ANSI      bool           // settings.ansi
	BatchTime int64          // microseconds since the epoch: current_timestamp() of the batch
	Seed      int64          // of rand() and friends: fixed by query id, partition and batch id
	RowBase   int64          // rows of this partition before the batch, for monotonically_increasing_id
	Partition int

	// What else the calls of modules are told: on whose behalf they are.
	QueryID   string
	BatchID   int64
	Attempt   int   // 1 when the batch runs again
	Watermark int64 // microseconds since the epoch; the least number where there is none

	kept   []kept         // what shared parts gave, by their numbers
	lambda *lambdaFrame   // variables of the lambda functions around what is evaluated
	java   *javatext.Zone // Zone with Java's rules, once it was needed
	javaOf *time.Location // what java was made of
}

// ModuleCall says on whose behalf a function of a module is called.
func (c *Context) ModuleCall() udf.Call {
	return udf.Call{
		QueryID: c.QueryID, BatchID: c.BatchID, Partition: c.Partition, Attempt: c.Attempt, Watermark: c.Watermark, BatchTime: c.BatchTime,
	}
}

// Expr is a bound expression. Expressions are immutable and safe for use by many goroutines;
// whatever an evaluation must keep between batches lives elsewhere (aggregates, state).
type Expr interface {
	// Type is the type of the result.
	Type() *columnar.Type
	// Nullable tells whether the result may be null.
	Nullable() bool
	// Children are the operands in order; the slice must not be changed.
	Children() []Expr
	// WithChildren is the same expression over other operands of the same number and types.
	WithChildren(children []Expr) Expr
	// Eval computes the expression for every row of in. The result has in.Rows rows. A fault of
	// a row (overflow under ANSI, a bad cast) is an error with Spark's condition.
	Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error)
	// SQL is the expression as Spark prints it, which names a column that has no alias.
	SQL() string
}

// AttrID identifies a column within one query, however often it is renamed or moved.
type AttrID int64

// Attr is a reference to a column of a relation by identity. It is replaced by a Ref before
// evaluation.
type Attr struct {
	ID        AttrID
	Name      string
	Qualifier []string // relation name under which it can be addressed; may be empty
	Typ       *columnar.Type
	Null      bool
	EventTime *Watermark // set when the column carries a watermark
}

// Watermark is what `withWatermark` declared of an event-time column.
type Watermark struct {
	DelayMicros int64 // delay, a month as 31 days
	NodeID      int   // the watermark operator that observes it
}

// Type implements Expr.
func (a *Attr) Type() *columnar.Type { return a.Typ }

// Nullable implements Expr.
func (a *Attr) Nullable() bool { return a.Null }

// Children implements Expr.
func (a *Attr) Children() []Expr { return nil }

// WithChildren implements Expr.
func (a *Attr) WithChildren([]Expr) Expr { return a }

// SQL implements Expr.
func (a *Attr) SQL() string { return a.Name }

// Eval implements Expr; an attribute that was never bound is a fault of the planner.
func (a *Attr) Eval(*Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errUnbound(a.Name)
}

// Field is the attribute as a field of a schema.
func (a *Attr) Field() columnar.Field {
	return columnar.Field{Name: a.Name, Type: a.Typ, Nullable: a.Null}
}

type errUnbound string

func (e errUnbound) Error() string { return "column " + string(e) + " was not bound to its input" }

// Ref is a column of the input batch by position.
type Ref struct {
	Index int
	Name  string
	Typ   *columnar.Type
	Null  bool
}

// Type implements Expr.
func (r *Ref) Type() *columnar.Type { return r.Typ }

// Nullable implements Expr.
func (r *Ref) Nullable() bool { return r.Null }

// Children implements Expr.
func (r *Ref) Children() []Expr { return nil }

// WithChildren implements Expr.
func (r *Ref) WithChildren([]Expr) Expr { return r }

// SQL implements Expr.
func (r *Ref) SQL() string { return r.Name }

// Eval implements Expr.
func (r *Ref) Eval(_ *Context, in *columnar.Batch) (*columnar.Column, error) {
	return in.Columns[r.Index], nil
}

// Alias gives an expression a name; it evaluates to what it names.
type Alias struct {
	Child   Expr
	Name    string
	ID      AttrID // identity of the column that it makes
	Derived bool   // no AS was written: the name is what Spark derives itself
}

// Type implements Expr.
func (a *Alias) Type() *columnar.Type { return a.Child.Type() }

// Nullable implements Expr.
func (a *Alias) Nullable() bool { return a.Child.Nullable() }

// Children implements Expr.
func (a *Alias) Children() []Expr { return []Expr{a.Child} }

// WithChildren implements Expr.
func (a *Alias) WithChildren(c []Expr) Expr {
	out := *a
	out.Child = c[0]
	return &out
}

// SQL implements Expr.
func (a *Alias) SQL() string { return a.Child.SQL() + " AS " + columnar.QuoteIdentifier(a.Name) }

// Eval implements Expr.
func (a *Alias) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	return a.Child.Eval(ctx, in)
}

// Walk calls f for e and everything below it, parents first; f returning false skips the operands.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, c := range e.Children() {
		Walk(c, f)
	}
}

// Transform rebuilds e bottom up through f; operands that do not change are shared.
func Transform(e Expr, f func(Expr) Expr) Expr {
	old := e.Children()
	var changed []Expr
	for i, c := range old {
		n := Transform(c, f)
		if n != c && changed == nil {
			changed = append(make([]Expr, 0, len(old)), old...)
		}
		if changed != nil {
			changed[i] = n
		}
	}
	if changed != nil {
		e = e.WithChildren(changed)
	}
	return f(e)
}

// BindRefs replaces every Attr of e by its position among input. An attribute that input lacks is
// a fault of the planner, reported by name.
func BindRefs(e Expr, input []*Attr) (Expr, error) {
	var err error
	out := Transform(e, func(x Expr) Expr {
		a, ok := x.(*Attr)
		if !ok {
			return x
		}
		for i, in := range input {
			if in.ID == a.ID {
				return &Ref{Index: i, Name: in.Name, Typ: in.Typ, Null: in.Null}
			}
		}
		if err == nil {
			err = errUnbound(a.Name)
		}
		return x
	})
	return out, err
}

// Nondeterministic is implemented by expressions whose result may differ for equal input, such as
// rand(); the optimiser does not move, fold or duplicate them.
type Nondeterministic interface{ Nondeterministic() }

// IsDeterministic tells whether nothing in e is Nondeterministic.
func IsDeterministic(e Expr) bool {
	ok := true
	Walk(e, func(x Expr) bool {
		if _, bad := x.(Nondeterministic); bad {
			ok = false
		}
		return ok
	})
	return ok
}
