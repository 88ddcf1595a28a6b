package jsontoken

// Token is a kind of token.
type Token uint8

// The tokens. None stands for the end of the text, and for a scanner that has not begun.
const (
	None Token = iota
	StartObject
	EndObject
	StartArray
	EndArray
	FieldName
	String
	Int
	Float
	True
	False
	Null
)

// String names the token as error texts of Spark do.
func (t Token) String() string {
	return [...]string{
		"NOT_AVAILABLE", "START_OBJECT", "END_OBJECT", "START_ARRAY", "END_ARRAY", "FIELD_NAME",
		"VALUE_STRING", "VALUE_NUMBER_INT", "VALUE_NUMBER_FLOAT", "VALUE_TRUE", "VALUE_FALSE", "VALUE_NULL",
	}[t]
}

// Features are the deviations from JSON that a scanner allows, and its limits.
type Features struct {
	Comments            bool // /* … */ and // …
	UnquotedNames       bool // {a:1}
	SingleQuotes        bool // {'a':'x'}
	LeadingZeros        bool // 007
	NonNumericNumbers   bool // NaN, Infinity, -INF …
	BackslashAnything   bool // \q is q
	ControlCharacters   bool // raw control characters within strings
	MaxDepth            int  // levels of objects and arrays
	MaxNumberLen        int  // characters of a number
	MaxStringLen        int  // bytes of a string; 0 for no limit
	ReplacementDecoding bool // the text came through a character decoder: bytes that are no UTF-8 stand for U+FFFD
}

// DefaultFeatures are Spark's.
func DefaultFeatures() Features {
	return Features{SingleQuotes: true, NonNumericNumbers: true, MaxDepth: 1000, MaxNumberLen: 1000}
}

// SyntaxError says what is wrong with a text, and where.
type SyntaxError struct {
	Offset int // bytes before the fault
	Text   string
}

// Error is the text with the offset.
func (e *SyntaxError) Error() string { return e.Text }
