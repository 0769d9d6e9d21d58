package llm

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
)

// Ask is the question whether a setup trains on a number of cards. New makes it from options.
type Ask struct {
	Setup   Setup
	Card    *Card
	GPUs    int64
	Context engine.Bytes // memory of CUDA and the collectives, beside what PyTorch reserves
	Args    engine.Args  // the options from which it was made
	Parts   int          // how many of the PlanStages stages Plan runs; 0: all

	altered bool                 // Card differs from the card in Args
	fullest bool                 // only the fullest rank of a pipeline matters, see ranker
	order   string               // the order that ScheduleAuto tries; empty: all
	known   map[string]*Estimate // earlier answers about the model, by Args and order; nil: no memory
}

// Verdict says whether a setup fits on a card.
type Verdict string

// The verdicts. An answer is uncertain from 95 % of the card on, unless its whole range exceeds the card.
const (
	Fits      Verdict = "fits"
	FitsNot   Verdict = "does not fit"
	Uncertain Verdict = "uncertain"
)

// Estimate is what one card holds, and how long a step takes.
type Estimate struct {
	*Result
	Low, High engine.Bytes // range of reserved memory, by the allocator's settings and the balance of experts
	States    engine.Bytes // weights, masters, gradients and moments
	Capacity  engine.Bytes // memory of the card without the context
	Verdict   Verdict
	Time      time.Duration // of a step, an estimate
	Ranks     *Ranks        // of a pipeline with a Schedule, whose fullest rank the answer describes; else nil
}

// Margin returns the free memory of the card in the worse case. It is negative if memory is lacking.
func (a *Estimate) Margin() engine.Bytes { return a.Capacity - a.High }

// Word returns the verdict as the page has it, which tells uncertain ones apart: a step should fit if the card has
// enough for its whole range.
func (a *Estimate) Word() string {
	switch {
	case a.Verdict != Uncertain:
		return string(a.Verdict)
	case a.High <= a.Capacity:
		return "should fit"
	}
	return "may not fit"
}

// Order returns the name of the order of passes of a pipeline, or "" without a pipeline.
func (a *Estimate) Order() string {
	if a.Ranks == nil {
		return ""
	}
	return a.Ranks.Schedule.Name
}

// Until returns the same question, whose answers end with the error of poll.
func (a Ask) Until(poll *engine.Poll) Ask {
	a.Setup.poll = poll
	return a
}

// Estimate plays the setup.
func (a Ask) Estimate() (*Estimate, error) { return a.answer(engine.NoLimit) }

// probed is the limit for answers without a replay through the allocator. Reserved memory is then a lower bound
// for every allocator, so that a verdict that it does not fit is certain.
const probed engine.Bytes = 0

// enough returns the limit above which nothing fits, whatever the allocator does, and sure the one up to which
// everything fits.
func (a Ask) enough() engine.Bytes { return a.Card.Memory - a.Context }
func (a Ask) sure() engine.Bytes   { return card.Sure(a.Card.Memory) - a.Context }

// answer plays the setup, and skips the replay through the allocator if the setup needs more than limit. It
// returns an earlier answer if that was replayed, or needs more than limit too. With another card, only the
// verdict and the time of an earlier answer are computed again.
func (a Ask) answer(limit engine.Bytes) (*Estimate, error) {
	key := fmt.Sprint(a.Args, a.order) // in the order of names
	old := a.known[key]
	switch {
	case old == nil || !old.replayed && old.Pools <= limit:
	case !a.altered:
		return old, nil
	case old.Ranks == nil && old.most() < min(old.Capacity, a.Card.Memory-a.Context):
		t, err := StepTime(a.Setup, a.Card)
		if err != nil {
			return nil, err
		}
		r := *old.Result
		return a.reserves(&r, t), nil
	}
	out, err := profiles.Try(func() *Estimate { return a.played(limit) })
	if err == nil && a.known != nil && !a.altered {
		a.known[key] = out
	}
	return out, err
}

// played is answer for a question that was not answered before. It plays one rank, which stands for all, or every
// rank of a pipeline. It ends by profiles.End if there is an error.
func (a Ask) played(limit engine.Bytes) *Estimate {
	a.Setup.Workspace, a.Setup.room = a.Card.Workspace, a.Card.Memory-a.Context
	if need := orOne(a.Setup.Shard) * orOne(a.Setup.Tensor) * orOne(a.Setup.Stages); a.GPUs < need {
		refuse("states over %d ranks, products over %d and a pipeline of %d need %d cards; there are %d",
			orOne(a.Setup.Shard), orOne(a.Setup.Tensor), orOne(a.Setup.Stages), need, a.GPUs)
	}
	a.Card.check(&a.Setup)
	if a.Setup.Schedule != "" {
		return a.ordered(limit)
	}
	r := runUpTo(a.Setup, limit)
	out := a.reserves(r, r.program.stepTime(a.Card))
	if a.Setup.Imbalance > 0 {
		even := a.Setup
		even.Imbalance = 0
		r = runUpTo(even, limit)
		out.Low = min(out.Low, r.Reserved, r.Expandable)
	}
	return out
}

// reserves returns the answer for a result and a step time: the range of reserved memory, and whether it fits beside
// the context. Experts whose balance was not told make the range wider, but not below what an even load allocates.
func (a Ask) reserves(r *Result, t time.Duration) *Estimate {
	r.program = nil
	out := &Estimate{Result: r, States: r.states,
		Low: min(r.Reserved, r.Expandable), High: max(r.Reserved, r.Expandable),
		Capacity: a.Card.Memory - a.Context, Time: t}
	if a.Setup.Model.MoE != nil && a.Setup.Imbalance == 0 {
		out.Low = max(r.Allocated, engine.Bytes(engine.Int64(float64(out.Low)*(1-moeAbove))))
		out.High = engine.Bytes(engine.Int64(float64(out.High) / (1 - moeBelow)))
	}
	out.Verdict = Uncertain
	switch {
	case out.High <= a.sure():
		out.Verdict = Fits
	case out.Low > out.Capacity:
		out.Verdict = FitsNot
	}
	return out
}

// onRanks returns the answer for a pipeline that was played, which is that of the fullest rank.
func (a Ask) onRanks(ranks *Ranks) *Estimate {
	r := *ranks.List[ranks.Full].Result
	for i := range ranks.List {
		r.states = max(r.states, ranks.List[i].states)
	}
	out := a.reserves(&r, ranks.Time)
	out.Ranks = ranks
	return out
}

// towers returns the states of the model's towers, which a step on text neither gathers nor runs.
func (p *program) towers() (r engine.Resident) {
	if !p.first {
		return r
	}
	n := p.s.Model.towers()
	if p.s.gathers() {
		n = ceil(n, p.s.Shard)
	}
	if r.Weights = size(n, p.s.Weight); p.s.Towers {
		r.Grads, r.Optimizer = size(n, p.s.Grad), p.s.stays(size(n, p.s.Master+p.s.Moments))
	}
	return r
}

// resident returns the program's weights, masters and moments on the card, with gradients of towers alone.
func (p *program) resident() engine.Resident {
	r := p.towers()
	r.Weights += p.besideBytes()
	for w := range p.weights() {
		if !p.s.HostWeights {
			r.Weights += p.s.weightBytes(w)
		}
		if w.trained {
			r.Optimizer += p.s.stays(p.s.stateBytes(w))
		}
	}
	if p.s.RamTorch {
		for _, u := range p.units {
			r.Weights -= p.swapBytes(u)
		}
		r.Weights += p.ramBytes()
	}
	for _, row := range p.swaps {
		r.Weights -= engine.Bytes(row.n) * p.swapBytes(p.units[row.first])
	}
	return r
}

// states returns the bytes of the program's weights, masters, moments and gradients on the card.
func (p *program) states() engine.Bytes { return p.resident().Total() + p.gradients() }

// gradients returns the bytes of the gradients that are on the card at once, as far as the optimizer waits for them.
func (p *program) gradients() (n engine.Bytes) {
	for w := range p.weights() {
		if w.trained && !p.s.HostWeights && !p.s.StepInBack {
			n += p.s.at(w, 2, p.s.storedBytes(w, p.s.Grad))
		}
	}
	return n
}
