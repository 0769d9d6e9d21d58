package serve

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/wasm/proto"
)

// Server answers one request at a time. It remembers the last network that it
// was asked about, because a person who moves a slider asks about the same one.
// The zero value is ready.
type Server struct {
	// Unseen is how long a solver works before its best so far is told: what is over
	// by then shows no other schedule on the way.
	Unseen time.Duration

	last network
	kept kept
}

// handler answers the requests of one type.
type handler func(s *Server, ctx context.Context, req proto.Request, tell func(any)) (any, *proto.Failure)

// handlers are what this program answers requests with, by their names. What it has not is
// for the other program: a package that answers a request registers that where it is linked.
var handlers = map[string]handler{}

// Register has f answer requests of a type. It panics if something else does.
func Register[Q proto.Asks[R, P], R, P any](f func(s *Server, ctx context.Context, q Q, tell func(P)) (R, *proto.Failure)) {
	var q Q
	if handlers[q.Op()] != nil {
		panic("serve: two packages answer the request " + q.Op())
	}
	handlers[q.Op()] = func(s *Server, ctx context.Context, req proto.Request, tell func(any)) (any, *proto.Failure) {
		r, fail := f(s, ctx, req.(Q), func(p P) {
			if tell != nil {
				tell(p)
			}
		})
		if none := *new(R); any(r) == any(none) { // as a value it would be one
			return nil, fail
		}
		return r, fail
	}
}

// Answers says whether this program answers requests like this one.
func Answers(req proto.Request) bool { return handlers[req.Op()] != nil }

// Handle answers req as proto.Pool.Do says. It never panics: a panic of a strategy is a
// failure of kind Crash. When ctx is cancelled the error is the failure of the strategy that
// noticed; its kind is Deadline.
func (s *Server) Handle(ctx context.Context, req proto.Request, tell func(any)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.last, s.kept = network{}, kept{} // they may be half built
			f := proto.Fail(proto.Crash, "The program failed: %v", r)
			f.Detail = panicSite(string(debug.Stack()))
			result, err = nil, f
		}
	}()
	answer := handlers[req.Op()]
	if answer == nil {
		return nil, proto.Fail(proto.Elsewhere, "this program does not answer the request %q", req.Op())
	}
	result, fail := answer(s, ctx, req, tell)
	if fail != nil { // a nil one in an error would be none
		return result, fail
	}
	return result, nil
}

// panicSite keeps the part of a stack that tells where a panic came from: what
// stands after the last line about panicking.
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

// kept is the recording that was read last, under its number.
type kept struct {
	number  int
	examine Examiner
}

// Examiner answers about one recording, one request at a time. second is what it is
// compared with, of proto.PartCompare.
type Examiner func(q *proto.Doctor, second *profiles.Profile, poll *engine.Poll) (*proto.Examined, error)

// network is a profile that was read, ready to be solved.
type network struct {
	preset  string // the request it answers: this, or
	source  []byte // this,
	graph   bool   // and the operations of a profile that has a chain too
	profile *profiles.Profile
	problem engine.Problem // without device and budget
	keepAll proto.Reference
	ghost   []sim.Point
}
