package jsonfmt

import (
	"bytes"
	"io"

	"github.com/wstream/wstream/columnar/lines"
)

// detectUnicode takes a document in UTF-16 or UTF-32 to UTF-8, as a JSON parser must that is given bytes without a name for
// their encoding: by a byte order mark, or by where zeros stand among the first four bytes.
func detectUnicode(data []byte) []byte {
	if len(data) < 4 {
		return data
	}
	charset := lines.UTF8
	switch a, b, c, d := data[0], data[1], data[2], data[3]; {
	case a == 0 && b == 0 && c == 0xfe && d == 0xff, a == 0 && b == 0 && c == 0:
		charset = lines.UTF32BE
	case a == 0xff && b == 0xfe && c == 0 && d == 0, b == 0 && c == 0 && d == 0:
		charset = lines.UTF32LE
	case a == 0xfe && b == 0xff, a == 0 && b != 0:
		charset = lines.UTF16BE
	case a == 0xff && b == 0xfe, a != 0 && b == 0:
		charset = lines.UTF16LE
	}
	if charset == lines.UTF8 {
		return data
	}
	out, err := io.ReadAll(lines.DecodeReader(bytes.NewReader(data), charset))
	if err != nil { // a reader over memory gives none
		return data
	}
	return bytes.TrimPrefix(out, []byte("\uFEFF"))
}
