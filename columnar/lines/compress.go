package lines

import (
	"bufio"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is how a file is compressed.
type Codec string

// The codecs, by the names that Spark's `compression` option has for them.
const (
	None    Codec = "none"
	Gzip    Codec = "gzip"
	Zstd    Codec = "zstd"
	Bzip2   Codec = "bzip2"
	Snappy  Codec = "snappy" // in Hadoop's blocks
	Lz4     Codec = "lz4"    // in frames
	Deflate Codec = "deflate"
)

// ParseCodec reads a `compression` option; short forms and any case are accepted.
func ParseCodec(s string) (Codec, error) {
	switch c := strings.ToLower(s); c {
	case "", "none", "uncompressed":
		return None, nil
	case "gzip", "gz":
		return Gzip, nil
	case "zstd", "zstandard":
		return Zstd, nil
	case "bzip2", "bz2":
		return Bzip2, nil
	case "snappy", "lz4", "deflate":
		return Codec(c), nil
	}
	return "", fmt.Errorf("compression %q is unknown: there are none, gzip, zstd, bzip2, snappy, lz4, deflate", s)
}

// CodecOf is the codec that a file's name ends in.
func CodecOf(name string) Codec {
	switch strings.ToLower(path.Ext(name)) {
	case ".gz", ".gzip":
		return Gzip
	case ".zst", ".zstd":
		return Zstd
	case ".bz2":
		return Bzip2
	case ".snappy":
		return Snappy
	case ".lz4":
		return Lz4
	case ".deflate":
		return Deflate
	}
	return None
}

// Extension is what a file's name ends in, with the dot.
func (c Codec) Extension() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	case Bzip2:
		return ".bz2"
	case Snappy:
		return ".snappy"
	case Lz4:
		return ".lz4"
	case Deflate:
		return ".deflate"
	}
	return ""
}

// Decompress gives what was compressed; all members of a gzip file one after the other. empty tells that a
// compressed file has no byte at all, which no compressor writes: it was cut off. Close the result.
func Decompress(r io.Reader, c Codec) (out io.ReadCloser, empty bool, err error) {
	if c == None || c == "" {
		return io.NopCloser(r), false, nil
	}
	br := bufio.NewReaderSize(r, 256<<10)
	if _, err := br.Peek(1); err == io.EOF {
		return io.NopCloser(strings.NewReader("")), true, nil
	} else if err != nil {
		return nil, false, err
	}
	switch c {
	case Gzip:
		z, err := gzip.NewReader(br)
		return z, false, err
	case Zstd:
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, false, err
		}
		return z.IOReadCloser(), false, nil
	case Bzip2:
		return io.NopCloser(bzip2.NewReader(br)), false, nil
	case Snappy:
		return io.NopCloser(&hadoopSnappy{r: br}), false, nil
	case Lz4:
		return io.NopCloser(lz4.NewReader(br)), false, nil
	case Deflate:
		z, err := zlib.NewReader(br)
		return z, false, err
	}
	return nil, false, fmt.Errorf("compression %q cannot be read", c)
}

// Compress gives a writer whose Close ends the compressed file but not w.
func Compress(w io.Writer, c Codec) (io.WriteCloser, error) {
	switch c {
	case None, "":
		return nopCloser{w}, nil
	case Gzip:
		return gzip.NewWriter(w), nil
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	case Snappy:
		return &hadoopSnappyWriter{w: w}, nil
	case Lz4:
		return lz4.NewWriter(w), nil
	case Deflate:
		return zlib.NewWriter(w), nil
	}
	return nil, fmt.Errorf("compression %q cannot be written", c)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// maxSnappyBlock bounds a block of Hadoop's snappy files.
const maxSnappyBlock = 64 << 20

var errSnappy = errors.New("corrupt snappy file")

// hadoopSnappy reads blocks of: uncompressed length, then chunks of compressed length and bytes.
type hadoopSnappy struct {
	r    *bufio.Reader
	left int // uncompressed bytes of the block that are still to come
	in   []byte
	out  []byte
	rest []byte
}

func (h *hadoopSnappy) length() (int, error) {
	var b [4]byte
	if _, err := io.ReadFull(h.r, b[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(b[:])
	if n > maxSnappyBlock {
		return 0, errSnappy
	}
	return int(n), nil
}

// Read implements io.Reader.
func (h *hadoopSnappy) Read(p []byte) (int, error) {
	for len(h.rest) == 0 {
		if h.left == 0 {
			n, err := h.length()
			if err != nil {
				return 0, err
			}
			h.left = n
			continue
		}
		n, err := h.length()
		if err != nil {
			return 0, noEOF(err)
		}
		if cap(h.in) < n {
			h.in = make([]byte, n)
		}
		if _, err := io.ReadFull(h.r, h.in[:n]); err != nil {
			return 0, noEOF(err)
		}
		size, err := snappy.DecodedLen(h.in[:n])
		if err != nil || size > h.left {
			return 0, errSnappy
		}
		if h.out, err = snappy.Decode(h.out, h.in[:n]); err != nil {
			return 0, errSnappy
		}
		h.rest, h.left = h.out, h.left-size
		if size == 0 {
			return 0, errSnappy
		}
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// hadoopSnappyWriter writes one chunk per block.
type hadoopSnappyWriter struct {
	w   io.Writer
	buf []byte
	out []byte
}

const snappyChunk = 256 << 10

// Write implements io.Writer.
func (h *hadoopSnappyWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), snappyChunk-len(h.buf))
		h.buf, p = append(h.buf, p[:k]...), p[k:]
		if len(h.buf) == snappyChunk {
			if err := h.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (h *hadoopSnappyWriter) flush() error {
	if len(h.buf) == 0 {
		return nil
	}
	body := snappy.Encode(nil, h.buf)
	h.out = binary.BigEndian.AppendUint32(h.out[:0], uint32(len(h.buf)))
	h.out = binary.BigEndian.AppendUint32(h.out, uint32(len(body)))
	h.out = append(h.out, body...)
	h.buf = h.buf[:0]
	_, err := h.w.Write(h.out)
	return err
}

// Close implements io.Closer.
func (h *hadoopSnappyWriter) Close() error { return h.flush() }
