package stream

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wstream/wstream/engine/exec"
	"github.com/wstream/wstream/engine/plan"
)

// watermarks follows the event times of a query over its batches. All times are ms since 1970; before the first event the
// watermark stands at 0, that is at 1970.
type watermarks struct {
	policy WatermarkPolicy
	nodes  []*watermarkNode // in order of their plan ID
	// before is the watermark of the batch before the last one, current that of the last batch that was planned, next that
	// of the batch to come.
	before, current, next int64
}

// watermarkNode is one watermark operator of the plan.
type watermarkNode struct {
	id      int
	name    string // e.g. "0.event_time", as in the checkpoint
	sources []string
	delay   int64
	seen    bool
	value   int64 // valid if seen
	// parts are the greatest event times by partition of the source, for scope: partition. idle is the time after which a
	// partition that is caught up and silent does not count; 0 is never.
	byPartition bool
	idle        int64
	parts       map[string]*partitionTime
}

// partitionTime is the event time in one partition of a source.
type partitionTime struct {
	seen   bool
	max    int64
	active int64 // when rows came last, or the query started
	behind bool  // the source says that there is more to read
}

// newWatermarks finds the watermark operators of a plan.
func newWatermarks(root plan.Node, policy WatermarkPolicy) *watermarks {
	w := &watermarks{policy: policy}
	if root == nil {
		return w
	}
	plan.Walk(root, func(n plan.Node) bool {
		m, ok := n.(*plan.Watermark)
		if !ok || slices.ContainsFunc(w.nodes, func(o *watermarkNode) bool { return o.id == m.ID }) {
			return true
		}
		node := &watermarkNode{
			id: m.ID, name: strconv.Itoa(m.ID) + "." + m.Column.Name, delay: floorDiv(m.DelayMicros, 1000),
			byPartition: m.ByPartition, idle: m.IdleMicros / 1000, parts: map[string]*partitionTime{},
		}
		plan.Walk(m, func(n plan.Node) bool {
			if r, ok := n.(*plan.Relation); ok && r.Streaming && !slices.Contains(node.sources, r.Source) {
				node.sources = append(node.sources, r.Source)
			}
			return true
		})
		w.nodes = append(w.nodes, node)
		return true
	})
	slices.SortFunc(w.nodes, func(a, b *watermarkNode) int { return a.id - b.id })
	return w
}

// restore takes what save gave. The watermark operators are found by their number, so that a column may be renamed.
func (w *watermarks) restore(saved map[string]int64, now int64) {
	for name, value := range saved {
		name, part, isPart := strings.Cut(name, "/")
		number, _, _ := strings.Cut(name, ".")
		for _, n := range w.nodes {
			if strconv.Itoa(n.id) != number {
				continue
			}
			if isPart {
				n.parts[part] = &partitionTime{seen: true, max: value, active: now}
			} else {
				n.seen, n.value = true, value
			}
		}
	}
}

// save is what the commit log keeps of the operators, by their names.
func (w *watermarks) save() map[string]int64 {
	if len(w.nodes) == 0 {
		return nil
	}
	out := map[string]int64{}
	for _, n := range w.nodes {
		if n.seen {
			out[n.name] = n.value
		}
		for id, p := range n.parts {
			if p.seen {
				out[n.name+"/"+id] = p.max
			}
		}
	}
	return out
}

// observe takes the event times that a batch has seen and moves the watermark of the next one. A batch's time says when.
func (w *watermarks) observe(stats []exec.EventTimeStats, now int64) {
	for _, s := range stats {
		if s.Count == 0 {
			continue
		}
		for _, n := range w.nodes {
			if n.id != s.ID {
				continue
			}
			if n.byPartition {
				for id, most := range s.MaxByPartition {
					n.partition(id, now).see(floorDiv(most, 1000), now)
				}
			} else {
				n.raise(floorDiv(s.Max, 1000) - n.delay)
			}
		}
	}
	w.move(now)
}

// lags takes the lags of a source's partitions. A partition that was not known before holds the watermark from now on.
func (w *watermarks) lags(source string, lag map[string]int64, now int64) {
	for _, n := range w.nodes {
		if n.byPartition && slices.Contains(n.sources, source) {
			for id, l := range lag {
				n.partition(id, now).behind = l > 0
			}
		}
	}
}

// wantsLags tells whether lags of the source matter to anything.
func (w *watermarks) wantsLags(source string) bool {
	return slices.ContainsFunc(w.nodes, func(n *watermarkNode) bool { return n.byPartition && slices.Contains(n.sources, source) })
}

func (n *watermarkNode) partition(id string, now int64) *partitionTime {
	p := n.parts[id]
	if p == nil {
		p = &partitionTime{active: now}
		n.parts[id] = p
	}
	return p
}

func (p *partitionTime) see(most, now int64) {
	if !p.seen || most > p.max {
		p.seen, p.max = true, most
	}
	p.active = now
}

// raise moves the operator's watermark, never back.
func (n *watermarkNode) raise(to int64) {
	if !n.seen || to > n.value {
		n.seen, n.value = true, to
	}
}

// move computes the watermark of the next batch. It may be called at any time: partitions become idle by themselves.
func (w *watermarks) move(now int64) {
	for _, n := range w.nodes {
		if n.byPartition {
			if least, _, ok := n.least(now); ok {
				n.raise(least)
			}
		}
	}
	if len(w.nodes) > 0 {
		w.next = max(w.next, w.nodes[w.governing()].mark())
	}
}

// least is the least watermark of the partitions that count, and which one it is of; not ok if none counts or one of them
// has not shown any event time.
func (n *watermarkNode) least(now int64) (least int64, id string, ok bool) {
	least = math.MaxInt64
	for part, p := range n.parts {
		if n.idle > 0 && !p.behind && now-p.active >= n.idle {
			continue
		}
		at := int64(math.MinInt64)
		if p.seen {
			at = p.max - n.delay
		}
		if at < least || at == least && part < id {
			least, id = at, part
		}
	}
	return least, id, least != math.MaxInt64 && least != math.MinInt64
}

// mark is the operator's watermark; one that has seen nothing stands at 1970.
func (n *watermarkNode) mark() int64 {
	if !n.seen {
		return 0
	}
	return n.value
}

// governing is the position of the operator whose watermark counts.
func (w *watermarks) governing() int {
	at := 0
	for i, n := range w.nodes {
		if a, b := n.mark(), w.nodes[at].mark(); w.policy == MaxWatermark && a > b || w.policy != MaxWatermark && a < b {
			at = i
		}
	}
	return at
}

// heldBy names the source, and the partition where it is known, that the watermark waits for; empty if there is none.
func (w *watermarks) heldBy(now int64) string {
	if len(w.nodes) == 0 {
		return ""
	}
	n := w.nodes[w.governing()]
	name := strings.Join(n.sources, ", ")
	if n.byPartition {
		if _, part, _ := n.least(now); part != "" {
			name += "/" + part
		}
	}
	return name
}

// idleAt is the next time at which a partition may become idle, 0 if there is none.
func (w *watermarks) idleAt(now int64) int64 {
	at := int64(0)
	for _, n := range w.nodes {
		if !n.byPartition || n.idle == 0 {
			continue
		}
		for _, p := range n.parts {
			if t := p.active + n.idle; !p.behind && t > now && (at == 0 || t < at) {
				at = t
			}
		}
	}
	return at
}
