package sql

import (
	"strconv"
	"strings"

	"github.com/wstream/wstream/engine/sql/interval"
)

// dataType reads a type.
func (p *parser) dataType() (*Type, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	start := p.i
	t := p.peek()
	if !t.isName() {
		return nil, p.fail("a type")
	}
	d := &Type{}
	var err error
	switch t.word {
	case "ARRAY":
		err = p.arrayType(d)
	case "MAP":
		err = p.mapType(d)
	case "STRUCT":
		err = p.structType(d)
	default:
		err = p.primitiveType(d)
	}
	if err != nil {
		return nil, err
	}
	d.Span = p.spanFrom(start)
	return d, nil
}

func (p *parser) arrayType(d *Type) error {
	t := p.next()
	d.Name = "ARRAY"
	if !p.acceptOp("<") {
		return p.incomplete(d, t, "You must provide an element type. For example: \"ARRAY<INT>\".")
	}
	var err error
	if d.Elem, err = p.dataType(); err != nil {
		return err
	}
	return p.expectOp(">")
}

func (p *parser) mapType(d *Type) error {
	t := p.next()
	d.Name = "MAP"
	if !p.acceptOp("<") {
		return p.incomplete(d, t, "You must provide a key type and a value type. For example: \"MAP<TIMESTAMP, INT>\".")
	}
	var err error
	if d.Key, err = p.dataType(); err != nil {
		return err
	}
	if err := p.expectOp(","); err != nil {
		return err
	}
	if d.Elem, err = p.dataType(); err != nil {
		return err
	}
	return p.expectOp(">")
}

func (p *parser) structType(d *Type) error {
	t := p.next()
	d.Name = "STRUCT"
	switch {
	case p.acceptOp("<>"):
		return nil
	case !p.acceptOp("<"):
		return p.incomplete(d, t, "You must provide at least one field type. For example: \"STRUCT<name STRING, phone DECIMAL(10, 0)>\".")
	case p.acceptOp(">"):
		return nil
	}
	fields, err := list(p, func() (Field, error) { return p.field(true) })
	if err != nil {
		return err
	}
	d.Fields = fields
	return p.expectOp(">")
}

// incomplete notes the fault of ARRAY, MAP or STRUCT without what it is of.
func (p *parser) incomplete(d *Type, t *token, advice string) error {
	p.fault(t.span, "INCOMPLETE_TYPE_DEFINITION."+d.Name,
		"Incomplete complex type: The definition of \"%s\" type is incomplete. %s", d.Name, advice)
	void := &Type{Span: t.span, Name: "VOID"}
	switch d.Name {
	case "MAP":
		d.Key, d.Elem = void, void
	case "ARRAY":
		d.Elem = void
	}
	return nil
}

// field reads a field: its name, within a STRUCT perhaps a colon, its type, NOT NULL and COMMENT.
func (p *parser) field(colon bool) (Field, error) {
	start := p.i
	var f Field
	id, err := p.wholeIdent()
	if err != nil {
		return f, err
	}
	f.Name = id.Name
	if colon {
		p.acceptOp(":")
	}
	if f.Type, err = p.dataType(); err != nil {
		return f, err
	}
	if p.is("NOT") || p.isOp("!") {
		p.i++
		if err := p.expect("NULL"); err != nil {
			return f, err
		}
		f.NotNull = true
	}
	if p.accept("COMMENT") {
		if p.peek().kind != tokString {
			return f, p.fail("a string")
		}
		f.Comment, _ = p.stringSeq()
		f.Commented = true
	}
	f.Span = p.spanFrom(start)
	return f, nil
}

// simpleType is the canonical name of a type without parameters, or "".
func simpleType(word string) string {
	switch word {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "BINARY", "VOID", "VARIANT",
		"TIMESTAMP_NTZ", "STRING", "TIMESTAMP":
		return word
	case "BYTE":
		return "TINYINT"
	case "SHORT":
		return "SMALLINT"
	case "INTEGER":
		return "INT"
	case "LONG":
		return "BIGINT"
	case "REAL":
		return "FLOAT"
	case "TIMESTAMP_LTZ":
		return "TIMESTAMP"
	}
	return ""
}

// primitiveType reads a type that is not made of others.
func (p *parser) primitiveType(d *Type) error {
	id, err := p.ident()
	if err != nil {
		return err
	}
	t := &p.toks[p.i-1]
	switch t.word {
	case "INTERVAL":
		return p.intervalType(d)
	case "GEOMETRY", "GEOGRAPHY":
		if p.isOp("(") {
			return p.geoType(d, t)
		}
	}
	params, err := p.typeParams()
	if err != nil {
		return err
	}
	d.Name = simpleType(t.word)
	ok := len(params) == 0
	switch t.word {
	case "STRING":
		if ok && p.accept("COLLATE") {
			return p.collation(d)
		}
	case "TIMESTAMP":
		if ok && p.acceptSeq("WITHOUT", "TIME", "ZONE") {
			d.Name = "TIMESTAMP_NTZ"
		} else if ok {
			p.acceptSeq("WITH", "LOCAL", "TIME", "ZONE")
		}
	case "TIME":
		d.Name, d.Precision = "TIME", 6
		if ok = len(params) <= 1; len(params) == 1 {
			d.Precision = params[0]
			if d.Precision > 6 {
				p.fault(t.span, "UNSUPPORTED_TIME_PRECISION", "The seconds precision %d of the TIME data type is not supported. "+
					"Supported range is [0, 6].", d.Precision)
			}
		}
		p.acceptSeq("WITHOUT", "TIME", "ZONE")
	case "CHAR", "CHARACTER", "VARCHAR":
		d.Name = strings.TrimSuffix(t.word, "ACTER")
		if len(params) == 0 {
			p.fault(t.span, "DATATYPE_MISSING_SIZE", "DataType \"%s\" requires a length parameter, for example \"%s\"(10). "+
				"Please specify the length.", t.word, t.word)
			return nil
		}
		if ok = len(params) == 1; ok {
			d.Length = params[0]
			if p.accept("COLLATE") {
				return p.collation(d)
			}
		}
	case "DECIMAL", "DEC", "NUMERIC":
		d.Name, d.Precision = "DECIMAL", 10
		if ok = len(params) <= 2; ok {
			p.decimalType(d, t.span, params)
		}
	}
	if d.Name == "" || !ok {
		d.Name = "VOID"
		p.fault(t.span, "UNSUPPORTED_DATATYPE", "Unsupported data type \"%s\".", strings.ToUpper(id.Name)+writeParams(params))
	}
	return nil
}

// decimalType sets and checks the precision and the scale of a decimal type.
func (p *parser) decimalType(d *Type, at Span, params []int) {
	if len(params) > 0 {
		d.Precision = params[0]
	}
	if len(params) > 1 {
		d.Scale = params[1]
	}
	switch {
	case d.Scale > d.Precision:
		p.fault(at, "_LEGACY_ERROR_TEMP_1228", "Decimal scale (%d) cannot be greater than precision (%d).", d.Scale, d.Precision)
	case d.Precision > maxPrecision:
		p.fault(at, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal precision %d exceeds max precision %d.", d.Precision, maxPrecision)
	}
}

// typeParams reads (1, 2) behind a type's name, if it is there.
func (p *parser) typeParams() ([]int, error) {
	if !p.acceptOp("(") {
		return nil, nil
	}
	params, err := list(p, func() (int, error) {
		v, err := p.wholeNumberToken()
		if err == nil && v > 1<<31-1 {
			p.i--
			return 0, p.fail("a whole number")
		}
		return int(v), err
	})
	if err != nil {
		return nil, err
	}
	return params, p.expectOp(")")
}

func writeParams(params []int) string {
	if len(params) == 0 {
		return ""
	}
	s := make([]string, len(params))
	for i, v := range params {
		s[i] = strconv.Itoa(v)
	}
	return "(" + strings.Join(s, ",") + ")"
}

// intervalType reads what follows INTERVAL in a type: nothing, a field, or a field TO a finer one.
func (p *parser) intervalType(d *Type) error {
	d.Name = "INTERVAL"
	f, ok := interval.ParseField(p.peek().word)
	if !ok {
		d.Calendar = true
		return nil
	}
	at := p.next().span
	d.Start, d.End = f, f
	if !p.is("TO") {
		return nil
	}
	to, ok := interval.ParseField(p.ahead(1).word)
	if !ok || to.YearMonth() != f.YearMonth() || to == interval.Year || to == interval.Day {
		return nil // TO does not belong to the type, and will be refused
	}
	p.i += 2
	d.End = to
	if to <= f {
		p.fault(at, "_LEGACY_ERROR_TEMP_0028", "Intervals FROM %s TO %s are not supported.", f, to)
	}
	return nil
}

// geoType reads the reference system of GEOMETRY or GEOGRAPHY: a number or ANY.
func (p *parser) geoType(d *Type, t *token) error {
	d.Name, d.SRID = t.word, "ANY"
	p.i++
	if !p.accept("ANY") {
		v, err := p.wholeNumberToken()
		if err != nil {
			return err
		}
		d.SRID = strconv.FormatInt(v, 10)
	}
	return p.expectOp(")")
}
