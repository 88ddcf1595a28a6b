package sqldb

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/wstream/wstream/columnar"
)

// pgEncoder writes the values of one column as parameters of a type of the server.
type pgEncoder struct {
	c      *columnar.Column
	name   string // of the column
	binary bool   // in PostgreSQL's binary format, else as text
	bad    *badText
	value  func(dst []byte, i int) ([]byte, error) // of a row that is not null
}

// The epoch of PostgreSQL, 2000-01-01, in days and microseconds since 1970.
const (
	pgEpochDays   = 10957
	pgEpochMicros = pgEpochDays * 86400 * 1000000
)

// pgEncoderFor chooses how a column is written for a type of the server: in binary where both say the same, as text where
// the server is to convert it.
func pgEncoderFor(c *columnar.Column, oid uint32, name string, bad *badText) pgEncoder {
	e := pgEncoder{c: c, name: name, binary: true, bad: bad}
	k := c.Type.Kind
	switch {
	case k == columnar.KindBool && oid == oidBool:
		e.value = func(dst []byte, i int) ([]byte, error) {
			if c.Bits.Get(i) {
				return append(dst, 1), nil
			}
			return append(dst, 0), nil
		}
	case c.Type.IsIntegral() && (oid == oidInt2 || oid == oidInt4 || oid == oidInt8):
		e.value = e.integer(oid)
	case k == columnar.KindFloat64 && oid == oidFloat8:
		v := columnar.Values[float64](c)
		e.value = func(dst []byte, i int) ([]byte, error) {
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(v[i])), nil
		}
	case k == columnar.KindFloat32 && oid == oidFloat4:
		v := columnar.Values[float32](c)
		e.value = func(dst []byte, i int) ([]byte, error) {
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(v[i])), nil
		}
	case k == columnar.KindFloat32 && oid == oidFloat8:
		v := columnar.Values[float32](c)
		e.value = func(dst []byte, i int) ([]byte, error) {
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(float64(v[i]))), nil
		}
	case k == columnar.KindDecimal && oid == oidNumeric:
		v, scale := columnar.Values[columnar.Dec128](c), c.Type.Scale
		e.value = func(dst []byte, i int) ([]byte, error) { return appendNumeric(dst, v[i], scale), nil }
	case k == columnar.KindString && (oid == oidText || oid == oidVarchar || oid == oidBpchar):
		e.value = func(dst []byte, i int) ([]byte, error) {
			v, err := bad.clean(name, c.BytesAt(i), true)
			return append(dst, v...), err
		}
	case k == columnar.KindBinary && oid == oidBytea:
		e.value = func(dst []byte, i int) ([]byte, error) { return append(dst, c.BytesAt(i)...), nil }
	case k == columnar.KindDate && oid == oidDate:
		v := columnar.Values[int32](c)
		e.value = func(dst []byte, i int) ([]byte, error) {
			return binary.BigEndian.AppendUint32(dst, uint32(v[i]-pgEpochDays)), nil
		}
	case (k == columnar.KindTimestamp || k == columnar.KindTimestampNTZ) && (oid == oidTimestamptz || oid == oidTimestamp):
		v := columnar.Values[int64](c)
		e.value = func(dst []byte, i int) ([]byte, error) {
			return binary.BigEndian.AppendUint64(dst, uint64(v[i]-pgEpochMicros)), nil
		}
	case k == columnar.KindTime && oid == oidTime:
		v := columnar.Values[int64](c)
		e.value = func(dst []byte, i int) ([]byte, error) {
			return binary.BigEndian.AppendUint64(dst, uint64(v[i]/1000)), nil
		}
	case isJSON(c.Type) && (oid == oidJB || oid == oidJSON):
		e.value = func(dst []byte, i int) ([]byte, error) {
			v, err := bad.cleanJSON(name, appendText(nil, c, i), oid == oidJB)
			if oid == oidJB {
				dst = append(dst, 1)
			}
			return append(dst, v...), err
		}
	default:
		e.binary = false
		e.value = e.asText(oid)
	}
	return e
}

// integer writes whole numbers, refusing those that the server's type cannot hold.
func (e *pgEncoder) integer(oid uint32) func(dst []byte, i int) ([]byte, error) {
	c, name := e.c, e.name
	return func(dst []byte, i int) ([]byte, error) {
		v := intAt(c, i)
		switch oid {
		case oidInt8:
			return binary.BigEndian.AppendUint64(dst, uint64(v)), nil
		case oidInt4:
			if int64(int32(v)) == v {
				return binary.BigEndian.AppendUint32(dst, uint32(v)), nil
			}
		default:
			if int64(int16(v)) == v {
				return binary.BigEndian.AppendUint16(dst, uint16(v)), nil
			}
		}
		return nil, fmt.Errorf("column %q: %d does not fit the column of the table; widen it, e.g. to bigint", name, v)
	}
}

// asText writes values as text that the server converts.
func (e *pgEncoder) asText(oid uint32) func(dst []byte, i int) ([]byte, error) {
	c, name, bad := e.c, e.name, e.bad
	return func(dst []byte, i int) ([]byte, error) {
		switch {
		case c.Type.Kind == columnar.KindBinary:
			return fmt.Appendf(dst, `\x%x`, c.BytesAt(i)), nil
		case c.Type.Kind == columnar.KindTimestamp && oid != oidTimestamp && oid != oidDate && oid != oidTime:
			return append(appendText(dst, c, i), "+00"...), nil
		case c.Type.Kind == columnar.KindYearMonth:
			return fmt.Appendf(dst, "%d months", columnar.Values[int32](c)[i]), nil
		case c.Type.Kind == columnar.KindDayTime:
			return fmt.Appendf(dst, "%d microseconds", columnar.Values[int64](c)[i]), nil
		case c.Type.Kind == columnar.KindCalendar:
			v := columnar.Values[columnar.CalendarInterval](c)[i]
			return fmt.Appendf(dst, "%d months %d days %d microseconds", v.Months, v.Days, v.Micros), nil
		}
		v, err := bad.clean(name, appendText(nil, c, i), true)
		return append(dst, v...), err
	}
}

// element writes a row's value as an element of an array.
func (e *pgEncoder) element(dst []byte, i int) ([]byte, error) {
	if e.binary {
		if e.c.IsNull(i) {
			return append(dst, 0xff, 0xff, 0xff, 0xff), nil
		}
		at := len(dst)
		dst, err := e.value(append(dst, 0, 0, 0, 0), i)
		if err != nil {
			return dst, err
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		return dst, nil
	}
	if e.c.IsNull(i) {
		return append(dst, "NULL"...), nil
	}
	v, err := e.value(nil, i)
	dst = append(dst, '"')
	for _, c := range v {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"'), err
}

// appendNumeric writes a decimal in the binary format of numeric: digits of base 10000 around the decimal point.
func appendNumeric(dst []byte, d columnar.Dec128, scale int) []byte {
	var buf [64]byte
	text := columnar.AppendDec(buf[:0], d, scale)
	sign := uint16(0)
	if text[0] == '-' {
		sign, text = 0x4000, text[1:]
	}
	whole, frac := text, []byte(nil)
	if scale > 0 {
		whole, frac = text[:len(text)-scale-1], text[len(text)-scale:]
	}
	var digits [24]uint16
	n := 0
	for len(whole) > 0 {
		k := (len(whole)-1)%4 + 1
		digits[n] = number(whole[:k])
		n++
		whole = whole[k:]
	}
	weight := n - 1
	for len(frac) > 0 {
		k := min(4, len(frac))
		v := number(frac[:k])
		for range 4 - k {
			v *= 10
		}
		digits[n] = v
		n++
		frac = frac[k:]
	}
	from := 0
	for from < n && digits[from] == 0 {
		from++
		weight--
	}
	for n > from && digits[n-1] == 0 {
		n--
	}
	if from == n {
		weight, sign = 0, 0
	}
	dst = binary.BigEndian.AppendUint16(dst, uint16(n-from))
	dst = binary.BigEndian.AppendUint16(dst, uint16(int16(weight)))
	dst = binary.BigEndian.AppendUint16(dst, sign)
	dst = binary.BigEndian.AppendUint16(dst, uint16(scale))
	for _, v := range digits[from:n] {
		dst = binary.BigEndian.AppendUint16(dst, v)
	}
	return dst
}

func number(b []byte) uint16 {
	n := uint16(0)
	for _, c := range b {
		n = n*10 + uint16(c-'0')
	}
	return n
}
