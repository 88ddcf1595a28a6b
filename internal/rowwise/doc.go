// Package rowwise evaluates small streaming queries in the dumbest possible way: one row at a time, over lists and maps of
// values, without columns, plans, partitions or stores. It shares no code with the engine and exists so that random
// queries can be asked twice; its tests put the question to both.
//
// It knows what docs/semantics.md says of time: the watermark of a batch is fixed before it runs, rows are late by the
// watermark of the batch before, state goes by the watermark of the batch itself, and a moved watermark asks for a batch
// without data.
package rowwise
