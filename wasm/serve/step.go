package serve

import (
	"context"

	"memtide/engine"
	"memtide/wasm/proto"
)

// Stepper answers about training steps; tell is called whenever more is known.
type Stepper func(q *proto.Step, poll *engine.Poll, tell func(*proto.Stepped)) (*proto.Stepped, *proto.Failure)

var stepper Stepper

// RegisterStepper makes this program one that answers about training steps: see package
// serve/step. It panics if there is one already.
func RegisterStepper(s Stepper) {
	if stepper != nil {
		panic("serve: a stepper is registered twice")
	}
	stepper = s
}

// step answers about a training step. A program without a stepper, like the page, asks
// the second program.
func (s *Server) step(ctx context.Context, q *proto.Step, emit func(*proto.Reply)) (*proto.Stepped, *proto.Failure) {
	if stepper == nil {
		return nil, proto.Fail(proto.BadRequest, "this program cannot answer about training steps")
	}
	return stepper(q, engine.NewPoll(ctx, nil), func(t *proto.Stepped) {
		so := *t
		emit(&proto.Reply{Kind: proto.KindProgress, Stepped: &so})
	})
}
