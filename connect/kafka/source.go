// Package kafka reads from and writes to Apache Kafka. The source reads exact ranges of offsets per batch
// and decodes record batches straight into columns; the sink writes a batch in one transaction.
package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
)

// source is a Kafka source of one query.
type source struct {
	env    connector.Env
	schema *columnar.Schema
	client *brokers
	admin  *kadm.Client
	codec  kgo.Decompressor

	subscribe   []string       // topics by name
	pattern     *regexp.Regexp // or topics that match
	assign      map[string][]int32
	start       startAt
	committed   bool // isolation.level read_committed
	loss        bool // failOnDataLoss
	maxOffsets  int64
	minOffsets  int64
	maxDelay    time.Duration
	group       string
	description string
	fetch       fetchLimits

	leaders leaders
	waited  time.Time // since when fewer than minOffsets rows are there
	fixed   position  // availableNow: the end
	last    position  // latest offsets of the last look, for lag

	mu       sync.Mutex
	fetchers map[tp]*fetcher
}

// startAt says where a partition begins that was never read.
type startAt struct {
	latest    bool
	exact     position // -1 latest, -2 earliest
	stamp     int64    // ms since the epoch, -1 for none
	stamps    map[string]map[int32]int64
	orLatest  bool // startingOffsetsByTimestampStrategy latest
	hasStamps bool
}

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	s := &source{env: env, leaders: leaders{m: map[string]topicMeta{}}, fetchers: map[tp]*fetcher{}, codec: kgo.DefaultDecompressor(), loss: true}
	headers, err := o.Bool("includeHeaders", false)
	if err != nil {
		return nil, err
	}
	s.schema = Schema(headers)
	if err := s.topics(o); err != nil {
		return nil, err
	}
	if err := s.starting(o); err != nil {
		return nil, err
	}
	if s.loss, err = o.Bool("failOnDataLoss", true); err != nil {
		return nil, err
	}
	if s.maxOffsets, err = o.Int("maxOffsetsPerTrigger", 0); err != nil {
		return nil, err
	}
	if s.minOffsets, err = o.Int("minOffsetsPerTrigger", 0); err != nil {
		return nil, err
	}
	if s.maxDelay, err = o.Duration("maxTriggerDelay", 15*time.Minute); err != nil {
		return nil, err
	}
	if s.maxOffsets > 0 && s.minOffsets > s.maxOffsets {
		return nil, fmt.Errorf("option \"minOffsetsPerTrigger\" (%d) is greater than \"maxOffsetsPerTrigger\" (%d)", s.minOffsets, s.maxOffsets)
	}
	switch level := strings.ToLower(o.String("kafka.isolation.level", "read_uncommitted")); level {
	case "read_committed", "read_uncommitted":
		s.committed = level == "read_committed"
	default:
		return nil, fmt.Errorf("option \"kafka.isolation.level\": found %q, expected read_committed or read_uncommitted", level)
	}
	s.group = o.String("kafka.group.id", "")
	if err := s.limits(o); err != nil {
		return nil, err
	}
	if s.client, err = dial(env, o); err != nil {
		return nil, err
	}
	s.admin = kadm.NewClient(s.client.Client)
	return s, nil
}

// fetchLimits bound one fetch.
type fetchLimits struct{ bytes, partitionBytes, minBytes, waitMs int32 }

// limits reads what a fetch may take. They are soft: a record that is greater comes alone.
func (s *source) limits(o connector.Options) error {
	for _, l := range []struct {
		name string
		def  int64
		to   *int32
	}{
		{"kafka.fetch.max.bytes", fetchBytes, &s.fetch.bytes},
		{"kafka.max.partition.fetch.bytes", fetchBytes, &s.fetch.partitionBytes},
		{"kafka.fetch.min.bytes", 1, &s.fetch.minBytes},
		{"kafka.fetch.max.wait.ms", fetchWaitMs, &s.fetch.waitMs},
	} {
		n, err := o.Int(l.name, l.def)
		if err != nil {
			return err
		}
		if n < 0 || n > 1<<30 {
			return fmt.Errorf("option %q: found %d, expected 0 to %d", l.name, n, 1<<30)
		}
		*l.to = int32(n)
	}
	return nil
}

// topics reads subscribe, subscribePattern or assign.
func (s *source) topics(o connector.Options) error {
	n := 0
	if v, ok := o.Get("subscribe"); ok {
		n++
		for _, t := range strings.Split(v, ",") {
			if t = strings.TrimSpace(t); t != "" {
				s.subscribe = append(s.subscribe, t)
			}
		}
		s.description = "KafkaV2[Subscribe[" + strings.Join(s.subscribe, ", ") + "]]"
		if len(s.subscribe) == 0 {
			return fmt.Errorf("option \"subscribe\" names no topic")
		}
	}
	if v, ok := o.Get("subscribePattern"); ok {
		n++
		re, err := regexp.Compile("^(?:" + v + ")$")
		if err != nil {
			return fmt.Errorf("option \"subscribePattern\": %w", err)
		}
		s.pattern, s.description = re, "KafkaV2[SubscribePattern["+v+"]]"
	}
	if v, ok := o.Get("assign"); ok {
		n++
		if err := json.Unmarshal([]byte(v), &s.assign); err != nil {
			return fmt.Errorf("option \"assign\": found %s, expected {\"topic\": [0, 1]}", v)
		}
		s.description = "KafkaV2[Assign[" + v + "]]"
	}
	if n != 1 {
		return fmt.Errorf("one of the options \"subscribe\", \"subscribePattern\" and \"assign\" must say which topics to read, found %d of them", n)
	}
	return nil
}

// starting reads where unread partitions begin.
func (s *source) starting(o connector.Options) error {
	s.start.stamp = -1
	s.start.orLatest = strings.EqualFold(o.String("startingOffsetsByTimestampStrategy", "error"), "latest")
	if v, ok := o.Get("startingOffsetsByTimestamp"); ok {
		var m map[string]map[string]int64
		if err := json.Unmarshal([]byte(v), &m); err != nil {
			return fmt.Errorf("option \"startingOffsetsByTimestamp\": found %s, expected {\"topic\": {\"0\": milliseconds}}", v)
		}
		s.start.stamps, s.start.hasStamps = map[string]map[int32]int64{}, true
		for t, ps := range m {
			s.start.stamps[t] = map[int32]int64{}
			for p, ms := range ps {
				n, err := strconv.ParseInt(p, 10, 32)
				if err != nil {
					return fmt.Errorf("option \"startingOffsetsByTimestamp\": %q is not the number of a partition", p)
				}
				s.start.stamps[t][int32(n)] = ms
			}
		}
		return nil
	}
	if v, ok := o.Get("startingTimestamp"); ok {
		ms, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return fmt.Errorf("option \"startingTimestamp\": found %q, expected milliseconds since 1970", v)
		}
		s.start.stamp = ms
		return nil
	}
	v := o.String("startingOffsets", "latest")
	if s.env.Static {
		v = o.String("startingOffsets", "earliest")
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "earliest":
	case "latest":
		s.start.latest = true
	default:
		p, err := parsePosition([]byte(v))
		if err != nil {
			return fmt.Errorf("option \"startingOffsets\": found %q, expected earliest, latest or {\"topic\": {\"0\": offset}}", v)
		}
		s.start.exact = p
	}
	return nil
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string { return s.description }

// Close implements connector.Source.
func (s *source) Close() error {
	s.mu.Lock()
	fs := s.fetchers
	s.fetchers = map[tp]*fetcher{}
	s.mu.Unlock()
	for _, f := range fs {
		f.stop()
	}
	for _, f := range fs {
		<-f.done
	}
	s.client.Close()
	return nil
}

// offsets lists the first and the end offsets of all partitions.
func (s *source) offsets(ctx context.Context) (earliest, end position, err error) {
	if err := s.client.reach(ctx); err != nil {
		return nil, nil, err
	}
	topics := s.subscribe
	if s.pattern != nil {
		all, err := s.admin.ListTopics(ctx)
		if err != nil {
			return nil, nil, s.client.explain(err)
		}
		topics = nil
		for t := range all {
			if s.pattern.MatchString(t) {
				topics = append(topics, t)
			}
		}
		sort.Strings(topics)
		if len(topics) == 0 {
			return position{}, position{}, nil
		}
	}
	for t := range s.assign {
		topics = append(topics, t)
	}
	first, err := s.admin.ListStartOffsets(ctx, topics...)
	if err != nil {
		return nil, nil, s.client.explain(err)
	}
	list := s.admin.ListEndOffsets
	if s.committed {
		list = s.admin.ListCommittedOffsets
	}
	last, err := list(ctx, topics...)
	if err != nil {
		return nil, nil, s.client.explain(err)
	}
	earliest, end = position{}, position{}
	take := func(from kadm.ListedOffsets, to position) error {
		for t, ps := range from {
			for p, o := range ps {
				if s.assign != nil && !contains(s.assign[t], p) {
					continue
				}
				if o.Err != nil {
					return fmt.Errorf("topic %q, partition %d: %w", t, p, s.client.explain(o.Err))
				}
				to[tp{t, p}] = o.Offset
			}
		}
		return nil
	}
	if err := take(first, earliest); err != nil {
		return nil, nil, err
	}
	return earliest, end, take(last, end)
}

func contains(list []int32, x int32) bool {
	for _, v := range list {
		if v == x {
			return true
		}
	}
	return false
}

const adminTimeout = 60 * time.Second

// Next implements connector.Source.
func (s *source) Next(ctx context.Context, start connector.Offset, unlimited bool) (connector.Offset, connector.Offset, error) {
	from, err := parsePosition(start)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	earliest, end, err := s.offsets(ctx)
	if err != nil {
		return nil, nil, err
	}
	first := from == nil
	if first {
		if from, err = s.beginning(ctx, earliest, end); err != nil {
			return nil, nil, err
		}
	}
	if from, err = s.reconcile(from, earliest, end); err != nil {
		return nil, nil, err
	}
	s.last = end
	if s.fixed != nil {
		capped := position{}
		for t, o := range end {
			f, ok := s.fixed[t]
			if !ok {
				continue // a partition that came after the start of availableNow
			}
			capped[t] = min(o, max(f, from[t]))
		}
		end = capped
	}
	total := int64(0)
	for t, o := range end {
		total += max(o-from[t], 0)
	}
	if total == 0 {
		if first && len(from) > 0 {
			// Even without rows, where an unread topic begins is decided now: latest must not move on.
			return from.offset(), end.offset(), nil
		}
		return start, end.offset(), nil
	}
	if !unlimited && s.minOffsets > 0 && total < s.minOffsets && s.fixed == nil {
		now := s.env.Now()
		if s.waited.IsZero() {
			s.waited = now
		}
		if now.Sub(s.waited) < s.maxDelay {
			return start, end.offset(), nil
		}
	}
	s.waited = time.Time{}
	to := end
	if !unlimited && s.maxOffsets > 0 && total > s.maxOffsets {
		to = limit(from, end, s.maxOffsets, total)
	}
	for t := range from {
		if _, ok := to[t]; !ok {
			to[t] = from[t]
		}
	}
	return to.offset(), end.offset(), nil
}

// limit shares a number of rows among partitions by their lag, at least one row each.
func limit(from, end position, most, total int64) position {
	to := position{}
	for t, e := range end {
		lag := max(e-from[t], 0)
		n := int64(float64(most) * float64(lag) / float64(total))
		if n == 0 && lag > 0 {
			n = 1
		}
		to[t] = from[t] + min(n, lag)
	}
	return to
}

// beginning is where the first batch starts.
func (s *source) beginning(ctx context.Context, earliest, end position) (position, error) {
	p := position{}
	var byStamp kadm.ListedOffsets
	for t := range end {
		stamp := s.start.stamp
		if s.start.hasStamps {
			ms, ok := s.start.stamps[t.topic][t.partition]
			if !ok {
				return nil, fmt.Errorf("option \"startingOffsetsByTimestamp\" says nothing of topic %q, partition %d", t.topic, t.partition)
			}
			stamp = ms
			byStamp = nil
		}
		switch {
		case stamp >= 0:
			if byStamp == nil {
				var err error
				if byStamp, err = s.admin.ListOffsetsAfterMilli(ctx, stamp, t.topic); err != nil {
					return nil, s.client.explain(err)
				}
			}
			o, ok := byStamp.Lookup(t.topic, t.partition)
			if !ok {
				one, err := s.admin.ListOffsetsAfterMilli(ctx, stamp, t.topic)
				if err != nil {
					return nil, s.client.explain(err)
				}
				o, _ = one.Lookup(t.topic, t.partition)
			}
			if o.Err != nil {
				return nil, s.client.explain(o.Err)
			}
			if o.Timestamp < 0 && o.Offset >= end[t] && !s.start.orLatest {
				return nil, fmt.Errorf("topic %q, partition %d has no record at or after %d ms; set startingOffsetsByTimestampStrategy to latest to begin at its end", t.topic, t.partition, stamp)
			}
			p[t] = o.Offset
		case s.start.exact != nil:
			o, ok := s.start.exact[t]
			if !ok {
				return nil, fmt.Errorf("option \"startingOffsets\" says nothing of topic %q, partition %d", t.topic, t.partition)
			}
			switch o {
			case -1:
				o = end[t]
			case -2:
				o = earliest[t]
			}
			p[t] = o
		case s.start.latest:
			p[t] = end[t]
		default:
			p[t] = earliest[t]
		}
	}
	return p, nil
}

// reconcile compares the position with what the topic holds: partitions that are new begin at their
// first record; records that are gone are an error, or skipped where failOnDataLoss is false.
func (s *source) reconcile(from, earliest, end position) (position, error) {
	out := position{}
	var lost []string
	condition := ""
	lose := func(c, format string, args ...any) {
		condition, lost = c, append(lost, fmt.Sprintf(format, args...))
	}
	for t, o := range from {
		e, ok := end[t]
		switch {
		case !ok:
			lose("PARTITIONS_DELETED", "%s: the partition is gone, it was read up to offset %d", t, o)
			continue
		case o < earliest[t]:
			lose("START_OFFSET_RESET", "%s: offsets %d to %d are gone", t, o, earliest[t]-1)
			o = earliest[t]
		case o > e:
			lose("PARTITION_OFFSET_CHANGED", "%s: it ends at offset %d and was to be read from %d: is the start beyond the end, or was the topic deleted and made again?", t, e, o)
			o = earliest[t]
		}
		out[t] = o
	}
	for t := range end {
		if _, ok := from[t]; !ok {
			out[t] = earliest[t]
		}
	}
	sort.Strings(lost)
	return out, s.dataLoss(condition, strings.Join(lost, "; "))
}

// dataLoss is an error, or a warning where failOnDataLoss is false, about rows that are gone; the empty text is none.
func (s *source) dataLoss(condition, text string) error {
	if text == "" {
		return nil
	}
	if s.loss {
		return sparkerr.New("KAFKA_DATA_LOSS."+condition, "data is lost: %s; set option failOnDataLoss to false to go on with what is there", text)
	}
	if s.env.Warn != nil {
		s.env.Warn("data is lost and skipped: %s", text)
	}
	return nil
}

// Fix implements connector.Bounded.
func (s *source) Fix(ctx context.Context, _ connector.Offset) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	_, end, err := s.offsets(ctx)
	s.fixed = end
	return err
}

// Plan implements connector.Source: one partition of the batch per partition of the topic.
func (s *source) Plan(ctx context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, err := parsePosition(start)
	if err != nil {
		return nil, err
	}
	to, err := parsePosition(end)
	if err != nil {
		return nil, err
	}
	var missing bool
	for t, e := range to {
		if o, ok := from[t]; !ok || o > e {
			missing = true
		}
	}
	// The first batch, new partitions, or a topic that was made again and has fewer rows (which failOnDataLoss lets pass):
	// where they begin is not in the offsets.
	if missing {
		ctx, cancel := context.WithTimeout(ctx, adminTimeout)
		defer cancel()
		earliest, last, err := s.offsets(ctx)
		if err != nil {
			return nil, err
		}
		begin := position{}
		if from == nil {
			if begin, err = s.beginning(ctx, earliest, last); err != nil {
				return nil, err
			}
		}
		full := position{}
		for t := range to {
			switch o, ok := from[t]; {
			case ok && o <= to[t]:
				full[t] = o
			case from == nil:
				full[t] = min(begin[t], to[t])
			default:
				full[t] = min(earliest[t], to[t])
			}
		}
		from = full
	}
	var out []connector.Partition
	for _, t := range to.sorted() {
		if to[t] > from[t] {
			out = append(out, &partition{s: s, part: t, from: from[t], to: to[t]})
		}
	}
	return out, nil
}

// partition is a range of offsets.
type partition struct {
	s        *source
	part     tp
	from, to int64
}

// ID implements connector.Partition.
func (p *partition) ID() string { return p.part.String() }

// Read implements connector.Partition.
func (p *partition) Read(ctx context.Context, need []int, emit func(connector.Chunk) error) error {
	wanted := make([]bool, len(p.s.schema.Fields))
	for i := range wanted {
		wanted[i] = need == nil
	}
	for _, n := range need {
		wanted[n] = true
	}
	f := p.s.fetcher(p.part, p.from)
	for at := p.from; at < p.to; {
		sp, err := f.take(ctx, p.to)
		var gone *rangeError
		if errors.As(err, &gone) {
			// Retention has passed the range since it was planned, or while the query was down.
			next := p.to // of a topic that was made again nothing belongs to the range
			if at < gone.first {
				next = min(gone.first, p.to)
			}
			if err := p.s.dataLoss("COULD_NOT_READ_OFFSET_RANGE", fmt.Sprintf("%s: offsets %d to %d are gone", p.part, at, next-1)); err != nil {
				return err
			}
			if at = next; at < p.to {
				f = p.s.fetcher(p.part, at)
			}
			continue
		}
		if err != nil {
			return p.s.client.explain(err)
		}
		at = sp.next
		if len(sp.batches) == 0 {
			continue
		}
		for _, group := range split(sp.batches) {
			c := &chunk{part: p.part, batches: group, from: p.from, to: p.to, schema: p.s.schema, need: wanted, codec: p.s.codec}
			if err := emit(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// split cuts a fetch into pieces that workers decode side by side.
func split(batches []rawBatch) [][]rawBatch {
	const rows = 16384
	var out [][]rawBatch
	from, n := 0, int32(0)
	for i := range batches {
		if n += batches[i].count; n >= rows {
			out = append(out, batches[from:i+1])
			from, n = i+1, 0
		}
	}
	if from < len(batches) {
		out = append(out, batches[from:])
	}
	return out
}

// fetcher is the reader of a partition, positioned at an offset.
func (s *source) fetcher(part tp, at int64) *fetcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fetchers[part]
	if f != nil {
		f.mu.Lock()
		bad := f.err != nil
		f.mu.Unlock()
		if !bad && f.position() == at {
			return f
		}
		f.close()
	}
	f = s.startFetcher(part, at)
	s.fetchers[part] = f
	return f
}

// Commit implements connector.Committer: lag tools see the offsets in the consumer group.
func (s *source) Commit(ctx context.Context, _ int64, end connector.Offset) error {
	if s.group == "" {
		return nil
	}
	p, err := parsePosition(end)
	if err != nil {
		return err
	}
	os := kadm.Offsets{}
	for t, o := range p {
		os.AddOffset(t.topic, t.partition, o, -1)
	}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	rs, err := s.admin.CommitOffsets(ctx, s.group, os)
	if err == nil {
		err = rs.Error()
	}
	if err != nil && s.env.Warn != nil {
		s.env.Warn("offsets could not be written to the consumer group %q: %s", s.group, err)
	}
	return nil
}

// Lag implements connector.LagReporter.
func (s *source) Lag(start, latest connector.Offset) map[string]int64 {
	from, err1 := parsePosition(start)
	end, err2 := parsePosition(latest)
	if err1 != nil || err2 != nil {
		return nil
	}
	out := map[string]int64{}
	for t, e := range end {
		out[t.String()] = max(e-from[t], 0)
	}
	return out
}
