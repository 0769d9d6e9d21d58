package llm

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// Ask is a question: does a setup train on a number of cards. New makes it of what is asked.
type Ask struct {
	Setup   Setup
	Card    *Card
	GPUs    int64
	Context engine.Bytes // of CUDA and the collectives, beside what PyTorch reserves
	Args    engine.Args  // that it was made of, for questions that differ in some
	NoCurve bool         // Plan finds no curves
	Parts   int          // stages of Plan, of PlanStages; 0: all

	altered bool                 // Card is another than Args say
	fullest bool                 // of a pipeline's ranks only the fullest is asked for, see ranker
	order   string               // the one order that is tried where the fastest is asked for; empty: all are
	known   map[string]*Estimate // by Args: what was answered about the model; nil: nothing is remembered
}

// Verdict says whether a setup fits.
type Verdict string

// The verdicts. An answer nearer to the capacity than the model errs is uncertain.
const (
	Fits      Verdict = "fits"
	FitsNot   Verdict = "does not fit"
	Uncertain Verdict = "uncertain"
)

// uncertain is the share of the answer that the model may be off by: one measured error.
const uncertain = 0.05

// Estimate is what one card holds, and how long a step takes.
type Estimate struct {
	*Result
	Low, High engine.Bytes // reserved, by how the allocator is set up and how busy experts are
	States    engine.Bytes // weights, masters, gradients and moments alone
	Capacity  engine.Bytes // of the card without the context
	Verdict   Verdict
	Time      time.Duration // an estimate
	Ranks     *Ranks        // of a pipeline whose order is named; the answer is that of the fullest
}

// Margin returns what is free on the card in the worse case; negative if it lacks.
func (a *Estimate) Margin() engine.Bytes { return a.Capacity - a.High }

// Order returns the order of passes of a pipeline; it is empty without one.
func (a *Estimate) Order() string {
	if a.Ranks == nil {
		return ""
	}
	return a.Ranks.Schedule.Name
}

// Until returns the same question; its answers end with the error of poll.
func (a Ask) Until(poll *engine.Poll) Ask {
	a.Setup.poll = poll
	return a
}

// Estimate plays the setup.
func (a Ask) Estimate() (*Estimate, error) { return a.answer(engine.NoLimit) }

// probed is the limit of an answer without the allocator's part: what is reserved is then
// what no allocator does without, and what does not fit by that does not fit.
const probed engine.Bytes = 0

// enough returns the limit up to which the allocator's part can make a difference: beyond it
// nothing fits.
func (a Ask) enough() engine.Bytes {
	return engine.Bytes(engine.Int64(float64(a.Card.Memory-a.Context) / (1 - uncertain)))
}

// answer plays the setup, without the allocator's part of what needs more than the limit. What
// was answered before, with that part or within the limit, is not played again: another card
// changes what fits and how long it takes, and nothing else.
func (a Ask) answer(limit engine.Bytes) (*Estimate, error) {
	key := fmt.Sprint(a.Args, a.order) // in the order of names
	old := a.known[key]
	switch {
	case old == nil || !old.replayed && old.Pools <= limit:
	case !a.altered:
		return old, nil
	case old.Ranks == nil:
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

// played is answer, which ends at an error: of one rank, which stands for all, or of every rank of a pipeline.
func (a Ask) played(limit engine.Bytes) *Estimate {
	a.Setup.Workspace = a.Card.Workspace
	if need := orOne(a.Setup.Shard) * orOne(a.Setup.Tensor) * orOne(a.Setup.Stages); a.GPUs < need {
		refuse("states over %d ranks, products over %d and a pipeline of %d need %d cards; there are %d",
			orOne(a.Setup.Shard), orOne(a.Setup.Tensor), orOne(a.Setup.Stages), need, a.GPUs)
	}
	a.Card.check(&a.Setup)
	if a.Setup.Schedule != "" {
		return a.ordered(limit)
	}
	r := runUpTo(a.Setup, limit)
	return a.reserves(r, r.program.stepTime(a.Card))
}

// reserves returns the answer about what was played: what an allocator reserves for it, beside
// the context, and whether that fits.
func (a Ask) reserves(r *Result, t time.Duration) *Estimate {
	r.program = nil
	out := &Estimate{Result: r, States: r.states,
		Low: min(r.Reserved, r.Expandable), High: max(r.Reserved, r.Expandable),
		Capacity: a.Card.Memory - a.Context, Time: t}
	if a.Setup.Model.MoE != nil {
		out.Low = engine.Bytes(engine.Int64(float64(out.Low) * (1 - moeAbove)))
		out.High = engine.Bytes(engine.Int64(float64(out.High) / (1 - moeBelow)))
	}
	out.Verdict = Uncertain
	switch room := float64(out.Capacity); {
	case float64(out.High)*(1+uncertain) <= room:
		out.Verdict = Fits
	case float64(out.Low)*(1-uncertain) > room:
		out.Verdict = FitsNot
	}
	return out
}

// onRanks returns the answer about a pipeline that was played: that of the fullest rank.
func (a Ask) onRanks(ranks *Ranks) *Estimate {
	r := *ranks.List[ranks.Full].Result
	for i := range ranks.List {
		r.states = max(r.states, ranks.List[i].states)
	}
	out := a.reserves(&r, ranks.Time)
	out.Ranks = ranks
	return out
}

// states returns the bytes of the program's states.
func (p *program) states() (n engine.Bytes) {
	s := p.s
	for w := range p.weights() {
		n += s.weightBytes(w)
		if w.trained {
			n += s.stays(s.stateBytes(w))
		}
	}
	for _, r := range p.swaps {
		n -= engine.Bytes(r.n) * p.swapBytes(p.units[r.first])
	}
	return n + p.gradients()
}

// gradients returns the bytes of all stored gradients.
func (p *program) gradients() (n engine.Bytes) {
	for w := range p.weights() {
		if w.trained {
			n += p.s.at(w, 2, p.s.storedBytes(w, p.s.Grad))
		}
	}
	return n
}
