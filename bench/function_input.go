package main

import (
	"fmt"
	"math/rand"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// functionGroups is the number of groups of the aggregates.
const functionGroups = 1000

// functionInput is the batch that the functions are measured over, and its columns as Go has them.
type functionInput struct {
	batch *columnar.Batch
	attrs []*expr.Attr
	group []uint32

	a, b, t       []int64
	k, day        []int32
	x, y          []float64
	d, e          []columnar.Dec128
	s, u, j, n, w *columnar.Column // texts: words, URLs, JSON, numbers, times
	l             *columnar.Column // lists of four numbers
	m             *columnar.Column // maps of two words to numbers
}

func newFunctionInput() *functionInput {
	rng := rand.New(rand.NewSource(1))
	in := &functionInput{}
	var s, u, j, n, w []string
	words := strings.Fields("alpha beta gamma delta epsilon Zeta eta-theta iota kappa lambda")
	list := columnar.NewBuilder(columnar.ArrayOf(columnar.Int64, false), batchRows)
	pairs := columnar.NewBuilder(columnar.MapOf(columnar.String, columnar.Int64, false), batchRows)
	for i := range batchRows {
		in.a = append(in.a, rng.Int63n(1000))
		in.b = append(in.b, rng.Int63n(1000)+1)
		in.k = append(in.k, int32(i*7%functionGroups)) // every group has rows
		in.group = append(in.group, uint32(in.k[len(in.k)-1]))
		in.x = append(in.x, rng.Float64()*1000)
		in.y = append(in.y, rng.Float64())
		in.d = append(in.d, columnar.Dec128FromInt64(rng.Int63n(100000)))
		in.e = append(in.e, columnar.Dec128FromInt64(rng.Int63n(100000)+1))
		in.t = append(in.t, 1_790_000_000_000_000+rng.Int63n(86_400_000_000*365))
		in.day = append(in.day, int32(20_000+rng.Intn(2000)))
		s = append(s, words[rng.Intn(len(words))]+" "+words[rng.Intn(len(words))])
		u = append(u, fmt.Sprintf("https://shop.example.org/item/%d?ref=%s&page=%d", rng.Intn(1000), words[rng.Intn(5)], rng.Intn(9)))
		j = append(j, fmt.Sprintf(`{"user_id":"u%d","url":"/p/%d","amount":%d.5,"tags":["a","b"]}`, rng.Intn(1e5), rng.Intn(1000), rng.Intn(100)))
		n = append(n, fmt.Sprint(rng.Intn(1e6)))
		w = append(w, fmt.Sprintf("2026-%02d-%02d %02d:%02d:%02d", rng.Intn(12)+1, rng.Intn(28)+1, rng.Intn(24), rng.Intn(60), rng.Intn(60)))
		for range 4 {
			list.Child(0).AppendInt(rng.Int63n(1000))
		}
		list.AppendNested()
		for _, k := range []string{"a", "b"} {
			pairs.Child(0).AppendString(k)
			pairs.Child(1).AppendInt(rng.Int63n(1000))
		}
		pairs.AppendNested()
	}
	in.s, in.u, in.j, in.n, in.w = columnar.NewStrings(s), columnar.NewStrings(u), columnar.NewStrings(j), columnar.NewStrings(n), columnar.NewStrings(w)
	in.l, in.m = list.Finish(), pairs.Finish()
	names := strings.Split("a b k x y d e t day s u j n w l m", " ")
	cols := []*columnar.Column{
		columnar.NewFixed(columnar.Int64, in.a, nil), columnar.NewFixed(columnar.Int64, in.b, nil), columnar.NewFixed(columnar.Int32, in.k, nil),
		columnar.NewFixed(columnar.Float64, in.x, nil), columnar.NewFixed(columnar.Float64, in.y, nil),
		columnar.NewFixed(columnar.Decimal(10, 2), in.d, nil), columnar.NewFixed(columnar.Decimal(10, 2), in.e, nil),
		columnar.NewFixed(columnar.Timestamp, in.t, nil), columnar.NewFixed(columnar.Date, in.day, nil),
		in.s, in.u, in.j, in.n, in.w, in.l, in.m,
	}
	fields := make([]columnar.Field, len(cols))
	for i, c := range cols {
		fields[i] = columnar.Field{Name: names[i], Type: c.Type}
	}
	in.batch = columnar.NewBatch(columnar.NewSchema(fields...), cols, batchRows)
	return in
}
