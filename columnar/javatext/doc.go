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
// over rows need not allocate. Types that are compiled once (Zone, DatetimeFormatter, Pattern, Replacement,
// LikePattern, PrintfFormat, DecimalFormat, ToCharFormat, URLQueryKey) are safe for use by several
// goroutines.
//
// Readers of foreign text return false where a cast would fail, so that the caller can say what it was to be
// cast to. Other refusals are errors: a *sparkerr.Error where Spark has a condition for it, a *JavaError
// where Spark lets a bare Java exception through, a *PatternSyntaxError for regular expressions.
//
// # Tables
//
// The rules and names of time zones (zones.txt, zonenames.txt), the letters with irregular upper and lower
// case (casing.txt) and the names of Unicode blocks and scripts (regexnames.txt) are facts of IANA and
// Unicode in the state that the reference has them, and are part of the program: a query gives the same rows
// on every machine. The tables in testdata are answers of the JDK and of Spark themselves, to inputs made
// up at random from seeds. The small Java programs in gen write both; each says how to run it.
package javatext
