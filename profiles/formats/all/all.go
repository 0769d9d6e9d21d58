// Package all links every format. Its tests are the contract of a format: they find the formats
// through the registry, and samples in the neighbouring folders.
package all

import (
	_ "memtide/profiles/formats/csv"
	_ "memtide/profiles/formats/dtr"
	_ "memtide/profiles/formats/hf"
	_ "memtide/profiles/formats/kineto"
	_ "memtide/profiles/formats/minimalloc"
	_ "memtide/profiles/formats/native"
	_ "memtide/profiles/formats/onnx"
	_ "memtide/profiles/formats/operators"
	_ "memtide/profiles/formats/pipedream"
	_ "memtide/profiles/formats/rotorlist"
	_ "memtide/profiles/formats/snapshot"
	_ "memtide/profiles/formats/torchexport"
	_ "memtide/profiles/formats/torchtitan"
)
