package main

import (
	"reflect"
	"testing"

	"github.com/wstream/wstream/sdk/go"
)

// texts makes a column of strings, in which "-" is null.
func texts(values ...string) *wstream.Builder {
	b := wstream.NewBuilder(wstream.TypeString, 0)
	for _, v := range values {
		if v == "-" {
			b.Null()
		} else {
			b.String(v)
		}
	}
	return b
}

func try(t *testing.T, call wstream.Handler, in ...*wstream.Builder) *wstream.Tried {
	t.Helper()
	r, err := wstream.Trial{}.Try(wstream.Function{Name: "x", Call: call}, in...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	r := try(t, parse, texts(`{"user_id":"ann","event_time":"1970-01-01T00:00:01Z","amount":2.5}`, "no click"))
	if r.Rows != 1 || r.Columns[0].String(0) != "ann" || r.Columns[1].Int64(0) != 1_000_000 || !r.Columns[2].IsNull(0) || r.Columns[3].Float64(0) != 2.5 {
		t.Errorf("%+v", r)
	}
	if want := []wstream.Refused{{Row: 1, Code: 1, Text: "not a JSON object"}}; !reflect.DeepEqual(r.Refused, want) {
		t.Errorf("refused %v, want %v", r.Refused, want)
	}
}

func TestIsHuman(t *testing.T) {
	r := try(t, isHuman, texts("Mozilla", "Googlebot", "-"))
	for i, want := range []bool{true, false, true} {
		if got := r.Columns[0].Bool(i); got != want {
			t.Errorf("row %d: %v", i, got)
		}
	}
}

func TestUpsertIsDenied(t *testing.T) {
	visits := wstream.NewBuilder(wstream.TypeInt64, 0)
	visits.Int64(3)
	_, err := wstream.Trial{First: true}.Try(wstream.Function{Call: upsert}, texts("ann"), visits)
	if err != wstream.ErrDenied { //nolint:errorlint // the very value
		t.Errorf("%v, want %v", err, wstream.ErrDenied)
	}
}

func TestDomain(t *testing.T) {
	r := try(t, wstream.ScalarRows(str, domain), texts("https://a.b/c", "-", "nothing"))
	if r.Columns[0].String(0) != "a.b" || !r.Columns[0].IsNull(1) || len(r.Refused) != 1 || r.Refused[0].Text != "no URL" {
		t.Errorf("%+v", r)
	}
}

func TestBasket(t *testing.T) {
	price, quantity := wstream.NewBuilder(float, 0), wstream.NewBuilder(integer, 0)
	items := wstream.NewList(wstream.NewStruct(price, quantity))
	for i := range 2 {
		price.Float64(1.5)
		quantity.Int32(int32(i + 1))
		items.Child(0).End()
	}
	items.End()
	items.Null()
	items.End()
	r := try(t, wstream.ScalarRows(float, basket), items)
	if c := r.Columns[0]; c.Float64(0) != 4.5 || !c.IsNull(1) || c.Float64(2) != 0 {
		t.Errorf("%v", c.Float64s())
	}
}

func TestLinks(t *testing.T) {
	r := try(t, links, texts("https://a.b/x/y?k=v&l=w", "-"))
	path, query, where := r.Columns[0], r.Columns[1], r.Columns[2]
	if from, to := path.Range(0); to-from != 2 || path.Child(0).String(from+1) != "y" || !path.IsNull(1) {
		t.Errorf("path: %d to %d", from, to)
	}
	if from, to := query.Range(0); to-from != 2 || query.Child(0).String(1) != "l" || query.Child(1).String(1) != "w" {
		t.Errorf("query: %d to %d", from, to)
	}
	if where.Child(0).String(0) != "a.b" || where.Child(1).Int32(0) != 7 || !where.IsNull(1) {
		t.Error("where")
	}
}
