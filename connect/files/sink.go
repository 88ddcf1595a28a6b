package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/connector"
	"github.com/wstream/wstream/internal/vfs"
)

// sink writes the batches of a query as files of a folder.
//
// A batch goes through these steps, each durable before the next: the files are written under the folder _wstream; their
// final names are put into the sink's log in the checkpoint; they are renamed; the batch is added to the manifest. Recover
// removes what a batch without a commit entry has got done.
type sink struct {
	env      connector.Env
	format   *format
	out      fileFormat
	dir      string
	by       []string // columns that become folders
	maxBytes int64
	maxRows  int64
	ready    bool // the folder is there
	folders  vfs.Dirs
}

func newSink(f *format, env connector.Env, o connector.Options) (connector.Sink, error) {
	if env.Zone == nil {
		env.Zone = time.UTC
	}
	s := &sink{env: env, format: f}
	path := o.String("path", "")
	if path == "" {
		return nil, errors.New("option \"path\" is missing: the folder to write")
	}
	var err error
	if s.dir, err = absolute(env.BaseDir, path); err != nil {
		return nil, err
	}
	if s.out, err = f.write(env, o); err != nil {
		return nil, err
	}
	s.by = PartitionBy(o)
	if s.maxBytes, err = o.Bytes("maxFileSize", 1<<30); err != nil {
		return nil, err
	}
	if s.maxRows, err = o.Int("maxRecordsPerFile", 0); err != nil {
		return nil, err
	}
	if env.Schema != nil {
		if err := s.check(env.Schema); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// PartitionBy reads the option of that name.
func PartitionBy(o connector.Options) []string {
	var by []string
	for _, c := range strings.Split(strings.Trim(o.String("partitionBy", ""), "[] "), ",") {
		if c = strings.Trim(strings.TrimSpace(c), "`\"'"); c != "" {
			by = append(by, c)
		}
	}
	return by
}

// check refuses rows that the files cannot have.
func (s *sink) check(schema *columnar.Schema) error {
	data, _, err := SplitPartitions(schema, s.by)
	if err != nil {
		return err
	}
	out, err := s.out.open(nothing{}, data)
	if err != nil {
		return err
	}
	return out.Close()
}

type nothing struct{}

// Write implements io.Writer.
func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// Description implements connector.Sink.
func (s *sink) Description() string { return "FileSink[file:" + s.dir + "]" }

// Close implements connector.Sink.
func (s *sink) Close() error { return nil }

// short is the part of the query's id that names files.
func (s *sink) short() string {
	id := strings.ReplaceAll(s.env.QueryID, "-", "")
	return id[:min(8, len(id))]
}

// staging is the folder of files that are not published yet.
func (s *sink) staging() string {
	return filepath.Join(s.dir, metadataDir, "staging-"+s.owner())
}

// owner names the query and the sink in the folder, which may have others.
func (s *sink) owner() string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, s.env.Name)
	return s.env.QueryID + "-" + name
}

// Recover implements connector.Recoverer.
func (s *sink) Recover(_ context.Context, lastCommitted int64) error {
	if err := s.mayUndo(); err != nil {
		return err
	}
	if err := ignoreMissing(s.env.FS.RemoveAll(s.staging())); err != nil {
		return err
	}
	// First the manifest, so that its readers never miss a file. It is there before any file is, so that they wait for it.
	dropped, err := cutManifest(s.env.FS, manifestPath(s.dir, s.owner()), lastCommitted, s.mayUndo)
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		return explainDisk(err)
	}
	if s.env.Log != nil {
		err = s.env.Log.Each(func(batch int64, v json.RawMessage) error {
			if batch <= lastCommitted {
				return nil
			}
			var files []manifestFile
			if err := json.Unmarshal(v, &files); err != nil {
				return fmt.Errorf("entry %d of the sink's log: %w", batch, err)
			}
			dropped = append(dropped, files...)
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, f := range dropped {
		if err := s.mayUndo(); err != nil {
			return err
		}
		if err := ignoreMissing(s.env.FS.Remove(filepath.Join(s.dir, filepath.FromSlash(f.Path)))); err != nil {
			return err
		}
	}
	return nil
}

// mayUndo refuses to take back what has been published when the query is another process's by now: this one was stopped on
// its way, and what it finds is the work of the other one. It is asked right before every step.
func (s *sink) mayUndo() error {
	if s.env.CheckOwner == nil {
		return nil
	}
	return s.env.CheckOwner()
}

// Begin implements connector.Sink.
func (s *sink) Begin(_ context.Context, info connector.BatchInfo) (connector.BatchWriter, error) {
	schema := info.Schema
	if schema == nil {
		schema = s.env.Schema
	}
	if err := s.prepare(); err != nil {
		return nil, explainDisk(err)
	}
	return s.newWriter(info, schema)
}

// prepare makes the folder and an empty manifest if they are not there.
func (s *sink) prepare() error {
	if s.ready {
		return nil
	}
	dir, manifest := filepath.Join(s.dir, metadataDir), manifestPath(s.dir, s.owner())
	if err := vfs.MkdirAllSync(s.env.FS, dir); err != nil {
		return err
	}
	if ok, err := vfs.Exists(s.env.FS, manifest); err != nil {
		return err
	} else if !ok {
		if err := vfs.WriteFile(s.env.FS, manifest, nil); err != nil {
			return err
		}
	}
	s.ready = true
	return nil
}

// explainDisk adds to an error of the file system what can be done.
func explainDisk(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: make the folder writable", err)
	case strings.Contains(err.Error(), "no space left"):
		return fmt.Errorf("%w: make room on the disk and start the query again", err)
	case errors.Is(err, os.ErrClosed):
		return fmt.Errorf("%w: the file was closed", err)
	}
	return err
}
