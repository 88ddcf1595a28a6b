package avrofmt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/columnar/widen"
)

const (
	magic    = "Obj\x01"
	syncSize = 16
	// maxBlock bounds a block, packed and unpacked; writers make them of some 64 KiB.
	maxBlock = 512 << 20
)

// Reader gives a file's rows as batches. It serves one goroutine.
type Reader struct {
	in     *bufio.Reader
	codec  string
	sync   [syncSize]byte
	root   *node
	schema *columnar.Schema
	index  []int // per field of the file its wanted column, -1 for none
	source []int // per wanted column its field, -1 for none
	block  source
	rows   int64 // of the block that are still to come
	packed []byte
}

// Open reads the header. wanted names the columns, matched exactly or else without regard to case; a column that the file
// does not have is NULL, one of a narrower type is widened. With nil the reader gives all columns.
func Open(r io.ReaderAt, size int64, wanted *columnar.Schema) (*Reader, error) {
	rd := &Reader{in: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 256<<10)}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(rd.in, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("no Avro file")
	}
	meta, err := rd.metadata()
	if err != nil {
		return nil, err
	}
	if rd.root, err = parseSchema(meta["avro.schema"]); err != nil {
		return nil, err
	}
	if rd.root.kind != kindRecord {
		return nil, fmt.Errorf("the Avro schema of a file is a record, not %s", rd.root.typ)
	}
	switch rd.codec = string(meta["avro.codec"]); rd.codec {
	case "", "null", "deflate", "snappy", "zstandard":
	default:
		return nil, fmt.Errorf("Avro codec %q cannot be read: there are null, deflate, snappy, zstandard", rd.codec)
	}
	if _, err := io.ReadFull(rd.in, rd.sync[:]); err != nil {
		return nil, errBroken
	}
	return rd, rd.project(wanted)
}

// metadata reads the map of the header.
func (r *Reader) metadata() (map[string][]byte, error) {
	meta := map[string][]byte{}
	for {
		n, err := r.long()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return meta, nil
		}
		if n < 0 {
			n = -n
			if _, err := r.long(); err != nil {
				return nil, err
			}
		}
		for ; n > 0; n-- {
			key, err := r.bytes()
			if err != nil {
				return nil, err
			}
			value, err := r.bytes()
			if err != nil {
				return nil, err
			}
			meta[string(key)] = value
		}
	}
}

func (r *Reader) long() (int64, error) {
	u, err := binary.ReadUvarint(r.in)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return 0, err
	}
	if err != nil {
		return 0, errBroken
	}
	return int64(u>>1) ^ -int64(u&1), nil
}

func (r *Reader) bytes() ([]byte, error) {
	n, err := r.long()
	if err != nil || n < 0 || n > maxBlock {
		return nil, errBroken
	}
	var buf bytes.Buffer // grows with what is really there
	if m, err := io.CopyN(&buf, r.in, n); err != nil || m != n {
		return nil, errBroken
	}
	return buf.Bytes(), nil
}

// project finds the wanted columns in the file.
func (r *Reader) project(wanted *columnar.Schema) error {
	have := &columnar.Schema{Fields: r.root.typ.Fields}
	if wanted == nil {
		wanted = &columnar.Schema{}
		for _, f := range have.Fields {
			f.Nullable = true
			wanted.Fields = append(wanted.Fields, f)
		}
	}
	r.schema = wanted
	r.index = make([]int, len(have.Fields))
	for i := range r.index {
		r.index[i] = -1
	}
	for i, w := range wanted.Fields {
		k := have.Index(w.Name)
		if k < 0 {
			k = have.IndexFold(w.Name)
		}
		if k >= 0 && r.index[k] >= 0 {
			k = -1
		}
		r.source = append(r.source, k)
		if k < 0 {
			continue
		}
		if !widen.Can(have.Fields[k].Type, w.Type) {
			return sparkerr.New("AVRO_INCOMPATIBLE_READ_TYPE", "Cannot convert Avro field %q to SQL column %q because the encoding of %s would be %s.",
				have.Fields[k].Name, w.Name, w.Type.SQL(), have.Fields[k].Type.SQL())
		}
		r.index[k] = i
	}
	return nil
}

// Schema is what the batches look like.
func (r *Reader) Schema() *columnar.Schema { return r.schema }

// Close frees the reader; the file remains the caller's.
func (r *Reader) Close() error { return nil }

// nextBlock reads and unpacks the next block.
func (r *Reader) nextBlock() error {
	rows, err := r.long()
	if err == io.EOF {
		return io.EOF
	}
	if err != nil || rows < 0 {
		return errBroken
	}
	if r.packed, err = r.bytes(); err != nil {
		return err
	}
	var sync [syncSize]byte
	if _, err := io.ReadFull(r.in, sync[:]); err != nil || sync != r.sync {
		return fmt.Errorf("%w: no sync marker behind a block", errBroken)
	}
	data, err := r.unpack(r.packed)
	if err != nil {
		return err
	}
	r.rows, r.block = rows, source{b: data, free: 1 << 20}
	return nil
}

func (r *Reader) unpack(packed []byte) ([]byte, error) {
	switch r.codec {
	case "deflate":
		out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxBlock))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
		return out, nil
	case "snappy":
		if len(packed) < 4 {
			return nil, errBroken
		}
		body := packed[:len(packed)-4]
		if n, err := snappy.DecodedLen(body); err != nil || n > maxBlock {
			return nil, errBroken
		}
		out, err := snappy.Decode(nil, body)
		if err != nil || crc32.ChecksumIEEE(out) != binary.BigEndian.Uint32(packed[len(body):]) {
			return nil, errBroken
		}
		return out, nil
	case "zstandard":
		d, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		out, err := io.ReadAll(d)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
		return out, nil
	}
	return packed, nil
}

// Next gives up to max rows, or io.EOF at the end.
func (r *Reader) Next(max int) (*columnar.Batch, error) {
	for r.rows == 0 {
		if err := r.nextBlock(); err != nil {
			return nil, err
		}
	}
	builders := make([]*columnar.Builder, len(r.root.kids))
	for i, k := range r.root.kids {
		if r.index[i] >= 0 {
			builders[i] = columnar.NewBuilder(k.typ, min(max, 4096))
		}
	}
	n := 0
	for n < max {
		if r.rows == 0 {
			if err := r.nextBlock(); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			continue
		}
		for i, k := range r.root.kids {
			r.block.read(k, builders[i])
		}
		if r.block.err != nil {
			return nil, r.block.err
		}
		r.rows--
		n++
		if r.rows == 0 && len(r.block.b) > 0 {
			return nil, fmt.Errorf("%w: %d bytes behind the last row of a block", errBroken, len(r.block.b))
		}
	}
	cols := make([]*columnar.Column, len(r.schema.Fields))
	for i, k := range r.source {
		t := r.schema.Fields[i].Type
		if k < 0 {
			cols[i] = columnar.NewNull(t, n)
			continue
		}
		var err error
		if cols[i], err = widen.Column(builders[k].Finish(), t); err != nil {
			return nil, fmt.Errorf("column %q: %w", r.schema.Fields[i].Name, err)
		}
	}
	return columnar.NewBatch(r.schema, cols, n), nil
}
