package delta

import (
	"encoding/binary"
	"strings"
	"testing"
)

// setBytes writes a set of one bitmap: containers of each kind, as the portable format has them.
func setBytes(high uint32, runs bool) []byte {
	le := binary.LittleEndian
	out := le.AppendUint64(le.AppendUint32(nil, roaringArrayMagic), 1)
	out = le.AppendUint32(out, high)
	numbers := []uint16{1, 5, 65535} // the first container, key 0
	words := make([]byte, bitmapBytes)
	for i := range words[:1024] {
		words[i] = 0x55 // 4096 numbers, and one more: an array would be too long
	}
	words[8191] = 0x80
	if runs {
		out = le.AppendUint32(out, serialCookie|uint32(2)<<16)
		out = append(out, 0b100)
	} else {
		out = le.AppendUint32(le.AppendUint32(out, serialCookiePlain), 2)
	}
	header := func(key uint16, size int) { out = le.AppendUint16(le.AppendUint16(out, key), uint16(size-1)) }
	header(0, len(numbers))
	header(1, 4097)
	if runs {
		header(7, 1003)
	} else {
		out = append(out, make([]byte, 8)...) // the table of offsets, which is not needed
	}
	for _, n := range numbers {
		out = le.AppendUint16(out, n)
	}
	out = append(out, words...)
	if runs {
		out = le.AppendUint16(out, 2)
		for _, n := range []uint16{10, 999, 5000, 2} { // 10 to 1009, 5000 to 5002
			out = le.AppendUint16(out, n)
		}
	}
	return out
}

func TestRowSet(t *testing.T) {
	for _, high := range []uint32{0, 3} {
		for _, runs := range []bool{false, true} {
			base, size := int64(high)<<32, int64(3+4097)
			gone := map[int64]bool{1: true, 5: true, 65535: true, 65536 + 65535: true}
			for i := range int64(8192) {
				if i%2 == 0 {
					gone[65536+i] = true
				}
			}
			if runs {
				size += 1003
				for i := range int64(1000) {
					gone[7*65536+10+i] = true
				}
				for i := range int64(3) {
					gone[7*65536+5000+i] = true
				}
			}
			s, err := parseRowSet(setBytes(high, runs), size)
			if err != nil {
				t.Fatal(err)
			}
			for from := int64(0); from < 8*65536; from += 10000 {
				idx, all := s.kept(base+from, 10000)
				var want []int32
				for i := range int64(10000) {
					if !gone[from+i] {
						want = append(want, int32(i))
					}
				}
				if all != (len(want) == 10000) || !all && len(idx) != len(want) {
					t.Fatalf("from %d: %d are kept, want %d", from, len(idx), len(want))
				}
				for i := range idx {
					if idx[i] != want[i] {
						t.Fatalf("from %d: row %d is %d, want %d", from, i, idx[i], want[i])
					}
				}
			}
		}
	}
}

func TestRowSetFaults(t *testing.T) {
	good := setBytes(0, true)
	for n := range good {
		if _, err := parseRowSet(good[:n], 5103); err == nil {
			t.Fatalf("the first %d bytes are taken for a set", n)
		}
	}
	if _, err := parseRowSet(good, 5102); err == nil || !strings.Contains(err.Error(), "5103 row numbers, the log says 5102") {
		t.Errorf("got %v", err)
	}
	if _, err := parseRowSet(append(good, 0), 5103); err == nil || !strings.Contains(err.Error(), "1 bytes follow") {
		t.Errorf("got %v", err)
	}
}

// TestInlineVector reads a vector that stands in the log itself.
func TestInlineVector(t *testing.T) {
	if got, err := z85("HelloWorld"); err != nil || string(got) != "\x86\x4f\xd2\x6f\xb5\x59\xf7\x5b" {
		t.Fatalf("%x, %v", got, err)
	}
	data := setBytes(0, true)
	size := int32(len(data))
	for len(data)%4 != 0 {
		data = append(data, 0)
	}
	var text strings.Builder
	for i := 0; i < len(data); i += 4 {
		v, group := binary.BigEndian.Uint32(data[i:]), [5]byte{}
		for k := 4; k >= 0; k-- {
			group[k] = z85Digits[v%85]
			v /= 85
		}
		text.Write(group[:])
	}
	d := &deletionVector{StorageType: "i", PathOrInlineDv: text.String(), SizeInBytes: size, Cardinality: 5103}
	s, err := d.load(nil, "")
	if err != nil || s.size() != 5103 {
		t.Fatalf("%v", err)
	}
	for _, bad := range []deletionVector{
		{StorageType: "x"},
		{StorageType: "i", PathOrInlineDv: "Hell"},
		{StorageType: "i", PathOrInlineDv: "Hell~"},
		{StorageType: "i", PathOrInlineDv: "#####"},
		{StorageType: "u", PathOrInlineDv: "short"},
	} {
		if _, err := bad.load(nil, ""); err == nil || !strings.Contains(err.Error(), "deletion vector") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// FuzzRowSet reads any bytes as a set, which must be an error or a set of as many rows as it says.
func FuzzRowSet(f *testing.F) {
	f.Add(setBytes(0, true), int64(5103))
	f.Add(setBytes(1, false), int64(4100))
	f.Fuzz(func(t *testing.T, data []byte, n int64) {
		s, err := parseRowSet(data, n)
		if err != nil {
			return
		}
		for _, c := range s.containers {
			from := int64(c.key) << 16
			if from < 0 {
				continue
			}
			if idx, all := s.kept(from, 1<<16); !all && 1<<16-int64(len(idx)) > c.size() {
				t.Fatalf("container %d of %d rows takes %d", c.key, c.size(), 1<<16-len(idx))
			}
		}
	})
}
