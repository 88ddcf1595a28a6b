// Package kafka reads from and writes to Apache Kafka. The source reads exact ranges of offsets per batch
// and decodes record batches straight into columns; the sink writes a batch in one transaction.
package kafka

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
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
	start, end  edge
	committed   bool // isolation.level read_committed
	loss        bool // failOnDataLoss
	maxOffsets  int64
	minOffsets  int64
	maxDelay    time.Duration
	group       string
	description string
	fetch       fetchLimits
	division    division

	reader  *reader
	lives   *lives
	began   time.Time    // when minOffsetsPerTrigger has last let a batch through, zero for never
	fixed   position     // availableNow: the end
	looked  time.Time    // when the brokers were last asked what partitions there are
	skipped atomic.Int64 // offsets that were lost and passed over
}

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	s := &source{env: env, codec: kgo.DefaultDecompressor(), loss: true}
	if s.env.Now == nil {
		s.env.Now = time.Now
	}
	headers, err := o.Bool("includeHeaders", false)
	if err != nil {
		return nil, err
	}
	s.schema = Schema(headers)
	if err := s.topics(o); err != nil {
		return nil, err
	}
	if s.start, err = newStart(o, env.Static); err != nil {
		return nil, err
	}
	if s.end, err = newEnd(o, env.Static); err != nil {
		return nil, err
	}
	if s.division, err = newDivision(o); err != nil {
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
	if s.maxOffsets < 0 || s.minOffsets < 0 {
		return nil, fmt.Errorf("options \"maxOffsetsPerTrigger\" and \"minOffsetsPerTrigger\" must not be negative, found %d and %d", s.maxOffsets, s.minOffsets)
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
	if s.lives, err = newLives(env.Log); err != nil {
		return nil, err
	}
	if s.client, err = dial(env, o); err != nil {
		return nil, err
	}
	s.admin = kadm.NewClient(s.client.Client)
	s.reader = s.newReader()
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
		{"kafka.max.partition.fetch.bytes", partitionBytes, &s.fetch.partitionBytes},
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

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string { return s.description }

// Close implements connector.Source.
func (s *source) Close() error {
	s.reader.close()
	s.client.Close()
	return nil
}

const (
	adminTimeout = 60 * time.Second
	// lookEvery is how often a query that reads steadily asks for new partitions and topics.
	lookEvery = time.Second
)

// Next implements connector.Source.
func (s *source) Next(ctx context.Context, start connector.Offset, unlimited bool) (connector.Offset, connector.Offset, error) {
	from, lived, err := parseOffset(start)
	if err != nil {
		return nil, nil, err
	}
	s.reader.release() // whatever was planned has been read
	if end, ok := s.arrived(from); ok {
		return s.choose(start, from, end, unlimited)
	}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	v, err := s.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	first := from == nil
	for _, t := range v.gone {
		if s.lives.ids[t] == nil {
			return nil, nil, fmt.Errorf("topic %q: %w", t, s.client.explain(kerr.UnknownTopicOrPartition))
		}
	}
	if err := s.lives.see(s.batch(), v.metas); err != nil {
		return nil, nil, err
	}
	if first {
		if from, err = s.start.resolve(ctx, s, v); err != nil {
			return nil, nil, err
		}
		lived = nil
		from = maps.Clone(from)
	}
	from, moved, err := s.reconcile(from, lived, v, first)
	if err != nil {
		return nil, nil, err
	}
	end := v.end
	if s.env.Static {
		if end, err = s.ending(ctx, from, v); err != nil {
			return nil, nil, err
		}
	}
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
	if behind(from, end) == 0 && (first && len(from) > 0 || moved && !s.env.Static) {
		// Even without rows, where an unread topic begins is decided now: latest must not move on. So is where reading goes on
		// after a loss, which is then told of once.
		return s.offset(from), s.offset(end), nil
	}
	return s.choose(start, from, end, unlimited)
}

// arrived is the end of all partitions, if records wait that were fetched already and the partitions have been looked at
// lately. A batch of what has come needs no request to the brokers then.
func (s *source) arrived(from position) (position, bool) {
	if from == nil || s.fixed != nil || s.env.Static || time.Since(s.looked) > lookEvery {
		return nil, false
	}
	return s.reader.ends(from)
}

// behind is how many offsets lie between two positions.
func behind(from, end position) int64 {
	n := int64(0)
	for t, o := range end {
		n += max(o-from[t], 0)
	}
	return n
}

// choose is the end of the next batch by the limits.
func (s *source) choose(start connector.Offset, from, end position, unlimited bool) (connector.Offset, connector.Offset, error) {
	total := behind(from, end)
	latest := s.offset(end)
	if !unlimited && s.minOffsets > 0 && s.fixed == nil && !s.env.Static {
		// As in Spark, the first batch of a run does not wait.
		if now := s.env.Now(); total >= s.minOffsets || now.Sub(s.began) >= s.maxDelay {
			s.began = now
		} else {
			return start, latest, nil
		}
	}
	if total == 0 {
		return start, latest, nil
	}
	to := end
	if !unlimited && s.maxOffsets > 0 && total > s.maxOffsets {
		to = limit(from, end, s.maxOffsets, total)
	} else {
		to = maps.Clone(to)
	}
	for t := range from {
		if _, ok := to[t]; !ok {
			to[t] = from[t]
		}
	}
	return s.offset(to), latest, nil
}

// offset is a position of the topics as they are now.
func (s *source) offset(p position) connector.Offset { return p.offset(s.lives.now) }

// batch is the id of the batch that is being planned.
func (s *source) batch() int64 {
	if s.env.NextBatch == nil {
		return 0
	}
	return s.env.NextBatch()
}

// ending is where a static table ends.
func (s *source) ending(ctx context.Context, from position, v view) (position, error) {
	end, err := s.end.resolve(ctx, s, v)
	if err != nil {
		return nil, err
	}
	for _, t := range end.sorted() {
		if o := end[t]; o < from[t] {
			return nil, fmt.Errorf("topic %q, partition %d: the table would end at offset %d (option %q) and begin at %d (option %q)", t.topic, t.partition, o, s.end.option, from[t], s.start.option)
		} else if o > v.end[t] {
			return nil, fmt.Errorf("option %q: topic %q, partition %d: found %d, but the partition ends at %d", s.end.option, t.topic, t.partition, o, v.end[t])
		}
	}
	return end, nil
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

// reconcile compares the position with what the topics hold: partitions that are new begin at their first record; records
// that are gone are an error, or skipped where failOnDataLoss is false, and moved is true then.
func (s *source) reconcile(from position, lived map[string]int64, v view, first bool) (to position, moved bool, err error) {
	out := position{}
	var lost []string
	condition, skipped := "", int64(0)
	lose := func(c string, n int64, format string, args ...any) {
		condition, lost, skipped = c, append(lost, fmt.Sprintf(format, args...)), skipped+n
	}
	again := map[string]bool{}
	for _, t := range from.sorted() {
		o := from[t]
		e, ok := v.end[t]
		switch {
		case !first && lived[t.topic] != s.lives.now(t.topic):
			if !again[t.topic] {
				ids := s.lives.ids[t.topic]
				lose("PARTITION_OFFSET_CHANGED", 0, "topic %q was deleted and made again (its id is %s and was %s): what the old one had behind the offsets that were read, %s, is gone",
					t.topic, ids[len(ids)-1], ids[min(lived[t.topic], int64(len(ids)-1))], from.of(t.topic))
			}
			again[t.topic] = true
			if !ok {
				continue
			}
			o = v.earliest[t]
		case !ok:
			lose("PARTITIONS_DELETED", 0, "%s: the partition is gone, it was read up to offset %d", t, o)
			continue
		case o < v.earliest[t]:
			lose("START_OFFSET_RESET", v.earliest[t]-o, "%s: offsets %d to %d are gone", t, o, v.earliest[t]-1)
			o = v.earliest[t]
		case o > e:
			lose("PARTITION_OFFSET_CHANGED", 0, "%s: it ends at offset %d and was to be read from %d: is the start beyond the end, or has the broker lost the end of the partition?", t, e, o)
			o = e // as Spark does: what is there was read, as far as anybody can tell
		}
		out[t] = o
	}
	for _, t := range v.end.sorted() {
		if _, ok := from[t]; ok {
			continue
		}
		out[t] = v.earliest[t]
		if n := v.earliest[t]; n > 0 && !again[t.topic] {
			lose("ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO", n, "%s: the partition is new and begins at offset %d: offsets 0 to %d are gone", t, n, n-1)
		}
	}
	return out, len(lost) > 0, s.dataLoss(condition, skipped, strings.Join(lost, "; "))
}

// of lists the offsets of a topic: "0: 17, 1: 3".
func (p position) of(topic string) string {
	var out []string
	for _, t := range p.sorted() {
		if t.topic == topic {
			out = append(out, fmt.Sprintf("%d: %d", t.partition, p[t]))
		}
	}
	return strings.Join(out, ", ")
}

// dataLoss is an error, or a warning where failOnDataLoss is false, about so many rows that are gone; the empty text is none.
func (s *source) dataLoss(condition string, offsets int64, text string) error {
	if text == "" {
		return nil
	}
	if s.loss {
		return sparkerr.New("KAFKA_DATA_LOSS."+condition, "data is lost: %s; set option failOnDataLoss to false to go on with what is there", text)
	}
	all := s.skipped.Add(offsets)
	if s.env.Warn != nil {
		s.env.Warn("data is lost and skipped: %s (%d offsets since the start of the run)", text, all)
	}
	return nil
}

// Fix implements connector.Bounded.
func (s *source) Fix(ctx context.Context, _ connector.Offset) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	v, err := s.look(ctx)
	s.fixed = v.end
	return err
}

// Wait implements connector.Waiter.
func (s *source) Wait(ctx context.Context, start connector.Offset) error {
	from, lived, err := parseOffset(start)
	if err != nil {
		return err
	}
	if s.minOffsets > 0 {
		return sleep(ctx, min(s.maxDelay, minOffsetsWait))
	}
	var wants []want
	for t, o := range from {
		if lived[t.topic] == s.lives.now(t.topic) {
			wants = append(wants, want{slot{t, 0}, s.lives.id(t.topic), o, math.MaxInt64})
		}
	}
	s.reader.follow(wants...)
	if s.reader.quiet(from) {
		return sleep(ctx, retryWait)
	}
	return s.reader.wait(ctx, lookEvery)
}

// minOffsetsWait is how long to wait between counts of what is there.
const minOffsetsWait = 50 * time.Millisecond

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Commit implements connector.Committer: lag tools see the offsets in the consumer group.
func (s *source) Commit(ctx context.Context, _ int64, end connector.Offset) error {
	if s.group == "" {
		return nil
	}
	p, _, err := parseOffset(end)
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
	from, lived, err1 := parseOffset(start)
	end, lives, err2 := parseOffset(latest)
	if err1 != nil || err2 != nil {
		return nil
	}
	out := map[string]int64{}
	for t, e := range end {
		if lived[t.topic] != lives[t.topic] {
			from[t] = 0
		}
		out[t.String()] = max(e-from[t], 0)
	}
	return out
}

// Metrics implements connector.MetricsReporter, with Spark's names.
func (s *source) Metrics(end, latest connector.Offset) map[string]string {
	lag := s.Lag(end, latest)
	if len(lag) == 0 {
		return nil
	}
	least, most, sum := int64(math.MaxInt64), int64(0), int64(0)
	for _, n := range lag {
		least, most, sum = min(least, n), max(most, n), sum+n
	}
	m := map[string]string{
		"minOffsetsBehindLatest": strconv.FormatInt(least, 10), "maxOffsetsBehindLatest": strconv.FormatInt(most, 10),
		"avgOffsetsBehindLatest": javatext.DoubleString(float64(sum) / float64(len(lag))),
	}
	if n := s.skipped.Load(); n > 0 {
		m["offsetsLost"] = strconv.FormatInt(n, 10)
	}
	return m
}
