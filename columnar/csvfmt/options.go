package csvfmt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// UnescapedQuotes says what becomes of a quote within quotes that nothing escapes and no delimiter follows.
type UnescapedQuotes uint8

// The ways, by the names that the option has for them.
const (
	StopAtDelimiter    UnescapedQuotes = iota // the value goes to the next delimiter, quotes included
	StopAtClosingQuote                        // the quote is a character of the value
	BackToDelimiter                           // the value is read again as one without quotes
	SkipValue                                 // the value is null
	RaiseError                                // the read fails
)

// NoChar stands for no character where 0 stands for the default.
const NoChar rune = -1

// Options of a CSV source, sink or function, with Spark's names and defaults. Use ParseOptions for a value in
// which the defaults are set.
type Options struct {
	Mode               records.Mode
	CorruptColumn      string // columnNameOfCorruptRecord
	Sep                string // sep, delimiter
	Quote              rune   // 0 for none
	Escape             rune   // 0 for none
	EscapeEscape       rune   // charToEscapeQuoteEscaping; 0 for the escape, if that is not the quote; NoChar for none
	Comment            rune   // 0 for none
	Header             bool
	EnforceSchema      bool
	InferSchema        bool
	PreferDate         bool
	ColumnPruning      bool
	MultiLine          bool
	LineSep            string // "" for any of \n, \r\n and \r; \n in writing
	Encoding           string // "" for UTF-8
	IgnoreLeading      *bool  // ignoreLeadingWhiteSpace; false in reading and true in writing when nil
	IgnoreTrailing     *bool  // ignoreTrailingWhiteSpace
	NullValue          string
	EmptyValue         *string // "" in reading, `""` in writing when nil; set to "" without nullValue it tells an empty STRING from NULL
	NaNValue           string
	PositiveInf        string
	NegativeInf        string
	DateFormat         string
	TimestampFormat    string
	TimestampNTZFormat string
	TimeFormat         string
	DateTimeFallback   *bool
	TimeZone           string
	SessionZone        string
	Locale             string
	MaxColumns         int
	MaxChars           int // maxCharsPerColumn; -1 for no limit
	Unescaped          UnescapedQuotes
	QuoteAll           bool
	EscapeQuotes       bool
	SamplingRatio      float64

	nullValueGiven bool // nullValue is among the options
}

// ParseOptions reads options as users give them; names ignore case, and unknown names are left alone.
func ParseOptions(options map[string]string, sessionZone string) (Options, error) {
	o := Options{
		CorruptColumn: "_corrupt_record", Sep: ",", Quote: '"', Escape: '\\', EnforceSchema: true, PreferDate: true, ColumnPruning: true,
		NaNValue: "NaN", PositiveInf: "Inf", NegativeInf: "-Inf", Locale: "en-US", MaxColumns: 20480, MaxChars: -1, EscapeQuotes: true,
		SamplingRatio: 1, SessionZone: sessionZone,
	}
	given := false
	for name, text := range options {
		var err error
		optional := func(v **bool) error {
			*v = new(bool)
			return records.ParseBool(text, *v)
		}
		switch strings.ToLower(name) {
		case "mode":
			o.Mode, _ = records.ParseMode(text)
		case "columnnameofcorruptrecord":
			o.CorruptColumn = text
		case "sep":
			o.Sep, err = delimiter(text)
		case "delimiter":
			if _, ok := find(options, "sep"); !ok {
				o.Sep, err = delimiter(text)
			}
		case "quote":
			o.Quote, err = oneChar("quote", text)
		case "escape":
			o.Escape, err = oneChar("escape", text)
		case "chartoescapequoteescaping":
			if o.EscapeEscape, err = oneChar("charToEscapeQuoteEscaping", text); text == "\x00" {
				o.EscapeEscape = NoChar
			}
		case "comment":
			o.Comment, err = oneChar("comment", text)
		case "header":
			err = records.ParseBool(text, &o.Header)
		case "enforceschema":
			err = records.ParseBool(text, &o.EnforceSchema)
		case "inferschema":
			err = records.ParseBool(text, &o.InferSchema)
		case "preferdate":
			err = records.ParseBool(text, &o.PreferDate)
		case "columnpruning":
			err = records.ParseBool(text, &o.ColumnPruning)
		case "multiline":
			err = records.ParseBool(text, &o.MultiLine)
		case "linesep":
			switch n := len(utf16.Encode([]rune(text))); {
			case n == 0:
				err = fmt.Errorf("must not be an empty string")
			case n > 2:
				err = fmt.Errorf("can contain only 1 or 2 characters")
			}
			o.LineSep = text
		case "encoding":
			o.Encoding, given = text, true
		case "charset":
			if _, ok := find(options, "encoding"); !ok {
				o.Encoding, given = text, true
			}
		case "compression":
			err = records.CheckCodec(text)
		case "ignoreleadingwhitespace":
			err = optional(&o.IgnoreLeading)
		case "ignoretrailingwhitespace":
			err = optional(&o.IgnoreTrailing)
		case "nullvalue":
			o.NullValue, o.nullValueGiven = text, true
		case "emptyvalue":
			o.EmptyValue = &text
		case "nanvalue":
			o.NaNValue = text
		case "positiveinf":
			o.PositiveInf = text
		case "negativeinf":
			o.NegativeInf = text
		case "dateformat":
			o.DateFormat = text
		case "timestampformat":
			o.TimestampFormat = text
		case "timestampntzformat":
			o.TimestampNTZFormat = text
		case "timeformat":
			o.TimeFormat = text
		case "enabledatetimeparsingfallback":
			err = optional(&o.DateTimeFallback)
		case "timezone":
			o.TimeZone = text
		case "locale":
			o.Locale = text
		case "maxcolumns":
			o.MaxColumns, err = strconv.Atoi(text)
		case "maxcharspercolumn":
			o.MaxChars, err = strconv.Atoi(text)
		case "unescapedquotehandling":
			o.Unescaped, err = unescaped(text)
		case "quoteall":
			err = records.ParseBool(text, &o.QuoteAll)
		case "escapequotes":
			err = records.ParseBool(text, &o.EscapeQuotes)
		case "inputbuffersize":
			_, err = strconv.Atoi(text)
		case "samplingratio":
			o.SamplingRatio, err = strconv.ParseFloat(text, 64)
		}
		if err != nil {
			return o, fmt.Errorf("option %q: %w", name, err)
		}
	}
	if given {
		return o, checkCharset(o.Encoding)
	}
	return o, nil
}

// checkCharset refuses the names that Spark does not know; aliases are none of them.
func checkCharset(name string) error {
	switch strings.ToUpper(name) {
	case "US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32":
		return nil
	}
	return sparkerr.New("INVALID_PARAMETER_VALUE.CHARSET", "the option \"encoding\" expects one of the charsets US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16, UTF-32, but got %q", name)
}

// find looks an option up by its name in any case.
func find(options map[string]string, name string) (string, bool) {
	for k, v := range options {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return "", false
}

func unescaped(s string) (UnescapedQuotes, error) {
	for i, name := range [...]string{"STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER", "SKIP_VALUE", "RAISE_ERROR"} {
		if strings.EqualFold(s, name) {
			return UnescapedQuotes(i), nil
		}
	}
	return 0, fmt.Errorf("%q is none of STOP_AT_DELIMITER, STOP_AT_CLOSING_QUOTE, BACK_TO_DELIMITER, SKIP_VALUE, RAISE_ERROR", s)
}

// oneChar reads an option that is one character, or none for "off".
func oneChar(option, s string) (rune, error) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case s == "":
		return 0, nil
	case size != len(s) || r >= 0x10000:
		return 0, sparkerr.New("OPTION_VALUE_EXCEEDS_ONE_CHARACTER", "The value of %s cannot be more than one character, but got %s.", option, s)
	}
	return r, nil
}

// delimiter reads an option with backslash escapes.
func delimiter(s string) (string, error) {
	if s == "" {
		return "", sparkerr.New("INVALID_DELIMITER_VALUE.EMPTY_STRING", "Invalid value for delimiter. Delimiter cannot be empty string.")
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			_, size := utf8.DecodeRuneInString(s[i:])
			out.WriteString(s[i : i+size])
			i += size
			continue
		}
		if i+1 == len(s) {
			if len(s) == 1 {
				return "", sparkerr.New("INVALID_DELIMITER_VALUE.SINGLE_BACKSLASH", "Invalid value for delimiter. Single backslash is prohibited. It has special meaning as beginning of an escape sequence. To get the backslash character, pass a string with two backslashes as the delimiter.")
			}
			return "", sparkerr.New("INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER", "Invalid value for delimiter. Unsupported special character for delimiter: %s.", s[i:])
		}
		switch c := s[i+1]; c {
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case '"', '\'', '\\':
			out.WriteByte(c)
		default:
			if strings.HasPrefix(s[i:], `\u0000`) {
				out.WriteByte(0)
				i += 4
				break
			}
			return "", sparkerr.New("INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER", "Invalid value for delimiter. Unsupported special character for delimiter: %s.", s[i:i+2])
		}
		i += 2
	}
	return out.String(), nil
}

// Zone is the time zone of timestamps that name none.
func (o *Options) Zone() string { return records.Zone(o.TimeZone, o.SessionZone) }

func (o *Options) formats() (*records.Formats, error) {
	return records.NewFormats(records.FormatOptions{
		TimeZone: o.Zone(), Locale: o.Locale, DateFormat: o.DateFormat, TimestampFormat: o.TimestampFormat,
		TimestampNTZFormat: o.TimestampNTZFormat, TimeFormat: o.TimeFormat, Fallback: o.DateTimeFallback,
	})
}

// or is *v, or a default.
func or[T any](v *T, d T) T {
	if v == nil {
		return d
	}
	return *v
}

// OptionNames lists the options that mean something to the CSV format.
func OptionNames() []string {
	return []string{
		"mode", "columnNameOfCorruptRecord", "sep", "delimiter", "quote", "escape", "charToEscapeQuoteEscaping", "comment", "header",
		"enforceSchema", "inferSchema", "preferDate", "columnPruning", "multiLine", "lineSep", "encoding", "charset", "ignoreLeadingWhiteSpace",
		"ignoreTrailingWhiteSpace", "nullValue", "emptyValue", "nanValue", "positiveInf", "negativeInf", "dateFormat", "timestampFormat",
		"timestampNTZFormat", "timeFormat", "enableDateTimeParsingFallback", "timeZone", "locale", "maxColumns", "maxCharsPerColumn",
		"unescapedQuoteHandling", "quoteAll", "escapeQuotes", "samplingRatio", "compression",
	}
}
