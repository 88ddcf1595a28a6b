package fuel

// code rewrites all function bodies.
func (w *rewriter) code() error {
	r := w.in.reader(sectionCode)
	n, _ := w.vector(r, sectionCode)
	if uint64(n) != uint64(len(w.funcTypes)) {
		r.fail("%d bodies for %d functions", n, len(w.funcTypes))
	}
	body := appendU32(make([]byte, 0, len(r.b)*5/4+16), n)
	var f function
	for i := uint32(0); i < n && r.err == nil; i++ {
		size := r.u32()
		base := r.base + r.p
		b := r.take(size)
		if r.err != nil {
			break
		}
		f.reset(w, w.funcTypes[i])
		if err := f.scan(&reader{b: b, base: base, section: r.section}); err != nil {
			return err
		}
		code, err := f.emit(&reader{b: b, base: base, section: r.section})
		if err != nil {
			return err
		}
		body = appendBytes(body, code)
	}
	if w.in.sections[sectionCode].present {
		w.put(sectionCode, body)
	}
	return end(r)
}

// function rewrites one body in two passes: scan measures it, emit writes it.
//
// Between calls a function with loops keeps the counter in a local, which the compiler can hold in a register: it
// takes it from the global at its entry and after each call, and puts it back before each call and at its exits.
// Functions without loops, and those that catch exceptions (which may arrive from anywhere), use the global alone.
type function struct {
	w       *rewriter
	typ     uint32   // index of the function's type
	locals  uint32   // parameters and declared locals
	hasBulk bool     // whether it needs a local for lengths
	catches bool     // whether it has try_table
	entry   bool     // whether the entry is counted
	cost    []uint32 // own instructions of the function (0) and of each loop, in order of appearance
	blocks  []int    // open blocks: the index in cost of what counts there
	inLocal bool     // whether the counter lives in a local
	counter uint32   // that local
	length  uint32   // the local for lengths
	out     []byte
}

// maxLocals is more than the compiler allows.
const maxLocals = 1 << 20

func (f *function) reset(w *rewriter, typ uint32) {
	*f = function{w: w, typ: typ, locals: w.signatures[typ].params, cost: append(f.cost[:0], 0),
		blocks: append(f.blocks[:0], 0), out: f.out[:0]}
}

// scan reads the whole body: how many instructions each loop and the function itself have of their own,
// whether it calls, and whether it has bulk operations.
func (f *function) scan(r *reader) error {
	for n := r.count(); n > 0; n-- {
		k := r.u32()
		r.valueType()
		if k > maxLocals-min(maxLocals, f.locals) {
			r.fail("too many locals")
		}
		f.locals += k
	}
	calls := false
	for len(f.blocks) > 0 {
		x := r.instruction()
		if r.err != nil {
			return r.err
		}
		at := f.blocks[len(f.blocks)-1]
		f.cost[at]++
		switch x.op {
		case opTryTable:
			f.catches = true
			f.blocks = append(f.blocks, at)
		case opBlock, opIf:
			f.blocks = append(f.blocks, at)
		case opLoop:
			f.blocks = append(f.blocks, len(f.cost))
			f.cost = append(f.cost, 0)
		case opEnd:
			f.blocks = f.blocks[:len(f.blocks)-1]
		}
		calls = calls || x.calls()
		if _, ok := x.bulk(); ok {
			f.hasBulk = true
		}
	}
	// A short function that calls nothing costs its caller, who is counted, no more than a few instructions
	// would; without this exception small helpers would pay most of all.
	f.entry = calls || f.cost[0] > 2*InstructionsPerCount
	f.inLocal = len(f.cost) > 1 && !f.catches
	return end(r)
}

// emit writes the body with its counters.
func (f *function) emit(r *reader) ([]byte, error) {
	f.declare(r)
	if f.inLocal {
		f.load()
		// A branch to the end of the function now ends here, before the counter is put back.
		f.out = append(append(f.out, opBlock), f.w.signatures[f.typ].block...)
	}
	if f.entry {
		f.charge(f.cost[0])
	}
	loop := 0
	for !r.done() && r.err == nil {
		at := r.p
		x := r.instruction()
		if shift, ok := x.bulk(); ok {
			f.chargeLength(shift)
		}
		switch x.op {
		case opCall, opCallIndirect:
			f.call(r, x, r.since(at))
			continue
		case opReturnCall:
			f.store()
			f.out = appendU32(append(f.out, x.op), f.w.function(r, x.index))
			continue
		case opReturnCallIndirect, opReturn, opThrow, opThrowRef:
			f.store()
		case opRefFunc:
			f.out = appendU32(append(f.out, x.op), f.w.function(r, x.index))
			continue
		case opGlobalGet, opGlobalSet:
			f.w.global(r, x.index)
		}
		f.out = append(f.out, r.since(at)...)
		if x.op == opLoop {
			loop++
			f.charge(f.cost[loop])
		}
	}
	if f.inLocal {
		f.store()
		f.out = append(f.out, opEnd)
	}
	return f.out, r.err
}

// declare writes the declarations of the locals, with the ones that are added.
func (f *function) declare(r *reader) {
	groups := r.count()
	declared := r.p
	for i := uint32(0); i < groups; i++ {
		r.u32()
		r.valueType()
	}
	added := uint32(0)
	if f.inLocal {
		f.counter = f.locals + added
		added++
	}
	if f.hasBulk {
		f.length = f.locals + added
		added++
	}
	if added == 0 {
		f.out = append(appendU32(f.out, groups), r.since(declared)...)
		return
	}
	f.out = append(appendU32(f.out, groups+1), r.since(declared)...)
	f.out = append(f.out, byte(added), typeI32)
}

// call writes a call. Functions of the host do not look at the counter.
func (f *function) call(r *reader, x instruction, encoded []byte) {
	counted := x.op == opCallIndirect || x.index >= f.w.imported
	if counted {
		f.store()
	}
	if x.op == opCall {
		f.out = appendU32(append(f.out, opCall), f.w.function(r, x.index))
	} else {
		f.out = append(f.out, encoded...)
	}
	if counted {
		f.load()
	}
}

// load takes the counter from the global to the local, if it lives there.
func (f *function) load() {
	if f.inLocal {
		f.out = appendU32(append(f.out, opGlobalGet), f.w.counter())
		f.out = appendU32(append(f.out, opLocalSet), f.counter)
	}
}

// store puts it back.
func (f *function) store() {
	if f.inLocal {
		f.out = appendU32(append(f.out, opLocalGet), f.counter)
		f.out = appendU32(append(f.out, opGlobalSet), f.w.counter())
	}
}

// charge writes: counter -= 1 + instructions/32; if counter < 0 { counter = tick(counter) }.
func (f *function) charge(instructions uint32) {
	f.get()
	f.out = appendS32(append(f.out, opI32Const), int32(1+instructions/InstructionsPerCount))
	f.out = append(f.out, opI32Sub)
	f.settle()
}

// chargeLength does the same with the topmost operand, a length, shifted right. Lengths are unsigned 32-bit
// numbers, so that the counter cannot wrap.
func (f *function) chargeLength(shift int32) {
	f.out = appendU32(append(f.out, opLocalTee), f.length)
	f.get()
	f.out = appendU32(append(f.out, opLocalGet), f.length)
	f.out = appendS32(append(f.out, opI32Const), shift)
	f.out = append(f.out, opI32ShrU, opI32Sub)
	f.settle()
}

func (f *function) get() {
	if f.inLocal {
		f.out = appendU32(append(f.out, opLocalGet), f.counter)
	} else {
		f.out = appendU32(append(f.out, opGlobalGet), f.w.counter())
	}
}

func (f *function) set() {
	if f.inLocal {
		f.out = appendU32(append(f.out, opLocalSet), f.counter)
	} else {
		f.out = appendU32(append(f.out, opGlobalSet), f.w.counter())
	}
}

// settle keeps the new counter, which is the topmost operand, and calls the host if it is below zero.
func (f *function) settle() {
	f.set()
	f.get()
	f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, blockTypeEmpty)
	f.get()
	f.out = appendU32(append(f.out, opCall), f.w.tick())
	f.set()
	f.out = append(f.out, opEnd)
}
