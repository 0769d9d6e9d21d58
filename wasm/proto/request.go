package proto

import "reflect"

// Request is what a worker is asked for. The requests are the types of Requests, each in a
// file of its own with what it brings.
type Request interface {
	Op() string                      // its name in messages
	replies() (result, progress any) // new ones, to be read
}

// Asks is a Request that results in an R and on the way tells Ps, pointers both (see Do).
type Asks[R, P any] interface {
	Request
	of(R, P)
}

// brings makes what embeds it, and has an Op, a Request. R and P are pointers.
type brings[R, P any] struct{}

func (*brings[R, P]) of(R, P) {}

func (*brings[R, P]) replies() (result, progress any) {
	return newLike(*new(R)), newLike(*new(P))
}

// newLike is what a pointer of the type of nowhere points to.
func newLike(nowhere any) any { return reflect.New(reflect.TypeOf(nowhere).Elem()).Interface() }

// Nothing is what is told on the way to a result that comes at once.
type Nothing struct{}

// Progress is how far a request is, in units of who answers it.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total,omitempty"` // 0 if unknown
}
