package javatext

import (
	"strconv"
	"strings"
)

// parseOffset reads ±HH with or without minutes and seconds, or the text for no offset.
func (p *datetimeParser) parseOffset(item *datetimeItem, i int) int {
	s := p.s
	if i == len(s) {
		return ^i
	}
	if n, ok := hasPrefixFold(s[i:], item.text); ok {
		return p.setParsed(fieldOffset, 0, i, i+n)
	}
	seconds, end, ok := offsetAt(s, i, item.offsetType)
	if !ok {
		return ^i
	}
	if seconds == outOfRangeOffset {
		p.err = dateTimeException("Value out of range: Hour[0-23], Minute[0-59], Second[0-59]")
		return ^i
	}
	return p.setParsed(fieldOffset, seconds, i, end)
}

// outOfRangeOffset stands for an offset of more than 23 hours.
const outOfRangeOffset = 1 << 40

// offsetAt reads an offset of a form of OffsetIdPrinterParser.PATTERNS.
func offsetAt(s string, i, form int) (seconds int64, end int, ok bool) {
	if s[i] != '+' && s[i] != '-' {
		return 0, 0, false
	}
	negative := s[i] == '-'
	colon := form > 0 && form%2 == 0
	part := func(at int, withColon bool) (v, end int, ok bool) {
		if withColon {
			if at >= len(s) || s[at] != ':' {
				return 0, at, false
			}
			at++
		}
		v = twoDigits(s, at)
		return v, at + 2, v >= 0 && v <= 59
	}
	hours, end, ok := part(i+1, false)
	if !ok {
		return 0, 0, false
	}
	minutes, rest := 0, 0
	if form > 0 {
		m, e, ok := part(end, colon)
		switch {
		case ok:
			minutes, end = m, e
		case form >= 3:
			return 0, 0, false
		}
		if form >= 5 {
			if r, e, ok := part(end, colon); ok {
				rest, end = r, e
			}
		}
	}
	if hours > 23 {
		return outOfRangeOffset, end, true
	}
	seconds = int64(hours*3600 + minutes*60 + rest)
	if negative {
		seconds = -seconds
	}
	return seconds, end, true
}

// parseLocalizedOffset reads GMT, GMT+8 or GMT+08:00.
func (p *datetimeParser) parseLocalizedOffset(item *datetimeItem, i int) int {
	s := p.s
	n, ok := hasPrefixFold(s[i:], "GMT")
	if !ok {
		return ^i
	}
	end := i + n
	if end == len(s) || s[end] != '+' && s[end] != '-' {
		return p.setParsed(fieldOffset, 0, i, end)
	}
	negative := s[end] == '-'
	end++
	var hours, minutes, rest int
	colonPart := func() (v int, ok bool) {
		if end+2 < len(s) && s[end] == ':' {
			if v = twoDigits(s, end+1); v >= 0 {
				end += 3
				return v, true
			}
		}
		return 0, false
	}
	if item.long {
		a, b := p.digitAt(end), p.digitAt(end+1)
		if a < 0 || b < 0 || p.err != nil || p.charAt(end+2) != ':' {
			return ^i
		}
		c, d := p.digitAt(end+3), p.digitAt(end+4)
		if c < 0 || d < 0 || p.err != nil {
			return ^i
		}
		hours, minutes = a*10+b, c*10+d
		end += 5
		rest, _ = colonPart()
	} else {
		if hours = p.digitAt(end); hours < 0 {
			return ^i
		}
		if end++; end < len(s) && isASCIIDigit(s[end]) {
			hours = hours*10 + int(s[end]-'0')
			end++
		}
		if minutes, ok = colonPart(); ok {
			rest, _ = colonPart()
		}
	}
	seconds := int64(hours*3600 + minutes*60 + rest)
	if negative {
		seconds = -seconds
	}
	return p.setParsed(fieldOffset, seconds, i, end)
}

// charAt returns a byte of the text, and notes if Java would have read beyond its end.
func (p *datetimeParser) charAt(i int) byte {
	if i < len(p.s) {
		return p.s[i]
	}
	if p.err == nil {
		p.err = &JavaError{Exception: "java.lang.StringIndexOutOfBoundsException", Text: "String index out of range: " + strconv.Itoa(utf16Length(p.s)+i-len(p.s))}
	}
	return 0
}

// digitAt returns the digit at a place of the text, or -1.
func (p *datetimeParser) digitAt(i int) int {
	if c := p.charAt(i); isASCIIDigit(c) {
		return int(c - '0')
	}
	return -1
}

// parseZone reads an id of a zone, or a name of those given.
func (p *datetimeParser) parseZone(names map[string]string, i int) int {
	s := p.s
	if i == len(s) {
		return ^i
	}
	rest := s[i:]
	if rest[0] == '+' || rest[0] == '-' {
		return p.parsePrefixedZone("", i, i)
	}
	upper := strings.ToUpper(rest[:min(4, len(rest))])
	switch {
	case strings.HasPrefix(upper, "UTC"):
		return p.parsePrefixedZone("UTC", i, i+3)
	case strings.HasPrefix(upper, "UT"):
		return p.parsePrefixedZone("UT", i, i+2)
	case upper == "GMT0":
		return p.setZone("GMT0", i, i+4)
	case strings.HasPrefix(upper, "GMT"):
		return p.parsePrefixedZone("GMT", i, i+3)
	}
	id, n := zoneNameTables().longestName(names, rest)
	if n == 0 {
		if rest[0]|0x20 == 'z' {
			p.zone = OffsetZone(0)
			return i + 1
		}
		return ^i
	}
	return p.setZone(id, i, i+n)
}

func (p *datetimeParser) setZone(id string, from, end int) int {
	z, err := LookupZone(id)
	if err != nil {
		p.err = err
		return ^from
	}
	p.zone = z
	return end
}

// parsePrefixedZone reads an offset behind UTC, GMT, UT or nothing.
func (p *datetimeParser) parsePrefixedZone(prefix string, from, i int) int {
	s := p.s
	if prefix != "" && (i >= len(s) || s[i] == '0' || s[i]|0x20 == 'z') {
		return p.setZone(prefix, from, i)
	}
	seconds, end, ok := int64(0), 0, false
	if i < len(s) {
		if s[i] == '+' || s[i] == '-' {
			seconds, end, ok = offsetAt(s, i, 6)
		} else if prefix != "" {
			return p.setZone(prefix, from, i)
		}
	}
	switch {
	case !ok && prefix == "":
		return ^from
	case !ok:
		return p.setZone(prefix, from, i)
	case seconds == outOfRangeOffset:
		p.err = dateTimeException("Value out of range: Hour[0-23], Minute[0-59], Second[0-59]")
		return ^from
	case seconds > 18*3600 || seconds < -18*3600:
		return ^from
	case prefix == "":
		p.zone = OffsetZone(int(seconds))
	default:
		p.zone = utcNamed(prefix, int(seconds))
	}
	return end
}
