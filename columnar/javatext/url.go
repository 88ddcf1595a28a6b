package javatext

import (
	"strings"

	"github.com/wstream/wstream/columnar/sparkerr"
)

const upperHex = "0123456789ABCDEF"

// URLEncode writes s in the form of application/x-www-form-urlencoded, as java.net.URLEncoder: letters, digits and
// ".-*_" stay, a space is "+", all others are %XX of their UTF-8.
func URLEncode(s string) string {
	s = javaString(s)
	out := make([]byte, 0, len(s)+len(s)/4)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case isASCIILetter(c), isASCIIDigit(c), c == '.', c == '-', c == '*', c == '_':
			out = append(out, c)
		case c == ' ':
			out = append(out, '+')
		default:
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(out)
}

// URLDecode is the reverse of URLEncode, as java.net.URLDecoder; bytes that are not UTF-8 become U+FFFD. A "%" without two
// hexadecimal digits behind it is CANNOT_DECODE_URL.
func URLDecode(s string) (string, error) {
	if !strings.ContainsAny(s, "%+") {
		return javaString(s), nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '+':
			out = append(out, ' ')
			i++
		case '%':
			v, ok := escapedByte(s[i:])
			if !ok {
				return "", sparkerr.New("CANNOT_DECODE_URL", "The provided URL cannot be decoded: %s. Please ensure that the URL is properly formatted and try again.", s)
			}
			out = append(out, v)
			i += 3
		default:
			out = append(out, c)
			i++
		}
	}
	return javaString(string(out)), nil
}

// escapedByte reads %XX. Java takes a plus for the first digit.
func escapedByte(s string) (byte, bool) {
	if len(s) < 3 || !isHexDigit(s[2]) || s[1] != '+' && !isHexDigit(s[1]) {
		return 0, false
	}
	v := baseDigit(s[2])
	if s[1] != '+' {
		v += baseDigit(s[1]) << 4
	}
	return byte(v), true
}

// ParseURL returns a part of a URL as parse_url(url, part): HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or
// USERINFO, undecoded. ok is false, for NULL, if the URL has no such part or there is no such name. A text that
// is no URI is INVALID_URL.
func ParseURL(url, part string) (value string, ok bool, err error) {
	u, isURI := parseURI(url)
	if !isURI {
		return "", false, sparkerr.New("INVALID_URL", "The url is invalid: %s. Use `try_parse_url` to tolerate invalid URL and return NULL instead.", url)
	}
	var p *string
	switch part {
	case "HOST":
		p = u.host
	case "PATH":
		p = u.path
	case "QUERY":
		p = u.query
	case "REF":
		p = u.fragment
	case "PROTOCOL":
		p = u.scheme
	case "AUTHORITY":
		p = u.authority
	case "USERINFO":
		p = u.userInfo
	case "FILE":
		switch {
		case u.query == nil:
			p = u.path
		case u.path == nil:
			return "null?" + *u.query, true, nil
		default:
			return *u.path + "?" + *u.query, true, nil
		}
	}
	if p == nil {
		return "", false, nil
	}
	return *p, true, nil
}

// URLQueryKey is the key of parse_url(url, 'QUERY', key), which Spark takes as a regular expression.
type URLQueryKey struct {
	plain   string
	pattern *Pattern
}

// CompileURLQueryKey prepares a key.
func CompileURLQueryKey(key string) (*URLQueryKey, error) {
	if !hasMeta(key) {
		return &URLQueryKey{plain: key}, nil
	}
	pattern, err := CompilePattern("(&|^)" + key + "=([^&]*)")
	if err != nil {
		return nil, err
	}
	return &URLQueryKey{pattern: pattern}, nil
}

// Value returns the value of the key in a query such as "a=1&b=2", undecoded.
func (k *URLQueryKey) Value(query string) (value string, ok bool) {
	if k.pattern != nil {
		m := k.pattern.Find(query)
		if m == nil {
			return "", false
		}
		return m.Group(2)
	}
	for from := 0; ; {
		i := strings.Index(query[from:], k.plain)
		if i < 0 {
			return "", false
		}
		i += from
		rest := query[i+len(k.plain):]
		if (i == 0 || query[i-1] == '&') && strings.HasPrefix(rest, "=") {
			value, _, _ = strings.Cut(rest[1:], "&")
			return value, true
		}
		if from = i + 1; from > len(query) {
			return "", false
		}
	}
}
