package host

import (
	"bytes"
	"context"

	"github.com/tetratelabs/wazero/api"

	"github.com/wstream/wstream/abi"
)

// Levels of log lines.
const (
	LevelDebug = iota
	LevelInfo
	LevelWarning
	LevelError
)

// logFunctions are wstream_log_v1: write(level, ptr, len i32).
func logFunctions() []hostFunction {
	return []hostFunction{{
		abi.ModuleLog, "write",
		signature{params(3), nil},
		func(_ context.Context, in *instance, stack []uint64) {
			// What lies outside of the memory is no line.
			if b := in.bytes(stack[1], stack[2], 1<<31-1); b != nil {
				in.log(int(min(max(int32(uint32(stack[0])), LevelDebug), LevelError)), b)
			}
		},
	}}
}

// log hands a line on, within the call's limit on bytes.
func (in *instance) log(level int, line []byte) {
	r := &in.run
	if r.inMinimal || r.caps.Log == nil || r.logCut {
		return
	}
	if room := in.module.config.Limits.LogBytes - r.logBytes; len(line) > room {
		r.logCut = true
		r.caps.Log.Log(in.module.config.Name, r.function, LevelWarning, "log lines of this call were cut: limit reached")
		return
	}
	r.logBytes += len(line)
	r.caps.Log.Log(in.module.config.Name, r.function, level, printable(line[:min(len(line), maxLogLineBytes)]))
}

// lineBuffer collects what a guest writes to its standard output and error, byte by byte perhaps, into lines.
type lineBuffer struct {
	text  []byte
	level int
}

func (l *lineBuffer) write(in *instance, level int, b []byte) {
	if level != l.level {
		l.flush(in)
		l.level = level
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			break
		}
		if len(l.text) < maxLogLineBytes {
			l.text = append(l.text, b[:min(i, maxLogLineBytes)]...)
		}
		l.flush(in)
		b = b[i+1:]
	}
	if len(l.text) < maxLogLineBytes {
		l.text = append(l.text, b[:min(len(b), maxLogLineBytes)]...)
	}
}

// flush ends the line that is open.
func (l *lineBuffer) flush(in *instance) {
	if len(l.text) > 0 {
		in.log(l.level, l.text)
		l.text = l.text[:0]
	}
}

// metricFunctions are wstream_metric_v1: add and observe(name ptr, name len i32, value f64) -> i32, which is 0
// or a negative status.
func metricFunctions() []hostFunction {
	record := func(observe bool) func(context.Context, *instance, []uint64) {
		return func(_ context.Context, in *instance, stack []uint64) {
			name := in.bytes(stack[0], stack[1], maxCapabilityBytes)
			value := api.DecodeF64(stack[2])
			m := in.run.caps.Metrics
			status := abi.Status(0)
			switch {
			case name == nil:
				status = abi.StatusBadFrame
			case m == nil || !in.run.perms.Metric:
				status = abi.StatusDenied
			case !contains(in.module.manifest.Metrics, name):
				status = abi.StatusNotFound
			case observe:
				m.Observe(in.module.config.Name, string(name), value)
			default:
				m.Add(in.module.config.Name, string(name), value)
			}
			stack[0] = uint64(uint32(int32(status)))
		}
	}
	sig := signature{[]api.ValueType{i32, i32, api.ValueTypeF64}, []api.ValueType{i32}}
	return []hostFunction{
		{abi.ModuleMetric, "add", sig, record(false)},
		{abi.ModuleMetric, "observe", sig, record(true)},
	}
}

func contains(list []string, name []byte) bool {
	for _, s := range list {
		if s == string(name) {
			return true
		}
	}
	return false
}
