// Command examples is one guest with a function of each kind, the same in every language that has an SDK: see
// sdk/rust/examples, sdk/c/examples and sdk/assemblyscript/examples.
package main

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/wstream/wstream/sdk/go"
	"github.com/wstream/wstream/sdk/go/jsonrows"
)

func main() {}

// Short names of types.
const (
	str       = wstream.TypeString
	float     = wstream.TypeFloat64
	timestamp = wstream.TypeTimestamp
	bigint    = wstream.TypeInt64
	integer   = wstream.TypeInt32
)

// parse: clicks from JSON; what is no click is refused.
var parse = jsonrows.Handler([]jsonrows.Field{
	{Name: "user_id", Type: str},
	{Name: "event_time", Type: timestamp},
	{Name: "url", Type: str},
	{Name: "amount", Type: float},
})

// isHuman: a filter that leaves out robots.
var isHuman = wstream.FilterRows(func(c *wstream.Call, row int) (bool, error) {
	ua := c.Column(0)
	return ua.IsNull(row) || !strings.Contains(ua.String(row), "bot"), nil
})

const upsertRow = "INSERT INTO visits (user_id, visits) VALUES ($1, $2) ON CONFLICT (user_id) DO UPDATE SET visits = excluded.visits"

// upsert: the rows of a batch into a table, in the batch's transaction.
func upsert(c *wstream.Call) error {
	if c.Commit() || c.Rows() == 0 {
		return nil
	}
	_, err := c.Exec("analytics", upsertRow)
	return err
}

// sessions: a state function; a visit comes out five minutes after its last click.
func sessions(c *wstream.Call, g *wstream.Group, state, out []*wstream.Builder) error {
	if g.TimedOut {
		out[0].From(g.Key[0], g.Index)
		out[1].From(g.Old[0], g.Index)
		c.Parent(g.Index)
		g.Remove()
		return nil
	}
	clicks, last := int64(g.To-g.From), int64(math.MinInt64)
	if g.HasState {
		clicks, last = clicks+g.Old[0].Int64(g.Index), g.Old[1].Int64(g.Index)
	}
	for row := g.From; row < g.To; row++ {
		last = max(last, c.Column(1).Int64(row))
	}
	g.Set()
	state[0].Int64(clicks)
	state[1].Int64(last)
	g.SetTimeout(last + 5*60_000_000)
	return nil
}

// domain: a scalar, the host of a URL.
func domain(c *wstream.Call, row int, out *wstream.Builder) error {
	if c.Column(0).IsNull(row) {
		out.Null()
		return nil
	}
	_, host, found := strings.Cut(c.Column(0).String(row), "://")
	if !found {
		return errors.New("no URL")
	}
	host, _, _ = strings.Cut(host, "/")
	out.String(host)
	return nil
}

// mean: an aggregate; the accumulator is a sum and a count.
var mean = wstream.AggregateRows(16, float, func(c *wstream.Call, row int, acc []byte) {
	if x := c.Column(0); !x.IsNull(row) {
		add(acc, x.Float64(row), 1)
	}
}, func(acc, other []byte) {
	sum, n := total(other)
	add(acc, sum, n)
}, func(acc []byte, out *wstream.Builder) {
	if sum, n := total(acc); n > 0 {
		out.Float64(sum / float64(n))
	} else {
		out.Null()
	}
})

func total(acc []byte) (sum float64, n uint64) {
	return math.Float64frombits(binary.LittleEndian.Uint64(acc)), binary.LittleEndian.Uint64(acc[8:])
}

func add(acc []byte, sum float64, n uint64) {
	s, m := total(acc)
	binary.LittleEndian.PutUint64(acc, math.Float64bits(s+sum))
	binary.LittleEndian.PutUint64(acc[8:], m+n)
}

// basket: a scalar that reads an array of structs.
func basket(c *wstream.Call, row int, out *wstream.Builder) error {
	items, sum := c.Column(0), 0.0
	if items.IsNull(row) {
		out.Null()
		return nil
	}
	item := items.Child(0)
	from, to := items.Range(row)
	for i := from; i < to; i++ {
		if !item.IsNull(i) && !item.Child(0).IsNull(i) && !item.Child(1).IsNull(i) {
			sum += item.Child(0).Float64(i) * float64(item.Child(1).Int32(i))
		}
	}
	out.Float64(sum)
	return nil
}

// links: a map function that builds an array, a map and a struct of a URL.
var links = wstream.ParseRowsOf(func() []*wstream.Builder {
	text := func() *wstream.Builder { return wstream.NewBuilder(str, 0) }
	return []*wstream.Builder{
		wstream.NewList(text()), wstream.NewMap(text(), text()), wstream.NewStruct(text(), wstream.NewBuilder(integer, 0)),
	}
}, func(c *wstream.Call, row int, out []*wstream.Builder) error {
	path, query, where := out[0], out[1], out[2]
	if c.Column(0).IsNull(row) {
		path.Null()
		query.Null()
		where.Null()
		return nil
	}
	_, rest, _ := strings.Cut(c.Column(0).String(row), "://")
	rest, pairs, _ := strings.Cut(rest, "?")
	host, parts, _ := strings.Cut(rest, "/")
	for part := range strings.SplitSeq(parts, "/") {
		path.Child(0).String(part)
	}
	path.End()
	for pair := range strings.SplitSeq(pairs, "&") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			query.Child(0).String(key)
			query.Child(1).String(value)
		}
	}
	query.End()
	where.Child(0).String(host)
	where.Child(1).Int32(int32(len(rest)))
	where.End()
	return nil
})

var _ = wstream.Export(wstream.Module{
	Name: "examples", Version: "1.0.0", Statements: []string{upsertRow},
	Functions: []wstream.Function{
		{Name: "parse", Kind: wstream.Parse, Input: "value BINARY", Output: "user_id STRING, event_time TIMESTAMP, url STRING, amount DOUBLE", Call: parse},
		{Name: "is_human", Kind: wstream.Filter, Input: "ua STRING", Call: isHuman},
		{Name: "upsert", Kind: wstream.ForeachBatch, Input: "user_id STRING, visits BIGINT", Call: upsert},
		{
			Name: "sessions", Kind: wstream.State, Input: "user_id STRING, ts TIMESTAMP", Output: "user_id STRING, clicks BIGINT",
			Key: "user_id STRING", State: "clicks BIGINT, last TIMESTAMP", Mode: "append", Timeout: "event", Time: "ts",
			Call: wstream.Groups([]wstream.Type{bigint, timestamp}, []wstream.Type{str, bigint}, sessions),
		},
		{Name: "domain", Kind: wstream.Scalar, Input: "url STRING", Output: "domain STRING", Call: wstream.ScalarRows(str, domain)},
		{Name: "mean", Kind: wstream.Aggregate, Input: "x DOUBLE", Output: "mean DOUBLE", Call: mean},
		{
			Name: "basket", Kind: wstream.Scalar, Input: "items ARRAY<STRUCT<price: DOUBLE, quantity: INT>>", Output: "total DOUBLE",
			Call: wstream.ScalarRows(float, basket),
		},
		{
			Name: "links", Kind: wstream.Map, Input: "url STRING",
			Output: "path ARRAY<STRING>, query MAP<STRING, STRING>, place STRUCT<host: STRING, length: INT>", Call: links,
		},
	},
})
