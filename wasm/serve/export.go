//go:build !lean

package serve

import (
	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/export"
	"memtide/engine/sim"
	"memtide/wasm/proto"
)

// export writes a schedule down. One that the second opinion does not believe is
// refused.
func (s *Server) export(q *proto.Export) (*proto.Exported, *proto.Failure) {
	if q.Form != proto.FormPython && q.Form != proto.FormJSON {
		return nil, proto.Fail(proto.BadRequest, "no schedule is written as %q; expected python or json", q.Form)
	}
	nw, fail := s.network(&q.Network)
	if fail != nil {
		return nil, fail
	}
	p := nw.problem
	p.Device, p.Transfers, p.Budget = q.Device, q.Transfers, q.Budget
	if err := p.Validate(); err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	if err := believed(&p, q.Schedule); err != nil {
		return nil, proto.Fail(proto.BadRequest, "the schedule is not verified, so it is not written: %v", err)
	}
	plan := &export.Plan{Name: nw.profile.Name, Strategy: q.Strategy, Args: q.Args, Problem: &p, Schedule: q.Schedule}
	out, err := new(proto.Exported), error(nil)
	if q.Form == proto.FormJSON {
		out.Text, err = plan.JSON()
	} else {
		var text string
		text, err = plan.Python()
		out.Text = []byte(text)
	}
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return out, nil
}

// believed is why a schedule is not what the definition says; nil if it is.
func believed(p *engine.Problem, s engine.Schedule) error {
	trace, err := sim.Play(p, s)
	if err != nil {
		return err
	}
	return check.Trace(p, s, trace)
}
