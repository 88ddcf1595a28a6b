package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sort"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/failpoint"
)

// writer writes the files of one batch.
type writer struct {
	s     *sink
	info  connector.BatchInfo
	parts *PartWriter
	begun bool // the staging folder is there
}

func (s *sink) newWriter(info connector.BatchInfo, schema *columnar.Schema) (*writer, error) {
	w := &writer{s: s, info: info}
	var err error
	w.parts, err = NewPartWriter(PartOptions{
		FS: s.env.FS, Zone: s.env.Zone, Schema: schema, PartitionBy: s.by, MaxRows: s.maxRows, MaxBytes: s.maxBytes, Open: s.out.open, Place: w.place,
	})
	return w, err
}

// place names the files of the batch.
func (w *writer) place(folder string, n int) (temp, to string, err error) {
	if !w.begun {
		if err := w.s.env.FS.MkdirAll(w.s.staging()); err != nil {
			return "", "", err
		}
		w.begun = true
	}
	name := fmt.Sprintf("part-%05d-%05d-%s%s", w.info.BatchID, n, w.s.short(), w.s.out.extension)
	return filepath.Join(w.s.staging(), name), path.Join(folder, name), nil
}

// Write implements connector.BatchWriter.
func (w *writer) Write(ctx context.Context, b *columnar.Batch) error {
	return explainDisk(w.parts.Write(ctx, b))
}

// Commit implements connector.BatchWriter.
func (w *writer) Commit(ctx context.Context) error {
	if err := w.publish(); err != nil {
		return errors.Join(explainDisk(err), w.Abort(ctx))
	}
	return nil
}

func (w *writer) publish() error {
	points, id := w.info.Failpoints, w.info.BatchID
	if err := points.Hit(failpoint.SinkPartial, id); err != nil {
		return err
	}
	parts, err := w.parts.Finish()
	if err != nil {
		return err
	}
	if err := points.Hit(failpoint.SinkStaged, id); err != nil {
		return err
	}
	s := w.s
	line := manifestLine{Batch: id, Files: []manifestFile{}}
	for _, f := range parts {
		line.Files = append(line.Files, manifestFile{f.Path, f.Size, f.Rows})
	}
	if len(parts) > 0 {
		if err := w.intend(line.Files); err != nil {
			return err
		}
		if err := w.rename(parts); err != nil {
			return err
		}
	}
	return appendManifest(s.env.FS, manifestPath(s.dir, s.owner()), line)
}

// intend writes the names that will be published to the sink's log, for Recover.
func (w *writer) intend(files []manifestFile) error {
	log := w.s.env.Log
	if log == nil {
		return nil
	}
	v, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if w.info.BatchID > 0 && w.info.BatchID%compactEvery == 0 { // committed batches need no entry
		if err := log.Compact(w.info.BatchID-1, json.RawMessage("[]")); err != nil {
			return err
		}
	}
	return log.Put(w.info.BatchID, v)
}

// compactEvery is after how many batches the sink's log is shortened.
const compactEvery = 200

// rename gives the files their names, durably.
func (w *writer) rename(parts []*Part) error {
	fsys, dirs := w.s.env.FS, map[string]bool{}
	for _, f := range parts {
		to := filepath.Join(w.s.dir, filepath.FromSlash(f.Path))
		if dir := filepath.Dir(to); !dirs[dir] {
			if err := w.s.folders.Make(fsys, dir); err != nil {
				return err
			}
			dirs[dir] = true
		}
		if err := fsys.Rename(f.Temp, to); err != nil {
			return err
		}
	}
	var names []string
	for d := range dirs {
		names = append(names, d)
	}
	sort.Strings(names)
	for _, d := range names {
		if err := fsys.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// Abort implements connector.BatchWriter. What has been published already is left to Recover.
func (w *writer) Abort(context.Context) error {
	err := w.parts.Discard()
	if w.begun {
		err = errors.Join(err, w.s.env.FS.RemoveAll(w.s.staging()))
	}
	return err
}

// ignoreMissing drops the error of something that is not there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
