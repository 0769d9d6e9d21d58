//go:build !js

package serve

// A native program has every strategy. Those in the browser say for themselves what
// they link: see wasm/page and wasm/second.
import _ "memtide/engine/all"
