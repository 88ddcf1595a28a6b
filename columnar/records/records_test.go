package records

import (
	"testing"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
)

func formats(t *testing.T, o FormatOptions) *Formats {
	t.Helper()
	if o.TimeZone == "" {
		o.TimeZone = "UTC"
	}
	f, err := NewFormats(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDatesOfOldWriters(t *testing.T) {
	plain, epoch := formats(t, FormatOptions{}), formats(t, FormatOptions{EpochDays: true})
	if _, err := plain.ParseDate("170"); err == nil {
		t.Error("days since 1970 were taken for a date")
	}
	for text, want := range map[string]int32{"0": 0, "-1": -1, "170": 170, "2026-03-01": 20513, "2026": 20454} {
		if v, err := epoch.ParseDate(text); err != nil || v != want {
			t.Errorf("%s: %d, %v, want %d", text, v, err, want)
		}
	}
	for julian, want := range map[int32]int32{-141427: -141427, -141428: -141438, -719164: -719162} {
		if got := gregorianDays(julian); got != want {
			t.Errorf("day %d: %d, want %d", julian, got, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	f := formats(t, FormatOptions{DateFormat: "d MMMM yyyy", Locale: "de-DE", TimestampFormat: "dd/MM/yyyy HH:mm"})
	if v, err := f.ParseDate("1 März 2026"); err != nil || v != 20513 {
		t.Errorf("1 März 2026: %d, %v", v, err)
	}
	if _, err := f.ParseDate("1 Mars 2026"); err == nil || sparkerr.Condition(err) != "" {
		t.Errorf("1 Mars 2026: %v", err)
	}
	if v, err := f.ParseTimestamp("01/03/2026 10:11"); err != nil || v != 1772359860000000 {
		t.Errorf("01/03/2026 10:11: %d, %v", v, err)
	}
	w := formats(t, FormatOptions{DateFormat: "EEEE d MMM yyyy", Locale: "fr-FR", Writing: true})
	if got := string(w.AppendDate(nil, 20513)); got != "dimanche 1 mars 2026" {
		t.Errorf("got %s", got)
	}
	if _, err := NewFormats(FormatOptions{TimeZone: "UTC", DateFormat: "HH", Writing: true}); err == nil {
		t.Error("the hour of a date was accepted")
	}
	bad := formats(t, FormatOptions{DateFormat: "YYYY-MM-dd"})
	if _, err := bad.ParseDate("2026-03-01"); !IsUpgrade(err) {
		t.Errorf("a week-based year: %v", err)
	}
}

func TestISO(t *testing.T) {
	for _, c := range []struct {
		micros int64
		zone   string
		cut    bool
		want   string
	}{
		{1772359872123456, "UTC", false, "2026-03-01T10:11:12.123456Z"},
		{1772359872123456, "UTC", true, "2026-03-01T10:11:12.123Z"},
		{1772359872000000, "America/New_York", false, "2026-03-01T05:11:12.000-05:00"},
		{-1, "UTC", false, "1969-12-31T23:59:59.999999Z"},
		{-5364683608000000, "Europe/Berlin", false, "1799-12-31T19:00:00.000+00:53:28"},
	} {
		f := formats(t, FormatOptions{TimeZone: c.zone, Writing: true, Milliseconds: c.cut})
		got := string(f.AppendTimestamp(nil, c.micros))
		if got != c.want {
			t.Errorf("%d in %s: got %s, want %s", c.micros, c.zone, got, c.want)
		}
		if back, err := f.ParseTimestamp(got); !c.cut && (err != nil || back != c.micros) {
			t.Errorf("%s: read as %d, %v", got, back, err)
		}
	}
}

func TestFastTimestamp(t *testing.T) {
	f := formats(t, FormatOptions{})
	for _, s := range []string{
		"2026-03-01T10:11:12.123Z", "2026-03-01 10:11:12", "2026-03-01T10:11:12.123456789Z", "2024-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
		"2026-03-01T24:00:00Z", "2026-03-01T10:11:12.", "2026-03-01T10:11:12+01:00", "0000-01-01T00:00:00Z", "x026-03-01T10:11:12Z", "",
	} {
		v, ok := FastTimestamp(s, true)
		want, err := f.ParseTimestamp(s)
		if ok && (err != nil || v != want) {
			t.Errorf("%s: %d, want %d, %v", s, v, want, err)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	typ := columnar.Decimal(10, 2)
	for _, c := range []struct{ locale, text, want string }{
		{"en-US", "1,234.5", "1234.50"},
		{"de-DE", "1.234,5", "1234.50"},
		{"fr-FR", "1\u202f234,5", "1234.50"},
		{"de-CH", "1’234.5", "1234.50"},
		{"en-US", " 1", ""},
		{"de-DE", "1,2,3", ""},
		{"en-US", "100000000", ""},
		{"en-US", "1.005", "1.01"},
	} {
		v, err := formats(t, FormatOptions{Locale: c.locale}).ParseDecimal(typ, c.text)
		got := ""
		if err == nil {
			got = string(columnar.AppendDec(nil, v, 2))
		}
		if got != c.want {
			t.Errorf("%s in %s: got %q, want %q (%v)", c.text, c.locale, got, c.want, err)
		}
	}
}

func TestCorruptColumn(t *testing.T) {
	var c Column
	c.Set(1, []byte("x"))
	c.Set(3, []byte("yz"))
	col := c.Build(5)
	want := []any{nil, "x", nil, "yz", nil}
	for i, w := range want {
		if col.Datum(i) != w {
			t.Errorf("row %d: %v, want %v", i, col.Datum(i), w)
		}
	}
}
