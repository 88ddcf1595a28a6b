package parquetfmt

import (
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/columnar/widen"
)

// Reader gives a file's rows as batches. It serves one goroutine; several readers may share a file.
type Reader struct {
	file   *file.Reader
	schema *columnar.Schema
	plans  []*plan // of the columns; nil for one that the file does not have
	leaves []*leafReader
	group  int // the next row group
	end    int // behind the last one
	left   int // rows of the open row group that are still to come
	rows   int64
}

// plan says how a column is made of leaves.
type plan struct {
	field *fileField
	typ   *columnar.Type // what is wanted
	leaf  *leafReader    // of a leaf: its values; of anything else: a leaf below it, for its levels
	kids  []*plan        // nil for a field of a struct that the file does not have
}

// bufferSize is how much of a column is read from the file at once.
const bufferSize = 256 << 10

// Open reads the footer. wanted names the columns, matched exactly or else without regard to case; a
// column that the file does not have is NULL, one of a narrower type is widened as Spark does. With
// nil the reader gives all columns of the file.
func Open(r io.ReaderAt, size int64, wanted *columnar.Schema) (rd *Reader, err error) {
	return OpenByID(r, size, wanted, nil)
}

// OpenByID is Open, but that columns are found by the field ids of the file, where ids are given and the file has any; by
// name otherwise. The ids have the shape of wanted.
func OpenByID(r io.ReaderAt, size int64, wanted *columnar.Schema, ids *FieldIDs) (rd *Reader, err error) {
	defer recoverTo(&err)
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled, props.BufferSize = true, bufferSize
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size), file.WithReadProps(props))
	if err != nil {
		return nil, sparkerr.New("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER", "Could not read footer. Please ensure that the file is a Parquet file.").WithCause(err)
	}
	var spark *columnar.Schema
	if text := f.MetaData().KeyValueMetadata().FindValue(rowMetadata); text != nil {
		spark, _ = ParseSchemaJSON(*text) // a schema that cannot be read is no loss
	}
	fields, err := fileSchema(f.MetaData().Schema, spark)
	if err != nil {
		return nil, err
	}
	rd = &Reader{file: f, end: f.NumRowGroups(), rows: f.NumRows()}
	if wanted == nil {
		wanted = &columnar.Schema{}
		for _, ff := range fields {
			wanted.Fields = append(wanted.Fields, columnar.Field{Name: ff.name, Type: ff.typ, Nullable: true})
		}
	}
	rd.schema = wanted
	if !haveIDs(fields) {
		ids = nil
	}
	for i, w := range wanted.Fields {
		ff := ids.find(fields, i, w.Name)
		if ff == nil {
			rd.plans = append(rd.plans, nil)
			continue
		}
		p, err := rd.plan(ff, w.Type, ids.kid(i))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", w.Name, err)
		}
		rd.plans = append(rd.plans, p)
	}
	return rd, nil
}

// recoverTo makes an error of a panic: the decoders of pages panic on some broken files.
func recoverTo(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("broken Parquet file: %v", p)
	}
}

func findField(fields []*fileField, name string) *fileField {
	for _, f := range fields {
		if f.name == name {
			return f
		}
	}
	for _, f := range fields {
		if strings.EqualFold(f.name, name) {
			return f
		}
	}
	return nil
}

// Schema is what the batches look like.
func (r *Reader) Schema() *columnar.Schema { return r.schema }

// NumRows is the number of rows of the file.
func (r *Reader) NumRows() int64 { return r.rows }

// NumGroups is the number of row groups, which may be read apart: see SelectGroups.
func (r *Reader) NumGroups() int { return r.file.NumRowGroups() }

// SelectGroups restricts the reader to the row groups from up to to. Call it before Next.
func (r *Reader) SelectGroups(from, to int) { r.group, r.end = from, min(to, r.file.NumRowGroups()) }

// Close frees the reader; the file remains the caller's.
func (r *Reader) Close() error { return r.file.Close() }

// plan makes the plan of a field for a wanted type.
func (r *Reader) plan(f *fileField, t *columnar.Type, ids *FieldIDs) (*plan, error) {
	p := &plan{field: f, typ: t}
	mismatch := func() error {
		return sparkerr.New("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", "Data type mismatches when reading Parquet column %q. Expected type %s, actual type %s.",
			f.name, t, f.typ)
	}
	switch {
	case f.prim != nil:
		if t.IsNested() || !widen.Can(f.typ, t) {
			return nil, mismatch()
		}
		p.leaf = r.leaf(f)
		return p, nil
	case t.Kind != f.typ.Kind:
		return nil, mismatch()
	case t.Kind == columnar.KindStruct:
		for i, w := range t.Fields {
			k := ids.find(f.kids, i, w.Name)
			if k == nil {
				p.kids = append(p.kids, nil)
				continue
			}
			kid, err := r.plan(k, w.Type, ids.kid(i))
			if err != nil {
				return nil, err
			}
			p.kids = append(p.kids, kid)
			if p.leaf == nil {
				p.leaf = kid.leaf
			}
		}
		if p.leaf == nil {
			p.leaf = r.leaf(f.firstLeaf())
		}
	default:
		types := []*columnar.Type{t.Elem}
		if t.Kind == columnar.KindMap {
			types = []*columnar.Type{t.Key, t.Elem}
		}
		for i, k := range f.kids {
			kid, err := r.plan(k, types[i], ids.kid(i))
			if err != nil {
				return nil, err
			}
			p.kids = append(p.kids, kid)
		}
		p.leaf = p.kids[0].leaf
	}
	return p, nil
}

func (f *fileField) firstLeaf() *fileField {
	for f.prim == nil {
		f = f.kids[0]
	}
	return f
}

func (r *Reader) leaf(f *fileField) *leafReader {
	for _, l := range r.leaves {
		if l.field == f {
			return l
		}
	}
	c := r.file.MetaData().Schema.Column(f.leaf)
	l := &leafReader{field: f, maxDef: c.MaxDefinitionLevel(), maxRep: c.MaxRepetitionLevel()}
	r.leaves = append(r.leaves, l)
	return l
}

// Next gives up to max rows, all of one row group, or io.EOF at the end.
func (r *Reader) Next(max int) (b *columnar.Batch, err error) {
	defer recoverTo(&err)
	for r.left == 0 {
		if r.group >= r.end {
			return nil, io.EOF
		}
		g := r.file.RowGroup(r.group)
		r.group++
		r.left = int(g.NumRows())
		for _, l := range r.leaves {
			l.drop(len(l.defs))
			if err := l.open(g); err != nil {
				return nil, err
			}
		}
	}
	n := min(max, r.left)
	entries := make(map[*leafReader]int, len(r.leaves))
	for _, l := range r.leaves {
		if entries[l], err = l.rows(n); err != nil {
			return nil, err
		}
	}
	cols := make([]*columnar.Column, len(r.plans))
	for i, p := range r.plans {
		if p == nil {
			cols[i] = columnar.NewNull(r.schema.Fields[i].Type, n)
			continue
		}
		if cols[i], err = p.column(entries); err != nil {
			return nil, fmt.Errorf("column %q: %w", r.schema.Fields[i].Name, err)
		}
		if cols[i].Len != n {
			return nil, fmt.Errorf("column %q: %d rows where there should be %d", r.schema.Fields[i].Name, cols[i].Len, n)
		}
	}
	for _, l := range r.leaves {
		l.drop(entries[l])
	}
	r.left -= n
	return columnar.NewBatch(r.schema, cols, n), nil
}

// column makes the column of a plan out of the entries that its leaves hold.
func (p *plan) column(entries map[*leafReader]int) (*columnar.Column, error) {
	f := p.field
	if f.prim != nil {
		c, err := p.leaf.column(entries[p.leaf])
		if err != nil {
			return nil, err
		}
		return widen.Column(c, p.typ)
	}
	defs := p.leaf.defs[:entries[p.leaf]]
	var reps []int16
	if p.leaf.maxRep > 0 {
		reps = p.leaf.reps[:len(defs)]
	}
	c := &columnar.Column{Type: p.typ}
	list := p.typ.Kind != columnar.KindStruct
	if list {
		c.Offsets = append(make([]int32, 0, len(defs)+1), 0)
	}
	valid, nulls, elements := columnar.NewBitmapSet(len(defs)), false, int32(0)
	for i, d := range defs {
		if d < f.slotDef {
			continue
		}
		if reps != nil && reps[i] > f.rep {
			if list && reps[i] == f.rep+1 {
				elements++
				c.Offsets[c.Len] = elements
			}
			continue
		}
		if d < f.def {
			valid.Clear(c.Len)
			nulls = true
		}
		c.Len++
		if list {
			if d >= f.listDef {
				elements++
			}
			c.Offsets = append(c.Offsets, elements)
		}
	}
	if nulls {
		c.Valid = valid
	}
	for i, k := range p.kids {
		if k == nil {
			c.Children = append(c.Children, columnar.NewNull(p.typ.Fields[i].Type, c.Len))
			continue
		}
		kid, err := k.column(entries)
		if err != nil {
			return nil, err
		}
		want := c.Len
		if list {
			want = int(elements)
		}
		if kid.Len != want {
			return nil, fmt.Errorf("the levels of field %q do not agree with those of its neighbours", k.field.name)
		}
		c.Children = append(c.Children, kid)
	}
	return c, nil
}
