// Package javatext holds what Spark answers the way Java does: how numbers, dates, times and intervals
// are written and read as text, date-time patterns, printf formats, number formats, regular expressions,
// LIKE, letter case, URLs, character sets, and the rounding of doubles.
//
// The reference is Spark 4.2 on JDK 17 with locale en-US. Nothing here knows columns or SQL types; values
// are plain Go values:
//
//   - a DATE is an int32 of days since 1970-01-01 in the proleptic Gregorian calendar,
//   - a TIMESTAMP or TIMESTAMP_NTZ is an int64 of microseconds since 1970-01-01T00:00:00 (UTC, or local),
//   - a TIME is an int64 of nanoseconds since midnight,
//   - a year-month interval is an int32 of months, a day-time interval an int64 of microseconds,
//   - a DECIMAL is an Int128 of unscaled digits with its scale beside it,
//   - a STRING is a Go string holding UTF-8, possibly invalid.
//
// Functions called AppendX write behind dst and return the longer slice, as strconv does, so that a loop
// over rows need not allocate. Types that are compiled once (Pattern, LikePattern, DatetimeFormatter,
// Zone, NumberFormat, DecimalFormat, PrintfFormat) are safe for use by several goroutines.
//
// Errors are of a few types that carry the name of Spark's error condition where there is one; see
// ConditionError.
package javatext
