package avrofmt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/wstream/wstream/columnar"
)

// blockSize is the bytes after which a block ends.
const blockSize = 64 << 10

// Writer writes batches of one schema into a file.
type Writer struct {
	w      io.Writer
	schema *columnar.Schema
	codec  string
	sync   [syncSize]byte
	buf    []byte
	rows   int64
	out    []byte
}

// NewWriter begins a file. compression is snappy (also ""), none, deflate or zstandard. The sync marker is made of the
// schema, so that equal rows give equal files.
func NewWriter(w io.Writer, s *columnar.Schema, compression string) (*Writer, error) {
	wr := &Writer{w: w, schema: s}
	switch strings.ToLower(compression) {
	case "", "snappy":
		wr.codec = "snappy"
	case "none", "uncompressed", "null":
		wr.codec = "null"
	case "deflate":
		wr.codec = "deflate"
	case "zstandard", "zstd":
		wr.codec = "zstandard"
	default:
		return nil, fmt.Errorf("compression %q is unknown for Avro: there are none, snappy, deflate, zstandard", compression)
	}
	text, err := schemaJSON(s)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	copy(wr.sync[:], sum[:])
	head := []byte(magic)
	head = appendLong(head, 2)
	for _, m := range [][2]string{{"avro.schema", text}, {"avro.codec", wr.codec}} {
		head = appendBytes(appendBytes(head, m[0]), m[1])
	}
	head = append(appendLong(head, 0), wr.sync[:]...)
	_, err = w.Write(head)
	return wr, err
}

func appendLong(dst []byte, v int64) []byte {
	return binary.AppendUvarint(dst, uint64(v)<<1^uint64(v>>63))
}

func appendBytes[T string | []byte](dst []byte, s T) []byte {
	return append(appendLong(dst, int64(len(s))), s...)
}

// Write adds the rows of b.
func (w *Writer) Write(b *columnar.Batch) error {
	for i := range b.Rows {
		for k, c := range b.Columns {
			f := w.schema.Fields[k]
			if !f.Nullable && c.IsNull(i) && f.Type.Kind != columnar.KindNull {
				return fmt.Errorf("column %q: a NULL where none may be", f.Name)
			}
			w.buf = appendValue(w.buf, f.Type, f.Nullable, c, i)
		}
		if w.rows++; len(w.buf) >= blockSize {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendValue(dst []byte, t *columnar.Type, nullable bool, c *columnar.Column, i int) []byte {
	if t.Kind == columnar.KindNull {
		return dst
	}
	if nullable {
		if c.IsNull(i) {
			return appendLong(dst, 1)
		}
		dst = appendLong(dst, 0)
	}
	switch t.Kind {
	case columnar.KindBool:
		if c.Bits.Get(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case columnar.KindInt8:
		return appendLong(dst, int64(columnar.Values[int8](c)[i]))
	case columnar.KindInt16:
		return appendLong(dst, int64(columnar.Values[int16](c)[i]))
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		return appendLong(dst, int64(columnar.Values[int32](c)[i]))
	case columnar.KindTime:
		return appendLong(dst, columnar.Values[int64](c)[i]/1000)
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindDayTime:
		return appendLong(dst, columnar.Values[int64](c)[i])
	case columnar.KindFloat32:
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(columnar.Values[float32](c)[i]))
	case columnar.KindFloat64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(columnar.Values[float64](c)[i]))
	case columnar.KindDecimal:
		v := columnar.Values[columnar.Dec128](c)[i]
		var buf [16]byte
		binary.BigEndian.PutUint64(buf[:], uint64(v.Hi))
		binary.BigEndian.PutUint64(buf[8:], v.Lo)
		return append(dst, buf[16-decimalBytes(t.Precision):]...)
	case columnar.KindArray, columnar.KindMap:
		from, to := int(c.Offsets[i]), int(c.Offsets[i+1])
		if from < to {
			dst = appendLong(dst, int64(to-from))
		}
		for j := from; j < to; j++ {
			if t.Kind == columnar.KindMap {
				dst = appendBytes(dst, c.Children[0].BytesAt(j))
			}
			dst = appendValue(dst, t.Elem, t.ElemNullable, c.Children[len(c.Children)-1], j)
		}
		return append(dst, 0)
	case columnar.KindStruct:
		for k, f := range t.Fields {
			dst = appendValue(dst, f.Type, f.Nullable, c.Children[k], i)
		}
		return dst
	}
	return appendBytes(dst, c.BytesAt(i))
}

// flush writes the rows so far as a block.
func (w *Writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	body := w.buf
	switch w.codec {
	case "snappy":
		body = snappy.Encode(nil, w.buf)
		body = binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(w.buf))
	case "deflate":
		var out bytes.Buffer
		z, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(w.buf); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		body = out.Bytes()
	case "zstandard":
		var out bytes.Buffer
		z, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		if _, err := z.Write(w.buf); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		body = out.Bytes()
	}
	w.out = appendBytes(appendLong(w.out[:0], w.rows), body)
	w.out = append(w.out, w.sync[:]...)
	w.buf, w.rows = w.buf[:0], 0
	_, err := w.w.Write(w.out)
	return err
}

// Close writes the last block; the underlying writer stays open.
func (w *Writer) Close() error { return w.flush() }
