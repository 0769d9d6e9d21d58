package ui_test

import (
	_ "memtide/profiles/formats/all"
	_ "memtide/wasm/serve/export"
)
