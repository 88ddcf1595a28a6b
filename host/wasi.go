package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/tetratelabs/wazero/api"

	"github.com/wstream/wstream/abi"
)

// Error numbers of WASI preview 1.
const (
	errnoSuccess = 0
	errnoBadFD   = 8
	errnoFault   = 21
	errnoInvalid = 28
	errnoNoSys   = 52
)

// exitError is a guest's call of proc_exit.
type exitError struct{ code uint32 }

func (e *exitError) Error() string { return fmt.Sprintf("the guest exited with code %d", e.code) }

// wasiFunctions are WASI preview 1 as far as the runtimes of languages need it. There are no arguments, no
// environment, no files; the clock is the batch's, chance follows from the call, standard output and error
// become log lines. All else answers ENOSYS.
func wasiFunctions() []hostFunction {
	none := []api.ValueType{}
	types := func(s string) []api.ValueType {
		var ts []api.ValueType
		for _, c := range s {
			ts = append(ts, map[rune]api.ValueType{'i': i32, 'I': i64}[c])
		}
		return ts
	}
	var list []hostFunction
	add := func(name, params string, call func(in *instance, stack []uint64) uint32) {
		list = append(list, hostFunction{
			abi.ModuleWASI, name,
			signature{types(params), types("i")},
			func(_ context.Context, in *instance, stack []uint64) { stack[0] = uint64(call(in, stack)) },
		})
	}
	empty := func(in *instance, stack []uint64) uint32 { return in.put32s(stack[0], 0, stack[1], 0) }
	add("args_sizes_get", "ii", empty)
	add("environ_sizes_get", "ii", empty)
	add("args_get", "ii", func(*instance, []uint64) uint32 { return errnoSuccess })
	add("environ_get", "ii", func(*instance, []uint64) uint32 { return errnoSuccess })
	add("clock_res_get", "ii", func(in *instance, stack []uint64) uint32 { return in.put64(stack[1], 1) })
	add("clock_time_get", "iIi", (*instance).clockTime)
	add("random_get", "ii", (*instance).randomBytes)
	add("fd_write", "iiii", (*instance).fdWrite)
	add("fd_fdstat_get", "ii", (*instance).fdStat)
	add("fd_prestat_get", "ii", func(*instance, []uint64) uint32 { return errnoBadFD })
	add("fd_close", "i", func(*instance, []uint64) uint32 { return errnoBadFD })
	add("poll_oneoff", "iiii", (*instance).poll)
	add("sched_yield", "", func(*instance, []uint64) uint32 { return errnoSuccess })
	list = append(list, hostFunction{
		abi.ModuleWASI, "proc_exit",
		signature{types("i"), none},
		func(_ context.Context, _ *instance, stack []uint64) { panic(&exitError{uint32(stack[0])}) },
	})
	for _, f := range [][2]string{
		{"fd_advise", "iIIi"},
		{"fd_allocate", "iII"},
		{"fd_datasync", "i"},
		{"fd_fdstat_set_flags", "ii"},
		{"fd_fdstat_set_rights", "iII"},
		{"fd_filestat_get", "ii"},
		{"fd_filestat_set_size", "iI"},
		{"fd_filestat_set_times", "iIIi"},
		{"fd_pread", "iiiIi"},
		{"fd_prestat_dir_name", "iii"},
		{"fd_pwrite", "iiiIi"},
		{"fd_read", "iiii"},
		{"fd_readdir", "iiiIi"},
		{"fd_renumber", "ii"},
		{"fd_seek", "iIii"},
		{"fd_sync", "i"},
		{"fd_tell", "ii"},
		{"path_create_directory", "iii"},
		{"path_filestat_get", "iiiii"},
		{"path_filestat_set_times", "iiiiIIi"},
		{"path_link", "iiiiiii"},
		{"path_open", "iiiiiIIii"},
		{"path_readlink", "iiiiii"},
		{"path_remove_directory", "iii"},
		{"path_rename", "iiiiii"},
		{"path_symlink", "iiiii"},
		{"path_unlink_file", "iii"},
		{"proc_raise", "i"},
		{"sock_accept", "iii"},
		{"sock_recv", "iiiiii"},
		{"sock_send", "iiiii"},
		{"sock_shutdown", "ii"},
	} {
		add(f[0], f[1], func(*instance, []uint64) uint32 { return errnoNoSys })
	}
	return list
}

func (in *instance) put64(ptr uint64, v uint64) uint32 {
	if !in.mod.Memory().WriteUint64Le(uint32(ptr), v) {
		return errnoFault
	}
	return errnoSuccess
}

func (in *instance) put32s(p, v, q, w uint64) uint32 {
	m := in.mod.Memory()
	if !m.WriteUint32Le(uint32(p), uint32(v)) || !m.WriteUint32Le(uint32(q), uint32(w)) {
		return errnoFault
	}
	return errnoSuccess
}

// clockTime gives the batch's time for the real-time clock. Every other clock stands still but for what the
// guest has slept, and a nanosecond for each look at it, so that it never seems broken to a runtime.
func (in *instance) clockTime(stack []uint64) uint32 {
	if stack[0] == 0 {
		return in.put64(stack[2], uint64(in.run.call.BatchTime*1000))
	}
	in.run.clock++
	return in.put64(stack[2], uint64(in.run.clock))
}

// randomBytes fills a buffer from a generator that begins anew with each call.
func (in *instance) randomBytes(stack []uint64) uint32 {
	b := in.bytes(stack[0], stack[1], 1<<31-1)
	if b == nil {
		return errnoFault
	}
	if in.run.random == nil {
		in.run.random = rand.NewChaCha8(in.run.call.seed(in.run.function))
	}
	_, _ = in.run.random.Read(b) // never fails
	return errnoSuccess
}

// fdWrite makes log lines of what is written to standard output (info) and error (warning).
func (in *instance) fdWrite(stack []uint64) uint32 {
	fd, vectors, n, out := uint32(stack[0]), stack[1], stack[2], stack[3]
	if fd != 1 && fd != 2 {
		return errnoBadFD
	}
	list := in.bytes(vectors, min(n, 1<<20)*8, 1<<31-1)
	if list == nil {
		return errnoFault
	}
	level, total := LevelInfo, uint64(0)
	if fd == 2 {
		level = LevelWarning
	}
	for ; len(list) >= 8; list = list[8:] {
		b := in.bytes(uint64(binary.LittleEndian.Uint32(list)), uint64(binary.LittleEndian.Uint32(list[4:])), 1<<31-1)
		if b == nil {
			return errnoFault
		}
		in.run.lines.write(in, level, b)
		total += uint64(len(b))
	}
	if !in.mod.Memory().WriteUint32Le(uint32(out), uint32(total)) {
		return errnoFault
	}
	return errnoSuccess
}

// fdStat says that the three standard descriptors are character devices without rights but to write.
func (in *instance) fdStat(stack []uint64) uint32 {
	if uint32(stack[0]) > 2 {
		return errnoBadFD
	}
	const characterDevice, rightWrite = 2, 1 << 6
	var b [24]byte
	b[0] = characterDevice
	binary.LittleEndian.PutUint64(b[8:], rightWrite)
	if !in.mod.Memory().Write(uint32(stack[1]), b[:]) {
		return errnoFault
	}
	return errnoSuccess
}

// poll answers every subscription at once. Sleeping moves the guest's own clock, so that runtimes that wait
// for a timer see it pass, and takes no time.
func (in *instance) poll(stack []uint64) uint32 {
	const subscription, event, clockTag, absolute = 48, 32, 0, 1
	n := uint32(stack[2])
	if n == 0 {
		return errnoInvalid
	}
	if n > 1024 {
		return errnoNoSys
	}
	subs := in.bytes(stack[0], uint64(n)*subscription, 1<<31-1)
	events := in.bytes(stack[1], uint64(n)*event, 1<<31-1)
	if subs == nil || events == nil {
		return errnoFault
	}
	out := make([]byte, 0, len(events))
	sleep := int64(-1)
	for s := subs; len(s) >= subscription; s = s[subscription:] {
		var e [event]byte
		copy(e[:8], s[:8]) // the caller's data
		tag := s[8]
		e[10] = tag
		if tag == clockTag {
			timeout := int64(min(binary.LittleEndian.Uint64(s[24:]), 1<<62))
			if binary.LittleEndian.Uint16(s[40:])&absolute != 0 {
				timeout -= in.run.clock
			}
			if sleep < 0 || timeout < sleep {
				sleep = max(timeout, 0)
			}
		} else {
			binary.LittleEndian.PutUint16(e[8:], errnoNoSys)
		}
		out = append(out, e[:]...)
	}
	copy(events, out)
	if sleep > 0 && in.run.clock < 1<<62 {
		in.run.clock += min(sleep, 1<<61)
	}
	if !in.mod.Memory().WriteUint32Le(uint32(stack[3]), n) {
		return errnoFault
	}
	return errnoSuccess
}
