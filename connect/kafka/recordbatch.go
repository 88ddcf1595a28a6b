package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Record batches of the log's format 2, read straight into columns: a record costs no object.

// rawBatch is a record batch as the broker sent it.
type rawBatch struct {
	base, last int64 // first and last offset that it covers
	data       []byte
	control    bool
	txn        bool
	producer   int64
	count      int32
}

const batchHeader = 61

// castagnoli is the polynomial of the batches' checksum.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// splitBatches cuts the bytes of a fetch into batches; an incomplete one at the end is left out.
func splitBatches(b []byte) ([]rawBatch, error) {
	var out []rawBatch
	for len(b) >= batchHeader {
		n := int64(int32(binary.BigEndian.Uint32(b[8:])))
		if n < batchHeader-12 {
			return out, fmt.Errorf("record batch at offset %d: length %d is too small", int64(binary.BigEndian.Uint64(b)), n)
		}
		if int64(len(b)) < 12+n {
			return out, nil
		}
		d := b[:12+n]
		b = b[12+n:]
		if d[16] != 2 {
			return out, fmt.Errorf("record batch at offset %d has format %d, only format 2 is read (brokers since 0.11 write it)", int64(binary.BigEndian.Uint64(d)), d[16])
		}
		base := int64(binary.BigEndian.Uint64(d))
		attr := binary.BigEndian.Uint16(d[21:])
		out = append(out, rawBatch{
			base: base, last: base + int64(int32(binary.BigEndian.Uint32(d[23:]))), data: d,
			txn: attr&0x10 != 0, control: attr&0x20 != 0,
			producer: int64(binary.BigEndian.Uint64(d[43:])), count: int32(binary.BigEndian.Uint32(d[57:])),
		})
	}
	return out, nil
}

// records gives the records of a batch, decompressed.
func (r *rawBatch) records(d kgo.Decompressor) ([]byte, error) {
	if got, want := checksum(r.data[21:]), binary.BigEndian.Uint32(r.data[17:]); got != want {
		return nil, fmt.Errorf("record batch at offset %d: checksum is %08x, expected %08x", r.base, got, want)
	}
	codec := kgo.CompressionCodecType(binary.BigEndian.Uint16(r.data[21:]) & 7)
	body := r.data[batchHeader:]
	if codec == 0 {
		return body, nil
	}
	out, err := d.Decompress(body, codec)
	if err != nil {
		return nil, fmt.Errorf("record batch at offset %d: %w", r.base, err)
	}
	return out, nil
}

// timestamps gives the first timestamp in milliseconds, and for topics that stamp by append time the one
// that all records have.
func (r *rawBatch) timestamps() (first, appended int64, byAppend bool) {
	return int64(binary.BigEndian.Uint64(r.data[27:])), int64(binary.BigEndian.Uint64(r.data[35:])), r.data[22]&8 != 0
}

// record is one record within a batch; key and value are nil for null.
type record struct {
	offset, timestamp int64
	key, value        []byte
	headers           []byte // varint count and what follows
}

// varint reads a zigzag varint; ok is false when b ends within it.
func varint(b []byte) (v int64, rest []byte, ok bool) {
	u, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return int64(u>>1) ^ -int64(u&1), b[n:], true
}

// field reads a length and that many bytes; a negative length is null.
func field(b []byte) (v, rest []byte, ok bool) {
	n, b, ok := varint(b)
	if !ok || n > int64(len(b)) {
		return nil, nil, false
	}
	if n < 0 {
		return nil, b, true
	}
	return b[:n:n], b[n:], true
}

// nextRecord reads a record off the front of b.
func nextRecord(b []byte, base, first int64, r *record) (rest []byte, ok bool) {
	body, rest, ok := field(b)
	if !ok || len(body) == 0 {
		return nil, false
	}
	body = body[1:] // attributes, unused
	dt, body, ok := varint(body)
	if !ok {
		return nil, false
	}
	do, body, ok := varint(body)
	if !ok {
		return nil, false
	}
	r.offset, r.timestamp = base+do, first+dt
	if r.key, body, ok = field(body); !ok {
		return nil, false
	}
	if r.value, body, ok = field(body); !ok {
		return nil, false
	}
	r.headers = body
	return rest, true
}

// abortMarker tells whether a control batch ends a transaction by aborting it.
func (r *rawBatch) abortMarker(d kgo.Decompressor) bool {
	b, err := r.records(d)
	if err != nil {
		return false
	}
	var rec record
	_, ok := nextRecord(b, r.base, 0, &rec)
	return ok && len(rec.key) >= 4 && binary.BigEndian.Uint16(rec.key[2:]) == 0
}
