// Package guests carries the small prebuilt guests that the binary itself needs: those of the quickstart
// and of new pipelines. They are built from guests/ and compared with their sources by `make guests-check`.
package guests

import _ "embed" // the guests are bytes of the binary

// Clicks is the guest in C that parses, filters and upserts clicks.
//
//go:embed clicks.wasm
var clicks []byte

// Clicks returns the guest that parses, filters and upserts clicks; the bytes must not be changed.
func Clicks() []byte { return clicks }

// keep is what `wstream module new c guest` and `wstream module build` give.
//
//go:embed keep.wasm
var keep []byte

// Keep returns the guest of a new pipeline, whose filter "keep" wants a positive amount; the bytes must not be changed.
func Keep() []byte { return keep }
