package sql

import "strings"

// Span is where a node stands in the statement's text. Every node embeds one.
type Span struct {
	Offset int // byte offset of the first character, from 0
	End    int // byte offset behind the last character
	Line   int // line of the first character, from 1
	Col    int // column of the first character in code points, from 1
}

// At returns the span itself, so that every node that embeds a Span is a Node.
func (s Span) At() Span { return s }

// Text is the node's original text within src, the text that was parsed.
func (s Span) Text(src string) string {
	if s.Offset < 0 || s.End > len(src) || s.Offset > s.End {
		return ""
	}
	return src[s.Offset:s.End]
}

// Node is anything of the syntax tree.
type Node interface {
	// At says where the node stands.
	At() Span
}

// Expr is an expression: one of the types of expr.go and literal.go. Nodes are pointers.
type Expr interface {
	Node
	exprNode()
}

// Relation is something that can stand behind FROM: one of the types of relation.go.
type Relation interface {
	Node
	relationNode()
}

// Query is something that yields rows: one of the types of query.go and pipe.go.
type Query interface {
	Node
	queryNode()
}

// Statement is one statement between semicolons: one of the types of statement.go.
type Statement interface {
	Node
	statementNode()
}

// Ident is one part of a name, as written but without its back quotes.
type Ident struct {
	Span
	Name   string
	Quoted bool // it stood in back quotes
}

// IsWord tells whether the identifier is, unquoted and in any case, the word w (given in upper case).
func (id Ident) IsWord(w string) bool { return !id.Quoted && strings.EqualFold(id.Name, w) }

// Names returns the parts of a name as strings.
func Names(parts []Ident) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.Name
	}
	return out
}

// JoinName writes a name with dots, each part in back quotes, the way Spark's messages do: `a`.`b`.
func JoinName(parts []Ident) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteByte('`')
		b.WriteString(strings.ReplaceAll(p.Name, "`", "``"))
		b.WriteByte('`')
	}
	return b.String()
}
