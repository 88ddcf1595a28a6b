// Package arrowconv takes batches to Arrow records and back. The columns of a batch are laid out as
// Arrow arrays, so that values change hands without a copy wherever both sides mean the same; null
// bitmaps that do not start at a byte and types that Arrow knows in other units are copied.
//
//	Spark type            Arrow type
//	void                  null
//	boolean               bool
//	tinyint … bigint      int8 … int64
//	float, double         float32, float64
//	decimal(p,s)          decimal128(p,s)
//	string, variant       utf8
//	binary                binary
//	date                  date32
//	timestamp             timestamp[us, UTC]
//	timestamp_ntz         timestamp[us]
//	time(p)               time64[ns]
//	interval year..month  month_interval
//	interval day..second  duration[us]
//	interval              month_day_nano_interval
//	array, map, struct    list, map, struct
//
// Types that Arrow has no parameter for (variant, the units of an interval, collations) are written
// into the metadata of their fields under "wstream.type".
package arrowconv
