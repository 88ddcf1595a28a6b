package reference

import (
	"bytes"
	"context"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// CountLoop counts the records of each user of a topic and puts each new count into another topic, until the context ends: the
// bare loop over franz-go. Exactly once, each round is a transaction that carries the group's offsets, and its counts are
// those of the round's end, as a micro-batch has them; otherwise the records are sent as they come.
func CountLoop(ctx context.Context, broker, in, out, group string, exactlyOnce bool) error {
	opts := []kgo.Opt{
		kgo.SeedBrokers(broker), kgo.ConsumeTopics(in), kgo.ConsumerGroup(group), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DefaultProduceTopic(out), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0),
	}
	counts := map[string]int64{}
	var first kgo.FirstErrPromise
	round := func(fetches kgo.Fetches, produce func(*kgo.Record)) error {
		changed := map[string]bool{}
		var c Click
		for it := fetches.RecordIter(); !it.Done(); {
			r := it.Next()
			if _, err := ScanClick(r.Value, 0, &c); err != nil {
				return err
			}
			_, user, _ := bytes.Cut(r.Value, []byte(`"user_id":"`))
			user, _, _ = bytes.Cut(user, []byte{'"'})
			if c.Amount > MinAmount {
				counts[string(user)]++
				changed[string(user)] = true
			}
		}
		for user := range changed {
			produce(&kgo.Record{Key: []byte(user), Value: CountRow(user, counts[user])})
		}
		return nil
	}
	if !exactlyOnce {
		client, err := kgo.NewClient(opts...)
		if err != nil {
			return err
		}
		defer client.Close()
		for {
			fetches := client.PollFetches(ctx)
			if ctx.Err() != nil {
				return first.Err()
			}
			if err := fetches.Err(); err != nil {
				return err
			}
			if err := round(fetches, func(r *kgo.Record) { client.Produce(ctx, r, first.Promise()) }); err != nil {
				return err
			}
		}
	}
	session, err := kgo.NewGroupTransactSession(append(opts, kgo.TransactionalID(group), kgo.FetchIsolationLevel(kgo.ReadCommitted()))...)
	if err != nil {
		return err
	}
	defer session.Close()
	for {
		fetches := session.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		if err := session.Begin(); err != nil {
			return err
		}
		if err := round(fetches, func(r *kgo.Record) { session.Produce(ctx, r, first.Promise()) }); err != nil {
			return err
		}
		if _, err := session.End(context.WithoutCancel(ctx), kgo.TryCommit); err != nil {
			return err
		}
		if err := first.Err(); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// CountRow is a row of the result, as JSON.
func CountRow(user string, n int64) []byte {
	v := append(make([]byte, 0, 64), `{"user_id":"`...)
	v = append(append(v, user...), `","count":`...)
	return append(strconv.AppendInt(v, n, 10), '}')
}

// CopyLoop copies the values of a topic, as far as it goes at the time of the call, into another one, in transactions of so
// many records: the bare loop of reading and writing.
func CopyLoop(ctx context.Context, broker, in, out string, batch int) (rows int, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(out), kgo.TransactionalID(out),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(1<<20), kgo.ProducerLinger(0))
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var first kgo.FirstErrPromise
	open := 0
	end := func() error {
		if open == 0 {
			return nil
		}
		open = 0
		if err := client.Flush(ctx); err != nil {
			return err
		}
		if err := first.Err(); err != nil {
			return err
		}
		return client.EndTransaction(ctx, kgo.TryCommit)
	}
	err = consumeBatches(ctx, broker, in, func(_ int32, records []*kgo.Record) error {
		for _, r := range records {
			if open == 0 {
				if err := client.BeginTransaction(); err != nil {
					return err
				}
			}
			client.Produce(ctx, &kgo.Record{Key: r.Key, Value: r.Value}, first.Promise())
			rows++
			if open++; open >= batch {
				if err := end(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return rows, err
	}
	return rows, end()
}
