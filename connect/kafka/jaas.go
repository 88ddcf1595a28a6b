package kafka

import (
	"errors"
	"fmt"
	"strings"
)

// login is one entry of a JAAS configuration, `Module required name="value" …;`.
type login struct {
	module string
	values map[string]string
}

// parseJAAS reads the option sasl.jaas.config: exactly one entry.
func parseJAAS(text string) (login, error) {
	l := login{values: map[string]string{}}
	p := jaasText(text)
	var err error
	if l.module, err = p.word(); err != nil {
		return l, err
	}
	if l.module == "" {
		return l, errors.New("it is empty; expected a login module, required, and its options")
	}
	flag, err := p.word()
	if err != nil {
		return l, err
	}
	switch strings.ToLower(flag) {
	case "required", "requisite", "sufficient", "optional":
	default:
		return l, fmt.Errorf("found %q after the login module, expected required", flag)
	}
	for {
		if p.take(';') {
			break
		}
		name, err := p.word()
		if err != nil {
			return l, err
		}
		if name == "" {
			return l, errors.New("the semicolon at the end is missing")
		}
		if !p.take('=') {
			return l, fmt.Errorf("there is no = after %q", name)
		}
		if l.values[name], err = p.word(); err != nil {
			return l, err
		}
	}
	if p.space(); p != "" {
		return l, errors.New("it has more than one entry")
	}
	return l, nil
}

// name is the module without its package.
func (l login) name() string { return l.module[strings.LastIndexByte(l.module, '.')+1:] }

// jaasText is what is left to read.
type jaasText string

func (p *jaasText) space() { *p = jaasText(strings.TrimLeft(string(*p), " \t\r\n")) }

func (p *jaasText) take(c byte) bool {
	p.space()
	if *p == "" || (*p)[0] != c {
		return false
	}
	*p = (*p)[1:]
	return true
}

// word is a quoted text, or a run of characters up to a space, = or ;.
func (p *jaasText) word() (string, error) {
	p.space()
	s := string(*p)
	if s == "" {
		return "", nil
	}
	if q := s[0]; q == '"' || q == '\'' {
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '\\' && i+1 < len(s):
				i++
				b.WriteByte(s[i])
			case s[i] == q:
				*p = jaasText(s[i+1:])
				return b.String(), nil
			default:
				b.WriteByte(s[i])
			}
		}
		return "", errors.New("a quotation mark is missing") // the text may hold a password
	}
	n := strings.IndexAny(s, " \t\r\n=;")
	if n < 0 {
		n = len(s)
	}
	*p = jaasText(s[n:])
	return s[:n], nil
}
