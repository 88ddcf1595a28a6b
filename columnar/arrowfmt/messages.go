package arrowfmt

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// continuation comes before the length of a message, in streams since Arrow 0.15.
const continuation = 0xffffffff

// messages reads the messages of a stream for Arrow's reader. It takes no memory for a message before it knows that
// the stream is long enough for it.
type messages struct {
	in   *io.SectionReader
	left int64
	last *ipc.Message
}

// Message implements ipc.MessageReader.
func (m *messages) Message() (*ipc.Message, error) {
	n, err := m.length()
	if err != nil {
		return nil, err
	}
	if n == continuation {
		if n, err = m.length(); err != nil {
			return nil, err
		}
	}
	if n == 0 {
		return nil, io.EOF
	}
	meta, err := m.bytes(int64(n), "metadata")
	if err != nil {
		return nil, err
	}
	size, err := verifyMessage(meta)
	if err != nil {
		return nil, err
	}
	body, err := m.bytes(size, "body")
	if err != nil {
		return nil, err
	}
	m.Release()
	m.last = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
	return m.last, nil
}

func (m *messages) length() (uint32, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	b, err := m.bytes(4, "length")
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (m *messages) bytes(n int64, what string) ([]byte, error) {
	if n < 0 || n > m.left {
		return nil, fmt.Errorf("broken Arrow stream: %d bytes of a message's %s are announced, of which there are %d", n, what, m.left)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(m.in, b); err != nil {
		return nil, fmt.Errorf("a message's %s: %w", what, err)
	}
	m.left -= n
	return b, nil
}

// Retain implements ipc.MessageReader.
func (m *messages) Retain() {}

// Release implements ipc.MessageReader.
func (m *messages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// checkFooter holds that the footer of a file may be given to Arrow's reader.
func checkFooter(r io.ReaderAt, size int64) error {
	const tail = int64(4 + len(magic))
	if size < 2*tail {
		return fmt.Errorf("broken Arrow file: %d bytes are too few for a footer", size)
	}
	end := make([]byte, tail)
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != magic || n == 0 || n > size-2*tail {
		return fmt.Errorf("broken Arrow file: it does not end in a footer")
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-tail-n); err != nil {
		return err
	}
	return verifyFooter(footer)
}
