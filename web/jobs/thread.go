package jobs

import (
	"context"
	"sync"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// MainThread solves on the page's own thread, where the browser starts no workers and a
// person has asked for it: the page lives in the breaths that a solver takes.
type MainThread struct {
	serve.Local
	turn sync.Mutex // held by the request that is at work: sleeping in turns would leave the page no time
	last time.Time  // when the page was let live last
}

// Do implements proto.Pool.
func (h *MainThread) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	h.turn.Lock()
	defer h.turn.Unlock()
	return h.Local.Do(context.WithValue(ctx, engine.Yield{}, h.breathe), req, func(progress any) {
		h.breathe()
		if tell != nil {
			tell(progress)
		}
	})
}

// breathEvery is how long a solver may keep the page waiting.
const breathEvery = 30 * time.Millisecond

// breathe lets the browser do what is waiting, for which every goroutine has to
// sleep, and then another request have its turn.
func (h *MainThread) breathe() {
	if time.Since(h.last) < breathEvery {
		return
	}
	time.Sleep(time.Millisecond)
	h.turn.Unlock()
	h.turn.Lock()
	h.last = time.Now()
}
