package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
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
	if kind != RLikePattern {
		// LIKE is a binary operator for coercion, so a string beside a number is a number.
		args, err = b.coerceAs(sql, []Expr{text, pattern}, isString)
	} else {
		args, err = b.coerceAs(sql, []Expr{text, pattern}, isString)
	}
	if err != nil {
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
			return compileRegex(s)
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

// likePart is one element of a LIKE pattern: a literal piece, one character, or any text.
type likePart struct {
	lit string
	one bool // _
	any bool // %
}

// likeMatcher is a compiled LIKE pattern. Simple shapes have their own tests.
type likeMatcher struct {
	parts []likePart
	shape byte // '=' equal, '^' prefix, '$' suffix, 'c' contains, '*' anything, 0 general
	lit   string
	fold  bool
}

// compileLike reads a pattern: % is any text, _ any character, and the escape character makes one of
// these, or itself, literal.
func compileLike(pattern string, escape rune, fold bool) (*likeMatcher, error) {
	if fold {
		pattern = strings.ToLower(pattern)
	}
	m := &likeMatcher{fold: fold}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			m.parts = append(m.parts, likePart{lit: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(pattern); {
		r, w := utf8.DecodeRuneInString(pattern[i:])
		switch {
		case r == escape:
			if i+w >= len(pattern) {
				return nil, sparkerr.New("INVALID_FORMAT.ESC_AT_THE_END", "the format is invalid: '%s'; the escape character is not allowed to end with", pattern)
			}
			next, nw := utf8.DecodeRuneInString(pattern[i+w:])
			if next != '_' && next != '%' && next != escape {
				return nil, sparkerr.New("INVALID_FORMAT.ESC_IN_THE_MIDDLE", "the format is invalid: '%s'; the escape character is not allowed to precede '%c'", pattern, next)
			}
			lit.WriteString(pattern[i+w : i+w+nw])
			i += w + nw
			continue
		case r == '_':
			flush()
			m.parts = append(m.parts, likePart{one: true})
		case r == '%':
			flush()
			if k := len(m.parts); k == 0 || !m.parts[k-1].any {
				m.parts = append(m.parts, likePart{any: true})
			}
		default:
			lit.WriteString(pattern[i : i+w])
		}
		i += w
	}
	flush()
	p := m.parts
	switch {
	case len(p) == 0:
		m.shape = '='
	case len(p) == 1 && p[0].any:
		m.shape = '*'
	case len(p) == 1 && p[0].lit != "":
		m.shape, m.lit = '=', p[0].lit
	case len(p) == 2 && p[0].lit != "" && p[1].any:
		m.shape, m.lit = '^', p[0].lit
	case len(p) == 2 && p[1].lit != "" && p[0].any:
		m.shape, m.lit = '$', p[1].lit
	case len(p) == 3 && p[0].any && p[1].lit != "" && p[2].any:
		m.shape, m.lit = 'c', p[1].lit
	}
	return m, nil
}

func (m *likeMatcher) match(s string) bool {
	if m.fold {
		s = strings.ToLower(s)
	}
	switch m.shape {
	case '=':
		return s == m.lit
	case '^':
		return strings.HasPrefix(s, m.lit)
	case '$':
		return strings.HasSuffix(s, m.lit)
	case 'c':
		return strings.Contains(s, m.lit)
	case '*':
		return true
	}
	// The text behind the last % is tried again one character further on whenever the rest fails.
	i, p := 0, 0
	star, at := -1, 0
	for {
		if p == len(m.parts) {
			if i == len(s) {
				return true
			}
		} else if part := &m.parts[p]; part.any {
			star, at = p, i
			p++
			continue
		} else if part.one {
			if i < len(s) {
				_, w := utf8.DecodeRuneInString(s[i:])
				i += w
				p++
				continue
			}
		} else if strings.HasPrefix(s[i:], part.lit) {
			i += len(part.lit)
			p++
			continue
		}
		if star < 0 || at >= len(s) {
			return false
		}
		_, w := utf8.DecodeRuneInString(s[at:])
		at += w
		i, p = at, star+1
	}
}
