package proto

// Requests has one of each. What is not among them cannot be read.
func Requests() []Request {
	return []Request{new(Open), new(Solve), new(Sweep), new(Place), new(Question), new(Export), new(Doctor), new(Step), new(Break)}
}
