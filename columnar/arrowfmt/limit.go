package arrowfmt

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// maxAlloc is the largest piece of memory that a file may ask for: as much as a column of 32-bit offsets can hold.
const maxAlloc = 2 << 30

// limited is Go's allocator with a bound, because the sizes in a file's metadata are believed by Arrow's reader. It
// panics beyond the bound; recoverTo makes an error of that.
type limited struct{ memory.Allocator }

func (l limited) check(size int) {
	if size < 0 || size > maxAlloc {
		panic(fmt.Sprintf("its metadata ask for %d bytes at once, expected %d at most", size, maxAlloc))
	}
}

// Allocate implements memory.Allocator.
func (l limited) Allocate(size int) []byte {
	l.check(size)
	return l.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (l limited) Reallocate(size int, b []byte) []byte {
	l.check(size)
	return l.Allocator.Reallocate(size, b)
}
