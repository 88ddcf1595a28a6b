package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

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
	files    map[string]*addFile // by path
	txns     map[string]int64    // last version by application
}

// openTable reads the newest version of a table; one that is not there has the version -1.
func openTable(fsys vfs.FS, dir string) (*table, error) {
	t := &table{fs: fsys, dir: dir}
	t.reset()
	if err := t.start(); err != nil {
		return nil, err
	}
	return t, t.update()
}

// tableAt reads a version of a table.
func tableAt(fsys vfs.FS, dir string, version int64) (*table, error) {
	t := &table{fs: fsys, dir: dir}
	t.reset()
	if c, err := t.checkpointBefore(version); err != nil {
		return nil, err
	} else if c >= 0 {
		if err := t.readCheckpoint(c); err != nil {
			return nil, err
		}
	}
	for t.version < version {
		actions, err := t.commit(t.version + 1)
		if err != nil {
			return nil, err
		}
		if actions == nil {
			return nil, fmt.Errorf("delta table %q has no version %d; the last one is %d", dir, version, t.version)
		}
		if err := t.apply(actions); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *table) reset() {
	t.version, t.protocol, t.meta, t.schema = -1, nil, nil, nil
	t.files, t.txns = map[string]*addFile{}, map[string]int64{}
}

func (t *table) log(name string) string { return filepath.Join(t.dir, "_delta_log", name) }

func commitName(version int64) string { return fmt.Sprintf("%020d.json", version) }

// start goes to the newest checkpoint.
func (t *table) start() error {
	c, err := t.checkpointBefore(1<<62 - 1)
	if err != nil || c < 0 {
		return err
	}
	return t.readCheckpoint(c)
}

// checkpointBefore finds the newest checkpoint up to a version, -1 for none.
func (t *table) checkpointBefore(version int64) (int64, error) {
	entries, err := t.fs.List(t.log(""))
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	best := int64(-1)
	for _, e := range entries {
		head, rest, ok := strings.Cut(e.Name(), ".checkpoint.")
		if !ok || len(head) != 20 || rest != "parquet" {
			continue
		}
		var v int64
		if _, err := fmt.Sscanf(head, "%d", &v); err == nil && v <= version {
			best = max(best, v)
		}
	}
	return best, nil
}

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
	actions := []action{}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var a action
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("delta table %q: version %d: %w", t.dir, version, err)
		}
		actions = append(actions, a)
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
		t.meta, t.schema = a.MetaData, s
	case a.Txn != nil:
		t.txns[a.Txn.AppID] = a.Txn.Version
	case a.Add != nil:
		if a.Add.DeletionVector != nil {
			return errors.New("the table has deletion vectors, which are not supported")
		}
		t.files[a.Add.Path] = a.Add
	case a.Remove != nil:
		delete(t.files, a.Remove.Path)
	}
	return nil
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
