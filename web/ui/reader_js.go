package ui

import (
	"context"
	"errors"

	"github.com/hack-pad/safejs"

	"memtide/profiles"
	"memtide/wasm/pool"
	"memtide/wasm/proto"
)

// reader opens files whose format this program does not read itself, and writes
// schedules for other programs, by a second program that is loaded when the first
// such file is opened or written.
type reader struct{ pool proto.Pool }

// forFile is the pool that opens a file: the page's own if it knows the format.
func (r *reader) forFile(ctx context.Context, own proto.Pool, content []byte) (proto.Pool, error) {
	if profiles.Known(content) {
		return own, nil
	}
	return r.load(ctx)
}

// load is the pool of the second program, which is fetched the first time.
func (r *reader) load(ctx context.Context) (proto.Pool, error) {
	if r.pool != nil {
		return r.pool, nil
	}
	module, err := wait(ctx, call(global("memtide"), "reader"))
	if err != nil {
		return nil, err
	}
	p, err := pool.NewReader(module)
	if err != nil {
		return nil, err
	}
	r.pool = p
	return p, nil
}

// wait is what a promise is fulfilled with. It must not be called on the page's
// own goroutine.
func wait(ctx context.Context, promise safejs.Value) (safejs.Value, error) {
	values, refused := make(chan safejs.Value, 1), make(chan string, 1)
	then(promise, func(v safejs.Value) { values <- v }, func(v safejs.Value) { refused <- text(v, "message") })
	select {
	case v := <-values:
		return v, nil
	case why := <-refused:
		return safejs.Value{}, errors.New(why)
	case <-ctx.Done():
		return safejs.Value{}, ctx.Err()
	}
}
