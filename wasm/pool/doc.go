// Package pool answers requests with Web Workers. The page's side is Pool, the worker's side is Serve. Both run in the
// same WebAssembly module, which is compiled once and posted to every worker.
//
// pool.go is plain Go and tested natively: it decides which worker does what, what the death of a worker means and when
// to give up. Only starting a worker and talking to it needs a browser (*_js.go).
//
// A request whose answer a person waits for goes before points of sweeps, and a file to open goes
// before everything (order.go): no point begins while a file is read.
//
// A worker may be ended at any time: it holds nothing but caches. A solver often lets its worker read
// messages, so that cancelling a request costs no worker; one that does not hear of it soon is ended
// and replaced. A worker that ends by itself (a panic, no memory left, a stack overflow) fails its
// request with the last lines that it wrote, and is replaced likewise. A worker that computes sends
// beats, so that one that vanishes without a message is noticed (silence.go).
package pool
