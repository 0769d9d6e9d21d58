// Command second is the program with everything that most visits never need. It reads files of all formats, has all
// strategies and allocators, examines memory snapshots, answers about training steps of language models, and writes
// schedules for other programs. The page loads it when a request first needs it.
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
	// worker.js sets a high GOGC, for speed. With it, reading a large file would take several times the memory
	// of the file, which WebAssembly never returns.
	debug.SetGCPercent(100)
	pool.Serve()
}
