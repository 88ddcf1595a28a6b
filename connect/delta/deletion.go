package delta

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"

	"github.com/wstream/wstream/internal/vfs"
)

// deletionVector says where the numbers of a file's deleted rows lie.
type deletionVector struct {
	StorageType    string `json:"storageType"` // u: a file of the table; p: a file anywhere; i: in PathOrInlineDv
	PathOrInlineDv string `json:"pathOrInlineDv"`
	Offset         *int32 `json:"offset,omitempty"` // where in the file it begins
	SizeInBytes    int32  `json:"sizeInBytes"`
	Cardinality    int64  `json:"cardinality"` // how many rows are deleted
	MaxRowIndex    *int64 `json:"maxRowIndex,omitempty"`
}

// id tells two vectors of one file apart.
func (d *deletionVector) id() string {
	if d == nil {
		return ""
	}
	if d.Offset != nil {
		return fmt.Sprintf("%s%s@%d", d.StorageType, d.PathOrInlineDv, *d.Offset)
	}
	return d.StorageType + d.PathOrInlineDv
}

// load reads the row numbers of a vector of the table in dir.
func (d *deletionVector) load(fsys vfs.FS, dir string) (*rowSet, error) {
	where := "in the log"
	data, err := []byte(nil), error(nil)
	switch d.StorageType {
	case "i":
		data, err = z85(d.PathOrInlineDv)
		if err == nil && int(d.SizeInBytes) <= len(data) && d.SizeInBytes >= 0 {
			data = data[:d.SizeInBytes] // the text is padded to whole groups of 4 bytes
		}
	case "u", "p":
		var name string
		if name, err = d.file(dir); err == nil {
			where = fmt.Sprintf("file %q", name)
			data, err = d.read(fsys, name)
		}
	default:
		err = fmt.Errorf("its storage type is %q, expected u, p or i", d.StorageType)
	}
	var set *rowSet
	if err == nil {
		set, err = parseRowSet(data, d.Cardinality)
	}
	if err != nil {
		return nil, fmt.Errorf("deletion vector, %s: %w", where, err)
	}
	return set, nil
}

// file is the path of a vector's file.
func (d *deletionVector) file(dir string) (string, error) {
	if d.StorageType == "p" {
		return place(dir, d.PathOrInlineDv)
	}
	const encodedUUID = 20
	cut := len(d.PathOrInlineDv) - encodedUUID
	if cut < 0 {
		return "", fmt.Errorf("its name is %q, expected a UUID of %d characters at the end", d.PathOrInlineDv, encodedUUID)
	}
	id, err := z85(d.PathOrInlineDv[cut:])
	if err != nil {
		return "", err
	}
	h := hex.EncodeToString(id)
	name := "deletion_vector_" + strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-") + ".bin"
	return filepath.Join(dir, d.PathOrInlineDv[:cut], name), nil
}

// read gives a vector's bytes out of its file, checked against their checksum.
func (d *deletionVector) read(fsys vfs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	at := int64(1) // behind the version of the format
	if d.Offset != nil {
		at = int64(*d.Offset)
	}
	if d.SizeInBytes < 0 || at < 0 || at+4+int64(d.SizeInBytes)+4 > size {
		return nil, fmt.Errorf("the file has %d bytes, too few for %d at offset %d", size, d.SizeInBytes, at)
	}
	version := []byte{0}
	if _, err := f.ReadAt(version, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if version[0] != 1 {
		return nil, fmt.Errorf("the file is of format version %d, supported is 1", version[0])
	}
	data := make([]byte, 4+int(d.SizeInBytes)+4)
	if _, err := f.ReadAt(data, at); err != nil && err != io.EOF {
		return nil, err
	}
	if n := int32(binary.BigEndian.Uint32(data)); n != d.SizeInBytes {
		return nil, fmt.Errorf("the file has %d bytes at offset %d, the log says %d", n, at, d.SizeInBytes)
	}
	data, sum := data[4:len(data)-4], binary.BigEndian.Uint32(data[len(data)-4:])
	if found := crc32.ChecksumIEEE(data); found != sum {
		return nil, fmt.Errorf("the checksum at offset %d is %08x, of the data %08x: the file is damaged", at, sum, found)
	}
	return data, nil
}

// z85Digits are the digits of base 85 as ZeroMQ writes it.
const z85Digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// z85 decodes a text of groups of 5 digits, each 4 bytes.
func z85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, fmt.Errorf("a text in base 85 has %d characters, expected a multiple of 5", len(text))
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		v := uint64(0)
		for _, c := range []byte(text[i : i+5]) {
			k := strings.IndexByte(z85Digits, c)
			if k < 0 {
				return nil, fmt.Errorf("a text in base 85 has the character %q", c)
			}
			v = v*85 + uint64(k)
		}
		if v >= 1<<32 {
			return nil, fmt.Errorf("a text in base 85 has the group %q, which is more than 4 bytes", text[i:i+5])
		}
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	return out, nil
}
