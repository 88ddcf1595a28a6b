package plan

import (
	"fmt"
	"time"

	"github.com/wstream/wstream/columnar/javatext"
)

// Location is the time zone of an id as Spark takes them: an IANA name, UTC, or an offset such as +02:00.
func Location(id string) (*time.Location, error) {
	if id == "" || id == "UTC" || id == "Z" {
		return time.UTC, nil
	}
	z, err := javatext.LookupZone(id)
	if err != nil {
		return nil, fmt.Errorf("found %q, expected an IANA time zone such as Europe/Berlin, or an offset such as +02:00", id)
	}
	if l, err := time.LoadLocation(z.ID()); err == nil {
		return l, nil
	}
	return time.FixedZone(z.ID(), z.Offset(0)), nil
}
