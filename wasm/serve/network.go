package serve

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
)

// network returns the network that n names. It builds it unless it is the last one.
func (s *Server) network(n *proto.Network) *network {
	if (n.Preset == "") == (n.Profile == nil) {
		profiles.End(proto.Fail(proto.BadRequest,
			"the request names no network; expected a preset or a profile, and not both"))
	}
	if n.Model != "" {
		return s.under(n)
	}
	if l := &s.last; l.profile != nil && l.preset == n.Preset && l.graph == n.Graph &&
		bytes.Equal(l.source, n.Profile) {
		return l
	}
	nw := build(decode(&proto.Open{Preset: n.Preset, Bytes: n.Profile}, nil), n.Graph)
	nw.preset, nw.source, nw.graph = n.Preset, bytes.Clone(n.Profile), n.Graph
	s.last = *nw
	return &s.last
}

// under returns the network that n names as its blocks are under a policy. What it is compared with, keeping
// everything, is that of the network without the policy.
func (s *Server) under(n *proto.Network) *network {
	nw := build(played(n.Model, n.Options), false)
	all := s.network(&proto.Network{Preset: n.Preset, Profile: n.Profile, Graph: n.Graph})
	nw.under, nw.keepAll, nw.ghost = nw.profile.Chain, all.keepAll, all.ghost
	return nw
}

// Problem returns the name of the profile that set names, and its problem with a budget.
func (s *Server) Problem(set *proto.Setting, budget engine.Bytes) (string, *engine.Problem) {
	nw := s.network(&set.Network)
	return nw.profile.Name, nw.on(set, budget)
}

// on returns the problem of the network on the device of set, with a budget.
func (nw *network) on(set *proto.Setting, budget engine.Bytes) *engine.Problem {
	p := nw.problem
	p.Device, p.Transfers, p.Budget = set.Device, set.Transfers, budget
	Check(p.Validate())
	return &p
}

// decode returns q.Decoded if that is set, else the preset if one is named, else reads the file.
func decode(q *proto.Open, poll *engine.Poll) *profiles.Profile {
	if q.Decoded != nil {
		return accepted(native.Complete(q.Decoded))
	}
	if q.Model != "" {
		p := played(q.Model, q.Options)
		p.Name, p.Format, p.Device = strings.TrimSuffix(q.File, ".json"), "hfconfig", nil
		p.Step, p.Model = q.Options, q.Model
		p.Chain.Name = p.Name
		return p
	}
	if q.Preset == "" {
		content := q.Content
		if content == nil {
			content = profiles.Bytes(q.Bytes)
		}
		device := profiles.AnyDevice
		if q.Device != nil {
			device = *q.Device
		}
		return accepted(profiles.DecodeDevice(q.File, content, device, poll))
	}
	known, batch, err := preset.Parse(q.Preset)
	if unknown, ok := errors.AsType[preset.UnknownError](err); ok {
		const text = "there is no network %q; click the name of the one that is shown to search for others"
		profiles.End(proto.Fail(proto.BadRequest, text, string(unknown)))
	}
	Check(err)
	p, err := known.Profile(batch)
	if errors.Is(err, preset.ErrElsewhere) {
		return recorded(q.Preset)
	}
	return Valid(p, err)
}

// accepted returns a profile. If err is not nil, it ends the answer with why the profile is not read.
func accepted(p *profiles.Profile, err error) *profiles.Profile {
	if err != nil {
		profiles.End(proto.Fail(proto.BadRequest, "%s", rejected(err)))
	}
	return p
}

// played returns the training step of a model with options of package ask.
func played(model string, options engine.Args) *profiles.Profile {
	p, err := preset.Play(model, options)
	if errors.Is(err, preset.ErrElsewhere) {
		profiles.End(proto.Fail(proto.Elsewhere, "%v", err))
	}
	return Valid(p, err)
}

// build expands the profile and plays keeping everything. If the profile has both a chain and
// operations, graph chooses the operations.
func build(p *profiles.Profile, graph bool) *network {
	nw := &network{profile: p}
	var fail *proto.Failure
	switch {
	case graph && p.Graph == nil:
		fail = proto.Fail(proto.BadRequest, "the profile lists no operations; it can only be taken as a chain")
	case p.Chain != nil && !graph:
		nw.problem = *engine.NewChainProblem(p.Chain, engine.Device{}, engine.Whole, engine.NoLimit)
	case p.Graph != nil:
		nw.problem = engine.Problem{Graph: p.Graph, Budget: engine.NoLimit}
	case p.Memory != nil:
		fail = proto.Fail(proto.BadRequest,
			"%s is a list of buffers; nothing can be scheduled, but the page shows their addresses", p.Name)
	default:
		fail = proto.Fail(proto.BadRequest,
			"the profile holds neither a chain nor operations; nothing can be scheduled")
	}
	if fail == nil && nw.problem.Graph.HasLanes() && !engine.KnowsLanes() {
		fail = proto.Fail(proto.Elsewhere, "this program does not play operations of the network and the host")
	}
	if fail != nil {
		profiles.End(fail)
	}
	Check(nw.problem.Validate())
	trace, err := keepEverything(&nw.problem)
	if err != nil {
		profiles.End(proto.Fail(proto.BadRequest, "keeping everything cannot be played: %v", err))
	}
	nw.keepAll, nw.ghost = proto.Reference{StepTime: trace.Makespan, Peak: trace.Peak}, ghost(trace)
	return nw
}

// keepEverything returns the trace of the strategy keepall, without a limit. Slowdowns and budgets
// in per cent are relative to it.
func keepEverything(p *engine.Problem) (*sim.Trace, error) {
	keepall := engine.Lookup(engine.KeepAll)
	if keepall == nil {
		panic("serve: the strategy " + engine.KeepAll + " is not registered")
	}
	if p.Graph.HasLanes() { // make the copies that the host needs take almost no time
		linked := *p
		linked.Device = engine.Device{ToHost: engine.MaxRate, ToDev: engine.MaxRate, Duplex: engine.FullDuplex}
		p = &linked
	}
	sol, err := keepall.Solve(p, nil, nil)
	if err != nil {
		return nil, err
	}
	return sim.Play(p, sol.Schedule)
}

// ghost returns the memory of a trace over time in at most proto.MostGhost points: the largest use
// in each of that many equal time ranges, and a last point of 0 bytes.
func ghost(t *sim.Trace) (out []sim.Point) {
	width := max(t.Makespan/(proto.MostGhost-2)+1, 1)
	var before engine.Bytes
	for i := range t.Memory {
		at, used := t.Memory[i].At/width*width, t.Memory[i].Total()
		if t.Memory[i].At > at { // the range begins with what was allocated before it
			used = max(used, before)
		}
		before = t.Memory[i].Total()
		switch n := len(out); {
		case n > 0 && out[n-1].At == at:
			out[n-1].Used = max(out[n-1].Used, used)
		case n > 0 && out[n-1].Used == used:
		default:
			out = append(out, sim.Point{At: at, Used: used})
		}
	}
	return append(out, sim.Point{At: t.Makespan})
}

// records are steps of language models as package llm plays them, by reference: those that a
// program without it has to open at once. TestRecorded writes and compares them.
//
//go:embed recorded
var records embed.FS

// recorded returns the profile of a step that this program cannot play itself.
func recorded(ref string) *profiles.Profile {
	text, err := records.ReadFile("recorded/" + ref + ".json")
	if err != nil {
		profiles.End(proto.Fail(proto.Elsewhere, "%v", preset.ErrElsewhere))
	}
	p := accepted(profiles.Decode(ref, profiles.Bytes(text), nil))
	p.Format = "preset"
	return p
}

// rejected returns why a file is not read: its problems, one per line, each with its remedy. For a problem
// of the whole file the remedy comes first, because what is expected may be the list of all formats.
func rejected(err error) string {
	problems := profiles.Problems(err)
	if len(problems) == 0 {
		return err.Error()
	}
	if p := problems[0]; len(problems) == 1 && p.Where() == "" {
		return p.Found + ". " + p.Remedy + " " + p.Expected
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error()+" "+p.Remedy)
	}
	if many, ok := err.(*profiles.FormatErrors); ok && many.More > 0 {
		lines[len(lines)-1] += fmt.Sprintf(" And %d more.", many.More)
	}
	return strings.Join(lines, "\n")
}
