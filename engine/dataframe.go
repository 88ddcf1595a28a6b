package engine

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
	"github.com/wstream/wstream/engine/udf"
)

// DataFrame is a query over tables or streams that has not run. It is immutable; methods return a new one.
type DataFrame struct {
	s     *Session
	query sql.Query
	// hidden are the parts of the query that are not SQL, by the names that query has for them.
	hidden map[string]func(a *plan.Analyzer) (plan.Node, error)
	alias  string // by which columns can be addressed
	view   string // name, if the frame is a view
	err    error
}

// failed is a data frame that carries an error.
func (s *Session) failed(err error) *DataFrame { return &DataFrame{s: s, err: err} }

// frame is the data frame of a query over views.
func (s *Session) frame(q sql.Query) *DataFrame { return &DataFrame{s: s, query: q} }

// frameOf is a data frame that is made by a function, under a name that qualifies its columns.
func (s *Session) frameOf(alias string, build func(a *plan.Analyzer) (plan.Node, error)) *DataFrame {
	s.mu.Lock()
	s.relations++
	key := strconv.Itoa(s.relations)
	s.mu.Unlock()
	name := []sql.Ident{{Name: hiddenSchema}, {Name: key}, {Name: alias}}
	return &DataFrame{
		s: s, query: &sql.TableQuery{Table: &sql.Table{Name: name}}, alias: alias,
		hidden: map[string]func(a *plan.Analyzer) (plan.Node, error){key: build},
	}
}

// build analyses the frame, with new identities for its columns each time.
func (df *DataFrame) build(a *plan.Analyzer, c *catalog) (plan.Node, error) {
	if df.err != nil {
		return nil, df.err
	}
	saved := a.Catalog
	hidden := df.hidden
	if len(c.hidden) > 0 { // the frame is a part of another one, or a view in its query
		hidden = maps.Clone(c.hidden)
		maps.Copy(hidden, df.hidden)
	}
	a.Catalog = &catalog{s: df.s, hidden: hidden}
	defer func() { a.Catalog = saved }()
	return a.Query(df.query)
}

// plan analyses the frame.
func (df *DataFrame) plan() (*plan.Analyzer, plan.Node, error) {
	c := &catalog{s: df.s}
	a := df.s.analyzer(c)
	n, err := df.build(a, c)
	return a, n, err
}

// checked looks for mistakes now.
func (df *DataFrame) checked() *DataFrame {
	if df.err == nil {
		if _, _, err := df.plan(); err != nil {
			return df.s.failed(err)
		}
	}
	return df
}

// Err is the first mistake in the frame, or nil.
func (df *DataFrame) Err() error { return df.err }

// Schema is the schema of the result.
func (df *DataFrame) Schema() (*columnar.Schema, error) {
	_, n, err := df.plan()
	if err != nil {
		return nil, err
	}
	s := &columnar.Schema{}
	for _, a := range n.Output() {
		s.Fields = append(s.Fields, a.Field())
	}
	return s, nil
}

// IsStreaming says that the frame reads a stream.
func (df *DataFrame) IsStreaming() bool {
	_, n, err := df.plan()
	return err == nil && plan.IsStreaming(n)
}

// pipe puts an operator behind the frame.
func (df *DataFrame) pipe(op sql.PipeOp) *DataFrame {
	out := *df
	out.query, out.view = &sql.Pipe{Input: df.query, Op: op}, ""
	return out.checked()
}

// with adds the hidden parts of another frame.
func (df *DataFrame) with(other *DataFrame) *DataFrame {
	out := *df
	if out.err == nil {
		out.err = other.err
	}
	out.hidden = maps.Clone(df.hidden)
	if out.hidden == nil {
		out.hidden = map[string]func(a *plan.Analyzer) (plan.Node, error){}
	}
	maps.Copy(out.hidden, other.hidden)
	return &out
}

// over makes a frame of this one by a function on its plan.
func (df *DataFrame) over(f func(a *plan.Analyzer, n plan.Node) (plan.Node, error)) *DataFrame {
	if df.err != nil {
		return df
	}
	in := *df
	out := df.s.frameOf(df.alias, func(a *plan.Analyzer) (plan.Node, error) {
		n, err := in.build(a, &catalog{s: in.s})
		if err != nil {
			return nil, err
		}
		return f(a, n)
	})
	return out.checked()
}

// parsed reads expressions; names and stars among them as well.
func parsed(texts []string) ([]sql.Expr, error) {
	out := make([]sql.Expr, len(texts))
	for i, t := range texts {
		if strings.TrimSpace(t) == "*" {
			out[i] = &sql.Star{}
			continue
		}
		e, err := sql.ParseExpr(t)
		if err != nil {
			return nil, fmt.Errorf("expression %q: %w", t, err)
		}
		out[i] = e
	}
	return out, nil
}

// each calls f with parsed expressions.
func (df *DataFrame) each(texts []string, f func(es []sql.Expr) *DataFrame) *DataFrame {
	if df.err != nil {
		return df
	}
	es, err := parsed(texts)
	if err != nil {
		return df.s.failed(err)
	}
	return f(es)
}

// Select computes columns, e.g. Select("url", "n + 1 AS more", "*").
func (df *DataFrame) Select(columns ...string) *DataFrame {
	return df.each(columns, func(es []sql.Expr) *DataFrame { return df.pipe(&sql.PipeSelect{Items: es}) })
}

// SelectExpr is Select, under the name that Spark has for expressions.
func (df *DataFrame) SelectExpr(columns ...string) *DataFrame { return df.Select(columns...) }

// Filter keeps the rows for which the condition is true.
func (df *DataFrame) Filter(condition string) *DataFrame {
	return df.each([]string{condition}, func(es []sql.Expr) *DataFrame { return df.pipe(&sql.PipeWhere{Cond: es[0]}) })
}

// Where is Filter.
func (df *DataFrame) Where(condition string) *DataFrame { return df.Filter(condition) }

// WithColumn adds a column, or replaces the one of that name.
func (df *DataFrame) WithColumn(name, expression string) *DataFrame {
	return df.each([]string{expression}, func(es []sql.Expr) *DataFrame {
		schema, err := df.Schema()
		if err != nil {
			return df.s.failed(err)
		}
		if schema.IndexFold(name) >= 0 {
			return df.pipe(&sql.PipeSet{Columns: []sql.Ident{{Name: name}}, Values: es})
		}
		return df.pipe(&sql.PipeExtend{Items: []sql.Expr{&sql.Alias{X: es[0], Names: []sql.Ident{{Name: name}}}}})
	})
}

// WithColumnRenamed gives a column another name; a column that is not there is no mistake, as in Spark.
func (df *DataFrame) WithColumnRenamed(from, to string) *DataFrame {
	if df.err != nil {
		return df
	}
	schema, err := df.Schema()
	if err != nil {
		return df.s.failed(err)
	}
	names := make([]string, len(schema.Fields))
	for i, f := range schema.Fields {
		if names[i] = f.Name; strings.EqualFold(f.Name, from) {
			names[i] = to
		}
	}
	return df.ToDF(names...)
}

// ToDF gives all columns new names.
func (df *DataFrame) ToDF(names ...string) *DataFrame {
	return df.over(func(a *plan.Analyzer, n plan.Node) (plan.Node, error) { return a.Rename(n, names) })
}

// Drop leaves out columns; those that are not there are no mistake, as in Spark.
func (df *DataFrame) Drop(columns ...string) *DataFrame {
	if df.err != nil {
		return df
	}
	schema, err := df.Schema()
	if err != nil {
		return df.s.failed(err)
	}
	var there []sql.Ident
	for _, c := range columns {
		if schema.IndexFold(c) >= 0 {
			there = append(there, sql.Ident{Name: c, Quoted: true})
		}
	}
	if len(there) == 0 {
		return df
	}
	return df.pipe(&sql.PipeDrop{Columns: there})
}

// Alias gives the frame a name by which its columns can be addressed, e.g. in a join's condition.
func (df *DataFrame) Alias(name string) *DataFrame {
	if df.err != nil {
		return df
	}
	out := df.pipe(&sql.PipeAs{Name: sql.Ident{Name: name, Quoted: true}})
	out.alias = name
	return out
}

// Limit keeps the first n rows.
func (df *DataFrame) Limit(n int) *DataFrame {
	return df.each([]string{strconv.Itoa(n)}, func(es []sql.Expr) *DataFrame {
		return df.pipe(&sql.PipeOrder{Order: &sql.Ordered{Limit: es[0]}})
	})
}

// OrderBy sorts, e.g. OrderBy("n DESC", "url").
func (df *DataFrame) OrderBy(keys ...string) *DataFrame {
	if df.err != nil {
		return df
	}
	q, err := sql.ParseQuery("SELECT * FROM input ORDER BY " + strings.Join(keys, ", "))
	if err != nil {
		return df.s.failed(fmt.Errorf("sort keys %q: %w", keys, err))
	}
	o, ok := q.(*sql.Ordered)
	if !ok {
		return df.s.failed(fmt.Errorf("%q are not sort keys", keys))
	}
	return df.pipe(&sql.PipeOrder{Order: &sql.Ordered{OrderBy: o.OrderBy, OrderByAll: o.OrderByAll}})
}

// Distinct removes duplicate rows.
func (df *DataFrame) Distinct() *DataFrame {
	if df.err != nil {
		return df
	}
	return df.pipe(&sql.PipeSelect{Distinct: true, Items: []sql.Expr{&sql.Star{}}})
}

// Union appends the rows of another frame, whose columns are taken by position. Duplicates stay.
func (df *DataFrame) Union(other *DataFrame) *DataFrame {
	return df.setOp(sql.Union, true, other)
}

// Intersect and Except keep the rows that are, and are not, in the other frame, without duplicates.
func (df *DataFrame) Intersect(other *DataFrame) *DataFrame {
	return df.setOp(sql.Intersect, false, other)
}

// Except keeps the rows that are not in the other frame, without duplicates.
func (df *DataFrame) Except(other *DataFrame) *DataFrame { return df.setOp(sql.Except, false, other) }

func (df *DataFrame) setOp(kind sql.SetOpKind, all bool, other *DataFrame) *DataFrame {
	if df.err != nil {
		return df
	}
	return df.with(other).pipe(&sql.PipeSetOp{Kind: kind, All: all, Right: other.query})
}

// joinKinds are the names of joins, as Spark takes them.
func joinKind(name string) (sql.JoinKind, bool) {
	switch strings.ReplaceAll(strings.ToLower(name), "_", "") {
	case "", "inner":
		return sql.InnerJoin, true
	case "cross":
		return sql.CrossJoin, true
	case "left", "leftouter":
		return sql.LeftOuterJoin, true
	case "right", "rightouter":
		return sql.RightOuterJoin, true
	case "full", "outer", "fullouter":
		return sql.FullOuterJoin, true
	case "semi", "leftsemi":
		return sql.LeftSemiJoin, true
	case "anti", "leftanti":
		return sql.LeftAntiJoin, true
	}
	return 0, false
}

// Join joins with another frame. The condition may address columns by the aliases of both frames; it may be empty for a
// cross join. Kinds are those of Spark: inner, cross, left, right, full, left_semi, left_anti.
func (df *DataFrame) Join(other *DataFrame, condition, kind string) *DataFrame {
	j := &sql.Join{}
	if condition != "" {
		e, err := sql.ParseExpr(condition)
		if err != nil {
			return df.s.failed(fmt.Errorf("join condition %q: %w", condition, err))
		}
		j.On = e
	}
	return df.join(other, j, kind)
}

// JoinUsing joins on columns of the same names, which come out once.
func (df *DataFrame) JoinUsing(other *DataFrame, columns []string, kind string) *DataFrame {
	j := &sql.Join{}
	for _, c := range columns {
		j.Using = append(j.Using, sql.Ident{Name: c, Quoted: true})
	}
	return df.join(other, j, kind)
}

func (df *DataFrame) join(other *DataFrame, j *sql.Join, kind string) *DataFrame {
	if df.err != nil {
		return df
	}
	k, ok := joinKind(kind)
	if !ok {
		return df.s.failed(sparkerr.New("UNSUPPORTED_JOIN_TYPE", "unsupported join type %q; supported are inner, cross, left, right, full, left_semi and left_anti", kind))
	}
	j.Kind = k
	j.Right = &sql.Derived{Query: other.query}
	if other.alias != "" {
		j.Right = &sql.Aliased{Input: j.Right, Name: sql.Ident{Name: other.alias, Quoted: true}}
	}
	return df.with(other).pipe(&sql.PipeJoin{Join: j})
}

// WithWatermark declares how late the rows of an event-time column may be, e.g. "10 minutes".
func (df *DataFrame) WithWatermark(column, delay string) *DataFrame {
	return df.watermark(column, delay, plan.WatermarkSpec{})
}

// WithPartitionWatermark is WithWatermark by the slowest partition of the source instead of the newest row. A partition that
// is caught up and silent for idle does not count; an empty idle waits for ever.
func (df *DataFrame) WithPartitionWatermark(column, delay, idle string) *DataFrame {
	spec := plan.WatermarkSpec{ByPartition: true}
	if idle != "" {
		d, err := plan.ParseDelay(idle)
		if err != nil {
			return df.s.failed(err)
		}
		spec.IdleMicros = d
	}
	return df.watermark(column, delay, spec)
}

func (df *DataFrame) watermark(column, delay string, spec plan.WatermarkSpec) *DataFrame {
	if df.err != nil {
		return df
	}
	d, err := plan.ParseDelay(delay)
	if err != nil {
		return df.s.failed(err)
	}
	spec.DelayMicros, spec.DelayText, spec.Origin = d, delay, new(byte)
	return df.over(func(a *plan.Analyzer, n plan.Node) (plan.Node, error) { return a.Watermark(n, column, spec) })
}

// DropDuplicates keeps the first row of each combination of columns; no columns means all.
func (df *DataFrame) DropDuplicates(columns ...string) *DataFrame {
	return df.over(func(a *plan.Analyzer, n plan.Node) (plan.Node, error) { return a.DropDuplicates(n, columns, false) })
}

// DropDuplicatesWithinWatermark is DropDuplicates of rows whose times differ by no more than the watermark's delay.
func (df *DataFrame) DropDuplicatesWithinWatermark(columns ...string) *DataFrame {
	return df.over(func(a *plan.Analyzer, n plan.Node) (plan.Node, error) { return a.DropDuplicates(n, columns, true) })
}

// Apply applies a function of a registered module, of the kind parse, filter, map or state.
func (df *DataFrame) Apply(module, function string, kind udf.Kind, onError plan.OnError) *DataFrame {
	return df.over(func(a *plan.Analyzer, n plan.Node) (plan.Node, error) {
		m, ok := a.Catalog.Module(module)
		if !ok {
			return nil, fmt.Errorf("there is no module %q", module)
		}
		return a.Module(n, m, function, kind, onError)
	})
}

// ApplyModule is Apply of a module that need not be registered; package groupstate makes such modules of Go functions.
func (df *DataFrame) ApplyModule(m udf.Module, function string, kind udf.Kind, onError plan.OnError) *DataFrame {
	return df.over(func(a *plan.Analyzer, n plan.Node) (plan.Node, error) {
		return a.Module(n, m, function, kind, onError)
	})
}

// LateRowsTo sends the rows that come too late for the stateful operators of the frame to a sink of the query, see
// DataStreamWriter.SideSink.
func (df *DataFrame) LateRowsTo(sink string) *DataFrame {
	return df.over(func(_ *plan.Analyzer, n plan.Node) (plan.Node, error) {
		return &plan.LateOutput{Sink: sink, Child: n}, nil
	})
}

// GroupBy groups rows for aggregation, e.g. GroupBy("window(ts, '10 minutes') AS w", "url").
func (df *DataFrame) GroupBy(keys ...string) *GroupedData { return &GroupedData{df: df, keys: keys} }

// Agg aggregates all rows.
func (df *DataFrame) Agg(calls ...string) *DataFrame { return df.GroupBy().Agg(calls...) }

// CreateOrReplaceTempView makes the frame a view of the session.
func (df *DataFrame) CreateOrReplaceTempView(name string) error {
	if err := df.checked().err; err != nil {
		return err
	}
	out := *df
	out.view = name
	df.s.mu.Lock()
	defer df.s.mu.Unlock()
	df.s.views[strings.ToLower(name)] = &out
	return nil
}

// SQL is a query over this frame, which it calls "input".
func (df *DataFrame) SQL(text string) *DataFrame {
	if df.err != nil {
		return df
	}
	q, err := sql.ParseQuery(text)
	if err != nil {
		return df.s.failed(err)
	}
	out := *df
	out.alias, out.view = "", ""
	out.query = &sql.With{CTEs: []sql.CTE{{Name: sql.Ident{Name: "input"}, Query: df.query}}, Body: q}
	return out.checked()
}

// GroupedData is rows in groups.
type GroupedData struct {
	df   *DataFrame
	keys []string
}

// Agg computes aggregates per group, e.g. Agg("count(*) AS n", "max(v)"). The keys come first in the result.
func (g *GroupedData) Agg(calls ...string) *DataFrame {
	return g.df.each(g.keys, func(keys []sql.Expr) *DataFrame {
		return g.df.each(calls, func(items []sql.Expr) *DataFrame {
			op := &sql.PipeAggregate{Items: items}
			if len(keys) > 0 {
				op.GroupBy = &sql.GroupBy{Items: keys}
			}
			return g.df.pipe(op)
		})
	})
}

// Count is the number of rows per group, as "count".
func (g *GroupedData) Count() *DataFrame { return g.Agg("count(1) AS count") }
