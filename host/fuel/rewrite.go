package fuel

// Rewrite returns the module with counters in it and its limits lowered. A module that is not well-formed,
// or uses what the host does not offer (threads, more than one memory, imported memories, tables or
// globals), is an *Error; one that needs more than the limits a *LimitError. Custom sections other than
// the names are left out; a module with debug information gets lines that say where its instructions stood, see ReadLines.
func Rewrite(wasm []byte, limits Limits) ([]byte, error) {
	m, err := split(wasm)
	if err != nil {
		return nil, err
	}
	w := &rewriter{in: m, limits: limits}
	for _, step := range []func() error{
		w.types, w.imports, w.functions, w.tables, w.memory, w.tags, w.globals, w.exports, w.start,
		w.elements, w.dataCount, w.code, w.data,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	w.nameSection()
	return w.out.join(), nil
}

// rewriter holds what the sections so far have told.
type rewriter struct {
	in     *module
	out    module
	limits Limits

	signatures []signature // by type index
	imported   uint32      // imported functions; the tick function comes after them
	funcTypes  []uint32    // type indices of the module's own functions
	globals0   uint32      // the module's own globals; the counter comes after them
	tickType   uint32

	addressTaken []bool // by place in the code section; nil for none
}

// signature is what a body needs to know of its type.
type signature struct {
	params uint32
	block  []byte // the type of a block that takes nothing and gives the results
}

// tick is the index of the tick function in the rewritten module.
func (w *rewriter) tick() uint32 { return w.imported }

// counter is the index of the counter's global in the rewritten module.
func (w *rewriter) counter() uint32 { return w.globals0 }

// stack is the index of the global that holds the bytes of stack that are left.
func (w *rewriter) stack() uint32 { return w.globals0 + 1 }

// put stores a rewritten section.
func (w *rewriter) put(id sectionID, body []byte) {
	w.out.sections[id] = section{present: true, body: body}
}

// keep stores a section as it is.
func (w *rewriter) keep(id sectionID) { w.out.sections[id] = w.in.sections[id] }

// end checks that a section ends where its content does.
func end(r *reader) error {
	if r.err == nil && !r.done() {
		r.fail("%d bytes too many", len(r.b)-r.p)
	}
	return r.err
}

// function is the index of a function after the rewriting; one that the module does not have is an error.
func (w *rewriter) function(r *reader, i uint32) uint32 {
	switch {
	case i < w.imported:
		return i
	case uint64(i) < uint64(w.imported)+uint64(len(w.funcTypes)):
		return i + 1
	}
	r.fail("there is no function %d", i)
	return 0
}

// global checks the index of a global.
func (w *rewriter) global(r *reader, i uint32) {
	if i >= w.globals0 {
		r.fail("there is no global %d", i)
	}
}

// functionType is the leading byte of a function type.
const functionType = 0x60

// types keeps the types and adds, behind them, one for each with several results that takes nothing, and the
// type of the tick function.
func (w *rewriter) types() error {
	r := w.in.reader(sectionType)
	n, items := w.vector(r, sectionType)
	var added []byte
	total := n
	for i := uint32(0); i < n && r.err == nil; i++ {
		if c := r.u8(); c != functionType {
			r.fail("unknown kind of type %#x", c)
		}
		params := r.count()
		for j := uint32(0); j < params; j++ {
			r.valueType()
		}
		results := r.count()
		at := r.p
		for j := uint32(0); j < results; j++ {
			r.valueType()
		}
		s := signature{params: params, block: []byte{blockTypeEmpty}}
		switch {
		case r.err != nil:
		case results == 1:
			s.block = r.since(at)
		case results > 1:
			s.block = appendS32(nil, int32(total))
			added = append(appendU32(append(added, functionType, 0), results), r.since(at)...)
			total++
		}
		w.signatures = append(w.signatures, s)
	}
	if err := end(r); err != nil {
		return err
	}
	w.tickType = total
	body := append(appendU32(nil, total+1), r.b[items:]...)
	body = append(body, added...)
	w.put(sectionType, append(body, functionType, 1, typeI32, 1, typeI32))
	return nil
}

// vector reads the number of items of a section and gives it with the position of the first item.
func (w *rewriter) vector(r *reader, id sectionID) (n uint32, items int) {
	if !w.in.sections[id].present {
		return 0, 0
	}
	n = r.count()
	return n, r.p
}

// kinds of imports and exports.
const (
	kindFunction = 0
	kindTable    = 1
	kindMemory   = 2
	kindGlobal   = 3
	kindTag      = 4
)

func (w *rewriter) imports() error {
	r := w.in.reader(sectionImport)
	n, items := w.vector(r, sectionImport)
	for i := uint32(0); i < n && r.err == nil; i++ {
		mod, name := r.name(), r.name()
		kind := r.u8()
		switch {
		case r.err != nil:
		case string(mod) == ImportModule:
			r.fail("imports %q, which belongs to the host", mod)
		case kind == kindFunction:
			w.typeIndex(r)
			w.imported++
		case kind <= kindTag:
			what := [...]string{kindTable: "table", kindMemory: "memory", kindGlobal: "global", kindTag: "tag"}[kind]
			r.fail("imports the %s %q of %q; only functions may be imported", what, name, mod)
		default:
			r.fail("unknown kind of import %#x", kind)
		}
	}
	if err := end(r); err != nil {
		return err
	}
	body := append(appendU32(nil, n+1), r.b[items:]...)
	body = appendBytes(appendBytes(body, []byte(ImportModule)), []byte(ImportName))
	w.put(sectionImport, appendU32(append(body, kindFunction), w.tickType))
	return nil
}

func (w *rewriter) functions() error {
	r := w.in.reader(sectionFunction)
	n, _ := w.vector(r, sectionFunction)
	for i := uint32(0); i < n; i++ {
		w.funcTypes = append(w.funcTypes, w.typeIndex(r))
	}
	w.keep(sectionFunction)
	return end(r)
}

// limitsOf reads a declared minimum and maximum.
func limitsOf(r *reader) (lo, hi uint32, bounded bool) {
	switch flags := r.u8(); flags {
	case 0:
		return r.u32(), 0, false
	case 1:
		lo = r.u32()
		return lo, r.u32(), true
	case 2, 3:
		r.fail("is shared between threads, which the host does not offer")
	default:
		r.fail("unknown limits %#x", flags)
	}
	return 0, 0, false
}

// appendLimits writes a minimum and the lower of the declared and the allowed maximum.
func appendLimits(b []byte, lo, hi uint32, bounded bool, allowed uint32) []byte {
	if !bounded || hi > allowed {
		hi = allowed
	}
	return appendU32(appendU32(append(b, 1), lo), hi)
}

// tableWithInit is the leading byte of a table whose elements have a first value.
const tableWithInit = 0x40

func (w *rewriter) tables() error {
	r := w.in.reader(sectionTable)
	n, _ := w.vector(r, sectionTable)
	body := appendU32(nil, n)
	for i := uint32(0); i < n && r.err == nil; i++ {
		at := r.p
		if r.u8() == tableWithInit {
			r.fail("has a table with first values, which the host does not offer")
		}
		r.p = at
		r.referenceType()
		body = append(body, r.since(at)...)
		lo, hi, bounded := limitsOf(r)
		if r.err == nil && lo > w.limits.TableElements {
			return &LimitError{"table", uint64(lo), uint64(w.limits.TableElements), "elements"}
		}
		body = appendLimits(body, lo, hi, bounded, w.limits.TableElements)
	}
	if w.in.sections[sectionTable].present {
		w.put(sectionTable, body)
	}
	return end(r)
}

func (w *rewriter) memory() error {
	r := w.in.reader(sectionMemory)
	n, _ := w.vector(r, sectionMemory)
	if n > 1 {
		r.fail("has more than one memory, which the host does not offer")
	}
	body := appendU32(nil, n)
	if n == 1 && r.err == nil {
		lo, hi, bounded := limitsOf(r)
		if r.err == nil && lo > w.limits.MemoryPages {
			return &LimitError{"memory", uint64(lo) * PageSize, uint64(w.limits.MemoryPages) * PageSize, "bytes"}
		}
		body = appendLimits(body, lo, hi, bounded, w.limits.MemoryPages)
	}
	if w.in.sections[sectionMemory].present {
		w.put(sectionMemory, body)
	}
	return end(r)
}

func (w *rewriter) tags() error {
	r := w.in.reader(sectionTag)
	n, _ := w.vector(r, sectionTag)
	for i := uint32(0); i < n && r.err == nil; i++ {
		if kind := r.u8(); kind != 0 && r.err == nil {
			r.fail("tag %d: unknown kind %#x", i, kind)
		}
		w.typeIndex(r)
	}
	if err := end(r); err != nil {
		return err
	}
	w.keep(sectionTag)
	return nil
}

// typeIndex reads the index of a type that there is.
func (w *rewriter) typeIndex(r *reader) uint32 {
	t := r.u32()
	if r.err == nil && uint64(t) >= uint64(len(w.signatures)) {
		r.fail("there is no type %d", t)
	}
	return t
}

// maxGlobals keeps the number of globals far from the end of 32 bits.
const maxGlobals = 1 << 20

func (w *rewriter) globals() error {
	r := w.in.reader(sectionGlobal)
	n, _ := w.vector(r, sectionGlobal)
	if n > maxGlobals {
		r.fail("has %d globals", n)
	}
	w.globals0 = n
	body := appendU32(nil, n+2)
	for i := uint32(0); i < n && r.err == nil; i++ {
		at := r.p
		r.valueType()
		r.u8() // whether it may change
		body = append(body, r.since(at)...)
		body = w.constant(r, body)
	}
	if err := end(r); err != nil {
		return err
	}
	body = append(body, typeI32, 1, opI32Const, 0, opEnd)
	body = appendS32(append(body, typeI32, 1, opI32Const), StartStack)
	w.put(sectionGlobal, append(body, opEnd))
	return nil
}

// constant copies a constant expression, with the indices of functions as they are now.
func (w *rewriter) constant(r *reader, body []byte) []byte {
	for r.err == nil {
		at := r.p
		x := r.instruction()
		switch x.op {
		case opEnd:
			return append(body, opEnd)
		case opRefFunc:
			w.taken(x.index)
			body = appendU32(append(body, opRefFunc), w.function(r, x.index))
			continue
		case opGlobalGet:
			w.global(r, x.index)
		case opI32Const, opI64Const, opF32Const, opF64Const, opRefNull, opVector,
			opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul:
		default:
			r.fail("instruction %#x is not constant", x.op)
		}
		body = append(body, r.since(at)...)
	}
	return body
}

func (w *rewriter) exports() error {
	r := w.in.reader(sectionExport)
	n, _ := w.vector(r, sectionExport)
	body := appendU32(nil, n+2)
	for i := uint32(0); i < n && r.err == nil; i++ {
		at := r.p
		name := r.name()
		kind := r.u8()
		body = append(body, r.since(at)...)
		index := r.u32()
		switch {
		case r.err != nil:
		case string(name) == Counter || string(name) == Stack:
			r.fail("exports %q, which belongs to the host", name)
		case kind == kindFunction:
			index = w.function(r, index)
		case kind == kindGlobal:
			w.global(r, index)
		case kind > kindTag:
			r.fail("unknown kind of export %#x", kind)
		}
		body = appendU32(body, index)
	}
	if err := end(r); err != nil {
		return err
	}
	body = appendU32(append(appendBytes(body, []byte(Counter)), kindGlobal), w.counter())
	w.put(sectionExport, appendU32(append(appendBytes(body, []byte(Stack)), kindGlobal), w.stack()))
	return nil
}

func (w *rewriter) start() error {
	if !w.in.sections[sectionStart].present {
		return nil
	}
	r := w.in.reader(sectionStart)
	i := w.function(r, r.u32())
	w.put(sectionStart, appendU32(nil, i))
	return end(r)
}

// flags of an element segment.
const (
	elementNotActive   = 1
	elementExplicit    = 2 // a table index if active, declared only if not
	elementExpressions = 4
	elementFlags       = 8
)

func (w *rewriter) elements() error {
	r := w.in.reader(sectionElement)
	n, _ := w.vector(r, sectionElement)
	body := appendU32(nil, n)
	for i := uint32(0); i < n && r.err == nil; i++ {
		body = w.element(r, body)
	}
	if w.in.sections[sectionElement].present {
		w.put(sectionElement, body)
	}
	return end(r)
}

// element copies one element segment.
func (w *rewriter) element(r *reader, body []byte) []byte {
	flags := r.u32()
	if flags >= elementFlags {
		r.fail("unknown kind of segment %d", flags)
		return body
	}
	body = appendU32(body, flags)
	if flags&elementNotActive == 0 {
		if flags&elementExplicit != 0 {
			body = appendU32(body, r.u32())
		}
		body = w.constant(r, body)
	}
	if flags&(elementNotActive|elementExplicit) != 0 { // the kind of element, or its type
		at := r.p
		if flags&elementExpressions != 0 {
			r.referenceType()
		} else if r.u8() != 0 {
			r.fail("unknown kind of element")
		}
		body = append(body, r.since(at)...)
	}
	n := r.count()
	body = appendU32(body, n)
	for ; n > 0 && r.err == nil; n-- {
		if flags&elementExpressions != 0 {
			body = w.constant(r, body)
		} else {
			i := r.u32()
			w.taken(i)
			body = appendU32(body, w.function(r, i))
		}
	}
	return body
}

func (w *rewriter) dataCount() error {
	w.keep(sectionDataCount)
	return nil
}

func (w *rewriter) data() error {
	r := w.in.reader(sectionData)
	n, _ := w.vector(r, sectionData)
	body := appendU32(nil, n)
	for i := uint32(0); i < n && r.err == nil; i++ {
		flags := r.u32()
		if flags > 2 {
			r.fail("unknown kind of segment %d", flags)
		}
		body = appendU32(body, flags)
		if flags == 2 {
			body = appendU32(body, r.u32())
		}
		if flags != 1 {
			body = w.constant(r, body)
		}
		body = appendBytes(body, r.name())
	}
	if w.in.sections[sectionData].present {
		w.put(sectionData, body)
	}
	return end(r)
}
