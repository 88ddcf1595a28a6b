package javatext

// Zone is a time zone with the rules that Java has for it: offsets of local mean time before the zone had a
// standard time, the proleptic Gregorian calendar throughout, and rules that go on for ever.
//
// The rules are a table inside the program (IANA 2025a, as JDK 17.0.15 has it), not those of the machine, so
// that a query gives the same rows wherever it runs. A Zone is immutable.
type Zone struct {
	id    string
	fixed bool // an offset and nothing else, a ZoneOffset in Java
	rules *zoneRules
	names *zoneNames // nil if the zone has no names
}

// utcZone is a zone of its own rather than one of the table, which then is not read for queries in UTC.
var utcZone = &Zone{id: "UTC", rules: &zoneRules{}, names: &zoneNames{
	"Coordinated Universal Time", "UTC", "Coordinated Universal Time", "UTC", "Coordinated Universal Time", "UTC",
}}

// UTC returns the zone that Spark calls "UTC".
func UTC() *Zone { return utcZone }

// OffsetZone returns the zone of a fixed offset in seconds east of UTC, within 18 hours. Its id is "Z" or of
// the form "+05:30".
func OffsetZone(seconds int) *Zone {
	return &Zone{id: offsetID(seconds), fixed: true, rules: &zoneRules{first: zoneOffset{seconds: int32(seconds)}}}
}

// LookupZone returns the zone of an id as Spark takes them: a name of the IANA table, "Z", an offset ("+2",
// "+02", "+2:00", "+02:00", "+0200", "+02:00:00"), one of "UTC", "GMT" and "UT" with or without an offset
// behind it ("GMT+8"), or one of Java's old short names ("PST", "CTT").
func LookupZone(id string) (*Zone, error) {
	id = spreadOffset(id)
	if long, ok := shortZoneID(id); ok {
		id = long
	}
	return lookupJavaZone(id)
}

// lookupJavaZone is ZoneId.of.
func lookupJavaZone(id string) (*Zone, error) {
	switch {
	case id == "UTC":
		return utcZone, nil
	case len(id) <= 1 || id[0] == '+' || id[0] == '-':
		seconds, ok := parseOffsetID(id)
		if !ok {
			return nil, dateTimeException("Invalid ID for ZoneOffset, invalid format: " + id)
		}
		return OffsetZone(seconds), nil
	case len(id) >= 3 && (id[:3] == "UTC" || id[:3] == "GMT"):
		return prefixedZone(id, 3)
	case id[:2] == "UT":
		return prefixedZone(id, 2)
	}
	return regionZone(id)
}

// prefixedZone is the zone of an id that begins with UTC, GMT or UT.
func prefixedZone(id string, prefix int) (*Zone, error) {
	if len(id) == prefix {
		return utcNamed(id, 0), nil
	}
	if id[prefix] != '+' && id[prefix] != '-' {
		return regionZone(id)
	}
	seconds, ok := parseOffsetID(id[prefix:])
	if !ok {
		return nil, dateTimeException("Invalid ID for offset-based ZoneId: " + id)
	}
	return utcNamed(id[:prefix], seconds), nil
}

// utcNamed is ZoneId.ofOffset: a region called by a prefix and an offset.
func utcNamed(prefix string, seconds int) *Zone {
	if seconds == 0 {
		z := &Zone{id: prefix, rules: utcZone.rules}
		if r, ok := regions()[prefix]; ok {
			z.names = r().names
		}
		return z
	}
	return &Zone{id: prefix + offsetID(seconds), rules: &zoneRules{first: zoneOffset{seconds: int32(seconds)}}}
}

func regionZone(id string) (*Zone, error) {
	if r, ok := regions()[id]; ok {
		return r(), nil
	}
	if len(id) < 2 || !isASCIILetter(id[0]) {
		return nil, dateTimeException("Invalid ID for region-based ZoneId, invalid format: " + id)
	}
	for i := 1; i < len(id); i++ {
		switch c := id[i]; {
		case isASCIILetter(c), isASCIIDigit(c):
		case c == '/', c == '.', c == '_', c == '~', c == '+', c == '-':
		default:
			return nil, dateTimeException("Invalid ID for region-based ZoneId, invalid format: " + id)
		}
	}
	return nil, &JavaError{Exception: "java.time.zone.ZoneRulesException", Text: "Unknown time-zone ID: " + id}
}

func dateTimeException(text string) error {
	return &JavaError{Exception: "java.time.DateTimeException", Text: text}
}

// ID returns the id: "Europe/Berlin", "UTC", "+05:30", "GMT+08:00".
func (z *Zone) ID() string { return z.id }

// Offset returns the distance from UTC in seconds at a moment in microseconds since the epoch.
func (z *Zone) Offset(micros int64) int {
	return int(z.rules.at64(FloorDiv(micros, microsPerSecond)).seconds)
}

// IsDaylightSaving tells whether Java calls the time at that moment daylight saving.
func (z *Zone) IsDaylightSaving(micros int64) bool {
	return z.rules.at64(FloorDiv(micros, microsPerSecond)).daylight
}

// ToLocal returns the wall clock of a moment, as microseconds since the epoch on that clock.
func (z *Zone) ToLocal(micros int64) int64 {
	if len(z.rules.at) == 0 {
		return micros + int64(z.rules.first.seconds)*microsPerSecond
	}
	return micros + int64(z.Offset(micros))*microsPerSecond
}

// Fixed returns the offset from UTC in microseconds of a zone that has always had the same.
func (z *Zone) Fixed() (offset int64, ok bool) {
	if len(z.rules.at) > 0 {
		return 0, false
	}
	return int64(z.rules.first.seconds) * microsPerSecond, true
}

// FromLocal returns the moment at which the wall clock shows a time. A time that the clock skips is moved
// forward by the length of the gap; of two moments with the same time it takes the earlier one.
func (z *Zone) FromLocal(local int64) int64 {
	if len(z.rules.at) == 0 {
		return local - int64(z.rules.first.seconds)*microsPerSecond
	}
	return local - int64(z.rules.atLocal(FloorDiv(local, microsPerSecond)).seconds)*microsPerSecond
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isASCIIDigit(c byte) bool { return c >= '0' && c <= '9' }
