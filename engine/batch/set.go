package batch

import (
	"strings"

	"github.com/wstream/wstream/columnar"
	"github.com/wstream/wstream/columnar/sparkerr"
	"github.com/wstream/wstream/engine/plan"
	"github.com/wstream/wstream/engine/sql"
)

// set is SET name = value, for the two settings that statements depend on.
func (s *Session) set(o *sql.SetOption) (*Result, error) {
	if !o.HasValue {
		return &Result{Schema: columnar.NewSchema()}, nil
	}
	if err := s.Set(o.Key, o.Value); err != nil {
		return nil, err
	}
	return &Result{Schema: columnar.NewSchema()}, nil
}

// Set changes a setting: ansi, timezone, or Spark's own names for them.
func (s *Session) Set(key, value string) error {
	switch strings.ToLower(key) {
	case "ansi", "spark.sql.ansi.enabled":
		switch strings.ToLower(value) {
		case "true":
			s.Settings.ANSI = true
		case "false":
			s.Settings.ANSI = false
		default:
			return sparkerr.New("INVALID_CONF_VALUE", "setting %q: found %q, expected true or false", key, value)
		}
		return nil
	case "timezone", "time zone", "spark.sql.session.timezone":
		z, err := plan.Location(value)
		if err != nil {
			return sparkerr.New("INVALID_CONF_VALUE.TIME_ZONE", "setting %q: %v", key, err)
		}
		s.Settings.Zone = z
		return nil
	}
	return sparkerr.New("INVALID_CONF_KEY", "no setting %q; known are ansi and timezone", key)
}
