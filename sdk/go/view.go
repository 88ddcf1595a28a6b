package wstream

import "unsafe"

// number is a Go type that a buffer may be seen as.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// view sees bytes as numbers.
func view[T number](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// bytesOf sees numbers as bytes.
func bytesOf[T number](v []T) []byte {
	var z T
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)))
}

// text sees bytes as a string.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
