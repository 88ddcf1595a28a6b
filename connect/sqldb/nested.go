package sqldb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/datumjson"
	"github.com/wstream/wstream/columnar/jsonfmt"
	"github.com/wstream/wstream/columnar/records"
)

// parsed reads JSON text as arrays, structs, maps or variants.
func (l *lookup) parsed(text *columnar.Column, f columnar.Field) (*columnar.Column, error) {
	opts, err := jsonfmt.ParseOptions(nil, l.env.Zone.String())
	if err != nil {
		return nil, err
	}
	if f.Type.Kind == columnar.KindVariant {
		r, b := jsonfmt.NewVariantReader(opts), columnar.NewBuilder(f.Type, text.Len)
		var v []byte
		for i := range text.Len {
			if text.IsNull(i) {
				b.AppendNull()
				continue
			}
			if v, err = r.Append(v[:0], text.BytesAt(i)); err != nil {
				return nil, fmt.Errorf("column %q: %.100q is no JSON: %w", f.Name, text.StringAt(i), err)
			}
			b.AppendBytes(v)
		}
		return b.Finish(), nil
	}
	opts.Mode = records.FailFast
	d, err := jsonfmt.NewColumn(f.Type, opts)
	if err != nil { // maps whose keys are no strings
		return written(text, f)
	}
	c, _, err := d.DecodeColumn(text)
	if err != nil {
		return nil, fmt.Errorf("column %q: its text is no JSON of type %s; read it as STRING to see it: %w", f.Name, f.Type.SQL(), err)
	}
	return c, nil
}

// written reads JSON text as the sinks write it, which goes for types that no function of JSON has.
func written(text *columnar.Column, f columnar.Field) (*columnar.Column, error) {
	b := columnar.NewBuilder(f.Type, text.Len)
	for i := range text.Len {
		if text.IsNull(i) {
			b.AppendNull()
			continue
		}
		v, err := datumjson.Parse(f.Type, text.BytesAt(i))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		b.AppendDatum(v)
	}
	return b.Finish(), nil
}

func isInterval(t *columnar.Type) bool {
	return t.Kind == columnar.KindYearMonth || t.Kind == columnar.KindDayTime || t.Kind == columnar.KindCalendar
}

// intervals reads what PostgreSQL writes for its intervals.
func intervals(text *columnar.Column, f columnar.Field) (*columnar.Column, error) {
	b := columnar.NewBuilder(f.Type, text.Len)
	for i := range text.Len {
		if text.IsNull(i) {
			b.AppendNull()
			continue
		}
		v, err := parseInterval(text.StringAt(i))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		switch {
		case f.Type.Kind == columnar.KindCalendar:
			b.AppendCalendar(v)
		case f.Type.Kind == columnar.KindYearMonth && v.Days == 0 && v.Micros == 0:
			b.AppendInt(int64(v.Months))
		case f.Type.Kind == columnar.KindDayTime && v.Months == 0:
			b.AppendInt(int64(v.Days)*86400e6 + v.Micros)
		default:
			return nil, fmt.Errorf("column %q: the interval %q is none of type %s; read it as INTERVAL or STRING", f.Name, text.StringAt(i), f.Type.SQL())
		}
	}
	return b.Finish(), nil
}

// parseInterval reads an interval in PostgreSQL's own style, "1 year 2 mons -3 days -04:05:06.7".
func parseInterval(text string) (v columnar.CalendarInterval, err error) {
	words := strings.Fields(text)
	for i := 0; i < len(words) && err == nil; i++ {
		if strings.Contains(words[i], ":") {
			v.Micros, err = clock(words[i])
			continue
		}
		if i+1 == len(words) {
			return v, fmt.Errorf("interval %q: %q has no unit", text, words[i])
		}
		var n int64
		if n, err = strconv.ParseInt(words[i], 10, 32); err != nil {
			break
		}
		switch i++; strings.TrimSuffix(words[i], "s") {
		case "year":
			n *= 12
			fallthrough
		case "mon":
			v.Months += int32(n)
		case "day":
			v.Days += int32(n)
		default:
			return v, fmt.Errorf("interval %q: the unit %q is unknown", text, words[i])
		}
	}
	if err != nil {
		return v, fmt.Errorf("interval %q: %w", text, err)
	}
	return v, nil
}

// clock reads [-]hours:minutes:seconds with up to six digits of a fraction, in microseconds.
func clock(text string) (int64, error) {
	digits, negative := strings.CutPrefix(text, "-")
	digits = strings.TrimPrefix(digits, "+")
	parts := strings.Split(digits, ":")
	if len(parts) != 3 {
		return 0, fmt.Errorf("%q is no time, expected hours:minutes:seconds", text)
	}
	whole, fraction, _ := strings.Cut(parts[2], ".")
	if len(fraction) > 6 {
		return 0, fmt.Errorf("%q has more than six digits of a fraction", text)
	}
	total := int64(0)
	for i, p := range []string{parts[0], parts[1], whole, (fraction + "000000")[:6]} {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return 0, err
		}
		total = total*[]int64{1, 60, 60, 1000000}[i] + n
	}
	if negative {
		total = -total
	}
	return total, nil
}
