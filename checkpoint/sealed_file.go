package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"github.com/wstream/wstream/internal/vfs"
)

// A sealed file is a JSON document on one line, and "crc32c XXXXXXXX" on a second one, over the first with its newline.

func sealed(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	return fmt.Appendf(b, "crc32c %08x\n", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))), nil
}

// readSealed reads a sealed file into v. A damaged one is a *DamagedError, one that is not there an fs.ErrNotExist.
func readSealed(fsys vfs.FS, name string, v any) error {
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	i := bytes.IndexByte(b, '\n') + 1
	if i == 0 {
		return &DamagedError{name, "it does not end in a checksum"}
	}
	if want := fmt.Sprintf("crc32c %08x\n", crc32.Checksum(b[:i], crc32.MakeTable(crc32.Castagnoli))); string(b[i:]) != want {
		return &DamagedError{name, "the checksum does not match"}
	}
	if err := json.Unmarshal(b[:i], v); err != nil {
		return &DamagedError{name, err.Error()}
	}
	return nil
}
