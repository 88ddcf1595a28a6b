package javatext

import (
	"strconv"
	"strings"
	"testing"
)

// TestParseDatetimes compares the readers of dates and times with Spark's.
func TestParseDatetimes(t *testing.T) {
	show := func(v int64, ok bool) string {
		if !ok {
			return "-"
		}
		return strconv.FormatInt(v, 10)
	}
	goldenLines(t, "datetime", "\t", func(line int, f []string) {
		s, err := strconv.Unquote(f[0])
		if err != nil {
			t.Fatal(err)
		}
		zone, err := LookupZone(f[1])
		if err != nil {
			t.Fatal(err)
		}
		days, ok := ParseDate(s)
		if got := show(int64(days), ok); got != f[2] {
			t.Errorf("line %d: date of %q is %s, want %s", line, s, got, f[2])
		}
		micros, ok := ParseTimestamp(s, zone, 0)
		if got := show(micros, ok); got != f[3] && (f[3] != "today" || !ok) {
			t.Errorf("line %d: timestamp of %q in %s is %s, want %s", line, s, f[1], got, f[3])
		}
		micros, ok = ParseTimestampNTZ(s, true)
		if got := show(micros, ok); got != f[4] {
			t.Errorf("line %d: timestamp_ntz of %q is %s, want %s", line, s, got, f[4])
		}
		nanos, ok := ParseTime(s)
		if got := show(nanos, ok); got != f[5] {
			t.Errorf("line %d: time of %q is %s, want %s", line, s, got, f[5])
		}
	})
}

func TestParseTimestampToday(t *testing.T) {
	kolkata, _ := LookupZone("Asia/Kolkata")
	now, _ := ParseTimestamp("2026-03-01 23:00:00Z", UTC(), 0)
	for s, want := range map[string]string{"10:11:12": "2026-03-02 04:41:12", "T10": "2026-03-02 04:30:00", "1:2:3Z": "2026-03-01 01:02:03", "1:2 +02:00": ""} {
		micros, ok := ParseTimestamp(s, kolkata, now)
		if got := string(AppendTimestamp(nil, micros, UTC())); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %s, %v, want %s", s, got, ok, want)
		}
	}
	for s, want := range map[string]string{
		"epoch": "1970-01-01 05:30:00", "now": "2026-03-02 04:30:00", " Today ": "2026-03-02 00:00:00",
		"yesterday CET": "2026-03-01 00:00:00", "tomorrow": "2026-03-03 00:00:00", "now UTC": "", "noon": "", "today Nowhere": "",
	} {
		micros, ok := SpecialTimestamp(s, kolkata, now)
		if got := string(AppendTimestamp(nil, micros, kolkata)); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %s, %v, want %s", s, got, ok, want)
		}
	}
}

func TestAppendDatetimes(t *testing.T) {
	for _, s := range []string{
		"0001-01-01 00:00:00", "-0001-12-31 23:59:59.5", "+10000-01-01 00:00:00.000001", "1969-12-31 23:59:59.999999", "2024-02-29 12:00:00.1",
		"-290308-12-21 19:59:05.224192", "+294247-01-10 04:00:54.775807",
	} {
		micros, ok := ParseTimestampNTZ(s, true)
		if got := string(AppendTimestampNTZ(nil, micros)); !ok || got != s {
			t.Errorf("%q is %q", s, got)
		}
		date, _, _ := strings.Cut(s, " ")
		days, ok := ParseDate(date)
		if got := string(AppendDate(nil, days)); !ok || got != date {
			t.Errorf("%q is %q", date, got)
		}
	}
	if got := string(AppendTime(nil, 3661_000_000_100)); got != "01:01:01.0000001" {
		t.Errorf("time is %q", got)
	}
}

func FuzzParseDatetimes(f *testing.F) {
	f.Add("2026-03-01 10:11:12.123456+02:00")
	f.Add("T1:2")
	f.Add("-0001-1-1")
	f.Add("294247-01-10 04:00:54.775808")
	f.Fuzz(func(t *testing.T, s string) {
		if days, ok := ParseDate(s); ok {
			if again, ok := ParseDate(string(AppendDate(nil, days))); !ok || again != days {
				t.Fatalf("date %q is %d, then %d", s, days, again)
			}
		}
		if micros, ok := ParseTimestamp(s, UTC(), 0); ok {
			if again, ok := ParseTimestamp(string(AppendTimestamp(nil, micros, UTC())), UTC(), 0); !ok || again != micros {
				t.Fatalf("timestamp %q is %d, then %d", s, micros, again)
			}
		}
		ParseTimestampNTZ(s, false)
		if nanos, ok := ParseTime(s); ok {
			if again, ok := ParseTime(string(AppendTime(nil, nanos))); !ok || again != nanos {
				t.Fatalf("time %q is %d, then %d", s, nanos, again)
			}
		}
	})
}

func BenchmarkParseTimestamp(b *testing.B) {
	z, _ := LookupZone("Europe/Berlin")
	b.ReportAllocs()
	for b.Loop() {
		ParseTimestamp("2026-03-01 10:11:12.123456", z, 0)
	}
}

func BenchmarkAppendTimestamp(b *testing.B) {
	z, _ := LookupZone("Europe/Berlin")
	var buf [32]byte
	b.ReportAllocs()
	for b.Loop() {
		AppendTimestamp(buf[:0], 1772359872123456, z)
	}
}
