package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// PatternKind is a sort of pattern matching.
type PatternKind uint8

// The sorts of patterns.
const (
	LikePattern PatternKind = iota
	ILikePattern
	RLikePattern
)

// Like binds text LIKE pattern ESCAPE escape, and the same of ILIKE; RLIKE has no escape character.
func (b *Binder) Like(kind PatternKind, text, pattern Expr, escape rune) (Expr, error) {
	e := &like{kind: kind, text: text, pattern: pattern, escape: escape}
	var args []Expr
	var err error
	sql := e.SQL()
	if args, err = b.coerceAs(sql, []Expr{text, pattern}, isString); err != nil {
		return nil, err
	}
	e.text, e.pattern = args[0], args[1]
	if p, ok := e.pattern.(*Literal); ok && p.Value != nil && kind != RLikePattern {
		m, err := compileLike(p.Value.(string), escape, kind == ILikePattern)
		if err == nil {
			e.ready = m
		}
	}
	return e, nil
}

// rlike binds RLIKE and its functions, which print under their own names.
func (b *Binder) rlike(text, pattern Expr) (Expr, error) {
	name := strings.ToUpper(b.name())
	e, err := b.Like(RLikePattern, text, pattern, '\\')
	if err != nil || name == "RLIKE" {
		return e, err
	}
	return &named{e, sqlCall(name, []Expr{text, pattern})}, nil
}

// likeFunc is like(str, pattern[, escape]).
func (b *Binder) likeFunc(kind PatternKind, args []Expr) (Expr, error) {
	if err := b.argCount(args, 2, 3); err != nil {
		return nil, err
	}
	escape := '\\'
	if len(args) == 3 {
		v, ok, err := b.foldable(args[2])
		s, isString := v.(string)
		if err != nil {
			return nil, err
		}
		if !ok || !isString || utf8.RuneCountInString(s) != 1 {
			return nil, sparkerr.New("INVALID_ESCAPE_CHAR", "`EscapeChar` should be a string literal of length one, but got \"%s\"", args[2].SQL())
		}
		escape, _ = utf8.DecodeRuneInString(s)
	}
	return b.Like(kind, args[0], args[1], escape)
}

// like matches strings against a pattern.
type like struct {
	kind          PatternKind
	text, pattern Expr
	escape        rune
	ready         *likeMatcher // of a constant pattern
}

func (e *like) Type() *columnar.Type { return columnar.Bool }
func (e *like) Nullable() bool       { return e.text.Nullable() || e.pattern.Nullable() }
func (e *like) Children() []Expr     { return []Expr{e.text, e.pattern} }
func (e *like) WithChildren(c []Expr) Expr {
	out := *e
	out.text, out.pattern = c[0], c[1]
	return &out
}

func (e *like) SQL() string {
	switch e.kind {
	case RLikePattern:
		return sqlCall("RLIKE", []Expr{e.text, e.pattern})
	case ILikePattern:
		return sqlCall("ilike", []Expr{e.text, e.pattern})
	}
	s := e.text.SQL() + " LIKE " + e.pattern.SQL()
	if e.escape != '\\' {
		s += " ESCAPE '" + string(e.escape) + "'"
	}
	return s
}

func (e *like) Eval(ctx *Context, in *columnar.Batch) (*columnar.Column, error) {
	n := in.Rows
	if n == 0 {
		return columnar.NewEmpty(columnar.Bool), nil
	}
	t, p, err := eval2(ctx, e.text, e.pattern, in)
	if err != nil {
		return nil, err
	}
	if anyNull(t, p) {
		return columnar.NewNull(columnar.Bool, n), nil
	}
	compile := func(s string) (func(string) bool, error) {
		if e.kind == RLikePattern {
			p, err := javatext.CompilePattern(s)
			if err != nil {
				return nil, javatext.PatternError("RLIKE", s, err)
			}
			return p.RLike, nil
		}
		m, err := compileLike(s, e.escape, e.kind == ILikePattern)
		if err != nil {
			return nil, err
		}
		return m.match, nil
	}
	var match func(string) bool
	if p.con {
		if e.ready != nil {
			match = e.ready.match
		} else if match, err = compile(p.StringAt(0)); err != nil {
			return nil, err
		}
		return bools([]vec{t, p}, n, func(i int) bool { return match(t.StringAt(t.row(i))) }), nil
	}
	cache := map[string]func(string) bool{}
	out := bools([]vec{t, p}, n, func(i int) bool {
		s := p.StringAt(i)
		m, ok := cache[s]
		if !ok {
			var cerr error
			if m, cerr = compile(s); cerr != nil {
				if err == nil {
					err = cerr
				}
				return false
			}
			cache[strings.Clone(s)] = m
		}
		return m(t.StringAt(t.row(i)))
	})
	return out, err
}

// likeMatcher is a compiled pattern of LIKE or ILIKE. Patterns with % at their ends only have a test
// of their own.
type likeMatcher struct {
	pattern *javatext.LikePattern
	fold    bool
	shape   byte // '=' the text, '^' its front, '$' its end, 'c' a part of it, 0 none of these
	text    string
}

func compileLike(pattern string, escape rune, fold bool) (*likeMatcher, error) {
	if fold {
		pattern = string(javatext.AppendLower(nil, pattern))
	}
	p, err := javatext.CompileLike(pattern, escape)
	if err != nil {
		return nil, err
	}
	m := &likeMatcher{pattern: p, fold: fold}
	if !strings.ContainsRune(pattern, escape) && !strings.Contains(pattern, "_") {
		front, end := strings.HasPrefix(pattern, "%"), strings.HasSuffix(pattern, "%")
		m.text = strings.Trim(pattern, "%")
		switch {
		case m.text == "" || strings.Contains(m.text, "%"):
		case front && end:
			m.shape = 'c'
		case front:
			m.shape = '$'
		case end:
			m.shape = '^'
		default:
			m.shape = '='
		}
	}
	return m, nil
}

func (m *likeMatcher) match(s string) bool {
	if m.fold {
		s = string(javatext.AppendLower(nil, s))
	}
	switch m.shape {
	case '=':
		return s == m.text
	case '^':
		return strings.HasPrefix(s, m.text)
	case '$':
		return strings.HasSuffix(s, m.text)
	case 'c':
		return strings.Contains(s, m.text)
	}
	return m.pattern.Match(s)
}
