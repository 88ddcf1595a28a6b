package expr

import (
	"strings"
	"unicode"
)

// sentences are the words of each sentence of a text.
func sentences(s string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	endWord := func() {
		if word.Len() > 0 {
			words = append(words, strings.Trim(word.String(), "'"))
			word.Reset()
		}
	}
	endSentence := func() {
		endWord()
		if len(words) > 0 {
			out = append(out, words)
			words = nil
		}
	}
	runes := []rune(s)
	for i, r := range runes {
		next := rune(' ')
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' && word.Len() > 0:
			word.WriteRune(r)
		case (r == '.' || r == '!' || r == '?') && (unicode.IsSpace(next) || i+1 == len(runes)):
			endSentence()
		case r == '.' && word.Len() > 0 && (unicode.IsLetter(next) || unicode.IsDigit(next)):
			word.WriteRune(r)
		default:
			endWord()
		}
	}
	endSentence()
	return out
}
