// Command reader is the program that reads files of every format. The page
// loads it when the first file is opened that is not in memtide's own format:
// most visitors never need it, and it keeps the page itself small. It also writes
// schedules for other programs and examines memory snapshots.
package main

import (
	"runtime/debug"

	_ "memtide/profiles/formats/all"
	"memtide/wasm/pool"
	_ "memtide/wasm/serve/examine"
	_ "memtide/wasm/serve/export"
)

func main() {
	// Workers let much garbage lie, for speed: see worker.js. What a large file is read
	// into would take several times its room, which WebAssembly never gives back.
	debug.SetGCPercent(100)
	pool.Serve(nil)
}
