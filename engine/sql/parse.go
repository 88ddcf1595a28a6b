package sql

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// ParseQuery reads a query; semicolons may follow it. Its errors are of type *sparkerr.Error, with
// line and column.
func ParseQuery(src string) (Query, error) {
	p := newParser(src)
	if err := p.empty(); err != nil {
		return nil, err
	}
	q, err := p.query()
	if err == nil && !p.atEnd() {
		err = p.fail("the end of the statement")
	}
	if err := p.finish(err); err != nil {
		return nil, err
	}
	return q, nil
}

// ParseStatement reads one statement; semicolons may follow it. Errors are as those of ParseQuery.
func ParseStatement(src string) (Statement, error) {
	p := newParser(src)
	if err := p.empty(); err != nil {
		return nil, err
	}
	s, err := p.statement()
	if err == nil && !p.atEnd() {
		err = p.fail("the end of the statement")
	}
	if err := p.finish(err); err != nil {
		return nil, err
	}
	return s, nil
}

// ParseExpr reads an expression, which is an *Alias if it has a name. Errors are as those of
// ParseQuery.
func ParseExpr(src string) (Expr, error) {
	p := newParser(src)
	if err := p.empty(); err != nil {
		return nil, err
	}
	x, err := p.named()
	if err := p.finish(err); err != nil {
		return nil, err
	}
	return x, nil
}

// ParseName reads a name of several parts, such as db.`my table`. Errors are as those of ParseQuery.
func ParseName(src string) ([]Ident, error) {
	p := newParser(src)
	if err := p.empty(); err != nil {
		return nil, err
	}
	name, err := p.name()
	if err := p.finish(err); err != nil {
		return nil, err
	}
	return name, nil
}

// ParseType reads a data type, such as "ARRAY<INT>". Errors are as those of ParseQuery.
func ParseType(src string) (*Type, error) {
	p := newParser(src)
	if err := p.empty(); err != nil {
		return nil, err
	}
	t, err := p.dataType()
	if err := p.finish(err); err != nil {
		return nil, err
	}
	return t, nil
}

// ParseSchema reads a schema, such as "a INT NOT NULL COMMENT 'x', b STRUCT<c: INT>". Errors are as
// those of ParseQuery.
func ParseSchema(src string) ([]Field, error) {
	p := newParser(src)
	if err := p.empty(); err != nil {
		return nil, err
	}
	fields, err := list(p, func() (Field, error) { return p.field(false) })
	if err := p.finish(err); err != nil {
		return nil, err
	}
	return fields, nil
}

// ParseTypeOrSchema reads what from_json and the like take: a schema, or else a single type, which
// may be a struct. A schema comes back as a type STRUCT. If the text is neither, the error is that
// of the type.
func ParseTypeOrSchema(src string) (*Type, error) {
	if fields, err := ParseSchema(src); err == nil {
		t := &Type{Name: "STRUCT", Fields: fields}
		t.Span = spanTo(fields[0].Span, fields[len(fields)-1].Span)
		return t, nil
	}
	return ParseType(src)
}

// empty is the error of a blank text.
func (p *parser) empty() error {
	if strings.TrimSpace(p.src) != "" {
		return nil
	}
	return sparkerr.At(1, 1, "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement.")
}
