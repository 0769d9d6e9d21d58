package proto

import "reflect"

// Request is a question to a worker. Requests lists the types that implement it; each is in a file
// of its own with its result and its progress.
type Request interface {
	Op() string                      // its name in messages
	replies() (result, progress any) // a new result and a new progress value, for decoding
}

// Asks is a Request with a result of type R and progress of type P, both pointers. It lets the
// compiler infer R and P from the type of a request (see Do and serve.Register).
type Asks[R, P any] interface {
	Request
	of(R, P)
}

// brings is embedded in a struct to make it a Request whose result is an R and whose progress is a
// P, both pointers. The struct only has to add the method Op.
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

// Nothing is the progress of a request that reports none.
type Nothing struct{}

// Progress is how far a request is. Its unit depends on the request.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total,omitempty"` // 0 if unknown
}
