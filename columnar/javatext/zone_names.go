package javatext

import (
	_ "embed" // for the table
	"strings"
	"sync"
)

// zoneNamesText has the names of the zones as JDK 17 prints and reads them in en-US; gen/Zones.java says how it
// is written.
//
//go:embed zonenames.txt
var zoneNamesText string

// zoneNames are the names of a zone.
type zoneNames struct {
	longStandard, shortStandard, longDaylight, shortDaylight, longGeneric, shortGeneric string
}

// zoneNameTable is zonenames.txt.
type zoneNameTable struct {
	byID map[string]*zoneNames
	// short and long find the id of a zone by its name or id in lower case, for the pattern letters z and zzzz.
	short, long map[string]string
	// ids is the same for VV, where names are none.
	ids map[string]string
	// longest is the length of the longest key.
	longest int
}

var zoneNameTables = sync.OnceValue(func() *zoneNameTable {
	t := &zoneNameTable{
		byID: make(map[string]*zoneNames), short: make(map[string]string), long: make(map[string]string),
		ids: make(map[string]string),
	}
	for line := range strings.Lines(zonesText) {
		ids, _, _ := strings.Cut(line, "|")
		for id := range strings.SplitSeq(ids, ",") {
			key := strings.ToLower(id)
			t.ids[key], t.short[key], t.long[key] = id, id, id
			t.longest = max(t.longest, len(key))
		}
	}
	for line := range strings.Lines(zoneNamesText) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "z "); ok {
			t.addName(t.short, name)
		} else if name, ok := strings.CutPrefix(line, "zzzz "); ok {
			t.addName(t.long, name)
		} else {
			f := strings.Split(line, "|")
			n := &zoneNames{f[1], f[2], f[3], f[4], f[5], f[6]}
			for id := range strings.SplitSeq(f[0], ",") {
				t.byID[id] = n
			}
		}
	}
	return t
})

func (t *zoneNameTable) addName(m map[string]string, line string) {
	name, id, _ := strings.Cut(line, "=")
	key := strings.ToLower(name)
	m[key] = id
	t.longest = max(t.longest, len(key))
}

func zoneNamesByID() map[string]*zoneNames { return zoneNameTables().byID }

// longestName returns the zone id of the longest key of m at the start of s, and the key's length, or "".
func (t *zoneNameTable) longestName(m map[string]string, s string) (id string, length int) {
	key := strings.ToLower(s[:min(len(s), t.longest)])
	for n := len(key); n > 0; n-- {
		if id, ok := m[key[:n]]; ok {
			return id, n
		}
	}
	return "", 0
}

// name returns the name of the zone at a moment, or its id if it has none.
func (z *Zone) name(micros int64, long bool) string {
	if z.fixed || z.names == nil {
		return z.id
	}
	n := z.names
	name := n.shortStandard
	switch daylight := z.IsDaylightSaving(micros); {
	case long && daylight:
		name = n.longDaylight
	case long:
		name = n.longStandard
	case daylight:
		name = n.shortDaylight
	}
	return name
}

// genericName returns the name of the zone without regard to daylight saving, or its id if it has none.
func (z *Zone) genericName(long bool) string {
	switch {
	case z.fixed || z.names == nil:
		return z.id
	case long:
		return z.names.longGeneric
	}
	return z.names.shortGeneric
}
