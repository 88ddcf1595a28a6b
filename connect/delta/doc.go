// Package delta reads and writes Delta Lake tables: Parquet files in a folder, and a log of JSON files in _delta_log that
// says which of them belong to each version of the table.
//
// The sink commits a batch as one version of the log, with a txn action that carries the query's id and the batch's
// number; a batch that the table has already is not committed again. The source gives first the files of the table as it
// is, then those that each later version adds.
package delta
