package pipeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wstream/wstream/engine/plan"

	"github.com/wstream/wstream/engine/connector"
)

// Set changes one value of a file: settings.NAME (or the setting's name alone), name,
// sources.NAME.options.KEY, sinks.NAME.options.KEY, sinks.NAME.checkpointLocation,
// sinks.NAME.outputMode, modules.NAME.path, modules.NAME.config.KEY, connections.NAME.dsn.
func (f *File) Set(key, value string) error {
	parts := strings.SplitN(key, ".", 4)
	bad := func(format string, args ...any) error {
		return fmt.Errorf("--set %s: "+format, append([]any{key}, args...)...)
	}
	if len(parts) == 1 {
		if parts[0] == "name" {
			f.Name = value
			return nil
		}
		parts = []string{"settings", parts[0]}
	}
	switch parts[0] {
	case "settings":
		return f.setSetting(parts[len(parts)-1], value, bad)
	case "sources":
		s := f.Source(parts[1])
		if s == nil || len(parts) != 4 || parts[2] != "options" {
			return bad("expected sources.NAME.options.OPTION with the name of a source")
		}
		setOption(s.Options, parts[3], value)
	case "sinks":
		s := f.Sink(parts[1])
		switch {
		case s == nil || len(parts) < 3:
			return bad("expected sinks.NAME.options.OPTION, .checkpointLocation or .outputMode with the name of a sink")
		case parts[2] == "options" && len(parts) == 4:
			setOption(s.Options, parts[3], value)
		case parts[2] == "checkpointLocation":
			s.Checkpoint = value
		case parts[2] == "outputMode":
			m := connector.OutputMode(value)
			if m != connector.Append && m != connector.Update && m != connector.Complete {
				return bad("found %q, expected append, update or complete", value)
			}
			s.Mode = m
		default:
			return bad("a sink has no %q that can be set", parts[2])
		}
	case "modules":
		m := f.Module(parts[1])
		switch {
		case m == nil || len(parts) < 3:
			return bad("expected modules.NAME.path or .config.KEY with the name of a module")
		case parts[2] == "path":
			m.Path, m.SHA256 = value, ""
		case parts[2] == "config" && len(parts) == 4:
			m.Config[parts[3]] = value
		default:
			return bad("a module has no %q that can be set", parts[2])
		}
	case "connections":
		for _, c := range f.Connections {
			if c.Name == parts[1] && len(parts) == 3 {
				switch parts[2] {
				case "dsn":
					c.DSN = value
					return nil
				case "driver":
					c.Driver = value
					return nil
				}
			}
		}
		return bad("expected connections.NAME.dsn or .driver with the name of a connection")
	default:
		return bad("expected a key that begins with settings, sources, sinks, modules or connections")
	}
	return nil
}

// setOption replaces an option, whose name ignores case.
func setOption(m map[string]string, key, value string) {
	for k := range m {
		if strings.EqualFold(k, key) {
			delete(m, k)
		}
	}
	m[key] = value
}

func (f *File) setSetting(name, value string, bad func(string, ...any) error) error {
	s := &f.Settings
	number := func(to *int, lo, hi int) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < lo || n > hi {
			return bad("found %q, expected a whole number from %d to %d", value, lo, hi)
		}
		*to = n
		return nil
	}
	switch name {
	case "timezone":
		if _, err := plan.Location(value); err != nil {
			return bad("%w", err)
		}
		s.Timezone = value
	case "ansi":
		b, err := strconv.ParseBool(value)
		if err != nil {
			return bad("found %q, expected true or false", value)
		}
		s.ANSI = b
	case "watermarkPolicy":
		if value != "min" && value != "max" {
			return bad("found %q, expected min or max", value)
		}
		s.WatermarkPolicy = value
	case "shufflePartitions":
		return number(&s.ShufflePartitions, 1, 256)
	case "keepBatches":
		return number(&s.KeepBatches, 1, 1_000_000)
	case "stateMemory":
		n, err := connector.ParseBytes(value)
		if err != nil {
			return bad("%w", err)
		}
		s.StateMemory = n
	default:
		known := []string{"timezone", "ansi", "watermarkPolicy", "shufflePartitions", "stateMemory", "keepBatches"}
		if n := Nearest(name, known); n != "" {
			return bad("no setting %q; did you mean %q?", name, n)
		}
		return bad("no setting %q; known are: %s", name, strings.Join(known, ", "))
	}
	return nil
}
