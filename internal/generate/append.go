package generate

import "strconv"

// digits writes the decimal digits of v into the last n bytes of dst, which are there already.
func digits(dst []byte, v, n int) {
	for i := len(dst) - 1; n > 0; n-- {
		dst[i] = byte('0' + v%10)
		v /= 10
		i--
	}
}

// appendPadded adds v with at least width digits, filled up with zeros.
func appendPadded(dst []byte, v, width int) []byte {
	for limit := 10; width > 1; width-- {
		if v < limit {
			for ; width > 1; width-- {
				dst = append(dst, '0')
			}
			break
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

// appendHundredths adds v/100 with two digits after the point; v is not negative.
func appendHundredths(dst []byte, v int64) []byte {
	dst = strconv.AppendInt(dst, v/100, 10)
	return append(dst, '.', byte('0'+v/10%10), byte('0'+v%10))
}

// stamper writes timestamps. It keeps the text of the day it wrote last, since neighbouring rows share it.
type stamper struct {
	day  int64
	text [11]byte // 2006-01-02T
}

// append adds ms milliseconds since 1970, which are not negative, as 2006-01-02T15:04:05.000Z.
func (s *stamper) append(dst []byte, ms int64) []byte {
	day := ms / dayMs
	if day != s.day || s.text[0] == 0 {
		s.day = day
		year, month, dom := civil(day)
		copy(s.text[:], "0000-00-00T")
		digits(s.text[0:4], year, 4)
		digits(s.text[5:7], month, 2)
		digits(s.text[8:10], dom, 2)
	}
	dst = append(dst, s.text[:]...)
	rest := int(ms % dayMs)
	dst = append(dst, "00:00:00.000Z"...)
	t := dst[len(dst)-13:]
	digits(t[0:2], rest/3_600_000, 2)
	digits(t[3:5], rest/60_000%60, 2)
	digits(t[6:8], rest/1000%60, 2)
	digits(t[9:12], rest%1000, 3)
	return dst
}

// civil turns days since 1970 into a date of the Gregorian calendar, counting in eras of 400 years that begin on
// 1 March, so that the leap day is the last of its year.
func civil(day int64) (year, month, dom int) {
	day += 719_468
	era, ofEra := day/146_097, day%146_097
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36_524 - ofEra/146_096) / 365
	ofYear := ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	fromMarch := (5*ofYear + 2) / 153
	dom = int(ofYear-(153*fromMarch+2)/5) + 1
	month = int(fromMarch) + 3
	year = int(yearOfEra + era*400)
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, dom
}
