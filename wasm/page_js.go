package main

import (
	"github.com/hack-pad/safejs"

	"memtide/wasm/pool"
)

// runPage is the page's role.
func runPage(module safejs.Value) {
	if _, err := pool.New(module); err != nil {
		panic(err)
	}
	select {}
}
