// Package pool answers requests with Web Workers. The page's side is Pool, the
// worker's side is Serve; both run in the same WebAssembly module, which is
// compiled once and posted to every worker.
//
// Who works on what, what a dead worker means and when to give up is plain Go
// (pool.go) and tested natively; only starting a worker and talking to it needs
// a browser (*_js.go).
//
// What somebody waits for goes before points of sweeps, and a file that is opened
// before everything (order.go): while it is read no point begins.
//
// A worker may be ended at any time: it holds nothing but caches. Cancelling a
// request ends its worker, because a busy worker reads no messages. A worker
// that ends by itself (a panic, no memory left, the stack overflowed) fails its
// request with what it wrote last, and is replaced like a cancelled one. One that
// vanishes without a word is noticed because those that work say so (silence.go).
package pool
