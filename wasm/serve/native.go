//go:build !js

package serve

// A native program has every strategy. Those in the browser import the strategies that they need:
// see wasm/page and wasm/second.
import _ "memtide/engine/all"
