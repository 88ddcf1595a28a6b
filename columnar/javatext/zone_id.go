package javatext

import "strconv"

// spreadOffset rewrites the offsets that only Spark takes, with an hour or a minute of one digit ("+2:00",
// "+02:0"), into those of Java, wherever they stand in an id.
func spreadOffset(id string) string {
	for i := 0; i+2 < len(id); i++ {
		if (id[i] == '+' || id[i] == '-') && isASCIIDigit(id[i+1]) && id[i+2] == ':' {
			id = id[:i+1] + "0" + id[i+1:]
			break
		}
	}
	if i := len(id) - 5; i >= 0 && (id[i] == '+' || id[i] == '-') && twoDigits(id, i+1) >= 0 && id[i+3] == ':' && isASCIIDigit(id[i+4]) {
		return id[:i+4] + "0" + id[i+4:]
	}
	return id
}

// shortZoneID returns what Java's ZoneId.SHORT_IDS has for a short name.
func shortZoneID(id string) (string, bool) {
	switch id {
	case "ACT":
		return "Australia/Darwin", true
	case "AET":
		return "Australia/Sydney", true
	case "AGT":
		return "America/Argentina/Buenos_Aires", true
	case "ART":
		return "Africa/Cairo", true
	case "AST":
		return "America/Anchorage", true
	case "BET":
		return "America/Sao_Paulo", true
	case "BST":
		return "Asia/Dhaka", true
	case "CAT":
		return "Africa/Harare", true
	case "CNT":
		return "America/St_Johns", true
	case "CST":
		return "America/Chicago", true
	case "CTT":
		return "Asia/Shanghai", true
	case "EAT":
		return "Africa/Addis_Ababa", true
	case "ECT":
		return "Europe/Paris", true
	case "IET":
		return "America/Indiana/Indianapolis", true
	case "IST":
		return "Asia/Kolkata", true
	case "JST":
		return "Asia/Tokyo", true
	case "MIT":
		return "Pacific/Apia", true
	case "NET":
		return "Asia/Yerevan", true
	case "NST":
		return "Pacific/Auckland", true
	case "PLT":
		return "Asia/Karachi", true
	case "PNT":
		return "America/Phoenix", true
	case "PRT":
		return "America/Puerto_Rico", true
	case "PST":
		return "America/Los_Angeles", true
	case "SST":
		return "Pacific/Guadalcanal", true
	case "VST":
		return "Asia/Ho_Chi_Minh", true
	case "EST":
		return "-05:00", true
	case "MST":
		return "-07:00", true
	case "HST":
		return "-10:00", true
	}
	return "", false
}

// parseOffsetID reads an offset as java.time.ZoneOffset.of does: Z, ±h, ±hh, ±hhmm, ±hh:mm, ±hhmmss or
// ±hh:mm:ss, within 18 hours. It returns seconds.
func parseOffsetID(s string) (seconds int, ok bool) {
	if s == "Z" {
		return 0, true
	}
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	var hours, minutes, secs int
	switch len(s) {
	case 2:
		if !isASCIIDigit(s[1]) {
			return 0, false
		}
		hours = int(s[1] - '0')
	case 3, 5, 7:
		hours = twoDigits(s, 1)
		if len(s) > 3 {
			minutes = twoDigits(s, 3)
		}
		if len(s) > 5 {
			secs = twoDigits(s, 5)
		}
	case 6, 9:
		if s[3] != ':' || len(s) == 9 && s[6] != ':' {
			return 0, false
		}
		hours, minutes = twoDigits(s, 1), twoDigits(s, 4)
		if len(s) == 9 {
			secs = twoDigits(s, 7)
		}
	default:
		return 0, false
	}
	if hours < 0 || minutes < 0 || secs < 0 || minutes > 59 || secs > 59 {
		return 0, false
	}
	seconds = hours*3600 + minutes*60 + secs
	if seconds > 18*3600 {
		return 0, false
	}
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// twoDigits reads two digits at i, or returns -1.
func twoDigits(s string, i int) int {
	if i+2 > len(s) || !isASCIIDigit(s[i]) || !isASCIIDigit(s[i+1]) {
		return -1
	}
	return int(s[i]-'0')*10 + int(s[i+1]-'0')
}

// offsetID is the id of a java.time.ZoneOffset.
func offsetID(seconds int) string {
	if seconds == 0 {
		return "Z"
	}
	var buf [9]byte
	return string(appendOffset(buf[:0], seconds))
}

// appendOffset writes ±HH:mm, and :ss unless it is zero.
func appendOffset(dst []byte, seconds int) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	dst = append(dst, sign)
	dst = appendTwoDigits(dst, seconds/3600)
	dst = append(dst, ':')
	dst = appendTwoDigits(dst, seconds/60%60)
	if s := seconds % 60; s != 0 {
		dst = append(dst, ':')
		dst = appendTwoDigits(dst, s)
	}
	return dst
}

// appendTwoDigits writes 0 to 99 with two digits.
func appendTwoDigits(dst []byte, v int) []byte {
	return append(dst, byte('0'+v/10), byte('0'+v%10))
}

// appendPadded writes a number that is not negative with at least width digits.
func appendPadded(dst []byte, v int64, width int) []byte {
	digits := 1
	for x := v; x >= 10; x /= 10 {
		digits++
	}
	for ; digits < width; digits++ {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, v, 10)
}
