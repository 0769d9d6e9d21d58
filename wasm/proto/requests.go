package proto

// Requests returns a new value of every type of request. DecodeRequest reads only these.
func Requests() []Request {
	return []Request{new(Open), new(Solve), new(Sweep), new(Place), new(Question), new(Export), new(Doctor), new(Step), new(Break)}
}
