// Package serve answers requests of package proto: it decodes the profile, runs the strategy, plays
// its schedule, has it checked and adds the bounds. It is plain Go: in the browser a worker runs
// it, and the command line and the tests run it without one.
//
// A package that answers a type of request registers a function for it:
//
//	func init() {
//		serve.Register(func(s *serve.Server, ctx context.Context, q *proto.Step,
//			tell func(*proto.Stepped)) (*proto.Stepped, *proto.Failure) { ... })
//	}
//
// Functions from which an answer needs something end it by Check, Valid or profiles.End if that fails, so that only
// the outermost returns a failure.
//
// The compiler infers the type of the request, of its result and of its progress from that
// function. A program answers what the packages that it links have registered. The page's program
// links this package alone. The second program links the packages below it as well; the page asks
// it whenever its own program answers with a failure of kind proto.Elsewhere.
package serve
