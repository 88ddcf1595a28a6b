package fuel

// Opcodes that the rewriting looks at; all others only need their length.
const (
	opBlock              = 0x02
	opLoop               = 0x03
	opIf                 = 0x04
	opElse               = 0x05
	opThrow              = 0x08
	opThrowRef           = 0x0a
	opEnd                = 0x0b
	opBr                 = 0x0c
	opBrIf               = 0x0d
	opBrTable            = 0x0e
	opReturn             = 0x0f
	opCall               = 0x10
	opCallIndirect       = 0x11
	opReturnCall         = 0x12
	opReturnCallIndirect = 0x13
	opDrop               = 0x1a
	opSelect             = 0x1b
	opSelectTyped        = 0x1c
	opTryTable           = 0x1f
	opLocalGet           = 0x20
	opLocalSet           = 0x21
	opLocalTee           = 0x22
	opGlobalGet          = 0x23
	opGlobalSet          = 0x24
	opTableGet           = 0x25
	opTableSet           = 0x26
	opFirstMemory        = 0x28
	opLastMemory         = 0x3e
	opMemorySize         = 0x3f
	opMemoryGrow         = 0x40
	opI32Const           = 0x41
	opI64Const           = 0x42
	opF32Const           = 0x43
	opF64Const           = 0x44
	opI32Eqz             = 0x45
	opI32LtS             = 0x48
	opI32Add             = 0x6a
	opI32Sub             = 0x6b
	opI32Mul             = 0x6c
	opI32ShrU            = 0x76
	opI64Add             = 0x7c
	opI64Sub             = 0x7d
	opI64Mul             = 0x7e
	opLastNumeric        = 0xc4
	opRefNull            = 0xd0
	opRefIsNull          = 0xd1
	opRefFunc            = 0xd2
	opMisc               = 0xfc
	opVector             = 0xfd
	opAtomic             = 0xfe

	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17

	vecLastLoadStore  = 11
	vecConst          = 12
	vecShuffle        = 13
	vecFirstLane      = 21
	vecLastLane       = 34
	vecFirstLaneMem   = 84
	vecLastLaneMem    = 91
	vecLoad32Zero     = 92
	vecLoad64Zero     = 93
	catchTag          = 0
	catchTagRef       = 1
	catchAll          = 2
	catchAllRef       = 3
	blockTypeEmpty    = 0x40
	memoryIndexPassed = 0x40 // flag in a memory argument: an index of a memory follows
)

// instruction is one decoded instruction, as far as the rewriting needs it.
type instruction struct {
	op    byte
	sub   uint32 // second opcode after opMisc and opVector
	index uint32 // function, global or type index where op has one
}

// calls tells whether the instruction enters another function.
func (x *instruction) calls() bool {
	return x.op >= opCall && x.op <= opReturnCallIndirect
}

// bulk tells whether the instruction's work grows with its last operand, and the binary logarithm of how
// many units of that operand cost one count.
func (x *instruction) bulk() (shift int32, ok bool) {
	if x.op != opMisc {
		return 0, false
	}
	switch x.sub {
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		return bytesPerCountLog, true
	case miscTableInit, miscTableCopy, miscTableGrow, miscTableFill:
		return elementsPerCountLog, true
	}
	return 0, false
}

// instruction reads the next instruction with its immediates.
func (r *reader) instruction() (x instruction) {
	x.op = r.u8()
	switch op := x.op; {
	case op <= 0x01, op == opElse, op == opEnd, op == opReturn, op == opThrowRef,
		op == opDrop, op == opSelect, op == opRefIsNull:
	case op == opBlock, op == opLoop, op == opIf:
		r.blockType()
	case op == opTryTable:
		r.tryTable()
	case op == opBr, op == opBrIf, op == opThrow,
		op >= opLocalGet && op <= opLocalTee, op == opTableGet, op == opTableSet:
		r.u32()
	case op == opCall, op == opReturnCall, op == opGlobalGet, op == opGlobalSet, op == opRefFunc:
		x.index = r.u32()
	case op == opCallIndirect, op == opReturnCallIndirect:
		x.index = r.u32()
		r.u32()
	case op == opBrTable:
		for n := r.count(); n > 0; n-- {
			r.u32()
		}
		r.u32()
	case op == opSelectTyped:
		for n := r.count(); n > 0; n-- {
			r.valueType()
		}
	case op >= opFirstMemory && op <= opLastMemory:
		r.memoryArgument()
	case op == opMemorySize, op == opMemoryGrow:
		r.zero()
	case op == opI32Const:
		r.skipSigned(5)
	case op == opI64Const:
		r.skipSigned(10)
	case op == opF32Const:
		r.take(4)
	case op == opF64Const:
		r.take(8)
	case op >= opI32Eqz && op <= opLastNumeric:
	case op == opRefNull:
		r.referenceType()
	case op == opMisc:
		x.sub = r.u32()
		r.misc(x.sub)
	case op == opVector:
		x.sub = r.vectorOpcode()
		r.vector(x.sub)
	case op == opAtomic:
		r.fail("uses threads, which the host does not offer")
	default:
		r.fail("unknown instruction %#x", op)
	}
	return x
}

func (r *reader) memoryArgument() {
	if align := r.u32(); align >= memoryIndexPassed {
		r.fail("uses more than one memory, which the host does not offer")
	}
	r.u32()
}

// zero reads a byte that must be 0, where later versions put the index of a memory.
func (r *reader) zero() {
	if r.u8() != 0 && r.err == nil {
		r.fail("uses more than one memory, which the host does not offer")
	}
}

func (r *reader) tryTable() {
	r.blockType()
	for n := r.count(); n > 0; n-- {
		switch kind := r.u8(); kind {
		case catchTag, catchTagRef:
			r.u32()
		case catchAll, catchAllRef:
		default:
			r.fail("unknown catch clause %#x", kind)
		}
		r.u32()
	}
}

func (r *reader) misc(sub uint32) {
	switch {
	case sub < miscMemoryInit: // saturating conversions
	case sub == miscMemoryInit:
		r.u32()
		r.zero()
	case sub == miscMemoryCopy:
		r.zero()
		r.zero()
	case sub == miscMemoryFill:
		r.zero()
	case sub == miscTableInit, sub == miscTableCopy:
		r.u32()
		r.u32()
	case sub == miscDataDrop, sub == miscElemDrop,
		sub == miscTableGrow, sub == miscTableSize, sub == miscTableFill:
		r.u32()
	default:
		r.fail("unknown instruction 0xfc %d", sub)
	}
}

// vectorOpcode reads the second opcode of a vector instruction. The compiler looks at its first byte only
// and takes the second one of the larger opcodes for a nop, so that any other spelling of the same number
// would be two different programs.
func (r *reader) vectorOpcode() uint32 {
	c := r.u8()
	if c >= 0x80 && r.u8() != 0x01 {
		r.fail("unknown vector instruction")
	}
	return uint32(c)
}

func (r *reader) vector(sub uint32) {
	switch {
	case sub <= vecLastLoadStore, sub == vecLoad32Zero, sub == vecLoad64Zero:
		r.memoryArgument()
	case sub == vecConst, sub == vecShuffle:
		r.take(16)
	case sub >= vecFirstLane && sub <= vecLastLane:
		r.u8()
	case sub >= vecFirstLaneMem && sub <= vecLastLaneMem:
		r.memoryArgument()
		r.u8()
	}
}
