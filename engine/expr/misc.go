package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func bindTypeof(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	return &Literal{Typ: columnar.String, Value: args[0].Type().String(), Text: b.sql(args)}, nil
}

// raiseError fails for every row that it is evaluated for.
type raiseError struct {
	message Expr
	typ     *columnar.Type
	text    string
}

func (e *raiseError) Type() *columnar.Type       { return e.typ }
func (e *raiseError) Nullable() bool             { return true }
func (e *raiseError) Children() []Expr           { return []Expr{e.message} }
func (e *raiseError) WithChildren(c []Expr) Expr { return &raiseError{c[0], e.typ, e.text} }
func (e *raiseError) SQL() string                { return e.text }

// Nondeterministic keeps the expression where it stands.
func (e *raiseError) Nondeterministic() {}

func (e *raiseError) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	if in.Rows == 0 {
		return columnar.NewEmpty(e.typ), nil
	}
	v, err := eval(ctx, e.message, in)
	if err != nil {
		return nil, err
	}
	if v.null(0) {
		return nil, sparkerr.New("USER_RAISED_EXCEPTION", "null")
	}
	return nil, sparkerr.New("USER_RAISED_EXCEPTION", "%s", v.StringAt(0))
}

func bindRaiseError(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	sql := b.sql(args)
	args, err := b.coerce(args, isString)
	if err != nil {
		return nil, err
	}
	return &raiseError{args[0], columnar.Null, sql}, nil
}

func bindAssertTrue(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	full := args
	if len(args) == 1 {
		full = []Expr{args[0], NewString("'" + args[0].SQL() + "' is not true!")}
	}
	sql := b.sql(full)
	if k := full[0].Type().Kind; k != columnar.KindBool && k != columnar.KindNull {
		return nil, unexpectedInput(sql, 0, `"BOOLEAN"`, full[0])
	}
	out, err := b.coerceAs(sql, full, isBool, isString)
	if err != nil {
		return nil, err
	}
	e, err := b.ifElse(out[0], NewNull(), &raiseError{out[1], columnar.Null, ""})
	if err != nil {
		return nil, err
	}
	return &named{e, sql}, nil
}

// contextValue is a function without arguments whose value the context knows.
type contextValue struct {
	name  string
	typ   *columnar.Type
	value func(ctx *Context, n int) *columnar.Column
}

func (e *contextValue) batchConstant()           {}
func (e *contextValue) Type() *columnar.Type     { return e.typ }
func (e *contextValue) Nullable() bool           { return false }
func (e *contextValue) Children() []Expr         { return nil }
func (e *contextValue) WithChildren([]Expr) Expr { return e }
func (e *contextValue) SQL() string              { return e.name + "()" }
func (e *contextValue) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	return e.value(ctx, in.Rows), nil
}

// partitionValue is a contextValue that differs between rows or partitions.
type partitionValue struct{ contextValue }

// Nondeterministic marks the expression as one that must not be moved.
func (*partitionValue) Nondeterministic() {}

// WithChildren implements Expr.
func (e *partitionValue) WithChildren([]Expr) Expr { return e }

// contextFunction registers a function without arguments that the context answers.
func contextFunction(name, family, doc string, typ *columnar.Type, perRow bool, value func(ctx *Context, n int) *columnar.Column, aliases ...string) *Function {
	return &Function{Name: name, Aliases: aliases, Family: family, Signature: name + "()", Doc: doc, Bind: func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 0, 0); err != nil {
			return nil, err
		}
		v := contextValue{b.name(), typ, value}
		if perRow {
			return &partitionValue{v}, nil
		}
		return &v, nil
	}}
}

// text is a constant string with a printed form of its own.
func textFunction(name, doc, value string, aliases ...string) *Function {
	return &Function{Name: name, Aliases: aliases, Family: "misc", Signature: name + "()", Doc: doc, Bind: func(b *Binder, args []Expr) (Expr, error) {
		if err := b.argCount(args, 0, 0); err != nil {
			return nil, err
		}
		return &Literal{Typ: columnar.String, Value: value, Text: b.sql(args)}, nil
	}}
}

func bindCollate(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 2); err != nil {
		return nil, err
	}
	out, err := b.coerce(args, isString)
	if err != nil {
		return nil, err
	}
	v, ok, err := b.foldable(args[1])
	if err != nil {
		return nil, err
	}
	name, is := v.(string)
	if !ok || !is {
		return nil, notConstant("collate", "collation")
	}
	t := columnar.String
	if name != "UTF8_BINARY" {
		t = &columnar.Type{Kind: columnar.KindString, Collation: name}
	}
	c := simple("collate", out[:1:1], t, func(_ *Context, a []vec, n int) (*columnar.Column, error) { return a[0].full(n), nil })
	c.text = func(a []Expr) string { return "collate(" + a[0].SQL() + ", " + name + ")" }
	c.safe = true
	return c, nil
}

// bindUUID binds uuid([seed]). With a seed the identifiers are the same in each run.
func bindUUID(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 0, 1); err != nil {
		return nil, err
	}
	seed, fixed := int64(0), len(args) == 1
	if fixed {
		s, err := b.seed(args, 0)
		if err != nil {
			return nil, err
		}
		seed = s
	}
	return &partitionValue{contextValue{b.name(), columnar.String, func(ctx *Context, n int) *columnar.Column {
		from := uint64(seed)
		if !fixed {
			from = uint64(ctx.Seed)
		}
		out := columnar.NewBuilder(columnar.String, n)
		for i := range n {
			hi := columnar.HashUint64(from ^ columnar.HashUint64(uint64(ctx.RowBase)+uint64(i)+uint64(ctx.Partition)<<40))
			out.AppendString(uuidText(hi, columnar.HashUint64(hi+1)))
		}
		return out.Finish()
	}}}, nil
}

func bindCollation(b *Binder, args []Expr) (Expr, error) {
	if err := b.argCount(args, 1, 1); err != nil {
		return nil, err
	}
	out, err := b.expect(args, isString)
	if err != nil {
		return nil, err
	}
	name := out[0].Type().Collation
	if name == "" {
		name = "UTF8_BINARY"
	}
	return &Literal{Typ: columnar.String, Value: "SYSTEM.BUILTIN." + name, Text: b.sql(args)}, nil
}

func miscFunctions() []*Function {
	const family = "misc"
	return []*Function{
		{Name: "typeof", Family: family, Signature: "typeof(expr)", Doc: "The type of the argument.", Example: "SELECT typeof(1) → int", Bind: bindTypeof},
		{Name: "raise_error", Family: family, Signature: "raise_error(message)", Doc: "Fails with a message.", Bind: bindRaiseError},
		{Name: "assert_true", Family: family, Signature: "assert_true(cond[, message])", Doc: "NULL if the condition is true, otherwise an error.", Example: "SELECT assert_true(0 < 1) → NULL", Bind: bindAssertTrue},
		{Name: "hash", Family: "hash", Signature: "hash(expr, …)", Doc: "The Murmur3 hash of the arguments.", Example: "SELECT hash(1) → -559580957", Bind: bindHash("hash", columnar.Int32)},
		{Name: "xxhash64", Family: "hash", Signature: "xxhash64(expr, …)", Doc: "The 64-bit xxHash of the arguments.", Bind: bindHash("xxhash64", columnar.Int64)},
		{Name: "collate", Family: "string", Signature: "collate(expr, collation)", Doc: "The string under a collation.", Bind: bindCollate},
		{Name: "collation", Family: "string", Signature: "collation(expr)", Doc: "The name of the argument's collation.", Bind: bindCollation},
		contextFunction("monotonically_increasing_id", family, "A number that grows from row to row of a partition, unique over partitions.", columnar.Int64, true, func(ctx *Context, n int) *columnar.Column {
			d := make([]int64, n)
			for i := range d {
				d[i] = int64(ctx.Partition)<<33 + ctx.RowBase + int64(i)
			}
			return columnar.NewFixed(columnar.Int64, d, nil)
		}),
		contextFunction("spark_partition_id", family, "The number of the partition.", columnar.Int32, true, func(ctx *Context, n int) *columnar.Column {
			return columnar.Repeat(columnar.Int32, int32(ctx.Partition), n)
		}),
		{Name: "uuid", Family: family, Signature: "uuid([seed])", Doc: "A random identifier.", Bind: bindUUID},
		textFunction("input_file_name", "The file that a row was read from; not known here.", ""),
		textFunction("current_catalog", "The name of the catalog.", "spark_catalog"),
		textFunction("current_database", "The name of the database.", "default", "current_schema"),
		textFunction("current_user", "The user of the session.", "wstream", "user", "session_user"),
		textFunction("version", "The version of Spark whose answers these are.", "4.2.0"),
	}
}

// uuidText writes 128 bits as a version 4 UUID.
func uuidText(hi, lo uint64) string {
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	const d = "0123456789abcdef"
	out := make([]byte, 0, 36)
	for i := 0; i < 32; i++ {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			out = append(out, '-')
		}
		v := hi
		if i >= 16 {
			v = lo
		}
		out = append(out, d[v>>(60-uint(i%16)*4)&15])
	}
	return string(out)
}
