package proto

import (
	"context"
	"time"
)

// Doer answers requests. Pool.Do is one.
type Doer func(ctx context.Context, req Request, tell func(progress any)) (result any, err error)

// Do answers req with do, which is usually Pool.Do, and returns the result in the type that the
// request declares. tell receives the progress; it may be nil.
func Do[Q Asks[R, P], R, P any](ctx context.Context, do Doer, req Q, tell func(P)) (R, error) {
	var all func(any)
	if tell != nil {
		all = func(p any) { tell(p.(P)) }
	}
	v, err := do(ctx, req, all)
	r, _ := v.(R)
	return r, err
}

// Pool answers requests. Package pool implements it with workers, serve.Local without workers, for
// native programs and tests.
type Pool interface {
	// Do sends a request and waits for its answer, a pointer to its result. Before it returns it
	// passes pointers to the progress to tell, in their order. tell may be nil and must not block.
	// The error is a *Failure or the context's error. With the context's error the request was
	// given up and its worker replaced. With a *Failure of kind Deadline or Unsupported the result
	// may be the best so far; otherwise it is nil.
	Do(ctx context.Context, req Request, tell func(progress any)) (result any, err error)

	// Size returns how many requests are answered at the same time.
	Size() int

	// OnSilence sets the function that is called when a running request has given no sign of life
	// for the time silent, and with 0 when it gives one again. The pool then asks another worker
	// too. If that is silent as well, Do returns a Crash.
	OnSilence(f func(req Request, silent time.Duration))
}
