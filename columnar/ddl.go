package columnar

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// ParseDDL reads a schema as Schema.String writes it: "a INT NOT NULL, b STRUCT<c: ARRAY<STRING>>".
// It serves manifests, state schemas and connectors; what users write in SQL goes through engine/sql,
// which knows the whole language.
func ParseDDL(ddl string) (*Schema, error) {
	p := &ddlParser{src: ddl}
	s := &Schema{}
	p.next()
	if p.tok == "" && !p.quoted {
		return s, nil
	}
	for {
		f, err := p.field(false)
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, f)
		if p.tok == "" {
			return s, nil
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
}

// ParseType reads one type, e.g. "array<decimal(10,2)>".
func ParseType(s string) (*Type, error) {
	p := &ddlParser{src: s}
	p.next()
	t, err := p.typ(0)
	if err == nil && p.tok != "" {
		err = p.unexpected("the end")
	}
	return t, err
}

// ddlParser is a scanner of one token of look-ahead; tok is "" at the end.
type ddlParser struct {
	src    string
	pos    int
	at     int
	tok    string
	quoted bool // tok is a back-quoted name or a string, without its quotes
}

const maxTypeDepth = 500

func (p *ddlParser) next() {
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
	p.at, p.quoted = p.pos, false
	if p.pos == len(p.src) {
		p.tok = ""
		return
	}
	c := p.src[p.pos]
	switch {
	case c == '`' || c == '\'' || c == '"':
		var b strings.Builder
		for p.pos++; p.pos < len(p.src); p.pos++ {
			d := p.src[p.pos]
			if d == c {
				if c != '`' || p.pos+1 >= len(p.src) || p.src[p.pos+1] != '`' {
					break
				}
				p.pos++
			} else if d == '\\' && c != '`' && p.pos+1 < len(p.src) {
				p.pos++
				d = p.src[p.pos]
			}
			b.WriteByte(d)
		}
		p.pos = min(p.pos+1, len(p.src))
		p.tok, p.quoted = b.String(), true
	case ddlWord(c):
		for p.pos < len(p.src) && ddlWord(p.src[p.pos]) {
			p.pos++
		}
		p.tok = p.src[p.at:p.pos]
	default:
		p.pos++
		p.tok = string(c)
	}
}

func ddlWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (p *ddlParser) is(word string) bool { return !p.quoted && strings.EqualFold(p.tok, word) }

func (p *ddlParser) accept(word string) bool {
	if p.is(word) {
		p.next()
		return true
	}
	return false
}

func (p *ddlParser) unexpected(want string) error {
	found := "the end"
	if p.tok != "" || p.quoted {
		found = fmt.Sprintf("%q", p.tok)
	}
	return sparkerr.At(1, p.at+1, "PARSE_SYNTAX_ERROR", "schema %q: at character %d: found %s, expected %s", p.src, p.at+1, found, want)
}

func (p *ddlParser) expect(word string) error {
	if !p.accept(word) {
		return p.unexpected(fmt.Sprintf("%q", word))
	}
	return nil
}

func (p *ddlParser) field(colon bool) (Field, error) { return p.fieldAt(colon, 0) }

func (p *ddlParser) fieldAt(colon bool, depth int) (Field, error) {
	f := Field{Nullable: true}
	if !p.quoted && (p.tok == "" || !ddlWord(p.tok[0])) {
		return f, p.unexpected("a column name")
	}
	f.Name = p.tok
	p.next()
	if colon {
		p.accept(":")
	}
	t, err := p.typ(depth)
	if err != nil {
		return f, err
	}
	f.Type = t
	if p.accept("NOT") {
		if err := p.expect("NULL"); err != nil {
			return f, err
		}
		f.Nullable = false
	}
	if p.accept("COMMENT") {
		if !p.quoted {
			return f, p.unexpected("a quoted text")
		}
		f.Comment, f.Commented = p.tok, p.tok == ""
		p.next()
	}
	return f, nil
}

// plainTypes are the names without parameters.
func plainType(name string) *Type {
	switch strings.ToLower(name) {
	case "boolean":
		return Bool
	case "tinyint", "byte":
		return Int8
	case "smallint", "short":
		return Int16
	case "int", "integer":
		return Int32
	case "bigint", "long":
		return Int64
	case "float", "real":
		return Float32
	case "double":
		return Float64
	case "string":
		return String
	case "binary":
		return Binary
	case "date":
		return Date
	case "timestamp", "timestamp_ltz":
		return Timestamp
	case "timestamp_ntz":
		return TimestampNTZ
	case "void":
		return Null
	case "variant":
		return Variant
	}
	return nil
}

func (p *ddlParser) typ(depth int) (*Type, error) {
	if depth > maxTypeDepth {
		return nil, sparkerr.New("PARSE_SYNTAX_ERROR", "types are nested deeper than %d", maxTypeDepth)
	}
	if p.quoted || p.tok == "" {
		return nil, p.unexpected("a type")
	}
	name, at := p.tok, p.at
	p.next()
	if t := plainType(name); t != nil {
		if t.Kind == KindString {
			return p.collated(Type{Kind: KindString})
		}
		return t, nil
	}
	switch strings.ToLower(name) {
	case "decimal", "dec", "numeric":
		prec, scale := 10, 0
		if p.accept("(") {
			var err error
			if prec, err = p.number(38); err != nil {
				return nil, err
			}
			if p.accept(",") {
				if scale, err = p.number(prec); err != nil {
					return nil, err
				}
			}
			if err := p.expect(")"); err != nil {
				return nil, err
			}
		}
		return Decimal(prec, scale), nil
	case "char", "character", "varchar":
		if !p.is("(") {
			return nil, sparkerr.At(1, at+1, "DATATYPE_MISSING_SIZE", "schema %q: %s needs a length, for example %s(10)", p.src, strings.ToUpper(name), strings.ToUpper(name))
		}
		p.next()
		n, err := p.number(math.MaxInt32)
		if err != nil {
			return nil, err
		}
		if err := p.expect(")"); err != nil {
			return nil, err
		}
		return p.collated(Type{Kind: KindString, Declared: fmt.Sprintf("%s(%d)", strings.TrimSuffix(strings.ToUpper(name), "ACTER"), n)})
	case "geometry", "geography":
		return p.geo(strings.ToUpper(name))
	case "time":
		t := *Time
		if p.accept("(") {
			n, err := p.number(6)
			if err != nil {
				return nil, err
			}
			t.Precision = n
			if err := p.expect(")"); err != nil {
				return nil, err
			}
		}
		return &t, nil
	case "interval":
		return p.interval()
	case "array":
		if err := p.expect("<"); err != nil {
			return nil, err
		}
		e, err := p.typ(depth + 1)
		if err != nil {
			return nil, err
		}
		return ArrayOf(e, true), p.expect(">")
	case "map":
		if err := p.expect("<"); err != nil {
			return nil, err
		}
		k, err := p.typ(depth + 1)
		if err != nil {
			return nil, err
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
		v, err := p.typ(depth + 1)
		if err != nil {
			return nil, err
		}
		return MapOf(k, v, true), p.expect(">")
	case "struct":
		if err := p.expect("<"); err != nil {
			return nil, err
		}
		t := StructOf()
		for !p.accept(">") {
			if len(t.Fields) > 0 {
				if err := p.expect(","); err != nil {
					return nil, err
				}
			}
			f, err := p.fieldAt(true, depth+1)
			if err != nil {
				return nil, err
			}
			t.Fields = append(t.Fields, f)
		}
		return t, nil
	}
	return nil, sparkerr.At(1, at+1, "UNSUPPORTED_DATATYPE", "schema %q: unsupported data type %q", p.src, strings.ToUpper(name))
}

// collated adds COLLATE and a name to a type of strings. Whether there is such a collation is not asked here.
func (p *ddlParser) collated(t Type) (*Type, error) {
	if p.accept("COLLATE") {
		if !p.quoted && (p.tok == "" || !ddlWord(p.tok[0])) {
			return nil, p.unexpected("a collation")
		}
		if t.Collation = p.tok; strings.EqualFold(t.Collation, "UTF8_BINARY") {
			t.Collation, t.Declared = "", cmp.Or(t.Declared, "STRING")+" COLLATE UTF8_BINARY"
		}
		p.next()
	}
	if t.Collation == "" && t.Declared == "" {
		return String, nil
	}
	return &t, nil
}

// geo reads the reference system of GEOMETRY or GEOGRAPHY.
func (p *ddlParser) geo(name string) (*Type, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	id := "ANY"
	if !p.accept(id) {
		n, err := p.number(math.MaxInt32)
		if err != nil {
			return nil, err
		}
		id = strconv.Itoa(n)
	}
	return &Type{Kind: KindBinary, Declared: name + "(" + id + ")"}, p.expect(")")
}

func (p *ddlParser) number(most int) (int, error) {
	n, err := strconv.Atoi(p.tok)
	if err != nil || p.quoted || n > math.MaxInt32 {
		return 0, p.unexpected("a number")
	}
	if n > most && most < math.MaxInt32 {
		return 0, sparkerr.At(1, p.at+1, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "schema %q: %d exceeds the maximum %d", p.src, n, most)
	}
	p.next()
	return n, nil
}

func (p *ddlParser) interval() (*Type, error) {
	unit := func() (IntervalField, bool) {
		for f := FieldYear; f <= FieldSecond; f++ {
			if p.is(f.String()) {
				p.next()
				return f, true
			}
		}
		return 0, false
	}
	from, ok := unit()
	if !ok {
		return Calendar, nil
	}
	to := from
	if p.accept("TO") {
		if to, ok = unit(); !ok || to <= from || (from <= FieldMonth) != (to <= FieldMonth) {
			return nil, p.unexpected("a smaller interval unit")
		}
	}
	if from <= FieldMonth {
		return YearMonth(from, to), nil
	}
	return DayTime(from, to), nil
}
