// Package parquetfmt reads and writes Parquet files as Spark does: the same types in the same physical
// form, nested ones too, with Spark's schema beside Parquet's own in the file's metadata.
//
// A Reader gives batches of the wanted columns, row group by row group, and reads no page of any other
// column. A Writer takes batches and writes a row group when enough has come. Pages, encodings and
// compression are the work of Apache Arrow's `parquet/file`; how columns become repetition and
// definition levels and back is done here.
package parquetfmt
