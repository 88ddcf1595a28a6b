package records

import (
	"errors"
	"strings"

	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// IsUpgrade tells whether an error is about a pattern that means something else than in old versions of Spark, which
// ends the query in every mode. A pattern of weeks that the old versions did not take either is a fault of each field.
func IsUpgrade(err error) bool {
	c := sparkerr.Condition(err)
	return strings.HasPrefix(c, "INCONSISTENT_BEHAVIOR_CROSS_VERSION") && !strings.HasSuffix(c, ".DATETIME_WEEK_BASED_PATTERN")
}

// pattern is a compiled pattern, with the names of months and days of a locale.
type pattern struct {
	*javatext.DatetimeFormatter
	names *localeNames // nil for English
}

func compilePattern(text, locale string, reading bool) (*pattern, error) {
	f, err := javatext.CompileDatetimePattern(text, reading)
	if err != nil {
		return nil, err
	}
	p := &pattern{DatetimeFormatter: f}
	if strings.Contains(text, "MMM") || strings.Contains(text, "LLL") || strings.Contains(text, "E") {
		p.names = namesOf(locale).only(strings.Contains(text, "MMMM") || strings.Contains(text, "LLLL"), strings.Contains(text, "EEEE"))
	}
	return p, nil
}

// plainError drops the name of a condition: a field that a pattern does not fit has none.
func plainError(err error) error {
	if err == nil || IsUpgrade(err) {
		return err
	}
	return errors.New(err.Error())
}

// patterns takes the patterns of the options in use for reading. A pattern that cannot be compiled is the error of
// each field.
func (f *Formats) patterns(o FormatOptions) {
	if o.TimestampFormat != "" {
		p, bad := compilePattern(o.TimestampFormat, o.Locale, true)
		f.parseTimestamp = func(s string) (int64, error) {
			if bad != nil {
				return 0, bad
			}
			v, err := p.ParseTimestamp(p.names.toEnglish(s), f.Zone, "")
			return v, plainError(err)
		}
	}
	if o.TimestampNTZFormat != "" {
		p, bad := compilePattern(o.TimestampNTZFormat, o.Locale, true)
		f.parseTimestampNTZ = func(s string) (int64, error) {
			// Old versions had no such type, so no pattern of it means something else today.
			if bad != nil {
				return 0, errors.New(bad.Error())
			}
			v, err := p.ParseTimestampNTZ(p.names.toEnglish(s), false, "")
			if err != nil {
				return 0, errors.New(err.Error())
			}
			return v, nil
		}
	}
	if o.DateFormat != "" {
		p, bad := compilePattern(o.DateFormat, o.Locale, true)
		f.parseDate = func(s string) (int32, error) {
			if bad != nil {
				return 0, bad
			}
			v, err := p.ParseDate(p.names.toEnglish(s), "")
			return v, plainError(err)
		}
	}
	if o.TimeFormat != "" {
		p, bad := compilePattern(o.TimeFormat, o.Locale, true)
		f.parseTime = func(s string) (int64, error) {
			if bad != nil {
				return 0, bad
			}
			v, err := p.ParseTime(p.names.toEnglish(s))
			return v, plainError(err)
		}
	}
}

// writing takes the patterns of the options in use for writing. A pattern that has no sense, or asks a date for its
// hour, is refused at once.
func (f *Formats) writing(o FormatOptions) error {
	if o.TimestampFormat != "" {
		p, err := compilePattern(o.TimestampFormat, o.Locale, false)
		if err == nil {
			_, err = p.AppendTimestamp(nil, 0, f.Zone)
		}
		if err != nil {
			return err
		}
		f.appendTimestamp = func(dst []byte, v int64) []byte {
			return p.localized(dst, func(dst []byte) ([]byte, error) { return p.AppendTimestamp(dst, v, f.Zone) })
		}
	}
	if o.TimestampNTZFormat != "" {
		p, err := compilePattern(o.TimestampNTZFormat, o.Locale, false)
		if err == nil {
			_, err = p.AppendTimestampNTZ(nil, 0)
		}
		if err != nil {
			return err
		}
		f.appendTimestampNTZ = func(dst []byte, v int64) []byte {
			return p.localized(dst, func(dst []byte) ([]byte, error) { return p.AppendTimestampNTZ(dst, v) })
		}
	}
	if o.DateFormat != "" {
		p, err := compilePattern(o.DateFormat, o.Locale, false)
		if err == nil {
			_, err = p.AppendDate(nil, 0)
		}
		if err != nil {
			return err
		}
		f.appendDate = func(dst []byte, v int32) []byte {
			return p.localized(dst, func(dst []byte) ([]byte, error) { return p.AppendDate(dst, v) })
		}
	}
	if o.TimeFormat != "" {
		p, err := compilePattern(o.TimeFormat, o.Locale, false)
		if err == nil {
			_, err = p.AppendTime(nil, 0)
		}
		if err != nil {
			return err
		}
		f.appendTime = func(dst []byte, v int64) []byte {
			return p.localized(dst, func(dst []byte) ([]byte, error) { return p.AppendTime(dst, v) })
		}
	}
	return nil
}

// localized writes a value and puts the locale's names in place of the English ones.
func (p *pattern) localized(dst []byte, write func([]byte) ([]byte, error)) []byte {
	from := len(dst)
	out, err := write(dst)
	if err != nil { // a trial has shown that the pattern fits the type
		return dst
	}
	if p.names == nil {
		return out
	}
	return append(out[:from:from], p.names.fromEnglish(string(out[from:]))...)
}
