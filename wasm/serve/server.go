package serve

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/wasm/proto"
)

// Server answers one request at a time. It remembers the last network, because a person who moves a
// slider asks about the same one again. The zero value is ready.
type Server struct {
	// Unseen is how long a solver works before its best so far is told. A solve that ends sooner
	// tells no schedule but the last.
	Unseen time.Duration

	last network
	kept kept
}

// handler answers the requests of one type. It may be given a nil tell.
type handler func(s *Server, ctx context.Context, req proto.Request, tell func(any)) (any, *proto.Failure)

// handlers maps the name of a request to its handler in this program. Handle answers a request
// without one with a failure of kind Elsewhere.
var handlers = map[string]handler{}

// Register makes f answer requests of type Q, in every program that links the caller. See the
// package comment for an example. It panics if Q has been registered already.
func Register[Q proto.Asks[R, P], R, P any](f func(s *Server, ctx context.Context, q Q, tell func(P)) (R,
	*proto.Failure)) {
	var q Q // nil: Op does not look at its receiver
	if handlers[proto.Op(q)] != nil {
		panic("serve: two packages answer the request " + proto.Op(q))
	}
	handlers[proto.Op(q)] = func(s *Server, ctx context.Context, req proto.Request, tell func(any)) (result any,
		fail *proto.Failure) {
		r, err := profiles.Try(func() (r R) {
			r, fail = f(s, ctx, req.(Q), func(p P) {
				if tell != nil {
					tell(p)
				}
			})
			return r
		})
		if err != nil {
			return nil, proto.FailureOf(err)
		}
		if none := *new(R); any(r) == any(none) { // a nil R in an interface would not equal nil
			return nil, fail
		}
		return r, fail
	}
}

// Check ends the answer to a request with a failure of kind BadRequest, if err is not nil. To end it with another
// failure, call profiles.End with that.
func Check(err error) {
	if err != nil {
		profiles.End(proto.Fail(proto.BadRequest, "%v", err))
	}
}

// Valid returns result. If err is not nil, it ends the answer like Check.
func Valid[T any](result T, err error) T {
	Check(err)
	return result
}

// Answers reports whether this program answers requests of the type of req.
func Answers(req proto.Request) bool { return handlers[proto.Op(req)] != nil }

// Handle answers req as proto.Pool.Do does. It never panics: it returns a panic of a strategy as a
// failure of kind Crash. If ctx is cancelled, the error is a failure of kind Deadline.
func (s *Server) Handle(ctx context.Context, req proto.Request, tell func(any)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.last, s.kept = network{}, kept{} // they may be incomplete
			f := proto.Fail(proto.Crash, "The program failed: %v", r)
			f.Detail = panicSite(string(debug.Stack()))
			result, err = nil, f
		}
	}()
	answer := handlers[proto.Op(req)]
	if answer == nil {
		return nil, proto.Fail(proto.Elsewhere, "this program does not answer the request %q", proto.Op(req))
	}
	result, fail := answer(s, ctx, req, tell)
	if fail != nil { // a nil *Failure in an error would not equal nil
		return result, fail
	}
	return result, nil
}

// panicSite returns the part of a stack that says where a panic came from: at most 1500 bytes after
// the last call of panic.
func panicSite(stack string) string {
	if i := strings.LastIndex(stack, "panic("); i >= 0 {
		stack = stack[i:]
	}
	const most = 1500
	if len(stack) > most {
		stack = stack[:most]
	}
	return stack
}

// kept is the recording that was read last, with the number that the page gave it.
type kept struct {
	number  int
	examine Examiner
}

// Examiner answers requests about one recording, one at a time.
type Examiner func(q *proto.Doctor, poll *engine.Poll) (*proto.Examined, error)

// network is a profile, ready to be solved. preset, source and graph are as in the request.
type network struct {
	preset  string        // the name of the preset, or
	source  []byte        // the profile in native JSON
	graph   bool          // the operations, of a profile that has a chain too
	under   *engine.Chain // see proto.Solved.Chain
	profile *profiles.Profile
	problem engine.Problem // without device and budget
	keepAll proto.Reference
	ghost   []sim.Point
}

// Local is a proto.Pool without workers: it answers in the caller's process, on up to GOMAXPROCS threads. A strategy
// that is cancelled stops at its next poll. One that crashes the process cannot be survived. The zero value is ready.
type Local struct {
	idle sync.Pool // of *Server
}

// Do implements proto.Pool.
func (l *Local) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	if q, ok := req.(*proto.Sweep); ok {
		return Spread(ctx, q, runtime.GOMAXPROCS(0), l.one, tell)
	}
	return l.one(ctx, req, tell)
}

func (l *Local) one(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	s, ok := l.idle.Get().(*Server)
	if !ok {
		s = new(Server)
	}
	defer l.idle.Put(s)
	result, err := s.Handle(ctx, req, tell)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, err
}
