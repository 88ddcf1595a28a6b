package exec

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/engine/expr"
)

// sortKey is an evaluated key of an ORDER BY.
type sortKey struct {
	col        *columnar.Column
	desc       bool
	nullsFirst bool
	compare    func(i, j int32) int // of rows that are not null, ascending
}

func newSortKey(c *columnar.Column, k expr.SortKey) sortKey {
	s := sortKey{col: c, desc: k.Desc, nullsFirst: k.NullsFirst}
	switch c.Type.Kind {
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		v := columnar.Values[int32](c)
		s.compare = func(i, j int32) int { return cmp.Compare(v[i], v[j]) }
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		v := columnar.Values[int64](c)
		s.compare = func(i, j int32) int { return cmp.Compare(v[i], v[j]) }
	case columnar.KindString, columnar.KindBinary:
		if c.Type.Collation == "" {
			s.compare = func(i, j int32) int { return bytes.Compare(c.BytesAt(int(i)), c.BytesAt(int(j))) }
			break
		}
		fallthrough
	default:
		s.compare = func(i, j int32) int { return expr.Compare(c, int(i), c, int(j)) }
	}
	return s
}

// order compares two rows by one key, nulls and direction included.
func (s *sortKey) order(i, j int32) int {
	if s.col.Valid != nil || s.col.Type.Kind == columnar.KindNull {
		in, jn := s.col.IsNull(int(i)), s.col.IsNull(int(j))
		switch {
		case in && jn:
			return 0
		case in != jn && in == s.nullsFirst:
			return -1
		case in != jn:
			return 1
		}
	}
	c := s.compare(i, j)
	if s.desc {
		return -c
	}
	return c
}

// compareRows compares two rows by all keys.
func compareRows(keys []sortKey, i, j int32) int {
	for k := range keys {
		if c := keys[k].order(i, j); c != 0 {
			return c
		}
	}
	return 0
}

// sortRows sorts row numbers by keys; equal rows stay in order.
func sortRows(ctx context.Context, keys []sortKey, idx []int32) error {
	if len(keys) == 1 && keys[0].col.Valid == nil {
		c, desc := keys[0].compare, keys[0].desc
		slices.SortStableFunc(idx, func(i, j int32) int {
			if desc {
				return c(j, i)
			}
			return c(i, j)
		})
	} else {
		slices.SortStableFunc(idx, func(i, j int32) int { return compareRows(keys, i, j) })
	}
	return ctx.Err()
}

// evalSortKeys evaluates the keys of an ORDER BY.
func evalSortKeys(ctx *expr.Context, keys []expr.SortKey, in *columnar.Batch) ([]sortKey, error) {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		c, err := k.Expr.Eval(ctx, in)
		if err != nil {
			return nil, err
		}
		out[i] = newSortKey(c, k)
	}
	return out, nil
}

// bindSortKeys binds the keys of an ORDER BY to columns.
func bindSortKeys(keys []expr.SortKey, attrs []*expr.Attr) ([]expr.SortKey, error) {
	out := make([]expr.SortKey, len(keys))
	for i, k := range keys {
		b, err := expr.BindRefs(k.Expr, attrs)
		if err != nil {
			return nil, err
		}
		out[i] = expr.SortKey{Expr: b, Desc: k.Desc, NullsFirst: k.NullsFirst}
	}
	return out, nil
}
