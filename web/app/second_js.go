package app

import (
	"context"
	"errors"

	"github.com/hack-pad/safejs"

	"memtide/wasm/pool"
	"memtide/wasm/proto"
)

// fetchSecond gets the program of what most visits never need.
func (a *app) fetchSecond(ctx context.Context) (func() (proto.Pool, error), error) {
	module, err := wait(ctx, call(global("memtide"), "second"))
	if err != nil {
		return nil, err
	}
	return func() (proto.Pool, error) {
		p, err := pool.NewReader(module)
		if err != nil {
			return nil, err // and no pool that is not nil
		}
		p.OnSilence(a.silence)
		return p, nil
	}, nil
}

// wait returns what a promise is fulfilled with. It must not be called on the page's
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
