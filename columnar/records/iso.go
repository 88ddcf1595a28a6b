package records

import "github.com/wstream/wstream/columnar/javatext"

// FastTimestamp reads the form that most writers use, "2026-03-01T10:11:12.123Z", with a fraction of at most nine
// digits or none, a blank for the T, and with utc also without the Z. ok is false for anything else.
func FastTimestamp(s string, utc bool) (micros int64, ok bool) {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || s[10] != 'T' && s[10] != ' ' || s[13] != ':' || s[16] != ':' {
		return 0, false
	}
	bad := byte(0)
	two := func(i int) int {
		a, b := s[i]-'0', s[i+1]-'0'
		if a > 9 || b > 9 {
			bad = 1
		}
		return int(a)*10 + int(b)
	}
	year, month, day := two(0)*100+two(2), two(5), two(8)
	h, m, sec := two(11), two(14), two(17)
	if bad != 0 || month < 1 || month > 12 || day < 1 || h > 23 || m > 59 || sec > 59 || day > 28 && day > javatext.DaysInMonth(int64(year), month) {
		return 0, false
	}
	micros = javatext.DaysFromCivil(int64(year), month, day)*86400e6 + int64((h*60+m)*60+sec)*1e6
	i := 19
	if i < len(s) && s[i] == '.' {
		scale := int64(100000)
		for i++; i < len(s) && s[i]-'0' <= 9; i++ {
			micros += int64(s[i]-'0') * scale
			scale /= 10
		}
		if i == 20 || i > 29 {
			return 0, false
		}
	}
	switch {
	case i == len(s):
		return micros, utc
	case i == len(s)-1 && s[i] == 'Z':
		return micros, true
	}
	return 0, false
}
