package host

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/tetratelabs/wazero/api"

	"github.com/wstream/wstream/abi"
	"github.com/wstream/wstream/columnar"
)

// sqlFunctions are wstream_sql_v1: exec(connection ptr, len, statement ptr, len, frame ptr, len i32) -> i64, the
// number of rows touched or a negative status.
func sqlFunctions() []hostFunction {
	return []hostFunction{{
		abi.ModuleSQL, "exec",
		signature{params(6), []api.ValueType{i64}},
		func(_ context.Context, in *instance, stack []uint64) { stack[0] = in.execSQL(stack) },
	}}
}

func (in *instance) execSQL(stack []uint64) uint64 {
	r := &in.run
	connection := in.bytes(stack[0], stack[1], maxCapabilityBytes)
	statement := in.bytes(stack[2], stack[3], maxCapabilityBytes)
	if connection == nil || statement == nil {
		return answer(abi.StatusBadFrame)
	}
	if r.caps.SQL == nil || !r.perms.sql(string(connection)) {
		return in.deny("sql", connection)
	}
	if !contains(in.module.manifest.Statements, statement) {
		return answer(abi.StatusNotFound)
	}
	rows, status := in.rows(stack[4], stack[5])
	if rows == nil {
		return answer(status)
	}
	n, err := r.caps.SQL.Exec(r.ctx, string(connection), string(statement), rows)
	if err != nil {
		r.cause = err
		return answer(abi.StatusFailed)
	}
	return uint64(n)
}

// rows reads a frame that the guest passes, with the names of the function's input where the columns are
// the same in number.
func (in *instance) rows(ptr, n uint64) (*columnar.Batch, abi.Status) {
	limits := in.module.config.Limits
	b := in.bytes(ptr, n, limits.OutputBytes)
	if b == nil {
		return nil, abi.StatusTooLarge
	}
	lim := abi.DefaultLimits()
	lim.Bytes = limits.OutputBytes
	var want *abi.Want
	names := in.run.columns
	d, err := abi.Decode(b, want, lim)
	if err != nil {
		in.run.cause = err
		return nil, abi.StatusBadFrame
	}
	fields := make([]columnar.Field, len(d.Columns))
	for i, c := range d.Columns {
		fields[i] = columnar.Field{Name: "_" + strconv.Itoa(i+1), Type: c.Type, Nullable: true}
		if names != nil && len(names.Fields) == len(fields) {
			fields[i].Name = names.Fields[i].Name
		}
	}
	return columnar.NewBatch(columnar.NewSchema(fields...), d.Columns, d.Header.Rows), 0
}

// produceFunctions are wstream_produce_v1: produce(topic ptr, len, frame ptr, len i32) -> i64, the number of
// records or a negative status.
func produceFunctions() []hostFunction {
	return []hostFunction{{
		abi.ModuleProduce, "produce",
		signature{params(4), []api.ValueType{i64}},
		func(_ context.Context, in *instance, stack []uint64) { stack[0] = in.produce(stack) },
	}}
}

func (in *instance) produce(stack []uint64) uint64 {
	r := &in.run
	topic := in.bytes(stack[0], stack[1], maxCapabilityBytes)
	if topic == nil {
		return answer(abi.StatusBadFrame)
	}
	if r.caps.Produce == nil || !slices.Contains(r.perms.Produce, string(topic)) {
		return in.deny("produce", topic)
	}
	rows, status := in.rows(stack[2], stack[3])
	if rows == nil {
		return answer(status)
	}
	if err := r.caps.Produce.Produce(r.ctx, string(topic), rows); err != nil {
		r.cause = err
		return answer(abi.StatusFailed)
	}
	return uint64(rows.Rows)
}

// kvFunctions are wstream_kv_v1, all with the namespace and key as pointers and lengths first:
// get(ns, len, key, len, buffer, room i32) -> i64, the value's length, written if there is room, or NotFound;
// put(ns, len, key, len, value, len i32) -> i64 and delete(ns, len, key, len i32) -> i64, which give 0.
func kvFunctions() []hostFunction {
	one := []api.ValueType{i64}
	return []hostFunction{
		{abi.ModuleKV, "get", signature{params(6), one}, func(_ context.Context, in *instance, stack []uint64) {
			stack[0] = in.kv(stack, func(kv KV, ns string, key []byte) uint64 {
				v, ok, err := kv.Get(in.run.ctx, ns, key)
				switch {
				case err != nil:
					in.run.cause = err
					return answer(abi.StatusFailed)
				case !ok:
					return answer(abi.StatusNotFound)
				}
				return in.reply(stack[4], stack[5], v)
			})
		}},
		{abi.ModuleKV, "put", signature{params(6), one}, func(_ context.Context, in *instance, stack []uint64) {
			stack[0] = in.kv(stack, func(kv KV, ns string, key []byte) uint64 {
				v := in.bytes(stack[4], stack[5], maxKVValueBytes)
				if v == nil {
					return answer(abi.StatusTooLarge)
				}
				return in.done(kv.Put(in.run.ctx, ns, key, slices.Clone(v)))
			})
		}},
		{abi.ModuleKV, "delete", signature{params(4), one}, func(_ context.Context, in *instance, stack []uint64) {
			stack[0] = in.kv(stack, func(kv KV, ns string, key []byte) uint64 {
				return in.done(kv.Delete(in.run.ctx, ns, key))
			})
		}},
	}
}

// kv checks what all calls of the store have in common.
func (in *instance) kv(stack []uint64, f func(kv KV, ns string, key []byte) uint64) uint64 {
	ns, key := in.bytes(stack[0], stack[1], maxCapabilityBytes), in.bytes(stack[2], stack[3], maxCapabilityBytes)
	if ns == nil || key == nil {
		return answer(abi.StatusBadFrame)
	}
	if in.run.caps.KV == nil || !slices.Contains(in.run.perms.KV, string(ns)) {
		return in.deny("kv", ns)
	}
	return f(in.run.caps.KV, string(ns), slices.Clone(key))
}

// deny is DENIED, with the entry of `allow` kept for the message of the call.
func (in *instance) deny(capability string, name []byte) uint64 {
	in.run.denied = fmt.Sprintf("%s:%s", capability, printable(name[:min(len(name), maxDeniedName)]))
	return answer(abi.StatusDenied)
}

// maxDeniedName is how much of a name stands in a message.
const maxDeniedName = 100

// done is 0, or FAILED with the error kept for the message of the call.
func (in *instance) done(err error) uint64 {
	if err != nil {
		in.run.cause = err
		return answer(abi.StatusFailed)
	}
	return 0
}
