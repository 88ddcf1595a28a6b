package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Bounds of what is read ahead of the batches.
const (
	fetchBytes   = 8 << 20 // of one fetch
	aheadBytes   = 32 << 20
	fetchWaitMs  = 250
	retryWait    = 200 * time.Millisecond
	maxRetryTime = 60 * time.Second
)

// span is what a fetch gave: record batches that count, and the offset behind all of them.
type span struct {
	batches []rawBatch
	from    int64
	next    int64
	bytes   int
}

// fetcher reads one partition ahead of the batches that need it.
type fetcher struct {
	s    *source
	part tp

	mu      sync.Mutex
	queue   []span
	bytes   int
	at      int64 // offset of the next fetch
	err     error
	changed chan struct{} // closed when queue, bytes or err change
	stop    context.CancelFunc
	done    chan struct{}
}

// startFetcher begins to read a partition at an offset.
func (s *source) startFetcher(part tp, at int64) *fetcher {
	ctx, cancel := context.WithCancel(context.Background())
	f := &fetcher{s: s, part: part, at: at, changed: make(chan struct{}), stop: cancel, done: make(chan struct{})}
	go f.loop(ctx)
	return f
}

func (f *fetcher) close() {
	f.stop()
	<-f.done
}

// signal wakes whoever waits for a change; the caller holds mu.
func (f *fetcher) signal() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// position is the offset that take would go on from.
func (f *fetcher) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.queue) > 0 {
		return f.queue[0].from
	}
	return f.at
}

// take gives the next span, cut at to: what lies at to and beyond stays. It waits for the broker.
func (f *fetcher) take(ctx context.Context, to int64) (span, error) {
	for {
		f.mu.Lock()
		if len(f.queue) > 0 {
			sp := f.queue[0]
			if sp.next <= to {
				f.queue = f.queue[1:]
				f.bytes -= sp.bytes
			} else {
				head := span{from: sp.from, next: to}
				var tail []rawBatch
				for _, b := range sp.batches {
					if b.base < to {
						head.batches = append(head.batches, b)
					}
					if b.last >= to {
						tail = append(tail, b)
					}
				}
				f.queue[0].batches, f.queue[0].from = tail, to
				sp = head
			}
			f.signal()
			f.mu.Unlock()
			return sp, nil
		}
		err, changed := f.err, f.changed
		f.mu.Unlock()
		if err != nil {
			return span{}, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return span{}, context.Cause(ctx)
		}
	}
}

func (f *fetcher) loop(ctx context.Context) {
	defer close(f.done)
	var failing time.Time
	for {
		f.mu.Lock()
		full, changed, at := f.bytes >= aheadBytes, f.changed, f.at
		f.mu.Unlock()
		if full {
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return
			}
		}
		sp, err := f.fetch(ctx, at)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if failing.IsZero() {
				failing = time.Now()
			}
			var fatal *fatalError
			if errors.As(err, &fatal) || time.Since(failing) > maxRetryTime {
				f.mu.Lock()
				f.err = fmt.Errorf("topic %q, partition %d, offset %d: %w", f.part.topic, f.part.partition, at, err)
				f.signal()
				f.mu.Unlock()
				return
			}
			select {
			case <-time.After(retryWait):
			case <-ctx.Done():
				return
			}
			continue
		}
		failing = time.Time{}
		if sp.next == at {
			continue // nothing there yet
		}
		f.mu.Lock()
		f.queue = append(f.queue, sp)
		f.bytes += sp.bytes
		f.at = sp.next
		f.signal()
		f.mu.Unlock()
	}
}

// fatalError is a fault that waiting does not mend.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// fetch asks the partition's leader for records from an offset on.
func (f *fetcher) fetch(ctx context.Context, at int64) (span, error) {
	leader, id, err := f.s.leader(ctx, f.part)
	if err != nil {
		return span{}, err
	}
	req := kmsg.NewPtrFetchRequest()
	limit := f.s.fetch
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, limit.waitMs, limit.minBytes, limit.bytes
	if f.s.committed {
		req.IsolationLevel = 1
	}
	req.SessionID, req.SessionEpoch = 0, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = f.part.topic, id
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = f.part.partition, at, limit.partitionBytes, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := f.s.client.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		f.s.forgetLeader(f.part.topic)
		return span{}, err
	}
	r := resp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
		return span{}, err
	}
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return span{from: at, next: at}, nil
	}
	rp := &r.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
		switch {
		case errors.Is(err, kerr.OffsetOutOfRange):
			return span{}, f.outOfRange(ctx)
		case kerr.IsRetriable(err), errors.Is(err, kerr.UnknownTopicID):
			f.s.forgetLeader(f.part.topic)
			return span{}, err
		}
		return span{}, &fatalError{err}
	}
	return f.digest(at, rp)
}

// rangeError says that a partition does not have the offset that was to be read.
type rangeError struct{ first, end int64 }

func (e *rangeError) Error() string {
	return fmt.Sprintf("the offset is not there any more: the partition has %d to %d", e.first, e.end)
}

// outOfRange asks what the partition has; brokers do not say it along with the error.
func (f *fetcher) outOfRange(ctx context.Context) error {
	first, err := f.s.admin.ListStartOffsets(ctx, f.part.topic)
	if err != nil {
		return err
	}
	end, err := f.s.admin.ListEndOffsets(ctx, f.part.topic)
	if err != nil {
		return err
	}
	a, _ := first.Lookup(f.part.topic, f.part.partition)
	b, _ := end.Lookup(f.part.topic, f.part.partition)
	return &fatalError{&rangeError{a.Offset, b.Offset}}
}

// digest keeps the batches of a response that count: no control records, nothing of aborted transactions.
func (f *fetcher) digest(at int64, rp *kmsg.FetchResponseTopicPartition) (span, error) {
	batches, err := splitBatches(rp.RecordBatches)
	if err != nil {
		return span{}, &fatalError{err}
	}
	if len(batches) == 0 && len(rp.RecordBatches) > 0 {
		return span{}, fmt.Errorf("the broker sent %d bytes without a whole record batch", len(rp.RecordBatches))
	}
	sp := span{from: at, next: at, bytes: len(rp.RecordBatches)}
	aborted := map[int64][]int64{} // producer → first offsets of its aborted transactions
	for _, a := range rp.AbortedTransactions {
		aborted[a.ProducerID] = append(aborted[a.ProducerID], a.FirstOffset)
	}
	for _, b := range batches {
		sp.next = max(sp.next, b.last+1)
		if b.last < at {
			continue
		}
		if b.control {
			if f.s.committed && len(aborted[b.producer]) > 0 && b.abortMarker(f.s.codec) {
				aborted[b.producer] = aborted[b.producer][1:]
			}
			continue
		}
		if f.s.committed && b.txn && len(aborted[b.producer]) > 0 && aborted[b.producer][0] <= b.base {
			continue
		}
		sp.batches = append(sp.batches, b)
	}
	return sp, nil
}

// leaders caches where partitions live.
type leaders struct {
	mu sync.Mutex
	m  map[string]topicMeta
}

type topicMeta struct {
	id      [16]byte
	leaders map[int32]int32
}

// leader finds the broker that leads a partition, and the topic's id.
func (s *source) leader(ctx context.Context, part tp) (int32, [16]byte, error) {
	s.leaders.mu.Lock()
	meta, ok := s.leaders.m[part.topic]
	s.leaders.mu.Unlock()
	if !ok {
		var err error
		if meta, err = s.lookUp(ctx, part.topic); err != nil {
			return 0, [16]byte{}, err
		}
		s.leaders.mu.Lock()
		s.leaders.m[part.topic] = meta
		s.leaders.mu.Unlock()
	}
	l, ok := meta.leaders[part.partition]
	if !ok || l < 0 {
		s.forgetLeader(part.topic)
		return 0, meta.id, fmt.Errorf("the partition has no leader")
	}
	return l, meta.id, nil
}

func (s *source) forgetLeader(topic string) {
	s.leaders.mu.Lock()
	delete(s.leaders.m, topic)
	s.leaders.mu.Unlock()
}

func (s *source) lookUp(ctx context.Context, topic string) (topicMeta, error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, s.client.Client)
	if err != nil {
		return topicMeta{}, err
	}
	if len(resp.Topics) != 1 {
		return topicMeta{}, fmt.Errorf("the broker says nothing of the topic")
	}
	rt := &resp.Topics[0]
	if err := kerr.ErrorForCode(rt.ErrorCode); err != nil {
		return topicMeta{}, err
	}
	m := topicMeta{id: rt.TopicID, leaders: map[int32]int32{}}
	for _, p := range rt.Partitions {
		m.leaders[p.Partition] = p.Leader
	}
	return m, nil
}
