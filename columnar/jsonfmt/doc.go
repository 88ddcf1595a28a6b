// Package jsonfmt turns JSON into columns and back, with Spark's results.
//
// A Decoder is compiled for a schema and reads each record in one pass, straight into the buffers of
// the columns: no tree of values, no allocation per row, members of columns that nobody wants are
// checked and passed over. Whatever that pass does not know well (a value of the wrong type, broken
// syntax, single quotes, a name that repeats …) it hands to a second, slow reader, which does
// exactly what Spark does, starting again at the first byte of the record. The two must agree on all
// that the first one accepts; a fuzz test compares them.
package jsonfmt
