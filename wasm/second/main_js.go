// Command second is the program of what most visits never need: it reads files of
// every format, has every strategy and every allocator, examines memory snapshots, answers
// about the training steps of language models, and writes schedules for other programs.
// The page loads it when the first of that is asked for.
package main

import (
	"runtime/debug"

	_ "memtide/engine/all"
	_ "memtide/profiles/formats/all"
	"memtide/wasm/pool"
	_ "memtide/wasm/serve/addresses"
	_ "memtide/wasm/serve/examine"
	_ "memtide/wasm/serve/export"
	_ "memtide/wasm/serve/step"
)

func main() {
	// Workers let much garbage lie, for speed: see worker.js. What a large file is read
	// into would take several times its room, which WebAssembly never gives back.
	debug.SetGCPercent(100)
	pool.Serve()
}
