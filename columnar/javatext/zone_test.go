package javatext

import (
	"strconv"
	"testing"
)

func TestZoneRules(t *testing.T) {
	goldenLines(t, "zone", " ", func(line int, f []string) {
		z, err := LookupZone(f[0])
		if err != nil {
			t.Fatal(err)
		}
		s, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.Itoa(z.Offset(s * microsPerSecond)); got != f[2] {
			t.Errorf("line %d: offset of %s at %d is %s, want %s", line, f[0], s, got, f[2])
		}
		if got := strconv.FormatBool(z.IsDaylightSaving(s * microsPerSecond)); got != f[3] {
			t.Errorf("line %d: daylight saving of %s at %d is %s, want %s", line, f[0], s, got, f[3])
		}
		if got := strconv.FormatInt(z.FromLocal(s*microsPerSecond)/microsPerSecond, 10); got != f[4] {
			t.Errorf("line %d: wall clock %d of %s is %s, want %s", line, s, f[0], got, f[4])
		}
	})
}

func TestLookupZone(t *testing.T) {
	for id, want := range map[string]string{
		"UTC": "UTC", "Z": "Z", "+2": "+02:00", "+2:00": "+02:00", "+02:0": "+02:00", "-02:30:15": "-02:30:15", "GMT+8": "GMT+08:00",
		"GMT+8:3": "GMT+08:03", "UTC+00:00": "UTC", "UT-3": "UT-03:00", "PST": "America/Los_Angeles", "EST": "-05:00", "+00:00": "Z",
		"Europe/Berlin": "Europe/Berlin", "europe/berlin": "", "Nowhere/City": "", "": "", "X": "", "+18:01": "", "+18:00": "+18:00",
		"GMT0": "GMT0", "CET": "CET", "utc": "", "UTCX": "", "+1:02:03": "+01:02:03",
	} {
		z, err := LookupZone(id)
		switch {
		case err != nil && want != "":
			t.Errorf("%q: %v", id, err)
		case err == nil && z.ID() != want:
			t.Errorf("%q is %q, want %q", id, z.ID(), want)
		}
	}
}
