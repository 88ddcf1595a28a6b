package reference

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Load puts the lines of a folder's *.json files into a topic, keyed by url.
func Load(ctx context.Context, broker, topic, dir string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(20*time.Millisecond),
		kgo.MaxBufferedRecords(100_000))
	if err != nil {
		return err
	}
	defer client.Close()
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	var first kgo.FirstErrPromise
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var c Click
		for line := range bytes.Lines(b) {
			if _, err := ScanClick(line, 0, &c); err != nil {
				return err
			}
			client.Produce(ctx, &kgo.Record{Key: c.URL, Value: bytes.TrimSuffix(line, []byte("\n"))}, first.Promise())
		}
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	return first.Err()
}

// Read calls f for the value of every committed record that a topic holds at the time of the call.
func Read(ctx context.Context, broker, topic string, f func(value []byte) error) error {
	return consume(ctx, broker, topic, func(_ int32, r *kgo.Record) error { return f(r.Value) })
}

// Kafka does the clicks job over all records that a topic holds at the time of the call, and puts the closed windows as JSON
// into another, in one transaction: the bare loop over franz-go, decoding a partition's records in one goroutine each.
func Kafka(ctx context.Context, broker, in, out string) (*Windowed, error) {
	type part struct {
		w       *Windowed
		records chan []*kgo.Record
	}
	parts := map[int32]*part{}
	errs := make(chan error, 64)
	var wait sync.WaitGroup
	err := consumeBatches(ctx, broker, in, func(partition int32, records []*kgo.Record) error {
		p := parts[partition]
		if p == nil {
			p = &part{w: NewWindowed(), records: make(chan []*kgo.Record, 4)}
			parts[partition] = p
			wait.Go(func() {
				for records := range p.records {
					for _, r := range records {
						if err := p.w.Lines(r.Value); err != nil {
							select {
							case errs <- err:
							default:
							}
						}
					}
				}
			})
		}
		p.records <- records
		return nil
	})
	all := NewWindowed()
	for _, p := range parts {
		close(p.records)
	}
	wait.Wait()
	if err != nil {
		return nil, err
	}
	select {
	case err := <-errs:
		return nil, err
	default:
	}
	for _, p := range parts {
		all.Merge(p.w)
	}
	return all, all.produce(ctx, broker, out)
}

// produce puts the closed windows into a topic, in one transaction.
func (w *Windowed) produce(ctx context.Context, broker, topic string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(topic), kgo.TransactionalID(topic),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	var first kgo.FirstErrPromise
	w.Closed(func(url []byte, g *Group) {
		v := append(make([]byte, 0, 128), `{"window_start":"`...)
		v = time.UnixMicro(g.WindowUs).UTC().AppendFormat(v, "2006-01-02T15:04:05.000Z")
		v = append(append(append(v, `","url":"`...), url...), `","cnt":`...)
		v = append(strconv.AppendInt(v, g.Count, 10), `,"total":`...)
		v = append(strconv.AppendFloat(v, g.Total, 'g', -1, 64), `,"mean":`...)
		v = append(strconv.AppendFloat(v, g.Total/float64(g.Count), 'g', -1, 64), '}')
		client.Produce(ctx, &kgo.Record{Value: v}, first.Promise())
	})
	if err := client.Flush(ctx); err != nil {
		return err
	}
	if err := first.Err(); err != nil {
		return err
	}
	return client.EndTransaction(ctx, kgo.TryCommit)
}

func consume(ctx context.Context, broker, topic string, f func(int32, *kgo.Record) error) error {
	return consumeBatches(ctx, broker, topic, func(partition int32, records []*kgo.Record) error {
		for _, r := range records {
			if err := f(partition, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Settled is the end of each partition of a topic, once nothing before it is undecided: brokers answer the end of a
// transaction before its markers stand in the topic.
func Settled(ctx context.Context, admin *kadm.Client, topic string) (kadm.ListedOffsets, error) {
	for {
		ends, err := admin.ListEndOffsets(ctx, topic)
		if err != nil {
			return nil, err
		}
		stable, err := admin.ListCommittedOffsets(ctx, topic)
		if err != nil {
			return nil, err
		}
		open := false
		ends.Each(func(o kadm.ListedOffset) {
			s, _ := stable.Lookup(topic, o.Partition)
			open = open || s.Offset != o.Offset
		})
		if !open {
			return stable, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("topic %q has an open transaction: %w", topic, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// consumeBatches reads a topic from the start to the end that it has at the time of the call, seeing committed records only.
// Transaction markers take offsets, so the end is reached when each partition's position is, not when a count is.
func consumeBatches(ctx context.Context, broker, topic string, f func(int32, []*kgo.Record) error) error {
	admin, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return err
	}
	defer admin.Close()
	ends, err := Settled(ctx, kadm.NewClient(admin), topic)
	if err != nil {
		return err
	}
	left, from := map[int32]int64{}, map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		if o.Err != nil {
			err = fmt.Errorf("topic %q: partition %d: %w", topic, o.Partition, o.Err)
		} else if o.Offset > 0 {
			left[o.Partition], from[o.Partition] = o.Offset, kgo.NewOffset().AtStart()
		}
	})
	if err != nil || len(left) == 0 {
		return err
	}
	// Control records are kept, so that the last one of a partition says that its end is reached.
	client, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxBytes(8<<20))
	if err != nil {
		return err
	}
	defer client.Close()
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			end, ok := left[p.Partition]
			if !ok || err != nil || len(p.Records) == 0 {
				return
			}
			if p.Records[len(p.Records)-1].Offset+1 >= end {
				delete(left, p.Partition)
			}
			records := slices.DeleteFunc(p.Records, func(r *kgo.Record) bool { return r.Attrs.IsControl() || r.Offset >= end })
			if len(records) > 0 {
				err = f(p.Partition, records)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
