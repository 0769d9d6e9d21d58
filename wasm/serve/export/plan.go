package export

import (
	"errors"

	"memtide/engine"
	"memtide/engine/play"
	"memtide/profiles"
	"memtide/profiles/formats/operators"
	"memtide/wasm/proto"
	"memtide/web/format"
)

// plan finds a plan for the step whose operators a file holds. The budget is that of the
// device: what is there before the step takes its part.
func plan(q *proto.Export) (*proto.Exported, *proto.Failure) {
	data, err := profiles.Unpack(q.Network.Profile, nil)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	p, trace, err := operators.Read("", data, nil)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	player, c := play.NewPlayer(trace), p.Chain
	limit := q.Budget - c.Input - c.Resident.Total()
	found, err := play.Find(c, trace, player, play.Query{Class: play.Class(q.Class), Limit: limit, Link: q.Device.ToHost}, nil)
	if short, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		return nil, proto.Fail(proto.Infeasible, "no plan of class %s was found for a step in %s; the smallest peak met is %s, and nothing proves that it is the smallest",
			q.Class, format.Bytes(max(0, limit)), format.Bytes(short.Smallest))
	}
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	text, err := player.Plan(found.Segments, string(found.Class), "memtide, search", limit).JSON()
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return &proto.Exported{Text: text}, nil
}
