// Command clicks is the guest of ../../c/clicks in Go: parse reads JSON, is_human leaves out what robots did, domain is
// a scalar for SQL, upsert keeps a table of counts per window and url.
package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/wstream/wstream/sdk/go"
	"github.com/wstream/wstream/sdk/go/jsonrows"
)

func main() {}

const create = "CREATE TABLE IF NOT EXISTS clicks_per_window (window_start TIMESTAMP NOT NULL, " +
	"window_end TIMESTAMP NOT NULL, url VARCHAR(700) NOT NULL, cnt BIGINT NOT NULL, " +
	"PRIMARY KEY (window_start, url))"

const upsertRow = "INSERT INTO clicks_per_window (window_start, window_end, url, cnt) VALUES ($1, $2, $3, $4) " +
	"ON CONFLICT (window_start, url) DO UPDATE SET window_end = excluded.window_end, cnt = excluded.cnt"

var _ = wstream.Export(wstream.Module{
	Name: "clicks", Version: "1.0.0",
	Functions: []wstream.Function{
		{
			Name: "parse", Kind: wstream.Parse, Doc: "clicks from JSON", Input: "value BINARY",
			Output: "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE, ua STRING",
			Call: jsonrows.Handler([]jsonrows.Field{
				{Name: "user_id", Type: wstream.TypeString},
				{Name: "event_time", Type: wstream.TypeTimestamp},
				{Name: "url", Type: wstream.TypeString},
				{Name: "amount", Type: wstream.TypeFloat64},
				{Name: "ua", Type: wstream.TypeString},
			}),
		},
		{
			Name: "is_human", Kind: wstream.Filter, Doc: "no robots; config min_amount", Input: "amount DOUBLE, ua STRING",
			Bind: isHuman,
		},
		{
			Name: "domain", Kind: wstream.Scalar, Doc: "the host of a URL", Input: "url STRING", Output: "domain STRING",
			Call: wstream.ScalarRows(wstream.TypeString, domain),
		},
		{
			Name: "upsert", Kind: wstream.ForeachBatch, Doc: "counts per window and url into clicks_per_window; config connection",
			Input: "window_start TIMESTAMP, window_end TIMESTAMP, url STRING, cnt BIGINT",
			Bind:  upsert,
		},
	},
	Statements: []string{create, upsertRow},
})

// isHuman keeps rows of at least min_amount whose user agent does not say that it is a robot.
func isHuman(b *wstream.Bind) (wstream.Handler, error) {
	least := 0.0
	if text, ok := b.Config["min_amount"]; ok {
		var err error
		if least, err = strconv.ParseFloat(text, 64); err != nil {
			return nil, errors.New("min_amount is not a number")
		}
	}
	return wstream.FilterRows(func(c *wstream.Call, row int) (bool, error) {
		amount, ua := c.Column(0), c.Column(1)
		return (amount.IsNull(row) || amount.Float64(row) >= least) && (ua.IsNull(row) || !robot(ua.Bytes(row))), nil
	}), nil
}

// robot finds bot, crawl or spider in any case.
func robot(ua []byte) bool {
	for i := 0; i+3 <= len(ua); i++ {
		switch ua[i] | 32 {
		case 'b':
			if has(ua[i:], "bot") {
				return true
			}
		case 'c':
			if has(ua[i:], "crawl") {
				return true
			}
		case 's':
			if has(ua[i:], "spider") {
				return true
			}
		}
	}
	return false
}

func has(b []byte, word string) bool {
	if len(b) < len(word) {
		return false
	}
	for i := range len(word) {
		if b[i]|32 != word[i] {
			return false
		}
	}
	return true
}

// domain is what stands between "://" and the next '/', '?', '#' or ':', without "user@"; null for none.
func domain(c *wstream.Call, row int, out *wstream.Builder) error {
	if c.Column(0).IsNull(row) {
		out.Null()
		return nil
	}
	_, host, ok := strings.Cut(c.Column(0).String(row), "://")
	if !ok {
		out.Null()
		return nil
	}
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	out.String(host)
	return nil
}

// upsert writes the counts to the database.
func upsert(b *wstream.Bind) (wstream.Handler, error) {
	connection := "analytics"
	if name, ok := b.Config["connection"]; ok {
		connection = name
	}
	return func(c *wstream.Call) error {
		if c.Commit() {
			return nil
		}
		if c.First() {
			if _, err := c.ExecOnce(connection, create); err != nil {
				return errors.New("create table: " + err.Error())
			}
		}
		if c.Rows() == 0 {
			return nil
		}
		if _, err := c.Exec(connection, upsertRow); err != nil {
			return errors.New("upsert: " + err.Error())
		}
		return nil
	}, nil
}
