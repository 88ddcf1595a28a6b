package delta

import (
	"encoding/json"
	"fmt"
	"sort"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/internal/vfs"
)

// checkpointDDL is the schema of a checkpoint: a row for each action that still counts.
const checkpointDDL = "txn STRUCT<appId: STRING, version: BIGINT, lastUpdated: BIGINT>, " +
	"add STRUCT<path: STRING, partitionValues: MAP<STRING, STRING>, size: BIGINT, modificationTime: BIGINT, dataChange: BOOLEAN, stats: STRING, " +
	"deletionVector: STRUCT<storageType: STRING, pathOrInlineDv: STRING, offset: INT, sizeInBytes: INT, cardinality: BIGINT, maxRowIndex: BIGINT>>, " +
	"remove STRUCT<path: STRING, deletionTimestamp: BIGINT, dataChange: BOOLEAN>, " +
	"metaData STRUCT<id: STRING, name: STRING, description: STRING, format: STRUCT<provider: STRING, options: MAP<STRING, STRING>>, " +
	"schemaString: STRING, partitionColumns: ARRAY<STRING>, configuration: MAP<STRING, STRING>, createdTime: BIGINT>, " +
	"protocol STRUCT<minReaderVersion: INT, minWriterVersion: INT, readerFeatures: ARRAY<STRING>, writerFeatures: ARRAY<STRING>>"

// checkpointEvery is after how many versions a checkpoint is written.
const checkpointEvery = 10

func checkpointName(version int64) string { return fmt.Sprintf("%020d.checkpoint.parquet", version) }

// fields gives the fields of a struct by position, with the zero value for null.
type fields columnar.StructDatum

func (f fields) text(i int) string { s, _ := f[i].(string); return s }
func (f fields) long(i int) int64  { n, _ := f[i].(int64); return n }
func (f fields) int(i int) int     { n, _ := f[i].(int32); return int(n) }
func (f fields) bool(i int) bool   { b, _ := f[i].(bool); return b }

func (f fields) list(i int) []string {
	var out []string
	list, _ := f[i].([]columnar.Datum)
	for _, v := range list {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

func (f fields) pairs(i int) map[string]*string {
	out := map[string]*string{}
	m, _ := f[i].(columnar.MapDatum)
	for k, key := range m.Keys {
		name, _ := key.(string)
		if v, ok := m.Values[k].(string); ok {
			out[name] = &v
		} else {
			out[name] = nil
		}
	}
	return out
}

func (f fields) texts(i int) map[string]string {
	out := map[string]string{}
	for k, v := range f.pairs(i) {
		if v != nil {
			out[k] = *v
		}
	}
	return out
}

// rowAction is the action of a row of a checkpoint.
func rowAction(b *columnar.Batch, i int) *action {
	get := func(c int) (fields, bool) {
		d, ok := b.Columns[c].Datum(i).(columnar.StructDatum)
		return fields(d), ok
	}
	if f, ok := get(0); ok {
		return &action{Txn: &txn{f.text(0), f.long(1), f.long(2)}}
	}
	if f, ok := get(1); ok {
		return &action{Add: &addFile{Path: f.text(0), PartitionValues: f.pairs(1), Size: f.long(2), ModificationTime: f.long(3), DataChange: f.bool(4), Stats: f.text(5), DeletionVector: f.vector(6)}}
	}
	if f, ok := get(3); ok {
		m := &metaData{ID: f.text(0), Name: f.text(1), Description: f.text(2), SchemaString: f.text(4), PartitionColumns: f.list(5), Configuration: f.texts(6), CreatedTime: f.long(7)}
		if format, ok := f[3].(columnar.StructDatum); ok {
			m.Format = fileFormat{fields(format).text(0), fields(format).texts(1)}
		}
		return &action{MetaData: m}
	}
	if f, ok := get(4); ok {
		return &action{Protocol: &protocol{f.int(0), f.int(1), f.list(2), f.list(3)}}
	}
	if len(b.Columns) > sidecarColumn {
		if f, ok := get(sidecarColumn); ok {
			return &action{Sidecar: &sidecar{f.text(0), f.long(1)}}
		}
	}
	return &action{}
}

// vector is a deletion vector, nil for none.
func (f fields) vector(i int) *deletionVector {
	v, ok := f[i].(columnar.StructDatum)
	if !ok {
		return nil
	}
	g := fields(v)
	d := &deletionVector{StorageType: g.text(0), PathOrInlineDv: g.text(1), SizeInBytes: int32(g.int(3)), Cardinality: g.long(4)}
	if offset, ok := g[2].(int32); ok {
		d.Offset = &offset
	}
	if most, ok := g[5].(int64); ok {
		d.MaxRowIndex = &most
	}
	return d
}

// datum is a deletion vector as a struct of a checkpoint, nil for none.
func (d *deletionVector) datum() columnar.Datum {
	if d == nil {
		return nil
	}
	out := columnar.StructDatum{d.StorageType, d.PathOrInlineDv, nil, d.SizeInBytes, d.Cardinality, nil}
	if d.Offset != nil {
		out[2] = *d.Offset
	}
	if d.MaxRowIndex != nil {
		out[5] = *d.MaxRowIndex
	}
	return out
}

// writeCheckpoint writes the table as it is, for readers to begin with.
func (t *table) writeCheckpoint() error {
	schema, err := columnar.ParseDDL(checkpointDDL)
	if err != nil {
		return err
	}
	var rows []columnar.StructDatum
	row := func(at int, v columnar.StructDatum) {
		r := make(columnar.StructDatum, len(schema.Fields))
		r[at] = v
		rows = append(rows, r)
	}
	p := t.protocol
	row(4, columnar.StructDatum{int32(p.MinReaderVersion), int32(p.MinWriterVersion), features(p.ReaderFeatures, p.MinReaderVersion >= 3), features(p.WriterFeatures, p.MinWriterVersion >= 7)})
	m := t.meta
	row(3, columnar.StructDatum{
		m.ID, orNil(m.Name), orNil(m.Description),
		columnar.StructDatum{m.Format.Provider, mapDatum(pointers(m.Format.Options))},
		m.SchemaString, listDatum(m.PartitionColumns), mapDatum(pointers(m.Configuration)), m.CreatedTime,
	})
	apps := make([]string, 0, len(t.txns))
	for app := range t.txns {
		apps = append(apps, app)
	}
	sort.Strings(apps)
	for _, app := range apps {
		row(0, columnar.StructDatum{app, t.txns[app], nil})
	}
	for _, f := range t.sorted() {
		row(1, columnar.StructDatum{f.Path, mapDatum(f.PartitionValues), f.Size, f.ModificationTime, false, orNil(f.Stats), f.DeletionVector.datum()})
	}
	b := columnar.NewBatch(schema, nil, len(rows))
	for c, f := range schema.Fields {
		builder := columnar.NewBuilder(f.Type, len(rows))
		for _, r := range rows {
			builder.AppendDatum(r[c])
		}
		b.Columns = append(b.Columns, builder.Finish())
	}
	name := t.log(checkpointName(t.version))
	if err := t.writeParquet(name, b); err != nil {
		return err
	}
	last, err := json.Marshal(map[string]int64{"version": t.version, "size": int64(len(rows))})
	if err != nil {
		return err
	}
	return vfs.WriteFile(t.fs, t.log("_last_checkpoint"), last)
}

func (t *table) writeParquet(name string, b *columnar.Batch) error {
	tmp := t.log(fmt.Sprintf(".%s.tmp", checkpointName(t.version)))
	f, err := t.fs.Create(tmp)
	if err != nil {
		return err
	}
	w, err := parquetfmt.NewWriter(f, b.Schema, parquetfmt.WriterOptions{})
	if err == nil {
		err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := t.fs.Rename(tmp, name); err != nil {
		return err
	}
	return t.fs.SyncDir(t.log(""))
}

func orNil(s string) columnar.Datum {
	if s == "" {
		return nil
	}
	return s
}

func features(list []string, wanted bool) columnar.Datum {
	if !wanted {
		return nil
	}
	return listDatum(list)
}

func listDatum(list []string) []columnar.Datum {
	out := make([]columnar.Datum, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func pointers(m map[string]string) map[string]*string {
	out := map[string]*string{}
	for k, v := range m {
		out[k] = &v
	}
	return out
}

func mapDatum(m map[string]*string) columnar.MapDatum {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	sort.Strings(names)
	out := columnar.MapDatum{}
	for _, k := range names {
		out.Keys = append(out.Keys, k)
		if v := m[k]; v != nil {
			out.Values = append(out.Values, *v)
		} else {
			out.Values = append(out.Values, nil)
		}
	}
	return out
}
