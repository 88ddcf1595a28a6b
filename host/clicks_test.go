package host

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wstream/wstream/columnar"
)

const guests = "../testdata/guests"

// newHost makes a host that the test's end closes.
func newHost(t testing.TB, c Config) *Host {
	t.Helper()
	h, err := New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.Background()) })
	return h
}

// load loads a kept guest.
func load(t testing.TB, h *Host, file string, c ModuleConfig) *Module {
	t.Helper()
	if c.Path = file; !filepath.IsAbs(file) {
		c.Path = filepath.Join(guests, file)
	}
	m, err := h.Load(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bind binds a function to a schema in DDL.
func bind(t testing.TB, m *Module, function, ddl string) *Bound {
	t.Helper()
	s, err := columnar.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Bind(context.Background(), function, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lines makes a batch of one BINARY column.
func lines(texts ...string) *columnar.Batch {
	c := columnar.NewStrings(texts).WithType(columnar.Binary)
	return columnar.NewBatch(columnar.NewSchema(columnar.Field{Name: "value", Type: columnar.Binary, Nullable: true}),
		[]*columnar.Column{c}, len(texts))
}

// cell prints a value of a column.
func cell(c *columnar.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	switch c.Type.Kind {
	case columnar.KindBool:
		return fmt.Sprint(c.Bits.Get(i))
	case columnar.KindInt8:
		return fmt.Sprint(columnar.Values[int8](c)[i])
	case columnar.KindInt32:
		return fmt.Sprint(columnar.Values[int32](c)[i])
	case columnar.KindInt64, columnar.KindTimestamp:
		return fmt.Sprint(columnar.Values[int64](c)[i])
	case columnar.KindFloat64:
		return fmt.Sprint(columnar.Values[float64](c)[i])
	default:
		return c.StringAt(i)
	}
}

// dump prints the rows of a batch, values separated by |.
func dump(b *columnar.Batch) []string {
	out := make([]string, b.Rows)
	for i := range out {
		var row []string
		for _, c := range b.Columns {
			row = append(row, cell(c, i))
		}
		out[i] = strings.Join(row, "|")
	}
	return out
}

// clickGuest is the guest "clicks" in one language, and what runs it.
type clickGuest struct {
	file   string
	engine Config
}

// clickGuests are the same guest in several languages, which all must give the same.
func clickGuests(t *testing.T) []clickGuest {
	list := []clickGuest{{"clicks.wasm", Config{}}, {"clicks.wasm", Config{Interpreter: true}}, {"clicks-rust.wasm", Config{}}, {"clicks-as.wasm", Config{}}}
	return append(list, clickGuest{goGuest(t, "clicks"), Config{CacheDir: filepath.Join(shared, "cache")}})
}

func TestClicksParse(t *testing.T) {
	for _, guest := range clickGuests(t) {
		b := bind(t, load(t, newHost(t, guest.engine), guest.file, ModuleConfig{}), "parse", "value STRING")
		in := lines(
			`{"user_id":"u1","event_time":"2026-10-06T12:03:11Z","url":"/p","amount":1.25,"ua":"Mozilla"}`,
			` { "amount" : -2e3 , "other" : [1,{"a":[null,true,false,"]"]}], "url" : "a\u00e9\ud83d\ude00\n\"" } `,
			`not json`,
			`{"user_id":null,"event_time":"2026-10-06T14:03:11.123456+02:00","url":"/q"}`,
			`{"amount":"1"}`,
			`{"url":"first","url":"2"}`,
			`{}`,
			`{"event_time":"2026-02-30T00:00:00Z"}`,
			`{"url":"`+"\xff"+`"}`,
			`{"amount":0.1000000000000000055511151231257827021181583404541015625}`,
			`{"amount":1e400}`,
			`{} x`,
			`{"deep":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`,
		)
		in.Columns[0] = in.Columns[0].WithType(columnar.String)
		r, err := b.Rows(context.Background(), Call{}, in)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"u1|1791288191000000|/p|1.25|Mozilla",
			"null|null|aé😀\n\"|-2000|null",
			"null|1791288191123456|/q|null|null",
			"null|null|2|null|null",
			"null|null|null|null|null",
			"null|null|null|0.1|null",
			"null|null|null|null|null",
		}
		if got := dump(r.Batch); !reflect.DeepEqual(got, want) {
			t.Errorf("rows:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if want := []int32{0, 1, 3, 5, 6, 9, 12}; !reflect.DeepEqual(r.Parents, want) {
			t.Errorf("parents %v, want %v", r.Parents, want)
		}
		errs := []RowError{
			{2, 1, "not a JSON object"},
			{4, 2, `field "amount": the value is of another type`},
			{7, 2, `field "event_time": the value is of another type`},
			{8, 1, `field "url": not JSON`},
			{10, 3, `field "amount": the number is out of range`},
			{11, 1, "not a JSON object"},
		}
		if !reflect.DeepEqual(r.Errors, errs) {
			t.Errorf("errors %+v, want %+v", r.Errors, errs)
		}
	}
}

func TestClicksFilter(t *testing.T) {
	for _, guest := range clickGuests(t) {
		b := bind(t, load(t, newHost(t, guest.engine), guest.file, ModuleConfig{Config: map[string]string{"min_amount": "2.5"}}),
			"is_human", "url STRING, ua STRING, Amount DOUBLE")
		ua := columnar.NewStrings([]string{"Mozilla", "GoogleBot/1", "x", "", "a spider", "crab"})
		amount := columnar.NewFixed(columnar.Float64, []float64{2.5, 9, 2.4, 3, 9, 9}, nil)
		in := columnar.NewBatch(nil, []*columnar.Column{columnar.NewNull(columnar.String, 6), ua, amount}, 6)
		keep, errs, err := b.Filter(context.Background(), Call{}, in)
		if err != nil || errs != nil {
			t.Fatal(err, errs)
		}
		if keep[0] != 0b101001 {
			t.Errorf("keeps %b", keep[0])
		}
	}
}

// TestClicksDomain calls the scalar of all guests.
func TestClicksDomain(t *testing.T) {
	for _, guest := range clickGuests(t) {
		b := bind(t, load(t, newHost(t, guest.engine), guest.file, ModuleConfig{}), "domain", "url STRING")
		c := columnar.NewBuilder(columnar.String, 0)
		for _, u := range []string{"http://a.example/x?y", "https://u:p@b.example:80#z", "no url", "", "ftp://", "x://é/"} {
			c.AppendString(u)
		}
		c.AppendNull()
		out, errs, err := b.Scalar(context.Background(), Call{}, columnar.NewBatch(nil, []*columnar.Column{c.Finish()}, 7))
		if err != nil || errs != nil {
			t.Fatal(guest.file, err, errs)
		}
		if got, want := dump(columnar.NewBatch(nil, []*columnar.Column{out}, 7)), []string{"a.example", "b.example", "null", "null", "", "é", "null"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", guest.file, got, want)
		}
	}
}

// statements records what a guest asks a database to do.
type statements struct{ log []string }

func (s *statements) Exec(_ context.Context, connection, statement string, rows *columnar.Batch) (int64, error) {
	s.log = append(s.log, fmt.Sprintf("%s: %.20s %d %v", connection, statement, rows.Rows, dump(rows)))
	return int64(rows.Rows), nil
}

func TestClicksUpsert(t *testing.T) {
	ctx := context.Background()
	const schema = "window_start TIMESTAMP, window_end TIMESTAMP, url STRING, cnt BIGINT"
	in := columnar.NewBatch(nil, []*columnar.Column{
		columnar.NewFixed(columnar.Timestamp, []int64{0, 0}, nil), columnar.NewFixed(columnar.Timestamp, []int64{600, 600}, nil),
		columnar.NewStrings([]string{"/a", "/b"}), columnar.NewFixed(columnar.Int64, []int64{1, 2}, nil),
	}, 2)
	for _, guest := range clickGuests(t) {
		h := newHost(t, guest.engine)
		m := load(t, h, guest.file, ModuleConfig{Permissions: Permissions{SQL: []string{"analytics"}}})
		db := &statements{}
		w, err := bind(t, m, "upsert", schema).Begin(ctx, Call{Capabilities: Capabilities{SQL: db}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Write(ctx, in); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"analytics: CREATE TABLE IF NOT  1 []",
			"analytics: INSERT INTO clicks_p 2 [0|600|/a|1 0|600|/b|2]",
			"analytics: INSERT INTO clicks_p 2 [0|600|/a|1 0|600|/b|2]",
		}
		if !reflect.DeepEqual(db.log, want) {
			t.Errorf("%q, want %q", db.log, want)
		}
	}

	m := load(t, newHost(t, Config{}), "clicks.wasm", ModuleConfig{})
	w, err := bind(t, m, "upsert", schema).Begin(ctx, Call{Capabilities: Capabilities{SQL: &statements{}}})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Commit(ctx)
	if want := `module "clicks.wasm": function "upsert": denied: the pipeline does not allow sql on the connection (denied: sql:analytics; add it to the module's ` + "`allow`)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// clickLines makes n lines like those of the benchmark, with a few odd ones.
func clickLines(n int) *columnar.Batch {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(`{"user_id":"u%06d","event_time":"2026-10-06T%02d:%02d:%02d.%03dZ","url":"/p/%d","amount":%d.%02d,"ua":"Mozilla/5.0 (Macintosh) Safari/605.1.15"}`,
			i*7919%100_000, i/3600%24, i/60%60, i%60, i%1000, i*i%1000, i%97, i%100)
	}
	return lines(texts...)
}

// best reports the best tenth of the rounds of a benchmark in nanoseconds a row: on a shared machine the mean says
// more of the neighbours than of the code.
func best(b *testing.B, rows int, round func()) {
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		round()
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/10].Nanoseconds())/float64(rows), "best-ns/row")
}

func BenchmarkParse(b *testing.B) {
	for _, guest := range []string{"clicks.wasm", "clicks-rust.wasm", "go"} {
		b.Run(guest, func(b *testing.B) {
			if guest == "go" {
				guest = goGuest(b, "clicks")
			}
			f := bind(b, load(b, newHost(b, Config{}), guest, ModuleConfig{Limits: Limits{Fuel: 1e15, Deadline: time.Hour}}), "parse", "value BINARY")
			in := clickLines(1024) // a round must be short enough for a share of the processor of its own
			best(b, in.Rows, func() {
				if _, err := f.Rows(context.Background(), Call{}, in); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkFilter filters rows by a number and a text of 47 bytes.
func BenchmarkFilter(b *testing.B) {
	m := load(b, newHost(b, Config{}), "clicks.wasm", ModuleConfig{Limits: Limits{Fuel: 1e15}, Config: map[string]string{"min_amount": "1"}})
	parse, filter := bind(b, m, "parse", "value BINARY"), bind(b, m, "is_human", "amount DOUBLE, ua STRING")
	rows, err := parse.Rows(context.Background(), Call{}, clickLines(8192))
	if err != nil {
		b.Fatal(err)
	}
	in := columnar.NewBatch(nil, rows.Batch.Columns[3:5], rows.Batch.Rows)
	best(b, in.Rows, func() {
		if _, _, err := filter.Filter(context.Background(), Call{}, in); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkBoundary is what a call costs besides its rows: a filter over one row.
func BenchmarkBoundary(b *testing.B) {
	filter := bind(b, load(b, newHost(b, Config{}), "clicks.wasm", ModuleConfig{}), "is_human", "amount DOUBLE, ua STRING")
	in := columnar.NewBatch(nil, []*columnar.Column{columnar.NewFixed(columnar.Float64, []float64{1}, nil), columnar.NewStrings([]string{"x"})}, 1)
	best(b, 1, func() {
		if _, _, err := filter.Filter(context.Background(), Call{}, in); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkInstance starts an instance and throws it away.
func BenchmarkInstance(b *testing.B) {
	m := load(b, newHost(b, Config{}), "clicks.wasm", ModuleConfig{})
	best(b, 1, func() {
		in, err := m.newInstance(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		in.close(context.Background())
	})
}
