// Package sqldb writes to and reads from SQL databases: PostgreSQL, MySQL and MariaDB, and SQLite.
//
// A batch is one transaction, which also writes the batch's id into the table wstream_ledger: one row for each query and
// sink, with the last batch that was committed. A batch that is run again after a crash finds itself there and writes
// nothing, so that each batch is in the database exactly once, whether rows are upserted or appended.
//
// Statements have parameters $1 … $n, the columns of the rows that they are run for, and PostgreSQL's ON CONFLICT; they are
// adapted to the database. An INSERT of one row of values is run for many rows at a time: with arrays on
// PostgreSQL, with many rows of values on the others.
package sqldb
