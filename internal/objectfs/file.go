package objectfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// file is an open file, all of it in memory.
type file struct {
	fs       *FS
	name     string
	store    Store
	key      string
	data     []byte
	pos      int64  // of the next Write
	flushed  int64  // the bytes up to here are in objects
	rewrite  bool   // some of those have changed since
	parts    int    // objects that the file has
	etag     string // of the first one
	unmade   bool   // there is nothing in the store yet
	replace  bool   // the first Sync may replace what is there
	staged   bool   // the file stays in this process until it is renamed
	readOnly bool
	failed   error
	closed   bool
}

func (f *file) Write(b []byte) (int, error) {
	n, err := f.WriteAt(b, f.pos)
	f.pos += int64(n)
	return n, err
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	if f.closed || f.readOnly {
		return 0, pathError("write", f.name, os.ErrInvalid)
	}
	end := off + int64(len(b))
	if end > int64(len(f.data)) {
		f.data = slices.Grow(f.data, int(end)-len(f.data))
		f.data = append(f.data, make([]byte, int(end)-len(f.data))...)
	}
	copy(f.data[off:], b)
	f.rewrite = f.rewrite || off < f.flushed && len(b) > 0
	return len(b), nil
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Size() (int64, error) { return int64(len(f.data)), nil }

func (f *file) Truncate(size int64) error {
	if size > int64(len(f.data)) {
		f.data = append(f.data, make([]byte, int(size)-len(f.data))...)
		return nil
	}
	f.data = f.data[:size]
	f.rewrite = f.rewrite || size < f.flushed
	return nil
}

// Sync puts what is new. After an error nothing more can be put: what the store has is unknown.
func (f *file) Sync() error {
	if f.failed != nil {
		return pathError("sync", f.name, f.failed)
	}
	if err := f.flush(); err != nil {
		f.failed = err
		return pathError("sync", f.name, err)
	}
	return nil
}

func (f *file) flush() error {
	size := int64(len(f.data))
	switch {
	case f.staged:
		f.fs.mu.Lock()
		defer f.fs.mu.Unlock()
		f.fs.staged[clean(f.name)] = slices.Clone(f.data)
		return nil
	case f.unmade:
		return f.putFirst(Condition{IfAbsent: !f.replace})
	case f.rewrite && f.parts > 1:
		return errors.New("a file of several objects cannot be changed in its middle")
	case f.rewrite:
		return f.putFirst(Condition{IfMatch: f.etag})
	case size == f.flushed:
		return nil
	case f.flushed == 0: // an empty object is there, which the first part replaces
		return f.putFirst(Condition{IfMatch: f.etag})
	}
	if _, err := f.fs.put(f.store, partKey(f.key, f.flushed), f.data[f.flushed:], Condition{IfAbsent: true}); err != nil {
		return taken(err)
	}
	f.flushed = size
	f.parts++
	return nil
}

func (f *file) putFirst(cond Condition) error {
	etag, err := f.fs.put(f.store, f.key, f.data, cond)
	if err != nil {
		return taken(err)
	}
	f.etag, f.flushed, f.parts, f.unmade, f.rewrite = etag, int64(len(f.data)), 1, false, false
	return nil
}

// taken says of a condition that does not hold that the name is taken.
func taken(err error) error {
	if errors.Is(err, ErrPrecondition) {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

// Close puts what was not synced, so that others see it, as with files.
func (f *file) Close() error {
	if f.closed {
		return pathError("close", f.name, os.ErrClosed)
	}
	f.closed = true
	if !f.mayPut() {
		return nil
	}
	return f.Sync()
}

// mayPut says whether something is to be put that can be: after an error, of which Sync has told, nothing can.
func (f *file) mayPut() bool {
	changed := f.staged || f.unmade || f.rewrite || int64(len(f.data)) != f.flushed
	return changed && !f.readOnly && f.failed == nil
}

// partCache keeps the bytes of parts, which never change under one entity tag: a log is read entry by entry.
type partCache struct {
	mu    sync.Mutex
	bytes int
	parts map[string][]byte
}

// cacheBytes is how much of them is kept.
const cacheBytes = 32 << 20

func (c *partCache) get(id string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.parts[id]
	return b, ok
}

func (c *partCache) add(id string, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts == nil || c.bytes+len(b) > cacheBytes {
		c.parts, c.bytes = map[string][]byte{}, 0
	}
	c.parts[id] = b
	c.bytes += len(b)
}

// read fetches the parts of a file and puts them together; etag is that of the first.
func (f *FS) read(s Store, objects []Object) (data []byte, etag string, err error) {
	pieces := make([][]byte, len(objects))
	errs := make([]error, len(objects))
	var wg sync.WaitGroup
	slots := make(chan struct{}, f.o.Readers)
	for i, o := range objects {
		id := fmt.Sprintf("%p %s %s", s, o.Key, o.ETag)
		if b, ok := f.parts.get(id); ok {
			pieces[i] = b
			continue
		}
		fetch := func() {
			b, tag, err := f.get(s, o.Key)
			if err == nil && len(objects) > 1 && int64(len(b)) != o.Size {
				err = fmt.Errorf("object %q has %d bytes, the list says %d", o.Key, len(b), o.Size)
			}
			pieces[i], errs[i] = b, err
			if err == nil && tag == o.ETag && len(b) <= cacheBytes/4 {
				f.parts.add(id, b)
			}
			if i == 0 {
				etag = tag
			}
		}
		if len(objects) == 1 || f.o.Readers == 1 {
			fetch()
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			fetch()
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, "", err
	}
	if etag == "" {
		etag = objects[0].ETag
	}
	return slices.Concat(pieces...), etag, nil
}
