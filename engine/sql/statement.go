package sql

// QueryStatement is a statement that is a query.
type QueryStatement struct {
	Span
	Query Query
}

// CreateView is CREATE [OR REPLACE] [TEMPORARY] VIEW name [(columns)] AS query.
type CreateView struct {
	Span
	Name        []Ident
	Columns     []Ident
	Replace     bool
	Temporary   bool
	IfNotExists bool
	Query       Query
}

// SetOption is SET key = value; a bare SET, or SET key, leaves the rest empty.
type SetOption struct {
	Span
	Key, Value string
	HasValue   bool
}

// Describe is DESCRIBE [QUERY] query or DESCRIBE [TABLE] name; exactly one field is set.
type Describe struct {
	Span
	Query Query
	Table []Ident
}

// Explain is EXPLAIN [EXTENDED|FORMATTED|…] query.
type Explain struct {
	Span
	Mode  string // in upper case, or empty
	Query Query
}

func (*QueryStatement) statementNode() {}
func (*CreateView) statementNode()     {}
func (*SetOption) statementNode()      {}
func (*Describe) statementNode()       {}
func (*Explain) statementNode()        {}
