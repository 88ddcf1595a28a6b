package host

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// group is a key of a test with its rows.
type group struct {
	key     string // "-" is null
	ts      []int64
	v       []int32 // minInt is null
	expired bool
}

const null = -1 << 31

// keyed is a store of state and time-outs by key, as the engine has one.
type keyed struct {
	state   map[string][]byte
	timeout map[string]int64
}

// call runs a batch and keeps what comes of it.
func (s *keyed) call(t *testing.T, b *Bound, groups []group) []string {
	t.Helper()
	var ts []int64
	in := GroupsInput{Offsets: []int32{0}}
	v, k, keys := columnar.NewBuilder(columnar.Int32, 0), columnar.NewBuilder(columnar.String, 0), columnar.NewBuilder(columnar.String, 0)
	state := columnar.NewBuilder(columnar.Binary, 0)
	add := func(b *columnar.Builder, key string) {
		if key == "-" {
			b.AppendNull()
		} else {
			b.AppendString(key)
		}
	}
	for _, g := range groups {
		for i := range g.ts {
			ts = append(ts, g.ts[i])
			add(k, g.key)
			if g.v[i] == null {
				v.AppendNull()
			} else {
				v.AppendInt(int64(g.v[i]))
			}
		}
		in.Offsets = append(in.Offsets, int32(len(ts)))
		add(keys, g.key)
		if x, ok := s.state[g.key]; ok {
			state.AppendBytes(x)
		} else {
			state.AppendNull()
		}
		in.Expired = append(in.Expired, g.expired)
		timeout, ok := s.timeout[g.key]
		if !ok {
			timeout = abi.NoTimeout
		}
		in.Timeout = append(in.Timeout, timeout)
	}
	in.Rows = columnar.NewBatch(nil, []*columnar.Column{columnar.NewFixed(columnar.Timestamp, ts, nil), k.Finish(), v.Finish()}, len(ts))
	in.Keys = columnar.NewBatch(nil, []*columnar.Column{keys.Finish()}, len(groups))
	in.State = state.Finish()
	out, err := b.Groups(context.Background(), Call{}, in)
	if err != nil || out.Errors != nil {
		t.Fatal(err, out.Errors)
	}
	for i, g := range groups {
		switch out.Action[i] {
		case abi.StateSet:
			s.state[g.key] = append([]byte{}, out.State.BytesAt(i)...)
		case abi.StateRemove:
			delete(s.state, g.key)
		}
		delete(s.timeout, g.key)
		if out.Timeout[i] != abi.NoTimeout {
			s.timeout[g.key] = out.Timeout[i]
		}
	}
	got := dump(out.Rows)
	for i := range got {
		got[i] = fmt.Sprintf("%d: %s", out.Parents[i], got[i])
	}
	return got
}

func TestGroups(t *testing.T) {
	const minute = 60_000_000
	for _, file := range []string{"groups/groups.wasm", "groups-rust/groups.wasm", goGuest(t, "groups")} {
		m := load(t, newHost(t, Config{}), file, ModuleConfig{})
		for _, c := range []struct {
			function string
			batches  [][]group
			want     [][]string
			keys     int
		}{
			{"running_count", [][]group{
				{{key: "-", ts: []int64{0}, v: []int32{1}}, {key: "a", ts: []int64{0, 0}, v: []int32{2, null}}},
				{{key: "-", ts: []int64{0}, v: []int32{3}}},
			}, [][]string{{"0: null|1|1", "1: a|2|2"}, {"0: null|2|4"}}, 2},
			{"first", [][]group{
				{{key: "a", ts: []int64{0, 0}, v: []int32{5, 6}}, {key: "c", ts: []int64{0}, v: []int32{null}}},
				{{key: "a", ts: []int64{0}, v: []int32{1}}, {key: "b", ts: []int64{0}, v: []int32{2}}},
			}, [][]string{{"0: a|5", "1: c|null"}, {"1: b|2"}}, 3},
			{"maxima", [][]group{
				{{key: "a", ts: []int64{0, 0, 0}, v: []int32{5, 4, 6}}, {key: "c", ts: []int64{0}, v: []int32{null}}},
				{{key: "a", ts: []int64{0, 0}, v: []int32{6, 7}}},
			}, [][]string{{"0: a|5", "0: a|6"}, {"0: a|7"}}, 1},
			{"sessions", [][]group{
				{{key: "a", ts: []int64{minute, 3 * minute}, v: []int32{1, 1}}, {key: "b", ts: []int64{1999}, v: []int32{1}}},
				{{key: "a", ts: []int64{2 * minute}, v: []int32{1}}, {key: "b", expired: true}},
				{{key: "a", expired: true}},
			}, [][]string{{}, {"1: b|1000|1000|1"}, {"0: a|60000000|180000000|3"}}, 0},
			{"alert", [][]group{
				{{key: "a", ts: []int64{0}, v: []int32{9}}, {key: "b", ts: []int64{0, 0}, v: []int32{4, 6}}, {key: "c", ts: []int64{0}, v: []int32{1}}},
				{{key: "a", ts: []int64{0}, v: []int32{1}}, {key: "c", expired: true}},
			}, [][]string{{"1: b|over|10"}, {"0: a|over|10", "1: c|idle|1"}}, 0},
		} {
			b := bind(t, m, c.function, "ts TIMESTAMP, k STRING, v INT")
			s := &keyed{map[string][]byte{}, map[string]int64{}}
			for i := range c.batches {
				if got := s.call(t, b, c.batches[i]); !reflect.DeepEqual(got, c.want[i]) {
					t.Errorf("%s: %s: batch %d: %q, want %q", file, c.function, i, got, c.want[i])
				}
			}
			if len(s.state) != c.keys {
				t.Errorf("%s: %s: %d keys are left, want %d", file, c.function, len(s.state), c.keys)
			}
		}
	}
}

// TestGroupsAnswers has one line for each way in which the answer of a state function can be wrong.
func TestGroupsAnswers(t *testing.T) {
	b := bind(t, load(t, newHost(t, Config{}), "groups/groups.wasm", ModuleConfig{}), "first", "ts TIMESTAMP, k STRING, v INT")
	ints := func(v ...int32) *columnar.Column { return columnar.NewFixed(columnar.Int32, v, nil) }
	state := func(action ...int8) abi.Section {
		n := len(action)
		return abi.Section{ID: abi.SectionState, Rows: n, Columns: []*columnar.Column{
			columnar.NewFixed(columnar.Int8, action, nil), columnar.NewFixed(columnar.Int64, make([]int64, n), nil),
			columnar.NewBools(n, columnar.NewBitmap(n), nil),
		}}
	}
	parents := func(v ...int32) abi.Section {
		return abi.Section{ID: abi.SectionParents, Rows: len(v), Columns: []*columnar.Column{ints(v...)}}
	}
	otherType := state(1, 1)
	otherType.Columns[2] = columnar.NewFixed(columnar.Int64, []int64{1, 2}, nil)
	nulls := state(1, 1)
	nulls.Columns[0] = columnar.NewNull(columnar.Int8, 2)
	for _, c := range []struct {
		rows     int
		sections []abi.Section
		want     string
	}{
		{0, []abi.Section{state(1, 1)}, "<nil>"},
		{1, []abi.Section{state(1, 1), parents(1)}, "<nil>"},
		{1, []abi.Section{state(1, 1)}, "frame: rows without a section of parents"},
		{0, nil, "frame: section of state: is not action TINYINT, time-out BIGINT and the state's 1 columns, of 2 rows"},
		{0, []abi.Section{state(1)}, "frame: section of state: is not action TINYINT, time-out BIGINT and the state's 1 columns, of 2 rows"},
		{0, []abi.Section{nulls}, "frame: section of state: is not action TINYINT, time-out BIGINT and the state's 1 columns, of 2 rows"},
		{0, []abi.Section{otherType}, `frame: section of state: column "seen" is BIGINT, declared is BOOLEAN`},
		{0, []abi.Section{state(1, 3)}, "frame: section of state: group 1 has the action 3"},
		{0, []abi.Section{state(1, -1)}, "frame: section of state: group 1 has the action -1"},
		{2, []abi.Section{state(1, 1), parents(1)}, "frame: section of parents: has 1 rows of 2"},
		{1, []abi.Section{state(1, 1), parents(2)}, "frame: section of parents: row 0 comes from row 2 of 2, after row 0"},
		{2, []abi.Section{state(1, 1), parents(1, 0)}, "frame: section of parents: row 1 comes from row 0 of 2, after row 1"},
	} {
		g := groupsCall{b: b, in: &GroupsInput{Timeout: make([]int64, 2)}, state: make([]*columnar.Column, 1)}
		d := &abi.Decoded{Frame: abi.Frame{Header: abi.Header{Rows: c.rows}, Sections: c.sections}}
		if err := g.add(0, 2, d); fmt.Sprint(err) != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
