package generate

import "math/rand/v2"

// keys is input for very much state: n rows over k users, each user as often as any other, in an order without locality.
type keys struct {
	part  Part
	next  int
	users int
	rnd   *rand.Rand
	time  stamper
}

func keysKind() Kind {
	return Kind{
		Name:   "keys",
		Doc:    "payments of very many users (half as many as rows unless told): user_id, event_time, amount",
		Schema: "user_id STRING, event_time TIMESTAMP, amount DOUBLE",
		Key:    "user_id",
		rows: func(p Part) Rows {
			users := p.Keys
			if users == 0 {
				users = max(1, p.Total/2)
			}
			return &keys{part: p, next: p.First, users: users, rnd: source(p)}
		},
	}
}

func (k *keys) Append(dst []byte) []byte {
	round, i := k.next/k.users, k.next%k.users
	dst = append(dst, `{"user_id":"u`...)
	dst = appendPadded(dst, scatter(i, k.users, round), 7)
	dst = append(dst, `","event_time":"`...)
	dst = k.time.append(dst, startMs()+at(k.next, k.part.Total, dayMs))
	dst = append(dst, `","amount":`...)
	dst = appendHundredths(dst, k.rnd.Int64N(10_000)+1)
	k.next++
	return append(dst, '}')
}

// scatter maps 0…n-1 onto themselves, each once, in another order each round: by a multiplier that shares no factor with n.
func scatter(i, n, round int) int {
	multiplier := 2_654_435_761 + 2*round
	for gcd(multiplier%n, n) != 1 && n > 1 {
		multiplier++
	}
	return int((uint64(i)*uint64(multiplier%n) + uint64(round)*7919) % uint64(n))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
