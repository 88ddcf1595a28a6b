package wstream

import "unsafe"

//go:wasmimport wstream_log_v1 write
func importLog(level int32, text unsafe.Pointer, n uint32)

//go:wasmimport wstream_metric_v1 add
func importAdd(name unsafe.Pointer, n uint32, value float64) int32

//go:wasmimport wstream_metric_v1 observe
func importObserve(name unsafe.Pointer, n uint32, value float64) int32

//go:wasmimport wstream_sql_v1 exec
func importExec(connection unsafe.Pointer, cn uint32, statement unsafe.Pointer, sn uint32, frame unsafe.Pointer, fn uint32) int64

//go:wasmimport wstream_produce_v1 produce
func importProduce(topic unsafe.Pointer, tn uint32, frame unsafe.Pointer, fn uint32) int64

//go:wasmimport wstream_kv_v1 get
func importGet(ns unsafe.Pointer, nn uint32, key unsafe.Pointer, kn uint32, buffer unsafe.Pointer, room uint32) int64

//go:wasmimport wstream_kv_v1 put
func importPut(ns unsafe.Pointer, nn uint32, key unsafe.Pointer, kn uint32, value unsafe.Pointer, vn uint32) int64

//go:wasmimport wstream_kv_v1 delete
func importDelete(ns unsafe.Pointer, nn uint32, key unsafe.Pointer, kn uint32) int64

func str(s string) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.StringData(s)), uint32(len(s))
}

func ptr(b []byte) (unsafe.Pointer, uint32) {
	return unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b))
}

func hostLog(level int, line string) {
	p, n := str(line)
	importLog(int32(level), p, n)
}

func hostMetric(observe bool, name string, value float64) {
	p, n := str(name)
	if observe {
		importObserve(p, n, value)
	} else {
		importAdd(p, n, value)
	}
}

func hostExec(connection, statement string, frame []byte) int64 {
	c, cn := str(connection)
	s, sn := str(statement)
	f, fn := ptr(frame)
	return importExec(c, cn, s, sn, f, fn)
}

func hostProduce(topic string, frame []byte) int64 {
	t, tn := str(topic)
	f, fn := ptr(frame)
	return importProduce(t, tn, f, fn)
}

func hostGet(namespace string, key, buf []byte) int64 {
	s, sn := str(namespace)
	k, kn := ptr(key)
	b, bn := ptr(buf)
	return importGet(s, sn, k, kn, b, bn)
}

func hostPut(namespace string, key, value []byte) int64 {
	s, sn := str(namespace)
	k, kn := ptr(key)
	v, vn := ptr(value)
	return importPut(s, sn, k, kn, v, vn)
}

func hostDelete(namespace string, key []byte) int64 {
	s, sn := str(namespace)
	k, kn := ptr(key)
	return importDelete(s, sn, k, kn)
}
