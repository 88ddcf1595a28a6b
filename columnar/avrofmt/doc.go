// Package avrofmt reads and writes Avro object container files as Spark does.
//
//	Avro                                    Spark
//	null, boolean, int, long, float, double void, boolean, int, bigint, float, double
//	string, enum                            string
//	bytes, fixed                            binary
//	decimal                                 decimal(p,s)
//	date                                    date
//	timestamp-millis, timestamp-micros      timestamp
//	local-timestamp-millis, -micros         timestamp_ntz
//	time-millis, time-micros                time
//	array, map, record                      array, map<string, …>, struct
//	union of null and a type                the type, nullable
//	union of int and long, float and double bigint, double
//	any other union                         struct<member0: …, member1: …>
//
// In writing, tinyint and smallint are int, and intervals of months and of microseconds are int and long.
package avrofmt
