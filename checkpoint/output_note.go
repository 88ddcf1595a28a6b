package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"

	"github.com/wstream/wstream/internal/vfs"
)

// OutputNote says what a batch was about to publish. It is written before the sink is told to, and never synced: it outlives
// the process, not the machine. When the batch runs again, the two runs can be compared.
type OutputNote struct {
	// BatchID is the batch.
	BatchID int64 `json:"batchId"`
	// Rows is the number of rows for the sink, Hash their hash in any order.
	Rows int64 `json:"rows"`
	Hash Hash  `json:"outputHash"`
	// StateHash is the hash of the state after the batch, 0 for a query without state.
	StateHash Hash `json:"stateHash"`
}

// noteBytes is the length of the file, so that one note overwrites the other as a whole.
const noteBytes = 160

func (c *Checkpoint) notePath() string { return c.path("output") }

// NoteOutput writes down what a batch is about to publish, in the place of the note before.
func (c *Checkpoint) NoteOutput(n OutputNote) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	const tail = len("\ncrc32c 00000000\n")
	b = append(b, bytes.Repeat([]byte{' '}, max(noteBytes-tail-len(b), 0))...)
	b = append(b, '\n')
	b = fmt.Appendf(b, "crc32c %08x\n", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	if c.note == nil {
		f, err := c.fs.OpenReadWrite(c.notePath())
		if errors.Is(err, fs.ErrNotExist) {
			f, err = c.fs.Create(c.notePath())
		}
		if err != nil {
			return err
		}
		c.note = f
	}
	if _, err := c.note.WriteAt(b, 0); err != nil {
		return fmt.Errorf("write %q: %w", c.notePath(), err)
	}
	if vfs.Remote(c.fs, c.dir) { // it would not outlive the process otherwise
		return c.note.Sync()
	}
	return nil
}

// Output returns the note of a batch that is to run again; ok is false if there is none, or a crash of the machine has
// left half of it.
func (c *Checkpoint) Output(batch int64) (n OutputNote, ok bool) {
	if err := readSealed(c.fs, c.notePath(), &n); err != nil || n.BatchID != batch {
		return OutputNote{}, false
	}
	return n, true
}

// dropNote forgets the note: after a rollback another batch has its id.
func (c *Checkpoint) dropNote() error {
	if c.note != nil {
		if err := c.note.Close(); err != nil {
			return err
		}
		c.note = nil
	}
	return removeIfThere(c.fs, c.notePath())
}
