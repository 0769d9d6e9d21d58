package llm

import (
	"memtide/engine"
	"memtide/engine/caching"
	"memtide/profiles"
)

// Part is one class of a peak.
type Part struct {
	Class Class
	Bytes engine.Bytes
}

// Result is what some steps of a setup need on the fullest rank.
type Result struct {
	Allocated engine.Bytes // peak of allocated memory
	Phase     Phase        // phase of the peak
	Parts     []Part       // bytes by class at the peak, without empty classes
	Phases    [numPhases]engine.Bytes

	Host engine.Bytes // peak of what waits in host memory: blocks, activations, the optimizer's states

	replayed   bool         // whether Reserved and Expandable come from a replay through the allocator
	states     engine.Bytes // weights, masters, gradients and moments
	program    *program     // the program that was played, without its ledger; nil once it is answered
	phaseParts [numPhases][numClasses]engine.Bytes

	Reserved   engine.Bytes // by the caching allocator, with a pool for each stream
	Pools      engine.Bytes // sum of the pools' peaks, a lower bound for every allocator
	Expandable engine.Bytes // with expandable segments: pools rounded up to 2 MiB
	Loaded     engine.Bytes // allocated before the first step
	Stage      int64        // the fullest pipeline stage, counted from 0
}

// PartsOf returns the bytes by class at the peak of a phase, without empty classes.
func (r *Result) PartsOf(p Phase) (out []Part) {
	for c, n := range r.phaseParts[p] {
		if n > 0 {
			out = append(out, Part{Class(c), n})
		}
	}
	return out
}

// most returns the reserved memory in the worse case.
func (r *Result) most() engine.Bytes { return max(r.Reserved, r.Expandable) }

// bound limits reserved memory to the memory of a card, if Pools fits. At its capacity the allocator returns free
// segments before it fails, so that a run that works reserves no more.
func (r *Result) bound(memory engine.Bytes) {
	if r.Pools <= memory {
		r.Reserved, r.Expandable = min(r.Reserved, memory), min(r.Expandable, memory)
	}
}

// Numbers of steps. The first step has no moments yet, and the second one is
// like all others. For the replay, one more step lets the allocator's state settle.
const (
	steps    = 2
	settling = 1
)

// Run plays a setup.
func Run(s Setup) (*Result, error) {
	return profiles.Try(func() *Result { return runUpTo(s, engine.NoLimit) })
}

// runUpTo plays a setup, and skips the replay through the allocator if the setup needs more than limit. Reserved
// and Expandable are then equal to Pools.
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
	r := p.result(p.step, limit)
	if s.Varied && r.replayed {
		r.vary(s, of)
	}
	return r
}

// play loads the states and runs steps.
func (p *program) play(steps int) {
	p.loads()
	for range steps {
		p.step()
	}
}

// result loads the states and runs some steps of a program.
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
		r.Reserved, r.Expandable = p.replay(caching.Rules{}, p.s.room, p.s.poll),
			p.replay(caching.Rules{Expandable: true}, p.s.room, p.s.poll)
	}
	return r
}

// tally counts what a question has played, for tests. A nil tally counts nothing.
type tally struct {
	plays   int // of steps on one rank
	replays int // of these steps through the allocator
}
