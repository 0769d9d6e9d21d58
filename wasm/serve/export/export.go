// Package export answers requests for schedules and plans as files, in programs that import it.
package export

import (
	"context"
	"errors"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/export"
	"memtide/engine/play"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/format"
)

func init() { serve.Register(write) }

// write answers q. It refuses a schedule that package check does not confirm.
func write(s *serve.Server, _ context.Context, q *proto.Export, _ func(*proto.Nothing)) (*proto.Exported,
	*proto.Failure) {
	switch q.Form {
	case proto.FormPlan:
		return plan(q)
	case proto.FormJSON:
	default:
		return nil, proto.Fail(proto.BadRequest, "a schedule cannot be written as %q; expected json or plan", q.Form)
	}
	name, p := s.Problem(&q.Setting, q.Budget)
	trace, err := sim.Play(p, q.Schedule)
	if err == nil {
		err = check.Trace(p, q.Schedule, trace)
	}
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "the schedule is not verified, so it is not written: %v", err)
	}
	plan := &export.File{Name: name, Strategy: q.Strategy, Args: q.Args, Problem: p, Schedule: q.Schedule}
	text, err := plan.JSON()
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return &proto.Exported{Text: text}, nil
}

// plan finds a plan for the step whose operators a file holds. The step gets the budget without the input and the
// resident memory.
func plan(q *proto.Export) (*proto.Exported, *proto.Failure) {
	p, trace, err := operators.Read("", serve.Valid(profiles.Unpack(q.Network.Profile, nil)), nil)
	serve.Check(err)
	player, c := play.NewPlayer(trace), p.Chain
	limit := q.Budget - c.Input - c.Resident.Total()
	found, err := play.Find(c, trace, player,
		play.Query{Class: play.Class(q.Class), Limit: limit, Link: q.Device.ToHost}, nil)
	if short, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		return nil, proto.Fail(proto.Infeasible,
			"no plan of class %s was found for a step in %s; the smallest peak met is %s, and nothing proves that it is the smallest",
			q.Class, format.Bytes(max(0, limit)), format.Bytes(short.Smallest))
	}
	serve.Check(err)
	text, err := player.Plan(found.Segments, string(found.Class), "memtide, search", limit).JSON()
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return &proto.Exported{Text: text}, nil
}
