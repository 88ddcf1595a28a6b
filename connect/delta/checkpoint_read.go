package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/parquetfmt"
	"github.com/wstream/wstream/internal/vfs"
)

// newest stands for the newest version of a table.
const newest = int64(1<<62 - 1)

// sidecarDDL is the column of checkpoints in the newer form that names files with further actions.
const (
	sidecarDDL    = ", sidecar STRUCT<path: STRING, sizeInBytes: BIGINT>"
	sidecarColumn = 5
)

// checkpointFiles are the files of one checkpoint.
type checkpointFiles struct {
	version int64
	names   []string // one, or all the parts of a checkpoint in several
}

// start goes to the newest checkpoint up to a version.
func (t *table) start(version int64) error {
	all, err := t.checkpoints(version)
	if err != nil || len(all) == 0 {
		return err
	}
	// A checkpoint that is damaged is passed over as long as an older one and the log make up for it.
	for _, c := range all {
		t.reset()
		t.version = c.version
		err := t.loadCheckpoint(c)
		if err == nil {
			return nil
		}
		if t.passedErr == nil {
			t.passed, t.passedErr = c.version, fmt.Errorf("delta table %q: checkpoint %d: %w", t.dir, c.version, err)
		}
	}
	t.reset()
	return nil
}

// whole tells that the table has reached the version of a checkpoint that could not be read.
func (t *table) whole() error {
	if t.passedErr != nil && t.version < t.passed {
		return t.passedErr
	}
	return nil
}

// checkpoints lists the whole checkpoints up to a version, the newest first.
func (t *table) checkpoints(version int64) ([]checkpointFiles, error) {
	entries, err := t.fs.List(t.log(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []checkpointFiles
	parts := map[string][]string{} // by version and number of parts
	for _, e := range entries {
		head, rest, ok := strings.Cut(e.Name(), ".checkpoint.")
		if !ok || len(head) != 20 {
			continue
		}
		v, err := strconv.ParseInt(head, 10, 64)
		if err != nil || v > version {
			continue
		}
		middle := strings.Split(rest, ".")
		switch ending := middle[len(middle)-1]; {
		case ending != "parquet" && ending != "json":
		case len(middle) == 1 && ending == "parquet", len(middle) == 2: // NUMBER.checkpoint.parquet, NUMBER.checkpoint.UUID.parquet or .json
			out = append(out, checkpointFiles{v, []string{e.Name()}})
		case len(middle) == 3: // NUMBER.checkpoint.PART.PARTS.parquet
			group := head + "." + middle[1]
			parts[group] = append(parts[group], e.Name())
			if n, err := strconv.Atoi(middle[1]); err == nil && n == len(parts[group]) {
				out = append(out, checkpointFiles{v, parts[group]})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b checkpointFiles) int { return int(b.version - a.version) })
	return out, nil
}

// loadCheckpoint takes the actions of a checkpoint.
func (t *table) loadCheckpoint(c checkpointFiles) error {
	for _, name := range c.names {
		var more []*sidecar
		visit := func(a *action) error {
			if a.Sidecar != nil {
				more = append(more, a.Sidecar)
			}
			return t.take(a)
		}
		each := t.eachOfParquet
		if strings.HasSuffix(name, ".json") {
			each = t.eachOfJSON
		}
		if err := each(t.log(name), visit); err != nil {
			return err
		}
		for _, s := range more {
			file, err := t.sidecarFile(s.Path)
			if err == nil {
				err = t.eachOfParquet(file, t.take)
			}
			if err != nil {
				return fmt.Errorf("sidecar %q: %w", s.Path, err)
			}
		}
	}
	if t.protocol == nil || t.meta == nil {
		return errors.New("it has no protocol or no metaData")
	}
	return nil
}

// sidecarFile is where a sidecar lies: its path is a name in the folder _sidecars, or an absolute one.
func (t *table) sidecarFile(path string) (string, error) {
	if u, err := url.Parse(path); err == nil && (u.Scheme != "" || strings.HasPrefix(path, "/")) {
		return place(t.dir, path)
	}
	return place(filepath.Join(t.dir, "_delta_log", "_sidecars"), path)
}

// eachOfJSON visits the actions of a file of lines.
func (t *table) eachOfJSON(name string, visit func(*action) error) error {
	text, err := vfs.ReadFile(t.fs, name)
	if err != nil {
		return err
	}
	actions, err := parseActions(text)
	for i := range actions {
		if err := visit(&actions[i]); err != nil {
			return err
		}
	}
	return err
}

// eachOfParquet visits the actions of a file of rows.
func (t *table) eachOfParquet(name string, visit func(*action) error) error {
	schema, err := columnar.ParseDDL(checkpointDDL + sidecarDDL)
	if err != nil {
		return err
	}
	f, err := t.fs.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	r, err := parquetfmt.Open(f, size, schema)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(4096)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Rows {
			if err := visit(rowAction(b, i)); err != nil {
				return err
			}
		}
	}
}

// parseActions reads the lines of a version or of a checkpoint. A last line that is broken comes with the actions before it.
func parseActions(text []byte) ([]action, error) {
	actions := []action{}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var a action
		if err := json.Unmarshal(line, &a); err != nil {
			return actions, err
		}
		actions = append(actions, a)
	}
	return actions, nil
}
