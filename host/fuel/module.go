package fuel

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// sectionID is the number of a section in the binary format.
type sectionID byte

const (
	sectionCustom    sectionID = 0
	sectionType      sectionID = 1
	sectionImport    sectionID = 2
	sectionFunction  sectionID = 3
	sectionTable     sectionID = 4
	sectionMemory    sectionID = 5
	sectionGlobal    sectionID = 6
	sectionExport    sectionID = 7
	sectionStart     sectionID = 8
	sectionElement   sectionID = 9
	sectionCode      sectionID = 10
	sectionData      sectionID = 11
	sectionDataCount sectionID = 12
	sectionTag       sectionID = 13
	sectionKinds               = 14
)

// sectionNames are by sectionID.
var sectionNames = [sectionKinds]string{
	"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count", "tag",
}

// sectionOrder is the order in which the sections stand in a module.
var sectionOrder = [...]sectionID{
	sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory,
	sectionTag, sectionGlobal, sectionExport, sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData,
}

// rank is a section's place in sectionOrder, or -1.
func (id sectionID) rank() int {
	for i, x := range sectionOrder {
		if x == id {
			return i
		}
	}
	return -1
}

// module is a module cut into its sections.
type module struct {
	sections [sectionKinds]section
	names    section           // the custom section "name"
	debug    map[string][]byte // the custom sections with debug information, by name
}

// section is the content of a section and where it stood.
type section struct {
	present bool
	body    []byte
	offset  int
}

var magic = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

// split cuts a module into its sections and checks their order.
func split(wasm []byte) (*module, error) {
	if !bytes.HasPrefix(wasm, magic) {
		if bytes.HasPrefix(wasm, magic[:4]) {
			return nil, &Error{Offset: 4, Problem: "is not a core module of version 1 (a component, perhaps)"}
		}
		return nil, &Error{Problem: "does not begin as a WebAssembly module does"}
	}
	m := &module{}
	r := &reader{b: wasm, p: len(magic)}
	last := -1
	for !r.done() {
		at := r.p
		id := sectionID(r.u8())
		body := r.take(r.u32())
		if r.err != nil {
			return nil, r.err
		}
		s := section{true, body, r.p - len(body)}
		if id == sectionCustom {
			c := &reader{b: body, base: s.offset, section: "custom"}
			switch name := string(c.name()); {
			case c.err != nil:
			case name == "name":
				m.names = section{true, body[c.p:], s.offset + c.p}
			case strings.HasPrefix(name, debugPrefix):
				if m.debug == nil {
					m.debug = map[string][]byte{}
				}
				m.debug[name] = body[c.p:]
			}
			continue
		}
		rank := id.rank()
		switch {
		case rank < 0:
			return nil, &Error{Offset: at, Problem: "unknown section"}
		case rank <= last:
			return nil, &Error{Section: sectionNames[id], Offset: at, Problem: "is out of order"}
		}
		last = rank
		m.sections[id] = s
	}
	return m, nil
}

// reader opens a section, which is empty where the module has none.
func (m *module) reader(id sectionID) *reader {
	s := m.sections[id]
	return &reader{b: s.body, base: s.offset, section: sectionNames[id]}
}

// join puts sections together into a module, the names last.
func (m *module) join() []byte {
	n := len(magic)
	for i := range m.sections {
		n += len(m.sections[i].body) + 6
	}
	out := append(make([]byte, 0, n+len(m.names.body)+16), magic...)
	for _, id := range sectionOrder {
		if s := m.sections[id]; s.present {
			out = appendBytes(append(out, byte(id)), s.body)
		}
	}
	if m.names.present {
		body := append(appendBytes(nil, []byte("name")), m.names.body...)
		out = appendBytes(append(out, byte(sectionCustom)), body)
	}
	for _, name := range slices.Sorted(maps.Keys(m.debug)) {
		body := append(appendBytes(nil, []byte(name)), m.debug[name]...)
		out = appendBytes(append(out, byte(sectionCustom)), body)
	}
	return out
}
