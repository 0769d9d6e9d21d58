// Package export makes a program that imports it one that writes schedules as JSON and
// finds plans.
package export

import (
	"context"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/export"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

func init() { serve.Register(write) }

// write refuses a schedule that the second opinion does not believe.
func write(s *serve.Server, _ context.Context, q *proto.Export, _ func(*proto.Nothing)) (*proto.Exported, *proto.Failure) {
	switch q.Form {
	case proto.FormPlan:
		return plan(q)
	case proto.FormJSON:
	default:
		return nil, proto.Fail(proto.BadRequest, "a schedule cannot be written as %q; expected json or plan", q.Form)
	}
	name, p, fail := s.Problem(&q.Network)
	if fail != nil {
		return nil, fail
	}
	p.Device, p.Transfers, p.Budget = q.Device, q.Transfers, q.Budget
	if err := p.Validate(); err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	if err := verify(&p, q.Schedule); err != nil {
		return nil, proto.Fail(proto.BadRequest, "the schedule is not verified, so it is not written: %v", err)
	}
	plan := &export.File{Name: name, Strategy: q.Strategy, Args: q.Args, Problem: &p, Schedule: q.Schedule}
	text, err := plan.JSON()
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return &proto.Exported{Text: text}, nil
}

// verify is why a schedule is not what the definition says; nil if it is.
func verify(p *engine.Problem, s engine.Schedule) error {
	trace, err := sim.Play(p, s)
	if err != nil {
		return err
	}
	return check.Trace(p, s, trace)
}
