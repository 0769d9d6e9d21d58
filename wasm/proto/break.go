package proto

// Break has a worker fail in a way of its own, on a page that was opened for self-tests (see
// package pool). Nobody answers it.
type Break struct {
	brings[*Nothing, *Nothing]
	How string `json:"how"`
}

// Op implements Request.
func (*Break) Op() string { return "break" }
