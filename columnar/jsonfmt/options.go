package jsonfmt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar/jsonfmt/jsontoken"
	"github.com/wstream/wstream/columnar/records"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// Options of a JSON source, sink or function, with Spark's names and defaults. Use ParseOptions for
// a value in which the defaults are set.
type Options struct {
	Mode                records.Mode
	CorruptColumn       string // columnNameOfCorruptRecord
	MultiLine           bool   // a file is one document
	LineSep             string // "" for any of \n, \r\n and \r
	Encoding            string // "" for UTF-8 taken byte by byte
	TimeZone            string // of timestamps without a zone; "" for the session's
	Locale              string // BCP 47, "en-US"
	DateFormat          string // "" for what CAST takes
	TimestampFormat     string // "" for what CAST takes
	TimestampNTZFormat  string // "" for what CAST takes
	TimeFormat          string // "" for what CAST takes
	DateTimeFallback    *bool  // enableDateTimeParsingFallback, nil when not given
	Features            jsontoken.Features
	PrimitivesAsString  bool    // inference: all scalars are STRING
	PrefersDecimal      bool    // inference: fractions are DECIMAL
	InferTimestamp      bool    // inference: strings that read as timestamps are
	DropFieldIfAllNull  bool    // inference: no column for what is null or empty everywhere
	SamplingRatio       float64 // inference: share of the records that is looked at
	IgnoreNullFields    bool    // writing: null fields are left out
	Pretty              bool    // writing: one field a line
	WriteNonASCIIAsCode bool    // writing: \uXXXX beyond ASCII
	SingleVariantColumn string  // the whole record as one VARIANT column of that name

	// FromJSON selects the rules of the function from_json: text of other values in a STRING is printed anew,
	// a root array is no list of rows.
	FromJSON bool
	// SessionZone is the session's time zone, which TimeZone goes before.
	SessionZone string
}

// ParseOptions reads options as users give them; names ignore case. Unknown names are left alone, for
// the caller to warn of: see KnownOption.
func ParseOptions(options map[string]string, sessionZone string) (Options, error) {
	o := Options{
		CorruptColumn: "_corrupt_record", Locale: "en-US", Features: jsontoken.DefaultFeatures(),
		SamplingRatio: 1, IgnoreNullFields: true, SessionZone: sessionZone,
	}
	given := false
	for name, text := range options {
		var err error
		switch strings.ToLower(name) {
		case "mode":
			o.Mode, _ = records.ParseMode(text)
		case "columnnameofcorruptrecord":
			o.CorruptColumn = text
		case "multiline":
			err = records.ParseBool(text, &o.MultiLine)
		case "linesep":
			if text == "" {
				err = fmt.Errorf("option %q must not be an empty string", name)
			}
			o.LineSep = text
		case "encoding":
			o.Encoding, given = text, true
		case "charset":
			if o.Encoding == "" {
				o.Encoding, given = text, true
			}
		case "compression":
			err = records.CheckCodec(text)
		case "timezone":
			o.TimeZone = text
		case "locale":
			o.Locale = text
		case "dateformat":
			o.DateFormat = text
		case "timestampformat":
			o.TimestampFormat = text
		case "timestampntzformat":
			o.TimestampNTZFormat = text
		case "timeformat":
			o.TimeFormat = text
		case "enabledatetimeparsingfallback":
			o.DateTimeFallback = new(bool)
			err = records.ParseBool(text, o.DateTimeFallback)
		case "allowcomments":
			err = records.ParseBool(text, &o.Features.Comments)
		case "allowunquotedfieldnames":
			err = records.ParseBool(text, &o.Features.UnquotedNames)
		case "allowsinglequotes":
			err = records.ParseBool(text, &o.Features.SingleQuotes)
		case "allownumericleadingzeros":
			err = records.ParseBool(text, &o.Features.LeadingZeros)
		case "allownonnumericnumbers":
			err = records.ParseBool(text, &o.Features.NonNumericNumbers)
		case "allowbackslashescapinganycharacter":
			err = records.ParseBool(text, &o.Features.BackslashAnything)
		case "allowunquotedcontrolchars":
			err = records.ParseBool(text, &o.Features.ControlCharacters)
		case "maxnestingdepth":
			o.Features.MaxDepth, err = strconv.Atoi(text)
		case "maxnumlen":
			o.Features.MaxNumberLen, err = strconv.Atoi(text)
		case "maxstringlen":
			o.Features.MaxStringLen, err = strconv.Atoi(text)
		case "primitivesasstring":
			err = records.ParseBool(text, &o.PrimitivesAsString)
		case "prefersdecimal":
			err = records.ParseBool(text, &o.PrefersDecimal)
		case "infertimestamp":
			err = records.ParseBool(text, &o.InferTimestamp)
		case "dropfieldifallnull":
			err = records.ParseBool(text, &o.DropFieldIfAllNull)
		case "samplingratio":
			o.SamplingRatio, err = strconv.ParseFloat(text, 64)
		case "ignorenullfields":
			err = records.ParseBool(text, &o.IgnoreNullFields)
		case "pretty":
			err = records.ParseBool(text, &o.Pretty)
		case "writenonasciicharacterascodepoint":
			err = records.ParseBool(text, &o.WriteNonASCIIAsCode)
		case "singlevariantcolumn":
			o.SingleVariantColumn = text
		}
		if err != nil {
			return o, fmt.Errorf("option %q: %w", name, err)
		}
	}
	if given {
		utf8, known := knownCharset(o.Encoding)
		if !known {
			return o, sparkerr.New("INVALID_PARAMETER_VALUE.CHARSET", "the option \"encoding\" expects one of the charsets US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE, UTF-16, UTF-32, but got %q", o.Encoding)
		}
		if !o.MultiLine && !utf8 {
			switch strings.ToUpper(o.Encoding) {
			case "UTF-16", "UTF-32":
				return o, fmt.Errorf("the %s encoding must name its byte order when multiLine is off", o.Encoding)
			}
			if o.LineSep == "" {
				return o, fmt.Errorf("the lineSep option must be specified for the %s encoding", o.Encoding)
			}
		}
	}
	return o, nil
}

// Zone is the time zone of timestamps that name none.
func (o *Options) Zone() string { return records.Zone(o.TimeZone, o.SessionZone) }

// formats compiles what the options say about texts of dates and times.
func (o *Options) formats() (*records.Formats, error) {
	return records.NewFormats(records.FormatOptions{
		TimeZone: o.Zone(), Locale: o.Locale, DateFormat: o.DateFormat, TimestampFormat: o.TimestampFormat,
		TimestampNTZFormat: o.TimestampNTZFormat, TimeFormat: o.TimeFormat, Fallback: o.DateTimeFallback, EpochDays: true,
	})
}

// knownCharset tells the charsets that Spark knows, and which of them is UTF-8.
func knownCharset(name string) (utf8, known bool) {
	switch strings.ToUpper(name) {
	case "UTF-8":
		return true, true
	case "US-ASCII", "ISO-8859-1", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32":
		return false, true
	}
	return false, false
}

// optionNames are the options that mean something to the JSON format, in any case.
var optionNames = [...]string{
	"mode", "columnNameOfCorruptRecord", "multiLine", "lineSep", "encoding", "charset", "timeZone", "locale", "dateFormat",
	"timestampFormat", "timestampNTZFormat", "timeFormat", "enableDateTimeParsingFallback", "allowComments", "allowUnquotedFieldNames",
	"allowSingleQuotes", "allowNumericLeadingZeros", "allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter",
	"allowUnquotedControlChars", "maxNestingDepth", "maxNumLen", "maxStringLen", "primitivesAsString", "prefersDecimal", "inferTimestamp",
	"dropFieldIfAllNull", "samplingRatio", "ignoreNullFields", "pretty", "writeNonAsciiCharacterAsCodePoint", "singleVariantColumn", "compression",
}

// OptionNames lists the options that mean something to the JSON format.
func OptionNames() []string { return optionNames[:] }
