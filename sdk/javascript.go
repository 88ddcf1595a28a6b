package sdk

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// interpreter is QuickJS with the SDK inside, as a module; js/build.sh builds it.
//
//go:embed js/runtime.wasm.gz
var interpreter []byte

// maxScript bounds a script: the runtime has that much room for it.
const maxScript = 1<<20 - 1

// scriptExport is the global that says where the room for the script is: four bytes of its length, then the text.
const scriptExport = "wstream_script"

// errRuntime is what a runtime of another shape gives; the tests have seen the one that is embedded.
var errRuntime = errors.New("the runtime for JavaScript is damaged; build it anew with sdk/js/build.sh")

// JavaScript makes a guest of a script: the runtime for JavaScript with the script in it. The script is not run.
func JavaScript(script []byte) ([]byte, error) {
	if len(script) > maxScript {
		return nil, fmt.Errorf("the script has %d bytes, allowed are %d", len(script), maxScript)
	}
	z, err := gzip.NewReader(bytes.NewReader(interpreter))
	if err != nil {
		return nil, errRuntime
	}
	module, err := io.ReadAll(z)
	if err != nil {
		return nil, errRuntime
	}
	text := append(binary.LittleEndian.AppendUint32(nil, uint32(len(script))), script...)
	return addData(module, scriptExport, text)
}

// Numbers of sections of a module.
const (
	sectionGlobal = 6
	sectionExport = 7
	sectionData   = 11
	sectionCount  = 12 // of data segments
)

// reader reads a module, whose numbers are at most 32 bits; ok is false after the first one that is none.
type reader struct {
	b  []byte
	at int
	ok bool
}

func (r *reader) u32() int {
	v, n := binary.Uvarint(r.b[min(r.at, len(r.b)):])
	if n <= 0 || v > 1<<31 {
		r.ok = false
		return 0
	}
	r.at += n
	return int(v)
}

// take gives the next n bytes.
func (r *reader) take(n int) []byte {
	if !r.ok || n > len(r.b)-r.at {
		r.ok = false
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// addData writes bytes into a module's memory where an exported global of a constant value says.
func addData(module []byte, export string, data []byte) ([]byte, error) {
	r := &reader{b: module, ok: true}
	out := append([]byte{}, r.take(8)...)
	var globals []byte
	address, done := int64(-1), false
	for r.ok && r.at < len(module) {
		id := r.take(1)
		body := r.take(r.u32())
		if !r.ok {
			break
		}
		switch id[0] {
		case sectionGlobal:
			globals = body
		case sectionExport:
			address = constant(globals, exported(body, export))
		case sectionCount, sectionData:
			in := &reader{b: body, ok: true}
			n := in.u32()
			grown := binary.AppendUvarint(nil, uint64(n+1))
			grown = append(grown, body[in.at:]...)
			if id[0] == sectionData && address >= 0 {
				grown = append(grown, 0, 0x41) // active, in memory 0, from a constant
				grown = append(appendSigned(grown, int32(uint32(address))), 0x0b)
				grown = append(binary.AppendUvarint(grown, uint64(len(data))), data...)
				done = true
			}
			body = grown
		}
		out = append(binary.AppendUvarint(append(out, id[0]), uint64(len(body))), body...)
	}
	if !r.ok || !done {
		return nil, errRuntime
	}
	return out, nil
}

// exported is the number of an exported global; -1 if there is none of that name.
func exported(section []byte, name string) int {
	r := &reader{b: section, ok: true}
	for range r.u32() {
		n := string(r.take(r.u32()))
		kind, index := r.take(1), r.u32()
		if r.ok && n == name && kind[0] == 3 {
			return index
		}
	}
	return -1
}

// constant is the value of a global, of a module that imports none, whose first globals are all i32 constants; -1 otherwise.
func constant(section []byte, index int) int64 {
	r := &reader{b: section, ok: true}
	n := r.u32()
	for i := range n {
		head := r.take(3) // its type, whether it changes, i32.const
		if !r.ok || head[0] != 0x7f || head[2] != 0x41 {
			return -1
		}
		v, shift := int64(0), 0
		for more := true; more && r.ok; shift += 7 {
			if b := r.take(1); r.ok {
				v |= int64(b[0]&0x7f) << shift
				if more = b[0]&0x80 != 0; !more && b[0]&0x40 != 0 && shift < 28 {
					v |= -1 << (shift + 7)
				}
			}
		}
		r.take(1) // end
		if r.ok && i == index {
			return int64(uint32(v))
		}
	}
	return -1
}

// appendSigned appends a signed number as modules write it.
func appendSigned(b []byte, v int32) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
