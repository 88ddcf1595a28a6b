package main

import (
	"context"
	"fmt"

	"github.com/wstream/wstream/bench/reference"
)

// copyKafka reads a topic of 4 partitions and writes another one, in transactions of a tenth of the rows: in and out with
// nothing between them.
func copyKafka() []measurement {
	const job = "records of 150 bytes, Kafka to Kafka"
	tally := func(ctx context.Context, broker, topic string) (string, error) {
		rows, size := 0, 0
		err := reference.Read(ctx, broker, topic, func(value []byte) error {
			rows++
			size += len(value)
			return nil
		})
		return fmt.Sprintf("%d records of %d bytes", rows, size), err
	}
	return []measurement{
		{job: job, way: "plain loop", whole: true, prepare: func(ctx context.Context, e *env) (run, error) {
			broker, in, err := e.clicksTopic(ctx)
			return func(ctx context.Context) (outcome, error) {
				out, err := e.topic(ctx, "copy", 4)
				if err != nil {
					return outcome{}, err
				}
				begin, cpu := now()
				n, err := reference.CopyLoop(ctx, broker, in, out, max(1, e.rows/10))
				if err != nil {
					return outcome{}, err
				}
				o := outcome{rows: n}
				o.elapsed, o.cpu = since(begin, cpu)
				o.answer, err = tally(ctx, broker, out)
				return o, err
			}, err
		}},
		betweenTopics(job, "copy", "copy", tally),
	}
}
