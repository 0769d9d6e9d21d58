package proto

// Break asks a worker to fail in the way that How names, on a page that was opened for self-tests
// (see package pool). No program registers an answer to it.
type Break struct {
	brings[*Nothing, *Nothing]
	How string `json:"how"`
}

// Op implements Request.
func (*Break) Op() string { return "break" }
