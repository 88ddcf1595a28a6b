package javatext

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// Pattern is a compiled regular expression of Java's syntax and meaning, as of java.util.regex in JDK 17. It works on
// UTF-8; positions are in bytes unless said otherwise. Bytes that are not UTF-8 are taken for U+FFFD.
//
// Canonical equivalence and characters by name are left out. A pattern without references to groups takes time in
// proportion to the length of the text, times that of the pattern; one with such references may take time that
// grows exponentially, as in Java.
type Pattern struct {
	source   string
	prog     *regexProgram
	names    map[string]int
	matchers sync.Pool
}

// CompilePattern compiles a regular expression. The error is a *PatternSyntaxError.
func CompilePattern(source string) (*Pattern, error) {
	syntax, root, err := parseRegex(source)
	if err != nil {
		return nil, err
	}
	p := &Pattern{source: source, prog: compileRegex(root, syntax.groups), names: syntax.names}
	if p.prog.tooLarge {
		return nil, &PatternSyntaxError{Pattern: source, Description: "Pattern too large", Index: -1}
	}
	return p, nil
}

// PatternError makes INVALID_PARAMETER_VALUE.PATTERN of what CompilePattern refused. function is the SQL function.
func PatternError(function, source string, cause error) error {
	return sparkerr.New("INVALID_PARAMETER_VALUE.PATTERN", "The value of parameter(s) `regexp` in `%s` is invalid: '%s'.", function, source).WithCause(cause)
}

// String returns the regular expression.
func (p *Pattern) String() string { return p.source }

// GroupCount returns the number of capturing groups, without the whole match.
func (p *Pattern) GroupCount() int { return p.prog.groups - 1 }

// CheckGroup refuses a group index that the pattern does not have (INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX).
// function is the SQL function.
func (p *Pattern) CheckGroup(function string, index int) error {
	if index >= 0 && index <= p.GroupCount() {
		return nil
	}
	return sparkerr.New("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX",
		"The value of parameter(s) `idx` in `%s` is invalid: Expects group index between 0 and %d, but got %d.", function, p.GroupCount(), index)
}

// matcher returns a matcher of s, to be given back to release.
func (p *Pattern) matcher(s string) *regexMatcher {
	m, ok := p.matchers.Get().(*regexMatcher)
	if !ok {
		m = &regexMatcher{}
	}
	if !utf8.ValidString(s) {
		s = javaString(s)
	}
	m.reset(p.prog, s)
	return m
}

func (p *Pattern) release(m *regexMatcher) {
	m.s = ""
	p.matchers.Put(m)
}

// next finds the first match, or the one after the last.
func (m *regexMatcher) next(first bool) bool {
	from := 0
	if !first {
		from = m.caps[1]
		m.lastEnd = from
		if from == m.caps[0] {
			// Behind an empty match the search goes on at the next character.
			if from >= len(m.s) {
				return false
			}
			_, n := utf8.DecodeRuneInString(m.s[from:])
			from += n
		}
	}
	if len(m.failed) > 0 {
		clear(m.failed)
	}
	m.steps = 0
	return m.search(from)
}

// group returns the text of a group of the match.
func (m *regexMatcher) group(i int) (text string, ok bool) {
	from, to := m.caps[2*i], m.caps[2*i+1]
	if from < 0 || to < 0 {
		return "", false
	}
	return m.s[from:to], true
}

// RLike tells whether the pattern matches anywhere in s.
func (p *Pattern) RLike(s string) bool {
	m := p.matcher(s)
	ok := m.next(true)
	p.release(m)
	return ok
}

// Match is a match of a pattern.
type Match struct {
	text string
	caps []int
}

// Find returns the first match in s, or nil.
func (p *Pattern) Find(s string) *Match {
	m := p.matcher(s)
	defer p.release(m)
	if !m.next(true) {
		return nil
	}
	return &Match{m.s, append([]int(nil), m.caps...)}
}

// Group returns the text of a group, 0 for the whole match. ok is false if the group took no part in the match.
func (m *Match) Group(i int) (text string, ok bool) {
	from, to := m.caps[2*i], m.caps[2*i+1]
	if from < 0 || to < 0 {
		return "", false
	}
	return m.text[from:to], true
}

// Start and End return where the match begins and ends, in bytes.
func (m *Match) Start() int { return m.caps[0] }

// End returns where the match ends, in bytes.
func (m *Match) End() int { return m.caps[1] }

// RegexpExtract returns a group of the first match, "" if there is no match or the group took no part in it. The index must
// be one that CheckGroup allows.
func (p *Pattern) RegexpExtract(s string, index int) string {
	m := p.matcher(s)
	defer p.release(m)
	if !m.next(true) {
		return ""
	}
	text, _ := m.group(index)
	return text
}

// AppendExtractAll appends the group of each match, "" where it took no part, as regexp_extract_all. The index must be one
// that CheckGroup allows.
func (p *Pattern) AppendExtractAll(dst []string, s string, index int) []string {
	m := p.matcher(s)
	defer p.release(m)
	for ok := m.next(true); ok; ok = m.next(false) {
		text, _ := m.group(index)
		dst = append(dst, text)
	}
	return dst
}

// RegexpSubstr returns the first match.
func (p *Pattern) RegexpSubstr(s string) (text string, ok bool) {
	m := p.matcher(s)
	defer p.release(m)
	if !m.next(true) {
		return "", false
	}
	text, ok = m.group(0)
	// Spark takes the empty match for none.
	return text, ok && text != ""
}

// RegexpCount returns the number of matches.
func (p *Pattern) RegexpCount(s string) int {
	m := p.matcher(s)
	defer p.release(m)
	n := 0
	for ok := m.next(true); ok; ok = m.next(false) {
		n++
	}
	return n
}

// RegexpInstr returns where the first match begins, from 1 and in units of UTF-16 as Spark counts here, or 0.
func (p *Pattern) RegexpInstr(s string) int {
	m := p.matcher(s)
	defer p.release(m)
	if !m.next(true) {
		return 0
	}
	return utf16Length(m.s[:m.caps[0]]) + 1
}

// utf16Length returns the length of valid UTF-8 in units of UTF-16.
func utf16Length(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b < 0x80 || b >= 0xc0 && b < 0xf0:
			n++
		case b >= 0xf0:
			n += 2
		}
	}
	return n
}

// AppendSplit appends the parts of s between matches, as split(s, regex, limit): at most limit parts if it is
// positive, and empty ones at the end stay. An empty regular expression splits into characters.
func (p *Pattern) AppendSplit(dst []string, s string, limit int) []string {
	if p.source == "" && s != "" {
		return appendCharacters(dst, s, limit)
	}
	m := p.matcher(s)
	defer p.release(m)
	from, parts := 0, 0
	for ok := m.next(true); ok; ok = m.next(false) {
		if limit > 0 && parts == limit-1 {
			break
		}
		start, end := m.caps[0], m.caps[1]
		if start == 0 && end == 0 {
			continue // no empty part in front of an empty match
		}
		dst = append(dst, m.s[from:start])
		parts++
		from = end
	}
	return append(dst, m.s[from:])
}

func appendCharacters(dst []string, s string, limit int) []string {
	for n := 1; len(s) > 0; n++ {
		k := min(CharLen(s[0]), len(s))
		if n == limit {
			k = len(s)
		}
		dst = append(dst, s[:k])
		s = s[k:]
	}
	return dst
}

// hasMeta tells whether a text means something else than itself in a pattern.
func hasMeta(s string) bool { return strings.ContainsAny(s, `\^$.|?*+()[]{}`) }
