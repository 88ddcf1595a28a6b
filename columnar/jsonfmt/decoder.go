package jsonfmt

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Decoder turns JSON text into batches of one schema. It serves one goroutine at a time, for any
// number of calls; the batches it gives own their memory.
type Decoder struct {
	opts    Options
	out     *columnar.Schema
	formats *records.Formats
	reader  reader

	root    *node // the struct of the wanted columns but for the corrupt one, or any type for DecodeColumn
	place   []int // for each output column the field of root, or -1 for the corrupt column
	bad     records.Column
	rows    int
	slow    bool   // only the slow reader may be used
	blanks  uint64 // a bit for each byte that may stand between tokens
	scratch []byte
	corrupt records.Corrupt

	reprint                       bool
	utc                           bool
	isoTimestamp, isoNTZ, isoDate bool
	maxNumber                     int
	lastMonth, lastDay            uint64 // the date that was read last, as text
	lastDays                      int64

	perRow float64 // bytes of a record, as seen before
}

// Blanks between tokens: all of JSON's, and those within a line.
const (
	lineBlanks = 1<<' ' | 1<<'\t'
	allBlanks  = lineBlanks | 1<<'\n' | 1<<'\r'
)

// New makes a decoder for the columns need of schema, in that order; nil means all of them. A STRING
// column called opts.CorruptColumn takes the text of bad records. A map whose keys are no strings,
// and a corrupt column that is no STRING, are refused.
func New(schema *columnar.Schema, need []int, opts Options) (*Decoder, error) {
	single := opts.SingleVariantColumn != "" && (schema == nil || len(schema.Fields) <= 1)
	if single {
		schema = columnar.NewSchema(columnar.Field{Name: opts.SingleVariantColumn, Type: columnar.Variant, Nullable: true})
	}
	if need == nil {
		need = make([]int, len(schema.Fields))
		for i := range need {
			need[i] = i
		}
	}
	if err := records.CheckColumn(schema, opts.CorruptColumn); err != nil {
		return nil, err
	}
	if err := records.CheckNeed(schema, need, opts.CorruptColumn); err != nil && opts.SingleVariantColumn == "" {
		return nil, err
	}
	d := &Decoder{opts: opts, out: &columnar.Schema{}}
	fields := []columnar.Field{}
	for _, k := range need {
		f := schema.Fields[k]
		f.Nullable = true
		d.out.Fields = append(d.out.Fields, f)
		if f.Name == opts.CorruptColumn && !single {
			d.place = append(d.place, -1)
			continue
		}
		if hasCalendar(f.Type) {
			return nil, sparkerr.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "The JSON datasource doesn't support the column `%s` of the type %q.", f.Name, f.Type.SQL())
		}
		if err := checkType(f.Type); err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		d.place = append(d.place, len(fields))
		fields = append(fields, f)
	}
	return d, d.init(columnar.StructOf(fields...))
}

// hasCalendar tells whether a type is or holds INTERVAL without fields.
func hasCalendar(t *columnar.Type) bool {
	if t == nil || t.Kind == columnar.KindCalendar {
		return t != nil
	}
	for _, f := range t.Fields {
		if hasCalendar(f.Type) {
			return true
		}
	}
	return hasCalendar(t.Key) || hasCalendar(t.Elem)
}

// NewColumn makes a decoder for DecodeColumn, whose documents are structs, arrays, maps or variants
// of type t. Modes other than PERMISSIVE and FAILFAST are refused.
func NewColumn(t *columnar.Type, opts Options) (*Decoder, error) {
	if opts.Mode == records.DropMalformed {
		return nil, records.ModeUnsupported("from_json", opts.Mode)
	}
	opts.FromJSON = true
	d := &Decoder{opts: opts}
	if err := checkType(t); err != nil {
		return nil, err
	}
	if t.Kind != columnar.KindStruct {
		return d, d.init(t)
	}
	if err := records.CheckColumn(&columnar.Schema{Fields: t.Fields}, opts.CorruptColumn); err != nil {
		return nil, err
	}
	d.out = &columnar.Schema{}
	fields := []columnar.Field{}
	for _, f := range t.Fields {
		f.Nullable = true
		d.out.Fields = append(d.out.Fields, f)
		if f.Name == opts.CorruptColumn {
			d.place = append(d.place, -1)
			continue
		}
		d.place = append(d.place, len(fields))
		fields = append(fields, f)
	}
	return d, d.init(columnar.StructOf(fields...))
}

// checkType refuses types that no JSON can have.
func checkType(t *columnar.Type) error {
	switch t.Kind {
	case columnar.KindArray:
		return checkType(t.Elem)
	case columnar.KindMap:
		if t.Key.Kind != columnar.KindString {
			return sparkerr.New("DATATYPE_MISMATCH.INVALID_JSON_MAP_KEY_TYPE", "Input schema %q can only contain STRING as a key type for a MAP.", t.SQL())
		}
		return checkType(t.Elem)
	case columnar.KindStruct:
		for _, f := range t.Fields {
			if err := checkType(f.Type); err != nil {
				return fmt.Errorf("field %q: %w", f.Name, err)
			}
		}
	}
	return nil
}

func depthOf(t *columnar.Type) int {
	depth := 0
	switch t.Kind {
	case columnar.KindArray, columnar.KindMap:
		depth = 1 + depthOf(t.Elem)
	case columnar.KindStruct:
		for _, f := range t.Fields {
			depth = max(depth, depthOf(f.Type))
		}
		depth++
	}
	return depth
}

func (d *Decoder) init(root *columnar.Type) error {
	o := &d.opts
	var err error
	if d.formats, err = o.formats(); err != nil {
		return err
	}
	d.root = newNode(root)
	d.reprint = o.FromJSON || o.Encoding != ""
	o.Features.ReplacementDecoding = d.reprint
	d.reader = reader{formats: d.formats, opts: o, reprint: d.reprint}
	d.slow = o.Features.MaxNumberLen < 20 || o.Features.MaxStringLen > 0 || o.Features.MaxDepth < depthOf(root)+maxSkipDepth || o.SingleVariantColumn != "" || root.Kind == columnar.KindVariant
	d.utc = d.formats.Zone == javatext.UTC()
	d.isoTimestamp, d.isoNTZ, d.isoDate = o.TimestampFormat == "", o.TimestampNTZFormat == "", o.DateFormat == ""
	d.maxNumber = o.Features.MaxNumberLen
	d.blanks = lineBlanks
	if o.MultiLine || o.FromJSON || o.LineSep != "" {
		d.blanks = allBlanks
	}
	return nil
}

// Schema is what the batches look like.
func (d *Decoder) Schema() *columnar.Schema { return d.out }

// Decode reads whole records: lines, or in multi-line mode one document. The batch has a row for each
// record that is one, which may be more or less than there are lines.
func (d *Decoder) Decode(data []byte) (*columnar.Batch, records.Corrupt, error) {
	if len(data) > math.MaxInt32-padBytes {
		return nil, records.Corrupt{}, fmt.Errorf("%d bytes of JSON at once, more than 2 GiB", len(data))
	}
	d.begin(len(data))
	err := d.decode(data)
	if err != nil {
		d.root.finish(0)
		return nil, d.corrupt, err
	}
	return d.finish(len(data)), d.corrupt, nil
}

func (d *Decoder) decode(data []byte) error {
	switch {
	case d.opts.MultiLine:
		if d.opts.Encoding == "" {
			data = detectUnicode(data)
		}
		return d.decodeDocument(data, 1)
	case d.opts.LineSep != "":
		sep := []byte(d.opts.LineSep)
		for line := 1; len(data) > 0; line++ {
			record, rest, _ := bytes.Cut(data, sep)
			if err := d.decodeDocument(record, line); err != nil {
				return err
			}
			data = rest
		}
		return nil
	}
	// Lines are read where they are as long as enough bytes follow; the others from a copy.
	limit := 0
	if len(data) > padBytes {
		limit = bytes.LastIndexByte(data[:len(data)-padBytes], '\n') + 1
	}
	if limit > 0 {
		if err := d.decodeLines(data, limit, 0, data); err != nil {
			return err
		}
	}
	if limit == len(data) {
		return nil
	}
	tail := d.pad(data[limit:], '\n')
	return d.decodeLines(tail, len(data)-limit+1, limit, data)
}

// pad copies b into the scratch space with an end that the fast reader stops at, and room behind.
func (d *Decoder) pad(b []byte, end byte) []byte {
	if n := len(b) + 1 + padBytes; cap(d.scratch) < n {
		d.scratch = make([]byte, n+n/2)
	}
	d.scratch = append(append(d.scratch[:0], b...), end)
	return d.scratch[:len(b)+1+padBytes]
}

// decodeLines reads the lines of data[:limit], the last of which ends at limit; they stand at offset
// base in all.
func (d *Decoder) decodeLines(data []byte, limit, base int, all []byte) error {
	b := unsafe.Pointer(unsafe.SliceData(data))
	o := d.root.object
	for i := 0; i < limit; {
		start := i
		c := byteAt(b, i)
		if c != '{' {
			i = d.space(b, i)
			if c = byteAt(b, i); c == '\n' || c == '\r' {
				i++
				continue
			}
		}
		if c == '{' && !d.slow {
			if end := d.fastObject(o, b, i+1, d.rows); end >= 0 {
				d.rows++
				if byteAt(b, end) == '\n' {
					i = end + 1
				} else {
					i = lineEnd(data[:limit], end) + 1 // what follows an object is ignored
				}
				continue
			}
			d.root.rollback(d.rows, d.rows+1)
		}
		i = lineEnd(data[:limit], start)
		if err := d.slowRecord(data[start:i], func() int { return 1 + bytes.Count(all[:base+start], []byte{'\n'}) }); err != nil {
			return err
		}
		i++
	}
	return nil
}

// lineEnd is the offset of the first line end from i on, or the length of data.
func lineEnd(data []byte, i int) int {
	rest := data[i:]
	if n := bytes.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	if n := bytes.IndexByte(rest, '\r'); n >= 0 {
		rest = rest[:n]
	}
	return i + len(rest)
}

// decodeDocument reads one record that may have any length and any characters: an object or a list
// of objects.
func (d *Decoder) decodeDocument(record []byte, line int) error {
	if !d.slow {
		data := d.pad(record, 0)
		b := unsafe.Pointer(unsafe.SliceData(data))
		first := d.rows
		i := d.space(b, 0)
		switch byteAt(b, i) {
		case '{':
			if end := d.fastObject(d.root.object, b, i+1, d.rows); end >= 0 {
				d.rows++
				return nil
			}
			d.root.rollback(d.rows, d.rows+1)
		case '[':
			if d.fastList(b, i+1) {
				return nil
			}
			d.root.rollback(first, d.rows+1)
			d.rows = first
		case 0:
			if i == len(record) {
				return nil
			}
		}
	}
	return d.slowRecord(record, func() int { return line })
}

// fastList reads a list of objects as rows.
func (d *Decoder) fastList(b unsafe.Pointer, i int) bool {
	i = d.space(b, i)
	if byteAt(b, i) == ']' {
		return true
	}
	for {
		if byteAt(b, i) != '{' {
			return false
		}
		if i = d.fastObject(d.root.object, b, i+1, d.rows); i < 0 {
			return false
		}
		d.rows++
		i = d.space(b, i)
		c := byteAt(b, i)
		if c == ']' {
			return true
		}
		if c != ',' {
			return false
		}
		i = d.space(b, i+1)
	}
}

// slowRecord reads one record with the slow reader.
func (d *Decoder) slowRecord(record []byte, line func() int) error {
	var rows []columnar.Datum
	var err error
	if d.opts.SingleVariantColumn != "" {
		rows, err = d.reader.variantRecord(record)
	} else {
		text := record
		if d.opts.Encoding == "" {
			text = detectUnicode(record)
		}
		rows, err = d.reader.records(d.root, text)
	}
	if err != nil {
		if records.IsUpgrade(err) {
			return err
		}
		d.corrupt.Add(record, line)
		switch d.opts.Mode {
		case records.DropMalformed:
			return nil
		case records.FailFast:
			return malformed(record, err)
		}
		if len(rows) == 0 {
			rows = []columnar.Datum{nil}
		}
	}
	for _, row := range rows {
		if err != nil {
			d.bad.Set(d.rows, record)
		}
		d.addRow(row)
	}
	return nil
}

func (d *Decoder) addRow(row columnar.Datum) {
	if row == nil {
		for _, k := range d.root.kids {
			k.setNull(d.rows)
		}
	} else {
		d.root.setDatum(d.rows, row)
	}
	d.rows++
}

// malformed is the error of a bad record in FAILFAST mode.
func malformed(record []byte, cause error) error {
	switch sparkerr.Condition(cause) {
	case "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS", "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_STRING_AS_DATATYPE":
		return cause
	}
	return records.Malformed(record, cause)
}

// begin makes ready for data of a size.
func (d *Decoder) begin(size int) {
	d.rows, d.corrupt = 0, records.Corrupt{}
	d.bad.Reset()
	if d.perRow > 0 {
		hint := int(float64(size)/d.perRow*1.05) + 16
		scale := float64(hint) / float64(max(d.root.hintRows, 1))
		for _, k := range d.root.kids {
			k.hint(scale)
		}
		d.root.hintRows = hint
	}
}

// hint scales what the last batch needed to the next one's size.
func (n *node) hint(scale float64) {
	n.hintRows, n.hintBytes = int(float64(n.hintRows)*scale)+16, int(float64(n.hintBytes)*scale)+64
	for _, k := range n.kids {
		k.hint(scale)
	}
}

func (d *Decoder) finish(size int) *columnar.Batch {
	if d.rows > 0 && size > 0 {
		d.perRow = float64(size) / float64(d.rows)
	}
	cols := make([]*columnar.Column, len(d.place))
	root := d.root.finish(d.rows)
	for i, k := range d.place {
		if k >= 0 {
			cols[i] = root.Children[k]
		} else {
			cols[i] = d.bad.Build(d.rows)
		}
	}
	return columnar.NewBatch(d.out, cols, d.rows)
}
