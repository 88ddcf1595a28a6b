package javatext

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/wstream/wstream/columnar/sparkerr"
)

// conditionChain returns the conditions of an error and its causes, parted by "<".
func conditionChain(err error) string {
	var list []string
	for err != nil {
		var e *sparkerr.Error
		if !errors.As(err, &e) {
			break
		}
		list = append(list, e.Condition)
		err = e.Cause
	}
	if len(list) == 0 {
		return "java"
	}
	return strings.Join(list, "<")
}

// TestDatetimePatterns compares date_format and to_timestamp with Spark's.
func TestDatetimePatterns(t *testing.T) {
	goldenLines(t, "pattern", "\t", func(line int, f []string) {
		reading, pattern := f[0] == "read", mustUnquote(t, f[1])
		zone, err := LookupZone(f[2])
		if err != nil {
			t.Fatal(err)
		}
		p, err := CompileDatetimePattern(pattern, reading)
		if err != nil || len(f) == 4 {
			if got := conditionChain(err); len(f) != 4 || got != f[3] {
				t.Errorf("line %d: %s pattern %q is refused with %v, want %s", line, f[0], pattern, err, f[3])
			}
			return
		}
		if !reading {
			micros, _ := strconv.ParseInt(f[3], 10, 64)
			got, err := p.AppendTimestamp(nil, micros, zone)
			if err != nil {
				if f[4] != "-" {
					t.Errorf("line %d: %q of %d in %s fails: %v, want %s", line, pattern, micros, f[2], err, f[4])
				}
			} else if f[4] == "-" || string(got) != mustUnquote(t, f[4]) {
				t.Errorf("line %d: %q of %d in %s is %q, want %s", line, pattern, micros, f[2], got, f[4])
			}
			return
		}
		text := mustUnquote(t, f[3])
		micros, err := p.ParseTimestamp(text, zone, "try_to_timestamp")
		got := strconv.FormatInt(micros, 10)
		if err != nil {
			got = "-"
			if f[4] != "-" {
				got = errors.Unwrap(err).Error()
			}
		}
		want := f[4]
		if strings.HasPrefix(want, `"`) {
			want = mustUnquote(t, want)
		}
		if got != want {
			t.Errorf("line %d: %q by %q in %s is %s, want %s", line, text, pattern, f[2], got, want)
		}
	})
}

func TestDatetimeFormatterKinds(t *testing.T) {
	compile := func(pattern string, reading bool) *DatetimeFormatter {
		p, err := CompileDatetimePattern(pattern, reading)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if got, err := compile("dd.MM.yyyy", false).AppendDate(nil, 20513); err != nil || string(got) != "01.03.2026" {
		t.Errorf("date is %q, %v", got, err)
	}
	if got, err := compile("HH:mm:ss.SSS", false).AppendTime(nil, 3661_123_456_789); err != nil || string(got) != "01:01:01.123" {
		t.Errorf("time is %q, %v", got, err)
	}
	if got, err := compile("yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", false).AppendTimestampNTZ(nil, 1500000); err != nil || string(got) != "1970-01-01T00:00:01.500" {
		t.Errorf("timestamp without zone is %q, %v", got, err)
	}
	for _, pattern := range []string{"HH", "X", "VV"} {
		if got, err := compile(pattern, false).AppendDate(nil, 0); err == nil {
			t.Errorf("%q of a date is %q", pattern, got)
		}
	}
	if got, err := compile("yyyy", false).AppendTime(nil, 0); err == nil {
		t.Errorf("year of a time is %q", got)
	}
	if got, err := compile("dd/MM/yyyy", true).ParseDate("01/03/2026", "try_to_date"); err != nil || got != 20513 {
		t.Errorf("date is %d, %v", got, err)
	}
	if got, err := compile("hh:mm a", true).ParseTime("01:30 pm"); err != nil || got != 13*3600_000_000_000+30*60_000_000_000 {
		t.Errorf("time is %d, %v", got, err)
	}
	if got, err := compile("yyyy-MM-dd XXX", true).ParseTimestampNTZ("1970-01-02 +05:00", true, "x"); err != nil || got != microsPerDay {
		t.Errorf("timestamp without zone is %d, %v", got, err)
	}
	if _, err := compile("yyyy-MM-dd XXX", true).ParseTimestampNTZ("1970-01-02 +05:00", false, "x"); sparkerr.Condition(err) != "CANNOT_PARSE_TIMESTAMP" {
		t.Errorf("a zone that may not be is %v", err)
	}
}

func FuzzDatetimePattern(f *testing.F) {
	f.Add("yyyy-MM-dd HH:mm:ss[.SSS][ VV]", "2026-03-01 10:11:12.5 Europe/Berlin")
	f.Add("dMyyHa'x'z", "1226")
	f.Add("OOOOXGg", "GMT+08:00Z")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if p, err := CompileDatetimePattern(pattern, true); err == nil {
			p.ParseTimestamp(s, UTC(), "x")
			p.ParseTime(s)
		}
		if p, err := CompileDatetimePattern(pattern, false); err == nil {
			for _, micros := range []int64{0, -62135596800000001, 1 << 62, -1 << 63} {
				p.AppendTimestamp(nil, micros, UTC())
			}
			p.AppendTime(nil, 1)
		}
	})
}

func BenchmarkDatetimeFormatter(b *testing.B) {
	z, _ := LookupZone("Europe/Berlin")
	p, _ := CompileDatetimePattern("yyyy-MM-dd HH:mm:ss.SSS", false)
	q, _ := CompileDatetimePattern("yyyy-MM-dd HH:mm:ss.SSS", true)
	b.Run("append", func(b *testing.B) {
		var buf [64]byte
		b.ReportAllocs()
		for b.Loop() {
			p.AppendTimestamp(buf[:0], 1772359872123456, z)
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			q.ParseTimestamp("2026-03-01 10:11:12.123", z, "x")
		}
	})
}
