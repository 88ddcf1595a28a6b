// Package csvfmt reads and writes CSV with Spark's results, which are those of the univocity parser: the
// escape character is the backslash, "" within quotes is not a quote, what follows a closing quote makes the
// quotes part of the value, and so on.
//
// A Decoder takes whole lines (or, in multi-line mode, a whole file) to batches. A field that does not
// read as its column's type is NULL and makes its record a bad one, and so does a number of fields
// that is not the schema's; the other fields are kept.
package csvfmt
