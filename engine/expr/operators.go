package expr

import (
	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// The constructors below bind operators: they coerce their operands as Spark does and report
// operands that do not fit. Operator names are Spark's signs.

// Arithmetic is l op r for the operators + - * / % div and pmod, on numbers, dates, timestamps and
// intervals.
func (b *Binder) Arithmetic(op string, l, r Expr) (Expr, error) {
	return b.arithmetic(op, l, r, b.arithMode())
}

// Compare is l op r for the operators = == <=> <> != < <= > >=.
func (b *Binder) Compare(op string, l, r Expr) (Expr, error) { return b.compare(op, l, r) }

// And is l AND r; r is evaluated only for the rows where l is not false.
func (b *Binder) And(l, r Expr) (Expr, error) { return b.logic("AND", l, r) }

// Or is l OR r; r is evaluated only for the rows where l is not true.
func (b *Binder) Or(l, r Expr) (Expr, error) { return b.logic("OR", l, r) }

// Not is NOT e.
func (b *Binder) Not(e Expr) (Expr, error) {
	args, err := b.coerceAs("(NOT "+e.SQL()+")", []Expr{e}, isBool)
	if err != nil {
		return nil, err
	}
	return NewNot(args[0]), nil
}

// Negate is the prefix operator -.
func (b *Binder) Negate(e Expr) (Expr, error) { return b.negate(e, "(- "+e.SQL()+")") }

// Positive is the prefix operator +.
func (b *Binder) Positive(e Expr) (Expr, error) { return b.positive(e, "(+ "+e.SQL()+")") }

// Between is x BETWEEN low AND high.
func (b *Binder) Between(x, low, high Expr) (Expr, error) {
	sql := sqlCall("between", []Expr{x, low, high})
	ge, err := b.Compare(">=", x, low)
	if err != nil {
		return nil, err
	}
	le, err := b.Compare("<=", x, high)
	if err != nil {
		return nil, err
	}
	and, err := b.And(ge, le)
	if err != nil {
		return nil, err
	}
	return &named{and, sql}, nil
}

// In is x IN (list…).
func (b *Binder) In(x Expr, list []Expr) (Expr, error) { return b.in(x, list) }

// IsNull is e IS NULL.
func (b *Binder) IsNull(e Expr) Expr { return &isNull{x: e} }

// IsNotNull is e IS NOT NULL.
func (b *Binder) IsNotNull(e Expr) Expr { return &isNull{x: e, not: true} }

// IsDistinct is l IS DISTINCT FROM r.
func (b *Binder) IsDistinct(l, r Expr) (Expr, error) {
	eq, err := b.Compare("<=>", l, r)
	if err != nil {
		return nil, err
	}
	return b.Not(eq)
}

// IsTruth is e IS TRUE, e IS FALSE or e IS UNKNOWN; value is the word.
func (b *Binder) IsTruth(e Expr, value string) (Expr, error) {
	switch value {
	case "TRUE", "FALSE":
		return b.Compare("<=>", e, NewBool(value == "TRUE"))
	}
	args, err := b.expectAs("("+e.SQL()+" IS NULL)", []Expr{e}, isBool)
	if err != nil {
		return nil, err
	}
	return &isNull{x: args[0]}, nil
}

// When is one WHEN … THEN … of a CASE.
type When struct{ Cond, Then Expr }

// Case is CASE WHEN … THEN … ELSE … END; els may be nil.
func (b *Binder) Case(whens []When, els Expr) (Expr, error) { return b.caseWhen(whens, els) }

// CaseOf is CASE operand WHEN value THEN … END: Cond of each When is the value.
func (b *Binder) CaseOf(operand Expr, whens []When, els Expr) (Expr, error) {
	ws := make([]When, len(whens))
	for i, w := range whens {
		c, err := b.Compare("=", operand, w.Cond)
		if err != nil {
			return nil, err
		}
		ws[i] = When{c, w.Then}
	}
	return b.caseWhen(ws, els)
}

// If is if(cond, then, els).
func (b *Binder) If(cond, then, els Expr) (Expr, error) { return b.ifElse(cond, then, els) }

// Cast is CAST(e AS t), or TRY_CAST; it reports types between which there is no cast.
func (b *Binder) Cast(e Expr, t *columnar.Type, try bool) (Expr, error) { return b.cast(e, t, try) }

// GetField is e.name: a field of a struct, or of every struct of an array. Names match in any
// case, unless the call is case sensitive; sql is how e prints.
func (b *Binder) GetField(e Expr, name string) (Expr, error) { return b.getField(e, name) }

// GetItem is e[index] of an array or a map.
func (b *Binder) GetItem(e, index Expr) (Expr, error) { return b.getItem(e, index) }

// Struct is a struct of named fields, printed as named_struct.
func (b *Binder) Struct(names []string, values []Expr) Expr { return newStruct(names, values, "") }

// named prints an expression that stands for another one, e.g. nvl(a, b) for coalesce(a, b).
type named struct {
	Expr
	text string
}

// Named is e printed as text.
func Named(e Expr, text string) Expr { return &named{e, text} }

// unnamed is e without the names given to it.
func unnamed(e Expr) Expr {
	for {
		n, ok := e.(*named)
		if !ok {
			return e
		}
		e = n.Expr
	}
}

// Children implements Expr: the one operand is the expression itself.
func (n *named) Children() []Expr { return []Expr{n.Expr} }

// WithChildren implements Expr.
func (n *named) WithChildren(c []Expr) Expr { return &named{c[0], n.text} }

// SQL implements Expr.
func (n *named) SQL() string { return n.text }

func (n *named) harmless() bool       { return true }
func (n *named) nullIntolerant() bool { return true }

// operatorArgs is the number of operands an operator called like a function takes.
func (b *Binder) binaryArgs(args []Expr) error { return b.argCount(args, 2, 2) }

// binaryOp registers an operator that takes two operands.
func binaryOp(sign, family, doc string, bind func(b *Binder, l, r Expr) (Expr, error), aliases ...string) *Function {
	return &Function{
		Name: sign, Aliases: aliases, Family: family, Signature: "expr1 " + sign + " expr2", Doc: doc,
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			if err := b.binaryArgs(args); err != nil {
				return nil, err
			}
			return bind(b, args[0], args[1])
		},
	}
}

// unaryOp registers an operator or predicate that takes one operand.
func unaryOp(sign, doc string, bind func(b *Binder, e Expr) (Expr, error), aliases ...string) *Function {
	return &Function{
		Name: sign, Aliases: aliases, Family: "operators", Signature: sign + " expr", Doc: doc,
		Bind: func(b *Binder, args []Expr) (Expr, error) {
			if err := b.argCount(args, 1, 1); err != nil {
				return nil, err
			}
			return bind(b, args[0])
		},
	}
}

func operatorFunctions() []*Function {
	arith := func(op string) func(b *Binder, l, r Expr) (Expr, error) {
		return func(b *Binder, l, r Expr) (Expr, error) { return b.Arithmetic(op, l, r) }
	}
	cmp := func(op string) func(b *Binder, l, r Expr) (Expr, error) {
		return func(b *Binder, l, r Expr) (Expr, error) { return b.Compare(op, l, r) }
	}
	bit := func(op string) func(b *Binder, l, r Expr) (Expr, error) {
		return func(b *Binder, l, r Expr) (Expr, error) { return b.bitwise(op, l, r) }
	}
	return []*Function{
		{
			Name: "+", Family: "operators", Signature: "expr1 + expr2", Doc: "The sum of two numbers or intervals, or a date or timestamp moved by an interval.",
			Bind: func(b *Binder, args []Expr) (Expr, error) { return b.plusMinus("+", args) },
		},
		{
			Name: "-", Family: "operators", Signature: "expr1 - expr2", Doc: "The difference of two numbers, intervals, dates or timestamps, or a date or timestamp moved back.",
			Bind: func(b *Binder, args []Expr) (Expr, error) { return b.plusMinus("-", args) },
		},
		binaryOp("*", "operators", "The product of two numbers, or of an interval and a number.", arith("*")),
		binaryOp("/", "operators", "The quotient of two numbers as DOUBLE or DECIMAL, or of an interval and a number.", arith("/")),
		binaryOp("%", "operators", "The remainder of expr1 divided by expr2, with the sign of expr1.", arith("%")),
		{
			Name: "mod", Family: "math", Signature: "mod(expr1, expr2)", Doc: "The remainder of expr1 divided by expr2, with the sign of expr1.", Example: "SELECT mod(7, 3) → 1",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.binaryArgs(args); err != nil {
					return nil, err
				}
				return b.modulo(args[0], args[1])
			},
		},
		binaryOp("div", "operators", "The whole part of the quotient, as BIGINT.", arith("div")),
		binaryOp("||", "operators", "The concatenation of strings, binary values or arrays.", func(b *Binder, l, r Expr) (Expr, error) { return b.concat([]Expr{l, r}) }),
		binaryOp("&", "operators", "The bitwise and of two integers.", bit("&")),
		binaryOp("|", "operators", "The bitwise or of two integers.", bit("|")),
		binaryOp("^", "operators", "The bitwise exclusive or of two integers.", bit("^")),
		binaryOp("<<", "operators", "expr1 shifted left by expr2 bits.", func(b *Binder, l, r Expr) (Expr, error) { return b.shift("<<", l, r) }),
		binaryOp(">>", "operators", "expr1 shifted right by expr2 bits, keeping the sign.", func(b *Binder, l, r Expr) (Expr, error) { return b.shift(">>", l, r) }),
		binaryOp(">>>", "operators", "expr1 shifted right by expr2 bits, filled with zeros.", func(b *Binder, l, r Expr) (Expr, error) { return b.shift(">>>", l, r) }),
		unaryOp("~", "The bitwise complement of an integer.", (*Binder).bitNot),
		binaryOp("=", "operators", "Whether two values are equal; NULL when one is NULL.", cmp("="), "=="),
		binaryOp("<>", "operators", "Whether two values differ; NULL when one is NULL.", cmp("<>"), "!="),
		binaryOp("<=>", "operators", "Whether two values are equal, where NULL equals NULL.", cmp("<=>")),
		binaryOp("<", "operators", "Whether expr1 is less than expr2.", cmp("<")),
		binaryOp("<=", "operators", "Whether expr1 is less than or equal to expr2.", cmp("<=")),
		binaryOp(">", "operators", "Whether expr1 is greater than expr2.", cmp(">")),
		binaryOp(">=", "operators", "Whether expr1 is greater than or equal to expr2.", cmp(">=")),
		binaryOp("and", "operators", "Logical and in three values.", (*Binder).And),
		binaryOp("or", "operators", "Logical or in three values.", (*Binder).Or),
		unaryOp("not", "Logical not.", (*Binder).Not, "!"),
		unaryOp("isnull", "Whether the value is NULL.", func(b *Binder, e Expr) (Expr, error) { return b.IsNull(e), nil }),
		unaryOp("isnotnull", "Whether the value is not NULL.", func(b *Binder, e Expr) (Expr, error) { return b.IsNotNull(e), nil }),
		binaryOp("equal_null", "conditional", "Whether two values are equal, where NULL equals NULL.", func(b *Binder, l, r Expr) (Expr, error) {
			e, err := b.Compare("<=>", l, r)
			if err != nil {
				return nil, err
			}
			return &named{e, sqlCall("equal_null", []Expr{l, r})}, nil
		}),
		{
			Name: "between", Family: "operators", Signature: "expr BETWEEN low AND high", Doc: "Whether a value lies between two others, bounds included.",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 3, 3); err != nil {
					return nil, err
				}
				return b.Between(args[0], args[1], args[2])
			},
		},
		{
			Name: "in", Family: "operators", Signature: "expr IN (expr, …)", Doc: "Whether a value equals one of a list.",
			Bind: func(b *Binder, args []Expr) (Expr, error) {
				if err := b.argCount(args, 1, -1); err != nil {
					return nil, err
				}
				return b.In(args[0], args[1:])
			},
		},
		{
			Name: "like", Family: "operators", Signature: "str LIKE pattern [ESCAPE char]", Doc: "Whether a string matches a pattern with % and _.",
			Bind: func(b *Binder, args []Expr) (Expr, error) { return b.likeFunc(LikePattern, args) },
		},
		{
			Name: "ilike", Family: "operators", Signature: "str ILIKE pattern [ESCAPE char]", Doc: "Whether a string matches a pattern with % and _, in any case.",
			Bind: func(b *Binder, args []Expr) (Expr, error) { return b.likeFunc(ILikePattern, args) },
		},
		binaryOp("rlike", "operators", "Whether a string contains a match of a regular expression.", func(b *Binder, l, r Expr) (Expr, error) {
			return b.rlike(l, r)
		}, "regexp", "regexp_like"),
		unaryOp("negative", "The negated value.", func(b *Binder, e Expr) (Expr, error) { return b.negate(e, sqlCall("negative", []Expr{e})) }),
		unaryOp("positive", "The value itself.", func(b *Binder, e Expr) (Expr, error) { return b.positive(e, "(+ "+e.SQL()+")") }),
	}
}

// plusMinus binds + and -, which also exist as prefix operators.
func (b *Binder) plusMinus(op string, args []Expr) (Expr, error) {
	if len(args) == 1 {
		if op == "+" {
			return b.Positive(args[0])
		}
		return b.Negate(args[0])
	}
	if err := b.argCount(args, 1, 2); err != nil {
		return nil, err
	}
	return b.Arithmetic(op, args[0], args[1])
}

// overflow is Spark's error for arithmetic that leaves its type.
func overflow(hint string) error {
	if hint == "" {
		return sparkerr.New("ARITHMETIC_OVERFLOW", "overflow")
	}
	return sparkerr.New("ARITHMETIC_OVERFLOW", "overflow; use `%s` to get NULL instead", hint)
}

func divideByZero() error {
	return sparkerr.New("DIVIDE_BY_ZERO", "division by zero; use `try_divide` to get NULL instead")
}
