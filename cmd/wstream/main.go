// Command wstream runs streaming queries over tables that keep growing: pipelines of SQL and Wasm
// modules, in micro-batches with exactly-once state, from one binary.
package main

import (
	"context"
	"os"
)

func main() {
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, args: os.Args}
	ctx, stop := p.signals(context.Background())
	code := p.run(ctx)
	stop()
	os.Exit(code)
}
