package wstream

import "unsafe"

// input is the buffer that the host writes to.
var input []byte

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func region(b []byte) int64 { return int64(uint64(address(b))<<32 | uint64(len(b))) }

//go:wasmexport wstream_abi_v1
func exportMarker() {}

//go:wasmexport wstream_manifest
func exportManifest() int64 {
	answer = exported.manifest()
	return region(answer)
}

//go:wasmexport wstream_buffer
func exportBuffer(min uint32) uint32 {
	if int(min) > len(input) {
		input = make([]byte, int(min)+int(min)/2+4096)
	}
	return address(input)
}

//go:wasmexport wstream_bind
func exportBind(_, n uint32) int64 { return bindFunction(input[:n]) }

//go:wasmexport wstream_call
func exportCall(handle int32, _, n uint32) int64 {
	status, nothing := callFunction(int(handle), input[:n])
	if status < 0 || nothing {
		return status
	}
	return region(answer)
}

//go:wasmexport wstream_error
func exportError() int64 { return region(errorText) }
