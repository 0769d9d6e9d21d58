//go:build !js

package pagetest

// What the page's programs link.
import (
	_ "memtide/profiles/formats/all"
	_ "memtide/wasm/serve/addresses"
	_ "memtide/wasm/serve/examine"
	_ "memtide/wasm/serve/export"
	_ "memtide/wasm/serve/step"
)
