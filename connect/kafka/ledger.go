package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wstream/wstream/engine/connector"
)

// ledger is the last batch that a sink has committed. It lies at the brokers as the offsets of a consumer group that has no
// members and the name of the transactional id: partition 0 of every topic that the batch went to has the batch's id as its
// offset. It is written within the batch's transaction, so that it says N exactly if the rows of batch N are visible.
type ledger struct {
	client *brokers
	group  string
	last   int64
	found  bool // the group has offsets
	ids    map[string][16]byte
}

// topicIDs looks up what newer brokers know topics by. A topic that is deleted and made again has another id, so a
// failure drops what is known.
func (l *ledger) topicIDs(ctx context.Context, topics []string) error {
	known := true
	for _, t := range topics {
		_, ok := l.ids[t]
		known = known && ok
	}
	if known {
		return nil
	}
	found, err := kadm.NewClient(l.client.Client).ListTopics(ctx, topics...)
	if err != nil {
		return err
	}
	if l.ids == nil {
		l.ids = map[string][16]byte{}
	}
	for _, t := range found {
		l.ids[t.Topic] = t.ID
	}
	return nil
}

// load reads the last batch; it waits for transactions that are being ended.
func (l *ledger) load(ctx context.Context) error {
	for {
		rs, err := kadm.NewClient(l.client.Client).FetchOffsets(kadm.RequireStable(ctx), l.group)
		if err == nil {
			err = rs.Error()
		}
		if errors.Is(err, kerr.GroupIDNotFound) { // nothing was ever committed; older brokers answer without an error
			rs, err = nil, nil
		}
		if err == nil {
			l.last, l.found = -1, false
			rs.Each(func(o kadm.OffsetResponse) {
				l.last, l.found = max(l.last, o.At), true
			})
			return nil
		}
		if !errors.Is(err, kerr.UnstableOffsetCommit) && !kerr.IsRetriable(err) {
			return fmt.Errorf("group %q: %w", l.group, err)
		}
		if !wait(ctx, retryWait) {
			return fmt.Errorf("group %q: %w", l.group, err)
		}
	}
}

func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// record writes a batch into the open transaction of a producer.
func (l *ledger) record(ctx context.Context, id int64, epoch int16, topics []string, info connector.BatchInfo) error {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	err := l.retry(ctx, func() error {
		add := kmsg.NewPtrAddOffsetsToTxnRequest()
		add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = l.group, id, epoch, l.group
		resp, err := add.RequestWith(ctx, l.client.Client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
	if err != nil {
		return fmt.Errorf("add group %q to the transaction: %w", l.group, err)
	}
	meta := fmt.Sprintf("wstream batch %d of query %s", info.BatchID, info.QueryID)
	err = l.retry(ctx, func() error {
		if err := l.topicIDs(ctx, topics); err != nil {
			return err
		}
		req := kmsg.NewPtrTxnOffsetCommitRequest()
		req.TransactionalID, req.Group, req.ProducerID, req.ProducerEpoch, req.Generation = l.group, l.group, id, epoch, -1
		for _, name := range topics {
			t := kmsg.NewTxnOffsetCommitRequestTopic()
			t.Topic, t.TopicID = name, l.ids[name]
			p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = 0, info.BatchID, -1, &meta
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
		}
		resp, err := req.RequestWith(ctx, l.client.Client)
		if err != nil {
			return err
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					l.ids = nil
					return fmt.Errorf("topic %q: %w", t.Topic, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write group %q: %w", l.group, err)
	}
	return nil
}

// retry repeats a request while the brokers say that they are busy with it.
func (l *ledger) retry(ctx context.Context, f func() error) error {
	pause := 5 * time.Millisecond
	for {
		err := f()
		if err == nil || !kerr.IsRetriable(err) || !wait(ctx, pause) {
			return err
		}
		pause = min(2*pause, retryWait)
	}
}

// committed notes a batch whose transaction has ended well.
func (l *ledger) committed(batch int64) { l.last, l.found = batch, true }

// fault adds to an error of the brokers what it means for a sink.
func (s *sink) fault(err error) error {
	switch {
	case errors.Is(err, kerr.ProducerFenced), errors.Is(err, kerr.InvalidProducerEpoch), errors.Is(err, kerr.InvalidTxnState), errors.Is(err, kerr.InvalidProducerIDMapping):
		err = fmt.Errorf("%w: another process writes with the transactional id %q, or the transaction took longer than kafka.transaction.timeout.ms (%s)", err, s.id, s.timeout)
	case errors.Is(err, kerr.InvalidTransactionTimeout):
		err = fmt.Errorf("%w: kafka.transaction.timeout.ms (%s) is longer than the brokers' transaction.max.timeout.ms", err, s.timeout)
	case errors.Is(err, kerr.MessageTooLarge):
		err = fmt.Errorf("%w: raise kafka.max.request.size and the topic's max.message.bytes", err)
	}
	return s.client.explain(err)
}
