package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// TestConcurrent calls one function from many goroutines: each call has an instance to itself.
func TestConcurrent(t *testing.T) {
	b := bind(t, load(t, newHost(t, Config{}), "clicks.wasm", ModuleConfig{Limits: Limits{Instances: 3}}), "parse", "value BINARY")
	in := clickLines(500)
	want, err := b.Rows(context.Background(), Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				got, err := b.Rows(context.Background(), Call{}, in)
				if err != nil || !reflect.DeepEqual(dump(got.Batch), dump(want.Batch)) {
					t.Errorf("another result (%v)", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if s := b.Module().Stats(); s.Calls != 81 || s.Rows != 81*500 || s.Traps != 0 || s.Fuel <= 0 {
		t.Errorf("stats are %+v", s)
	}
}

// TestFuelIsDeterministic shows that the same calls use the same fuel, on a fresh and a used instance.
func TestFuelIsDeterministic(t *testing.T) {
	h := newHost(t, Config{})
	var used []int64
	for range 2 {
		m := load(t, h, "clicks.wasm", ModuleConfig{})
		b := bind(t, m, "parse", "value BINARY")
		for range 2 {
			before := m.Stats().Fuel
			if _, err := b.Rows(context.Background(), Call{}, clickLines(100)); err != nil {
				t.Fatal(err)
			}
			used = append(used, m.Stats().Fuel-before)
		}
	}
	if used[0] != used[2] || used[1] != used[3] || used[0] < 100 {
		t.Errorf("used %v", used)
	}
}

// TestCancelled ends a guest that never would, when its caller gives up.
func TestCancelled(t *testing.T) {
	m, err := newHost(t, Config{}).Load(context.Background(), ModuleConfig{
		Path: "testdata/hostile/endless_loop.wasm", Limits: Limits{Fuel: 1e18, Deadline: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, m, "f", "v BIGINT")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, errors.New("the query stops"))
	defer cancel()
	_, _, err = b.Filter(ctx, Call{}, columnar.NewBatch(nil, []*columnar.Column{columnar.NewFixed(columnar.Int64, []int64{1}, nil)}, 1))
	if want := `module "endless_loop.wasm": function "f": the query stops`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestManyTraps shows that a batch whose rows all trap fails, and does not take a trap for each row.
func TestManyTraps(t *testing.T) {
	m, err := newHost(t, Config{}).Load(context.Background(), ModuleConfig{Path: "testdata/hostile/unreachable.wasm"})
	if err != nil {
		t.Fatal(err)
	}
	b := bind(t, m, "f", "v BIGINT")
	_, _, err = b.Filter(context.Background(), Call{}, columnar.NewBatch(nil, []*columnar.Column{columnar.NewFixed(columnar.Int64, make([]int64, 1000), nil)}, 1000))
	if want := `module "unreachable.wasm": function "f": more than 16 rows trap: row 16: unreachable`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s…", err, want)
	}
	var trap *Trap
	if !errors.As(err, &trap) {
		t.Error("the error is no trap")
	}
}

var lookup = &abi.Spec{Function: abi.Function{Name: "lookup"}}

// TestOutOfFuelError is the text that people see.
func TestOutOfFuelError(t *testing.T) {
	trap := (&Module{}).trapOf(fmt.Errorf("%w (recovered by wazero)", ErrOutOfFuel), 2*time.Second)
	err := (&Bound{module: &Module{label: "geo.wasm"}, spec: lookup}).wrap(trap)
	if want := `module "geo.wasm": function "lookup": out of fuel after 2 s`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if !errors.Is(err, ErrOutOfFuel) {
		t.Error("the reason cannot be told")
	}
}

// TestPin refuses a module whose hash is not the one that was pinned.
func TestPin(t *testing.T) {
	h := newHost(t, Config{})
	code, err := os.ReadFile(guests + "/clicks.wasm")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(code)
	hash := hex.EncodeToString(sum[:])
	m := load(t, h, "clicks.wasm", ModuleConfig{SHA256: strings.ToUpper(hash)})
	if m.Hash() != hash {
		t.Errorf("hash is %s", m.Hash())
	}
	_, err = h.Load(context.Background(), ModuleConfig{Path: "clicks.wasm", Code: code, SHA256: strings.Repeat("0", 64)})
	if want := fmt.Sprintf(`module "clicks.wasm": has the sha256 %s, pinned is %s`, hash, strings.Repeat("0", 64)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestBindErrors names what is wrong with an input.
func TestBindErrors(t *testing.T) {
	m := load(t, newHost(t, Config{}), "clicks.wasm", ModuleConfig{Config: map[string]string{"min_amount": "much"}})
	for _, c := range []struct{ function, input, want string }{
		{"parze", "value BINARY", `module "clicks.wasm": no function "parze"; there are parse, is_human, domain, upsert`},
		{"parse", "key BINARY, v STRING", `module "clicks.wasm": function "parse": input column "value" is missing; there are key, v`},
		{"parse", "value INT", `module "clicks.wasm": function "parse": input column "value" is INT, the function takes BINARY`},
		{"is_human", "amount DOUBLE, ua STRING", `module "clicks.wasm": function "is_human": bind: bad config: min_amount is not a number`},
	} {
		s, err := columnar.ParseDDL(c.input)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Bind(context.Background(), c.function, s); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestParsePermissions(t *testing.T) {
	p, err := ParsePermissions([]string{"log", "metric", "sql:a", "sql:b", "kv:geo", "produce:alerts"})
	if err != nil || !reflect.DeepEqual(p, Permissions{Metric: true, SQL: []string{"a", "b"}, KV: []string{"geo"}, Produce: []string{"alerts"}}) {
		t.Errorf("%+v %v", p, err)
	}
	for allow, want := range map[string]string{
		"net":      `unknown capability "net"; known are metric, sql:CONNECTION, kv:NAMESPACE, produce:TOPIC`,
		"sql":      `capability "sql" needs a name, as in "sql:NAME"`,
		"metric:x": `capability "metric" takes no name`,
	} {
		if _, err := ParsePermissions([]string{allow}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestParseLimits(t *testing.T) {
	l, err := ParseLimits(map[string]string{"memory": "64MiB", "fuel": "1e9", "deadline": "2 s", "outputBytes": "1g", "logBytes": "4k", "stack": "1MB", "instances": "3"})
	want := Limits{MemoryBytes: 64 << 20, Fuel: 1e9, Deadline: 2 * time.Second, OutputBytes: 1 << 30, LogBytes: 4 << 10, StackBytes: 1 << 20, Instances: 3}
	if err != nil || l != want {
		t.Errorf("%+v %v", l, err)
	}
	for value, want := range map[string]string{
		"much": `limit "memory": "much": not a size such as 64MiB`,
		"3GiB": `limit "memory": "3GiB": not between 64KiB and 2GiB-64KiB`,
		"-1":   `limit "memory": "-1": not a size such as 64MiB`,
	} {
		if _, err := ParseLimits(map[string]string{"memory": value}); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSlices hands over a batch that is larger than what a guest takes at once.
func TestSlices(t *testing.T) {
	m := load(t, newHost(t, Config{}), "clicks.wasm", ModuleConfig{Limits: Limits{MemoryBytes: 1 << 20}})
	in := clickLines(20_000)
	in.Columns[0] = columnar.Take(in.Columns[0], append(indices(20_000), -1)) // and a null
	in.Rows++
	r, err := bind(t, m, "parse", "value BINARY").Rows(context.Background(), Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Batch.Rows != 20_000 || len(r.Errors) != 1 || r.Errors[0].Row != 20_000 {
		t.Errorf("%d rows, errors %v", r.Batch.Rows, r.Errors)
	}
	if r.Parents != nil && (r.Parents[0] != 0 || r.Parents[19_999] != 19_999) {
		t.Error("parents are not those of the batch")
	}
	if m.Stats().Calls < 10 {
		t.Errorf("took %d calls", m.Stats().Calls)
	}
}

func indices(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// TestLargeRow refuses a row that does not fit into the guest's memory, and keeps the others.
func TestLargeRow(t *testing.T) {
	m := load(t, newHost(t, Config{}), "clicks.wasm", ModuleConfig{Limits: Limits{MemoryBytes: 1 << 20}})
	in := lines(`{"url":"a"}`, `{"url":"`+strings.Repeat("x", 2<<20)+`"}`, `{"url":"b"}`)
	r, err := bind(t, m, "parse", "value BINARY").Rows(context.Background(), Call{}, in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Batch.Rows != 2 || len(r.Errors) != 1 || r.Errors[0].Row != 1 || !strings.HasPrefix(r.Errors[0].Text, "out of memory: no room for an input of") {
		t.Errorf("%d rows, errors %.200v", r.Batch.Rows, r.Errors)
	}
}

// TestCompilerGivesUp is a module whose tag has a type that there is not, over which the compiler gives up: that is an error of
// the module.
func TestCompilerGivesUp(t *testing.T) {
	code := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01`\x00\x00\x03\x02\x01\x00\x0d\x03\x01\x00\x30\x0a\x06\x01\x04\x00\x08\x00\x0b")
	for _, c := range []Config{{}, {Unmetered: true}} {
		_, err := newHost(t, c).Load(context.Background(), ModuleConfig{Name: "bad", Code: code})
		if err == nil || !strings.Contains(err.Error(), "not a valid module") {
			t.Errorf("unmetered %v: %v", c.Unmetered, err)
		}
	}
}
