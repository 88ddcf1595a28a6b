package stream

import (
	"math"

	"github.com/wstream/wstream/columnar"
)

// rowHash sums the hashes of rows: equal for equal rows in any order and in any cut into batches. All NaNs are one value;
// 0.0 and -0.0 are two, for a sink shows them as such.
type rowHash struct {
	sum  uint64
	rows []uint64
	keys columnar.RowKeys
}

const (
	rowHashK0 = 0xA0761D6478BD642F
	rowHashK1 = 0xE7037ED1A0B428DB
	// nullWord stands for a null.
	nullWord = 0x8EBC6AF09C88C6E3
)

// add takes the rows of a batch.
func (r *rowHash) add(b *columnar.Batch) {
	if cap(r.rows) < b.Rows {
		r.rows = make([]uint64, b.Rows)
	}
	rows := r.rows[:b.Rows]
	clear(rows)
	for _, c := range b.Columns {
		r.column(rows, c)
	}
	for _, h := range rows {
		r.sum += columnar.MixHash(h^rowHashK1, rowHashK0)
	}
}

// column mixes the values of a column into the hashes of the rows.
func (r *rowHash) column(rows []uint64, c *columnar.Column) {
	switch c.Type.Kind {
	case columnar.KindNull:
		for i, h := range rows {
			rows[i] = columnar.MixHash(h^nullWord, rowHashK0)
		}
		return
	case columnar.KindBool:
		for i, h := range rows {
			v := uint64(0)
			if c.Bits.Get(i) {
				v = 1
			}
			rows[i] = word(h, v, c.Valid, i)
		}
	case columnar.KindInt8:
		hashFixed(rows, columnar.Values[int8](c), c.Valid)
	case columnar.KindInt16:
		hashFixed(rows, columnar.Values[int16](c), c.Valid)
	case columnar.KindInt32, columnar.KindDate, columnar.KindYearMonth:
		hashFixed(rows, columnar.Values[int32](c), c.Valid)
	case columnar.KindInt64, columnar.KindTimestamp, columnar.KindTimestampNTZ, columnar.KindTime, columnar.KindDayTime:
		hashFixed(rows, columnar.Values[int64](c), c.Valid)
	case columnar.KindFloat64:
		for i, v := range columnar.Values[float64](c) {
			w := math.Float64bits(v)
			if v != v {
				w = math.Float64bits(math.NaN())
			}
			rows[i] = word(rows[i], w, c.Valid, i)
		}
	case columnar.KindString, columnar.KindBinary, columnar.KindVariant:
		for i := range rows {
			w := uint64(0)
			if c.Valid == nil || c.Valid.Get(i) {
				w = columnar.HashBytes(c.BytesAt(i))
			}
			rows[i] = word(rows[i], w, c.Valid, i)
		}
	default: // wide and nested values
		columnar.EncodeRows(&r.keys, []*columnar.Column{c}, len(rows), false)
		for i := range rows {
			rows[i] = word(rows[i], columnar.HashBytes(r.keys.Row(i)), c.Valid, i)
		}
	}
}

func hashFixed[T int8 | int16 | int32 | int64](rows []uint64, v []T, valid columnar.Bitmap) {
	if valid == nil {
		for i, x := range v[:len(rows)] {
			rows[i] = columnar.MixHash(rows[i]^uint64(x)^rowHashK1, rowHashK0)
		}
		return
	}
	for i, x := range v[:len(rows)] {
		rows[i] = word(rows[i], uint64(x), valid, i)
	}
}

// word mixes a value, or that there is none, into the hash of a row.
func word(h, v uint64, valid columnar.Bitmap, i int) uint64 {
	if valid != nil && !valid.Get(i) {
		return columnar.MixHash(h^nullWord, rowHashK0)
	}
	return columnar.MixHash(h^v^rowHashK1, rowHashK0)
}
