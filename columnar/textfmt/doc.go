// Package textfmt reads and writes files of plain text: a row for each line, or one for the whole file, in
// a single STRING column. Bytes are taken as they are, also those that are no UTF-8.
package textfmt
