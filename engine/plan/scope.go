package plan

import (
	"sort"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
)

// match finds the columns that the front of a name may mean; rest is what follows: struct fields.
func match(attrs []*expr.Attr, parts []string) (found []*expr.Attr, rest []string) {
	// The longest qualifier wins: a.b.c is column c of a.b, else column b of a with field c, else column a.
	for q := len(parts) - 1; q >= 0; q-- {
		name := parts[q]
		for _, at := range attrs {
			if strings.EqualFold(at.Name, name) && qualified(at.Qualifier, parts[:q]) {
				found = append(found, at)
			}
		}
		if len(found) > 0 {
			return found, parts[q+1:]
		}
	}
	return nil, nil
}

func qualified(have, want []string) bool {
	if len(want) > len(have) {
		return false
	}
	have = have[len(have)-len(want):]
	for i := range want {
		if !strings.EqualFold(have[i], want[i]) {
			return false
		}
	}
	return true
}

// column resolves a name. It returns nil without an error when the name is unknown.
func (a *Analyzer) column(s *scope, parts []sql.Ident) (expr.Expr, error) {
	names := sql.Names(parts)
	pos := parts[0].At()
	for i := len(s.lambdas) - 1; i >= 0; i-- {
		if strings.EqualFold(s.lambdas[i].name, names[0]) {
			return a.fields(s.lambdas[i].expr, names[1:], pos)
		}
	}
	found, rest := match(s.attrs, names)
	if found == nil && len(names) > 1 {
		found, rest = match(s.hidden, names)
	}
	if len(found) > 1 {
		first := found[0]
		for _, f := range found[1:] {
			if f.ID != first.ID {
				return nil, ambiguous(names, found, pos)
			}
		}
		found = found[:1]
	}
	if len(found) == 1 {
		at := found[0]
		var e expr.Expr = at
		if len(rest) == 0 && at.Name != names[len(names)-1] {
			c := *at
			c.Name = names[len(names)-1]
			e = &c
		}
		return a.fields(e, rest, pos)
	}
	for i := len(s.lateral) - 1; i >= 0; i-- {
		l := s.lateral[i]
		if strings.EqualFold(l.name, names[0]) {
			n := 0
			for _, o := range s.lateral {
				if strings.EqualFold(o.name, names[0]) {
					n++
				}
			}
			if n > 1 {
				return nil, sparkerr.At(pos.Line, pos.Col, "AMBIGUOUS_LATERAL_COLUMN_ALIAS", "lateral column alias `%s` is ambiguous and has %d matches", names[0], n)
			}
			return a.fields(&lateralRef{Alias: l.expr}, names[1:], pos)
		}
	}
	if s.outer != nil {
		outer := *s.outer
		e, err := a.column(&outer, parts)
		if err != nil || e == nil {
			return nil, err
		}
		return expr.Transform(e, func(x expr.Expr) expr.Expr {
			if at, ok := x.(*expr.Attr); ok {
				return &outerRef{Attr: at}
			}
			return x
		}), nil
	}
	return nil, nil
}

// fields follows struct fields (or map keys) by name.
func (a *Analyzer) fields(e expr.Expr, names []string, pos sql.Span) (expr.Expr, error) {
	for _, n := range names {
		f, err := a.binder(nil).GetField(e, n)
		if err != nil {
			return nil, atPos(err, pos)
		}
		e = f
	}
	return e, nil
}

func ambiguous(names []string, found []*expr.Attr, pos sql.Span) error {
	var refs []string
	for _, f := range found {
		refs = append(refs, "`"+strings.Join(append(append([]string{}, f.Qualifier...), f.Name), "`.`")+"`")
	}
	return sparkerr.At(pos.Line, pos.Col, "AMBIGUOUS_REFERENCE", "reference `%s` is ambiguous, could be: [%s]", strings.Join(names, "`.`"), strings.Join(refs, ", "))
}

// unknownColumn is the error for a name that means nothing, with the nearest names.
func unknownColumn(s *scope, parts []sql.Ident) error {
	names := sql.Names(parts)
	pos := parts[0].At()
	full := "`" + strings.Join(names, "`.`") + "`"
	var all []string
	for _, at := range s.attrs {
		all = append(all, at.Name)
	}
	if len(all) == 0 {
		return sparkerr.At(pos.Line, pos.Col, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "a column, variable, or function parameter with name %s cannot be resolved", full)
	}
	near := Nearest(names[len(names)-1], all, 5)
	for i, n := range near {
		near[i] = "`" + n + "`"
	}
	e := sparkerr.At(pos.Line, pos.Col, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "a column, variable, or function parameter with name %s cannot be resolved. Did you mean one of the following? [%s]", full, strings.Join(near, ", "))
	return e
}

// Nearest returns up to n of names, the most similar to word first.
func Nearest(word string, names []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	seen := map[string]bool{}
	var list []scored
	for _, m := range names {
		if !seen[m] {
			seen[m] = true
			list = append(list, scored{m, editDistance(strings.ToLower(word), strings.ToLower(m))})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].d < list[j].d })
	var out []string
	for i := 0; i < len(list) && i < n; i++ {
		out = append(out, list[i].name)
	}
	return out
}

func editDistance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := prev[0]
		prev[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = prev[j]
			prev[j] = min(cost, prev[j]+1, prev[j-1]+1)
		}
	}
	return prev[len(b)]
}

// atPos gives an error with a condition the position of the syntax that it belongs to.
func atPos(err error, pos sql.Span) error {
	if e, ok := err.(*sparkerr.Error); ok {
		return e.WithPos(pos.Line, pos.Col)
	}
	return err
}

// lateralRef is a use of the alias of an earlier item of the same SELECT; the analyser computes
// the alias in a Project below, or substitutes it.
type lateralRef struct{ Alias *expr.Alias }

func (l *lateralRef) Type() *columnar.Type               { return l.Alias.Type() }
func (l *lateralRef) Nullable() bool                     { return l.Alias.Nullable() }
func (l *lateralRef) Children() []expr.Expr              { return nil }
func (l *lateralRef) WithChildren([]expr.Expr) expr.Expr { return l }
func (l *lateralRef) SQL() string                        { return "lateralAliasReference(" + l.Alias.Name + ")" }

func (l *lateralRef) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errMarker(l.SQL())
}

// outerRef is a column of the query around a subquery.
type outerRef struct{ Attr *expr.Attr }

func (o *outerRef) Type() *columnar.Type               { return o.Attr.Typ }
func (o *outerRef) Nullable() bool                     { return o.Attr.Null }
func (o *outerRef) Children() []expr.Expr              { return nil }
func (o *outerRef) WithChildren([]expr.Expr) expr.Expr { return o }
func (o *outerRef) SQL() string                        { return o.Attr.SQL() }
func (o *outerRef) Eval(*expr.Context, *columnar.Batch) (*columnar.Column, error) {
	return nil, errMarker(o.SQL())
}

// errMarker is the fault of evaluating an expression that the analyser should have replaced.
type errMarker string

func (e errMarker) Error() string { return "expression " + string(e) + " was left in the plan" }

// canonical is a text that is equal for two expressions that mean the same.
func canonical(e expr.Expr) string {
	r := expr.Transform(e, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Attr:
			return &expr.Attr{ID: x.ID, Name: "#" + itoa(int64(x.ID)), Typ: x.Typ, Null: x.Null}
		case *expr.Alias:
			return x.Child
		}
		return x
	})
	text := r.SQL() + " " + r.Type().String()
	expr.Walk(r, func(x expr.Expr) bool {
		if i, ok := x.(interface{ Identity() string }); ok {
			text += i.Identity()
		}
		return true
	})
	return text
}

func itoa(v int64) string {
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = byte('0' + v%10)
		if v /= 10; v == 0 {
			return string(b[i:])
		}
	}
}
