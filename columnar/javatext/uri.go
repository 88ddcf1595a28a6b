package javatext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// uri holds the parts of a URI as java.net.URI finds them, undecoded; nil where there is none.
type uri struct {
	scheme, authority, userInfo, host, path, query, fragment *string
}

// uriParser follows java.net.URI, which is RFC 2396 with any visible character beyond ASCII allowed where an escape
// is. Its methods return ok false for what is no URI.
type uriParser struct {
	s string
	uri
	ipv6Bytes int
}

// uriClass is a set of ASCII characters, and whether escapes and characters beyond ASCII belong to it.
type uriClass struct {
	low, high uint64
	escapes   bool
}

func newURIClass(chars string, escapes bool) uriClass {
	c := uriClass{escapes: escapes}
	for i := 0; i < len(chars); i++ {
		if b := chars[i]; b < 64 {
			c.low |= 1 << b
		} else {
			c.high |= 1 << (b - 64)
		}
	}
	return c
}

func (c *uriClass) has(b byte) bool {
	if b < 64 {
		return c.low>>b&1 != 0
	}
	return b < 128 && c.high>>(b-64)&1 != 0
}

const (
	uriAlpha      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	uriDigits     = "0123456789"
	uriUnreserved = uriAlpha + uriDigits + "-_.!~*'()"
)

var (
	uriAlphaClass         = newURIClass(uriAlpha, false)
	uriDigitClass         = newURIClass(uriDigits, false)
	uriAlphanumClass      = newURIClass(uriAlpha+uriDigits, false)
	uriLabelClass         = newURIClass(uriAlpha+uriDigits+"-", false)
	uriHexClass           = newURIClass(uriDigits+"abcdefABCDEF", false)
	uriIPv4Class          = newURIClass(uriDigits+".", false)
	uriSchemeClass        = newURIClass(uriAlpha+uriDigits+"+-.", false)
	uriAnyClass           = newURIClass(uriUnreserved+";/?:@&=+$,[]", true)
	uriPathClass          = newURIClass(uriUnreserved+":@&=+$,;/", true)
	uriRegistryClass      = newURIClass(uriUnreserved+"$,;:@&=+", true)
	uriUserClass          = newURIClass(uriUnreserved+";:&=+$,", true)
	uriServerClass        = newURIClass(uriUnreserved+";:&=+$,.@[]", true)
	uriServerPercentClass = newURIClass(uriUnreserved+";:&=+$,.@[]%", true)
	uriScopeClass         = newURIClass(uriAlpha+uriDigits+"_.", false)
)

// parseURI takes a URI apart.
func parseURI(s string) (*uri, bool) {
	p := &uriParser{s: javaString(s)}
	if !p.parse() {
		return nil, false
	}
	return &p.uri, true
}

func (p *uriParser) part(from, to int) *string {
	s := p.s[from:to]
	return &s
}

func (p *uriParser) at(i, n int, c byte) bool { return i < n && p.s[i] == c }

// until returns the index of the first of the characters, or n.
func (p *uriParser) until(i, n int, chars string) int {
	if k := strings.IndexAny(p.s[i:n], chars); k >= 0 {
		return i + k
	}
	return n
}

// span returns where the characters of a class end; ok is false for a broken escape.
func (p *uriParser) span(i, n int, class *uriClass) (end int, ok bool) {
	for i < n {
		c := p.s[i]
		switch {
		case class.has(c):
			i++
		case !class.escapes:
			return i, true
		case c == '%':
			if i+3 > n || !isHexDigit(p.s[i+1]) || !isHexDigit(p.s[i+2]) {
				return i, false
			}
			i += 3
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(p.s[i:])
			if r <= 0x9f || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp) {
				return i, true
			}
			i += size
		default:
			return i, true
		}
	}
	return i, true
}

// all tells whether all characters are of a class.
func (p *uriParser) all(i, n int, class *uriClass) bool {
	end, ok := p.span(i, n, class)
	return ok && end == n
}

func (p *uriParser) parse() bool {
	n := len(p.s)
	i := p.until(0, n, "/?#:")
	if p.at(i, n, ':') {
		if i == 0 || !uriAlphaClass.has(p.s[0]) || !p.all(1, i, &uriSchemeClass) {
			return false
		}
		p.scheme = p.part(0, i)
		i++
		if p.at(i, n, '/') {
			var ok bool
			if i, ok = p.hierarchical(i, n); !ok {
				return false
			}
		} else {
			end := p.until(i, n, "#")
			if end <= i || !p.all(i, end, &uriAnyClass) {
				return false
			}
			i = end
		}
	} else {
		var ok bool
		if i, ok = p.hierarchical(0, n); !ok {
			return false
		}
	}
	if p.at(i, n, '#') {
		if !p.all(i+1, n, &uriAnyClass) {
			return false
		}
		p.fragment = p.part(i+1, n)
		i = n
	}
	return i == n
}

func (p *uriParser) hierarchical(i, n int) (end int, ok bool) {
	if p.at(i, n, '/') && p.at(i+1, n, '/') {
		i += 2
		end := p.until(i, n, "/?#")
		switch {
		case end > i:
			if !p.parseAuthority(i, end) {
				return 0, false
			}
			i = end
		case end == n:
			return 0, false
		}
	}
	end = p.until(i, n, "?#")
	if !p.all(i, end, &uriPathClass) {
		return 0, false
	}
	p.path = p.part(i, end)
	i = end
	if p.at(i, n, '?') {
		end = p.until(i+1, n, "#")
		if !p.all(i+1, end, &uriAnyClass) {
			return 0, false
		}
		p.query = p.part(i+1, end)
		i = end
	}
	return i, true
}

func (p *uriParser) parseAuthority(i, n int) bool {
	class := &uriServerClass
	if p.until(i, n, "]") > i {
		// Java looks for the bracket of an IPv6 address but takes its absence, which is the end, for it as well.
		class = &uriServerPercentClass
	}
	end, ok := p.span(i, n, class)
	if !ok {
		return false
	}
	server := end == n
	end, ok = p.span(i, n, &uriRegistryClass)
	if !ok {
		return false
	}
	registry := end == n
	if server {
		if end, ok := p.server(i, n); ok && end == n {
			p.authority = p.part(i, n)
			return true
		}
		p.userInfo, p.host = nil, nil
	}
	if registry {
		p.authority = p.part(i, n)
	}
	return registry
}

func (p *uriParser) server(i, n int) (end int, ok bool) {
	if end := p.until(i, n, "/?#@"); p.at(end, n, '@') {
		if !p.all(i, end, &uriUserClass) {
			return 0, false
		}
		p.userInfo = p.part(i, end)
		i = end + 1
	}
	if p.at(i, n, '[') {
		end := p.until(i+1, n, "/?#]")
		if end <= i+1 || !p.at(end, n, ']') {
			return 0, false
		}
		address := p.until(i+1, end, "%")
		if address == i+1 || !p.ipv6(i+1, address) || address < end && (address+1 == end || !p.all(address+1, end, &uriScopeClass)) {
			return 0, false
		}
		p.host = p.part(i, end+1)
		i = end + 1
	} else {
		end := p.ipv4Host(i, n)
		if end <= i {
			if end, ok = p.hostname(i, n); !ok {
				return 0, false
			}
		}
		i = end
	}
	if p.at(i, n, ':') {
		i++
		if end := p.until(i, n, "/"); end > i {
			if port, err := strconv.ParseInt(p.s[i:end], 10, 32); err != nil || port < 0 || !p.all(i, end, &uriDigitClass) {
				return 0, false
			}
			i = end
		}
	}
	return i, i == n
}

// ipv4 returns the end of an IPv4 address; strict asks that nothing follows.
func (p *uriParser) ipv4(i, n int, strict bool) (end int, ok bool) {
	m, _ := p.span(i, n, &uriIPv4Class)
	if m == i || strict && m != n {
		return 0, false
	}
	for k := range 4 {
		if k > 0 {
			if !p.at(i, m, '.') {
				return 0, false
			}
			i++
		}
		end, _ := p.span(i, m, &uriDigitClass)
		if end == i || end > i+9 {
			return 0, false
		}
		if v, err := strconv.Atoi(p.s[i:end]); err != nil || v > 255 {
			return 0, false
		}
		i = end
	}
	return i, i == m
}

func (p *uriParser) ipv4Host(i, n int) int {
	end, ok := p.ipv4(i, n, false)
	if !ok || end < n && p.s[end] != ':' {
		return -1
	}
	p.host = p.part(i, end)
	return end
}

func (p *uriParser) hostname(start, n int) (end int, ok bool) {
	i, label := start, -1
	for {
		end, _ := p.span(i, n, &uriAlphanumClass)
		if end == i {
			break
		}
		label = i
		i = end
		if end, _ = p.span(i, n, &uriLabelClass); end > i {
			if p.s[end-1] == '-' {
				return 0, false
			}
			i = end
		}
		if !p.at(i, n, '.') {
			break
		}
		if i++; i >= n {
			break
		}
	}
	if i < n && p.s[i] != ':' || label < 0 || label > start && !uriAlphaClass.has(p.s[label]) {
		return 0, false
	}
	p.host = p.part(start, i)
	return i, true
}

func (p *uriParser) ipv6(i, n int) bool {
	p.ipv6Bytes = 0
	compressed := false
	end, ok := p.hexSequence(i, n)
	if !ok {
		return false
	}
	switch {
	case end > i:
		i = end
		if p.at(i, n, ':') && p.at(i+1, n, ':') {
			compressed = true
			i, ok = p.afterZeros(i+2, n)
		} else if p.at(i, n, ':') {
			i, ok = p.ipv4(i+1, n, true)
			p.ipv6Bytes += 4
		}
	case p.at(i, n, ':') && p.at(i+1, n, ':'):
		compressed = true
		i, ok = p.afterZeros(i+2, n)
	}
	return ok && i == n && p.ipv6Bytes <= 16 && compressed == (p.ipv6Bytes < 16)
}

// afterZeros reads what stands behind the "::".
func (p *uriParser) afterZeros(i, n int) (end int, ok bool) {
	if i == n {
		return i, true
	}
	end, ok = p.hexSequence(i, n)
	if !ok {
		return 0, false
	}
	if end > i {
		i = end
		if !p.at(i, n, ':') {
			return i, true
		}
		i++
	}
	p.ipv6Bytes += 4
	return p.ipv4(i, n, true)
}

// hexSequence reads groups of hexadecimal digits parted by ":"; end is -1 if there is none, as at the beginning of an
// IPv4 address.
func (p *uriParser) hexSequence(i, n int) (end int, ok bool) {
	end, _ = p.span(i, n, &uriHexClass)
	if end == i || p.at(end, n, '.') {
		return -1, true
	}
	if end > i+4 {
		return 0, false
	}
	p.ipv6Bytes += 2
	i = end
	for p.at(i, n, ':') && !p.at(i+1, n, ':') {
		end, _ = p.span(i+1, n, &uriHexClass)
		if end == i+1 {
			return 0, false
		}
		if p.at(end, n, '.') {
			break
		}
		if end > i+5 {
			return 0, false
		}
		p.ipv6Bytes += 2
		i = end
	}
	return i, true
}
