package main

import (
	"context"
	"fmt"

	"github.com/wstream/wstream/bench/reference"
)

// batchRows is the number of rows that the kernels work on: a batch that fits the second-level cache.
const batchRows = 8192

// decoding is JSON lines into columns.
func decoding() []measurement {
	const job = "decode JSON"
	return []measurement{
		{job: job, way: "plain scanner", prepare: func(_ context.Context, e *env) (run, error) {
			lines, err := e.sample(batchRows)
			var c reference.Columns
			return func(context.Context) (outcome, error) {
				err := c.Decode(lines)
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d rows", c.Len())}, err
			}, err
		}},
	}
}

// grouping is columns into counts and sums by window and url, over a table that holds the groups already.
func grouping() []measurement {
	const job = "group by window, url"
	return []measurement{
		{job: job, way: "plain table", prepare: func(_ context.Context, e *env) (run, error) {
			c, err := decoded(e)
			t := reference.NewTable()
			return func(context.Context) (outcome, error) {
				c.Group(t)
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d groups", t.Len())}, nil
			}, err
		}},
		{job: job, way: "Go map", prepare: func(_ context.Context, e *env) (run, error) {
			c, err := decoded(e)
			return func(context.Context) (outcome, error) {
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d groups", c.GroupMap())}, nil
			}, err
		}},
	}
}

// filtering is a column of amounts into a bitmap.
func filtering() []measurement {
	const job = "filter amount > 1"
	return []measurement{
		{job: job, way: "plain loop", prepare: func(_ context.Context, e *env) (run, error) {
			c, err := decoded(e)
			bits := make([]byte, (batchRows+7)/8)
			return func(context.Context) (outcome, error) {
				return outcome{rows: c.Len(), answer: fmt.Sprintf("%d pass", c.Filter(bits))}, nil
			}, err
		}},
	}
}

// decoded is a batch of clicks as columns.
func decoded(e *env) (*reference.Columns, error) {
	lines, err := e.sample(batchRows)
	if err != nil {
		return nil, err
	}
	c := &reference.Columns{}
	return c, c.Decode(lines)
}
