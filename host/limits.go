package host

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/host/fuel"
)

// Limits bound what one module may use. Zero fields mean the defaults.
type Limits struct {
	MemoryBytes int64         // linear memory of an instance; default 64 MiB, at most 2 GiB - 64 KiB
	Fuel        int64         // counts a call may use, see package fuel; default 1e9
	Deadline    time.Duration // time a call may take; default 2 s
	OutputBytes int           // bytes of all output of a call; default 64 MiB
	LogBytes    int           // bytes of log lines of a call; default 64 KiB
	StackBytes  int64         // of a call, for functions that call themselves; default 16 MiB
	Instances   int           // idle instances kept; default twice the processors
}

// Defaults and bounds.
const (
	defaultMemoryBytes   = 64 << 20
	defaultFuel          = 1_000_000_000
	defaultDeadline      = 2 * time.Second
	defaultOutputBytes   = 64 << 20
	defaultLogBytes      = 64 << 10
	defaultStackBytes    = 16 << 20
	maxStackBytes        = 128 << 20
	maxTableElements     = 1 << 20
	maxTrapsPerCall      = 16      // rows that may trap in one call before the whole call fails
	maxSliceRows         = 1 << 16 // rows handed to a guest at once
	maxSliceBytes        = 8 << 20 // and their bytes, or a quarter of the guest's memory
	maxBatchBytes        = 1 << 30 // of what a function answers to one batch, all slices together
	maxOutputsPerCall    = 1 << 12 // frames that a call may answer with
	maxLogLineBytes      = 4 << 10
	maxCapabilityBytes   = 64 << 10 // names, keys and statements that a guest hands over
	maxKVValueBytes      = 1 << 20
	maxMemoryBytes       = abi.MaxMemoryPages * fuel.PageSize
	initDeadlineAtLeast  = 10 * time.Second // for starting an instance, which may run a language's runtime
	initFuelAtLeast      = 20_000_000
	defaultInstanceRatio = 2
)

// withDefaults fills in zero fields and lowers what is above the bounds.
func (l Limits) withDefaults() Limits {
	if l.MemoryBytes <= 0 {
		l.MemoryBytes = defaultMemoryBytes
	}
	l.MemoryBytes = min(l.MemoryBytes, maxMemoryBytes)
	if l.Fuel <= 0 {
		l.Fuel = defaultFuel
	}
	if l.Deadline <= 0 {
		l.Deadline = defaultDeadline
	}
	if l.OutputBytes <= 0 {
		l.OutputBytes = defaultOutputBytes
	}
	if l.LogBytes <= 0 {
		l.LogBytes = defaultLogBytes
	}
	if l.StackBytes <= 0 {
		l.StackBytes = defaultStackBytes
	}
	l.StackBytes = min(l.StackBytes, maxStackBytes)
	if l.Instances <= 0 {
		l.Instances = defaultInstanceRatio * runtime.GOMAXPROCS(0)
	}
	return l
}

// ParseLimits reads the `limits` of a pipeline file: memory and outputBytes as "64MiB", fuel as "1e9",
// deadline as "2s", logBytes as "64KiB", stack as "16MiB", instances as a number. Unknown names are errors.
func ParseLimits(m map[string]string) (Limits, error) {
	var l Limits
	for name, value := range m {
		var err error
		var n int64
		switch name {
		case "memory":
			l.MemoryBytes, err = parseBytes(value)
			if err == nil && (l.MemoryBytes < fuel.PageSize || l.MemoryBytes > maxMemoryBytes) {
				err = fmt.Errorf("not between 64KiB and 2GiB-64KiB")
			}
		case "fuel":
			var f float64
			f, err = strconv.ParseFloat(value, 64)
			if err == nil && !(f >= 1 && f <= 1e18) {
				err = fmt.Errorf("not between 1 and 1e18")
			}
			l.Fuel = int64(f)
		case "deadline":
			l.Deadline, err = time.ParseDuration(strings.ReplaceAll(value, " ", ""))
			if err == nil && l.Deadline <= 0 {
				err = fmt.Errorf("not above 0")
			}
		case "outputBytes":
			n, err = parseBytes(value)
			l.OutputBytes = int(n)
		case "logBytes":
			n, err = parseBytes(value)
			l.LogBytes = int(n)
		case "stack":
			l.StackBytes, err = parseBytes(value)
		case "instances":
			l.Instances, err = strconv.Atoi(value)
		default:
			return l, fmt.Errorf("unknown limit %q; known are memory, fuel, deadline, outputBytes, logBytes, stack, instances", name)
		}
		if err != nil {
			return l, fmt.Errorf("limit %q: %q: %w", name, value, err)
		}
	}
	return l, nil
}

// parseBytes reads a size such as "64MiB", "64mb", "1g" or "4096"; units are powers of 1024.
func parseBytes(s string) (int64, error) {
	t := strings.ToLower(strings.ReplaceAll(s, " ", ""))
	digits := strings.TrimRight(t, "bikmg")
	shift, ok := map[string]uint{
		"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20,
		"g": 30, "gb": 30, "gib": 30,
	}[t[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !ok || n <= 0 || n > 1<<40>>shift {
		return 0, fmt.Errorf("not a size such as 64MiB")
	}
	return n << shift, nil
}
