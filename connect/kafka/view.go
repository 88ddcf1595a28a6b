package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What brokers know of topics and partitions. The client's own functions answer from a cache of some seconds, in which a topic
// that was made again is still the old one.

// topicMeta is what brokers know of a topic.
type topicMeta struct {
	id      topicID
	leaders map[int32]int32
	err     error
}

// metadata asks for topics by name; nil asks for all, without those that are Kafka's own.
func (s *source) metadata(ctx context.Context, topics []string) (map[string]topicMeta, error) {
	req := kmsg.NewPtrMetadataRequest()
	if topics != nil {
		req.Topics = []kmsg.MetadataRequestTopic{}
	}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, s.client.Client)
	if err != nil {
		return nil, err
	}
	out := map[string]topicMeta{}
	for i := range resp.Topics {
		rt := &resp.Topics[i]
		if rt.Topic == nil || topics == nil && rt.IsInternal {
			continue
		}
		m := topicMeta{id: topicID(rt.TopicID), leaders: map[int32]int32{}, err: kerr.ErrorForCode(rt.ErrorCode)}
		for _, p := range rt.Partitions {
			m.leaders[p.Partition] = p.Leader
		}
		out[*rt.Topic] = m
	}
	return out, nil
}

// Times that ask for a place rather than a time.
const (
	askLatest   = -1
	askEarliest = -2
)

// listed is the first offset at or after a time, -1 for none.
type listed struct{ offset, stamp int64 }

// listOffsets asks the leaders of partitions for their offsets at times in ms.
func (s *source) listOffsets(ctx context.Context, metas map[string]topicMeta, times position, committed bool) (map[tp]listed, error) {
	reqs := map[int32]*kmsg.ListOffsetsRequest{}
	for _, t := range times.sorted() {
		leader, ok := metas[t.topic].leaders[t.partition]
		if !ok || leader < 0 {
			return nil, fmt.Errorf("topic %q, partition %d: %w", t.topic, t.partition, kerr.LeaderNotAvailable)
		}
		req := reqs[leader]
		if req == nil {
			req = kmsg.NewPtrListOffsetsRequest()
			req.ReplicaID = -1
			if committed {
				req.IsolationLevel = 1
			}
			reqs[leader] = req
		}
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != t.topic {
			rt := kmsg.NewListOffsetsRequestTopic()
			rt.Topic = t.topic
			req.Topics = append(req.Topics, rt)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp, p.CurrentLeaderEpoch = t.partition, times[t], -1
		last := &req.Topics[len(req.Topics)-1]
		last.Partitions = append(last.Partitions, p)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	out, errs := map[tp]listed{}, []error{}
	for node, req := range reqs {
		all.Go(func() {
			resp, err := s.client.Broker(int(node)).RetriableRequest(ctx, req)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
				return
			}
			for _, rt := range resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range rt.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						errs = append(errs, fmt.Errorf("topic %q, partition %d: %w", rt.Topic, p.Partition, err))
					}
					out[tp{rt.Topic, p.Partition}] = listed{p.Offset, p.Timestamp}
				}
			}
		})
	}
	all.Wait()
	return out, errors.Join(errs...)
}

// view is what the brokers have of the topics of a source.
type view struct {
	metas         map[string]topicMeta
	earliest, end position
	gone          []string // topics of subscribe and assign that are not there
}

// look asks the brokers for the first and the end offsets of all partitions. It waits for leaders to be elected, and for
// brokers that were there before to come back.
func (s *source) look(ctx context.Context) (view, error) {
	if err := s.client.reach(ctx); err != nil {
		return view{}, err
	}
	for {
		v, err := s.lookOnce(ctx)
		var away *net.OpError
		if err == nil || !kerr.IsRetriable(err) && !errors.As(err, &away) && !errors.Is(err, io.EOF) || !wait(ctx, retryWait) {
			return v, s.client.explain(err)
		}
	}
}

func (s *source) lookOnce(ctx context.Context) (view, error) {
	v := view{earliest: position{}, end: position{}, metas: map[string]topicMeta{}}
	topics := slices.Clone(s.subscribe)
	for t := range s.assign {
		topics = append(topics, t)
	}
	metas, err := s.metadata(ctx, topics)
	if err != nil {
		return v, err
	}
	first, last := position{}, position{}
	for t, m := range metas {
		switch {
		case s.pattern != nil && !s.pattern.MatchString(t):
			continue
		case errors.Is(m.err, kerr.UnknownTopicOrPartition):
			if s.pattern == nil {
				v.gone = append(v.gone, t)
			}
			continue
		case m.err != nil:
			return v, fmt.Errorf("topic %q: %w", t, m.err)
		}
		v.metas[t] = m
		for _, p := range s.assign[t] {
			if _, ok := m.leaders[p]; !ok {
				return v, fmt.Errorf("option \"assign\": topic %q has no partition %d", t, p)
			}
		}
		for p := range m.leaders {
			if s.assign == nil || slices.Contains(s.assign[t], p) {
				first[tp{t, p}], last[tp{t, p}] = askEarliest, askLatest
			}
		}
	}
	slices.Sort(v.gone)
	s.looked = time.Now()
	var starts map[tp]listed
	var startErr error
	var both sync.WaitGroup
	both.Go(func() { starts, startErr = s.listOffsets(ctx, v.metas, first, false) })
	ends, err := s.listOffsets(ctx, v.metas, last, s.committed)
	both.Wait()
	if err := errors.Join(startErr, err); err != nil {
		return v, err
	}
	for t := range first {
		v.earliest[t], v.end[t] = starts[t].offset, ends[t].offset
	}
	return v, nil
}
