package sql

import "strings"

// Piece is one statement of a text of several.
type Piece struct {
	Text   string // without the semicolon, and without blanks around it
	Offset int    // byte offset of Text in the whole text
	Line   int    // line of its first character in the whole text, from 1
	Col    int    // column of its first character, from 1
}

// Split cuts a text at its semicolons, those in strings, names and comments left aside. Statements
// that hold nothing but blanks and comments are left out.
func Split(src string) []Piece {
	toks, comment := lex(src)
	var out []Piece
	first := 0
	for i, t := range toks {
		if t.kind != tokEOF && !t.isOp(";") {
			continue
		}
		end := t.span.Offset
		if first < i || t.kind == tokEOF && comment != nil {
			start := toks[first].span
			if first == i {
				start = *comment
			}
			text := strings.TrimRight(src[start.Offset:end], " \t\r\n")
			out = append(out, Piece{Text: text, Offset: start.Offset, Line: start.Line, Col: start.Col})
		}
		first = i + 1
	}
	return out
}
