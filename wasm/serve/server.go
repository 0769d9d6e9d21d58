package serve

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

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

// Handle answers req by calling emit: any number of times with progress, then
// once with a result or a failure. It never panics: a panic of a strategy is a
// failure of kind Crash. When ctx is cancelled the answer is the failure of the
// strategy that noticed; its kind is Deadline.
func (s *Server) Handle(ctx context.Context, req *proto.Request, emit func(*proto.Reply)) {
	defer func() {
		if r := recover(); r != nil {
			s.last, s.kept = network{}, kept{} // they may be half built
			emit(&proto.Reply{Kind: proto.KindFailure, Failure: &proto.Failure{
				Kind:   proto.Crash,
				Text:   fmt.Sprintf("The program failed: %v", r),
				Detail: panicSite(string(debug.Stack())),
			}})
		}
	}()
	reply, fail := s.answer(ctx, req, emit)
	if fail != nil {
		if reply == nil {
			reply = &proto.Reply{}
		}
		reply.Kind, reply.Failure = proto.KindFailure, fail
	} else {
		reply.Kind = proto.KindResult
	}
	emit(reply)
}

func (s *Server) answer(ctx context.Context, req *proto.Request, emit func(*proto.Reply)) (*proto.Reply, *proto.Failure) {
	switch {
	case req.Op == proto.OpOpen && req.Open != nil:
		opened, fail := s.open(ctx, req.Open, emit)
		return &proto.Reply{Opened: opened}, fail
	case req.Op == proto.OpSolve && req.Solve != nil:
		solved, fail := s.solve(ctx, req.Solve, emit)
		return &proto.Reply{Solved: solved}, fail
	case req.Op == proto.OpSweep && req.Sweep != nil:
		swept, fail := s.sweep(ctx, req.Sweep, emit)
		return &proto.Reply{Swept: swept}, fail
	case req.Op == proto.OpPlace && req.Place != nil:
		placed, fail := s.place(ctx, req.Place, emit)
		return &proto.Reply{Placed: placed}, fail
	case req.Op == proto.OpQuestion && req.Question != nil:
		answered, fail := s.question(ctx, req.Question, emit)
		return &proto.Reply{Answered: answered}, fail
	case req.Op == proto.OpExport && req.Export != nil:
		exported, fail := s.export(req.Export)
		return &proto.Reply{Exported: exported}, fail
	case req.Op == proto.OpDoctor && req.Doctor != nil:
		examined, fail := s.examined(ctx, req.Doctor)
		return &proto.Reply{Examined: examined}, fail
	case req.Op == proto.OpStep && req.Step != nil:
		stepped, fail := s.step(ctx, req.Step, emit)
		return &proto.Reply{Stepped: stepped}, fail
	}
	return nil, proto.Fail(proto.BadRequest, "the request %q is unknown or has no content; expected open, solve, sweep, place, ask, export, doctor or step", req.Op)
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
