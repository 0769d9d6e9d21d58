package proto

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"memtide/engine"
)

// Request is a question to a worker. Requests lists the types that implement it; each is in a file
// of its own with its result and its progress.
type Request interface {
	replies() (result, progress any) // a new result and a new progress value, for decoding
}

// Op returns the name of a request in messages, that of its type.
func Op(r Request) string { return strings.ToLower(reflect.TypeOf(r).Elem().Name()) }

// Asks is a Request with a result of type R and progress of type P, both pointers. It lets the
// compiler infer R and P from the type of a request (see Do and serve.Register).
type Asks[R, P any] interface {
	Request
	of(R, P)
}

// brings is embedded in a struct to make it a Request whose result is an R and whose progress is a P, both pointers.
type brings[R, P any] struct{}

// of is never called. It puts R and P into the method set, from which Asks infers them.
func (*brings[R, P]) of(R, P) {}

// replies uses nil pointers of the types R and P only to name those types.
func (*brings[R, P]) replies() (result, progress any) {
	return newLike(*new(R)), newLike(*new(P))
}

// newLike returns a pointer to a new zero value of the type that the pointer p points to. p itself
// is usually nil: newLike((*Solved)(nil)) returns new(Solved).
func newLike(p any) any { return reflect.New(reflect.TypeOf(p).Elem()).Interface() }

// Nothing is the progress of a request that reports none, or the result of one that only reports progress.
type Nothing struct{}

// Progress is how far a request is. Its unit depends on the request.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total,omitempty"` // 0 if unknown
}

// Within returns ctx with a limit of time; 0: without.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return ctx, func() {}
}

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
	// Do sends a request and waits for its answer, a pointer to its result. Before it returns it passes pointers to the
	// progress to tell, in their order. tell may be nil and must not block. The error is a *Failure or the context's
	// error. With the context's error the request was given up and its worker replaced. With a *Failure of kind
	// Deadline or Unsupported the result may be the best so far; otherwise it is nil.
	Do(ctx context.Context, req Request, tell func(progress any)) (result any, err error)
}

// FailureKind is a way in which a request fails.
type FailureKind string

// The ways to fail.
const (
	Infeasible  FailureKind = "infeasible"  // no schedule of the strategy fits; Smallest would do, if known
	Unsupported FailureKind = "unsupported" // the strategy cannot work on this problem at all
	Deadline    FailureKind = "deadline"    // Limit passed
	BadRequest  FailureKind = "bad-request" // the profile, an argument or the request is wrong; see Text
	Crash       FailureKind = "crash"       // the program failed: a panic, the stack, memory, or the worker died
	Elsewhere   FailureKind = "elsewhere"   // only the other program can do it, see web/jobs
	NoWorker    FailureKind = "no-worker"   // the browser starts no worker for this page
)

// Failure says why a request has no result. It is an error.
type Failure struct {
	Kind     FailureKind  `json:"kind"`
	Text     string       `json:"text"`               // for people
	Detail   string       `json:"detail,omitempty"`   // Crash: the last lines that the program wrote
	Budget   engine.Bytes `json:"budget,omitempty"`   // Infeasible: the budget in bytes
	Smallest engine.Bytes `json:"smallest,omitempty"` // Infeasible: the smallest budget that would do; 0 if unknown
	Why      string       `json:"why,omitempty"`      // Infeasible: what needs that much, the end of Text
}

func (f *Failure) Error() string { return f.Text }

// Fail returns a failure with a formatted text.
func Fail(kind FailureKind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// FailureOf returns err as a failure, or nil for nil. An error that does not hold a *Failure becomes a Crash.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return Fail(Crash, "%v", err)
}
