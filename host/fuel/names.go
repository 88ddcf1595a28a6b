package fuel

// Parts of the name section.
const (
	namesModule    = 0
	namesFunctions = 1
	namesLocals    = 2
	namesLabels    = 3
)

// nameSection keeps the names with the functions' new indices, so that traps name the guest's functions.
// The section has no meaning for the module; one that is malformed is left out, as is any part not known.
func (w *rewriter) nameSection() {
	if !w.in.names.present {
		return
	}
	r := &reader{b: w.in.names.body}
	var body []byte
	for !r.done() && r.err == nil {
		id := r.u8()
		part := &reader{b: r.name()}
		var out []byte
		switch id {
		case namesModule:
			out = part.b
		case namesFunctions:
			out = w.nameMap(part, func(p *reader, b []byte) []byte { return appendBytes(b, p.name()) })
		case namesLocals, namesLabels:
			out = w.nameMap(part, func(p *reader, b []byte) []byte {
				n := p.count()
				b = appendU32(b, n)
				for ; n > 0 && p.err == nil; n-- {
					b = appendU32(b, p.u32())
					b = appendBytes(b, p.name())
				}
				return b
			})
		default:
			continue
		}
		if part.err != nil {
			return
		}
		body = appendBytes(append(body, id), out)
	}
	if r.err == nil {
		w.out.names = section{present: true, body: body}
	}
}

// nameMap copies a map from function indices to something.
func (w *rewriter) nameMap(r *reader, value func(*reader, []byte) []byte) []byte {
	n := r.count()
	out := appendU32(nil, n)
	for ; n > 0 && r.err == nil; n-- {
		out = appendU32(out, w.function(r, r.u32()))
		out = value(r, out)
	}
	return out
}
