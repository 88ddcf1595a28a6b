package generate

import (
	"math/rand/v2"
	"strconv"
)

// clicks is a shop's page views: 1,000 urls of which few get most (Zipf 1.1), 100,000 users, event times that rise over
// 24 hours with up to 2 minutes of disorder, and amounts exponential around 20, so that 95 % are above 1. A line has about
// 150 bytes.
type clicks struct {
	part  Part
	next  int
	users int
	rnd   *rand.Rand
	url   *rand.Zipf
	time  stamper
}

const clicksDisorderMs = 120_000

func clicksKind() Kind {
	return Kind{
		Name:   "clicks",
		Doc:    "page views of a web shop: user_id, event_time, url, amount, ua",
		Schema: "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE, ua STRING",
		Key:    "url",
		rows: func(p Part) Rows {
			rnd, users := source(p), p.Keys
			if users == 0 {
				users = 100_000
			}
			return &clicks{part: p, next: p.First, users: users, rnd: rnd, url: rand.NewZipf(rnd, 1.1, 1, 999)}
		},
	}
}

func userAgents() [6]string {
	return [...]string{
		"Mozilla/5.0 (X11; Linux x86_64) Chrome/149",
		"Mozilla/5.0 (Windows NT 10.0) Chrome/150.0",
		"Mozilla/5.0 (Macintosh) Safari/605.1.15",
		"Mozilla/5.0 (iPhone; iOS 19_1) Mobile/22B",
		"Mozilla/5.0 (Android 16; Pixel 10) Chrome",
		"Mozilla/5.0 (X11; Ubuntu) Firefox/151.0",
	}
}

func (c *clicks) Append(dst []byte) []byte {
	agents := userAgents()
	dst = append(dst, `{"user_id":"u`...)
	dst = appendPadded(dst, c.rnd.IntN(c.users), 6)
	dst = append(dst, `","event_time":"`...)
	ms := startMs() + at(c.next, c.part.Total, dayMs-clicksDisorderMs) + c.rnd.Int64N(clicksDisorderMs)
	dst = c.time.append(dst, ms)
	dst = append(dst, `","url":"/p/`...)
	dst = strconv.AppendUint(dst, c.url.Uint64(), 10)
	dst = append(dst, `","amount":`...)
	dst = appendHundredths(dst, int64(c.rnd.ExpFloat64()*2000)+1)
	dst = append(dst, `,"ua":"`...)
	dst = append(dst, agents[c.rnd.IntN(len(agents))]...)
	c.next++
	return append(dst, `"}`...)
}
