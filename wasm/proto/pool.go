package proto

import (
	"context"
	"time"
)

// Pool answers requests. Package pool has the one made of workers; serve.Local
// is one without workers, for native programs and tests.
type Pool interface {
	// Do sends a request and waits for its answer. Progress replies are passed
	// to onProgress, which may be nil and must not block, in their order and
	// before Do returns. The error is a *Failure, or the context's error: then
	// the request was given up and its worker replaced. With a *Failure of kind
	// Deadline the reply may hold the best so far; otherwise it is nil.
	Do(ctx context.Context, req *Request, onProgress func(*Reply)) (*Reply, error)

	// Size is the number of requests that are answered at the same time.
	Size() int

	// OnSilence sets the function that is called when a request under way has
	// given no sign of life for a while, and again with 0 when it does. The
	// page then offers to stop it (by cancelling its context).
	OnSilence(f func(req *Request, silent time.Duration))
}
