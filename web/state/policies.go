package state

import (
	"cmp"
	"maps"
	"time"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// policiesLimit is how long the policies of a step may take.
const policiesLimit = 30 * time.Second

// policiesQuestion returns the request for the policies of the open network. ok is false if it is no step.
func (s *State) policiesQuestion() (q proto.Step, ok bool) {
	model, args, ok := s.stepOf()
	q = proto.Step{Policies: true, Limit: policiesLimit, Model: model, Args: args}
	if s.View.Frame.Embed || s.first() { // a view tries no other plans, and needs the range of the step alone
		q.Parts = 1
	}
	return q, ok
}

// first reports whether the range of the step has to be asked for before the policies. It is needed at once if the
// choice or the plan that was found for it keeps everything, because the verdict states that range.
func (s *State) first() bool {
	p := s.current()
	return s.alone == nil && s.policies == nil && (s.Choice.KeepsAll() || p != nil && p.KeepsAll())
}

// Unplayed reports whether the choice keeps everything of a step that the page will play, but has not yet.
func (s *State) Unplayed() bool {
	_, ok := s.policiesQuestion()
	return ok && s.first()
}

// Awaited reports whether a request for the range of the step is under way that will change the verdict.
func (s *State) Awaited() bool { return s.asking != 0 && s.first() }

// Earlier reports whether the page shows the answer to an earlier choice while the present one is being answered. It
// is also true while the range in the verdict is provisional, see Awaited.
func (s *State) Earlier() bool {
	return s.Shown != nil && (s.Opening != nil || s.Solving != nil && !s.Shown.Choice.Equal(s.Choice) ||
		s.fallback != 0 && s.current() == nil || s.Awaited())
}

// otherCard reports whether the result of a policy depends on another card than the chosen one: the policy moves
// activations over another link, or fills another memory.
func (s *State) otherCard(x *proto.StepChange) bool {
	c, d := s.Choice, card.Lookup(ask.Value(x.Args, "device"))
	if d == nil {
		return true
	}
	fills := ask.Value(x.Args, "first") != "0"
	return moves(x.Args) && (c.ToHost != d.ToHost || c.ToDev != d.ToDev || c.Duplex != d.Duplex) ||
		fills && c.Device != d.ID
}

// followPolicies asks for the policies of the present case when nothing else is under way. It cancels the request
// when the case changes and while a schedule is being solved.
func (s *State) followPolicies() (out []Effect) {
	q, ok := s.policiesQuestion()
	key := ""
	if ok {
		key = choice.MethodKey(q.Model, q.Args)
	}
	if key != s.about || s.Solving != nil {
		out = cancel(&s.asking)
	}
	if key != s.about {
		s.about = key
		s.policies, _ = s.policed.get(key)
		s.alone = nil
		s.touch()
	}
	shown := s.Shown != nil && (s.Shown.Choice.Equal(s.Choice) ||
		s.OverBudget != nil && s.current() != nil && s.Choice.KeepsAll() && s.Shown.Choice.KeepsAll())
	view := (s.View.Frame.Embed || s.first()) && !s.busy() && shown
	if !ok || s.policies != nil || s.asking != 0 || !view && !s.idle() {
		return out
	}
	s.asking, s.asksAlone = s.newID(), s.first() && !s.View.Frame.Embed
	return append(out, AskStep{s.asking, q})
}

// Policed is the answer about policies.
type Policed struct {
	ID      int
	Stepped *proto.Stepped // nil if the request failed
}

func (m Policed) apply(s *State) []Effect {
	if s.asking == 0 || s.asking != m.ID {
		return nil
	}
	s.asking = 0
	m.Stepped = cmp.Or(m.Stepped, &proto.Stepped{})
	if s.asksAlone {
		s.alone = m.Stepped
	} else {
		s.policies = m.Stepped
		s.policed.put(s.about, s.policies)
	}
	s.accept()
	return s.touch()
}

// Policy is a policy of a framework on the open step.
type Policy struct {
	*proto.StepChange
	Index int          // see OpenPolicy
	Needs engine.Bytes // the most that it needs on the card, with CUDA
	Lacks engine.Bytes // Needs beyond State.Limit; 0 if it fits

	Unsure bool // it lacks memory at the upper end of its range alone
	Chosen bool
	Apart  bool // choosing it opens the step by itself, because its blocks are no chain
}

// Policies returns the policies of the present case except keeping everything, in the order of frameworks. Of
// policies with the same result it returns the first. It is nil while they are not known.
func (s *State) Policies() (out []Policy) {
	if s.policies == nil {
		return nil
	}
	limit := s.Limit()
	seen, chosen := map[[2]int64]bool{}, s.Choice.Policy == nil // seen results: bytes and nanoseconds
	for i := range s.policies.Policies {
		x := &s.policies.Policies[i]
		r := [2]int64{int64(x.High), int64(x.Time)}
		if seen[r] || s.otherCard(x) {
			continue
		}
		if seen[r] = true; i == 0 { // it keeps everything
			continue
		}
		needs := x.High + s.policies.Context
		_, policy, ok := preset.Split(x.Args)
		p := Policy{StepChange: x, Index: i, Needs: needs, Lacks: max(0, needs-limit), Apart: !ok,
			Unsure: needs > limit && x.Low+s.policies.Context <= limit,
			Chosen: ok && policy != nil && maps.Equal(policy, s.Choice.Policy)}
		chosen = chosen || p.Chosen
		out = append(out, p)
	}
	if p := s.current(); !chosen && p != nil && p.Choice.Equal(s.Choice) { // one that is not listed
		x := &proto.StepChange{Names: []string{ask.Policy(s.Choice.Policy)}, Words: "as it was chosen",
			Time: p.Solved.Trace.Makespan, Allocated: p.Solved.Trace.Peak}
		needs := p.Solved.Reserved[1] + s.policies.Context
		out = append(out, Policy{StepChange: x, Index: -1, Needs: needs, Lacks: max(0, needs-limit), Chosen: true,
			Unsure: needs > limit && p.Solved.Reserved[0]+s.policies.Context <= limit})
	}
	return out
}

// TimeRange returns the range in which nine of ten published runs of the kind of the open step lie, for a plan that
// takes t by the estimate. It returns 0 and 0 if that is not known.
func (s *State) TimeRange(t time.Duration) (low, high time.Duration) {
	r := s.policies
	if r == nil || r.Time <= 0 || r.TimeHigh <= 0 {
		return 0, 0
	}
	share := float64(t) / float64(r.Time)
	return time.Duration(share * float64(r.TimeLow)), time.Duration(share * float64(r.TimeHigh))
}

// accept takes the picture of keeping everything, which exceeds the budget, as that of the choice if it may fit.
func (s *State) accept() {
	p := s.current()
	if s.OverBudget == nil || s.Compare != nil || p == nil || !s.mayKeep() {
		return
	}
	if !s.Choice.KeepsAll() || !p.Choice.KeepsAll() {
		return
	}
	own := *p
	own.Choice = s.Choice
	s.Shown, s.OverBudget = &own, nil
}

// KeepingAll returns the most memory of the card that keeping everything needs: as it was played, or what Reserved
// returns of the network's peak if it is not played. It returns 0 until it is known.
func (s *State) KeepingAll() engine.Bytes {
	_, high, context := s.Kept()
	switch _, ok := s.policiesQuestion(); {
	case high > 0:
		return high + context
	case ok && s.policies == nil, s.Network == nil:
		return 0
	}
	return s.Choice.Reserved(s.Network.Totals.KeepAllPeak)
}

// OpenPolicy chooses a policy, or opens the step by itself under it.
type OpenPolicy struct{ Index int }

func (m OpenPolicy) apply(s *State) []Effect {
	q, ok := s.policiesQuestion()
	if !ok || s.policies == nil || m.Index < 0 || m.Index >= len(s.policies.Policies) {
		return nil
	}
	args := s.policies.Policies[m.Index].Args
	if d := DeviceOf(s.Choice); d != nil {
		args = ask.With(args, "device", d.ID)
	}
	s.Choice.Policy = nil // the row of torch.compile is another step without one
	return s.openModel(q.Model, args)
}
