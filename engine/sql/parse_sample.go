package sql

import "strconv"

// sample reads TABLESAMPLE (…) [REPEATABLE (seed)].
func (p *parser) sample() (*Sample, error) {
	start := p.i
	p.i += 2
	s := &Sample{}
	if err := p.sampleMethod(s); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if p.accept("REPEATABLE") {
		if err := p.expectOp("("); err != nil {
			return nil, err
		}
		var err error
		if s.Seed, err = p.wholeNumberToken(); err != nil {
			return nil, err
		}
		s.HasSeed = true
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
	}
	s.Span = p.spanFrom(start)
	return s, nil
}

func (p *parser) sampleMethod(s *Sample) error {
	var err error
	n := 0
	if p.isOp("-") {
		n = 1
	}
	switch {
	case p.is("BUCKET") && p.ahead(1).kind == tokNumber:
		p.i++
		s.Kind = SampleBucket
		if s.Num, err = p.wholeNumberToken(); err != nil {
			return err
		}
		if err := p.expectSeq("OUT", "OF"); err != nil {
			return err
		}
		at := p.peek().span
		if s.Denom, err = p.wholeNumberToken(); err != nil {
			return err
		}
		if s.Denom == 0 || s.Num > s.Denom {
			p.fault(at, "_LEGACY_ERROR_TEMP_0015", "Sampling fraction (%d/%d) must be on interval [0, 1].", s.Num, s.Denom)
		}
		return nil
	case p.ahead(n).kind == tokNumber && p.ahead(n+1).word == "PERCENT":
		at := p.ahead(n).span
		v, err := strconv.ParseFloat(p.ahead(n).text, 64)
		if err != nil {
			p.i += n
			return p.fail("a number")
		}
		if n == 1 {
			v = -v
		}
		p.i += n + 2
		if v < 0 || v > 100 {
			p.fault(at, "_LEGACY_ERROR_TEMP_0015", "Sampling fraction (%v) must be on interval [0, 1].", v/100)
		}
		s.Kind, s.Percent = SamplePercent, v
		return nil
	}
	if s.Rows, err = p.expr(); err != nil {
		return err
	}
	s.Kind = SampleRows
	return p.expect("ROWS")
}

// wholeNumberToken reads a whole number without sign and suffix.
func (p *parser) wholeNumberToken() (int64, error) {
	t := p.peek()
	if t.kind == tokNumber {
		if v, err := strconv.ParseInt(t.text, 10, 64); err == nil {
			p.i++
			return v, nil
		}
	}
	return 0, p.fail("a whole number")
}
