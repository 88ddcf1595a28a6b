package sql

// tokenKind is the sort of a token.
type tokenKind uint8

const (
	tokEOF       tokenKind = iota
	tokWord                // an unquoted word; word is its keyword, if it is one that the parser knows
	tokQuoted              // a name in back quotes; value is the name
	tokString              // a string; value is its text with escapes resolved
	tokNumber              // a number with its suffix
	tokOp                  // an operator or a punctuation mark
	tokHintStart           // /*+
	tokHintEnd             // */
	tokBad                 // a character that begins no token; value says why, if there is more to say
)

// token is one token of a statement.
type token struct {
	kind  tokenKind
	text  string // as written
	word  string // of tokWord: the keyword in upper case, or "" for any other word
	value string // of tokString and tokQuoted
	span  Span
}
