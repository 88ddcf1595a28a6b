package expr

import (
	"encoding/binary"
	"math"
	"slices"
	"sort"
)

// quantiles is a summary of numbers that answers percentiles with a bounded error of rank, after
// Greenwald and Khanna, with the buffer sizes of Spark so that the answers agree with its.
type quantiles struct {
	err   float64 // relative error
	samp  []sample
	count int64
	head  []float64 // values that are not in samp yet
}

// sample is a value that stands for g values up to it; delta is the uncertainty of its rank.
type sample struct {
	value    float64
	g, delta int64
}

const (
	quantileHead      = 50000 // values that are collected before they are sorted in
	quantileThreshold = 10000 // samples from which on a summary is compressed
)

func (q *quantiles) insert(v float64) {
	q.head = append(q.head, v)
	if len(q.head) >= quantileHead {
		q.flush()
		if len(q.samp) >= quantileThreshold {
			q.compress()
		}
	}
}

// flush sorts the collected values in.
func (q *quantiles) flush() {
	if len(q.head) == 0 {
		return
	}
	// NaN sorts last; the comparisons below are those of plain doubles, as in Spark.
	sort.Slice(q.head, func(i, j int) bool { return cmpFloat(q.head[i], q.head[j]) < 0 })
	out := make([]sample, 0, len(q.samp)+len(q.head))
	s := 0
	for i, v := range q.head {
		for s < len(q.samp) && q.samp[s].value <= v {
			out = append(out, q.samp[s])
			s++
		}
		q.count++
		delta := int64(0)
		if len(out) > 0 && !(s == len(q.samp) && i == len(q.head)-1) {
			delta = int64(math.Floor(2 * q.err * float64(q.count)))
		}
		out = append(out, sample{v, 1, delta})
	}
	q.samp, q.head = append(out, q.samp[s:]...), q.head[:0]
}

// compress joins samples whose error stays within bounds.
func (q *quantiles) compress() {
	q.flush()
	q.samp = compressSamples(q.samp, 2*q.err*float64(q.count))
}

func compressSamples(samp []sample, threshold float64) []sample {
	if len(samp) == 0 {
		return samp
	}
	var out []sample // from the last to the first
	head := samp[len(samp)-1]
	for i := len(samp) - 2; i >= 1; i-- {
		s := samp[i]
		if float64(s.g+head.g+head.delta) < threshold {
			head.g += s.g
		} else {
			out = append(out, head)
			head = s
		}
	}
	out = append(out, head)
	if len(samp) > 1 && samp[0].value <= head.value {
		out = append(out, samp[0])
	}
	slices.Reverse(out)
	return out
}

// merge takes another summary of the same error in.
func (q *quantiles) merge(o *quantiles) {
	if q.count == 0 && o.count == 0 && len(q.head)+len(o.head) < quantileHead {
		q.head = append(q.head, o.head...)
		return
	}
	q.flush()
	o.flush()
	switch {
	case o.count == 0:
		return
	case q.count == 0:
		q.samp, q.count = o.samp, o.count
		return
	}
	// The uncertainty of a sample grows by that of the other summary around it.
	mine, theirs := int64(math.Floor(2*q.err*float64(q.count))), int64(math.Floor(2*o.err*float64(o.count)))
	out := make([]sample, 0, len(q.samp)+len(o.samp))
	i, j := 0, 0
	for i < len(q.samp) && j < len(o.samp) {
		if cmpFloat(q.samp[i].value, o.samp[j].value) < 0 {
			s := q.samp[i]
			if j > 0 {
				s.delta += theirs
			}
			out = append(out, s)
			i++
		} else {
			s := o.samp[j]
			if i > 0 {
				s.delta += mine
			}
			out = append(out, s)
			j++
		}
	}
	out = append(append(out, q.samp[i:]...), o.samp[j:]...)
	q.count += o.count
	q.samp = compressSamples(out, 2*q.err*float64(q.count))
}

// query is the percentile p; the summary is not empty.
func (q *quantiles) query(p float64) float64 {
	if len(q.head) > 0 {
		q.compress()
	}
	s := q.samp
	if p <= q.err || len(s) == 1 {
		return s[0].value
	}
	if p >= 1-q.err {
		return s[len(s)-1].value
	}
	most := int64(math.MinInt64)
	for _, x := range s {
		most = max(most, x.delta+x.g)
	}
	target := most / 2
	rank := int64(math.Ceil(p * float64(q.count)))
	low := s[0].g
	for i := 0; i < len(s)-1; i++ {
		if low+s[i].delta-target <= rank && rank <= low+target {
			return s[i].value
		}
		low += s[i+1].g
	}
	return s[len(s)-1].value
}

func (q *quantiles) encode() []byte {
	if q.count > 0 || len(q.head) > 1000 {
		q.compress()
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(q.count))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(q.samp)))
	for _, s := range q.samp {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.value))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.g))
		b = binary.LittleEndian.AppendUint64(b, uint64(s.delta))
	}
	for _, v := range q.head {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func decodeQuantiles(b []byte, err float64) *quantiles {
	q := &quantiles{err: err}
	word := func() uint64 {
		v := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return v
	}
	if len(b) < 16 {
		return q
	}
	q.count = int64(word())
	for n := word(); n > 0 && len(b) >= 24; n-- {
		q.samp = append(q.samp, sample{math.Float64frombits(word()), int64(word()), int64(word())})
	}
	for len(b) >= 8 {
		q.head = append(q.head, math.Float64frombits(word()))
	}
	return q
}
