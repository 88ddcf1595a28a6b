package state

import (
	"errors"
	"io/fs"

	"github.com/wstream/wstream/internal/recordlog"
	"github.com/wstream/wstream/internal/vfs"
)

// DamagedSnapshots returns the snapshot files of a state that do not read well, each with the reason.
func DamagedSnapshots(opts Options) (map[string]error, error) {
	opts.ReadOnly = true
	db, err := Open(opts)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	infos, err := db.opts.FS.List(opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]error{}
	for _, info := range infos {
		if !isSnapshot(info.Name()) {
			continue
		}
		err := db.eachBlocks(info.Name(), func([][]byte) error { return nil })
		if errors.Is(err, errBadSnapshot) {
			out[info.Name()] = err
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return out, nil
}

// RemoveSnapshot deletes a snapshot file that is damaged; the change log has what it held.
func RemoveSnapshot(opts Options, name string) error {
	fsys := opts.FS
	if fsys == nil {
		fsys = vfs.OS()
	}
	return fsys.Remove(vfs.Join(opts.Dir, name))
}

// CutLast takes the last record off the change log if it is the one that is damaged; ok is false if something else is.
func CutLast(opts Options, damage error) (ok bool, err error) {
	var d *recordlog.DamagedError
	if !errors.As(damage, &d) {
		return false, nil
	}
	fsys := opts.FS
	if fsys == nil {
		fsys = vfs.OS()
	}
	if err := recordlog.CutLast(fsys, d); err != nil {
		return false, nil //nolint:nilerr // not the last one
	}
	return true, nil
}
