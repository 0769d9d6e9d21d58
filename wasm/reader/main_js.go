// Command reader is the program that reads files of every format. The page
// loads it when the first file is opened that is not in memtide's own format:
// most visitors never need it, and it keeps the page itself small, which is
// built with the tag lean.
package main

import "memtide/wasm/pool"

func main() { pool.Serve(nil) }
