// Package fuel rewrites a WebAssembly module so that it can be stopped.
//
// A counter goes down at each loop head, at the entry of each function that calls others, every 128 instructions of a
// body, and by length before each bulk operation on memory and tables. When it falls below zero the module calls the host's
// "tick", which takes what was used from the call's fuel, looks at the deadline, and hands out the next
// portion. How much a piece of code costs depends on the module alone, so that a guest that runs out of
// fuel on one machine runs out of it on all.
//
// Functions that may call themselves also take the size of their frame from a stack of limited size. The runtime bounds
// the stack too, but only at some 400 MB.
//
// Within the same pass the module's memory and tables are held to the host's limits.
//
// The reader trusts nothing: every length is checked against what is there, and a module that is not
// well-formed is an error that names the section and the offset. Types are left to the compiler, which
// validates the rewritten module; what the rewriting could make valid by accident (an index that reaches
// the host's own counter or function) is refused here.
package fuel

import (
	"fmt"
	"math"
)

// Names by which the rewritten module and the host know each other.
const (
	// ImportModule and ImportName name the function that a rewritten module calls when its counter is
	// below zero: (counter i32) -> (new counter i32).
	ImportModule = "wstream_fuel"
	ImportName   = "tick"
	// Counter is the exported mutable i32 global that holds the counter.
	Counter = "wstream_fuel_counter"
	// Stack is the exported mutable i32 global that holds the bytes of stack that are left.
	Stack = "wstream_fuel_stack"
	// Overflow is what the tick function is called with when the stack is used up: it must not return.
	Overflow = math.MinInt32
	// StartStack is the stack that a module has until the host sets another: that of its start function.
	StartStack = 1 << 20
)

// What things cost, in counts.
const (
	// StretchCounts is what a place in a function's body costs that is passed, one every StretchInstructions
	// instructions as they stand, so that long pieces of code without a loop are not for nothing.
	StretchCounts       = 4
	StretchInstructions = 128
	// BytesPerCount is how many bytes of memory.fill, memory.copy and memory.init cost one count.
	BytesPerCount = 1 << bytesPerCountLog
	// ElementsPerCount is the same for the operations on tables.
	ElementsPerCount = 1 << elementsPerCountLog

	bytesPerCountLog    = 6
	elementsPerCountLog = 3
)

// PageSize is the size of a page of WebAssembly memory in bytes.
const PageSize = 65536

// Limits are the host's bounds on what a module may declare.
type Limits struct {
	// MemoryPages is the most pages of 64 KiB that the memory may ever have. A module that asks for
	// more at its start is refused; a larger declared maximum is lowered to it.
	MemoryPages uint32
	// TableElements is the same for every table, in elements.
	TableElements uint32
}

// Error says where a module is malformed, or what in it is refused.
type Error struct {
	Section string // "code", "import", …; empty for the module as a whole
	Offset  int    // in bytes from the module's start
	Problem string
}

// Error is "not a valid module: code section, offset 0x1f2: …".
func (e *Error) Error() string {
	if e.Section == "" {
		return fmt.Sprintf("not a valid module: offset %#x: %s", e.Offset, e.Problem)
	}
	return fmt.Sprintf("not a valid module: %s section, offset %#x: %s", e.Section, e.Offset, e.Problem)
}

// LimitError says that a module needs more than the host allows.
type LimitError struct {
	What            string // "memory" or "table"
	Needed, Allowed uint64
	Unit            string // "bytes" or "elements"
}

// Error is "memory: needs 134217728 bytes, allowed are 67108864".
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: needs %d %s, allowed are %d", e.What, e.Needed, e.Unit, e.Allowed)
}
