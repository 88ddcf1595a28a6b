package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/lines"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/engine/expr"
)

// position is an offset of the source: Index files of a version have been read.
type position struct {
	Table    string `json:"reservoirId"`
	Version  int64  `json:"reservoirVersion"`
	Index    int    `json:"index"`
	Starting bool   `json:"isStartingVersion"` // Index counts the files of the table as of Version, not those that it added
	Begin    int64  `json:"beginVersion"`      // the version that the stream began with
	Snapshot bool   `json:"beginSnapshot"`     // and whether with all its files
}

// source reads a table.
type source struct {
	env      connector.Env
	dir      string
	schema   *columnar.Schema
	meta     *metaData
	columns  *mapping
	known    int64 // the version whose schema is the source's
	version  int64 // static: the version to read, -1 for the newest
	starting string
	maxFiles int64
	maxBytes int64
	// What to do about versions that take rows away: nothing, where they only do that, or also where they change rows.
	ignoreDeletes, ignoreChanges, skipChanges bool

	begin    *position
	snapshot []*addFile           // of the version that the stream began with
	changes  map[int64][]*addFile // files that versions added; a version that is not there yet is missing
	fixed    int64                // availableNow: the last version, -1 for none
}

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	s := &source{env: env, version: -1, fixed: -1, changes: map[int64][]*addFile{}, starting: strings.ToLower(o.String("startingVersion", ""))}
	if s.env.Zone == nil {
		s.env.Zone = time.UTC
	}
	var err error
	if s.dir, err = tablePath(env, o); err != nil {
		return nil, err
	}
	if s.maxFiles, err = o.Int("maxFilesPerTrigger", 1000); err == nil && s.maxFiles <= 0 {
		err = fmt.Errorf("option %q: found %d, expected a number above 0", "maxFilesPerTrigger", s.maxFiles)
	}
	if err == nil {
		s.maxBytes, err = o.Bytes("maxBytesPerTrigger", 0)
	}
	if err == nil {
		s.ignoreDeletes, err = o.Bool("ignoreDeletes", false)
	}
	if err == nil {
		s.ignoreChanges, err = o.Bool("ignoreChanges", false)
	}
	if err == nil {
		s.skipChanges, err = o.Bool("skipChangeCommits", false)
	}
	if err == nil && s.starting != "" && s.starting != "latest" {
		if _, e := strconv.ParseUint(s.starting, 10, 62); e != nil {
			err = fmt.Errorf("option \"startingVersion\": found %q, expected a version or latest", s.starting)
		}
	}
	if err == nil {
		s.version, err = o.Int("versionAsOf", -1)
	}
	if err != nil {
		return nil, err
	}
	t, err := s.tableOf(s.version)
	if err != nil {
		return nil, err
	}
	s.schema, s.meta, s.columns, s.known = t.schema, t.meta, t.columns, t.version
	return s, nil
}

// tableOf is the table as of a version, -1 for the newest.
func (s *source) tableOf(version int64) (*table, error) {
	if version >= 0 {
		return tableAt(s.env.FS, s.dir, version)
	}
	t, err := openTable(s.env.FS, s.dir)
	if err != nil {
		return nil, err
	}
	if t.version < 0 || t.meta == nil {
		return nil, fmt.Errorf("%q is not a Delta table: it has no folder _delta_log with versions", s.dir)
	}
	return t, nil
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string { return "DeltaSource[file:" + s.dir + "]" }

// Close implements connector.Source.
func (s *source) Close() error { return nil }

func (s *source) parse(o connector.Offset) (*position, error) {
	if o == nil {
		return nil, nil
	}
	p := &position{}
	if err := json.Unmarshal(o, p); err != nil {
		return nil, fmt.Errorf("offset %s: %w", o, err)
	}
	if p.Table != s.meta.ID {
		return nil, fmt.Errorf("the table at %q is another one than the checkpoint was written for: its id is %s, was %s", s.dir, s.meta.ID, p.Table)
	}
	return p, nil
}

// first is where a stream without offset begins.
func (s *source) first() (*position, error) {
	if s.begin != nil {
		return s.begin, nil
	}
	p := &position{Table: s.meta.ID}
	if v, err := strconv.ParseInt(s.starting, 10, 64); err == nil {
		p.Version = v
	} else {
		t, err := s.tableOf(-1)
		if err != nil {
			return nil, err
		}
		p.Version, p.Starting = t.version, true
		if s.starting == "latest" {
			p.Version, p.Starting = t.version+1, false
		}
	}
	p.Begin, p.Snapshot = p.Version, p.Starting
	s.begin = p
	return p, nil
}

// filesOf are the files of a position's version; ok is false if the version is not there yet.
func (s *source) filesOf(p *position) (files []*addFile, ok bool, err error) {
	if p.Starting {
		if s.snapshot == nil {
			t, err := s.tableOf(p.Version)
			if err != nil {
				return nil, false, err
			}
			s.snapshot = t.sorted()
		}
		return s.snapshot, true, nil
	}
	if files, ok := s.changes[p.Version]; ok {
		return files, true, nil
	}
	t := &table{fs: s.env.FS, dir: s.dir}
	actions, err := t.commit(p.Version)
	if err != nil || actions == nil {
		return nil, false, err
	}
	if files, err = s.added(p.Version, actions); err != nil {
		return nil, false, err
	}
	s.changes[p.Version] = files
	return files, true, nil
}

// added are the files whose rows a version brought.
func (s *source) added(version int64, actions []action) ([]*addFile, error) {
	files, removed := []*addFile{}, false
	for _, a := range actions {
		switch {
		case a.Protocol != nil:
			if err := a.Protocol.mayRead(); err != nil {
				return nil, err
			}
		case a.MetaData != nil && a.MetaData.SchemaString != s.meta.SchemaString:
			if err := s.schemaOf(version, a.MetaData); err != nil {
				return nil, err
			}
		case a.Add != nil && a.Add.DataChange:
			files = append(files, a.Add)
		case a.Remove != nil && a.Remove.DataChange:
			removed = true
		}
	}
	switch {
	case !removed || s.ignoreChanges:
	case s.skipChanges:
		return []*addFile{}, nil
	case len(files) == 0 && s.ignoreDeletes:
	case len(files) == 0:
		return nil, fmt.Errorf("version %d deletes rows, which a stream cannot take back; set ignoreDeletes to true to pass over it", version)
	default:
		return nil, fmt.Errorf("version %d changes rows; set skipChangeCommits to true to pass over such versions, or ignoreChanges to read the files that it rewrote once more", version)
	}
	return files, nil
}

// schemaOf looks at a version's schema, which is not the source's word for word. One that came later ends the query unless it
// has the same columns; files of an older one are read as the table is now.
func (s *source) schemaOf(version int64, meta *metaData) error {
	have, err := parquetfmt.ParseSchemaJSON(meta.SchemaString)
	if err != nil {
		return fmt.Errorf("version %d: schema: %w", version, err)
	}
	m, err := newMapping(meta, have)
	if err != nil {
		return fmt.Errorf("version %d: %w", version, err)
	}
	if version > s.known {
		if !m.same(s.columns) {
			return fmt.Errorf("version %d has changed the schema to %s; start the query again to read it", version, have)
		}
		return nil
	}
	if column, ok := s.columns.reads(m); !ok {
		return fmt.Errorf("column %q had another type in version %d (%s), in which its files cannot be read as %s; set startingVersion to a later version", column, version, have, s.schema)
	}
	return nil
}

// Fix implements connector.Bounded.
func (s *source) Fix(context.Context, connector.Offset) error {
	t, err := s.tableOf(-1)
	if err == nil {
		s.fixed = t.version
	}
	return err
}

// walk visits the files from a position on, until visit says no. It gives the position reached.
func (s *source) walk(from position, last int64, visit func(f *addFile, at position) bool) (position, error) {
	p := from
	for p.Version <= last {
		files, ok, err := s.filesOf(&p)
		if err != nil || !ok {
			return p, err
		}
		for p.Index < len(files) {
			if !visit(files[p.Index], p) {
				return p, nil
			}
			p.Index++
		}
		next := position{Table: p.Table, Version: p.Version + 1, Begin: p.Begin, Snapshot: p.Snapshot}
		if next.Version > last {
			return p, nil
		}
		if _, ok, err := s.filesOf(&next); err != nil || !ok {
			return p, err
		}
		p = next
	}
	return p, nil
}

// Next implements connector.Source.
func (s *source) Next(_ context.Context, start connector.Offset, unlimited bool) (end, latest connector.Offset, err error) {
	if s.env.Static {
		return connector.Offset("0"), connector.Offset("0"), nil
	}
	p, err := s.parse(start)
	if err == nil && p == nil {
		p, err = s.first()
	}
	if err != nil {
		return nil, nil, err
	}
	last := int64(1<<62 - 1)
	if s.fixed >= 0 {
		last = s.fixed
	}
	files, size := int64(0), int64(0)
	to, err := s.walk(*p, last, func(f *addFile, _ position) bool {
		if !unlimited && (files >= s.maxFiles || s.maxBytes > 0 && files > 0 && size+f.Size > s.maxBytes) {
			return false
		}
		files++
		size += f.Size
		return true
	})
	if err != nil {
		return nil, nil, fmt.Errorf("delta table %q: %w", s.dir, err)
	}
	if files == 0 {
		return start, start, nil
	}
	v, err := json.Marshal(to)
	return v, v, err
}

// Plan implements connector.Source.
func (s *source) Plan(_ context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	var out []connector.Partition
	if s.env.Static {
		t, err := s.tableOf(s.version)
		if err != nil {
			return nil, err
		}
		for _, f := range t.sorted() {
			out = append(out, &partition{s, f})
		}
		return out, nil
	}
	from, err := s.parse(start)
	if err != nil {
		return nil, err
	}
	to, err := s.parse(end)
	if err != nil || to == nil {
		return nil, err
	}
	if from == nil {
		from = &position{Table: to.Table, Version: to.Begin, Starting: to.Snapshot, Begin: to.Begin, Snapshot: to.Snapshot}
		if s.begin == nil {
			s.begin = from
		}
	}
	_, err = s.walk(*from, to.Version, func(f *addFile, at position) bool {
		if at.Version == to.Version && at.Starting == to.Starting && at.Index >= to.Index {
			return false
		}
		out = append(out, &partition{s, f})
		return true
	})
	return out, err
}

// Commit implements connector.Committer: what has been read is forgotten.
func (s *source) Commit(_ context.Context, _ int64, end connector.Offset) error {
	if s.env.Static {
		return nil
	}
	p, err := s.parse(end)
	if err != nil || p == nil {
		return err
	}
	for v := range s.changes {
		if v < p.Version {
			delete(s.changes, v)
		}
	}
	if !p.Starting {
		s.snapshot = nil
	}
	return nil
}

// partition is one file of the table.
type partition struct {
	s *source
	f *addFile
}

// ID implements connector.Partition.
func (p *partition) ID() string { return "" }

// rows is how many rows a batch has.
const rows = 16384

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, need []int, emit func(connector.Chunk) error) error {
	name, err := place(p.s.dir, p.f.Path)
	if err != nil {
		return err
	}
	var stop error
	err = p.read(ctx, name, need, func(c connector.Chunk) error { stop = emit(c); return stop })
	if err == nil || stop != nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the table's log names the file; it may have been vacuumed since", err)
	}
	return lines.FileError(name, err)
}

func (p *partition) read(ctx context.Context, name string, need []int, emit func(connector.Chunk) error) error {
	file, err := p.s.env.FS.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return err
	}
	inFile, ids, take, err := p.columns(need)
	if err != nil {
		return err
	}
	var deleted *rowSet
	if d := p.f.DeletionVector; d != nil {
		if deleted, err = d.load(p.s.env.FS, p.s.dir); err != nil {
			return err
		}
	}
	r, err := parquetfmt.OpenByID(file, size, inFile, ids)
	if err != nil {
		return err
	}
	defer r.Close()
	at := int64(0) // the number of the batch's first row in the file
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b, err := r.Next(rows)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if deleted != nil {
			idx, all := deleted.kept(at, b.Rows)
			at += int64(b.Rows)
			if !all {
				if b = columnar.TakeBatch(b, idx); b.Rows == 0 {
					continue
				}
			}
		}
		cols := make([]*columnar.Column, len(take))
		for i, f := range take {
			cols[i] = f(b)
		}
		if err := emit(connector.ReadyChunk{Batch: columnar.NewBatch(p.s.schema, cols, b.Rows)}); err != nil {
			return err
		}
	}
}

// columns says what to read of the file, and how each column of the table comes of that.
func (p *partition) columns(need []int) (inFile *columnar.Schema, ids *parquetfmt.FieldIDs, take []func(b *columnar.Batch) *columnar.Column, err error) {
	inFile = &columnar.Schema{}
	var picked []int
	wanted := make([]bool, len(p.s.schema.Fields))
	for _, n := range need {
		wanted[n] = true
	}
	for i, f := range p.s.schema.Fields {
		value, folder := p.value(f.Name)
		switch {
		case need != nil && !wanted[i]:
			take = append(take, func(b *columnar.Batch) *columnar.Column { return columnar.NewNull(f.Type, b.Rows) })
		case folder && value == nil:
			take = append(take, func(b *columnar.Batch) *columnar.Column { return columnar.NewNull(f.Type, b.Rows) })
		case folder:
			one, err := expr.CastColumn(&expr.Context{Zone: p.s.env.Zone}, columnar.FromData(columnar.String, *value), f.Type, expr.CastANSI)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("partition value of column %q: %w", f.Name, err)
			}
			take = append(take, func(b *columnar.Batch) *columnar.Column { return columnar.Take(one, make([]int32, b.Rows)) })
		default:
			k := len(inFile.Fields)
			physical := p.s.columns.fields[i]
			physical.Nullable = true
			inFile.Fields = append(inFile.Fields, physical)
			picked = append(picked, i)
			take = append(take, func(b *columnar.Batch) *columnar.Column { return retype(b.Columns[k], f.Type) })
		}
	}
	return inFile, p.s.columns.idsOf(picked), take, nil
}

// value is the file's value of a partition column.
func (p *partition) value(column string) (value *string, ok bool) {
	for _, c := range p.s.meta.PartitionColumns {
		if c == column {
			v := p.f.PartitionValues[p.s.columns.physical(c)]
			if v != nil && *v == "" {
				v = nil
			}
			return v, true
		}
	}
	return nil, false
}
