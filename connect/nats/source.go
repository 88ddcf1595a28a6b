package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/connector"
)

// source reads a stream for one query.
type source struct {
	env      connector.Env
	schema   *columnar.Schema
	client   *client
	subjects []string // the filter, nil for all
	headers  bool
	loss     bool // failOnDataLoss
	most     uint64
	start    start
	reader   *reader
	fixed    uint64 // availableNow and static tables: the end, 0 for none
	skipped  atomic.Int64
}

// start says where the first batch begins.
type start struct {
	latest   bool
	sequence uint64 // 0 for the earliest
	at       time.Time
}

func newSource(env connector.Env, o connector.Options) (connector.Source, error) {
	s := &source{env: env}
	var err error
	if s.headers, err = o.Bool("includeHeaders", false); err != nil {
		return nil, err
	}
	s.schema = Schema(s.headers)
	if s.loss, err = o.Bool("failOnDataLoss", true); err != nil {
		return nil, err
	}
	most, err := o.Int("maxOffsetsPerTrigger", 0)
	if err == nil && most < 0 {
		err = fmt.Errorf("option \"maxOffsetsPerTrigger\": found %d, expected 0 or more", most)
	}
	if err != nil {
		return nil, err
	}
	s.most = uint64(most)
	for _, subject := range strings.Split(o.String("subject", ""), ",") {
		if subject = strings.TrimSpace(subject); subject != "" && subject != ">" {
			s.subjects = append(s.subjects, subject)
		}
	}
	if s.start, err = newStart(o, env.Static); err != nil {
		return nil, err
	}
	if s.client, err = dial(env, o); err != nil {
		return nil, err
	}
	s.reader = &reader{client: s.client, subjects: s.subjects}
	return s, nil
}

func newStart(o connector.Options, static bool) (start, error) {
	if _, ok := o.Get("startingTimestamp"); ok {
		ms, err := o.Int("startingTimestamp", 0)
		return start{at: time.UnixMilli(ms)}, err
	}
	def := "latest"
	if static {
		def = "earliest"
	}
	switch text := strings.ToLower(strings.TrimSpace(o.String("startingOffsets", def))); text {
	case "latest":
		if static {
			return start{}, errors.New("option \"startingOffsets\": found latest, but a static table is read from its start")
		}
		return start{latest: true}, nil
	case "earliest":
		return start{}, nil
	default:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n == 0 {
			return start{}, fmt.Errorf("option \"startingOffsets\": found %q, expected earliest, latest or the sequence of a message", text)
		}
		return start{sequence: n}, nil
	}
}

// Schema implements connector.Source.
func (s *source) Schema() *columnar.Schema { return s.schema }

// Description implements connector.Source.
func (s *source) Description() string {
	return "NATS[" + strings.TrimSpace(s.client.name+" "+strings.Join(s.subjects, ", ")) + "]"
}

// Close implements connector.Source.
func (s *source) Close() error {
	s.reader.close()
	s.client.conn.Close()
	return nil
}

// look is the state of the stream, which must be one that can be read again.
func (s *source) look(ctx context.Context) (*jetstream.StreamInfo, error) {
	info, err := s.client.info(ctx)
	if err != nil {
		return nil, err
	}
	if r := info.Config.Retention; r != jetstream.LimitsPolicy {
		return nil, fmt.Errorf("stream %q has the retention %s and forgets what was read, so that a batch could not be read again; read a stream with the retention limits that mirrors it",
			s.client.name, strings.ToLower(r.String()))
	}
	return info, nil
}

// Fix implements connector.Bounded.
func (s *source) Fix(ctx context.Context, _ connector.Offset) error {
	info, err := s.look(ctx)
	if err != nil {
		return err
	}
	s.fixed = info.State.LastSeq + 1
	return nil
}

// Next implements connector.Source.
func (s *source) Next(ctx context.Context, startOffset connector.Offset, unlimited bool) (end, latest connector.Offset, err error) {
	at, err := parsePosition(startOffset)
	if err != nil {
		return nil, nil, err
	}
	info, err := s.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	if s.env.Static && s.fixed == 0 {
		s.fixed = info.State.LastSeq + 1
	}
	first := at == nil
	if first {
		if at, err = s.first(ctx, info); err != nil {
			return nil, nil, err
		}
	} else if err := s.same(at, info); err != nil {
		return nil, nil, err
	} else if !at.Created.Equal(info.Created) { // passed over: the new stream is read from its start
		at = &position{Stream: s.client.name, Created: info.Created, Next: max(info.State.FirstSeq, 1)}
	}
	next, err := s.client.nextMatch(ctx, at.Next, s.subjects, info)
	if err != nil {
		return nil, nil, err
	}
	newest := *at
	newest.First = 0
	if next > 0 {
		newest.Next = info.State.LastSeq + 1
	}
	to := newest.Next
	if s.most > 0 && !unlimited && next > 0 {
		to = min(to, max(next, at.Next)+s.most) // from the first message on: a batch is not empty
	}
	if s.fixed > 0 {
		to = max(min(to, s.fixed), at.Next)
	}
	if latest, err = newest.offset(); err != nil {
		return nil, nil, err
	}
	if to == at.Next && !first {
		return startOffset, latest, nil
	}
	chosen := position{Stream: at.Stream, Created: at.Created, Next: to}
	if first { // also without messages: where an unread stream begins is decided now, latest must not move on
		chosen.First = at.Next
	}
	end, err = chosen.offset()
	return end, latest, err
}

// first is where the query begins.
func (s *source) first(ctx context.Context, info *jetstream.StreamInfo) (*position, error) {
	p := &position{Stream: s.client.name, Created: info.Created, Next: max(info.State.FirstSeq, 1)}
	switch {
	case s.start.latest:
		p.Next = info.State.LastSeq + 1
	case !s.start.at.IsZero():
		n, err := s.client.sequenceAt(ctx, s.start.at)
		p.Next = n
		return p, err
	case s.start.sequence > info.State.LastSeq+1:
		return nil, fmt.Errorf("option \"startingOffsets\": found %d, but stream %q ends at %d", s.start.sequence, s.client.name, info.State.LastSeq)
	case s.start.sequence > 0:
		p.Next = s.start.sequence
	}
	return p, nil
}

// same checks that the stream is the one that was read before, and has not lost its end.
func (s *source) same(at *position, info *jetstream.StreamInfo) error {
	switch {
	case at.Stream != s.client.name:
		return fmt.Errorf("the checkpoint has read stream %q, and option \"stream\" is %q; take another checkpointLocation", at.Stream, s.client.name)
	case !at.Created.Equal(info.Created):
		return s.dataLoss("STREAM_MADE_AGAIN", 0, "stream %q was deleted and made again at %s: what the old one had from sequence %d on is gone",
			s.client.name, info.Created.UTC().Format(time.RFC3339), at.Next)
	case at.Next > info.State.LastSeq+1:
		return sparkerr.New("NATS_DATA_LOSS.STREAM_ENDS_EARLY", "stream %q ends at sequence %d and was to be read from %d: was it restored from a copy? "+
			"Take another checkpointLocation to read it from the start", s.client.name, info.State.LastSeq, at.Next)
	}
	return nil
}

// dataLoss is an error, or a warning where failOnDataLoss is false, about so many messages that are gone.
func (s *source) dataLoss(condition string, messages uint64, format string, args ...any) error {
	if s.loss {
		return sparkerr.New("NATS_DATA_LOSS."+condition, "data is lost: %s; set option failOnDataLoss to false to go on with what is there", fmt.Sprintf(format, args...))
	}
	all := s.skipped.Add(int64(messages))
	if s.env.Warn != nil {
		s.env.Warn("data is lost and skipped: %s (%d messages since the start of the run)", fmt.Sprintf(format, args...), all)
	}
	return nil
}

// Plan implements connector.Source.
func (s *source) Plan(_ context.Context, startOffset, endOffset connector.Offset) ([]connector.Partition, error) {
	at, err := parsePosition(startOffset)
	if err != nil {
		return nil, err
	}
	to, err := parsePosition(endOffset)
	if err != nil || to == nil {
		return nil, err
	}
	from := to.First
	if at != nil {
		if from = at.Next; !at.Created.Equal(to.Created) {
			from = 1 // the stream was made again in between
		}
	}
	if from >= to.Next {
		return nil, nil
	}
	return []connector.Partition{&partition{s, from, to}}, nil
}

// Wait implements connector.Waiter.
func (s *source) Wait(ctx context.Context, startOffset connector.Offset) error {
	at, err := parsePosition(startOffset)
	if err != nil {
		return err
	}
	if at == nil {
		return sleep(ctx, retryWait)
	}
	return s.reader.wait(ctx, at.Next)
}

// Lag implements connector.LagReporter.
func (s *source) Lag(startOffset, latestOffset connector.Offset) map[string]int64 {
	at, err1 := parsePosition(startOffset)
	to, err2 := parsePosition(latestOffset)
	if err1 != nil || err2 != nil || to == nil {
		return nil
	}
	if at == nil || !at.Created.Equal(to.Created) {
		at = &position{Next: 1}
	}
	return map[string]int64{s.client.name: max(int64(to.Next)-int64(at.Next), 0)}
}

// Metrics implements connector.MetricsReporter.
func (s *source) Metrics(end, latest connector.Offset) map[string]string {
	m := map[string]string{}
	for _, n := range s.Lag(end, latest) {
		m["maxOffsetsBehindLatest"] = strconv.FormatInt(n, 10)
	}
	if n := s.skipped.Load(); n > 0 {
		m["offsetsLost"] = strconv.FormatInt(n, 10)
	}
	return m
}

// forgetful says that a stream is made to lose messages in its middle, so that a gap is no loss.
func forgetful(c *jetstream.StreamConfig) bool {
	return c.MaxMsgsPerSubject > 0 || c.AllowRollup || c.AllowMsgTTL
}

// describe lists spans, the first ones at least.
func describe(spans []span) string {
	const shown = 20
	var out []string
	for _, p := range spans[:min(len(spans), shown)] {
		out = append(out, p.String())
	}
	if n := len(spans) - shown; n > 0 {
		out = append(out, fmt.Sprintf("and %d more ranges", n))
	}
	return strings.Join(out, ", ")
}

// missing tells of sequences of [from, to) that are gone. Gaps are those among the messages that came, which count if all
// subjects were read.
func (s *source) missing(info *jetstream.StreamInfo, from, to uint64, gaps []span) error {
	if forgetful(&info.Config) {
		return nil
	}
	which := ""
	if s.subjects != nil {
		gaps = nil
		if first := info.State.FirstSeq; first > from {
			gaps, which = []span{{from, min(first, to) - 1}}, " (messages of any subject, perhaps of "+strings.Join(s.subjects, ", ")+")"
		}
	}
	gaps = slices.DeleteFunc(gaps, func(p span) bool { return p.from > p.to })
	if len(gaps) == 0 {
		return nil
	}
	n := uint64(0)
	for _, p := range gaps {
		n += p.to - p.from + 1
	}
	return s.dataLoss("MESSAGES_GONE", n, "stream %q: sequences %s are gone%s, the stream begins at %d", s.client.name, describe(gaps), which, info.State.FirstSeq)
}
