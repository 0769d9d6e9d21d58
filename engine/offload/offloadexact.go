package offload

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

func init() { engine.Register(offloadExact) }

var offloadExact = &engine.Strategy{
	Name:  "offloadexact",
	Title: "Best order of transfers",
	Doc: `Finds the fastest schedule of whole transfers on a small chain, in whatever order they come.

Paper 000 looks only at schedules in which all offloads come before all fetches,
because of its Lemma 3: that every schedule can be put into that order without
loss. The lemma is false. On a chain of five operations (uF = 3, 1, 3, 10, 0, no
backward times, x = 3, 0, 0, 10, 0, 0, extra memory of 13 in F_1 and 10 in F_4,
budget 13, one byte per unit of time) the best ordered schedule takes 30; 27 are
possible if x_0 is fetched before x_3 is offloaded.

This method tries every order: a best-first search over what has run, where each
activation is, and what is under way. Each activation is offloaded at most once,
and transfers are not interrupted. It starts from the best ordered schedule and
looks only at what can still be faster. Other methods are there for chains of
realistic length.`,
	Class: engine.MayOffload,
	Cites: []engine.Cite{paper000("2 (Problem 1) and 3.2 (Lemma 3)")},
	Solve: solveOffloadExact,
}

// The size of what is searched: the states of a chain grow with three to the
// power of its length. A state takes about 200 bytes.
const (
	maxExactStages = 12
	maxExactStates = 250_000
)

const withinExact = "schedules of whole transfers that offload each activation at most once and do not recompute"

func solveOffloadExact(p *engine.Problem, args engine.Args, poll *engine.Poll) (*engine.Solution, error) {
	if err := poll.Err(); err != nil {
		return nil, err
	}
	s, err := linked(p)
	if err != nil {
		return nil, err
	}
	if s.peak() > p.Budget {
		switch {
		case s.streamed:
			return nil, fmt.Errorf("%w: it looks for the best order of whole transfers, and these are streamed", engine.ErrUnsupported)
		case s.n > maxExactStages:
			return nil, fmt.Errorf("%w: the network has %s; every order of transfers is tried for %d stages at most", engine.ErrUnsupported, p.Chain.Chain.Describe(), maxExactStages)
		}
	}
	if s, _, err = begin("offloadexact", p, args, poll); err != nil {
		return nil, err
	}
	if s.peak() <= p.Budget {
		return s.mustPlan(make([]bool, s.n)).solution().Solution, nil
	}
	ordered := bestSet(s, 1, 10_000, poll)
	sol := s.mustPlan(ordered.set).solution()
	if sol.Optimal || poll.Err() != nil {
		return sol.Solution, poll.Err()
	}
	e := newExact(s, sol.Makespan, poll)
	found := e.run()
	if found != nil {
		note := fmt.Sprintf("The best ordered schedule takes %v: this one fetches before the last offload.", short(sol.Makespan))
		sol.Schedule, sol.Makespan, sol.Peak = found.schedule(), found.makespan, found.peak()
		sol.Notes = []string{fmt.Sprintf("Offloads %d of %d activations.", found.offloads(), s.n), note}
	} else if e.done() {
		sol.Notes = append(sol.Notes, "No order of transfers is faster than all offloads before all fetches.")
	}
	sol.Within, sol.Bound = s.among(withinExact), max(sol.Bound, min(sol.Makespan, e.least))
	sol.Optimal = sol.Makespan <= sol.Bound
	if !sol.Optimal && poll.Err() == nil {
		sol.Notes = append(sol.Notes, fmt.Sprintf("The search was stopped after %d states.", maxExactStates))
	}
	return sol.Solution, poll.Err()
}

// events is a schedule by its moments.
type events struct {
	s        *step
	starts   []time.Duration // of the operations, F_0..F_{n-1}, B_{n-1}..B_0
	held     []bool          // the operation could have started earlier, and waits on purpose
	moves    []event         // by their starts
	makespan time.Duration
}

// event is one transfer.
type event struct {
	item       int
	back       bool
	start, end time.Duration
}

func (ev *events) end(k int) time.Duration { return ev.starts[k] + ev.s.lasts(k) }

// lasts is how long operation k takes, k = 0..2n-1.
func (s *step) lasts(k int) time.Duration {
	if k < s.n {
		return s.timeF[k]
	}
	return s.timeB[2*s.n-1-k]
}

// need is what operation k needs if nothing is offloaded.
func (s *step) need(k int) engine.Bytes {
	if k < s.n {
		return s.needF[k]
	}
	return s.needB[2*s.n-1-k]
}

// before is what is held before operation k starts if nothing is offloaded.
func (s *step) before(k int) engine.Bytes {
	c := s.p.Chain.Chain
	if k < s.n {
		st := &c.Stages[k]
		return s.needF[k] - st.Saved - st.FwdTemp - c.Beside(k+1)
	}
	i := 2*s.n - 1 - k
	held := s.needB[i] - c.Stages[i].BwdTemp - c.Grad(i)
	if i == s.n-1 {
		held += c.HeldGrad(s.n) - c.Grad(s.n)
	}
	return held
}

func (ev *events) offloads() (count int) {
	for _, m := range ev.moves {
		if !m.back {
			count++
		}
	}
	return count
}

// schedule writes the events down. What starts while operation k runs, or after
// the one before it has ended, is queued before it. An operation that waits on
// purpose is held back by the transfer at whose end it starts.
func (ev *events) schedule() engine.Schedule {
	g, n := ev.s.p.Chain, ev.s.n
	var sched engine.Schedule
	next := 0
	queue := func(until time.Duration, k int) (own bool) {
		for ; next < len(ev.moves) && ev.moves[next].start < until; next++ {
			m := &ev.moves[next]
			v := item(g, m.item)
			if m.back {
				sched = append(sched, engine.Fetch(v, m.start))
				continue
			}
			out := engine.Offload(v)
			out.NotBefore = m.start
			sched = append(sched, out)
			if m.item == k {
				own = true // F_k still reads it
			} else {
				sched = append(sched, engine.Free(v))
			}
		}
		return own
	}
	for k := range 2 * n {
		own := false
		if ev.held[k] {
			own = queue(ev.starts[k], k)
			sched = append(sched, engine.Wait(ev.endsAt(ev.starts[k])))
		}
		own = queue(ev.end(k), k) || own
		if k < n {
			sched = append(sched, engine.Run(g.Fwd(k+1)))
			if own {
				sched = append(sched, engine.Free(item(g, k)))
			}
			sched = letGo(sched, g, k)
			continue
		}
		i := 2*n - k
		if ev.moved(i - 1) {
			sched = holdFor(sched, g, i-1)
		}
		sched = append(sched, engine.Run(g.Bwd(i)), engine.Free(g.Grad(i)), engine.Free(g.Saved(i)))
	}
	return append(sched, engine.Free(g.Act(0)))
}

// moved says whether x_i is offloaded.
func (ev *events) moved(i int) bool {
	return slices.ContainsFunc(ev.moves, func(m event) bool { return m.item == i })
}

// endsAt is the value whose transfer ends at a moment.
func (ev *events) endsAt(at time.Duration) engine.ValueID {
	for _, m := range ev.moves {
		if m.end == at {
			return item(ev.s.p.Chain, m.item)
		}
	}
	panic(fmt.Sprintf("offload: no transfer ends at %d, where an operation is to start", at))
}

// peak is the largest amount in use after an operation or a fetch has started.
func (ev *events) peak() (peak engine.Bytes) {
	for k := range ev.starts {
		peak = max(peak, ev.s.need(k)-ev.away(ev.starts[k], false))
	}
	for _, m := range ev.moves {
		if !m.back {
			continue
		}
		held, k := engine.Bytes(0), 0
		for k < len(ev.starts) && ev.end(k) <= m.start {
			k++
		}
		if held = ev.s.before(k); ev.starts[k] <= m.start {
			held = ev.s.need(k)
		}
		peak = max(peak, held-ev.away(m.start, true))
	}
	return peak
}

// away is what is not on the device at a moment, just before or after what is
// fetched from then on takes its room.
func (ev *events) away(at time.Duration, after bool) (sum engine.Bytes) {
	for _, m := range ev.moves {
		size := ev.s.size[m.item]
		switch {
		case !m.back && max(m.end, ev.end(m.item)) <= at:
			sum += size
		case m.back && (m.start < at || after && m.start == at):
			sum -= size
		}
	}
	return sum
}
