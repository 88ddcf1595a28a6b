package arrowfmt

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand"
	"runtime"
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/formattest"
)

// TestMemory changes every four bytes of a small file to large numbers: whatever they count, not much memory is taken.
func TestMemory(t *testing.T) {
	s, err := columnar.ParseDDL("a INT, s STRUCT<b: ARRAY<STRING>, c: MAP<STRING, BINARY>>, d DECIMAL(5,1)")
	if err != nil {
		t.Fatal(err)
	}
	b := formattest.RandomBatch(rand.New(rand.NewSource(4)), s, 5)
	for _, stream := range []bool{false, true} {
		whole := file(t, "zstd", stream, b)
		for at := 0; at+4 <= len(whole); at += 4 {
			for _, v := range []uint32{0x7fffffff, 0x64000000, 0x01000000, 0xfffffff0} {
				data := bytes.Clone(whole)
				binary.LittleEndian.PutUint32(data[at:], v)
				if n := allocated(func() { readAll(data) }); n > leastMemory+(64<<20) {
					t.Fatalf("stream %v, %#x at %d: %d bytes were allocated", stream, v, at, n)
				}
			}
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func readAll(data []byte) {
	r, err := Open(bytes.NewReader(data), int64(len(data)), nil)
	if err != nil {
		return
	}
	defer r.Close()
	for err != io.EOF {
		if _, err = r.Next(100); err != nil {
			return
		}
	}
}
