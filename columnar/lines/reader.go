package lines

import (
	"bytes"
	"fmt"
	"io"
)

// Options say how a file's text is cut.
type Options struct {
	Codec     Codec
	Charset   Charset
	LineSep   string // "" for any of \n, \r\n and \r
	ChunkSize int    // bytes that a chunk should have, DefaultChunkSize when 0
	MaxChunk  int    // bytes that a chunk may have, for the sake of long lines; DefaultMaxChunk when 0
	Whole     bool   // the whole file is one chunk
	KeepBOM   bool   // a byte order mark of UTF-8 at the start belongs to the text
}

// Sizes of chunks.
const (
	DefaultChunkSize = 1 << 20
	DefaultMaxChunk  = 1 << 30
)

// Reader cuts a stream into chunks that end at line ends.
type Reader struct {
	src   io.ReadCloser
	in    io.Reader
	opts  Options
	sep   []byte
	rest  []byte // read, behind the last chunk
	begun bool
	eof   bool
	empty bool

	byLine bool // in is not decoded, lines are
}

// NewReader begins to read. Close the reader; that does not close r.
func NewReader(r io.Reader, opts Options) (*Reader, error) {
	if opts.ChunkSize == 0 {
		opts.ChunkSize = DefaultChunkSize
	}
	if opts.MaxChunk == 0 {
		opts.MaxChunk = DefaultMaxChunk
	}
	src, empty, err := Decompress(r, opts.Codec)
	if err != nil {
		return nil, err
	}
	out := &Reader{src: src, in: src, opts: opts, empty: empty}
	if out.byLine = opts.Charset >= UTF16 && !opts.Whole; out.byLine {
		out.sep = opts.Charset.separator(opts.LineSep)
	} else {
		out.in, out.sep = DecodeReader(src, opts.Charset), []byte(opts.LineSep)
	}
	return out, nil
}

// decodeLines decodes each line of a chunk for itself: lines of wide characters are found as bytes, as Hadoop's reader
// does it, so that without a separator of their own their first bytes are those that the one before has left.
func (r *Reader) decodeLines(chunk []byte) ([]byte, error) {
	end := r.opts.LineSep
	if end == "" {
		end = "\n"
	}
	out := make([]byte, 0, len(chunk))
	for len(chunk) > 0 {
		var line []byte
		line, chunk = Cut(chunk, string(r.sep))
		text, err := io.ReadAll(DecodeReader(bytes.NewReader(line), r.opts.Charset))
		if err != nil {
			return nil, err
		}
		out = append(append(out, text...), end...)
	}
	return out, nil
}

// Truncated tells that a compressed file has no bytes at all. It has no rows; a warning is in place.
func (r *Reader) Truncated() bool { return r.empty }

// Close frees what the decompressor holds.
func (r *Reader) Close() error { return r.src.Close() }

// Next gives the next chunk: whole lines with their ends, the last of the file perhaps without one. It
// is written into buf, as far as it has room, and belongs to the caller. io.EOF comes behind the last.
func (r *Reader) Next(buf []byte) ([]byte, error) {
	chunk, err := r.next(buf)
	if err != nil || !r.byLine {
		return chunk, err
	}
	return r.decodeLines(chunk)
}

func (r *Reader) next(buf []byte) ([]byte, error) {
	size := r.opts.ChunkSize
	if r.opts.Whole {
		size = r.opts.MaxChunk
	}
	buf = append(buf[:0], r.rest...)
	r.rest = r.rest[:0]
	for {
		if r.eof {
			if len(buf) == 0 {
				return nil, io.EOF
			}
			return buf, nil
		}
		want := min(size, r.opts.ChunkSize)
		if len(buf) >= want {
			want = 2 * len(buf)
		}
		var err error
		if buf, err = r.fill(buf, want); err != nil {
			return nil, err
		}
		if !r.begun {
			r.begun = true
			if !r.opts.KeepBOM {
				buf = bytes.TrimPrefix(buf, []byte("\uFEFF"))
			}
		}
		if r.eof || r.opts.Whole {
			if !r.eof && len(buf) >= r.opts.MaxChunk {
				return nil, fmt.Errorf("a file of more than %d bytes cannot be read as one record", r.opts.MaxChunk)
			}
			continue
		}
		if end := r.lastEnd(buf); end > 0 {
			r.rest = append(r.rest, buf[end:]...)
			return buf[:end], nil
		}
		if len(buf) >= r.opts.MaxChunk {
			return nil, fmt.Errorf("a line of more than %d bytes", r.opts.MaxChunk)
		}
	}
}

// fill reads until buf has n bytes or the stream ends.
func (r *Reader) fill(buf []byte, n int) ([]byte, error) {
	if cap(buf) < n {
		grown := make([]byte, len(buf), n)
		copy(grown, buf)
		buf = grown
	}
	for len(buf) < n {
		k, err := r.in.Read(buf[len(buf):n])
		buf = buf[:len(buf)+k]
		if err == io.EOF {
			r.eof = true
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// lastEnd is the offset behind the last line end in buf that is sure to be whole, 0 for none.
func (r *Reader) lastEnd(buf []byte) int {
	if len(r.sep) > 0 {
		// Separators are found from the start of a chunk on, which matters for one like "aa".
		last := bytes.LastIndex(buf, r.sep)
		if last < 0 {
			return 0
		}
		if !overlaps(r.sep) {
			return last + len(r.sep)
		}
		end := 0
		for {
			k := bytes.Index(buf[end:], r.sep)
			if k < 0 {
				return end
			}
			end += k + len(r.sep)
		}
	}
	if k := bytes.LastIndexByte(buf, '\n'); k >= 0 {
		return k + 1
	}
	if len(buf) == 0 {
		return 0
	}
	// A \r at the very end may be half of a \r\n.
	return bytes.LastIndexByte(buf[:len(buf)-1], '\r') + 1
}

// overlaps tells whether two separators may share bytes.
func overlaps(sep []byte) bool {
	for k := 1; k < len(sep); k++ {
		if bytes.HasPrefix(sep, sep[k:]) {
			return true
		}
	}
	return false
}

// Cut splits off the first line of data: its text without its end, and what follows.
func Cut(data []byte, sep string) (line, rest []byte) {
	if sep != "" {
		line, rest, _ = bytes.Cut(data, []byte(sep))
		return line, rest
	}
	n := bytes.IndexByte(data, '\n')
	line = data
	if n >= 0 {
		line, rest = data[:n], data[n+1:]
	}
	if k := bytes.IndexByte(line, '\r'); k >= 0 {
		if k == len(line)-1 && n >= 0 {
			return line[:k], rest
		}
		return data[:k], data[k+1:]
	}
	return line, rest
}
