package serve

import (
	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
	"memtide/wasm/proto"
)

// Writer writes a schedule of a problem down in the form that is asked for; profile
// is the name of the network. The schedule has been verified.
type Writer func(q *proto.Export, profile string, p *engine.Problem) ([]byte, error)

// RegisterWriter makes this program one that writes schedules. It panics if there is
// a writer already.
func RegisterWriter(w Writer) {
	if writer != nil {
		panic("serve: a writer is registered twice")
	}
	writer = w
}

var writer Writer

// export writes a schedule down. One that the second opinion does not believe is
// refused. A program without a writer, like the page, asks its reader.
func (s *Server) export(q *proto.Export) (*proto.Exported, *proto.Failure) {
	if writer == nil {
		return nil, proto.Fail(proto.BadRequest, "this program does not write schedules down")
	}
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
	text, err := writer(q, nw.profile.Name, &p)
	if err != nil {
		return nil, proto.Fail(proto.Unsupported, "%v", err)
	}
	return &proto.Exported{Text: text}, nil
}

// believed is why a schedule is not what the definition says; nil if it is.
func believed(p *engine.Problem, s engine.Schedule) error {
	trace, err := sim.Play(p, s)
	if err != nil {
		return err
	}
	return check.Trace(p, s, trace)
}
