package expr

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// column converts all rows of c.
func (k *caster) column(c *columnar.Column, to *columnar.Type) (*columnar.Column, error) {
	from := c.Type
	switch {
	case from.Equal(to):
		return c.WithType(to), nil
	case from.Kind == columnar.KindNull:
		return columnar.NewNull(to, c.Len), nil
	case from.Kind == columnar.KindVariant:
		return k.fromVariant(c, to)
	case to.Kind == columnar.KindVariant:
		return toVariant(vec{c, false}, c.Len, k.zone)
	case to.Kind == columnar.KindString:
		return k.toString(c, to), nil
	case from.IsNested():
		return k.nested(c, to)
	case from.Kind == columnar.KindString:
		return k.fromString(c, to)
	}
	if to.Kind == columnar.KindDate && (from.Kind == columnar.KindTimestamp || from.Kind == columnar.KindTimestampNTZ) {
		return k.dates(c), nil
	}
	if out, done := castFixed(c, to); done {
		return out, nil
	}
	if out := k.narrow(c, to); out != nil {
		return out, nil
	}
	return k.scalar(c, to)
}

// dates are the days of the wall clock.
func (k *caster) dates(c *columnar.Column) *columnar.Column {
	s := columnar.Values[int64](c)
	d := make([]int32, len(s))
	offset, fixed := int64(0), true
	if c.Type.Kind == columnar.KindTimestamp {
		offset, fixed = k.zone.Fixed()
	}
	for i, t := range s {
		local := t + offset
		if !fixed {
			local = k.zone.ToLocal(t)
		}
		q := local / microsPerDay
		if local%microsPerDay < 0 {
			q--
		}
		d[i] = int32(q)
	}
	return columnar.NewFixed(columnar.Date, d, c.Valid)
}

// narrow cuts integers to a shorter type when all of them fit; otherwise it gives nil.
func (k *caster) narrow(c *columnar.Column, to *columnar.Type) *columnar.Column {
	if !c.Type.IsIntegral() || !to.IsIntegral() {
		return nil
	}
	switch c.Type.Kind {
	case columnar.KindInt16:
		return narrowFrom[int16](c, to)
	case columnar.KindInt32:
		return narrowFrom[int32](c, to)
	case columnar.KindInt64:
		return narrowFrom[int64](c, to)
	}
	return nil
}

func narrowFrom[S interface {
	signed
	number
}](c *columnar.Column, to *columnar.Type) *columnar.Column {
	switch to.Kind {
	case columnar.KindInt8:
		return narrowTo[S, int8](c, to)
	case columnar.KindInt16:
		return narrowTo[S, int16](c, to)
	case columnar.KindInt32:
		return narrowTo[S, int32](c, to)
	}
	return nil
}

func narrowTo[S, D interface {
	signed
	number
}](c *columnar.Column, to *columnar.Type) *columnar.Column {
	s := columnar.Values[S](c)
	d := make([]D, len(s))
	var bad S
	for i, v := range s {
		r := D(v)
		d[i] = r
		bad |= S(r) ^ v
	}
	if bad != 0 {
		return nil
	}
	return columnar.NewFixed(to, d, c.Valid)
}

// nested converts the members of arrays, maps and structs.
func (k *caster) nested(c *columnar.Column, to *columnar.Type) (*columnar.Column, error) {
	out := *c
	out.Type = to
	out.Children = make([]*columnar.Column, len(c.Children))
	for i, ch := range c.Children {
		t := to.Elem
		switch {
		case to.Kind == columnar.KindStruct:
			t = to.Fields[i].Type
		case to.Kind == columnar.KindMap && i == 0:
			t = to.Key
		}
		if to.Kind != columnar.KindStruct {
			// Elements that no row refers to must not fail.
			lo, hi := c.Offsets[0], c.Offsets[c.Len]
			if lo != 0 || int(hi) != ch.Len {
				ch = ch.Slice(int(lo), int(hi))
				if i == 0 {
					off := make([]int32, c.Len+1)
					for j := range off {
						off[j] = c.Offsets[j] - lo
					}
					out.Offsets = off
				}
			}
		}
		r, err := k.column(maskChild(c, ch), t)
		if err != nil {
			return nil, err
		}
		out.Children[i] = r
	}
	return &out, nil
}

// maskChild hides the fields of null structs, whose values are unspecified and must not fail.
func maskChild(c, ch *columnar.Column) *columnar.Column {
	if c.Type.Kind != columnar.KindStruct || c.Valid == nil || ch.Type.Kind == columnar.KindNull {
		return ch
	}
	return ch.WithValid(columnar.And(c.Valid, ch.Valid))
}

func (k *caster) toString(c *columnar.Column, to *columnar.Type) *columnar.Column {
	if c.Type.HasBytes() {
		return c.WithType(to)
	}
	form := textForm{zone: k.zone, scientific: k.mode != CastANSI}
	off := make([]int32, c.Len+1)
	buf := make([]byte, 0, 8*c.Len)
	for i := 0; i < c.Len; i++ {
		if c.Valid == nil || c.Valid.Get(i) {
			buf = form.append(buf, c, i)
		}
		off[i+1] = int32(len(buf))
	}
	return columnar.NewBytes(to, off, buf, c.Valid)
}

type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
	columnar.Value
}

// convert copies with Go's conversion, which is exact for the pairs it is used for.
func convert[S, D number](c *columnar.Column, to *columnar.Type) *columnar.Column {
	s := columnar.Values[S](c)
	d := make([]D, len(s))
	for i, v := range s {
		d[i] = D(v)
	}
	return columnar.NewFixed(to, d, c.Valid)
}

// castFixed does the casts that cannot fail; done is false for others.
func castFixed(c *columnar.Column, to *columnar.Type) (out *columnar.Column, done bool) {
	switch c.Type.Kind {
	case columnar.KindInt8:
		return widen[int8](c, to)
	case columnar.KindInt16:
		return widen[int16](c, to)
	case columnar.KindInt32:
		return widen[int32](c, to)
	case columnar.KindInt64:
		return widen[int64](c, to)
	case columnar.KindFloat32:
		switch to.Kind {
		case columnar.KindFloat64:
			return convert[float32, float64](c, to), true
		case columnar.KindBool:
			return nonZero[float32](c), true
		}
	case columnar.KindFloat64:
		switch to.Kind {
		case columnar.KindFloat32:
			return convert[float64, float32](c, to), true
		case columnar.KindBool:
			return nonZero[float64](c), true
		}
	case columnar.KindDecimal:
		if to.Kind == columnar.KindFloat64 || to.Kind == columnar.KindFloat32 {
			return decimalToFloat(c, to), true
		}
	}
	return nil, false
}

func widen[S number](c *columnar.Column, to *columnar.Type) (*columnar.Column, bool) {
	if to.IsIntegral() && to.Width() < c.Type.Width() {
		return nil, false
	}
	switch to.Kind {
	case columnar.KindInt16:
		return convert[S, int16](c, to), true
	case columnar.KindInt32:
		return convert[S, int32](c, to), true
	case columnar.KindInt64:
		return convert[S, int64](c, to), true
	case columnar.KindFloat32:
		return convert[S, float32](c, to), true
	case columnar.KindFloat64:
		return convert[S, float64](c, to), true
	case columnar.KindBool:
		return nonZero[S](c), true
	case columnar.KindDecimal:
		if !decimalHoldsIntegral(to, c.Type) {
			return nil, false
		}
		s := columnar.Values[S](c)
		d := make([]columnar.Dec128, len(s))
		if to.Precision <= 18 {
			m := columnar.Pow10(to.Scale).Int64()
			for i, v := range s {
				d[i] = columnar.Dec128FromInt64(int64(v) * m)
			}
		} else {
			m := columnar.Pow10(to.Scale)
			for i, v := range s {
				d[i], _ = columnar.Dec128FromInt64(int64(v)).Mul(m)
			}
		}
		return columnar.NewFixed(to, d, c.Valid), true
	}
	return nil, false
}

func nonZero[S number](c *columnar.Column) *columnar.Column {
	s := columnar.Values[S](c)
	out := columnar.NewBitmap(c.Len)
	for w := range out {
		var word uint64
		for i, v := range s[w<<6 : min(w<<6+64, len(s))] {
			word |= b2u(v != 0) << (uint(i) & 63)
		}
		out[w] = word
	}
	return columnar.NewBools(c.Len, out, c.Valid)
}

func decimalToFloat(c *columnar.Column, to *columnar.Type) *columnar.Column {
	s := columnar.Values[columnar.Dec128](c)
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = decimalFloat(v, c.Type.Scale)
	}
	if to.Kind == columnar.KindFloat64 {
		return columnar.NewFixed(to, out, c.Valid)
	}
	f := make([]float32, len(s))
	for i, v := range s {
		f[i] = decimalFloat32(v, c.Type.Scale)
	}
	return columnar.NewFixed(to, f, c.Valid)
}

// decimalFloat is the double nearest to v/10^scale.
func decimalFloat(v columnar.Dec128, scale int) float64 {
	if v.IsInt64() && scale <= 22 {
		if n := v.Int64(); n < 1<<53 && n > -1<<53 {
			return float64(n) / pow10f[scale] // both exact, so that the quotient is correctly rounded
		}
	}
	f, _ := strconv.ParseFloat(string(columnar.AppendDec(nil, v, scale)), 64)
	return f
}

func decimalFloat32(v columnar.Dec128, scale int) float32 {
	f, _ := strconv.ParseFloat(string(columnar.AppendDec(nil, v, scale)), 32)
	return float32(f)
}

var pow10f = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// output collects the rows of a cast that may fail.
type output struct {
	k     *caster
	col   *columnar.Column
	owned bool
}

func (k *caster) output(c *columnar.Column, to *columnar.Type) *output {
	out := &columnar.Column{Type: to, Len: c.Len, Valid: c.Valid}
	if to.Kind == columnar.KindBool {
		out.Bits = columnar.NewBitmap(c.Len)
	} else {
		out.Data = columnar.AlignedBytes(c.Len * to.Width())
	}
	return &output{k: k, col: out}
}

// null makes row i null.
func (o *output) null(i int) {
	if !o.owned {
		ownValid(o.col)
		o.owned = true
	}
	clearValid(o.col, i)
}

// fail makes row i null, or under ANSI gives the error.
func (o *output) fail(i int, err func() error) error {
	if o.k.mode == CastANSI {
		return err()
	}
	o.null(i)
	return nil
}

// failAlways is fail for what Spark refuses without ANSI mode too.
func (o *output) failAlways(i int, err error) error {
	if o.k.mode != CastTry {
		return err
	}
	o.null(i)
	return nil
}

// putInt sets row i of an integer-like column.
func (o *output) putInt(i int, v int64) {
	switch o.col.Type.Width() {
	case 1:
		columnar.Values[int8](o.col)[i] = int8(v)
	case 2:
		columnar.Values[int16](o.col)[i] = int16(v)
	case 4:
		columnar.Values[int32](o.col)[i] = int32(v)
	default:
		columnar.Values[int64](o.col)[i] = v
	}
}

// fitsInt tells whether v fits w bytes.
func fitsInt(v int64, w int) bool {
	s := uint(64 - 8*w)
	return v<<s>>s == v
}

func (k *caster) fromString(c *columnar.Column, to *columnar.Type) (*columnar.Column, error) {
	if to.Kind == columnar.KindBinary {
		return c.WithType(to), nil
	}
	o := k.output(c, to)
	n := c.Len
	bad := func(i int) error {
		return o.fail(i, func() error { return invalid(c.StringAt(i), c.Type, to) })
	}
	for i := 0; i < n; i++ {
		if c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		s := c.StringAt(i)
		var err error
		switch to.Kind {
		case columnar.KindBool:
			v, ok := javatext.ParseBoolean(s)
			if !ok {
				err = bad(i)
			} else if v {
				o.col.Bits.Set(i)
			}
		case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
			if v, ok := javatext.ParseBigint(s, k.mode == CastLegacy); ok && fitsInt(v, to.Width()) {
				o.putInt(i, v)
			} else {
				err = bad(i)
			}
		case columnar.KindFloat32:
			if v, ok := javatext.ParseFloat(s); ok {
				columnar.Values[float32](o.col)[i] = v
			} else {
				err = bad(i)
			}
		case columnar.KindFloat64:
			if v, ok := javatext.ParseDouble(s); ok {
				columnar.Values[float64](o.col)[i] = v
			} else {
				err = bad(i)
			}
		case columnar.KindDecimal:
			switch v, status := parseDecimal(s, to); status {
			case javatext.DecimalOK:
				columnar.Values[columnar.Dec128](o.col)[i] = v
			case javatext.DecimalTooLarge:
				err = o.fail(i, func() error { return decimalRange(javatext.TrimAll(s), to) })
			case javatext.DecimalUnsupported:
				err = o.fail(i, func() error {
					return sparkerr.New("NUMERIC_OUT_OF_SUPPORTED_RANGE", "the value '%s' cannot be interpreted as a numeric since it has more than 38 digits", s)
				})
			default:
				err = bad(i)
			}
		case columnar.KindDate:
			v, ok := javatext.ParseDate(s)
			if !ok && k.constant {
				v, ok = javatext.SpecialDate(s, k.zone, k.now)
			}
			if ok {
				columnar.Values[int32](o.col)[i] = v
			} else {
				err = bad(i)
			}
		case columnar.KindTimestamp:
			v, ok := javatext.ParseTimestamp(s, k.zone, k.now)
			if !ok && k.constant {
				v, ok = javatext.SpecialTimestamp(s, k.zone, k.now)
			}
			if ok {
				o.putInt(i, v)
			} else {
				err = bad(i)
			}
		case columnar.KindTimestampNTZ:
			v, ok := javatext.ParseTimestampNTZ(s, true)
			if !ok && k.constant {
				v, ok = javatext.SpecialTimestampNTZ(s, k.zone, k.now)
			}
			if ok {
				o.putInt(i, v)
			} else {
				err = bad(i)
			}
		case columnar.KindTime:
			if v, ok := javatext.ParseTime(s); ok {
				o.putInt(i, cutTime(v, to.Precision))
			} else {
				err = bad(i)
			}
		case columnar.KindYearMonth:
			v, perr := javatext.ParseYearMonthInterval(s, javatext.IntervalUnit(to.Start), javatext.IntervalUnit(to.End))
			if perr != nil {
				err = o.failAlways(i, perr)
			} else {
				columnar.Values[int32](o.col)[i] = v
			}
		case columnar.KindDayTime:
			v, perr := javatext.ParseDayTimeInterval(s, javatext.IntervalUnit(to.Start), javatext.IntervalUnit(to.End))
			if perr != nil {
				err = o.failAlways(i, perr)
			} else {
				o.putInt(i, v)
			}
		case columnar.KindCalendar:
			v, perr := javatext.ParseCalendarInterval(s)
			if perr != nil {
				o.null(i)
			} else {
				columnar.Values[columnar.CalendarInterval](o.col)[i] = columnar.CalendarInterval(v)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return o.col, nil
}

// cutTime cuts nanoseconds since midnight to a number of digits behind the second.
func cutTime(nanos int64, precision int) int64 {
	unit := int64(1_000_000_000)
	for ; precision > 0; precision-- {
		unit /= 10
	}
	return nanos - nanos%unit
}

// scalar converts one row at a time between types of fixed width.
func (k *caster) scalar(c *columnar.Column, to *columnar.Type) (*columnar.Column, error) {
	if c.Type.IsIntegral() && to.Kind == columnar.KindBinary {
		return integerBytes(c), nil
	}
	o := k.output(c, to)
	for i := 0; i < c.Len; i++ {
		if c.Valid != nil && !c.Valid.Get(i) {
			continue
		}
		if err := k.row(o, c, i); err != nil {
			return nil, err
		}
	}
	return o.col, nil
}

// errNull is what converters return for a value that becomes null in every mode.
var errNull = errors.New("null")

// row converts row i of c, which is not null, into o.
func (k *caster) row(o *output, c *columnar.Column, i int) error {
	from, to := c.Type, o.col.Type
	var err error
	switch {
	case to.Kind == columnar.KindDecimal:
		var v columnar.Dec128
		if v, err = k.toDecimal(c, i, to); err == nil {
			columnar.Values[columnar.Dec128](o.col)[i] = v
		}
	case to.IsFloating():
		var v float64
		switch from.Kind {
		case columnar.KindBool:
			v = float64(b2u(c.Bits.Get(i)))
		case columnar.KindTimestamp:
			v = float64(columnar.Values[int64](c)[i]) / microsPerSecond
		case columnar.KindTime:
			v = float64(columnar.Values[int64](c)[i]) / 1e9
		default:
			err = errNull // DATE in the older dialect
		}
		if to.Kind == columnar.KindFloat32 {
			columnar.Values[float32](o.col)[i] = float32(v)
		} else {
			columnar.Values[float64](o.col)[i] = v
		}
	case to.Kind == columnar.KindBool:
		switch from.Kind {
		case columnar.KindDecimal:
			o.col.Bits.SetTo(i, columnar.Values[columnar.Dec128](c)[i].Sign() != 0)
		case columnar.KindTimestamp:
			o.col.Bits.SetTo(i, columnar.Values[int64](c)[i] != 0)
		default:
			err = errNull
		}
	default:
		var v int64
		if v, err = k.toInt(c, i, to); err == nil {
			o.putInt(i, v)
		}
	}
	if err == errNull {
		o.null(i)
		return nil
	}
	if err != nil {
		if k.mode == CastLegacy && (isANSIInt.accepts(from) || isANSIInt.accepts(to)) {
			return err // intervals fail in every dialect
		}
		return o.fail(i, func() error { return err })
	}
	return nil
}

// intAt is the value of an integer-like row.
func intAt(c *columnar.Column, i int) int64 {
	switch c.Type.Width() {
	case 1:
		return int64(columnar.Values[int8](c)[i])
	case 2:
		return int64(columnar.Values[int16](c)[i])
	case 4:
		return int64(columnar.Values[int32](c)[i])
	}
	return columnar.Values[int64](c)[i]
}

// sqlText is row i as a literal, for messages.
func (k *caster) sqlText(c *columnar.Column, i int) string {
	s := string(appendText(nil, c, i, k.zone))
	switch c.Type.Kind {
	case columnar.KindInt64:
		s += "L"
	case columnar.KindFloat64:
		if v := columnar.Values[float64](c)[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			s += "D"
		}
	case columnar.KindInt16:
		s += "S"
	case columnar.KindInt8:
		s += "Y"
	case columnar.KindDecimal:
		s += "BD"
	case columnar.KindTimestamp:
		s = "TIMESTAMP '" + s + "'"
	}
	return s
}

// toInt gives the integer-like value of to that row i of c becomes.
func (k *caster) toInt(c *columnar.Column, i int, to *columnar.Type) (int64, error) {
	from := c.Type
	over := func() error { return castOverflow(k.sqlText(c, i), from, to) }
	switch to.Kind {
	case columnar.KindInt8, columnar.KindInt16, columnar.KindInt32, columnar.KindInt64:
		w := to.Width()
		switch {
		case from.IsIntegral():
			v := intAt(c, i)
			if k.mode == CastLegacy || fitsInt(v, w) {
				return v, nil
			}
			return 0, over()
		case from.Kind == columnar.KindBool:
			return int64(b2u(c.Bits.Get(i))), nil
		case from.IsFloating():
			v := floatAt(c, i)
			return k.floatToInt(v, w, over)
		case from.Kind == columnar.KindDecimal:
			q, _ := divDec(columnar.Values[columnar.Dec128](c)[i], columnar.Pow10(from.Scale))
			if k.mode == CastLegacy {
				return q.Int64(), nil
			}
			if q.IsInt64() && fitsInt(q.Int64(), w) {
				return q.Int64(), nil
			}
			return 0, over()
		case from.Kind == columnar.KindTimestamp:
			v := javatext.FloorDiv(columnar.Values[int64](c)[i], microsPerSecond)
			if w < 8 && !fitsInt(v, w) {
				return 0, over()
			}
			return v, nil
		case from.Kind == columnar.KindTime:
			v := columnar.Values[int64](c)[i] / 1_000_000_000
			if !fitsInt(v, w) {
				return 0, over()
			}
			return v, nil
		case from.Kind == columnar.KindYearMonth, from.Kind == columnar.KindDayTime:
			v := intAt(c, i) / unitOf(from)
			if !fitsInt(v, w) {
				return 0, castOverflow(string(appendText(nil, c, i, k.zone)), from, to)
			}
			return v, nil
		}
		return 0, errNull
	case columnar.KindDate:
		return 0, errNull // timestamps are done by dates
	case columnar.KindTimestamp:
		return k.toTimestamp(c, i, to)
	case columnar.KindTimestampNTZ:
		switch from.Kind {
		case columnar.KindTimestamp:
			return k.zone.ToLocal(columnar.Values[int64](c)[i]), nil
		case columnar.KindDate:
			return int64(columnar.Values[int32](c)[i]) * microsPerDay, nil
		}
	case columnar.KindTime:
		v := int64(0)
		switch from.Kind {
		case columnar.KindTimestamp:
			v = javatext.FloorMod(k.zone.ToLocal(columnar.Values[int64](c)[i]), microsPerDay) * 1000
		case columnar.KindTimestampNTZ:
			v = javatext.FloorMod(columnar.Values[int64](c)[i], microsPerDay) * 1000
		case columnar.KindTime:
			v = columnar.Values[int64](c)[i]
		}
		return cutTime(v, to.Precision), nil
	case columnar.KindYearMonth, columnar.KindDayTime:
		if from.Kind == to.Kind {
			// Fields finer than the target's last one are cut.
			v, u := intAt(c, i), unitOf(to)
			return v - v%u, nil
		}
		unit := unitOf(to)
		if from.Kind == columnar.KindDecimal {
			r, ok := rescaleBy(columnar.Values[columnar.Dec128](c)[i], from.Scale, unit)
			if !ok || to.Kind == columnar.KindYearMonth && !fitsInt(r, 4) {
				return 0, over()
			}
			return r, nil
		}
		v, o := mulChecked(intAt(c, i), unit)
		if o || to.Kind == columnar.KindYearMonth && !fitsInt(v, 4) {
			return 0, castOverflow(string(appendText(nil, c, i, k.zone)), from, to)
		}
		return v, nil
	}
	return 0, errNull
}

// rescaleBy is v/10^scale*unit, rounded half up.
func rescaleBy(v columnar.Dec128, scale int, unit int64) (int64, bool) {
	p, ok := v.MulInt64(unit)
	if !ok {
		return 0, false
	}
	q := divHalfUp(p, columnar.Pow10(scale))
	return q.Int64(), q.IsInt64()
}

// unitOf is the length of an interval type's last field, in months or microseconds.
func unitOf(t *columnar.Type) int64 {
	switch t.End {
	case columnar.FieldYear:
		return 12
	case columnar.FieldMonth:
		return 1
	case columnar.FieldSecond:
		return microsPerSecond
	}
	return int64(fieldMicros(t.End))
}

func floatAt(c *columnar.Column, i int) float64 {
	if c.Type.Kind == columnar.KindFloat32 {
		return float64(columnar.Values[float32](c)[i])
	}
	return columnar.Values[float64](c)[i]
}

// floatToInt cuts the fraction off; beyond the range it fails, or in the older dialect stays at the
// range's end as Java's conversions do (through INT for the shorter types).
func (k *caster) floatToInt(v float64, w int, over func() error) (int64, error) {
	if k.mode == CastLegacy {
		if w == 8 {
			return javaLong(v), nil
		}
		return int64(javaInt(v)), nil
	}
	lo, hi := -float64(uint64(1)<<(8*w-1)), float64(uint64(1)<<(8*w-1))
	if w < 8 {
		// floor(v) and ceil(v) must lie in the range.
		if math.Floor(v) <= hi-1 && math.Ceil(v) >= lo {
			return int64(v), nil
		}
		return 0, over()
	}
	if v >= lo && v < hi {
		return int64(v), nil
	}
	return 0, over()
}

// javaLong is Java's (long) of a double.
func javaLong(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// javaInt is Java's (int) of a double.
func javaInt(v float64) int32 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v <= math.MinInt32:
		return math.MinInt32
	}
	return int32(v)
}

func (k *caster) toTimestamp(c *columnar.Column, i int, to *columnar.Type) (int64, error) {
	from := c.Type
	switch {
	case from.Kind == columnar.KindDate:
		return k.zone.FromLocal(int64(columnar.Values[int32](c)[i]) * microsPerDay), nil
	case from.Kind == columnar.KindTimestampNTZ:
		return k.zone.FromLocal(columnar.Values[int64](c)[i]), nil
	case from.Kind == columnar.KindBool:
		return int64(b2u(c.Bits.Get(i))), nil
	case from.IsIntegral():
		v := intAt(c, i)
		hi, lo := bits.Mul64(uint64(abs64(v)), microsPerSecond)
		if hi != 0 || lo > math.MaxInt64 {
			if v < 0 {
				return math.MinInt64, nil
			}
			return math.MaxInt64, nil
		}
		return v * microsPerSecond, nil
	case from.IsFloating():
		v := floatAt(c, i)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, invalid(k.sqlText(c, i), from, to)
		}
		m := v * microsPerSecond
		if k.mode != CastLegacy && !(m >= math.MinInt64 && m < math.MaxInt64) {
			return 0, castOverflow(string(javatext.AppendDouble(nil, m))+"D", columnar.Float64, columnar.Int64)
		}
		return javaLong(m), nil
	case from.Kind == columnar.KindDecimal:
		v := columnar.Values[columnar.Dec128](c)[i]
		// What does not fit is cut to 64 bits, in every dialect.
		if p, ok := v.MulInt64(microsPerSecond); ok {
			q, _ := divDec(p, columnar.Pow10(from.Scale))
			return q.Int64(), nil
		}
		p := v.Big()
		p.Mul(p, big.NewInt(microsPerSecond)).Quo(p, bigPow10(from.Scale))
		return int64(p.And(p, new(big.Int).SetUint64(math.MaxUint64)).Uint64()), nil
	}
	return 0, errNull
}

func abs64(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func (k *caster) toDecimal(c *columnar.Column, i int, to *columnar.Type) (columnar.Dec128, error) {
	from := c.Type
	var u columnar.Dec128
	scale := 0
	switch {
	case from.Kind == columnar.KindDecimal:
		u, scale = columnar.Values[columnar.Dec128](c)[i], from.Scale
	case from.Kind == columnar.KindBool:
		u = columnar.Dec128FromInt64(int64(b2u(c.Bits.Get(i))))
	case from.IsIntegral():
		u = columnar.Dec128FromInt64(intAt(c, i))
	case from.Kind == columnar.KindTimestamp:
		u, scale = columnar.Dec128FromInt64(columnar.Values[int64](c)[i]), 6
	case from.Kind == columnar.KindTime:
		u, scale = columnar.Dec128FromInt64(columnar.Values[int64](c)[i]), 9
	case from.Kind == columnar.KindDayTime && from.End == columnar.FieldSecond:
		u, scale = columnar.Dec128FromInt64(columnar.Values[int64](c)[i]), 6
	case from.Kind == columnar.KindDayTime, from.Kind == columnar.KindYearMonth:
		u = columnar.Dec128FromInt64(intAt(c, i) / unitOf(from))
	case from.IsFloating():
		v := floatAt(c, i)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return u, errNull
		}
		// A float is widened to double first, so that its digits are those of the double.
		d, status := javatext.DecimalFromDouble(v, to.Precision, to.Scale)
		if status != javatext.DecimalOK {
			return u, decimalRange(javatext.DoubleString(v), to)
		}
		return columnar.Dec128(d), nil
	default:
		return u, errNull
	}
	r, ok := rescale(u, scale, to.Scale, to.Precision)
	if !ok {
		return u, decimalRange(string(columnar.AppendDec(nil, u, scale)), to)
	}
	return r, nil
}

// integerBytes is the big-endian bytes of integers, the older dialect's cast to BINARY.
func integerBytes(c *columnar.Column) *columnar.Column {
	w := c.Type.Width()
	off, data := make([]int32, c.Len+1), make([]byte, 0, c.Len*w)
	for i := 0; i < c.Len; i++ {
		v := intAt(c, i)
		for b := w - 1; b >= 0; b-- {
			data = append(data, byte(v>>(8*b)))
		}
		off[i+1] = int32(len(data))
	}
	return columnar.NewBytes(columnar.Binary, off, data, c.Valid)
}

// fromVariant reads values out of JSON texts.
func (k *caster) fromVariant(c *columnar.Column, to *columnar.Type) (*columnar.Column, error) {
	b := columnar.NewBuilder(to, c.Len)
	for i := 0; i < c.Len; i++ {
		if c.IsNull(i) {
			b.AppendNull()
			continue
		}
		d, err := k.variantDatum(c.BytesAt(i), to)
		if err != nil {
			if k.mode == CastANSI {
				return nil, err
			}
			d = nil
		}
		b.AppendDatum(d)
	}
	return b.Finish(), nil
}

func invalidVariant(text string, to *columnar.Type) error {
	return sparkerr.New("INVALID_VARIANT_CAST", "the variant value `%s` cannot be cast into \"%s\"; use `try_variant_get` instead", text, to.SQL())
}
