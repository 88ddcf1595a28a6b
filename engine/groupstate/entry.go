package groupstate

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/wstream/wstream/columnar"
)

// entry is what the checkpoint keeps of a key: its timers, when its state is forgotten, and the state.
type entry struct {
	timers []timer
	expiry int64 // µs of processing time, 0 for never
	state  bool
}

// timer is a named timer.
type timer struct {
	name  string
	clock bool  // of processing time
	at    int64 // µs
}

// entryVersion is the first byte of an entry.
const entryVersion = 1

// append encodes the entry, and the row of state if it has one.
func (e *entry) append(dst []byte, state []byte, fields int) []byte {
	dst = append(dst, entryVersion)
	dst = binary.AppendUvarint(dst, uint64(len(e.timers)))
	for _, t := range e.timers {
		kind := byte(0)
		if t.clock {
			kind = 1
		}
		dst = append(dst, kind)
		dst = binary.AppendUvarint(dst, uint64(len(t.name)))
		dst = append(dst, t.name...)
		dst = binary.LittleEndian.AppendUint64(dst, uint64(t.at))
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.expiry))
	if !e.state {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	dst = binary.AppendUvarint(dst, uint64(fields))
	return append(dst, state...)
}

// errEntry says that bytes of the checkpoint are not what was written.
var errEntry = fmt.Errorf("the state of a key is not one that this function has written")

// decode reads an entry and its state into dst, a value of the codec's type. Fields that the state does not have yet keep
// their zero value.
func (e *entry) decode(data []byte, c *codec, dst reflect.Value) error {
	if len(data) == 0 || data[0] != entryVersion {
		return errEntry
	}
	r := reader{data: data[1:]}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		t := timer{clock: r.bytes(1)[0] == 1}
		t.name = string(r.bytes(int(r.uvarint())))
		t.at = int64(binary.LittleEndian.Uint64(r.bytes(8)))
		e.timers = append(e.timers, t)
	}
	e.expiry = int64(binary.LittleEndian.Uint64(r.bytes(8)))
	if r.bytes(1)[0] == 0 || r.bad {
		if r.bad {
			return errEntry
		}
		return nil
	}
	fields := int(r.uvarint())
	if r.bad || fields > len(c.schema.Fields) {
		return errEntry
	}
	e.state = true
	rest := r.data
	for k := range fields {
		b := columnar.NewBuilder(c.schema.Fields[k].Type, 1)
		var ok bool
		if rest, ok = columnar.DecodeValue(b, rest); !ok {
			return errEntry
		}
		to := dst
		if c.index != nil {
			to = dst.Field(c.index[k])
		}
		if err := c.field(to, b.Finish(), 0, k); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return errEntry
	}
	return nil
}

// reader takes pieces of bytes; after a fault it gives zeros.
type reader struct {
	data []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || n < 0 || n > len(r.data) {
		r.bad = true
		return make([]byte, 8)
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.data = r.data[n:]
	return v
}
