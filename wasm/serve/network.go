package serve

import (
	"bytes"
	"fmt"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
)

// network is a profile that was read, ready to be solved.
type network struct {
	preset  string // the request it answers: this, or
	source  []byte // this
	profile *profiles.Profile
	problem engine.Problem // without device and budget
	keepAll proto.Reference
}

// share is what 100 % of keep-everything means.
func (nw *network) share() engine.Bytes { return nw.keepAll.Peak }

// network returns the profile of a request, the last one if it is the same.
func (s *Server) network(n *proto.Network) (*network, *proto.Failure) {
	if (n.Preset == "") == (n.Profile == nil) {
		return nil, proto.Fail(proto.BadRequest, "the request names no network; expected a preset or a profile, and not both")
	}
	if l := &s.last; l.profile != nil && l.preset == n.Preset && bytes.Equal(l.source, n.Profile) {
		return l, nil
	}
	p, fail := decode("", n.Preset, n.Profile)
	if fail != nil {
		return nil, fail
	}
	nw, fail := build(p)
	if fail != nil {
		return nil, fail
	}
	nw.preset, nw.source = n.Preset, bytes.Clone(n.Profile)
	s.last = *nw
	return &s.last, nil
}

// decode reads a preset if it is named, otherwise a file.
func decode(file, ref string, data []byte) (*profiles.Profile, *proto.Failure) {
	if ref == "" {
		p, err := profiles.Decode(file, data, nil)
		if err != nil {
			return nil, proto.Fail(proto.BadRequest, "%v", err)
		}
		return p, nil
	}
	known, batch, err := preset.Parse(ref)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	p, err := known.Profile(batch)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	return p, nil
}

// build expands the profile and measures what keeping everything costs.
func build(p *profiles.Profile) (*network, *proto.Failure) {
	nw := &network{profile: p}
	switch {
	case p.Chain != nil:
		nw.problem = *engine.NewChainProblem(p.Chain, engine.Device{}, engine.Whole, engine.NoLimit)
	case p.Graph != nil:
		nw.problem = engine.Problem{Graph: p.Graph, Budget: engine.NoLimit}
	default:
		return nil, proto.Fail(proto.BadRequest, "the profile holds neither a chain nor operations; nothing can be scheduled")
	}
	if err := nw.problem.Validate(); err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	ref, err := keepEverything(&nw.problem)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "keeping everything cannot be played: %v", err)
	}
	nw.keepAll = ref
	return nw, nil
}

// keepEverything is the reference that slowdowns and budgets in per cent are
// measured against: the schedule of the strategy keepall, without any limit.
func keepEverything(p *engine.Problem) (proto.Reference, error) {
	keepall := engine.Lookup("keepall")
	if keepall == nil {
		panic("serve: the strategy keepall is not registered")
	}
	args, err := keepall.Parse(nil)
	if err != nil {
		return proto.Reference{}, err
	}
	sol, err := keepall.Solve(p, args, nil)
	if err != nil {
		return proto.Reference{}, err
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		return proto.Reference{}, err
	}
	return proto.Reference{StepTime: trace.Makespan, Peak: trace.Peak}, nil
}

func (s *Server) open(q *proto.Open) (*proto.Opened, *proto.Failure) {
	p, fail := decode(q.File, q.Preset, q.Bytes)
	if fail != nil {
		return nil, fail
	}
	var native bytes.Buffer
	if err := p.EncodeNative(&native); err != nil {
		return nil, proto.Fail(proto.BadRequest, "the profile cannot be written: %v", err)
	}
	out := &proto.Opened{
		Profile: native.Bytes(),
		Preset:  q.Preset,
		Format:  p.Format,
		Lint:    p.Warnings,
		NoChain: noChain(p),
		Totals:  totals(p),
	}
	return out, nil
}

func totals(p *profiles.Profile) proto.Totals {
	t := p.Totals()
	return proto.Totals{
		Stages: t.Stages, Forward: t.Forward, Back: t.Back, Saved: t.Saved, Out: t.Out,
		Resident: t.Resident.Total(), KeepAllPeak: t.KeepAllPeak, Batch: p.Batch,
	}
}

// noChain says why the strategies for chains are of no use; empty if they are.
func noChain(p *profiles.Profile) string {
	if p.Chain == nil {
		return fmt.Sprintf("%s is read, but its operations do not form a chain", p.Name)
	}
	return p.NotLinear()
}
