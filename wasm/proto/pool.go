package proto

import (
	"context"
	"time"
)

// Doer answers requests, like Pool.Do.
type Doer func(ctx context.Context, req Request, tell func(progress any)) (result any, err error)

// Do has a request answered. It is Pool.Do with the types that the request brings; tell may
// be nil.
func Do[Q Asks[R, P], R, P any](ctx context.Context, do Doer, req Q, tell func(P)) (R, error) {
	var all func(any)
	if tell != nil {
		all = func(p any) { tell(p.(P)) }
	}
	v, err := do(ctx, req, all)
	r, _ := v.(R)
	return r, err
}

// Pool answers requests. Package pool has the one made of workers; serve.Local
// is one without workers, for native programs and tests.
type Pool interface {
	// Do sends a request and waits for its answer, a pointer to its result. Pointers to
	// what is told on the way are passed to tell, which may be nil and must not block, in
	// their order and before Do returns. The error is a *Failure, or the context's error:
	// then the request was given up and its worker replaced. With a *Failure there may be
	// the best so far, if its kind is Deadline or Unsupported; otherwise the result is nil.
	Do(ctx context.Context, req Request, tell func(progress any)) (result any, err error)

	// Size is the number of requests that are answered at the same time.
	Size() int

	// OnSilence sets the function that is called when a request under way has
	// given no sign of life for a while, and again with 0 when it does. Another
	// worker is asked then; if that is silent too, Do returns a Crash.
	OnSilence(f func(req Request, silent time.Duration))
}
