package csvfmt

// quotedValue reads a field that begins with a quote, character by character in the order of the parser that Spark uses:
// what it makes of quotes and escapes at odd places follows from the two last characters that it looked at.
type quotedValue struct {
	t    *tokenizer
	b    []byte
	i    int // behind c
	from int // the value begins there in t.buf

	c, prev   byte
	at        int  // of c
	unescaped bool // a quote within the value was not escaped
	blind     bool // a delimiter of several characters is not seen any more
	dropped   bool // the value is skipped
}

// read moves on by a character; false at the end of the text. A line end is one \n, unless line ends are kept.
func (v *quotedValue) read() bool {
	if v.i == len(v.b) {
		return false
	}
	v.at = v.i
	if n := v.t.endAt(v.b, v.i); n > 0 && !v.t.keepEnds {
		v.c = '\n'
		v.i += n
		return true
	}
	v.c = v.b[v.i]
	v.i++
	return true
}

func (v *quotedValue) add(c byte) {
	if !v.dropped {
		v.t.buf = append(v.t.buf, c)
	}
}

func (v *quotedValue) atSep() bool {
	return (!v.blind || len(v.t.sep) == 1) && v.t.sepAt(v.b, v.at)
}

// stops tells whether an unescaped quote makes all up to the next delimiter part of the value.
func (v *quotedValue) stops() bool {
	return v.t.unescaped == StopAtDelimiter || v.t.unescaped == SkipValue || v.t.unescaped == BackToDelimiter
}

// plainEnd is where the text from i on ends.
func (v *quotedValue) plainEnd(i int) int {
	if !v.blind || len(v.t.sep) == 1 {
		return v.t.plainEnd(v.b, i)
	}
	for i < len(v.b) && v.t.endAt(v.b, i) == 0 {
		i++
	}
	return i
}

// value is the field with what has been read.
func (v *quotedValue) value() token {
	if v.dropped {
		return token{kind: absent}
	}
	return v.t.fromBuf(v.from)
}

// atEnd tells whether c ends the record.
func (v *quotedValue) atEnd() bool { return v.t.newlineAt(v.b, v.at) > 0 }

// done is the value; what stands at c, a delimiter or a line end, is still to come.
func (v *quotedValue) done() (token, error) {
	v.i = v.at
	if v.unescaped && v.t.unescaped == BackToDelimiter && len(v.t.buf) == v.from {
		return token{kind: none}, nil
	}
	return v.value(), nil
}

// cut is the value when the text ends within it.
func (v *quotedValue) cut() (token, error) {
	v.i = len(v.b)
	closed := false
	if v.c == v.t.quote {
		if closed = v.prev == v.t.quote; !closed && !v.unescaped {
			v.add(v.c)
		}
	}
	if len(v.t.buf) == v.from && !closed && v.prev == 0 {
		return token{kind: absent}, nil
	}
	return v.value(), nil
}

// parse reads from behind the opening quote.
func (v *quotedValue) parse() (token, error) {
	for {
		if v.prev != 0 && v.stops() {
			return v.untilDelimiter()
		}
		if !v.read() {
			return v.cut()
		}
		again, tok, err := v.inside()
		if !again {
			return tok, err
		}
	}
}

// inside reads on within quotes; again tells that it is to go on as behind an opening quote.
func (v *quotedValue) inside() (again bool, tok token, err error) {
	t := v.t
	for {
		if v.prev == t.quote && (v.c <= ' ' || v.atSep() || v.atEnd()) {
			return v.behind()
		}
		switch {
		case v.c != t.quote && v.c != t.escape:
			if v.prev == t.quote {
				return v.bareQuote()
			}
			if v.prev == t.escape && t.escape != 0 {
				v.add(t.escape)
			}
			for v.c != t.quote && v.c != t.escape && (v.c != t.escEsc || t.escEsc == 0) {
				v.add(v.c)
				if !v.read() {
					tok, err = v.cut()
					return false, tok, err
				}
			}
			v.prev = v.c
			if !v.read() {
				tok, err = v.cut()
				return false, tok, err
			}
		default:
			on, err := v.special()
			if err != nil {
				return false, token{}, err
			}
			v.prev = v.c
			if !on || !v.read() {
				tok, err = v.cut()
				return false, tok, err
			}
			if v.unescaped && (v.atSep() || v.atEnd()) {
				tok, err = v.done()
				return false, tok, err
			}
		}
	}
}

// special takes a quote or an escape; false at the end of the text.
func (v *quotedValue) special() (on bool, err error) {
	t := v.t
	switch {
	case v.c == t.escape && v.prev == t.escEsc && t.escEsc != 0:
		v.add(t.escape)
		v.c = 0
	case v.prev == t.escape:
		if v.c == t.quote {
			v.add(t.quote)
			v.c = 0
		} else {
			v.add(v.prev)
		}
	case v.c == t.quote && v.prev == t.quote:
		v.add(t.quote)
	case v.prev == t.quote:
		return v.escapeBehindQuote()
	}
	return true, nil
}

// escapeBehindQuote handles an escape behind a quote: the text up to the next delimiter belongs to the value, which then
// goes on, without the delimiter.
func (v *quotedValue) escapeBehindQuote() (on bool, err error) {
	t := v.t
	v.blind = true
	switch t.unescaped {
	case RaiseError:
		return false, errUnescapedQuote
	case SkipValue:
		t.buf, v.dropped = t.buf[:v.from], true
		for !v.atSep() && !v.atEnd() {
			if !v.read() {
				return false, nil
			}
		}
		return true, nil
	}
	v.add(t.quote)
	v.prev = v.c
	for !v.atSep() && !v.atEnd() {
		if v.c != t.quote && v.c != t.escape {
			if v.prev == t.quote {
				v.add(t.quote)
			}
			v.add(v.c)
		} else if on, err := v.special(); !on || err != nil {
			return false, err
		}
		v.prev = v.c
		if !v.read() {
			return false, nil
		}
	}
	return true, nil
}

// bareQuote handles c behind a quote that neither ends the value nor is escaped.
func (v *quotedValue) bareQuote() (again bool, tok token, err error) {
	t := v.t
	v.unescaped = true
	switch t.unescaped {
	case RaiseError:
		return false, token{}, errUnescapedQuote
	case SkipValue:
		tok, err = v.skip()
		return false, tok, err
	case BackToDelimiter:
		v.split()
		v.add(v.c)
		v.prev = 0
	default:
		v.add(t.quote)
		v.add(v.c)
		v.prev = v.c
	}
	return true, token{}, nil
}

// split makes fields of what has been read up to the last delimiter in it.
func (v *quotedValue) split() {
	t := v.t
	for i := v.from; i < len(t.buf); i++ {
		if t.sepAt(t.buf, i) {
			tok := t.fromBuf(v.from)
			tok.text = tok.text[: i-v.from : i-v.from]
			if len(tok.text) == 0 {
				tok.kind = empty
			}
			t.tokens = append(t.tokens, tok)
			v.from = i + len(t.sep)
			i = v.from - 1
		}
	}
}

// skip drops the value up to the next delimiter.
func (v *quotedValue) skip() (token, error) {
	v.t.buf = v.t.buf[:v.from]
	v.i = v.plainEnd(v.at)
	return token{kind: absent}, nil
}

// untilDelimiter takes the rest up to the next delimiter as it is, with the opening quote put back.
func (v *quotedValue) untilDelimiter() (token, error) {
	t := v.t
	if t.unescaped == SkipValue {
		v.at = v.i
		return v.skip()
	}
	end := v.plainEnd(v.i)
	t.buf = append(t.buf, 0)
	copy(t.buf[v.from+1:], t.buf[v.from:])
	t.buf[v.from] = t.quote
	t.buf = append(t.buf, v.b[v.i:end]...)
	v.i = end
	tok := t.trimmed(t.buf[v.from:])
	tok.owned = true
	return tok, nil
}

// behind reads on behind a closing quote: blanks do not count, unless there is more behind them.
func (v *quotedValue) behind() (again bool, tok token, err error) {
	t := v.t
	if v.atSep() || v.atEnd() {
		tok, err = v.done()
		return false, tok, err
	}
	from := v.at
	for v.c <= ' ' && !v.atSep() && !v.atEnd() {
		if !v.read() {
			v.i = len(v.b)
			return false, v.value(), nil
		}
	}
	if v.atSep() || v.atEnd() {
		tok, err = v.done()
		return false, tok, err
	}
	if t.unescaped == RaiseError {
		return false, token{}, errUnescapedQuote
	}
	v.add(t.quote)
	for _, c := range v.b[from:v.at] {
		v.add(c)
	}
	if v.stops() || v.c != t.quote && v.c != t.escape {
		v.add(v.c)
	}
	v.prev, v.blind = v.c, v.stops()
	return true, token{}, nil
}
