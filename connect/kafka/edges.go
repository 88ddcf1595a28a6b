package kafka

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wstream/wstream/engine/connector"
)

// Offsets that stand for a place in JSON.
const (
	latestOffset   = -1
	earliestOffset = -2
)

// edge says where in a partition a range begins or ends that no offset of the checkpoint says.
type edge struct {
	option   string // the option that said it
	latest   bool
	exact    position // may hold latestOffset and earliestOffset
	stamp    int64    // ms since 1970, noStamp for none
	stamps   position // ms since 1970 by partition
	orLatest bool     // the end where no record is as late as the time, otherwise an error
}

const noStamp = math.MinInt64

// newStart reads where partitions begin that were never read. Of several options a time goes before times by partition, and
// those before offsets, as in Spark.
func newStart(o connector.Options, static bool) (edge, error) {
	e, def := edge{}, "latest"
	if static {
		def = "earliest"
	}
	strategy := strings.ToLower(strings.TrimSpace(o.String("startingOffsetsByTimestampStrategy", "error")))
	if strategy != "error" && strategy != "latest" {
		return e, fmt.Errorf("option \"startingOffsetsByTimestampStrategy\": found %q, expected error or latest", strategy)
	}
	if err := e.read(o, "starting", def); err != nil {
		return e, err
	}
	e.orLatest = strategy == "latest"
	if static && e.latest {
		return e, fmt.Errorf("option \"startingOffsets\": a static table cannot start at the latest offset; use earliest or {\"topic\": {\"0\": offset}}")
	}
	if static {
		return e, e.refuse(latestOffset, "a static table cannot start at the latest offset (-1)")
	}
	return e, nil
}

// newEnd reads where a static table ends. A stream has no end.
func newEnd(o connector.Options, static bool) (edge, error) {
	e := edge{}
	if !static {
		for _, name := range []string{"endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"} {
			if _, ok := o.Get(name); ok {
				return e, fmt.Errorf("option %q is for static tables, a stream does not end; trigger {availableNow: true} reads up to what is there", name)
			}
		}
		return edge{latest: true, stamp: noStamp}, nil
	}
	if err := e.read(o, "ending", "latest"); err != nil {
		return e, err
	}
	e.orLatest = true
	if !e.latest && e.exact == nil && e.stamps == nil && e.stamp == noStamp {
		return e, fmt.Errorf("option \"endingOffsets\": a static table cannot end at the earliest offset; use latest or {\"topic\": {\"0\": offset}}")
	}
	return e, e.refuse(earliestOffset, "a static table cannot end at the earliest offset (-2)")
}

func (e *edge) refuse(offset int64, text string) error {
	for t, o := range e.exact {
		if o == offset {
			return fmt.Errorf("option %q: topic %q, partition %d: %s", e.option, t.topic, t.partition, text)
		}
	}
	return nil
}

// read reads the options of one end: PREFIXTimestamp, PREFIXOffsetsByTimestamp, PREFIXOffsets.
func (e *edge) read(o connector.Options, prefix, def string) error {
	e.stamp = noStamp
	e.option = prefix + "Timestamp"
	if v, ok := o.Get(e.option); ok {
		ms, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil || ms < 0 {
			return fmt.Errorf("option %q: found %q, expected milliseconds since 1970", e.option, v)
		}
		e.stamp = ms
		return nil
	}
	e.option = prefix + "OffsetsByTimestamp"
	if v, ok := o.Get(e.option); ok {
		p, err := parsePosition([]byte(v))
		if err != nil {
			return fmt.Errorf("option %q: found %s, expected {\"topic\": {\"0\": milliseconds}}", e.option, v)
		}
		e.stamps = p
		return nil
	}
	e.option = prefix + "Offsets"
	v := o.String(e.option, def)
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "earliest":
	case "latest":
		e.latest = true
	default:
		p, err := parsePosition([]byte(v))
		if err != nil {
			return fmt.Errorf("option %q: found %q, expected earliest, latest or {\"topic\": {\"0\": offset}}", e.option, v)
		}
		for t, n := range p {
			if n < earliestOffset {
				return fmt.Errorf("option %q: topic %q, partition %d: found %d, expected an offset, -1 for latest or -2 for earliest", e.option, t.topic, t.partition, n)
			}
		}
		e.exact = p
	}
	return nil
}

// resolve finds the offsets, given what the partitions have.
func (e *edge) resolve(ctx context.Context, s *source, v view) (position, error) {
	earliest, end := v.earliest, v.end
	switch {
	case e.stamp != noStamp:
		stamps := position{}
		for t := range end {
			stamps[t] = e.stamp
		}
		return e.byTime(ctx, s, stamps, v)
	case e.stamps != nil:
		if err := e.sameAs(e.stamps, end); err != nil {
			return nil, err
		}
		return e.byTime(ctx, s, e.stamps, v)
	case e.exact != nil:
		if err := e.sameAs(e.exact, end); err != nil {
			return nil, err
		}
		p := position{}
		for t, o := range e.exact {
			switch o {
			case latestOffset:
				o = end[t]
			case earliestOffset:
				o = earliest[t]
			}
			p[t] = o
		}
		return p, nil
	case e.latest:
		return end, nil
	}
	return earliest, nil
}

// sameAs demands that an option names exactly the partitions that are read.
func (e *edge) sameAs(named, there position) error {
	for _, t := range there.sorted() {
		if _, ok := named[t]; !ok {
			return fmt.Errorf("option %q says nothing of topic %q, partition %d; -1 there means latest, -2 earliest", e.option, t.topic, t.partition)
		}
	}
	for _, t := range named.sorted() {
		if _, ok := there[t]; !ok {
			return fmt.Errorf("option %q names topic %q, partition %d, which is not read or not there", e.option, t.topic, t.partition)
		}
	}
	return nil
}

// byTime finds the first record at or after a time, for each partition.
func (e *edge) byTime(ctx context.Context, s *source, stamps position, v view) (position, error) {
	ask := position{}
	for t, ms := range stamps {
		ask[t] = max(ms, 0) // before 1970 there is no record; brokers take negative times for commands
	}
	found, err := s.listOffsets(ctx, v.metas, ask, false)
	if err != nil {
		return nil, s.client.explain(err)
	}
	p := position{}
	for _, t := range stamps.sorted() {
		switch o := found[t].offset; {
		case o >= 0:
			p[t] = min(o, v.end[t])
		case e.orLatest:
			p[t] = v.end[t]
		default:
			return nil, fmt.Errorf("topic %q, partition %d has no record at or after %d ms (option %q); set startingOffsetsByTimestampStrategy to latest to begin at its end",
				t.topic, t.partition, stamps[t], e.option)
		}
	}
	return p, nil
}
