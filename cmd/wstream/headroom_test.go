package main

import "testing"

func TestHeadroom(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		tables, live int64
		want         int
	}{
		{0, 100 * mib, 100},
		{32 * mib, 100 * mib, 100}, // too little to be worth it
		{512 * mib, 512 * mib, 18},
		{512 * mib, 812 * mib, 17},
		{100 * mib, 1000 * mib, 81},
		{64 * mib, 66 * mib, 100},
	} {
		if got := gcPercent(c.tables, c.live); got != c.want {
			t.Errorf("tables of %d MiB in %d MiB: %d, expected %d", c.tables/mib, c.live/mib, got, c.want)
		}
	}
}
