package generate

import (
	"math/rand/v2"
	"strconv"
)

// nexmark is the stream of an auction house, after the Nexmark benchmark (Tucker et al., 2002): of 50 events one is a new
// person, three are new auctions and 46 are bids. Events are a millisecond apart and in order. Half of the bids go to one
// hot auction of the last hundred, three quarters come from one hot bidder.
type nexmark struct {
	next int
	rnd  *rand.Rand
	time stamper
}

const (
	nexmarkCycle        = 50 // events in which the shares above hold exactly
	nexmarkAuctions     = 3  // of a cycle
	nexmarkFirstPerson  = 1000
	nexmarkFirstAuction = 1000
	nexmarkHotEvery     = 100 // ids that are a multiple of it are hot for that long
)

func nexmarkKind() Kind {
	return Kind{
		Name: "nexmark",
		Doc:  "the auction of the Nexmark benchmark: event_type (0 person, 1 auction, 2 bid), person, auction, bid, dateTime",
		Schema: "event_type INT, " +
			"person STRUCT<id: BIGINT, name: STRING, emailAddress: STRING, creditCard: STRING, city: STRING, state: STRING>, " +
			"auction STRUCT<id: BIGINT, itemName: STRING, description: STRING, initialBid: BIGINT, reserve: BIGINT, " +
			"expires: TIMESTAMP, seller: BIGINT, category: BIGINT>, " +
			"bid STRUCT<auction: BIGINT, bidder: BIGINT, price: BIGINT, channel: STRING, url: STRING>, dateTime TIMESTAMP",
		rows: func(p Part) Rows { return &nexmark{next: p.First, rnd: source(p)} },
	}
}

func (x *nexmark) Append(dst []byte) []byte {
	cycle, place := x.next/nexmarkCycle, x.next%nexmarkCycle
	ms := startMs() + int64(x.next)
	switch {
	case place == 0:
		dst = x.person(dst, nexmarkFirstPerson+cycle)
	case place <= nexmarkAuctions:
		dst = x.auction(dst, nexmarkFirstAuction+cycle*nexmarkAuctions+place-1, nexmarkFirstPerson+cycle, ms)
	default:
		dst = x.bid(dst, nexmarkFirstAuction+cycle*nexmarkAuctions+nexmarkAuctions-1, nexmarkFirstPerson+cycle)
	}
	dst = append(dst, `},"dateTime":"`...)
	dst = x.time.append(dst, ms)
	x.next++
	return append(dst, `"}`...)
}

// person adds a person up to the closing brace.
func (x *nexmark) person(dst []byte, id int) []byte {
	names := [...]string{"Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jo"}
	homes := [...][2]string{
		{"Portland", "OR"},
		{"Boise", "ID"},
		{"Phoenix", "CA"},
		{"Seattle", "WA"},
		{"Reno", "NV"},
		{"Provo", "AZ"},
		{"Bend", "UT"},
		{"Kent", "MT"},
	}
	name, home := names[x.rnd.IntN(len(names))], homes[x.rnd.IntN(len(homes))]
	dst = append(dst, `{"event_type":0,"person":{"id":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	dst = append(dst, `,"name":"`...)
	dst = append(dst, name...)
	dst = append(dst, ` Smith","emailAddress":"`...)
	dst = append(dst, name...)
	dst = append(dst, `@example.com","creditCard":"1234 5678 9012 3456","city":"`...)
	dst = append(dst, home[0]...)
	dst = append(dst, `","state":"`...)
	dst = append(dst, home[1]...)
	return append(dst, '"')
}

// auction adds an auction up to the closing brace. It is open for 2 to 20 seconds.
func (x *nexmark) auction(dst []byte, id, lastPerson int, ms int64) []byte {
	dst = append(dst, `{"event_type":1,"auction":{"id":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	dst = append(dst, `,"itemName":"item `...)
	dst = strconv.AppendInt(dst, x.rnd.Int64N(10_000), 10)
	dst = append(dst, `","description":"a thing of some worth, hardly used","initialBid":`...)
	dst = strconv.AppendInt(dst, x.rnd.Int64N(1000)+1, 10)
	dst = append(dst, `,"reserve":`...)
	dst = strconv.AppendInt(dst, x.rnd.Int64N(2000)+1000, 10)
	dst = append(dst, `,"expires":"`...)
	dst = x.time.append(dst, ms+2000+x.rnd.Int64N(18_000))
	dst = append(dst, `","seller":`...)
	dst = strconv.AppendInt(dst, int64(max(nexmarkFirstPerson, lastPerson-x.rnd.IntN(100))), 10)
	dst = append(dst, `,"category":`...)
	return strconv.AppendInt(dst, 10+x.rnd.Int64N(5), 10)
}

// bid adds a bid up to the closing brace.
func (x *nexmark) bid(dst []byte, lastAuction, lastPerson int) []byte {
	auction := lastAuction / nexmarkHotEvery * nexmarkHotEvery
	if x.rnd.IntN(2) == 0 {
		auction = lastAuction - x.rnd.IntN(100)
	}
	bidder := lastPerson / nexmarkHotEvery * nexmarkHotEvery
	if x.rnd.IntN(4) == 0 {
		bidder = lastPerson - x.rnd.IntN(1000)
	}
	auction, bidder = max(nexmarkFirstAuction, auction), max(nexmarkFirstPerson, bidder)
	dst = append(dst, `{"event_type":2,"bid":{"auction":`...)
	dst = strconv.AppendInt(dst, int64(auction), 10)
	dst = append(dst, `,"bidder":`...)
	dst = strconv.AppendInt(dst, int64(bidder), 10)
	dst = append(dst, `,"price":`...)
	dst = strconv.AppendInt(dst, int64(100*(1+x.rnd.ExpFloat64()*50)), 10)
	dst = append(dst, `,"channel":"channel-`...)
	dst = strconv.AppendInt(dst, x.rnd.Int64N(10_000), 10)
	dst = append(dst, `","url":"https://www.nexmark.com/item?id=`...)
	dst = strconv.AppendInt(dst, int64(auction), 10)
	return append(dst, '"')
}
