package jobs

import (
	"context"
	"sync"

	"memtide/profiles"
	"memtide/wasm/proto"
)

// Reader opens files whose format this program does not read itself, writes schedules for
// other programs and answers about training steps, by a second program that is loaded when
// the first of these is asked for.
type Reader struct {
	// Fetch gets the second program, and what starts its worker. Two files that are
	// opened at once may both wait for it.
	Fetch func(context.Context) (start func() (proto.Pool, error), err error)

	mu   sync.Mutex
	pool proto.Pool
}

// forFile is the pool that opens a file: the page's own if it knows the format.
func (r *Reader) forFile(ctx context.Context, own proto.Pool, content []byte) (proto.Pool, error) {
	if len(profiles.Claimants(content)) == 1 {
		return own, nil
	}
	return r.load(ctx)
}

// load is the pool of the second program, which is fetched and started the first
// time.
func (r *Reader) load(ctx context.Context) (proto.Pool, error) {
	r.mu.Lock()
	p := r.pool
	r.mu.Unlock()
	if p != nil {
		return p, nil
	}
	start, err := r.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool == nil { // nobody else was faster
		if p, err = start(); err != nil {
			return nil, err
		}
		r.pool = p
	}
	return r.pool, nil
}
