package play

import (
	"errors"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/remat"
)

// plays is the number of plans that Find plays.
const plays = 4500

// Query says which plan Find looks for.
type Query struct {
	Class    Class        // the class of plans to search
	Strategy string       // the strategy whose schedule of the chain becomes the plan; empty: search
	Limit    engine.Bytes // of the peak, in addition to the memory in use before the step
	Link     engine.Rate  // of copies to the host and back
}

// Found is a plan.
type Found struct {
	Segments []*Segment
	Class    Class
	Result   Result
	// Solution is the strategy's solution, and Best the fastest solution of all that recompute, if it is known.
	// Both are nil after a search.
	Solution, Best *engine.Solution
}

// finder is the state of Find.
type finder struct {
	Query
	chain  *engine.Chain // derived from the trace
	player *Player
	trace  *Trace
	poll   *engine.Poll
}

// Find returns a plan for a trace t, its player p and the chain c that is derived from it. It sets p.Link. The
// error is an *engine.InfeasibleError, an error of the strategy, or the error of poll. The InfeasibleError has the
// smallest peak of all plans played, or 0; a search then also returns the plan with this peak.
func Find(c *engine.Chain, t *Trace, p *Player, q Query, poll *engine.Poll) (*Found, error) {
	p.Link = q.Link
	f := &finder{q, c, p, t, poll}
	if q.Strategy != "" {
		return f.convert()
	}
	segments, got, err := p.Solve(q.Class, q.Limit, plays, f.startPlans(), poll)
	if err != nil {
		return &Found{Segments: segments, Class: q.Class, Result: got}, err
	}
	if q.Class == ClassOffload {
		segments, got = f.fetchEarly(segments, got)
	}
	return &Found{Segments: segments, Class: q.Class, Result: got}, nil
}

// fetchEarly returns segments that fetch values from the host one segment early wherever the limit has room for it,
// so that the copies may run while operators run.
func (f *finder) fetchEarly(segments []*Segment, got Result) ([]*Segment, Result) {
	segments, first := slices.Clone(segments), true
	for i, s := range segments {
		if s.Do != DoOffload && s.Input != DoOffload {
			continue
		}
		if !first {
			with := *s
			with.Prefetch, segments[i] = 1, &with
			if r := f.player.Play(segments); r.Peak <= f.Limit {
				got = r
			} else {
				segments[i] = s
			}
		}
		first = false
	}
	return segments, got
}

// chainBudgets returns the budgets of the chain to try, largest first. Some are below the limit, because a step may
// take a little more than its chain says.
func (f *finder) chainBudgets() (rooms []engine.Bytes) {
	for _, less := range []engine.Bytes{0, f.Limit / 50, f.Limit / 20, f.Limit / 10, f.Limit / 5} {
		rooms = append(rooms, f.Limit-less+f.chain.Input+f.chain.Resident.Total())
	}
	return rooms
}

// startPlans returns plans for the search to start from: those of the chain's optimal schedules of class wrappable
// and, for wider classes, of the strategy rotor.
func (f *finder) startPlans() (all [][]*Segment) {
	for _, room := range f.chainBudgets() {
		runs, err := remat.Runs(f.chain, room, f.poll)
		if err != nil {
			break
		}
		var parts []Part
		for _, r := range runs {
			parts = append(parts, Part{First: r[0], Last: r[1]})
		}
		all = append(all, f.segmentsOf(parts)...)
	}
	if f.Class == ClassUnit || f.Class == ClassWrappable {
		return all
	}
	for _, room := range f.chainBudgets() {
		if parts, _, err := f.parts("rotor", room); err == nil {
			all = append(all, f.segmentsOf(parts)...)
		}
	}
	return all
}

// segmentsOf returns a list with the segments of parts, or nil if they are not a valid plan.
func (f *finder) segmentsOf(parts []Part) [][]*Segment {
	if segments := f.trace.OfStages(f.chain, parts); f.trace.Validate(segments) == nil {
		return [][]*Segment{segments}
	}
	return nil
}

// solve returns the chain with a budget as a problem, and the strategy's solution.
func (f *finder) solve(strategy string, args engine.Args, budget engine.Bytes) (*engine.Problem, *engine.Solution,
	error) {
	s := engine.Lookup(strategy)
	if s == nil {
		return nil, nil, fmt.Errorf("there is no strategy %q", strategy)
	}
	p := engine.NewChainProblem(f.chain, engine.Device{ToHost: f.Link, ToDev: f.Link}, engine.Whole, budget)
	sol, err := s.Solve(p, args, f.poll)
	return p, sol, err
}

// parts returns the strategy's solution for the chain with a budget, and its parts.
func (f *finder) parts(strategy string, budget engine.Bytes) ([]Part, *engine.Solution, error) {
	p, sol, err := f.solve(strategy, nil, budget)
	if err != nil {
		return nil, nil, err
	}
	parts, err := Nested(p, sol.Schedule)
	return parts, sol, err
}

// convert returns the plan of the strategy's schedule for the largest budget of the chain with which the step is
// within the limit.
func (f *finder) convert() (*Found, error) {
	least := engine.NoLimit
	for _, room := range f.chainBudgets() {
		parts, sol, err := f.parts(f.Strategy, room)
		if _, short := errors.AsType[*engine.InfeasibleError](err); short {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Strategy, err)
		}
		for _, segments := range f.segmentsOf(parts) {
			got := f.player.Play(segments)
			least = min(least, got.Peak)
			if got.Peak > f.Limit {
				continue
			}
			class := f.trace.ClassOf(segments)
			if class == ClassOffload {
				segments, got = f.fetchEarly(segments, got)
			}
			return &Found{segments, class, got, sol, f.best(room)}, nil
		}
	}
	if least == engine.NoLimit {
		least = 0
	}
	return nil, &engine.InfeasibleError{Budget: f.Limit, Smallest: least, Why: "by the schedules of " + f.Strategy}
}

// best returns the fastest of all schedules of the chain that recompute, or nil if it is not known.
func (f *finder) best(room engine.Bytes) *engine.Solution {
	_, sol, err := f.solve("nonpersistent", engine.Args{"drop": "yes"}, room)
	if err != nil || !sol.Optimal {
		return nil
	}
	return sol
}
