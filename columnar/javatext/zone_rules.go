package javatext

import (
	_ "embed" // for the table
	"math"
	"strconv"
	"strings"
	"sync"
)

// zonesText has a line for each set of rules; gen/Zones.java says how it is written.
//
//go:embed zones.txt
var zonesText string

// regions finds the zones of the table by id. The rules of a zone are read when they are first asked for.
var regions = sync.OnceValue(func() map[string]func() *Zone {
	m := make(map[string]func() *Zone, 640)
	for line := range strings.Lines(zonesText) {
		ids, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		rules := sync.OnceValue(func() *zoneRules { return parseZoneRules(rest) })
		for id := range strings.SplitSeq(ids, ",") {
			m[id] = sync.OnceValue(func() *Zone {
				return &Zone{id: id, rules: rules(), names: zoneNamesByID()[id]}
			})
		}
	}
	return m
})

// zoneOffset is a distance from UTC in seconds, and whether it is called daylight saving.
type zoneOffset struct {
	seconds  int32
	daylight bool
}

// zoneRules are the offsets of a zone over time: first until at[0], after[i] from at[i] on, and beyond the
// year lastYear as the yearly rules say.
type zoneRules struct {
	first    zoneOffset
	at       []int64 // seconds since the epoch, ascending
	local    []int64 // at on the wall clock that is ahead of the other
	after    []zoneOffset
	yearly   []yearlyRule
	lastYear int64
}

// yearlyRule is a change of the offset that happens each year.
type yearlyRule struct {
	month int
	// day is a day of the month, or counts from the end if negative; weekday (1 is Monday, 0 none) is the
	// first such day on or after it, or on or before it if day is negative.
	day, weekday int
	seconds      int64 // since midnight
	clock        byte  // of seconds: 'U'TC, 'W'all or 'S'tandard
	standard     int32
	before       int32
	after        zoneOffset
}

// expandedUntil is the last year whose changes are laid out in a table of a zone with yearly rules.
const expandedUntil = 2100

func parseZoneRules(line string) *zoneRules {
	parts := strings.SplitN(line, "|", 3)
	var types []zoneOffset
	for s := range strings.SplitSeq(parts[0], " ") {
		number, daylight := strings.CutSuffix(s, "!")
		types = append(types, zoneOffset{int32(tableInt(number, 10)), daylight})
	}
	r := &zoneRules{first: types[0]}
	at := int64(0)
	for _, s := range strings.Fields(parts[1]) {
		at += tableInt(s[1:], 36)
		r.add(at, types[s[0]-'A'])
	}
	for _, s := range strings.Fields(parts[2]) {
		f := strings.Split(s, ",")
		y := yearlyRule{
			month: int(tableInt(f[0], 10)), day: int(tableInt(f[1], 10)), weekday: int(tableInt(f[2], 10)),
			seconds: tableInt(f[3], 10), clock: f[4][0],
			standard: int32(tableInt(f[5], 10)), before: int32(tableInt(f[6], 10)),
		}
		y.after.seconds = int32(tableInt(f[7], 10))
		y.after.daylight = y.after.seconds != y.standard
		r.yearly = append(r.yearly, y)
	}
	if len(r.yearly) > 0 {
		last := r.at[len(r.at)-1]
		year, _, _ := CivilFromDays(FloorDiv(last, secondsPerDay))
		for ; year <= expandedUntil; year++ {
			for i := range r.yearly {
				if t := r.yearly[i].moment(year); t > last {
					r.add(t, r.yearly[i].after)
				}
			}
		}
		r.lastYear = expandedUntil
	}
	return r
}

// tableInt reads a number of a table that is part of the program; the tests read all of them.
func tableInt(s string, base int) int64 {
	v, _ := strconv.ParseInt(s, base, 64)
	return v
}

func (r *zoneRules) add(at int64, o zoneOffset) {
	before := r.first
	if n := len(r.after); n > 0 {
		before = r.after[n-1]
	}
	r.at = append(r.at, at)
	r.local = append(r.local, at+int64(max(before.seconds, o.seconds)))
	r.after = append(r.after, o)
}

// moment returns the second at which the rule takes effect in a year.
func (y *yearlyRule) moment(year int64) int64 {
	var days int64
	if y.day < 0 {
		days = DaysFromCivil(year, y.month, DaysInMonth(year, y.month)+1+y.day)
		if y.weekday != 0 {
			days -= FloorMod(int64(isoWeekday(days)-y.weekday), 7)
		}
	} else {
		days = DaysFromCivil(year, y.month, y.day)
		if y.weekday != 0 {
			days += FloorMod(int64(y.weekday-isoWeekday(days)), 7)
		}
	}
	t := days*secondsPerDay + y.seconds
	switch y.clock {
	case 'W':
		t -= int64(y.before)
	case 'S':
		t -= int64(y.standard)
	}
	return t
}

// isoWeekday returns 1 for Monday to 7 for Sunday.
func isoWeekday(days int64) int { return int(FloorMod(days+3, 7)) + 1 }

// at64 returns the offset at a second since the epoch.
func (r *zoneRules) at64(seconds int64) zoneOffset {
	n := len(r.at)
	if n == 0 || seconds < r.at[0] {
		return r.first
	}
	if len(r.yearly) > 0 && seconds >= r.at[n-1] {
		return r.beyond(seconds, false)
	}
	return r.after[search(r.at, seconds)]
}

// atLocal returns the offset to take off a wall clock.
func (r *zoneRules) atLocal(seconds int64) zoneOffset {
	n := len(r.local)
	if n == 0 || seconds < r.local[0] {
		return r.first
	}
	if len(r.yearly) > 0 && seconds >= r.local[n-1] {
		return r.beyond(seconds, true)
	}
	return r.after[search(r.local, seconds)]
}

// search returns the index of the last element that is not greater than v; the first one is not.
func search(list []int64, v int64) int {
	lo, hi := 0, len(list)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if list[mid] <= v {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// beyond returns the offset at a time after the table.
func (r *zoneRules) beyond(seconds int64, wall bool) zoneOffset {
	offset := r.after[len(r.after)-1]
	year, _, _ := CivilFromDays(FloorDiv(seconds, secondsPerDay))
	latest := int64(math.MinInt64)
	for y := max(year-1, r.lastYear+1); y <= year+1; y++ {
		for i := range r.yearly {
			t := r.yearly[i].moment(y)
			if wall {
				t += int64(max(r.yearly[i].before, r.yearly[i].after.seconds))
			}
			if t <= seconds && t > latest {
				latest, offset = t, r.yearly[i].after
			}
		}
	}
	return offset
}
