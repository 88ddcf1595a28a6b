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
		f.reset(w, w.params[w.funcTypes[i]])
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
type function struct {
	w       *rewriter
	locals  uint32 // parameters and declared locals
	groups  uint32 // groups of declared locals
	hasBulk bool
	entry   bool     // whether the entry is counted
	cost    []uint32 // own instructions of the function (0) and of each loop, in order of appearance
	blocks  []int    // open blocks: the index in cost of what counts there
	out     []byte
}

// maxLocals is more than the compiler allows.
const maxLocals = 1 << 20

func (f *function) reset(w *rewriter, params uint32) {
	*f = function{w: w, locals: params, cost: append(f.cost[:0], 0), blocks: append(f.blocks[:0], 0), out: f.out[:0]}
}

// scan reads the whole body: how many instructions each loop and the function itself have of their own,
// whether it calls, and whether it has bulk operations.
func (f *function) scan(r *reader) error {
	f.groups = r.count()
	for i := uint32(0); i < f.groups; i++ {
		n := r.u32()
		r.valueType()
		if n > maxLocals-min(maxLocals, f.locals) {
			r.fail("too many locals")
		}
		f.locals += n
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
		case opBlock, opIf, opTryTable:
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
	return end(r)
}

// emit writes the body with its counters.
func (f *function) emit(r *reader) ([]byte, error) {
	groups := r.count()
	declared := r.p
	for i := uint32(0); i < groups; i++ {
		r.u32()
		r.valueType()
	}
	if f.hasBulk { // one more local for the length
		f.out = append(appendU32(f.out, groups+1), r.since(declared)...)
		f.out = append(f.out, 1, typeI32)
	} else {
		f.out = append(appendU32(f.out, groups), r.since(declared)...)
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
		case opCall, opReturnCall, opRefFunc:
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
	return f.out, r.err
}

// charge writes: counter -= 1 + instructions/32; if counter < 0 { counter = tick(counter) }.
func (f *function) charge(instructions uint32) {
	f.out = appendU32(append(f.out, opGlobalGet), f.w.counter())
	f.out = appendS32(append(f.out, opI32Const), int32(1+instructions/InstructionsPerCount))
	f.out = append(f.out, opI32Sub)
	f.settle()
}

// chargeLength does the same with the topmost operand, a length, shifted right. Lengths are unsigned 32-bit
// numbers, so that the counter cannot wrap.
func (f *function) chargeLength(shift int32) {
	f.out = appendU32(append(f.out, opLocalTee), f.locals)
	f.out = appendU32(append(f.out, opGlobalGet), f.w.counter())
	f.out = appendU32(append(f.out, opLocalGet), f.locals)
	f.out = appendS32(append(f.out, opI32Const), shift)
	f.out = append(f.out, opI32ShrU, opI32Sub)
	f.settle()
}

// settle stores the new counter, which is the topmost operand, and calls the host if it is below zero.
func (f *function) settle() {
	f.out = appendU32(append(f.out, opGlobalSet), f.w.counter())
	f.out = appendU32(append(f.out, opGlobalGet), f.w.counter())
	f.out = append(f.out, opI32Const, 0, opI32LtS, opIf, blockTypeEmpty)
	f.out = appendU32(append(f.out, opGlobalGet), f.w.counter())
	f.out = appendU32(append(f.out, opCall), f.w.tick())
	f.out = appendU32(append(f.out, opGlobalSet), f.w.counter())
	f.out = append(f.out, opEnd)
}
