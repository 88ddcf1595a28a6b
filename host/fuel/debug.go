package fuel

import (
	"debug/dwarf"
	"encoding/binary"
	"path"
	"sort"
	"strings"
)

// Debug information speaks of offsets in the code section, which the rewriting moves. Rather than rewriting it, the module
// gets lines of its own: each instruction's "line" is where it, or what it was added for, stood in the module as it was. A
// trap's stack then names offsets that the module's own debug information knows.

// LineFile is the name of the file whose lines are offsets in the code section of the module as it was, plus one.
const LineFile = "wstream_code"

// moved says where an instruction stands now, and where it stood, both from the start of the code section's content.
type moved struct{ now, was uint32 }

// debugSections are the names of the custom sections that lines are read from.
const debugPrefix = ".debug_"

// lineSections writes debug information of one unit whose lines are where the instructions stood.
func lineSections(moves []moved, size uint32) map[string][]byte {
	abbrev := []byte{
		1, 0x11, 0, // a compile unit without children
		0x10, 0x17, // stmt_list as sec_offset
		0x11, 0x01, // low_pc as addr
		0x12, 0x06, // high_pc as data4
		0, 0, 0,
	}
	le := binary.LittleEndian
	unit := []byte{4, 0, 0, 0, 0, 0, 4, 1} // version 4, abbreviations at 0, addresses of 4 bytes; the unit
	unit = le.AppendUint32(unit, 0)
	unit = le.AppendUint32(unit, 1) // no code is at 0, which readers take for none
	unit = le.AppendUint32(unit, size)
	info := append(le.AppendUint32(nil, uint32(len(unit))), unit...)

	const opcodes = 10
	head := []byte{1, 1, 1, 0xfb, 14, opcodes, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0} // version 4's settings; no folders
	head = append(append(head, LineFile...), 0, 0, 0, 0, 0)
	program := []byte{4, 0}
	program = append(le.AppendUint32(program, uint32(len(head))), head...)
	program = append(program, 0, 5, 2, 0, 0, 0, 0) // address 0
	at, line := uint32(0), int64(1)
	for _, m := range moves {
		program = appendU32(append(program, 2), m.now-at)
		program = append(append(program, 3), appendS32(nil, int32(int64(m.was)+1-line))...)
		program = append(program, 1)
		at, line = m.now, int64(m.was)+1
	}
	program = append(appendU32(append(program, 2), size-at), 0, 1, 1)
	return map[string][]byte{
		".debug_abbrev": abbrev, ".debug_info": info,
		".debug_line": append(le.AppendUint32(nil, uint32(len(program))), program...),
	}
}

// Lines tells where in a module's sources its code comes from.
type Lines struct {
	rows []lineRow
}

type lineRow struct {
	address uint64
	file    string
	line    int
	end     bool // no code from here to the next row
}

// ReadLines reads the debug information (DWARF) of a module as it was before the rewriting. It is nil where there is none, or
// none that can be read: what a guest says of itself is for messages only.
func ReadLines(wasm []byte) *Lines {
	m, err := split(wasm)
	if err != nil || m.debug[".debug_line"] == nil {
		return nil
	}
	d, err := dwarf.New(m.debug[".debug_abbrev"], nil, nil, m.debug[".debug_info"], m.debug[".debug_line"], nil, m.debug[".debug_ranges"], m.debug[".debug_str"])
	if err != nil {
		return nil
	}
	for _, name := range []string{".debug_addr", ".debug_line_str", ".debug_str_offsets", ".debug_rnglists"} {
		if b := m.debug[name]; b != nil {
			if err := d.AddSection(name, b); err != nil {
				return nil
			}
		}
	}
	l := &Lines{}
	for r := d.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit {
			l.unit(d, e)
		}
	}
	sort.SliceStable(l.rows, func(i, j int) bool { return l.rows[i].address < l.rows[j].address })
	return l
}

// maxLineRows bounds what is kept of a guest's debug information.
const maxLineRows = 1 << 22

// unit adds the lines of a compile unit.
func (l *Lines) unit(d *dwarf.Data, e *dwarf.Entry) {
	r, err := d.LineReader(e)
	if err != nil || r == nil {
		return
	}
	var entry dwarf.LineEntry
	from := len(l.rows) // of the sequence
	for r.Next(&entry) == nil && len(l.rows) < maxLineRows {
		row := lineRow{address: entry.Address, line: entry.Line, end: entry.EndSequence}
		if entry.File != nil {
			row.file = path.Base(strings.ReplaceAll(entry.File.Name, `\`, "/"))
		}
		l.rows = append(l.rows, row)
		if !entry.EndSequence {
			continue
		}
		// What the linker has left out begins at 0, or at the last addresses that there are.
		if first := l.rows[from].address; first == 0 || int32(first) == -1 || int32(first) == -2 {
			l.rows = l.rows[:from]
		}
		from = len(l.rows)
	}
}

// Find gives the file and the line of the code at an offset of the code section; ok is false where they are not known.
func (l *Lines) Find(offset uint32) (file string, line int, ok bool) {
	if l == nil {
		return "", 0, false
	}
	i := sort.Search(len(l.rows), func(i int) bool { return l.rows[i].address > uint64(offset) }) - 1
	// Of rows with the same address the last counts, unless it ends a sequence that the next begins at.
	for i > 0 && l.rows[i].end && l.rows[i-1].address == l.rows[i].address {
		i--
	}
	if i < 0 || l.rows[i].end || l.rows[i].file == "" || l.rows[i].line == 0 {
		return "", 0, false
	}
	return l.rows[i].file, l.rows[i].line, true
}
