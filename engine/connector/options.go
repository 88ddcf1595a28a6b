package connector

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Options are a connector's options; names ignore case.
type Options struct{ m map[string]option }

type option struct{ name, value string }

// NewOptions copies a map of options.
func NewOptions(m map[string]string) Options {
	o := Options{m: make(map[string]option, len(m))}
	for k, v := range m {
		o.m[strings.ToLower(k)] = option{k, v}
	}
	return o
}

// Get is an option's value and whether it was given.
func (o Options) Get(name string) (string, bool) {
	v, ok := o.m[strings.ToLower(name)]
	return v.value, ok
}

// String is an option's value, or def.
func (o Options) String(name, def string) string {
	if v, ok := o.Get(name); ok {
		return v
	}
	return def
}

// Bool is an option's value as true or false in any case, or def.
func (o Options) Bool(name string, def bool) (bool, error) {
	v, ok := o.Get(name)
	if !ok {
		return def, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("option %q: found %q, expected true or false", name, v)
}

// Int is an option's value as an integer, or def.
func (o Options) Int(name string, def int64) (int64, error) {
	v, ok := o.Get(name)
	if !ok {
		return def, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("option %q: found %q, expected a whole number", name, v)
	}
	return n, nil
}

// Bytes is an option's value as a size such as "64m", "512MiB" or "1000", or def.
func (o Options) Bytes(name string, def int64) (int64, error) {
	v, ok := o.Get(name)
	if !ok {
		return def, nil
	}
	n, err := ParseBytes(v)
	if err != nil {
		return 0, fmt.Errorf("option %q: %w", name, err)
	}
	return n, nil
}

// Duration is an option's value as "30s", "500 ms", "10 minutes" or a number of milliseconds, or def.
func (o Options) Duration(name string, def time.Duration) (time.Duration, error) {
	v, ok := o.Get(name)
	if !ok {
		return def, nil
	}
	d, err := ParseDuration(v)
	if err != nil {
		return 0, fmt.Errorf("option %q: %w", name, err)
	}
	return d, nil
}

// Names are the names of all options as written, sorted.
func (o Options) Names() []string {
	out := make([]string, 0, len(o.m))
	for _, v := range o.m {
		out = append(out, v.name)
	}
	sort.Strings(out)
	return out
}

// Map is a copy of the options under the names as written.
func (o Options) Map() map[string]string {
	out := make(map[string]string, len(o.m))
	for _, v := range o.m {
		out[v.name] = v.value
	}
	return out
}

var byteUnits = map[string]int64{
	"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gib": 1 << 30, "t": 1 << 40, "tb": 1 << 40, "tib": 1 << 40,
}

// ParseBytes reads a size: a whole number and a unit; as in Spark k, kb and KiB all mean 1024.
func ParseBytes(s string) (int64, error) {
	t := strings.TrimSpace(s)
	i := 0
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	unit, ok := byteUnits[strings.ToLower(strings.TrimSpace(t[i:]))]
	n, err := strconv.ParseInt(t[:i], 10, 64)
	if err != nil || !ok || n > (1<<62)/unit {
		return 0, fmt.Errorf("found %q, expected a size such as 512MiB or 1g", s)
	}
	return n * unit, nil
}

var timeUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "microsecond": time.Microsecond, "ms": time.Millisecond, "millisecond": time.Millisecond,
	"": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second, "m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hour": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// ParseDuration reads one or more pairs of number and unit ("1 hour 30 minutes", "500ms"); a bare
// number counts milliseconds.
func ParseDuration(s string) (time.Duration, error) {
	bad := fmt.Errorf("found %q, expected a duration such as 500 ms, 10 minutes or 1 hour 30 minutes", s)
	t := strings.ToLower(strings.TrimSpace(s))
	t = strings.TrimPrefix(t, "interval ")
	if t == "" {
		return 0, bad
	}
	var total time.Duration
	for t != "" {
		i := 0
		for i < len(t) && (t[i] >= '0' && t[i] <= '9' || t[i] == '.' || i == 0 && t[i] == '-') {
			i++
		}
		v, err := strconv.ParseFloat(t[:i], 64)
		if err != nil {
			return 0, bad
		}
		t = strings.TrimLeft(t[i:], " ")
		j := 0
		for j < len(t) && t[j] >= 'a' && t[j] <= 'z' {
			j++
		}
		u, ok := timeUnits[t[:j]]
		if !ok {
			u, ok = timeUnits[strings.TrimSuffix(t[:j], "s")]
		}
		if !ok {
			return 0, bad
		}
		total += time.Duration(v * float64(u))
		t = strings.TrimLeft(t[j:], " ")
	}
	return total, nil
}
