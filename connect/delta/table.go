package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/internal/vfs"
)

// table is a table as of one version.
type table struct {
	fs       vfs.FS
	dir      string
	version  int64 // -1 while there is no table
	protocol *protocol
	meta     *metaData
	schema   *columnar.Schema
	columns  *mapping            // where the schema's columns lie in the files
	changed  int64               // the version that the metadata came with
	files    map[string]*addFile // by path and deletion vector
	txns     map[string]int64    // last version by application

	passed    int64 // the newest checkpoint that could not be read, 0 for none
	passedErr error // and why
}

// openTable reads the newest version of a table; one that is not there has the version -1.
func openTable(fsys vfs.FS, dir string) (*table, error) {
	t := &table{fs: fsys, dir: dir}
	t.reset()
	if err := t.start(newest); err != nil {
		return nil, err
	}
	if err := t.update(); err != nil {
		return nil, err
	}
	return t, t.whole()
}

// tableAt reads a version of a table.
func tableAt(fsys vfs.FS, dir string, version int64) (*table, error) {
	t := &table{fs: fsys, dir: dir}
	t.reset()
	if err := t.start(version); err != nil {
		return nil, err
	}
	for t.version < version {
		actions, err := t.commit(t.version + 1)
		if err != nil {
			return nil, err
		}
		if actions == nil {
			if err := t.whole(); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("delta table %q has no version %d; the last one is %d", dir, version, t.version)
		}
		if err := t.apply(actions); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *table) reset() {
	t.version, t.protocol, t.meta, t.schema, t.columns = -1, nil, nil, nil, nil
	t.files, t.txns = map[string]*addFile{}, map[string]int64{}
}

func (t *table) log(name string) string { return filepath.Join(t.dir, "_delta_log", name) }

func commitName(version int64) string { return fmt.Sprintf("%020d.json", version) }

// update reads the versions that have come since.
func (t *table) update() error {
	for {
		actions, err := t.commit(t.version + 1)
		if err != nil || actions == nil {
			return err
		}
		if err := t.apply(actions); err != nil {
			return err
		}
	}
}

// commit reads the actions of a version; nil if there is none.
func (t *table) commit(version int64) ([]action, error) {
	text, err := vfs.ReadFile(t.fs, t.log(commitName(version)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	actions, err := parseActions(text)
	if err != nil {
		return nil, fmt.Errorf("delta table %q: version %d: %w", t.dir, version, err)
	}
	return actions, nil
}

// apply goes to the next version.
func (t *table) apply(actions []action) error {
	t.version++
	for i := range actions {
		if err := t.take(&actions[i]); err != nil {
			return fmt.Errorf("delta table %q: version %d: %w", t.dir, t.version, err)
		}
	}
	return nil
}

func (t *table) take(a *action) error {
	switch {
	case a.Protocol != nil:
		t.protocol = a.Protocol
		return a.Protocol.mayRead()
	case a.MetaData != nil:
		s, err := parquetfmt.ParseSchemaJSON(a.MetaData.SchemaString)
		if err != nil {
			return fmt.Errorf("schema: %w", err)
		}
		m, err := newMapping(a.MetaData, s)
		if err != nil {
			return err
		}
		t.meta, t.schema, t.columns, t.changed = a.MetaData, s, m, t.version
	case a.Txn != nil:
		t.txns[a.Txn.AppID] = a.Txn.Version
	case a.Add != nil:
		t.files[a.Add.key()] = a.Add
	case a.Remove != nil:
		delete(t.files, fileKey(a.Remove.Path, a.Remove.DeletionVector))
	}
	return nil
}

// has tells whether the table has a file, with whatever deletion vector.
func (t *table) has(path string) bool {
	if t.files[path] != nil {
		return true
	}
	for _, f := range t.files {
		if f.Path == path {
			return true
		}
	}
	return false
}

// sorted are the files in the order in which a stream reads them: by time, then by path.
func (t *table) sorted() []*addFile {
	out := make([]*addFile, 0, len(t.files))
	for _, f := range t.files {
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].ModificationTime != out[j].ModificationTime {
			return out[i].ModificationTime < out[j].ModificationTime
		}
		return out[i].Path < out[j].Path
	})
	return out
}

// errTaken tells that another writer has made the version.
var errTaken = errors.New("another writer was faster")

// write makes the next version of the table of actions; errTaken if somebody else has made it.
func (t *table) write(actions []action, tmp string) error {
	var text bytes.Buffer
	for i := range actions {
		line, err := json.Marshal(&actions[i])
		if err != nil {
			return err
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	name := t.log(commitName(t.version + 1))
	err := vfs.CreateFile(t.fs, t.log(tmp), name, text.Bytes())
	if errors.Is(err, fs.ErrExist) {
		return errTaken
	}
	if err != nil {
		return err
	}
	return t.apply(actions)
}
