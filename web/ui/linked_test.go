package ui

import (
	_ "memtide/profiles/formats/all"
	_ "memtide/wasm/serve/addresses"
	_ "memtide/wasm/serve/examine"
	_ "memtide/wasm/serve/export"
)
