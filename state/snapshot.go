package state

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"
	"strings"

	"github.com/wstream/wstream/internal/failpoint"
	"github.com/wstream/wstream/internal/vfs"
)

// A snapshot file holds the content of some buckets as of one version, and says for all other buckets in which older file
// their content is, and from which version on the change log must be applied to it. So a snapshot of a large state is
// written a few buckets at a time, and each file is still a complete starting point.
//
//	magic                          "WSSNAP1\n"
//	header length, its CRC-32C     u32, u32
//	header                         JSON, snapshotHeader
//	blocks                         u32 length, u32 CRC-32C, chunks (see section.go)
//	end                            u32 zero, u32 CRC-32C of the CRCs of all blocks, "WSSNEND\n"
const (
	snapshotMagic = "WSSNAP1\n"
	snapshotEnd   = "WSSNEND\n"
)

// snapshotHeader is the header of a snapshot file.
type snapshotHeader struct {
	storeTable
	Query      string `json:"query"`
	Generation int64  `json:"generation"`
	// Version is the batch at whose end the snapshot was taken, Hash the hash of the whole content then.
	Version int64  `json:"version"`
	Hash    string `json:"hash"`
	// Files are the other files that Buckets refers to.
	Files []string `json:"files,omitempty"`
	// Buckets says for each of the 256 buckets where its content is and up to which version it holds all changes:
	// [0, v] in this file, [i, v] in Files[i-1], [-1, -1] nowhere: the change log has it from the start.
	Buckets [][2]int64 `json:"buckets"`
}

// bucketPlace is where the newest content of a bucket in a snapshot is, and up to which version it has all changes. An
// empty file says that there is none.
type bucketPlace struct {
	file    string
	through int64
}

// snapshotInfo is a snapshot file that counts.
type snapshotInfo struct {
	name   string
	header snapshotHeader
	// missing is why nothing can be loaded from it: a file that it refers to, or the change log after it, is not there. It
	// is kept while others refer to it.
	missing error
}

// oldest returns the version up to which the change log is not needed when starting from this snapshot.
func (s *snapshotInfo) oldest() int64 {
	v := s.header.Version
	for _, b := range s.header.Buckets {
		v = min(v, b[1])
	}
	return v
}

func snapshotName(version, gen int64) string {
	return fmt.Sprintf("snapshot-%020d-%08d.snap", version, gen)
}

func isSnapshot(name string) bool {
	return strings.HasPrefix(name, "snapshot-") && strings.HasSuffix(name, ".snap")
}

// snapshotJob is a snapshot whose bytes are ready to be written.
type snapshotJob struct {
	db      *DB
	info    *snapshotInfo
	blocks  [][]byte
	buckets []uint8 // those in this file
	done    chan struct{}
	err     error
	bytes   int64
	late    bool // nobody writes it until it is looked at
}

// perBatch is what replaying one record costs at a start however small it is, in bytes of log.
const (
	perBatch   = 4 << 10
	perSegment = 64 << 10 // and what opening a segment costs
)

// planSnapshot decides whether some buckets are due and encodes them. The budget grows by half of what the change log grows
// by, so that all snapshots together cost half as much as the log, and a start replays about twice the size of the
// state at most.
func (db *DB) planSnapshot(logged int64) (*snapshotJob, error) {
	db.debt += (logged + perBatch) / 2
	// A crash point that is armed needs a snapshot to be in the middle of.
	due := db.debt >= db.opts.SnapshotBytes || db.opts.Failpoints.Armed(failpoint.StateSnapshotMid, db.version)
	if !due || db.job != nil {
		return nil, nil
	}
	budget := min(db.debt, 4*db.opts.SnapshotBytes) // the rest waits: what is encoded lies in memory until it is written
	db.debt -= budget
	e := &encoder{}
	j := &snapshotJob{db: db, done: make(chan struct{})}
	for range Buckets {
		n := uint8(db.cursor)
		db.cursor = (db.cursor + 1) % Buckets
		if db.bucketUnchanged(n) {
			continue
		}
		for _, s := range db.stores {
			if err := s.encodeAll(e, n); err != nil {
				return nil, err
			}
		}
		j.buckets = append(j.buckets, n)
		if len(e.raw)+len(e.out) >= chunkBytes {
			e.flush()
			j.blocks = append(j.blocks, slices.Clone(e.out))
			budget -= int64(len(e.out))
			e.out = e.out[:0]
		}
		if budget-int64(len(e.raw)+len(e.out)) <= 0 {
			break
		}
	}
	e.flush()
	if len(e.out) > 0 {
		j.blocks = append(j.blocks, e.out)
	}
	h := snapshotHeader{
		storeTable: db.storeTable(), Query: db.opts.QueryID, Version: db.version,
		Hash: fmt.Sprintf("%016x", db.Hash()),
	}
	j.info = &snapshotInfo{}
	for n := range Buckets {
		h.Buckets = append(h.Buckets, db.place(uint8(n), j, &h))
	}
	j.info.header = h
	for _, n := range j.buckets {
		for _, s := range db.stores {
			s.buckets[n].logBytes = 0
		}
	}
	return j, nil
}

// bucketUnchanged says whether the newest snapshot of a bucket still is its content.
func (db *DB) bucketUnchanged(n uint8) bool {
	for _, s := range db.stores {
		if s.buckets[n].logBytes > 0 {
			return false
		}
	}
	return db.places[n].file != ""
}

// place says where the content of a bucket is as of the snapshot j.
func (db *DB) place(n uint8, j *snapshotJob, h *snapshotHeader) [2]int64 {
	if slices.Contains(j.buckets, n) {
		return [2]int64{0, h.Version}
	}
	at := db.places[n]
	if at.file == "" {
		return [2]int64{-1, -1}
	}
	i := slices.Index(h.Files, at.file)
	if i < 0 {
		h.Files = append(h.Files, at.file)
		i = len(h.Files) - 1
	}
	through := at.through
	if db.bucketUnchanged(n) {
		through = h.Version
	}
	return [2]int64{int64(i) + 1, through}
}

// name gives the snapshot its name, once the generation of its owner is known.
func (j *snapshotJob) name(generation int64) {
	j.info.header.Generation = generation
	j.info.name = snapshotName(j.info.header.Version, generation)
}

// run writes the snapshot. It touches nothing of the DB but the file system.
func (j *snapshotJob) run() {
	defer close(j.done)
	j.err = j.write()
	j.blocks = nil
}

func (j *snapshotJob) write() error {
	o := &j.db.opts
	name := vfs.Join(o.Dir, j.info.name)
	header, err := json.Marshal(j.info.header)
	if err != nil {
		return err
	}
	f, err := o.FS.Create(name + ".tmp")
	if err != nil {
		return err
	}
	if err := j.writeTo(f, header); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := o.FS.Rename(name+".tmp", name); err != nil {
		return err
	}
	return o.FS.SyncDir(o.Dir)
}

func (j *snapshotJob) writeTo(f vfs.File, header []byte) error {
	put := func(b []byte) error {
		_, err := f.Write(b)
		j.bytes += int64(len(b))
		return err
	}
	head := append([]byte(snapshotMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(header)))
	binary.LittleEndian.PutUint32(head[12:], checksum(header))
	if err := put(append(head, header...)); err != nil {
		return err
	}
	if err := j.db.opts.Failpoints.Hit(failpoint.StateSnapshotMid, j.info.header.Version); err != nil {
		return err
	}
	var crcs []byte
	for _, b := range j.blocks {
		head := make([]byte, 8)
		binary.LittleEndian.PutUint32(head, uint32(len(b)))
		binary.LittleEndian.PutUint32(head[4:], checksum(b))
		crcs = append(crcs, head[4:]...)
		if err := errors.Join(put(head), put(b)); err != nil {
			return err
		}
	}
	end := make([]byte, 8)
	binary.LittleEndian.PutUint32(end[4:], checksum(crcs))
	return put(append(end, snapshotEnd...))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// finishSnapshot looks at the result of a snapshot that has been written; with wait set it waits for it.
func (db *DB) finishSnapshot(wait bool) error {
	j := db.job
	if j == nil {
		return nil
	}
	if j.late {
		j.late = false
		j.run()
	}
	if !wait {
		select {
		case <-j.done:
		default:
			return nil
		}
	}
	<-j.done
	db.job = nil
	if j.err != nil {
		return j.err
	}
	db.metrics.Snapshots++
	db.metrics.SnapshotBytes += j.bytes
	db.snaps = append(db.snaps, j.info)
	for n, place := range j.info.header.Buckets {
		if place[0] == 0 {
			db.places[n] = bucketPlace{j.info.name, place[1]}
		}
	}
	return nil
}

// errBadSnapshot is wrapped by what is wrong with a snapshot that an older one can stand in for.
var errBadSnapshot = errors.New("the snapshot is damaged")

func badSnapshot(name, format string, args ...any) error {
	return fmt.Errorf("file %q: %w: %s", name, errBadSnapshot, fmt.Sprintf(format, args...))
}

// openSnapshot opens a snapshot file, reads its header, and returns where the blocks begin.
func (db *DB) openSnapshot(name string) (f vfs.File, h snapshotHeader, at int64, err error) {
	path := vfs.Join(db.opts.Dir, name)
	if f, err = db.opts.FS.Open(path); err != nil {
		return nil, h, 0, err
	}
	if h, at, err = db.readSnapshotHeader(f, name, path); err != nil {
		f.Close()
	}
	return f, h, at, err
}

func (db *DB) readSnapshotHeader(f vfs.File, name, path string) (h snapshotHeader, at int64, err error) {
	head, err := readFull(f, path, 0, 16)
	if err != nil {
		return h, 0, err
	}
	if string(head[:8]) != snapshotMagic {
		return h, 0, badSnapshot(path, "it does not begin as one")
	}
	n := int64(binary.LittleEndian.Uint32(head[8:]))
	header, err := readFull(f, path, 16, n)
	if err != nil {
		return h, 0, err
	}
	if checksum(header) != binary.LittleEndian.Uint32(head[12:]) {
		return h, 0, badSnapshot(path, "checksum of the header")
	}
	if err := json.Unmarshal(header, &h); err != nil {
		return h, 0, badSnapshot(path, "header: %v", err)
	}
	switch {
	case h.Format > FormatVersion:
		return h, 0, &VersionError{path, h.Format, FormatVersion}
	case db.opts.QueryID != "" && h.Query != db.opts.QueryID && !slices.Contains(db.opts.Ancestors, h.Query):
		return h, 0, badSnapshot(path, "it belongs to query %q, not to query %q", h.Query, db.opts.QueryID)
	case snapshotName(h.Version, h.Generation) != name:
		return h, 0, badSnapshot(path, "its name does not fit its header, which says %q", snapshotName(h.Version, h.Generation))
	case len(h.Buckets) != Buckets:
		return h, 0, badSnapshot(path, "it lists %d buckets", len(h.Buckets))
	}
	for _, p := range h.Buckets {
		if p[0] < -1 || p[0] > int64(len(h.Files)) || p[1] > h.Version {
			return h, 0, badSnapshot(path, "its list of buckets makes no sense")
		}
	}
	return h, 16 + n, nil
}

// readFull reads n bytes; a file that is too short for them is a damaged snapshot.
func readFull(f vfs.File, path string, off, n int64) ([]byte, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size-off < n {
		return nil, badSnapshot(path, "it is cut off")
	}
	b := make([]byte, n)
	if m, err := f.ReadAt(b, off); int64(m) < n {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	return b, nil
}

// readGroup is about how many bytes of a snapshot are read and applied at a time.
const readGroup = 16 << 20

// eachBlocks reads the blocks of a snapshot file, checks them, and gives fn the chunks in them, some blocks at a time. An
// error may come after some of them.
func (db *DB) eachBlocks(name string, fn func(chunks [][]byte) error) error {
	path := vfs.Join(db.opts.Dir, name)
	f, _, at, err := db.openSnapshot(name)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return err
	}
	var chunks [][]byte
	var crcs []byte
	group := int64(0)
	for {
		head, err := readFull(f, path, at, 8)
		if err != nil {
			return err
		}
		at += 8
		n, crc := int64(binary.LittleEndian.Uint32(head)), binary.LittleEndian.Uint32(head[4:])
		if n == 0 {
			end, err := readFull(f, path, at, int64(len(snapshotEnd)))
			if err != nil {
				return err
			}
			if crc != checksum(crcs) || string(end) != snapshotEnd || size != at+int64(len(end)) {
				return badSnapshot(path, "its end does not fit")
			}
			return fn(chunks)
		}
		b, err := readFull(f, path, at, n)
		if err != nil {
			return err
		}
		if checksum(b) != crc {
			return badSnapshot(path, "checksum of the block at byte %d", at)
		}
		at += n
		crcs = append(crcs, head[4:8]...)
		more, err := splitChunks(b)
		if err != nil {
			return badSnapshot(path, "%v", err)
		}
		chunks = append(chunks, more...)
		if group += n; group >= readGroup {
			if err := fn(chunks); err != nil {
				return err
			}
			chunks, group = nil, 0
		}
	}
}

// dropVoidSnapshots deletes the snapshots of versions that a new owner has gone back behind, and what a crash has left of
// others.
func (db *DB) dropVoidSnapshots() error {
	if err := vfs.Sweep(db.opts.FS, db.opts.Dir); err != nil {
		return err
	}
	infos, err := db.opts.FS.List(db.opts.Dir)
	if err != nil {
		return err
	}
	for _, info := range infos {
		name := info.Name()
		void := strings.HasSuffix(name, ".snap.tmp")
		var version, gen int64
		if _, err := fmt.Sscanf(name, "snapshot-%d-%d.snap", &version, &gen); err == nil {
			void = gen <= db.log.Generation() && (void || isSnapshot(name) && !db.log.Visible(gen, version))
		}
		if !void {
			continue
		}
		if err := db.opts.FS.Remove(vfs.Join(db.opts.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	db.snaps = slices.DeleteFunc(db.snaps, func(s *snapshotInfo) bool {
		return !db.log.Visible(s.header.Generation, s.header.Version)
	})
	return nil
}
