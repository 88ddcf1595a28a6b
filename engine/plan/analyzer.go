package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/expr"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// Catalog is what names in a query mean.
type Catalog interface {
	// Relation makes the plan of a table, view or source, with new attributes at every call; ok is
	// false when there is none of that name.
	Relation(a *Analyzer, name []string) (n Node, ok bool, err error)
	// Relations are the names that exist, for suggestions.
	Relations() []string
	// Module is a module of user functions by name, for calls such as clicks.domain(url).
	Module(name string) (udf.Module, bool)
}

// Settings are the session's settings that the meaning of a query depends on.
type Settings struct {
	ANSI bool
	Zone *time.Location
	Now  func() time.Time // for literals such as timestamp'now'
	Dir  string           // that relative paths in functions start from; "" for the working directory
}

// Analyzer turns syntax trees into resolved plans. One Analyzer serves one query: identities of
// columns are unique within it.
type Analyzer struct {
	Catalog  Catalog
	Settings Settings
	Registry *expr.Registry

	lastID     expr.AttrID
	watermarks int
	origins    map[any]int    // IDs of watermarks by WatermarkSpec.Origin
	relations  map[string]int // depth of views being resolved, against cycles
}

// NewAnalyzer makes an analyser for one query.
func NewAnalyzer(c Catalog, s Settings, r *expr.Registry) *Analyzer {
	if s.Zone == nil {
		s.Zone = time.UTC
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Analyzer{Catalog: c, Settings: s, Registry: r, relations: map[string]int{}}
}

// NewID makes a new identity of a column.
func (a *Analyzer) NewID() expr.AttrID {
	a.lastID++
	return a.lastID
}

// NewAttr makes a new column.
func (a *Analyzer) NewAttr(name string, t *columnar.Type, nullable bool) *expr.Attr {
	return &expr.Attr{ID: a.NewID(), Name: name, Typ: t, Null: nullable}
}

// Attrs makes new columns of a schema under a qualifier, which may be empty.
func (a *Analyzer) Attrs(s *columnar.Schema, qualifier string) []*expr.Attr {
	out := make([]*expr.Attr, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = a.NewAttr(f.Name, f.Type, f.Nullable)
		if qualifier != "" {
			out[i].Qualifier = []string{qualifier}
		}
	}
	return out
}

// scope is what names of columns mean at one place of a query.
type scope struct {
	attrs   []*expr.Attr
	hidden  []*expr.Attr // addressable with a qualifier only: the other side's column of USING
	outer   *scope       // of the query around a subquery
	lambdas []lambdaParam
	lateral []lateralAlias // aliases of earlier items of the same SELECT
	ctes    *cteScope
	windows map[string]*sql.WindowSpec
	// timeWindows are the columns that time windows of this SELECT added.
	timeWindows []windowColumn
}

type lambdaParam struct {
	name string
	expr expr.Expr
}

type lateralAlias struct {
	name string
	expr *expr.Alias
}

// cteScope is a chain of WITH clauses, innermost first.
type cteScope struct {
	name  string
	build func() (Node, error)
	up    *cteScope
}

func (c *cteScope) find(name string) *cteScope {
	for ; c != nil; c = c.up {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// Query analyses a statement's query.
func (a *Analyzer) Query(q sql.Query) (Node, error) {
	n, err := a.query(q, nil, nil)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// query analyses a query inside WITH clauses and, for a subquery, inside an outer scope.
func (a *Analyzer) query(q sql.Query, ctes *cteScope, outer *scope) (Node, error) {
	switch q := q.(type) {
	case *sql.Select:
		n, _, err := a.selectQuery(q, nil, ctes, outer)
		return n, err
	case *sql.SetOp:
		return a.setOp(q, ctes, outer)
	case *sql.TableQuery:
		return a.relation(q.Table, ctes, outer)
	case *sql.ValuesQuery:
		return a.relation(q.Input, ctes, outer)
	case *sql.With:
		return a.with(q, ctes, outer)
	case *sql.Ordered:
		return a.ordered(q, ctes, outer)
	case *sql.Pipe:
		return a.pipe(q, ctes, outer)
	}
	return nil, unsupported(q, "this form of query")
}

func unsupported(n sql.Node, what string) error {
	p := n.At()
	return sparkerr.At(p.Line, p.Col, "UNSUPPORTED_FEATURE", "%s is not supported", what)
}

func (a *Analyzer) with(w *sql.With, ctes *cteScope, outer *scope) (Node, error) {
	if w.Recursive {
		return nil, unsupported(w, "WITH RECURSIVE")
	}
	for i := range w.CTEs {
		c := &w.CTEs[i]
		inner := ctes
		ctes = &cteScope{name: c.Name.Name, up: ctes, build: func() (Node, error) {
			n, err := a.query(c.Query, inner, outer)
			if err != nil {
				return nil, err
			}
			return a.alias(n, c.Name.Name, sql.Names(c.Columns), c)
		}}
		if _, err := ctes.build(); err != nil {
			return nil, err
		}
	}
	return a.query(w.Body, ctes, outer)
}

// alias qualifies the columns of n by a relation's name and renames them.
func (a *Analyzer) alias(n Node, name string, columns []string, at sql.Node) (Node, error) {
	out := n.Output()
	if len(columns) > 0 && len(columns) != len(out) {
		p := at.At()
		return nil, sparkerr.At(p.Line, p.Col, "ASSIGNMENT_ARITY_MISMATCH", "%d column names are given for the %d columns of %q", len(columns), len(out), name)
	}
	if len(columns) > 0 {
		exprs := make([]expr.Expr, len(out))
		for i, c := range columns {
			exprs[i] = &expr.Alias{Child: out[i], Name: c, ID: a.NewID()}
		}
		n = &Project{Exprs: exprs, Child: n}
		out = n.Output()
	}
	attrs := make([]*expr.Attr, len(out))
	for i, o := range out {
		c := *o
		c.Qualifier = []string{name}
		attrs[i] = &c
	}
	return &Alias{Relation: name, Attrs: attrs, Child: n}, nil
}

func (a *Analyzer) setOp(q *sql.SetOp, ctes *cteScope, outer *scope) (Node, error) {
	l, err := a.query(q.Left, ctes, outer)
	if err != nil {
		return nil, err
	}
	r, err := a.query(q.Right, ctes, outer)
	if err != nil {
		return nil, err
	}
	return a.combine(q.Kind, q.All, l, r, q)
}

// combine is a set operation over two analysed inputs.
func (a *Analyzer) combine(kind sql.SetOpKind, all bool, l, r Node, at sql.Node) (Node, error) {
	l, r, attrs, err := a.alignTypes(l, r, kind.String(), at)
	if err != nil {
		return nil, err
	}
	if kind != sql.Union || !all {
		if err := withoutMaps(attrs, at); err != nil {
			return nil, err
		}
	}
	if kind != sql.Union {
		return &SetOp{Except: kind == sql.Except, All: all, Left: l, Right: r, Attrs: attrs}, nil
	}
	var u Node = &Union{Inputs: []Node{l, r}, Attrs: attrs}
	if ln, ok := l.(*Union); ok {
		u = &Union{Inputs: append(append([]Node{}, ln.Inputs...), r), Attrs: attrs}
	}
	if !all {
		u = a.distinct(u)
	}
	return u, nil
}

// alignTypes brings the columns of two inputs to common types and gives the columns of the result.
func (a *Analyzer) alignTypes(l, r Node, op string, at sql.Node) (Node, Node, []*expr.Attr, error) {
	lo, ro := l.Output(), r.Output()
	p := at.At()
	if len(lo) != len(ro) {
		return nil, nil, nil, sparkerr.At(p.Line, p.Col, "NUM_COLUMNS_MISMATCH", "%s can only be performed on inputs with the same number of columns, but the first input has %d columns and the second %d", op, len(lo), len(ro))
	}
	b := a.binder(nil)
	types := make([]*columnar.Type, len(lo))
	attrs := make([]*expr.Attr, len(lo))
	for i := range lo {
		t := b.CommonType(lo[i].Typ, ro[i].Typ)
		if t == nil && sameShape(lo[i].Typ, ro[i].Typ) { // structs whose fields have other names: the first input decides
			t = lo[i].Typ
		}
		if t == nil {
			return nil, nil, nil, sparkerr.At(p.Line, p.Col, "INCOMPATIBLE_COLUMN_TYPE", "%s can only be performed on tables with compatible column types: column %d is %q on one side and %q on the other", op, i+1, lo[i].Typ.SQL(), ro[i].Typ.SQL())
		}
		types[i] = t
		null := lo[i].Null || ro[i].Null
		if op == "INTERSECT" {
			null = lo[i].Null && ro[i].Null
		} else if op == "EXCEPT" {
			null = lo[i].Null
		}
		attrs[i] = a.NewAttr(lo[i].Name, t, null)
		attrs[i].EventTime = lo[i].EventTime // as in Spark, the first input decides
	}
	return a.castOutput(l, types), a.castOutput(r, types), attrs, nil
}

// sameShape tells whether two types differ in the names of fields, and in what may be NULL, alone.
func sameShape(x, y *columnar.Type) bool {
	if x.Kind != y.Kind {
		return false
	}
	switch x.Kind {
	case columnar.KindArray:
		return sameShape(x.Elem, y.Elem)
	case columnar.KindMap:
		return sameShape(x.Key, y.Key) && sameShape(x.Elem, y.Elem)
	case columnar.KindStruct:
		return slices.EqualFunc(x.Fields, y.Fields, func(f, g columnar.Field) bool { return sameShape(f.Type, g.Type) })
	}
	return x.Equal(y)
}

// castOutput casts the columns of n to types.
func (a *Analyzer) castOutput(n Node, types []*columnar.Type) Node {
	out := n.Output()
	same := true
	for i, o := range out {
		same = same && o.Typ.Equal(types[i])
	}
	if same {
		return n
	}
	exprs := make([]expr.Expr, len(out))
	for i, o := range out {
		exprs[i] = o
		if !o.Typ.Equal(types[i]) {
			exprs[i] = &expr.Alias{Child: a.implicitCast(o, types[i]), Name: o.Name, ID: a.NewID()}
		}
	}
	return &Project{Exprs: exprs, Child: n}
}

// distinct groups by all columns.
func (a *Analyzer) distinct(n Node) Node {
	out := n.Output()
	keys := make([]expr.Expr, len(out))
	for i, o := range out {
		keys[i] = o
	}
	return &Aggregate{Keys: keys, Exprs: keys, Distinct: true, Child: n, ID: -1}
}
