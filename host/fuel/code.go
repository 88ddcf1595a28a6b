package fuel

// code rewrites all function bodies: first it looks at each, then at who calls whom, then it writes them.
func (w *rewriter) code() error {
	r := w.in.reader(sectionCode)
	n, _ := w.vector(r, sectionCode)
	if uint64(n) != uint64(len(w.funcTypes)) {
		r.fail("%d bodies for %d functions", n, len(w.funcTypes))
	}
	bodies := make([]section, 0, n)
	functions := make([]function, n)
	for i := uint32(0); i < n && r.err == nil; i++ {
		size := r.u32()
		at := r.base + r.p
		b := r.take(size)
		if r.err != nil {
			break
		}
		bodies = append(bodies, section{body: b, offset: at})
		f := &functions[i]
		f.w, f.typ, f.locals = w, w.funcTypes[i], w.signatures[w.funcTypes[i]].params
		if err := f.scan(&reader{b: b, base: at, section: r.section}); err != nil {
			return err
		}
	}
	if err := end(r); err != nil {
		return err
	}
	w.markRecursive(functions)
	body := appendU32(make([]byte, 0, len(r.b)*5/4+16), n)
	lines := w.in.debug[".debug_line"] != nil
	var out []byte
	var moves []moved
	for i := range functions {
		f := &functions[i]
		f.out = out[:0]
		if lines {
			f.moves = &moves
		}
		first := len(moves)
		code, err := f.emit(&reader{b: bodies[i].body, base: bodies[i].offset, section: r.section})
		if err != nil {
			return err
		}
		out = f.out
		body = appendBytes(body, code)
		f.out = nil
		for k := range moves[first:] {
			moves[first+k].now += uint32(len(body) - len(code))
			moves[first+k].was += uint32(bodies[i].offset - w.in.sections[sectionCode].offset)
		}
	}
	if lines {
		w.out.debug = lineSections(moves, uint32(len(body)))
	}
	if w.in.sections[sectionCode].present {
		w.put(sectionCode, body)
	}
	return nil
}

// function rewrites one body in two passes: scan measures it, emit writes it.
//
// Between calls a function with loops keeps the counter in a local, which the compiler can hold in a register: it
// takes it from the global at its entry and after each call, and puts it back before each call and at its exits.
// Functions without loops, and those that catch exceptions (which may arrive from anywhere), use the global alone.
//
// A function that may call itself, if only by way of others, takes the size of its frame from the stack that is left
// at its entry, and sets what was left before at its exits. One that catches exceptions says anew before each call what is
// left for it, since who threw did not pass an exit.
type function struct {
	w         *rewriter
	typ       uint32   // index of the function's type
	locals    uint32   // parameters and declared locals
	calls     []uint32 // the module's own functions that it calls, by their place in the code section
	indirect  bool     // whether it calls functions by table
	hasBulk   bool     // whether it needs a local for lengths
	catches   bool     // whether it has try_table
	entry     bool     // whether it calls, and so is counted at its entry
	recursive bool     // whether it may call itself
	size      uint32   // instructions
	inLocal   bool     // whether the counter lives in a local
	counter   uint32   // that local
	length    uint32   // the local for lengths
	left      uint32   // the local for the stack that is left below this frame
	out       []byte
	moves     *[]moved // where instructions stand now; nil where nobody asks
}

// maxLocals is more than the compiler allows.
const maxLocals = 1 << 20

// scan reads the whole body: how long it is, what it calls, whether it has loops and bulk operations.
func (f *function) scan(r *reader) error {
	for n := r.count(); n > 0; n-- {
		k := r.u32()
		r.valueType()
		if k > maxLocals-min(maxLocals, f.locals) {
			r.fail("too many locals")
		}
		f.locals += k
	}
	loops := false
	for depth := 1; depth > 0; {
		x := r.instruction()
		if r.err != nil {
			return r.err
		}
		f.size++
		switch x.op {
		case opBlock, opIf:
			depth++
		case opTryTable:
			f.catches = true
			depth++
		case opLoop:
			loops = true
			depth++
		case opEnd:
			depth--
		case opCall, opReturnCall:
			if x.index >= f.w.imported {
				f.calls = append(f.calls, x.index-f.w.imported)
			}
		case opCallIndirect, opReturnCallIndirect:
			f.indirect = true
		case opRefFunc:
			f.w.taken(x.index)
		}
		f.entry = f.entry || x.calls()
		if _, ok := x.bulk(); ok {
			f.hasBulk = true
		}
	}
	f.inLocal = loops && !f.catches
	return end(r)
}

// frame is an estimate of the bytes that a call of the function takes of the stack: what a call itself needs, the
// locals, and a part of the values in between.
func (f *function) frame() int32 {
	return int32(min(64+16*uint64(f.locals)+2*uint64(f.size), 1<<24))
}

// wrapped tells whether the body stands in a block of its own, at whose end the function's exit is.
func (f *function) wrapped() bool { return f.inLocal || f.recursive }

// emit writes the body with its counters.
func (f *function) emit(r *reader) ([]byte, error) {
	f.declare(r)
	if f.recursive {
		f.enter()
	}
	f.load()
	if f.wrapped() {
		// A branch to the end of the function now ends here, before the exit.
		f.out = append(append(f.out, opBlock), f.w.signatures[f.typ].block...)
	}
	if f.entry {
		f.charge(1)
	}
	stretch := 0
	for !r.done() && r.err == nil {
		at := r.p
		if f.moves != nil {
			*f.moves = append(*f.moves, moved{uint32(len(f.out)), uint32(at)})
		}
		x := r.instruction()
		if stretch++; stretch == StretchInstructions {
			stretch = 0
			f.charge(StretchCounts)
		}
		if shift, ok := x.bulk(); ok {
			f.chargeLength(shift)
		}
		switch x.op {
		case opCall, opCallIndirect:
			f.call(r, x, r.since(at))
			continue
		case opReturnCall:
			f.exit()
			f.out = appendU32(append(f.out, x.op), f.w.function(r, x.index))
			continue
		case opReturnCallIndirect, opReturn:
			f.exit()
		case opThrow, opThrowRef:
			f.store()
		case opRefFunc:
			f.out = appendU32(append(f.out, x.op), f.w.function(r, x.index))
			continue
		case opGlobalGet, opGlobalSet:
			f.w.global(r, x.index)
		}
		f.out = append(f.out, r.since(at)...)
		if x.op == opLoop {
			f.charge(1)
		}
	}
	if f.wrapped() {
		f.exit()
		f.out = append(f.out, opEnd)
	}
	return f.out, r.err
}

// enter writes: left = stack - frame; stack = left; if left < 0 { the host ends the call }.
func (f *function) enter() {
	f.out = appendU32(append(f.out, opGlobalGet), f.w.stack())
	f.out = appendS32(append(f.out, opI32Const), f.frame())
	f.out = append(f.out, opI32Sub)
	f.out = appendU32(append(f.out, opLocalTee), f.left)
	f.out = appendU32(append(f.out, opGlobalSet), f.w.stack())
	f.out = appendU32(append(f.out, opLocalGet), f.left)
	f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, blockTypeEmpty)
	f.out = appendS32(append(f.out, opI32Const), Overflow)
	f.out = appendU32(append(f.out, opCall), f.w.tick())
	f.out = append(f.out, opDrop, opEnd)
}

// exit puts back the counter, and the stack as it was before the call.
func (f *function) exit() {
	f.store()
	if f.recursive {
		f.out = appendU32(append(f.out, opLocalGet), f.left)
		f.out = appendS32(append(f.out, opI32Const), f.frame())
		f.out = append(f.out, opI32Add)
		f.out = appendU32(append(f.out, opGlobalSet), f.w.stack())
	}
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
	for _, l := range []struct {
		needed bool
		index  *uint32
	}{{f.inLocal, &f.counter}, {f.hasBulk, &f.length}, {f.recursive, &f.left}} {
		if l.needed {
			*l.index = f.locals + added
			added++
		}
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
		if f.recursive && f.catches {
			f.out = appendU32(append(f.out, opLocalGet), f.left)
			f.out = appendU32(append(f.out, opGlobalSet), f.w.stack())
		}
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

// charge writes: counter -= counts; if counter < 0 { counter = tick(counter) }.
func (f *function) charge(counts int32) {
	f.get()
	f.out = appendS32(append(f.out, opI32Const), counts)
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
