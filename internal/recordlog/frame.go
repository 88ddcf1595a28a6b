package recordlog

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// FormatVersion is the version of the frame and segment format.
//
//	1: first
const FormatVersion = 1

// A frame is a header of 32 bytes, the payload, and a trailer of 8 bytes. Numbers are little-endian.
//
//	0   magic "WSL1"
//	4   type: 'H' segment header, 'R' record; three zeros
//	8   length of the payload
//	16  id of the record
//	24  CRC-32C of the payload
//	28  CRC-32C of bytes 0 to 27
const (
	headerSize  = 32
	trailerSize = 8
	magic       = "WSL1"
	trailer     = "\nws-end\n" // no zero in it: a record that was written in full ends in it

	typeHeader = 'H'
	typeRecord = 'R'

	// sectorSize is the unit in which a disk writes as a whole.
	sectorSize = 512
)

type frame struct {
	typ    byte
	id     int64
	length int64
	crc    uint32
}

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // the runtime caches it

func (f frame) put(b []byte) {
	clear(b[:headerSize])
	copy(b, magic)
	b[4] = f.typ
	binary.LittleEndian.PutUint64(b[8:], uint64(f.length))
	binary.LittleEndian.PutUint64(b[16:], uint64(f.id))
	binary.LittleEndian.PutUint32(b[24:], f.crc)
	binary.LittleEndian.PutUint32(b[28:], crc32.Checksum(b[:28], crcTable()))
}

// parseFrame reads a frame header; ok is false if b does not hold one.
func parseFrame(b []byte) (f frame, ok bool) {
	if len(b) < headerSize || string(b[:4]) != magic || b[5]|b[6]|b[7] != 0 ||
		binary.LittleEndian.Uint32(b[28:]) != crc32.Checksum(b[:28], crcTable()) {
		return frame{}, false
	}
	f = frame{
		typ:    b[4],
		length: int64(binary.LittleEndian.Uint64(b[8:])),
		id:     int64(binary.LittleEndian.Uint64(b[16:])),
		crc:    binary.LittleEndian.Uint32(b[24:]),
	}
	return f, f.length >= 0 && f.length < 1<<40
}

func allZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// hasZeroSector says whether some sector of the file shows nothing but zeros where the bytes b, which lie at offset off,
// cover it: such a sector was never written.
func hasZeroSector(b []byte, off int64) bool {
	for len(b) > 0 {
		n := min(int(sectorSize-off%sectorSize), len(b))
		if n >= headerSize && allZero(b[:n]) {
			return true
		}
		b, off = b[n:], off+int64(n)
	}
	return false
}

// hasFrame says whether a valid frame header starts anywhere in b.
func hasFrame(b []byte) bool {
	for {
		i := bytes.Index(b, []byte(magic))
		if i < 0 {
			return false
		}
		if _, ok := parseFrame(b[i:]); ok {
			return true
		}
		b = b[i+1:]
	}
}
