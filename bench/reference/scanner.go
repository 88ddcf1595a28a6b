// Package reference does the benchmarks' jobs as plainly as Go allows: one loop over the bytes and a hash table, for one
// schema, without checkpoints, plans or types. It is the yardstick beside which the engine's figures stand: what a
// programmer would get who wrote the one job by hand.
package reference

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"time"
)

// Click is what the jobs need of a line of clicks. URL points into the line.
type Click struct {
	// TimeUs is the event time in microseconds since 1970.
	TimeUs int64
	URL    []byte
	Amount float64
}

// ScanClick reads the line of clicks that begins at b[p], and returns where the next one begins. The line ends with \n or
// with b. Fields may come in any order and others are passed over; a line that is no such object, or lacks one of the three
// fields, is an error.
//
// The usual line is read in one pass without looking at a byte twice. A line with an escape in a field that is needed, with
// blanks between tokens, or with a number that is not digits and a point, goes through encoding/json.
func ScanClick(b []byte, p int, c *Click) (next int, err error) {
	start, seen := p, 0
	if p >= len(b) || b[p] != '{' {
		return slowClick(b, start, c)
	}
	p++
	for {
		if p >= len(b) || b[p] != '"' {
			return slowClick(b, start, c)
		}
		key := p + 1
		end := quote(b, key)
		if end+2 >= len(b) || b[end] != '"' || b[end+1] != ':' {
			return slowClick(b, start, c)
		}
		name := b[key:end]
		p = end + 2
		if b[p] == '"' {
			from := p + 1
			end = quote(b, from)
			if end >= len(b) {
				return slowClick(b, start, c)
			}
			switch {
			case string(name) == "url":
				if b[end] == '\\' {
					return slowClick(b, start, c)
				}
				c.URL = b[from:end]
				seen |= 1
			case string(name) == "event_time":
				us, ok := parseTime(b[from:end])
				if !ok {
					return slowClick(b, start, c)
				}
				c.TimeUs = us
				seen |= 2
			default:
				for end < len(b) && b[end] == '\\' {
					end = quote(b, min(end+2, len(b)))
				}
			}
			p = end + 1
		} else if string(name) == "amount" {
			v, end := parseAmount(b, p)
			if end < 0 {
				return slowClick(b, start, c)
			}
			c.Amount = v
			seen |= 4
			p = end
		} else {
			for p < len(b) && b[p] != ',' && b[p] != '}' {
				if b[p] == '{' || b[p] == '[' || b[p] == '\n' {
					return slowClick(b, start, c)
				}
				p++
			}
		}
		if p >= len(b) {
			return slowClick(b, start, c)
		}
		if b[p] == ',' {
			p++
			continue
		}
		if b[p] != '}' || seen != 7 || p+1 < len(b) && b[p+1] != '\n' {
			return slowClick(b, start, c)
		}
		return min(p+2, len(b)), nil
	}
}

// slowClick reads the line at b[p] by encoding/json.
func slowClick(b []byte, p int, c *Click) (next int, err error) {
	end := p
	for end < len(b) && b[end] != '\n' {
		end++
	}
	var v struct {
		Time   *time.Time `json:"event_time"`
		URL    *string    `json:"url"`
		Amount *float64   `json:"amount"`
	}
	if err := json.Unmarshal(b[p:end], &v); err != nil {
		return 0, fmt.Errorf("line %q: %w", b[p:end], err)
	}
	if v.Time == nil || v.URL == nil || v.Amount == nil {
		return 0, fmt.Errorf("line %q: lacks event_time, url or amount", b[p:end])
	}
	*c = Click{TimeUs: v.Time.UnixMicro(), URL: []byte(*v.URL), Amount: *v.Amount}
	return min(end+1, len(b)), nil
}

// quote finds the next quote or backslash at or after p, eight bytes at a time; len(b) where there is none.
func quote(b []byte, p int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for p+8 <= len(b) {
		word := binary.LittleEndian.Uint64(b[p:])
		q, s := word^(ones*'"'), word^(ones*'\\')
		// A byte that was zero gets its high bit set; a false hit may only follow a true one in the same word.
		if hit := ((q-ones)&^q | (s-ones)&^s) & highs; hit != 0 {
			return p + bits.TrailingZeros64(hit)/8
		}
		p += 8
	}
	for p < len(b) && b[p] != '"' && b[p] != '\\' {
		p++
	}
	return p
}

// parseTime reads 2026-10-06T12:03:11.123Z as microseconds since 1970; any other form is not ok.
func parseTime(s []byte) (us int64, ok bool) {
	if len(s) != 24 || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != '.' || s[23] != 'Z' {
		return 0, false
	}
	bad := byte(0)
	num := func(i int) int64 {
		d := s[i] - '0'
		if d > 9 {
			bad = 1
		}
		return int64(d)
	}
	two := func(i int) int64 { return num(i)*10 + num(i+1) }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	// Months are counted from March, so that the leap day is the last of its year.
	month -= 3
	if month < 0 {
		month += 12
		year--
	}
	era := year / 400
	ofEra := year - era*400
	days := era*146_097 + ofEra*365 + ofEra/4 - ofEra/100 + (153*month+2)/5 + day - 1 - 719_468
	seconds := ((days*24+two(11))*60+two(14))*60 + two(17)
	us = (seconds*1000 + num(20)*100 + two(21)) * 1000
	return us, bad == 0
}

// parseAmount reads digits with at most one point, at most 15 of them, at b[p]; end is -1 for anything else.
func parseAmount(b []byte, p int) (v float64, end int) {
	negative := false
	if p < len(b) && b[p] == '-' {
		negative = true
		p++
	}
	first, mantissa, fraction := p, int64(0), 0
	for ; p < len(b); p++ {
		if d := b[p] - '0'; d <= 9 {
			mantissa = mantissa*10 + int64(d)
		} else if b[p] == '.' && fraction == 0 {
			fraction = p + 1
		} else {
			break
		}
	}
	switch {
	case p == first || p-first > 16 || fraction == p:
		return 0, -1
	case p < len(b) && b[p] != ',' && b[p] != '}':
		return 0, -1
	}
	v = float64(mantissa)
	if fraction > 0 {
		// Both are exact below 2^53 and 10^22, so that the quotient is the nearest double.
		v /= power10(p - fraction)
	}
	if negative {
		v = -v
	}
	return v, p
}

// power10 is 10 to the n, for n from 0 to 16.
func power10(n int) float64 {
	return [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16}[n]
}
