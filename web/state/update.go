package state

// Message is something that happened: what a person did or what a worker
// answered. It changes the state itself and returns what has to be done, in
// order. Each is declared beside its apply, in the file of the part it is about.
type Message interface{ apply(*State) []Effect }

// Update changes the state by one message and returns what has to be done, in
// order.
func (s *State) Update(m Message) []Effect {
	out := append(s.holdAddress(m.apply(s)), s.followPlaces()...)
	return append(append(out, s.followDoctor()...), s.followIdle()...)
}
