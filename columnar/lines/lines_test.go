package lines

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// chunks reads all of a text.
func chunks(t *testing.T, r io.Reader, opts Options) []string {
	t.Helper()
	lr, err := NewReader(r, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer lr.Close()
	var out []string
	var buf []byte
	for {
		b, err := lr.Next(buf)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
		buf = b
	}
}

func TestChunksEndAtLineEnds(t *testing.T) {
	for _, c := range []struct {
		text string
		opts Options
		want []string
	}{
		{"a\nbb\nccc\n", Options{ChunkSize: 4}, []string{"a\n", "bb\n", "ccc\n"}},
		{"a\nbb\nccc", Options{ChunkSize: 6}, []string{"a\nbb\n", "ccc"}},
		{"a\r\nb\r\n", Options{ChunkSize: 2}, []string{"a\r\n", "b\r\n"}},
		{"a\rb\rc\r", Options{ChunkSize: 2}, []string{"a\r", "b\r", "c\r"}},
		{"a long line\nb\n", Options{ChunkSize: 2}, []string{"a long line\nb\n"}},
		{"\uFEFFa\nb\n", Options{ChunkSize: 8}, []string{"a\nb\n"}},
		{"\uFEFFa\n", Options{KeepBOM: true}, []string{"\uFEFFa\n"}},
		{"a||b||c", Options{ChunkSize: 4, LineSep: "||"}, []string{"a||", "b||", "c"}},
		{"a|||b", Options{ChunkSize: 4, LineSep: "||"}, []string{"a||", "|b"}},
		{"a\nb\n", Options{ChunkSize: 2, Whole: true}, []string{"a\nb\n"}},
		{"", Options{}, nil},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.text), "bytewise": iotest.OneByteReader(strings.NewReader(c.text))} {
			got := chunks(t, r, c.opts)
			if strings.Join(got, "¦") != strings.Join(c.want, "¦") {
				t.Errorf("%q %+v (%s): got %q, want %q", c.text, c.opts, name, got, c.want)
			}
		}
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"a\nb": "a¦b", "a\r\nb": "a¦b", "a\rb\nc": "a¦b\nc", "a\r\r\nb": "a¦\r\nb", "a": "a¦", "\n": "¦", "\r": "¦", "": "¦"} {
		line, rest := Cut([]byte(text), "")
		if got := string(line) + "¦" + string(rest); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCompression(t *testing.T) {
	text := strings.Repeat("a line of text\n", 100_000)
	for _, c := range []Codec{None, Gzip, Zstd, Snappy, Lz4, Deflate} {
		var file bytes.Buffer
		w, err := Compress(&file, c)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(chunks(t, bytes.NewReader(file.Bytes()), Options{Codec: c}), ""); got != text {
			t.Errorf("%s: %d bytes came back of %d", c, len(got), len(text))
		}
		if CodecOf("part-0.json"+c.Extension()) != c {
			t.Errorf("%s is not known by its extension", c)
		}
		if c == None {
			continue
		}
		r, err := NewReader(bytes.NewReader(nil), Options{Codec: c})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(nil); err != io.EOF || !r.Truncated() {
			t.Errorf("%s: an empty file: error %v, truncated %v", c, err, r.Truncated())
		}
		r, err = NewReader(bytes.NewReader(file.Bytes()[:file.Len()*2/3]), Options{Codec: c})
		for err == nil {
			_, err = r.Next(nil)
		}
		if err == io.EOF {
			t.Errorf("%s: a file that was cut off was read without an error", c)
		}
	}
}

func TestGzipMembers(t *testing.T) {
	var file bytes.Buffer
	for _, s := range []string{"a\n", "b\n"} {
		w, _ := Compress(&file, Gzip)
		io.WriteString(w, s)
		w.Close()
	}
	if got := strings.Join(chunks(t, &file, Options{Codec: Gzip}), ""); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
}

func TestCharsets(t *testing.T) {
	const text = "aé日😀\n"
	for _, c := range []Charset{UTF16, UTF16BE, UTF16LE, UTF32, UTF32BE, UTF32LE} {
		r := iotest.OneByteReader(bytes.NewReader(c.Encode(nil, text)))
		if got := strings.Join(chunks(t, r, Options{Charset: c, Whole: true}), ""); got != text {
			t.Errorf("charset %d: got %q", c, got)
		}
	}
	if got := strings.Join(chunks(t, strings.NewReader("\xff\xfea\x00\x00\xd8"), Options{Charset: UTF16, Whole: true}), ""); got != "a\uFFFD" {
		t.Errorf("UTF-16 with a mark: got %q", got)
	}
	// Lines are found as bytes, as Spark does: whole with a separator, and without one each begins with what the line end
	// before it has left.
	lines := UTF16LE.Encode(nil, "aé\nb\n")
	if got := strings.Join(chunks(t, bytes.NewReader(lines), Options{Charset: UTF16LE, LineSep: "\n"}), ""); got != "aé\nb\n" {
		t.Errorf("UTF-16LE by lines: got %q", got)
	}
	if got := strings.Join(chunks(t, bytes.NewReader(lines), Options{Charset: UTF16LE}), ""); got != "aé\n\u6200\u0a00\uFFFD\n" && got != "aé\n\u6200\uFFFD\n\uFFFD\n" {
		t.Errorf("UTF-16LE by bytes: got %q", got)
	}
	if got := strings.Join(chunks(t, strings.NewReader("a\xe9"), Options{Charset: Latin1}), ""); got != "aé" {
		t.Errorf("Latin-1: got %q", got)
	}
	if got := string(Latin1.Encode(nil, "aé日")); got != "a\xe9?" {
		t.Errorf("Latin-1 written: got %q", got)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\r\nb\rc\n\n"), uint8(3), "")
	f.Add([]byte("aXXXb"), uint8(2), "XX")
	f.Fuzz(func(t *testing.T, text []byte, size uint8, sep string) {
		opts := Options{ChunkSize: int(size)%32 + 1, LineSep: sep, KeepBOM: true}
		got := chunks(t, bytes.NewReader(text), opts)
		if strings.Join(got, "") != string(text) {
			t.Fatalf("chunks %q of %q", got, text)
		}
		// Cut by chunks or as a whole, the lines must be the same.
		var a, b []string
		for rest := text; len(rest) > 0; {
			var line []byte
			line, rest = Cut(rest, sep)
			a = append(a, string(line))
		}
		for _, c := range got {
			for rest := []byte(c); len(rest) > 0; {
				var line []byte
				line, rest = Cut(rest, sep)
				b = append(b, string(line))
			}
		}
		if strings.Join(a, "¦") != strings.Join(b, "¦") {
			t.Fatalf("lines %q by chunks, %q as a whole", b, a)
		}
	})
}
