// Command page is the program that every visit loads. With the argument "worker" it runs a worker that
// solves; otherwise it runs the page. Of strategies that it does not link, cmd/build adds the descriptions, and
// wasm/second has the solvers.
package main

import (
	"os"

	"github.com/hack-pad/safejs"

	_ "memtide/engine/combined"
	_ "memtide/engine/offload"
	_ "memtide/engine/remat"
	_ "memtide/engine/window"
	"memtide/wasm/pool"
	"memtide/web/app"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		pool.Serve()
		return
	}
	page, err := safejs.Global().Get("memtide")
	if err != nil {
		panic(err)
	}
	module, err := page.Get("module") // compiled by web/static/boot.js
	if err != nil {
		panic(err)
	}
	app.Main(module)
}
