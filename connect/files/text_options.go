package files

import "github.com/wstream/wstream/engine/connector"

// textOptions documents the options of JSON, CSV and text files by name; they have Spark's names, defaults and meaning.
func textOptions() []connector.Option {
	return []connector.Option{
		{Name: "mode", Type: "PERMISSIVE | DROPMALFORMED | FAILFAST", Default: "PERMISSIVE", Doc: "What becomes of a broken record: PERMISSIVE keeps what can be read, DROPMALFORMED drops it, FAILFAST ends the query."},
		{Name: "columnNameOfCorruptRecord", Type: "column", Default: "_corrupt_record", Doc: "The STRING column, if the schema has it, that takes the text of broken records."},
		{Name: "multiLine", Type: "boolean", Default: "false", Doc: "JSON: whether a file is one document rather than a record a line. CSV: whether quoted fields may contain the ends of lines."},
		{Name: "lineSep", Type: "text", Doc: "What ends a line; \\n, \\r\\n and \\r unless set."},
		{Name: "encoding", Type: "text", Default: "UTF-8", Doc: "The character set: US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16LE, UTF-16BE or UTF-32."},
		{Name: "charset", Type: "text", Doc: "Another name of encoding."},
		{Name: "timeZone", Type: "text", Doc: "The time zone of timestamps that name none; the session's unless set."},
		{Name: "locale", Type: "text", Default: "en-US", Doc: "The language of names in dates and times."},
		{Name: "dateFormat", Type: "pattern", Doc: "The pattern of dates, when they are not what CAST takes."},
		{Name: "timestampFormat", Type: "pattern", Doc: "The pattern of timestamps, when they are not what CAST takes."},
		{Name: "timestampNTZFormat", Type: "pattern", Doc: "The pattern of timestamps without time zone, when they are not what CAST takes."},
		{Name: "timeFormat", Type: "pattern", Doc: "The pattern of times of day, when they are not what CAST takes."},
		{Name: "enableDateTimeParsingFallback", Type: "boolean", Doc: "Whether a date or timestamp that does not fit its pattern is tried by what CAST takes; so it is unless a pattern is given."},
		{Name: "allowComments", Type: "boolean", Default: "false", Doc: "Whether comments of Java and C++ may stand in JSON."},
		{Name: "allowUnquotedFieldNames", Type: "boolean", Default: "false", Doc: "Whether names of fields may stand without quotes."},
		{Name: "allowSingleQuotes", Type: "boolean", Default: "true", Doc: "Whether single quotes are quotes as well."},
		{Name: "allowNumericLeadingZeros", Type: "boolean", Default: "false", Doc: "Whether numbers may begin with zeros."},
		{Name: "allowNonNumericNumbers", Type: "boolean", Default: "true", Doc: "Whether NaN, Infinity and INF are numbers."},
		{Name: "allowBackslashEscapingAnyCharacter", Type: "boolean", Default: "false", Doc: "Whether a backslash may stand before any character."},
		{Name: "allowUnquotedControlChars", Type: "boolean", Default: "false", Doc: "Whether strings may contain control characters."},
		{Name: "maxNestingDepth", Type: "number", Default: "1000", Doc: "How deep objects and arrays may be nested."},
		{Name: "maxNumLen", Type: "number", Default: "1000", Doc: "How many characters a number may have."},
		{Name: "maxStringLen", Type: "number", Doc: "Taken for the sake of pipelines from Spark: strings may be as long as they fit into a column."},
		{Name: "primitivesAsString", Type: "boolean", Default: "false", Doc: "Static, without a schema: whether all scalars are STRING."},
		{Name: "prefersDecimal", Type: "boolean", Default: "false", Doc: "Static, without a schema: whether fractions are DECIMAL where they fit."},
		{Name: "inferTimestamp", Type: "boolean", Default: "false", Doc: "Static, without a schema: whether strings that read as timestamps are."},
		{Name: "dropFieldIfAllNull", Type: "boolean", Default: "false", Doc: "Static, without a schema: whether fields without any value are left out."},
		{Name: "samplingRatio", Type: "number", Default: "1.0", Doc: "Static, without a schema: the share of the records that is looked at."},
		{Name: "ignoreNullFields", Type: "boolean", Default: "true", Doc: "Writing: whether fields that are null are left out."},
		{Name: "pretty", Type: "boolean", Default: "false", Doc: "Writing: whether each field has a line of its own."},
		{Name: "writeNonAsciiCharacterAsCodePoint", Type: "boolean", Default: "false", Doc: "Writing: whether characters beyond ASCII are written as \\uXXXX."},
		{Name: "singleVariantColumn", Type: "column", Doc: "Reading: one VARIANT column of this name holds the whole record."},
		{Name: "compression", Type: "none | gzip | zstd | snappy | lz4 | deflate", Default: "none", Doc: "Writing: how files are compressed. Reading goes by the ending of a file's name."},
		{Name: "sep", Type: "text", Default: ",", Doc: "What separates columns; one character or more."},
		{Name: "delimiter", Type: "text", Doc: "Another name of sep."},
		{Name: "quote", Type: "character", Default: `"`, Doc: "What stands around fields that contain separators; nothing turns quotes off."},
		{Name: "escape", Type: "character", Default: `\`, Doc: "What stands before a quote within quotes."},
		{Name: "charToEscapeQuoteEscaping", Type: "character", Doc: "What stands before the escape character; the escape character itself where quote and escape differ."},
		{Name: "comment", Type: "character", Doc: "Lines that begin with it are passed over."},
		{Name: "header", Type: "boolean", Default: "false", Doc: "Whether the first line of a file has the names of the columns."},
		{Name: "enforceSchema", Type: "boolean", Default: "true", Doc: "Whether the schema counts whatever the header says; with false a header with other names ends the query."},
		{Name: "inferSchema", Type: "boolean", Default: "false", Doc: "Static, without a schema: whether types are found from the values; all columns are STRING otherwise."},
		{Name: "preferDate", Type: "boolean", Default: "true", Doc: "Static, with inferSchema: whether what reads as a date is a DATE."},
		{Name: "columnPruning", Type: "boolean", Default: "true", Doc: "Whether columns that nobody asks for are not parsed, so that faults in them are not seen."},
		{Name: "ignoreLeadingWhiteSpace", Type: "boolean", Default: "false", Doc: "Whether blanks before a value are dropped; true where files are written."},
		{Name: "ignoreTrailingWhiteSpace", Type: "boolean", Default: "false", Doc: "Whether blanks behind a value are dropped; true where files are written."},
		{Name: "nullValue", Type: "text", Doc: "The text that is read and written as NULL; the empty one unless set."},
		{Name: "emptyValue", Type: "text", Doc: "Reading: what a quoted empty field holds; set to nothing it is an empty text, by default it is NULL as nullValue is nothing. Writing: how an empty text is written."},
		{Name: "nanValue", Type: "text", Default: "NaN", Doc: "How NaN is read and written."},
		{Name: "positiveInf", Type: "text", Default: "Inf", Doc: "How infinity is read and written."},
		{Name: "negativeInf", Type: "text", Default: "-Inf", Doc: "How negative infinity is read and written."},
		{Name: "maxColumns", Type: "number", Default: "20480", Doc: "How many columns a record may have."},
		{Name: "maxCharsPerColumn", Type: "number", Default: "-1", Doc: "How many characters a value may have; -1 is no limit."},
		{Name: "unescapedQuoteHandling", Type: "STOP_AT_DELIMITER | STOP_AT_CLOSING_QUOTE | BACK_TO_DELIMITER | SKIP_VALUE | RAISE_ERROR", Default: "STOP_AT_DELIMITER", Doc: "What becomes of a value with a quote where none should be."},
		{Name: "quoteAll", Type: "boolean", Default: "false", Doc: "Writing: whether all values are quoted, not only those that must be."},
		{Name: "escapeQuotes", Type: "boolean", Default: "true", Doc: "Writing: whether values with a quote in them are quoted."},
		{Name: "wholetext", Type: "boolean", Default: "false", Doc: "Whether a file is one row."},
	}
}

// formatOptions are the options of a format by name.
func formatOptions(names []string) []connector.Option {
	known := map[string]connector.Option{}
	for _, o := range textOptions() {
		known[o.Name] = o
	}
	out := make([]connector.Option, 0, len(names))
	for _, n := range names {
		o := known[n]
		o.Name = n // one that is not described fails TestSpecs
		out = append(out, o)
	}
	return out
}
