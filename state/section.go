package state

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/s2"
)

// A section holds changes of one bucket of one store, by columns:
//
//	length of what follows    uvarint
//	store                     uvarint, position in the store table
//	bucket, flags             a byte each
//	expired                   varint, if flag 1: first all entries that expire at or before this are removed
//	next sequence number      uvarint, if flag 2
//	deletes, puts             uvarint each: how many
//	key lengths               uvarint each, deletes then puts
//	sequence numbers          uvarint each, deletes then puts; Multi stores only
//	expiries                  varint each, puts only, as the difference to the one before; Expiring stores only
//	value lengths             uvarint each, puts only
//	keys, values              bytes, deletes then puts
//
// Flag 4 says that the section begins the content of the bucket anew. Sections of one bucket are applied in order.
const (
	flagExpired = 1
	flagSeq     = 2
	flagReset   = 4
)

// A chunk is sections, compressed: codec (a byte: 0 as is, 1 S2), raw length and stored length (u32), the bytes.
const (
	codecNone = 0
	codecS2   = 1

	chunkHeader = 9
	chunkBytes  = 1 << 20 // sections are gathered up to here
	splitBytes  = 4 << 20 // a section that grows beyond is cut in two
	maxChunk    = 2 << 30 // no chunk is larger: sections are cut, and a single value is smaller
)

// encoder gathers sections and packs them into chunks. Its buffers are used again and again.
type encoder struct {
	multi, expiring             bool
	lens, seqs, expiries, vlens []byte
	putLens, putSeqs            []byte
	delKeys, keys, values       []byte
	deletes, puts               uint64
	lastExpiry                  int64
	raw                         []byte
	out                         []byte
	section                     []byte
	sections                    int
	store                       uint16
	bucket, flags               byte
	expired                     int64
	seq                         uint64
}

// reset forgets everything that was encoded. What it takes is kept unless one batch was far above the usual.
func (e *encoder) reset() {
	if cap(e.out) > 4*len(e.out)+(16<<20) {
		e.out = nil
	}
	e.raw, e.out, e.sections = e.raw[:0], e.out[:0], 0
}

// begin starts a section.
func (e *encoder) begin(s *Store, bucket uint8) {
	e.multi, e.expiring = s.lay.multi, s.lay.expiring
	e.store, e.bucket, e.flags = s.id, bucket, 0
	e.clearColumns()
}

func (e *encoder) clearColumns() {
	e.lens, e.seqs, e.expiries, e.vlens = e.lens[:0], e.seqs[:0], e.expiries[:0], e.vlens[:0]
	e.putLens, e.putSeqs = e.putLens[:0], e.putSeqs[:0]
	e.delKeys, e.keys, e.values = e.delKeys[:0], e.keys[:0], e.values[:0]
	e.deletes, e.puts, e.lastExpiry = 0, 0, 0
}

func (e *encoder) delete(key []byte, seq uint64) {
	e.deletes++
	e.lens = binary.AppendUvarint(e.lens, uint64(len(key)))
	if e.multi {
		e.seqs = binary.AppendUvarint(e.seqs, seq)
	}
	e.delKeys = append(e.delKeys, key...)
	if len(e.delKeys) > splitBytes {
		e.split()
	}
}

func (e *encoder) put(key []byte, seq uint64, expiry int64, value []byte) {
	e.puts++
	e.putLens = binary.AppendUvarint(e.putLens, uint64(len(key)))
	if e.multi {
		e.putSeqs = binary.AppendUvarint(e.putSeqs, seq)
	}
	if e.expiring {
		e.expiries = binary.AppendVarint(e.expiries, expiry-e.lastExpiry)
		e.lastExpiry = expiry
	}
	e.vlens = binary.AppendUvarint(e.vlens, uint64(len(value)))
	e.keys = append(e.keys, key...)
	e.values = append(e.values, value...)
	if len(e.keys)+len(e.values) > splitBytes {
		e.split()
	}
}

// split ends the section and goes on in a new one of the same bucket.
func (e *encoder) split() {
	e.write()
	e.flags = 0
	e.clearColumns()
}

// end writes the section if there is anything in it.
func (e *encoder) end() {
	if e.deletes+e.puts > 0 || e.flags != 0 {
		e.write()
	}
}

func (e *encoder) write() {
	b := e.section[:0]
	b = binary.AppendUvarint(b, uint64(e.store))
	b = append(b, e.bucket, e.flags)
	if e.flags&flagExpired != 0 {
		b = binary.AppendVarint(b, e.expired)
	}
	if e.flags&flagSeq != 0 {
		b = binary.AppendUvarint(b, e.seq)
	}
	b = binary.AppendUvarint(b, e.deletes)
	b = binary.AppendUvarint(b, e.puts)
	for _, col := range [][]byte{e.lens, e.putLens, e.seqs, e.putSeqs, e.expiries, e.vlens, e.delKeys, e.keys, e.values} {
		b = append(b, col...)
	}
	e.section = b
	e.raw = binary.AppendUvarint(e.raw, uint64(len(b)))
	e.raw = append(e.raw, b...)
	e.sections++
	if len(e.raw) >= chunkBytes {
		e.flush()
	}
}

// flush packs the sections gathered so far into a chunk.
func (e *encoder) flush() {
	if len(e.raw) == 0 {
		return
	}
	at := len(e.out)
	need := chunkHeader + s2.MaxEncodedLen(len(e.raw))
	if cap(e.out)-at < need {
		grown := make([]byte, at, at+need+at/4)
		copy(grown, e.out)
		e.out = grown
	}
	var codec byte = codecS2
	data := s2.Encode(e.out[at+chunkHeader:at+need], e.raw)
	if len(data) >= len(e.raw) {
		codec = codecNone
		data = append(e.out[at+chunkHeader:at+chunkHeader], e.raw...)
	}
	e.out = e.out[:at+chunkHeader+len(data)]
	head := e.out[at:]
	head[0] = codec
	binary.LittleEndian.PutUint32(head[1:], uint32(len(e.raw)))
	binary.LittleEndian.PutUint32(head[5:], uint32(len(data)))
	e.raw = e.raw[:0]
}

// splitChunks cuts chunks apart.
func splitChunks(b []byte) ([][]byte, error) {
	var out [][]byte
	for len(b) > 0 {
		if len(b) < chunkHeader {
			return nil, fmt.Errorf("a chunk header is cut off")
		}
		n := int(binary.LittleEndian.Uint32(b[5:]))
		if len(b)-chunkHeader < n {
			return nil, fmt.Errorf("a chunk is cut off")
		}
		out = append(out, b[:chunkHeader+n])
		b = b[chunkHeader+n:]
	}
	return out, nil
}

// unpackChunk returns the sections of a chunk.
func unpackChunk(b []byte) ([]byte, error) {
	raw := int(binary.LittleEndian.Uint32(b[1:]))
	data := b[chunkHeader:]
	if raw > maxChunk {
		return nil, fmt.Errorf("a chunk claims to unpack to %d bytes", raw)
	}
	switch b[0] {
	case codecNone:
		if raw != len(data) {
			return nil, fmt.Errorf("a chunk has %d bytes, its header says %d", len(data), raw)
		}
		return data, nil
	case codecS2:
		if n, err := s2.DecodedLen(data); err != nil || n != raw {
			return nil, fmt.Errorf("a chunk does not unpack to the %d bytes that its header says", raw)
		}
		return s2.Decode(nil, data)
	}
	return nil, fmt.Errorf("unknown codec %d", b[0])
}

// section is a decoded section. Columns are read on while it is applied.
type section struct {
	store         uint64
	bucket, flags byte
	expired       int64
	seq           uint64
	deletes, puts uint64
	rest          []byte // from the key lengths on
}

// nextSection reads the head of the first section in b and returns what follows the section.
func nextSection(b []byte) (s section, rest []byte, err error) {
	n, w := binary.Uvarint(b)
	if w <= 0 || uint64(len(b)-w) < n {
		return s, nil, fmt.Errorf("a section is cut off")
	}
	r := columnReader{b: b[w : w+int(n)]}
	s.store = r.uvarint()
	s.bucket, s.flags = r.byte(), r.byte()
	if s.flags&flagExpired != 0 {
		s.expired = r.varint()
	}
	if s.flags&flagSeq != 0 {
		s.seq = r.uvarint()
	}
	s.deletes, s.puts = r.uvarint(), r.uvarint()
	if r.bad || s.deletes > n || s.puts > n {
		return s, nil, fmt.Errorf("the head of a section is damaged")
	}
	s.rest = r.b
	return s, b[w+int(n):], nil
}

// columnReader reads numbers one after another. After an error bad is set and everything is zero.
type columnReader struct {
	b   []byte
	bad bool
}

func (r *columnReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *columnReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *columnReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

// skipUvarints returns the column of n uvarints at the front as a reader of its own, and moves behind it.
func (r *columnReader) skipUvarints(n uint64) columnReader {
	i := 0
	for ; n > 0; n-- {
		for i < len(r.b) && r.b[i] >= 0x80 {
			i++
		}
		i++
		if i > len(r.b) {
			r.bad = true
			return columnReader{bad: true}
		}
	}
	col := columnReader{b: r.b[:i]}
	r.b = r.b[i:]
	return col
}

// bytes takes n bytes from the front.
func (r *columnReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

// sum adds up a column of uvarints without moving the reader.
func (r columnReader) sum() (total uint64) {
	for len(r.b) > 0 && !r.bad {
		total += r.uvarint()
		if total > 1<<40 {
			return 1 << 40
		}
	}
	return total
}
