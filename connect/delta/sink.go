package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/connect/files"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// sink writes batches as versions of a table.
type sink struct {
	env         connector.Env
	dir         string
	by          []string
	merge       bool // new columns are added to the table
	compression string
	maxBytes    int64
	table       *table
	folders     vfs.Dirs
}

func newSink(env connector.Env, o connector.Options) (connector.Sink, error) {
	s := &sink{env: env, by: files.PartitionBy(o), compression: o.String("compression", "")}
	var err error
	if s.dir, err = tablePath(env, o); err != nil {
		return nil, err
	}
	if s.merge, err = o.Bool("mergeSchema", false); err != nil {
		return nil, err
	}
	if s.maxBytes, err = o.Bytes("maxFileSize", 1<<30); err != nil {
		return nil, err
	}
	if s.env.Now == nil {
		s.env.Now = time.Now
	}
	if _, err := parquetfmt.NewWriter(io.Discard, columnar.NewSchema(columnar.Field{Name: "x", Type: columnar.Int32}), s.writerOptions()); err != nil {
		return nil, err
	}
	return s, nil
}

func tablePath(env connector.Env, o connector.Options) (string, error) {
	p := strings.TrimPrefix(strings.TrimPrefix(o.String("path", ""), "file://"), "file:")
	if p == "" {
		return "", errors.New("option \"path\" is missing: the folder of the table")
	}
	if !filepath.IsAbs(p) {
		p = filepath.Join(env.BaseDir, p)
	}
	return filepath.Abs(p)
}

func (s *sink) writerOptions() parquetfmt.WriterOptions {
	return parquetfmt.WriterOptions{Compression: s.compression}
}

// app is the name under which the table keeps the last batch.
func (s *sink) app(info connector.BatchInfo) string { return info.QueryID }

// Description implements connector.Sink.
func (s *sink) Description() string { return "DeltaSink[" + s.dir + "]" }

// Close implements connector.Sink.
func (s *sink) Close() error { return nil }

// refresh reads the table, or what has come to it since.
func (s *sink) refresh() error {
	if s.table != nil {
		return s.table.update()
	}
	t, err := openTable(s.env.FS, s.dir)
	if err == nil {
		s.table = t
	}
	return err
}

// Recover implements connector.Recoverer: it removes the files of batches that were not committed to the table.
func (s *sink) Recover(_ context.Context, lastCommitted int64) error {
	if s.env.Log == nil {
		return nil
	}
	if err := s.refresh(); err != nil {
		return err
	}
	return s.env.Log.Each(func(batch int64, v json.RawMessage) error {
		if batch <= lastCommitted {
			return nil
		}
		var paths []string
		if err := json.Unmarshal(v, &paths); err != nil {
			return fmt.Errorf("entry %d of the sink's log: %w", batch, err)
		}
		for _, p := range paths {
			if s.table.has(escapePath(p)) {
				continue
			}
			if err := s.env.FS.Remove(filepath.Join(s.dir, filepath.FromSlash(p))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// Begin implements connector.Sink.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	if err := s.refresh(); err != nil {
		return nil, err
	}
	schema := info.Schema
	if schema == nil {
		schema = s.env.Schema
	}
	w := &writer{s: s, info: info, schema: schema}
	if last, ok := s.table.txns[s.app(info)]; ok && last >= info.BatchID {
		w.skip = true
		return w, nil
	}
	if err := w.plan(); err != nil {
		return nil, fmt.Errorf("delta table %q: %w", s.dir, err)
	}
	var err error
	w.parts, err = files.NewPartWriter(files.PartOptions{
		FS: s.env.FS, Zone: s.env.Zone, Schema: schema, PartitionBy: w.by, MaxBytes: s.maxBytes,
		Open: func(out io.Writer, data *columnar.Schema) (files.Output, error) {
			return parquetfmt.NewWriter(out, data, s.writerOptions())
		},
		Place: w.place,
	})
	return w, err
}

// writer is one batch.
type writer struct {
	s      *sink
	info   connector.BatchInfo
	schema *columnar.Schema
	by     []string
	parts  *files.PartWriter
	meta   *metaData // the table's new one, nil if that stays
	proto  *protocol // likewise
	skip   bool      // the table has the batch
	dirs   map[string]bool
	paths  []string
}

// plan compares the rows with the table's columns.
func (w *writer) plan() error {
	t, s := w.s.table, w.s
	w.by, w.meta, w.proto = s.by, nil, nil
	if t.version < 0 {
		return w.create(w.schema)
	}
	if err := t.protocol.mayWrite(); err != nil {
		return err
	}
	if t.columns.mode != "" {
		return errors.New("it maps columns (delta.columnMapping.mode), which is not supported for writing: write to another table")
	}
	if strings.Contains(t.meta.SchemaString, "delta.invariants") {
		return errors.New("a column has an invariant (delta.invariants), which is not checked when writing: write to another table")
	}
	if w.info.Mode == connector.Complete && t.meta.appendOnly() {
		return errors.New("it is append-only (delta.appendOnly), so that its rows cannot be replaced: use outputMode append")
	}
	if len(s.by) == 0 {
		w.by = t.meta.PartitionColumns
	} else if !slices.EqualFunc(s.by, t.meta.PartitionColumns, strings.EqualFold) {
		return fmt.Errorf("it is partitioned by %q, not by %q", t.meta.PartitionColumns, s.by)
	}
	merged := &columnar.Schema{Fields: slices.Clone(t.schema.Fields)}
	for i, f := range w.schema.Fields {
		k := merged.IndexFold(f.Name)
		if k < 0 {
			if !s.merge {
				return fmt.Errorf("it has no column %q; set mergeSchema to true to add it, or leave the column out of the query", f.Name)
			}
			f.Nullable = true
			merged.Fields = append(merged.Fields, f)
			continue
		}
		have := merged.Fields[k]
		if !have.Type.Equal(f.Type) {
			return fmt.Errorf("column %q is %s, the rows have %s; cast it in the query", have.Name, have.Type.SQL(), f.Type.SQL())
		}
		if have.Name != f.Name { // files carry the table's names
			w.schema = renamed(w.schema, i, have.Name)
		}
	}
	for _, f := range t.schema.Fields {
		if !f.Nullable && w.schema.IndexFold(f.Name) < 0 {
			return fmt.Errorf("column %q is NOT NULL, but the rows do not have it", f.Name)
		}
	}
	if len(merged.Fields) == len(t.schema.Fields) {
		return nil
	}
	text, err := parquetfmt.SchemaJSON(merged)
	if err != nil {
		return err
	}
	meta := *t.meta
	meta.SchemaString = text
	w.meta = &meta
	return nil
}

func renamed(s *columnar.Schema, i int, name string) *columnar.Schema {
	out := &columnar.Schema{Fields: slices.Clone(s.Fields)}
	out.Fields[i].Name = name
	return out
}

// create plans a new table.
func (w *writer) create(schema *columnar.Schema) error {
	open := &columnar.Schema{}
	ntz := false
	for _, f := range schema.Fields {
		f.Nullable = true // later batches may lack it
		open.Fields = append(open.Fields, f)
		ntz = ntz || hasNTZ(f.Type)
	}
	text, err := parquetfmt.SchemaJSON(open)
	if err != nil {
		return err
	}
	w.proto = &protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	if ntz {
		w.proto = &protocol{3, 7, []string{"timestampNtz"}, []string{"timestampNtz", "appendOnly", "invariants"}}
	}
	by := []string{}
	for _, c := range w.s.by {
		if i := schema.IndexFold(c); i >= 0 {
			by = append(by, schema.Fields[i].Name)
		}
	}
	w.meta = &metaData{
		ID: uuid.NewString(), Format: fileFormat{"parquet", map[string]string{}}, SchemaString: text, PartitionColumns: by,
		Configuration: map[string]string{}, CreatedTime: w.s.env.Now().UnixMilli(),
	}
	return nil
}

func hasNTZ(t *columnar.Type) bool {
	if t.Kind == columnar.KindTimestampNTZ || t.Elem != nil && hasNTZ(t.Elem) || t.Key != nil && hasNTZ(t.Key) {
		return true
	}
	for _, f := range t.Fields {
		if hasNTZ(f.Type) {
			return true
		}
	}
	return false
}

// place names files so that no two attempts share a name: the table may have those of another one.
func (w *writer) place(folder string, n int) (temp, to string, err error) {
	if w.dirs == nil {
		w.dirs = map[string]bool{}
	}
	dir := filepath.Join(w.s.dir, filepath.FromSlash(folder))
	if !w.dirs[dir] {
		if err := w.s.folders.Make(w.s.env.FS, dir); err != nil {
			return "", "", err
		}
		w.dirs[dir] = true
	}
	to = path.Join(folder, fmt.Sprintf("part-%05d-%s-c%03d%s", w.info.BatchID, uuid.NewString(), n, parquetfmt.Extension(w.s.compression)))
	w.paths = append(w.paths, to)
	if err := w.intend(); err != nil {
		return "", "", err
	}
	return filepath.Join(w.s.dir, filepath.FromSlash(to)), to, nil
}

// intend writes the names of the files to the sink's log before they are there, for Recover.
func (w *writer) intend() error {
	log := w.s.env.Log
	if log == nil {
		return nil
	}
	v, err := json.Marshal(w.paths)
	if err != nil {
		return err
	}
	const compactEvery = 200
	if w.info.BatchID > 0 && w.info.BatchID%compactEvery == 0 && len(w.paths) == 1 {
		if err := log.Compact(w.info.BatchID-1, json.RawMessage("[]")); err != nil {
			return err
		}
	}
	return log.Put(w.info.BatchID, v)
}

// Write implements connector.BatchWriter.
func (w *writer) Write(ctx context.Context, b *columnar.Batch) error {
	if w.skip {
		return nil
	}
	return w.parts.Write(ctx, b)
}

// Commit implements connector.BatchWriter.
func (w *writer) Commit(ctx context.Context) error {
	if w.skip {
		return nil
	}
	if err := w.commit(ctx); err != nil {
		return errors.Join(fmt.Errorf("delta table %q: %w", w.s.dir, err), w.Abort(ctx))
	}
	return nil
}

func (w *writer) commit(ctx context.Context) error {
	points, id, s := w.info.Failpoints, w.info.BatchID, w.s
	if err := points.Hit(failpoint.SinkPartial, id); err != nil {
		return err
	}
	parts, err := w.parts.Finish()
	if err != nil {
		return err
	}
	for dir := range w.dirs {
		if err := s.env.FS.SyncDir(dir); err != nil {
			return err
		}
	}
	if err := points.Hit(failpoint.SinkStaged, id); err != nil {
		return err
	}
	if err := s.folders.Make(s.env.FS, s.table.log("")); err != nil {
		return err
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := s.table.write(w.actions(parts), fmt.Sprintf(".%s.tmp", uuid.NewString()))
		if err == nil {
			break
		}
		// Whatever went wrong, the version may be there: then it is in the log, with our batch.
		if e := s.table.update(); e != nil {
			return errors.Join(err, e)
		}
		if last, ok := s.table.txns[s.app(w.info)]; ok && last >= id {
			return w.foreign()
		}
		if !errors.Is(err, errTaken) {
			return err
		}
		by := w.by
		if err := w.plan(); err != nil {
			return err
		}
		if !slices.EqualFunc(by, w.by, strings.EqualFold) {
			return fmt.Errorf("another writer has changed the partitioning to %q", w.by)
		}
	}
	if v := s.table.version; v > 0 && v%checkpointEvery == 0 {
		if err := s.table.writeCheckpoint(); err != nil && s.env.Warn != nil { // the table is whole without it
			s.env.Warn("delta table %q: checkpoint of version %d: %v", s.dir, v, err)
		}
	}
	return nil
}

// foreign ends a batch that the table has: by our own commit, whose success was not told, or by another process, whose
// files count then.
func (w *writer) foreign() error {
	for _, p := range w.paths {
		if w.s.table.has(escapePath(p)) {
			return nil
		}
	}
	return w.parts.Discard()
}

// actions are the lines of the version.
func (w *writer) actions(parts []*files.Part) []action {
	s, now := w.s, w.s.env.Now().UnixMilli()
	var out []action
	complete := w.info.Mode == connector.Complete
	mode := "Append"
	if complete {
		mode = "Complete"
	}
	out = append(out, action{CommitInfo: &commitInfo{
		Timestamp: now, Operation: "STREAMING UPDATE", IsBlindAppend: !complete, EngineInfo: "wstream", TxnID: uuid.NewString(),
		OperationParameters: map[string]string{"outputMode": mode, "queryId": w.info.QueryID, "epochId": fmt.Sprint(w.info.BatchID)},
	}})
	if w.proto != nil {
		out = append(out, action{Protocol: w.proto})
	}
	if w.meta != nil {
		out = append(out, action{MetaData: w.meta})
	}
	out = append(out, action{Txn: &txn{s.app(w.info), w.info.BatchID, now}})
	if complete {
		for _, f := range s.table.sorted() {
			out = append(out, action{Remove: &removeFile{
				Path: f.Path, DeletionTimestamp: now, DataChange: true, ExtendedFileMetadata: true,
				PartitionValues: f.PartitionValues, Size: f.Size, DeletionVector: f.DeletionVector,
			}})
		}
	}
	for _, p := range parts {
		values := map[string]*string{}
		for i, c := range w.by {
			values[c] = p.Values[i]
		}
		out = append(out, action{Add: &addFile{
			Path: escapePath(p.Path), PartitionValues: values, Size: p.Size, ModificationTime: now, DataChange: true,
			Stats: fmt.Sprintf(`{"numRecords":%d}`, p.Rows),
		}})
	}
	return out
}

// Abort implements connector.BatchWriter.
func (w *writer) Abort(context.Context) error {
	if w.skip || w.parts == nil {
		return nil
	}
	for _, p := range w.paths { // a commit may have happened although it was reported as failed
		if w.s.table.has(escapePath(p)) {
			return nil
		}
	}
	return w.parts.Discard()
}
