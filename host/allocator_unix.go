//go:build unix

package host

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// withAllocator has instances keep their memory outside of Go's heap, in a mapping of the largest size that
// the memory may reach: growing copies nothing, pages that were never touched cost nothing, and the collector
// never looks at it.
func withAllocator(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(mapMemory))
}

// mapping is a linear memory.
type mapping struct {
	all []byte
}

func mapMemory(_, most uint64) experimental.LinearMemory {
	if most == 0 {
		return &mapping{}
	}
	b, err := syscall.Mmap(-1, 0, int(most), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return &mapping{}
	}
	return &mapping{b}
}

// Reallocate gives the first size bytes; nil when there are not so many.
func (m *mapping) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size]
}

// Free gives the mapping back.
func (m *mapping) Free() {
	if m.all != nil {
		_ = syscall.Munmap(m.all) // of a mapping of ours: it cannot fail, and nobody could act on it
		m.all = nil
	}
}
