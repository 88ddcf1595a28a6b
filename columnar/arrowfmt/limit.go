package arrowfmt

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// A file may ask for leastMemory in any case, and beyond that for mostRatio times its size, since its columns may be compressed.
const (
	leastMemory = 256 << 20
	mostRatio   = 1000
)

// limited is Go's allocator with a bound on what is in use, because the sizes in a file's metadata are believed by
// Arrow's reader. It panics beyond the bound; recoverTo makes an error of that.
type limited struct {
	memory.Allocator
	most, used int
}

func newLimited(size int64) *limited {
	return &limited{Allocator: memory.DefaultAllocator, most: leastMemory + int(size)*mostRatio}
}

func (l *limited) take(size int) {
	if size < 0 || size > l.most-l.used {
		panic(fmt.Sprintf("its metadata ask for %d bytes, expected %d at most", l.used+size, l.most))
	}
	l.used += size
}

// Allocate implements memory.Allocator.
func (l *limited) Allocate(size int) []byte {
	l.take(size)
	return l.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (l *limited) Reallocate(size int, b []byte) []byte {
	if size < 0 {
		l.take(size)
	}
	l.used -= min(len(b), l.used)
	l.take(size)
	return l.Allocator.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (l *limited) Free(b []byte) {
	l.used -= min(len(b), l.used)
	l.Allocator.Free(b)
}
