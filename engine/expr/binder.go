package expr

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Binder makes bound expressions: it carries the settings that types and results depend on, and
// what the call at hand was written with. The analyser makes one per statement and sets Call
// before each Bind.
type Binder struct {
	ANSI     bool           // settings.ansi
	Zone     *time.Location // session time zone, UTC when nil
	Dir      string         // that relative paths of files start from; "" for the working directory
	Registry *Registry
	Now      int64 // microseconds since the epoch, for literals such as DATE 'today'; 0 takes the clock
	Call     CallInfo
}

// CallInfo is a function call apart from its arguments.
type CallInfo struct {
	Name          string // as written
	Line, Col     int    // 1-based position; 0 when unknown
	Distinct      bool
	Filter        Expr      // FILTER (WHERE …), or nil
	Order         []SortKey // WITHIN GROUP (ORDER BY …)
	IgnoreNulls   bool
	RespectNulls  bool
	Star          bool     // the only argument was *, as in count(*); args are empty
	Unit          string   // DATEADD(DAY, …) and the like, in upper case
	ArgNames      []string // names of named arguments (name => value), "" for positional ones; nil when none
	ArgAliases    []string // names given by AS inside the arguments, as in struct(a AS x); nil when none
	Over          bool     // OVER (…) follows
	CaseSensitive bool
}

// zone is the session's time zone.
func (b *Binder) zone() *time.Location {
	if b.Zone == nil {
		return time.UTC
	}
	return b.Zone
}

// now is the moment that 'today' and the like are counted from.
func (b *Binder) now() int64 {
	if b.Now == 0 {
		return time.Now().UnixMicro()
	}
	return b.Now
}

// context is an evaluation context with the binder's settings, for constants.
func (b *Binder) context() *Context {
	return &Context{Zone: b.zone(), ANSI: b.ANSI, BatchTime: b.now()}
}

// Bind binds the call of b.Call.Name, which may be an operator's sign, to arguments. Errors carry
// the call's position.
func (b *Binder) Bind(args []Expr) (Expr, error) {
	f := b.Registry.Lookup(b.Call.Name)
	if f == nil {
		return nil, b.at(b.Registry.unresolved(b.Call.Name))
	}
	if b.Call.ArgNames != nil && f.Family != "aggregate" {
		for _, n := range b.Call.ArgNames {
			if n != "" {
				return nil, b.at(sparkerr.New("NAMED_PARAMETERS_NOT_SUPPORTED", "named arguments are not supported by function `%s`", b.Call.Name))
			}
		}
	}
	for _, a := range args {
		if _, ok := a.(*LambdaSource); ok && f.Family != "lambda" && f.Name != "array_sort" {
			return nil, b.at(sparkerr.New("INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
				"a lambda function can only be an argument of a higher-order function, not of `%s`", b.Call.Name))
		}
	}
	e, err := f.Bind(b, args)
	if err != nil {
		return nil, b.at(err)
	}
	if c, ok := unnamed(e).(*call); ok && c.boundAs == "" && f.Family != "lambda" {
		c.boundAs, c.boundArgs = f.Name+" "+b.Call.Unit, args
	}
	if anyLambda(args) {
		stray := false
		Walk(e, func(x Expr) bool {
			_, is := x.(*LambdaSource)
			stray = stray || is
			return !stray
		})
		if stray {
			return nil, b.at(sparkerr.New("INVALID_LAMBDA_FUNCTION_CALL.PARAMETER_DOES_NOT_ACCEPT_LAMBDA_FUNCTION",
				"an argument of `%s` that is no lambda function was given as one", b.Call.Name))
		}
	}
	return e, nil
}

func anyLambda(args []Expr) bool {
	for _, a := range args {
		if _, ok := a.(*LambdaSource); ok {
			return true
		}
	}
	return false
}

// Func binds a call of a function by name with plain arguments.
func (b *Binder) Func(name string, args ...Expr) (Expr, error) {
	saved := b.Call
	b.Call = CallInfo{Name: name, Line: saved.Line, Col: saved.Col}
	e, err := b.Bind(args)
	b.Call = saved
	return e, err
}

func (b *Binder) at(err error) error {
	var se *sparkerr.Error
	if b.Call.Line > 0 && errors.As(err, &se) {
		se.WithPos(b.Call.Line, b.Call.Col)
	}
	return err
}

// name is the call's name for messages and printing: lower case as Spark's pretty names are.
func (b *Binder) name() string { return strings.ToLower(b.Call.Name) }

// argCount checks the number of arguments; hi < 0 means no upper limit.
func (b *Binder) argCount(args []Expr, lo, hi int) error {
	n := len(args)
	if n >= lo && (hi < 0 || n <= hi) {
		return nil
	}
	want := ""
	switch {
	case hi < 0:
		want = fmt.Sprintf("> %d", lo-1)
	case lo == hi:
		want = fmt.Sprint(lo)
	default:
		var w []string
		for i := lo; i <= hi; i++ {
			w = append(w, fmt.Sprint(i))
		}
		want = "[" + strings.Join(w, ", ") + "]"
	}
	return b.wrongArgs(want, n)
}

// wrongArgs is the error for a number of arguments that want does not describe.
func (b *Binder) wrongArgs(want string, got int) error {
	return sparkerr.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "the `%s` requires %s parameters but the actual number is %d", b.name(), want, got)
}

// mismatch is a DATATYPE_MISMATCH error of a call that prints as sql.
func mismatch(sub, sql, format string, args ...any) error {
	return sparkerr.New("DATATYPE_MISMATCH."+sub, "cannot resolve \"%s\" due to data type mismatch: %s", sql, fmt.Sprintf(format, args...))
}

// sqlCall prints name(args…).
func sqlCall(name string, args []Expr) string {
	var s strings.Builder
	s.WriteString(name)
	s.WriteByte('(')
	for i, a := range args {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(a.SQL())
	}
	s.WriteByte(')')
	return s.String()
}

// sql prints the call being bound.
func (b *Binder) sql(args []Expr) string { return sqlCall(b.name(), args) }

// unexpectedInput is the error for argument i (from 0) of a call that prints as sql.
func unexpectedInput(sql string, i int, want string, got Expr) error {
	return mismatch("UNEXPECTED_INPUT_TYPE", sql, "the %s parameter requires the %s type, however \"%s\" has the type \"%s\"",
		ordinal(i), want, got.SQL(), got.Type().SQL())
}

// ordinal is Spark's word for the i-th parameter, from 0.
func ordinal(i int) string {
	words := [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"}
	if i < len(words) {
		return words[i]
	}
	return fmt.Sprintf("%dth", i+1)
}

// constant gives the value of argument i, which must be constant and of a type; name is the
// parameter's name in messages. A null is nil.
func (b *Binder) constant(sql string, args []Expr, i int, in spec, name string) (columnar.Datum, error) {
	t := b.implicitType(args[i].Type(), in)
	if t == nil {
		return nil, unexpectedInput(sql, i, in.text(), args[i])
	}
	v, ok, err := b.foldable(b.implicit(args[i], t))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nonFoldable(sql, name, args[i])
	}
	return v, nil
}

// foldable gives the value of a constant expression at bind time; ok is false when e is not constant.
func (b *Binder) foldable(e Expr) (v columnar.Datum, ok bool, err error) {
	if l, is := e.(*Literal); is {
		return l.Value, true, nil
	}
	if !isConst(e) {
		return nil, false, nil
	}
	c, err := e.Eval(b.context(), oneRow())
	if err != nil {
		return nil, true, err
	}
	return c.Datum(0), true, nil
}
