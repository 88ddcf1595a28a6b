// Package records holds what the text formats (JSON, CSV, text) have in common: the modes for records
// that are no proper ones, the column that takes such records, and how dates, times, intervals and decimals
// are read from and written as the text of a field, by the options of a source or sink.
package records
