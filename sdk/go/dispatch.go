package wstream

// bound are the functions that were bound, by handle.
var bound []Handler

// answer is the frame of the last call, kept until the next one.
var answer []byte

// errorText is the text of the last negative status.
var errorText []byte

// fail keeps a text and gives the status.
func fail(status int64, text string) int64 {
	errorText = append(errorText[:0], text...)
	return status
}

// bindFunction handles wstream_bind.
func bindFunction(text []byte) int64 {
	b, err := parseBind(text)
	if err != nil {
		return fail(statusBadFrame, err.Error())
	}
	for i := range exported.Functions {
		f := &exported.Functions[i]
		if f.Name != b.Function {
			continue
		}
		h := f.Call
		if f.Bind != nil {
			if h, err = f.Bind(b); err != nil {
				return fail(statusBadConfig, err.Error())
			}
		}
		bound = append(bound, h)
		return int64(len(bound) - 1)
	}
	return fail(statusUnknown, "no function "+b.Function)
}

// callFunction handles wstream_call: the answer is in answer, unless the status is negative. nothing tells that
// there is no answer.
func callFunction(handle int, frame []byte) (status int64, nothing bool) {
	if handle < 0 || handle >= len(bound) {
		return fail(statusFailed, "unknown handle"), false
	}
	c := decode(frame)
	if err := bound[handle](c); err != nil {
		return fail(statusFailed, err.Error()), false
	}
	if len(c.out) == 0 && len(c.outSections) == 0 && c.errors[0] == nil {
		return 0, true
	}
	answer = c.encode(answer)
	release(c.out)
	release([]*Builder{c.parents})
	return 0, false
}
