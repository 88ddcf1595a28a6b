package expr

import (
	"time"

	"github.com/wstream/wstream/columnar/javatext"
	"github.com/wstream/wstream/columnar/sparkerr"
)

// javaZone is a time zone with Java's rules for it; one that Java does not know counts as UTC.
func javaZone(loc *time.Location) *javatext.Zone {
	if loc == nil || loc == time.UTC {
		return javatext.UTC()
	}
	z, err := javatext.LookupZone(loc.String())
	if err != nil {
		return javatext.UTC()
	}
	return z
}

// zone is the session time zone, looked up once per context.
func (c *Context) zone() *javatext.Zone {
	if c.java == nil || c.javaOf != c.Zone {
		c.java, c.javaOf = javaZone(c.Zone), c.Zone
	}
	return c.java
}

// lookupZone is the zone of an id that a row names.
func lookupZone(id string) (*javatext.Zone, error) {
	z, err := javatext.LookupZone(id)
	if err != nil {
		return nil, sparkerr.New("INVALID_TIMEZONE", "the time zone %q is not known: use a name such as Europe/Berlin, or an offset such as +02:00", id).WithCause(err)
	}
	return z, nil
}
