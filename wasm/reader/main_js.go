// Command reader is the program of what most visits never need: it reads files of
// every format, has every strategy, examines memory snapshots, and writes schedules for
// other programs. The page loads it when the first of that is asked for.
package main

import (
	_ "memtide/engine/all"
	_ "memtide/profiles/formats/all"
	"memtide/wasm/pool"
	_ "memtide/wasm/serve/examine"
	_ "memtide/wasm/serve/export"
)

func main() { pool.Serve(nil) }
