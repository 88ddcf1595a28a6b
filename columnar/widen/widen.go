// Package widen takes columns as a file holds them to the types that a reader wants: the same type, or one that
// holds every value of the file's.
package widen

import (
	"fmt"

	"github.com/wstream/wstream/columnar"
)

// Can tells whether values of a file's type may be read as another type: the same, or one that
// holds them all.
func Can(from, to *columnar.Type) bool {
	switch {
	case from.Equal(to):
		return true
	case from.HasBytes() && to.HasBytes():
		return true
	case from.IsIntegral() && to.IsIntegral():
		return from.Kind <= to.Kind
	case from.IsIntegral() && to.Kind == columnar.KindDecimal:
		digits := [...]int{columnar.KindInt8: 3, columnar.KindInt16: 5, columnar.KindInt32: 10, columnar.KindInt64: 20}[from.Kind]
		return to.Precision-to.Scale >= digits
	case from.IsIntegral() && to.Kind == columnar.KindFloat64:
		return from.Kind <= columnar.KindInt32
	case from.Kind == columnar.KindFloat32 && to.Kind == columnar.KindFloat64:
		return true
	case from.Kind == columnar.KindDecimal && to.Kind == columnar.KindDecimal:
		return to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	case from.Kind == columnar.KindDate && to.Kind == columnar.KindTimestampNTZ:
		return true
	case from.Kind == columnar.KindTime && to.Kind == columnar.KindTime:
		return true
	case from.Kind == columnar.KindInt32 && to.Kind == columnar.KindYearMonth, from.Kind == columnar.KindInt64 && to.Kind == columnar.KindDayTime:
		return true
	case from.Kind == columnar.KindYearMonth && to.Kind == columnar.KindYearMonth, from.Kind == columnar.KindDayTime && to.Kind == columnar.KindDayTime:
		return true
	}
	return false
}

// Column takes a column to a type that Can allows. It fails on a decimal that the wider scale has no room for.
func Column(c *columnar.Column, t *columnar.Type) (*columnar.Column, error) {
	from := c.Type
	switch {
	case from.Equal(t) || from.HasBytes() || !t.IsNumeric() && t.Kind != columnar.KindTimestampNTZ:
		return c.WithType(t), nil
	case from.Kind == columnar.KindFloat32:
		return convert(c, t, func(v float32) float64 { return float64(v) }), nil
	case from.Kind == columnar.KindDate:
		return convert(c, t, func(v int32) int64 { return int64(v) * 86400e6 }), nil
	case from.Kind == columnar.KindDecimal:
		return rescale(c, t, t.Scale-from.Scale)
	}
	wide := c
	if from.Kind != columnar.KindInt64 {
		switch from.Width() {
		case 1:
			wide = convert(c, columnar.Int64, func(v int8) int64 { return int64(v) })
		case 2:
			wide = convert(c, columnar.Int64, func(v int16) int64 { return int64(v) })
		default:
			wide = convert(c, columnar.Int64, func(v int32) int64 { return int64(v) })
		}
	}
	switch t.Kind {
	case columnar.KindInt16:
		return convert(wide, t, func(v int64) int16 { return int16(v) }), nil
	case columnar.KindInt32:
		return convert(wide, t, func(v int64) int32 { return int32(v) }), nil
	case columnar.KindFloat64:
		return convert(wide, t, func(v int64) float64 { return float64(v) }), nil
	case columnar.KindDecimal:
		return rescale(convert(wide, t, columnar.Dec128FromInt64), t, t.Scale)
	}
	return wide, nil
}

func convert[A, B columnar.Value](c *columnar.Column, t *columnar.Type, f func(A) B) *columnar.Column {
	out := make([]B, c.Len)
	for i, v := range columnar.Values[A](c) {
		out[i] = f(v)
	}
	return columnar.NewFixed(t, out, c.Valid)
}

// rescale multiplies decimals by a power of ten.
func rescale(c *columnar.Column, t *columnar.Type, digits int) (*columnar.Column, error) {
	if digits == 0 {
		return c.WithType(t), nil
	}
	out := make([]columnar.Dec128, c.Len)
	for i, v := range columnar.Values[columnar.Dec128](c) {
		r, ok := v.Mul(columnar.Pow10(digits))
		if !ok && !c.IsNull(i) {
			return nil, fmt.Errorf("decimal out of the range of %s", t)
		}
		out[i] = r
	}
	return columnar.NewFixed(t, out, c.Valid), nil
}
