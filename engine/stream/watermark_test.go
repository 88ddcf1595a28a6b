package stream

import (
	"testing"
	"time"

	"github.com/wstream/wstream/engine/exec"
)

const minute = int64(60_000)

func seen(id int, max int64, parts map[string]int64) []exec.EventTimeStats {
	micros := map[string]int64{}
	for k, v := range parts {
		micros[k] = v * 1000
	}
	return []exec.EventTimeStats{{ID: id, Count: 1, Max: max * 1000, Min: 0, MaxByPartition: micros}}
}

func TestWatermarkNeverGoesBackAndCutsMicroseconds(t *testing.T) {
	w := newWatermarks(watermarkPlan(10*time.Minute, false, 0, "in"), MinWatermark)
	w.observe([]exec.EventTimeStats{{Count: 1, Max: -1}}, 0)
	equal(t, "of an event before 1970", w.next, 0)
	w.observe([]exec.EventTimeStats{{Count: 1, Max: 11*minute*1000 + 999}}, 0)
	equal(t, "microseconds cut off", w.next, minute)
	w.observe(seen(0, 5*minute, nil), 0)
	equal(t, "after an older event", w.next, minute)
	w.observe([]exec.EventTimeStats{{}}, 0)
	equal(t, "after no event", w.next, minute)
}

// Each operator keeps its own watermark over restarts, so that one that has seen nothing since counts with its old one.
func TestWatermarksOfSeveralInputsOverRestarts(t *testing.T) {
	root := watermarkPlan(0, false, 0, "a", "b", "c")
	w := newWatermarks(root, MinWatermark)
	w.observe(seen(0, 50*minute, nil), 0)
	w.observe(seen(1, 40*minute, nil), 0)
	equal(t, "with one input silent", w.next, 0)
	saved := w.save()
	w = newWatermarks(root, MinWatermark)
	w.restore(saved, 0)
	w.observe(seen(1, 45*minute, nil), 0)
	w.observe(seen(2, 60*minute, nil), 0)
	equal(t, "after the second run", w.next, 45*minute)
}

func TestWatermarkByPartition(t *testing.T) {
	root := watermarkPlan(0, true, 5*time.Minute, "in")
	w := newWatermarks(root, MinWatermark)
	w.lags("in", map[string]int64{"p0": 0, "p1": 3}, 0)
	w.observe(seen(0, 100*minute, map[string]int64{"p0": 100 * minute}), 0)
	equal(t, "while a partition has shown nothing", w.next, 0)
	equal(t, "held by", w.heldBy(0), "in/p1")
	w.observe(seen(0, 100*minute, map[string]int64{"p1": 20 * minute}), 0)
	equal(t, "the least of both", w.next, 20*minute)
	saved := w.save()
	w.lags("in", map[string]int64{"p0": 0, "p1": 3}, minute)
	w.move(10 * minute)
	equal(t, "a silent partition that lags counts", w.next, 20*minute)
	w.lags("in", map[string]int64{"p0": 1, "p1": 0}, 10*minute)
	equal(t, "next look", w.idleAt(0), 5*minute)
	w.move(10 * minute)
	equal(t, "a silent partition without lag does not", w.next, 100*minute)
	w.observe(seen(0, 30*minute, map[string]int64{"p1": 30 * minute}), 11*minute)
	equal(t, "it does not go back", w.next, 100*minute)
	w = newWatermarks(root, MinWatermark)
	w.restore(saved, 0)
	w.move(0)
	equal(t, "after a restart", w.next, 20*minute)
}
