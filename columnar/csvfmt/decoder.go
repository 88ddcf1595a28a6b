package csvfmt

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Decoder turns CSV text into batches of one schema. It serves one goroutine at a time, for any number
// of calls; the batches it gives own their memory.
type Decoder struct {
	opts    Options
	out     *columnar.Schema
	formats *records.Formats
	tokens  *tokenizer

	cells  []*cell
	index  []int // which field of a record each cell takes
	place  []int // for each output column its cell, or -1 for the corrupt column
	names  []string
	fields int  // how many fields a record should have
	pruned bool // other fields may be missing

	bad       records.Column
	corrupt   records.Corrupt
	rows      int
	cause     error // why a field was bad, when that has a name
	nullValue string
	empty     string // the text of ""
	keepEmpty bool   // "" is an empty STRING, although nullValue is empty too
	comment   string

	utc, isoTimestamp, oddFloats bool
}

// New makes a decoder for the columns need of schema, in that order; nil means all of them. A STRING column called
// opts.CorruptColumn takes the text of bad records. Nested types are refused.
func New(schema *columnar.Schema, need []int, opts Options) (*Decoder, error) {
	if err := records.CheckColumn(schema, opts.CorruptColumn); err != nil {
		return nil, err
	}
	if need == nil {
		need = indices(schema)
	}
	if err := records.CheckNeed(schema, need, opts.CorruptColumn); err != nil {
		return nil, err
	}
	for _, f := range schema.Fields {
		if err := checkType(f); err != nil {
			return nil, err
		}
	}
	return build(schema, need, opts)
}

// indices are those of all fields.
func indices(schema *columnar.Schema) []int {
	out := make([]int, len(schema.Fields))
	for i := range out {
		out[i] = i
	}
	return out
}

func build(schema *columnar.Schema, need []int, opts Options) (*Decoder, error) {
	d := &Decoder{opts: opts, out: &columnar.Schema{}, nullValue: opts.NullValue, empty: or(opts.EmptyValue, "")}
	var err error
	if d.formats, err = opts.formats(); err != nil {
		return nil, err
	}
	// Spark reads NULL here as well; whoever sets emptyValue to nothing, and nullValue not at all, asks for empty strings.
	d.keepEmpty = opts.EmptyValue != nil && *opts.EmptyValue == "" && !opts.nullValueGiven
	if need == nil {
		need = indices(schema)
	}
	position := make([]int, len(schema.Fields)) // among the fields of a record
	for i, f := range schema.Fields {
		position[i] = d.fields
		if f.Name != opts.CorruptColumn {
			d.fields++
		}
	}
	for _, k := range need {
		f := schema.Fields[k]
		f.Nullable = true
		d.out.Fields = append(d.out.Fields, f)
		if f.Name == opts.CorruptColumn {
			d.place = append(d.place, -1)
			continue
		}
		d.place = append(d.place, len(d.cells))
		d.index = append(d.index, position[k])
		d.names = append(d.names, f.Name)
		d.cells = append(d.cells, newCell(f.Type))
	}
	d.pruned = len(d.cells) < d.fields && opts.ColumnPruning && !opts.MultiLine
	d.tokens = newTokenizer(&opts)
	d.utc, d.isoTimestamp = d.formats.Zone == javatext.UTC(), opts.TimestampFormat == ""
	if opts.Comment != 0 {
		d.comment = string(standIns(&opts, []byte(string(opts.Comment))))
	}
	for _, s := range []string{opts.NaNValue, opts.PositiveInf, opts.NegativeInf} {
		d.oddFloats = d.oddFloats || strings.Trim(s, "-.0123456789") == ""
	}
	return d, nil
}

// checkType refuses what no field of CSV can be.
func checkType(f columnar.Field) error {
	switch f.Type.Kind {
	case columnar.KindArray, columnar.KindMap, columnar.KindStruct, columnar.KindVariant, columnar.KindNull, columnar.KindCalendar:
		return sparkerr.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The CSV datasource doesn't support the column `%s` of the type %q.", f.Name, f.Type.SQL())
	}
	return nil
}

// errLimits is the error of limits that cannot be.
func errLimits(o *Options) error {
	return fmt.Errorf("options maxCharsPerColumn and maxColumns are %d and %d, expected -1 or more, and 0 or more", o.MaxChars, o.MaxColumns)
}

// Schema is what the batches look like.
func (d *Decoder) Schema() *columnar.Schema { return d.out }

// Decode reads whole lines, or in multi-line mode a whole file. start tells that data is the beginning of a file,
// where a header may be.
func (d *Decoder) Decode(data []byte, start bool) (*columnar.Batch, records.Corrupt, error) {
	if len(data) > math.MaxInt32 {
		return nil, records.Corrupt{}, fmt.Errorf("%d bytes of CSV at once, more than 2 GiB", len(data))
	}
	if d.opts.MaxChars < -1 || d.opts.MaxColumns < 0 {
		return nil, records.Corrupt{}, errLimits(&d.opts)
	}
	d.begin()
	data = clean(&d.opts, data)
	var err error
	if d.opts.MultiLine {
		err = d.decodeFile(data, start)
	} else {
		err = d.decodeLines(data, start)
	}
	if err != nil {
		for _, c := range d.cells {
			c.finish(0)
		}
		return nil, d.corrupt, err
	}
	return d.finish(), d.corrupt, nil
}

// clean makes data proper UTF-8 and puts stand-ins for special characters beyond ASCII.
func clean(o *Options, data []byte) []byte {
	if !utf8.Valid(data) {
		data = jsontoken.ReplaceInvalid(data)
	}
	if o.Quote >= utf8.RuneSelf || o.Escape >= utf8.RuneSelf || o.EscapeEscape >= utf8.RuneSelf || o.Comment >= utf8.RuneSelf {
		data = standIns(o, data)
	}
	return data
}

func (d *Decoder) begin() {
	d.rows, d.corrupt = 0, records.Corrupt{}
	d.bad.Reset()
}

func (d *Decoder) finish() *columnar.Batch {
	cols := make([]*columnar.Column, len(d.place))
	built := make([]*columnar.Column, len(d.cells))
	for i, c := range d.cells {
		built[i] = c.finish(d.rows)
	}
	for i, k := range d.place {
		if k >= 0 {
			cols[i] = built[k]
		} else {
			cols[i] = d.bad.Build(d.rows)
		}
	}
	return columnar.NewBatch(d.out, cols, d.rows)
}

// skipped tells whether a line is blank or a comment.
func (d *Decoder) skipped(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	if line[0] <= ' ' {
		blank := true
		for _, c := range line {
			if c > ' ' {
				blank = false
				break
			}
		}
		if blank {
			return true
		}
	}
	return d.comment != "" && bytes.HasPrefix(line, []byte(d.comment))
}

func (d *Decoder) decodeLines(data []byte, start bool) error {
	header := start && d.opts.Header
	all := data
	for len(data) > 0 {
		at := len(all) - len(data)
		line, rest := lines.Cut(data, d.opts.LineSep)
		data = rest
		if d.skipped(line) {
			continue
		}
		if header {
			header = false
			if err := d.checkHeader(line); err != nil {
				return err
			}
			continue
		}
		if err := d.decodeRecord(line, line, func() int { return 1 + bytes.Count(all[:at], []byte{'\n'}) }); err != nil {
			return err
		}
	}
	return nil
}

// decodeFile reads the records of a file, whose line ends within quotes belong to values.
func (d *Decoder) decodeFile(data []byte, start bool) error {
	d.tokens.detectEnd(data, d.opts.LineSep)
	header := start && d.opts.Header
	for i := 0; i < len(data); {
		if n := d.tokens.newlineAt(data, i); n > 0 {
			i += n
			continue
		}
		if d.comment != "" && bytes.HasPrefix(data[i:], []byte(d.comment)) {
			for i < len(data) && d.tokens.endAt(data, i) == 0 {
				i++
			}
			continue
		}
		from := i
		end, err := d.tokens.record(data, i)
		if err != nil {
			return err
		}
		i = end
		if header {
			header = false
			if err := d.checkNames(); err != nil {
				return err
			}
			continue
		}
		text := bytes.TrimSuffix(bytes.TrimSuffix(data[from:end], []byte{'\n'}), []byte{'\r'})
		if d.tokens.trimLeft && len(bytes.TrimSpace(text)) == 0 {
			continue // without the blanks there is nothing
		}
		if err := d.addRecord(text, func() int { return 1 + bytes.Count(data[:from], []byte{'\n'}) }); err != nil {
			return err
		}
	}
	return nil
}

// checkHeader compares the names of a header line with the schema's.
func (d *Decoder) checkHeader(line []byte) error {
	if d.opts.EnforceSchema {
		return nil
	}
	if _, err := d.tokens.record(line, 0); err != nil {
		return err
	}
	return d.checkNames()
}

func (d *Decoder) checkNames() error {
	if d.opts.EnforceSchema {
		return nil
	}
	if !d.pruned && len(d.tokens.tokens) != d.fields {
		return sparkerr.New("CSV_HEADER_MISMATCH", "The number of columns in the CSV header, %d, is not that of the schema, %d.", len(d.tokens.tokens), d.fields)
	}
	for i, k := range d.index {
		name := ""
		if k < len(d.tokens.tokens) {
			name = string(originals(&d.opts, d.tokens.tokens[k].text))
		}
		if !strings.EqualFold(name, d.names[i]) {
			return sparkerr.New("CSV_HEADER_MISMATCH", "The CSV header does not conform to the schema: column %d is called %q, not %q.", k+1, name, d.names[i])
		}
	}
	return nil
}

// decodeRecord splits one record and adds its row.
func (d *Decoder) decodeRecord(record, text []byte, line func() int) error {
	if _, err := d.tokens.record(record, 0); err != nil {
		return err
	}
	return d.addRecord(text, line)
}

// addRecord makes a row of the tokens; text is the record as it is written.
func (d *Decoder) addRecord(text []byte, line func() int) error {
	tokens := d.tokens.tokens
	good := d.pruned || len(tokens) == d.fields
	d.cause = nil
	if !good {
		d.cause = sparkerr.New("MALFORMED_CSV_RECORD", "Malformed CSV record: %.200q", text)
	}
	for i, c := range d.cells {
		k := d.index[i]
		if k >= len(tokens) {
			c.setNull(d.rows)
			continue
		}
		value := tokens[k].text
		switch tokens[k].kind {
		case absent:
			c.setNull(d.rows)
			continue
		case empty:
			value = []byte(d.empty)
			if d.keepEmpty && c.typ.Kind == columnar.KindString {
				c.set(d, d.rows, value)
				continue
			}
		default:
			if d.opts.Quote >= utf8.RuneSelf || d.opts.Escape >= utf8.RuneSelf {
				value = originals(&d.opts, value)
			}
		}
		if string(value) == d.nullValue {
			c.setNull(d.rows)
			continue
		}
		before := d.cause
		if !c.set(d, d.rows, value) {
			if records.IsUpgrade(d.cause) {
				return d.cause
			}
			if !good {
				d.cause = before
			}
			good = false
			c.setNull(d.rows)
		}
	}
	if !good {
		text = originals(&d.opts, text)
		d.corrupt.Add(text, line)
		switch d.opts.Mode {
		case records.DropMalformed:
			for _, c := range d.cells {
				c.drop(d.rows)
			}
			return nil
		case records.FailFast:
			return records.Malformed(text, d.cause)
		}
		d.bad.Set(d.rows, text)
	}
	d.rows++
	return nil
}
