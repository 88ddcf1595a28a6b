package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// maxExpected is how many expected things a message names.
const maxExpected = 6

// maxShown is how many characters of a found token a message shows.
const maxShown = 40

// syntaxError makes the error of the failure that came furthest: where it is, what stands there,
// what should, and the keyword that was perhaps meant.
func (p *parser) syntaxError() error {
	t := &p.toks[p.far.at]
	if t.kind == tokWord && t.word == "" && !asciiWord(t.text) {
		return invalidIdentifier(t.text, t.span)
	}
	var b strings.Builder
	b.WriteString("Syntax error at or near ")
	if t.kind == tokEOF {
		b.WriteString("end of input")
	} else {
		b.WriteString("'" + shorten(t.text) + "'")
	}
	switch {
	case t.kind == tokBad && t.value != "":
		b.WriteString(": " + t.value)
	case len(p.far.expected) > 0:
		b.WriteString(": expected " + orList(p.far.expected))
	}
	hint, misread := p.typo()
	if misread != "" {
		b.WriteString(" ('" + misread + "' before it was read as a name)")
	}
	if hint == "" {
		b.WriteByte('.') // the suggestion follows otherwise
	}
	e := sparkerr.At(t.span.Line, t.span.Col, "PARSE_SYNTAX_ERROR", "%s", b.String())
	if hint != "" {
		e = e.WithSuggestion(hint)
	}
	return e
}

// typo looks for a misspelt keyword: the found token itself, or the name before it, which is then
// returned too.
func (p *parser) typo() (hint, misread string) {
	t := &p.toks[p.far.at]
	if t.kind == tokWord && t.word == "" {
		if k := nearest(t.text, wordsOf(p.far.expected), 2); k != "" {
			return k, ""
		}
		if k := nearest(t.text, clauseWords(), 1); k != "" {
			return k, ""
		}
	}
	if p.far.at > 0 {
		prev := &p.toks[p.far.at-1]
		if prev.kind == tokWord && prev.word == "" {
			if k := nearest(prev.text, clauseWords(), 1); k != "" {
				return k, prev.text
			}
		}
	}
	return "", ""
}

// wordsOf are the keywords among the expected things.
func wordsOf(expected []string) []string {
	var out []string
	for _, e := range expected {
		if e != "" && e[0] >= 'A' && e[0] <= 'Z' {
			out = append(out, e)
		}
	}
	return out
}

// nearest is the word that is fewest edits away from s, at most limit, or one if s is short; or "".
func nearest(s string, words []string, limit int) string {
	s = strings.ToUpper(s)
	if len(s) < 3 {
		return ""
	}
	if len(s) < 6 {
		limit = 1
	}
	best := ""
	for _, w := range words {
		if d := editDistance(s, w); d > 0 && d <= limit {
			best, limit = w, d-1
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours.
func editDistance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}

// orList writes "a", "a or b", "a, b or c".
func orList(items []string) string {
	if len(items) > maxExpected {
		items = append(append([]string(nil), items[:maxExpected]...), "something else")
	}
	if len(items) == 1 {
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " or " + items[len(items)-1]
}

// shorten cuts a long token.
func shorten(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	r := []rune(s)
	return string(r[:maxShown]) + "…"
}

// asciiWord tells whether a word has the letters that an unquoted identifier may have.
func asciiWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isWordByte(s[i]) {
			return false
		}
	}
	return true
}

// invalidIdentifier is the error of a name that needs back quotes.
func invalidIdentifier(name string, at Span) *sparkerr.Error {
	return sparkerr.At(at.Line, at.Col, "INVALID_IDENTIFIER",
		"The unquoted identifier %s is invalid and must be back quoted as: `%s`.\n"+
			"Unquoted identifiers can only contain ASCII letters ('a' - 'z', 'A' - 'Z'), digits ('0' - '9'), and underbar ('_').\n"+
			"Unquoted identifiers must also not start with a digit.\n"+
			"Different data sources and meta stores may impose additional restrictions on valid identifiers.", name, name)
}
