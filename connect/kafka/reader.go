package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Bounds of what is read ahead of the batches.
const (
	fetchBytes     = 16 << 20 // of one fetch
	partitionBytes = 8 << 20  // of one partition in a fetch
	aheadBytes     = 96 << 20 // of all partitions; each may have its share, aheadLeast at least
	aheadLeast     = 1 << 20
	fetchWaitMs    = 250
	shortWaitMs    = 5 // while a partition is left out of a fetch because its share is used up
	retryWait      = 200 * time.Millisecond
	maxRetryTime   = 60 * time.Second
)

// nobody is the leader of a partition whose leader is not known.
const nobody = -1

// span is what a fetch gave of a partition: record batches that count, and the offset behind all of them.
type span struct {
	batches []rawBatch
	from    int64
	next    int64
	bytes   int
}

// track reads one partition from an offset on. The reader's lock guards it.
type track struct {
	part    tp
	id      topicID // of the topic that is to be read; zero takes any
	queue   []span
	bytes   int
	at      int64 // offset of the next fetch
	until   int64 // nothing from here on is fetched
	high    int64 // end of the partition as of the last fetch, -1 before it
	leader  int32
	err     error
	failing time.Time // since when fetches fail
	retry   time.Time // not before
}

// position is the offset that take would go on from.
func (t *track) position() int64 {
	if len(t.queue) > 0 {
		return t.queue[0].from
	}
	return t.at
}

// rows tells whether records wait, and not only markers of transactions.
func (t *track) rows() bool {
	for i := range t.queue {
		if len(t.queue[i].batches) > 0 {
			return true
		}
	}
	return false
}

// slot is a partition and which of its tracks: 0 is the one that goes on from batch to batch, the others read parts of a
// range that is divided among several readers.
type slot struct {
	part tp
	n    int
}

// reader reads all partitions of a source ahead of the batches that need them. It sends one fetch at a time to each broker,
// for all partitions that the broker leads, because a broker answers the requests of a connection one by one: a fetch that
// waits for one partition would hold up those for others.
type reader struct {
	s    *source
	ctx  context.Context
	stop context.CancelFunc
	done sync.WaitGroup

	mu      sync.Mutex
	tracks  map[slot]*track
	brokers map[int32]*conversation
	claimed map[tp]bool   // partitions whose track 0 is being read
	extra   int           // tracks with other numbers so far
	changed chan struct{} // closed when any track changes
	turn    int           // whose turn it is to stand first in a fetch
}

// conversation is the fetching from one broker.
type conversation struct {
	cancel context.CancelFunc // of the fetch that is on its way, nil for none
	asked  map[*track]bool    // its tracks
}

func (s *source) newReader() *reader {
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{s: s, ctx: ctx, stop: cancel, tracks: map[slot]*track{}, brokers: map[int32]*conversation{}, claimed: map[tp]bool{}, changed: make(chan struct{})}
	r.done.Go(r.resolve)
	return r
}

func (r *reader) close() {
	r.stop()
	r.done.Wait()
}

// signal wakes whoever waits for a change. The lock is held.
func (r *reader) signal() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// claim gives a track to read a piece of a partition with: with main the one that goes on from batch to batch, unless
// another piece is being read with it, as in a query that reads its source twice.
func (r *reader) claim(part tp, main bool) slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if main && !r.claimed[part] {
		r.claimed[part] = true
		return slot{part, 0}
	}
	r.extra++
	return slot{part, r.extra}
}

// leave gives a track back.
func (r *reader) leave(s slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.n == 0 {
		delete(r.claimed, s.part)
		return
	}
	delete(r.tracks, s)
}

// release gives all claimed tracks back, also of what was planned and never read.
func (r *reader) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.claimed)
	for s := range r.tracks {
		if s.n > 0 {
			delete(r.tracks, s)
		}
	}
}

// want is a track that somebody is going to read.
type want struct {
	slot      slot
	id        topicID
	at, until int64
}

// follow makes sure that tracks are there and stand where they should.
func (r *reader) follow(wants ...want) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := false
	for _, w := range wants {
		t := r.tracks[w.slot]
		if t != nil && t.err == nil && t.position() == w.at && t.until == w.until && (t.id == w.id || t.id == topicID{}) {
			continue
		}
		leader := int32(nobody)
		if t != nil && t.err == nil {
			leader = t.leader
		} else if main := r.tracks[slot{w.slot.part, 0}]; main != nil && main.err == nil {
			leader = main.leader
		}
		t = &track{part: w.slot.part, id: w.id, at: w.at, until: w.until, high: -1, leader: leader}
		r.tracks[w.slot] = t
		fresh = true
		if c := r.brokers[leader]; c != nil && c.cancel != nil {
			c.cancel() // it waits for records of others
		}
	}
	if fresh {
		r.signal()
	}
}

// take gives the next span of a track, cut at to: what lies at to and beyond stays. It waits for the broker.
func (r *reader) take(ctx context.Context, s slot, to int64) (span, error) {
	for {
		r.mu.Lock()
		t := r.tracks[s]
		if t == nil {
			r.mu.Unlock()
			return span{}, fmt.Errorf("partition %s is not read", s.part)
		}
		if len(t.queue) > 0 {
			sp := t.queue[0]
			if sp.next <= to {
				t.queue = t.queue[1:]
				t.bytes -= sp.bytes
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
				t.queue[0].batches, t.queue[0].from = tail, to
				sp = head
			}
			r.signal()
			r.mu.Unlock()
			return sp, nil
		}
		err, changed := t.err, r.changed
		r.mu.Unlock()
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

// ends is the end of each partition that is followed as of its last fetch, if all of them are well and stand at a position,
// and some have records that nobody has taken. It needs no request.
func (r *reader) ends(at position) (position, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end, rows := make(position, len(at)), false
	for part, o := range at {
		t := r.tracks[slot{part, 0}]
		if t == nil || t.err != nil || t.position() != o || t.high < 0 {
			return nil, false
		}
		end[part] = max(t.at, t.high, o)
		rows = rows || t.rows()
	}
	return end, rows
}

// quiet tells that some of the partitions cannot be read for now, so that waiting for records would not end. It ends the
// tracks of all others than these.
func (r *reader) quiet(at position) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.tracks {
		if _, ok := at[s.part]; !ok {
			delete(r.tracks, s)
		}
	}
	if len(at) == 0 {
		return true
	}
	for part := range at {
		if t := r.tracks[slot{part, 0}]; t != nil && t.err != nil {
			return true
		}
	}
	return false
}

// wait returns when records have come, a track has failed, or the time is over.
func (r *reader) wait(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		r.mu.Lock()
		ready := false
		for _, t := range r.tracks {
			ready = ready || t.err != nil || t.rows()
		}
		changed := r.changed
		r.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// share is how many bytes a track may have ahead. The lock is held.
func (r *reader) share() int { return max(aheadLeast, aheadBytes/max(len(r.tracks), 1)) }

// resolve finds the leaders of tracks that have none, and has their brokers asked.
func (r *reader) resolve() {
	for {
		topics := map[string]bool{}
		r.mu.Lock()
		now := time.Now()
		pause := time.Duration(math.MaxInt64)
		for _, t := range r.tracks {
			if t.err != nil || t.leader != nobody {
				continue
			}
			if left := t.retry.Sub(now); left > 0 {
				pause = min(pause, left)
				continue
			}
			topics[t.part.topic] = true
		}
		changed := r.changed
		r.mu.Unlock()
		if len(topics) == 0 {
			if !r.idle(changed, pause) {
				return
			}
			continue
		}
		for topic := range topics {
			metas, err := r.s.metadata(r.ctx, []string{topic})
			if r.ctx.Err() != nil {
				return
			}
			if err == nil {
				err = metas[topic].err
			}
			r.assign(topic, metas[topic], err)
		}
	}
}

// idle waits for a change, or for a pause to end; it is false when the reader ends.
func (r *reader) idle(changed chan struct{}, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-r.ctx.Done():
		return false
	}
	return true
}

// assign hands the tracks of a topic to the leaders of their partitions.
func (r *reader) assign(topic string, meta topicMeta, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tracks {
		if t.part.topic != topic || t.err != nil || t.leader != nobody {
			continue
		}
		leader, ok := meta.leaders[t.part.partition]
		switch {
		case err != nil:
			t.fail(err)
		case !ok || leader < 0:
			t.fail(errors.New("the partition has no leader"))
		case t.id != topicID{} && meta.id != topicID{} && t.id != meta.id:
			t.fail(&madeAgainError{was: t.id, is: meta.id})
		default:
			t.id, t.leader = meta.id, leader
			if r.brokers[leader] == nil {
				c := &conversation{}
				r.brokers[leader] = c
				r.done.Go(func() { r.converse(leader, c) })
			}
		}
	}
	r.signal()
}

// fail notes that a track could not be fetched: for another try soon, or for good. The lock is held.
func (t *track) fail(err error) {
	now := time.Now()
	if t.failing.IsZero() {
		t.failing = now
	}
	t.leader, t.retry = nobody, now.Add(retryWait)
	var fatal fatalError
	if errors.As(err, &fatal) || now.Sub(t.failing) > maxRetryTime {
		t.err = fmt.Errorf("topic %q, partition %d, offset %d: %w", t.part.topic, t.part.partition, t.at, err)
	}
}

// converse asks a broker for records, again and again.
func (r *reader) converse(node int32, c *conversation) {
	for {
		r.mu.Lock()
		list, rest := r.due(node)
		changed := r.changed
		if len(list) == 0 {
			r.mu.Unlock()
			if !r.idle(changed, math.MaxInt64) {
				return
			}
			continue
		}
		ctx, cancel := context.WithCancel(r.ctx)
		c.cancel, c.asked = cancel, map[*track]bool{}
		for _, t := range list {
			c.asked[t] = true
		}
		req := r.request(list, rest)
		r.mu.Unlock()
		resp, err := r.s.client.Broker(int(node)).RetriableRequest(ctx, req)
		r.mu.Lock()
		c.cancel = nil
		cut := ctx.Err() != nil
		cancel()
		if r.ctx.Err() != nil {
			r.mu.Unlock()
			return
		}
		var later []*track
		switch {
		case err == nil:
			later = r.answer(list, resp.(*kmsg.FetchResponse))
		case !cut:
			for _, t := range list {
				t.fail(err)
			}
		}
		r.signal()
		r.mu.Unlock()
		for _, t := range later {
			r.outOfRange(t)
		}
	}
}

// due lists the tracks that a broker is to be asked for, another one first each time, and whether there are others that
// must wait until some of what they have is taken. The lock is held.
func (r *reader) due(node int32) (list []*track, rest bool) {
	share := r.share()
	var slots []slot
	for s, t := range r.tracks {
		if t.err == nil && t.leader == node && t.at < t.until {
			if t.bytes >= share {
				rest = true
				continue
			}
			slots = append(slots, s)
		}
	}
	sort.Slice(slots, func(i, j int) bool {
		a, b := slots[i], slots[j]
		if a.part != b.part {
			return a.part.topic < b.part.topic || a.part.topic == b.part.topic && a.part.partition < b.part.partition
		}
		return a.n < b.n
	})
	taken := map[tp]bool{} // a fetch has a partition once
	r.turn++
	for i := range slots {
		s := slots[(i+r.turn)%len(slots)]
		if taken[s.part] {
			rest = true
			continue
		}
		taken[s.part] = true
		list = append(list, r.tracks[s])
	}
	return list, rest
}

// request asks for records of tracks. With rest it does not wait long for them.
func (r *reader) request(list []*track, rest bool) *kmsg.FetchRequest {
	req, limit := kmsg.NewPtrFetchRequest(), r.s.fetch
	req.ReplicaID, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = -1, limit.waitMs, limit.minBytes, limit.bytes
	if rest {
		req.MaxWaitMillis = min(limit.waitMs, shortWaitMs)
	}
	if r.s.committed {
		req.IsolationLevel = 1
	}
	req.SessionID, req.SessionEpoch = 0, -1
	at := map[string]int{}
	for _, t := range list {
		i, ok := at[t.part.topic]
		if !ok {
			rt := kmsg.NewFetchRequestTopic()
			rt.Topic, rt.TopicID = t.part.topic, t.id
			i = len(req.Topics)
			at[t.part.topic] = i
			req.Topics = append(req.Topics, rt)
		}
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = t.part.partition, t.at, limit.partitionBytes, -1
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, p)
	}
	return req
}

// answer takes what a broker has sent. It returns the tracks whose offset is out of the partition's range. The lock is held.
func (r *reader) answer(list []*track, resp *kmsg.FetchResponse) (outOfRange []*track) {
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		for _, t := range list {
			t.fail(err)
		}
		return nil
	}
	for i := range resp.Topics {
		rt := &resp.Topics[i]
		for j := range rt.Partitions {
			rp := &rt.Partitions[j]
			for _, t := range list {
				if t.part.partition != rp.Partition || rt.Topic != "" && rt.Topic != t.part.topic || rt.Topic == "" && rt.TopicID != t.id {
					continue
				}
				if r.records(t, rp, len(list) == 1) {
					outOfRange = append(outOfRange, t)
				}
			}
		}
	}
	return outOfRange
}

// records takes what a broker has sent of a track, and tells whether its offset is out of range. The lock is held.
func (r *reader) records(t *track, rp *kmsg.FetchResponseTopicPartition, alone bool) (outOfRange bool) {
	if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
		switch {
		case errors.Is(err, kerr.OffsetOutOfRange):
			return true
		case kerr.IsRetriable(err), errors.Is(err, kerr.UnknownTopicID):
			t.fail(err)
		default:
			t.fail(&brokerError{err})
		}
		return false
	}
	sp, err := r.s.digest(t.at, rp, alone)
	if err != nil {
		t.fail(err)
		return false
	}
	t.failing = time.Time{}
	t.high = rp.HighWatermark
	if r.s.committed {
		t.high = rp.LastStableOffset
	}
	if sp.next == t.at {
		return false // nothing there yet
	}
	t.queue = append(t.queue, sp)
	t.bytes += sp.bytes
	t.at = sp.next
	return false
}

// outOfRange asks what a partition has; brokers do not say it along with the error.
func (r *reader) outOfRange(t *track) {
	metas, err := r.s.metadata(r.ctx, []string{t.part.topic})
	if err == nil {
		var first map[tp]listed
		if first, err = r.s.listOffsets(r.ctx, metas, position{t.part: askEarliest}, false); err == nil {
			err = &rangeError{first: first[t.part].offset}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.fail(err)
	r.signal()
}

// fatalError is a fault that waiting does not mend.
type fatalError interface {
	error
	fatal()
}

// brokerError is a refusal of the broker's.
type brokerError struct{ err error }

func (e *brokerError) Error() string { return e.err.Error() }
func (e *brokerError) Unwrap() error { return e.err }
func (e *brokerError) fatal()        {}

// rangeError says that a partition does not have the offset that was to be read.
type rangeError struct{ first int64 }

func (e *rangeError) Error() string {
	return fmt.Sprintf("the offset is not there any more: the partition begins at %d", e.first)
}
func (e *rangeError) fatal() {}

// madeAgainError says that a topic was deleted and made again.
type madeAgainError struct{ was, is topicID }

func (e *madeAgainError) Error() string {
	return fmt.Sprintf("the topic was deleted and made again: its id is %s and was %s", e.is, e.was)
}
func (e *madeAgainError) fatal() {}

// digest keeps the batches of a response that count: no control records, nothing of aborted transactions.
func (s *source) digest(at int64, rp *kmsg.FetchResponseTopicPartition, alone bool) (span, error) {
	batches, err := splitBatches(rp.RecordBatches)
	if err != nil {
		return span{}, &brokerError{err}
	}
	if alone && len(batches) == 0 && len(rp.RecordBatches) > 0 {
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
			if s.committed && len(aborted[b.producer]) > 0 && b.abortMarker(s.codec) {
				aborted[b.producer] = aborted[b.producer][1:]
			}
			continue
		}
		if s.committed && b.txn && len(aborted[b.producer]) > 0 && aborted[b.producer][0] <= b.base {
			continue
		}
		sp.batches = append(sp.batches, b)
	}
	return sp, nil
}
