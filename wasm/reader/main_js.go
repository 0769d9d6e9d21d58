// Command reader is the program that reads files of every format. The page
// loads it when the first file is opened that is not in memtide's own format:
// most visitors never need it, and it keeps the page itself small. It also writes
// schedules for other programs, and answers about the training steps of language models.
package main

import (
	_ "memtide/profiles/formats/all"
	"memtide/wasm/pool"
	_ "memtide/wasm/serve/export"
	_ "memtide/wasm/serve/step"
)

func main() { pool.Serve(nil) }
