package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wstream/wstream/engine/connector"
)

// division says into how many pieces a batch is divided. A piece is read and decoded by a goroutine of its own.
type division struct {
	least   int64 // minPartitions, 0 for none
	records int64 // maxRecordsPerPartition, 0 for no limit
}

func newDivision(o connector.Options) (division, error) {
	var d division
	var err error
	for name, to := range map[string]*int64{"minPartitions": &d.least, "maxRecordsPerPartition": &d.records} {
		if _, ok := o.Get(name); !ok {
			continue
		}
		if *to, err = o.Int(name, 0); err == nil && *to < 1 {
			err = fmt.Errorf("option %q: found %d, expected a number above 0", name, *to)
		}
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// piece is a range of offsets of a partition.
type piece struct {
	part     tp
	from, to int64
}

// divide cuts ranges as Spark does: first so that none has more records than allowed, and then, if there are fewer than
// minPartitions, each into a number of equal parts by its share of the whole.
func (d division) divide(ranges []piece) []piece {
	if d.records > 0 {
		var out []piece
		for _, p := range ranges {
			out = append(out, p.cut((p.to-p.from+d.records-1)/d.records)...)
		}
		ranges = out
	}
	if int64(len(ranges)) >= d.least {
		return ranges
	}
	// Ranges that are too small to be divided keep one part; the others share what is left.
	total, rest, parts := int64(0), int64(0), d.least
	for _, p := range ranges {
		total += p.to - p.from
	}
	small := make([]bool, len(ranges))
	for i, p := range ranges {
		if small[i] = share(p.to-p.from, total, d.least) == 1; small[i] {
			parts--
		} else {
			rest += p.to - p.from
		}
	}
	var out []piece
	for i, p := range ranges {
		n := int64(1)
		if !small[i] {
			n = share(p.to-p.from, rest, max(parts, 1))
		}
		out = append(out, p.cut(n)...)
	}
	return out
}

// share is how many of n parts belong to a size out of a total, one at least.
func share(size, total, n int64) int64 {
	return max(1, int64(math.Round(float64(size)/float64(total)*float64(n))))
}

// cut divides a range into n of nearly the same length.
func (p piece) cut(n int64) []piece {
	n = max(1, min(n, p.to-p.from))
	out := make([]piece, 0, n)
	for at, left := p.from, n; left > 0; left-- {
		to := at + (p.to-at)/left
		out = append(out, piece{p.part, at, to})
		at = to
	}
	return out
}

// Plan implements connector.Source: a partition of the batch for each partition of a topic, or more of them by minPartitions
// and maxRecordsPerPartition.
func (s *source) Plan(ctx context.Context, start, end connector.Offset) ([]connector.Partition, error) {
	from, lived, err := parseOffset(start)
	if err != nil {
		return nil, err
	}
	to, lives, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	if from, err = s.begins(ctx, from, lived, to, lives); err != nil {
		return nil, err
	}
	var ranges []piece
	for _, t := range to.sorted() {
		if to[t] > from[t] {
			ranges = append(ranges, piece{t, from[t], to[t]})
		}
	}
	pieces := s.division.divide(ranges)
	out := make([]connector.Partition, len(pieces))
	var wants []want
	for i, p := range pieces {
		// The last piece of a partition is read by the track that goes on from batch to batch.
		own, until := s.reader.claim(p.part, i+1 == len(pieces) || pieces[i+1].part != p.part), int64(math.MaxInt64)
		if own.n > 0 {
			until = p.to
		}
		out[i] = &partition{s: s, piece: p, slot: own, until: until, life: lives[p.part.topic]}
		if lives[p.part.topic] == s.lives.now(p.part.topic) {
			wants = append(wants, want{own, s.lives.id(p.part.topic), p.from, until})
		}
	}
	s.reader.follow(wants...)
	return out, nil
}

// begins completes where the partitions of a batch begin, where the offset before it does not say so: in the first batch,
// and for partitions that are new or of a topic that was made again.
func (s *source) begins(ctx context.Context, from position, lived map[string]int64, to position, lives map[string]int64) (position, error) {
	known := func(t tp) bool {
		_, ok := from[t]
		return ok && lived[t.topic] == lives[t.topic]
	}
	complete := from != nil
	for t := range to {
		complete = complete && known(t)
	}
	if complete {
		return from, nil
	}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	v, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	begin := v.earliest
	if from == nil {
		// A batch that is run again may find less or more than was there; what counts is its end.
		if begin, err = s.start.resolve(ctx, s, v); err != nil {
			return nil, err
		}
	}
	full := position{}
	for t := range to {
		if known(t) {
			full[t] = from[t]
		} else {
			full[t] = min(begin[t], to[t])
		}
	}
	return full, nil
}

// partition is a range of offsets that one goroutine reads.
type partition struct {
	s *source
	piece
	slot  slot
	until int64
	life  int64
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
	if p.life != p.s.lives.now(p.part.topic) { // a batch that is run again, of a topic that has been made again since
		return p.lost(p.from, p.to, "the topic was deleted and made again")
	}
	defer p.s.reader.leave(p.slot)
	p.follow(p.from)
	for at := p.from; at < p.to; {
		sp, err := p.s.reader.take(ctx, p.slot, p.to)
		var gone *rangeError
		var again *madeAgainError
		switch {
		case errors.As(err, &gone):
			// Retention has passed the range since it was planned, or while the query was down. What begins behind the offset is
			// nothing of the range if the partition was cut off at its end.
			next := p.to
			if at < gone.first {
				next = min(gone.first, p.to)
			}
			if err := p.lost(at, next, fmt.Sprintf("the partition begins at %d now", gone.first)); err != nil {
				return err
			}
			if at = next; at < p.to {
				p.follow(at)
			}
			continue
		case errors.As(err, &again):
			return p.lost(at, p.to, again.Error())
		case err != nil:
			return p.s.client.explain(err)
		}
		at = sp.next
		for _, group := range split(sp.batches) {
			c := &chunk{part: p.part, batches: group, from: p.from, to: p.to, schema: p.s.schema, need: wanted, codec: p.s.codec}
			if err := emit(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *partition) follow(at int64) {
	p.s.reader.follow(want{p.slot, p.s.lives.id(p.part.topic), at, p.until})
}

// lost tells of offsets of the range that cannot be read.
func (p *partition) lost(from, to int64, why string) error {
	return p.s.dataLoss("COULD_NOT_READ_OFFSET_RANGE", to-from, fmt.Sprintf("%s: offsets %d to %d are gone (%s)", p.part, from, to-1, why))
}

// split cuts a fetch into groups of records that workers decode side by side.
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
