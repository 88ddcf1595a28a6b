// Package memory holds a source and a sink in memory, for tests and for looking at results. Both outlive the queries that
// use them, so that a query can be stopped, or crashed, and started again.
package memory
