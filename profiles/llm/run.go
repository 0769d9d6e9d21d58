package llm

import (
	"memtide/engine"
	"memtide/engine/caching"
	"memtide/profiles"
)

// Part is one line of a stacked peak.
type Part struct {
	Class Class
	Bytes engine.Bytes
}

// Result is what some steps of a setup take on the fullest rank.
type Result struct {
	Allocated engine.Bytes // the most that lives at a moment
	Phase     Phase        // of that moment
	Parts     []Part       // what lives then, without empty classes
	Phases    [numPhases]engine.Bytes

	Host engine.Bytes // the most that waits in host memory: blocks, activations, the optimizer's states

	replayed   bool         // Reserved and Expandable are the allocator's
	states     engine.Bytes // weights, masters, gradients and moments
	program    *program     // that was played, with nothing of the play; nil once it is answered
	phaseParts [numPhases][numClasses]engine.Bytes

	Reserved   engine.Bytes // by the caching allocator, a pool for each stream
	Pools      engine.Bytes // the sum over pools of their own peaks: no allocator reserves less
	Expandable engine.Bytes // with expandable segments: pools rounded up to 2 MiB
	Loaded     engine.Bytes // what is there before the first step
	Stage      int64        // the fullest pipeline stage, counted from 0
}

// PartsOf returns what lives at the peak of a phase, without empty classes.
func (r *Result) PartsOf(p Phase) (out []Part) {
	for c, n := range r.phaseParts[p] {
		if n > 0 {
			out = append(out, Part{Class(c), n})
		}
	}
	return out
}

// most returns what is reserved in the worse case.
func (r *Result) most() engine.Bytes { return max(r.Reserved, r.Expandable) }

// bound says what is reserved on a card of so much memory. At its capacity the allocator
// returns wholly free segments before it fails, so that a run that works reserves no more.
func (r *Result) bound(memory engine.Bytes) {
	if r.Pools <= memory {
		r.Reserved, r.Expandable = min(r.Reserved, memory), min(r.Expandable, memory)
	}
}

// Steps that are played: a first one without moments and a second one with them, which is
// like all others, and for the allocator's state to settle one more.
const (
	steps    = 2
	settling = 1
)

// Run plays a setup.
func Run(s Setup) (*Result, error) {
	return profiles.Try(func() *Result { return runUpTo(s, engine.NoLimit) })
}

// runUpTo plays a setup, but replays no allocator for what cannot be reserved within a
// limit: then Reserved and Expandable are what no allocator does without.
func runUpTo(s Setup, limit engine.Bytes) *Result {
	s = s.normal()
	if s.Schedule != "" {
		ranks := s.ranks(nil, limit)
		return ranks.List[ranks.Full].Result
	}
	if s.Stages == 1 {
		return runStage(&s, s.end(true, true), limit)
	}
	head := s
	head.InFlight = 1
	first, last := runStage(&s, s.end(true, false), limit), runStage(&head, s.end(false, true), limit)
	if last.Allocated > first.Allocated {
		last.Stage = s.Stages - 1
		return last
	}
	return first
}

func runStage(s *Setup, of share, limit engine.Bytes) *Result {
	s.checkHeld([]int64{s.InFlight * int64(len(of.layers))})
	p := newProgram(s, of)
	return p.result(p.step, limit)
}

// result loads the states and runs steps of a program: a first one without moments, and
// others.
func (p *program) result(step func(), limit engine.Bytes) *Result {
	if p.s.tally != nil {
		p.s.tally.plays++
	}
	p.ledger = ledgers.Get().(*ledger)
	defer func() {
		p.ledger.reuse()
		p.ledger = nil
	}()
	p.loads()
	for range steps {
		step()
	}
	r := &Result{Allocated: p.peak, Phase: p.peakPhase, Phases: p.phasePeaks, phaseParts: p.phaseParts,
		Loaded: p.phasePeaks[Load], states: p.states(), Host: p.mostHost, program: p}
	r.Parts = r.PartsOf(r.Phase)
	for _, n := range p.poolPeaks {
		r.Pools += n
	}
	if r.Reserved, r.Expandable = r.Pools, r.Pools; r.Pools <= limit {
		if p.s.tally != nil {
			p.s.tally.replays++
		}
		r.replayed = true
		for range settling {
			step()
		}
		r.Reserved, r.Expandable = p.replay(caching.Rules{}, p.s.poll),
			p.replay(caching.Rules{Expandable: true}, p.s.poll)
	}
	return r
}

// tally counts what a question has played, for tests; nil counts nothing.
type tally struct {
	plays   int // of steps on one rank
	replays int // of those, through the allocator
}
