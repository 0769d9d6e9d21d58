package combined

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// earlierRounds are how many times fetches are moved: when runs wait less, later ones read sooner.
const earlierRounds = 8

// Earlier returns a schedule in which fetches begin as soon as there is room for what they bring, if the
// step is faster for it; otherwise the solution itself. With apart, none begins before the
// first forward pass and all offloads are over. It is for plans that place fetches as
// late as they are expected to be needed, and are played with other waits than they expect.
func Earlier(p *engine.Problem, sol *engine.Solution, apart bool, poll *engine.Poll) *engine.Solution {
	trace, err := sim.Play(p, sol.Schedule)
	for range earlierRounds {
		if err != nil || trace.Waiting[sim.NeedsData] == 0 || poll.Err() != nil {
			break
		}
		steps := newHurry(p, sol.Schedule, trace, apart).schedule()
		faster, refused := sim.Play(p, steps)
		if refused != nil || faster.Makespan >= trace.Makespan {
			break
		}
		better := *sol
		better.Schedule, better.Makespan, better.Peak = steps, faster.Makespan, faster.Peak
		if apart { // the schedule may have left the set with passes apart, which the claims are about
			better.Optimal, better.Bound, better.OptimalAmong = false, 0, ""
		}
		better.Optimal = better.Bound > 0 && better.Makespan <= better.Bound
		better.Bound = min(better.Bound, better.Makespan)
		sol, trace = &better, faster
	}
	return sol
}

// hurry moves the fetches of a schedule as it was played.
type hurry struct {
	p     *engine.Problem
	steps engine.Schedule
	spans []*sim.Span   // of every step that takes time
	used  []stretch     // of device memory
	from  time.Duration // no fetch begins before it
}

// stretch is a time in which at most so much memory is in use.
type stretch struct {
	start, end time.Duration
	used       engine.Bytes
}

func newHurry(p *engine.Problem, steps engine.Schedule, trace *sim.Trace, apart bool) *hurry {
	h := &hurry{p: p, steps: steps, spans: make([]*sim.Span, len(steps))}
	for i := range trace.Spans {
		sp := &trace.Spans[i]
		h.spans[sp.Step] = sp
		if apart && (sp.Kind == sim.SpanForward || sp.Kind == sim.SpanOffload) {
			h.from = max(h.from, sp.End)
		}
	}
	for k := 1; k < len(trace.Memory); k++ {
		a, b := &trace.Memory[k-1], &trace.Memory[k]
		if a.At < b.At {
			h.used = append(h.used, stretch{a.At, b.At, max(a.Total(), b.Total())})
		}
	}
	return h
}

// schedule returns the schedule with its fetches where there is room for them.
func (h *hurry) schedule() engine.Schedule {
	sooner := make([][]engine.Step, len(h.steps)) // fetches that stand before a step
	moved := make([]bool, len(h.steps))
	var free [2]time.Duration // when a lane is, after what is queued so far
	for i, st := range h.steps {
		sp := h.spans[i]
		if st.Kind != engine.StepOffload && st.Kind != engine.StepFetch || sp == nil {
			continue
		}
		lane := &free[0]
		if st.Kind == engine.StepFetch && h.p.Device.Duplex == engine.FullDuplex {
			lane = &free[1]
		}
		end := sp.End
		if st.Kind == engine.StepFetch {
			after := h.before(i)
			begin := h.earliest(sp, max(*lane, h.from, h.copied(i)))
			if at := max(h.at(begin), after); begin < sp.Start && at <= i {
				moved[i], end = true, begin+sp.End-sp.Start
				sooner[at] = append(sooner[at], engine.Fetch(st.Value, begin))
				h.reserve(begin, sp.Start, h.p.Graph.Values[st.Value].Size)
			}
		}
		*lane = max(*lane, end)
	}
	steps := make(engine.Schedule, 0, len(h.steps))
	for i, st := range h.steps {
		steps = append(steps, sooner[i]...)
		if !moved[i] {
			steps = append(steps, st)
		}
	}
	return steps
}

// earliest returns when a fetch can begin, no sooner than from: as long as there is room for it
// up to where it begins now.
func (h *hurry) earliest(sp *sim.Span, from time.Duration) time.Duration {
	begin, size := sp.Start, h.p.Graph.Values[sp.Value].Size
	for k := len(h.used) - 1; k >= 0 && h.used[k].end > from; k-- {
		if s := &h.used[k]; s.start < sp.Start {
			if s.used+size > h.p.Budget {
				break
			}
			begin = max(s.start, from)
		}
	}
	return min(begin, sp.Start)
}

// reserve takes room from one moment to another.
func (h *hurry) reserve(from, to time.Duration, size engine.Bytes) {
	var cut []stretch
	for _, s := range h.used {
		for _, at := range [...]time.Duration{from, to} {
			if s.start < at && at < s.end {
				cut = append(cut, stretch{s.start, at, s.used})
				s.start = at
			}
		}
		cut = append(cut, s)
	}
	h.used = cut
	for k := range h.used {
		if s := &h.used[k]; s.start >= from && s.end <= to {
			s.used += size
		}
	}
}

// before returns the first step before which the fetch of step i can stand: after all others
// that read, make, move or free its value, or one that has to do with it.
func (h *hurry) before(i int) int {
	g := h.p.Graph
	whole := func(v engine.ValueID) engine.ValueID {
		for g.Values[v].PartOf != engine.NoValue {
			v = g.Values[v].PartOf
		}
		return v
	}
	own := whole(h.steps[i].Value)
	same := func(v engine.ValueID) bool { return whole(v) == own }
	for j := i - 1; j >= 0; j-- {
		st := &h.steps[j]
		if st.Kind != engine.StepRun {
			if same(st.Value) {
				return j + 1
			}
			continue
		}
		op := &g.Ops[st.Op]
		if slices.ContainsFunc(op.In, same) || slices.ContainsFunc(op.Out, same) ||
			slices.ContainsFunc(op.OutputOnly, same) {
			return j + 1
		}
	}
	return 0
}

// copied returns when the host has the value that step i fetches.
func (h *hurry) copied(i int) (end time.Duration) {
	for j, st := range h.steps[:i] {
		if st.Kind == engine.StepOffload && st.Value == h.steps[i].Value && h.spans[j] != nil {
			end = h.spans[j].End
		}
	}
	return end
}

// at returns the step of the first run that is not over at a moment.
func (h *hurry) at(moment time.Duration) int {
	for i, st := range h.steps {
		if st.Kind == engine.StepRun && h.spans[i].End > moment {
			return i
		}
	}
	return len(h.steps)
}
