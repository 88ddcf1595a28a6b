// Package datumjson reads and writes single values in the JSON notation that pipeline tests, golden
// files and `wstream sql --json` share. Unlike the JSON file format, it loses nothing: every value of
// every type comes back as it was.
//
//	type                     notation
//	boolean, integers        true, 42
//	float, double            a number, or "NaN", "Infinity", "-Infinity"
//	decimal                  a string with the whole scale: "1.50"
//	string                   a string; {"$invalid_utf8_base64": "…"} when the bytes are not UTF-8
//	binary                   base64
//	date                     "2026-03-01"; years beyond 9999 as "+10000-01-01", before 0 as "-0001-01-01"
//	timestamp                "2026-03-01T10:11:12.000000Z"; without the Z for timestamp_ntz
//	time                     "10:11:12.000000000"
//	ANSI intervals           "INTERVAL '1 02:03:04.5' DAY TO SECOND"
//	interval                 "1 years 2 months 21 days"
//	array                    a list
//	struct                   an object; a list of [name, value] where names repeat
//	map                      an object when keys are strings, else a list of [key, value]
//	variant                  the JSON that it holds
package datumjson
