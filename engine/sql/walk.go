package sql

// Walk calls visit for the node and, as long as visit returns true, for everything below it, in the
// order of the text. Nodes are pointers, except the parts that are kept by value (SortItem, When,
// CTE, NamedWindow, Hint, Field, Bound), whose children are visited directly.
func Walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	w := walker{visit}
	switch n := n.(type) {
	case *FieldAccess:
		w.exprs(n.Base)
	case *Subscript:
		w.exprs(n.Base, n.Index)
	case *PathAccess:
		w.exprs(n.Base)
	case *Alias:
		w.exprs(n.X)
	case *Unary:
		w.exprs(n.X)
	case *Binary:
		w.exprs(n.L, n.R)
	case *Not:
		w.exprs(n.X)
	case *Between:
		w.exprs(n.X, n.Low, n.High)
	case *In:
		w.exprs(n.X)
		w.exprs(n.List...)
	case *InQuery:
		w.exprs(n.X)
		w.query(n.Query)
	case *LikeExpr:
		w.exprs(n.X, n.Pattern)
	case *LikeList:
		w.exprs(n.X)
		w.exprs(n.Patterns...)
	case *IsNull:
		w.exprs(n.X)
	case *IsTruth:
		w.exprs(n.X)
	case *IsDistinct:
		w.exprs(n.X, n.Y)
	case *Exists:
		w.query(n.Query)
	case *Subquery:
		w.query(n.Query)
	case *Cast:
		w.exprs(n.X)
	case *Case:
		w.exprs(n.Operand)
		for _, when := range n.Whens {
			w.exprs(when.Cond, when.Then)
		}
		w.exprs(n.Else)
	case *Row:
		w.exprs(n.Items...)
	case *Lambda:
		w.exprs(n.Body)
	case *NamedArg:
		w.exprs(n.Value)
	case *TableArg:
		w.relation(n.Input)
		w.exprs(n.PartitionBy...)
		w.sorts(n.OrderBy)
	case *Collate:
		w.exprs(n.X)
	case *Call:
		w.exprs(n.Args...)
		w.sorts(n.Within)
		w.exprs(n.Filter)
		w.window(n.Over)
	case *GroupingSets:
		w.exprs(n.Base...)
		for _, set := range n.Sets {
			w.exprs(set...)
		}
	default:
		w.rest(n)
	}
}

// walker visits children, leaving out those that are nil.
type walker struct{ visit func(Node) bool }

// rest goes below relations, queries, pipe operators and statements.
func (w walker) rest(n Node) {
	switch n := n.(type) {
	case *Table:
		if n.AsOf != nil {
			w.exprs(n.AsOf.Timestamp)
		}
	case *Derived:
		w.query(n.Query)
	case *TableFunc:
		w.exprs(n.Args...)
	case *Values:
		w.exprs(n.Rows...)
	case *Aliased:
		w.relation(n.Input)
	case *Join:
		w.relation(n.Left)
		w.relation(n.Right)
		w.exprs(n.On)
	case *LateralView:
		w.relation(n.Input)
		w.exprs(n.Func)
	case *Lateral:
		w.relation(n.Input)
	case *Sampled:
		w.relation(n.Input)
		w.exprs(n.Sample.Rows)
	case *Watermarked:
		w.relation(n.Input)
		w.exprs(n.Column, n.Delay)
	case *Pivot:
		w.relation(n.Input)
		w.exprs(n.Aggregates...)
		w.exprs(n.Values...)
	case *Unpivot:
		w.relation(n.Input)
	case *Select:
		for _, h := range n.Hints {
			w.exprs(h.Args...)
		}
		w.exprs(n.Items...)
		w.relation(n.From)
		w.exprs(n.Where)
		w.groupBy(n.GroupBy)
		w.exprs(n.Having)
		w.windows(n.Windows)
	case *SetOp:
		w.query(n.Left)
		w.query(n.Right)
	case *TableQuery:
		w.relation(n.Table)
	case *ValuesQuery:
		w.relation(n.Input)
	case *With:
		for _, c := range n.CTEs {
			w.query(c.Query)
		}
		w.query(n.Body)
	case *Ordered:
		w.query(n.Input)
		w.sorts(n.OrderBy)
		w.exprs(n.ClusterBy...)
		w.exprs(n.DistributeBy...)
		w.sorts(n.SortBy)
		w.windows(n.Windows)
		w.exprs(n.Limit, n.Offset)
	case *Pipe:
		w.query(n.Input)
		w.pipe(n.Op)
	case *QueryStatement:
		w.query(n.Query)
	case *CreateView:
		w.query(n.Query)
	case *Describe:
		w.query(n.Query)
	case *Explain:
		w.query(n.Query)
	}
}

// pipe visits a pipe operator and what is below it.
func (w walker) pipe(op PipeOp) {
	if !w.visit(op) {
		return
	}
	switch op := op.(type) {
	case *PipeSelect:
		w.exprs(op.Items...)
		w.windows(op.Windows)
	case *PipeExtend:
		w.exprs(op.Items...)
	case *PipeSet:
		w.exprs(op.Values...)
	case *PipeWhere:
		w.exprs(op.Cond)
	case *PipePivot:
		w.relation(op.Pivot)
	case *PipeUnpivot:
		w.relation(op.Unpivot)
	case *PipeSample:
		w.exprs(op.Sample.Rows)
	case *PipeJoin:
		w.relation(op.Join)
	case *PipeSetOp:
		w.query(op.Right)
	case *PipeOrder:
		w.query(op.Order)
	case *PipeAggregate:
		w.exprs(op.Items...)
		w.groupBy(op.GroupBy)
	}
}

func (w walker) exprs(xs ...Expr) {
	for _, x := range xs {
		if x != nil {
			Walk(x, w.visit)
		}
	}
}

func (w walker) query(q Query) {
	if q != nil {
		Walk(q, w.visit)
	}
}

func (w walker) relation(r Relation) {
	if r != nil {
		Walk(r, w.visit)
	}
}

func (w walker) sorts(items []SortItem) {
	for _, s := range items {
		w.exprs(s.X)
	}
}

func (w walker) groupBy(g *GroupBy) {
	if g != nil {
		w.exprs(g.Items...)
	}
}

func (w walker) windows(ws []NamedWindow) {
	for _, n := range ws {
		w.window(n.Spec)
	}
}

func (w walker) window(s *WindowSpec) {
	if s == nil {
		return
	}
	w.exprs(s.PartitionBy...)
	w.sorts(s.OrderBy)
	if s.Frame != nil {
		w.exprs(s.Frame.Start.Offset, s.Frame.End.Offset)
	}
}
