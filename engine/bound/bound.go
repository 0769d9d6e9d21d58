// Package bound computes lower bounds on the step time of any schedule of a problem. Unlike the rest of the engine
// it rounds DOWN, because a bound that rounded up would claim more than is proven.
//
// The package shares no code with the strategies and the simulator, whose results are compared with its bounds.
package bound

import (
	"cmp"
	"math"
	"slices"
	"time"

	"memtide/engine"
)

// Names of the bounds, for people.
const (
	NameCompute = "compute time"
	NameLB      = "transfer volume (Beaumont et al. 2020, Prop. 3)"
	NameRelax   = "fractional relaxation (Beaumont et al. 2020, Thm. 2)"
)

// Of returns the best proven lower bound on the step time of schedules of a class, and the name of the bound for
// people. For all classes this is the sum of the times of the operations. For schedules on chains that only
// offload, it is the largest of this sum, LB and Relax. If the class has no schedule within the budget, every bound
// is true, and Of returns the sum or LB.
func Of(p *engine.Problem, class engine.Class) (time.Duration, string) {
	best, name := compute(p.Graph), NameCompute
	if class != engine.MayOffload || p.Chain == nil {
		return best, name
	}
	s := newStep(p, best)
	if v, ok := s.transferBound(p); ok && v > best {
		best, name = v, NameLB
	}
	// Relax is never below LB by more than the rounding. If both are equal, Relax is named.
	if v, ok := s.relaxation(p); ok && v >= best && name != NameCompute || ok && v > best {
		best, name = v, NameRelax
	}
	return best, name
}

// compute returns the sum of the times of the operations that every schedule runs at least once, each by its
// fastest algorithm: all operations, or those without which Graph.Done cannot be made.
func compute(g *engine.Graph) (sum time.Duration) {
	if g.Done == engine.NoValue {
		for i := range g.Ops {
			sum += leastTime(&g.Ops[i])
		}
		return sum
	}
	makers := makersOf(g)
	needed := make([]bool, len(g.Ops))
	seen := make([]bool, len(g.Values))
	todo := []engine.ValueID{g.Done}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		// A value that exists already, or that either of two operations can make, requires neither of them.
		if makers[v] < 0 || needed[makers[v]] {
			continue
		}
		op := &g.Ops[makers[v]]
		needed[makers[v]] = true
		sum += leastTime(op)
		todo = append(todo, op.In...)
	}
	return sum
}

// leastTime returns the time of the fastest algorithm of an operation on the compute lane, or 0 for other lanes,
// which work while the device computes.
func leastTime(op *engine.Op) time.Duration {
	if op.Lane != engine.LaneCompute {
		return 0
	}
	if op.Alt != nil {
		return min(op.Time, op.Alt.Time)
	}
	return op.Time
}

// several is the id in makersOf for more than one operation.
const several = engine.NoOp - 1

// makersOf returns for every value the only operation that can make it, or make a value that contains it. It is
// NoOp if no operation can, and several if more than one can or the value exists when the step begins.
func makersOf(g *engine.Graph) []engine.OpID {
	makers := slices.Repeat([]engine.OpID{engine.NoOp}, len(g.Values))
	for v := range g.Values {
		if g.Values[v].Initial != 0 {
			makers[v] = several
		}
	}
	for i := range g.Ops {
		for _, v := range slices.Concat(g.Ops[i].Out, g.Ops[i].OutputOnly) {
			noteMaker(makers, v, engine.OpID(i))
		}
	}
	own := slices.Clone(makers)
	for v := range g.Values {
		if w := g.Values[v].PartOf; w != engine.NoValue && own[w] != engine.NoOp {
			noteMaker(makers, engine.ValueID(v), own[w])
		}
	}
	return makers
}

func noteMaker(makers []engine.OpID, v engine.ValueID, op engine.OpID) {
	if makers[v] == engine.NoOp {
		makers[v] = op
	} else if makers[v] != op {
		makers[v] = several
	}
}

// LB is Proposition 3 of paper 000 (Beaumont et al., "Optimal GPU-CPU Offloading Strategies for Deep Neural Network
// Training", doi 10.1007/978-3-030-57675-2_10): the sum of all times, or the time to move the bytes that exceed the
// budget at the peak to the host and back, whichever is more. It holds for schedules on a chain that run every
// operation once. ok is false if the problem is not a chain, or if something has to move and there is no link.
//
// It holds on a full-duplex link too. The bytes that are missing on the device at the peak have left before the
// peak and come back after it, so the two directions do not overlap for these bytes.
func LB(p *engine.Problem) (lb time.Duration, ok bool) {
	if p.Chain == nil {
		return 0, false
	}
	return newStep(p, compute(p.Graph)).transferBound(p)
}

func (s *step) transferBound(p *engine.Problem) (lb time.Duration, ok bool) {
	if s.excess <= 0 {
		return s.compute, true
	}
	if !s.countable(p.Device) {
		return 0, false
	}
	out, back := flows(p, 1)
	out.add(0, s.excess)
	back.add(0, s.excess)
	return max(s.compute, out.passed(s.excess)+back.missing(s.excess)), true
}

// Relax returns the fractional relaxation of Theorem 2 of paper 000: the step time of the schedule that moves just
// the excess, any part of a value at a time, the first values first. ok is false if the problem is not a chain, if
// something has to move and there is no link, or if the budget is too small for any schedule.
//
// It is a lower bound for every schedule on a chain that runs each operation once, in any order, on either kind of
// link, with different rates in the two directions. Let H(t) be the bytes that have a copy on the host at t, and G(t)
// the bytes that arrive in a fetch that ends after t. At most H(t) and at most G(t) bytes are missing on the device at
// t. H grows at most with the rate of the link, and x_j can be copied once F_{j-1} has ended. Moving the first values
// first makes H as large as possible at every time. So F_i cannot end before e_i, and B_i cannot begin before H covers
// its excess. The mirror image holds for G in reversed time. The four terms of the result follow one by one. None of
// them compares the two directions at the same time, hence the link's duplex does not matter. This also corrects the
// paper's proof of its Lemma 1, which relabels transfers and fails when a prefetch precedes an offload.
//
// Where no backward reads a^i, F_i and B_i do not need x_i. It may have left before F_i ends, and may come back
// while B_i runs. It counts as copied from the end of F_{i-1} on, and in reversed time from the end of B_{i-1} on.
//
// The paper has no gradient of the loss. Where a chain holds one when the step begins (see
// engine.Chain.LossGradAllocated), it may be moved like the other values: away from the start of the step on, and
// back for the first backward operation.
func Relax(p *engine.Problem) (relax time.Duration, ok bool) {
	if p.Chain == nil {
		return 0, false
	}
	return newStep(p, compute(p.Graph)).relaxation(p)
}

func (s *step) relaxation(p *engine.Problem) (relax time.Duration, ok bool) {
	if s.excess <= 0 {
		return s.compute, true
	}
	if !s.countable(p.Device) {
		return 0, false
	}
	n := len(s.overF)
	out, back := flows(p, n+1)
	ends, ok := out.forward(s)
	if !ok {
		return 0, false
	}
	rends, ok := back.backward(s)
	if !ok {
		return 0, false
	}
	relax = max(ends[n-1]+rends[n-1], out.passed(s.excess)+back.missing(s.excess))
	for i := range n {
		if s.overF[i] > 0 {
			relax = max(relax, ends[i]+back.missing(s.overF[i]))
		}
		if s.overB[i] > 0 {
			relax = max(relax, rends[i]+out.passed(s.overB[i]))
		}
	}
	return relax, true
}

// step is a training step as paper 000 sees it: operations F_i and B_i for i = 0..n-1 (stage i+1), and x_0 = a^0,
// x_i = abar^i.
type step struct {
	size         []engine.Bytes // [|x_i|], i = 0..n-1: the values that may be moved
	idle         []bool         // neither F_i nor B_i needs x_i
	seed         engine.Bytes   // gradient of the last output, if it exists when the step begins
	overF, overB []engine.Bytes // [m_F - M, m_B - M] the bytes above the budget if nothing moves
	timeF, timeB []time.Duration
	excess       engine.Bytes // [Mpeak - M]
	compute      time.Duration
}

// newStep returns the step of a problem on a chain. compute is the sum of its times.
func newStep(p *engine.Problem, compute time.Duration) *step {
	c := p.Chain.Chain
	n := c.Len()
	bytes, times := make([]engine.Bytes, 3*n), make([]time.Duration, 2*n)
	s := &step{seed: c.HeldGrad(n), excess: math.MinInt64, compute: compute,
		idle: make([]bool, n), size: bytes[:n], overF: bytes[n : 2*n], overB: bytes[2*n:], timeF: times[:n],
		timeB: times[n:]}
	held, room := c.Input, p.Room()
	for i := range n {
		st := least(c.Stages[i])
		s.size[i] = c.Input
		if i > 0 {
			s.size[i], s.idle[i] = c.Saved(i), c.Unsaved(i)
		}
		held += st.Saved
		// Only the next forward reads an output that no backward reads. It is on the device while either forward
		// runs, so that moving it would not help.
		s.overF[i] = held + st.FwdTemp + c.Beside(i) + c.Beside(i+1) + s.seed - room
		s.overB[i] = held + st.BwdTemp + c.Grad(i) + c.Grad(i+1) - room
		s.excess = max(s.excess, s.overF[i], s.overB[i])
		s.timeF[i], s.timeB[i] = st.Forward, st.Back
	}
	return s
}

// least returns a stage with the least time and workspace of its two algorithms.
func least(st engine.Stage) engine.Stage {
	if f := st.Fast; f != nil {
		st.Forward, st.Back = min(st.Forward, f.Forward), min(st.Back, f.Back)
		st.FwdTemp, st.BwdTemp = min(st.FwdTemp, f.FwdTemp), min(st.BwdTemp, f.BwdTemp)
	}
	return st
}

// countable reports whether there is a link, and all sums of times stay within int64.
func (s *step) countable(d engine.Device) bool {
	if d.ToHost <= 0 || d.ToDev <= 0 {
		return false
	}
	bytes := float64(s.seed)
	for _, x := range s.size {
		bytes += float64(x)
	}
	return float64(s.compute)+1e9*bytes*(1/float64(d.ToHost)+1/float64(d.ToDev)) < 1<<61
}

// flow is one direction of the link, which moves bytes in order as soon as they exist. A busy period begins at
// whole nanoseconds and is exact to the byte. Only the times that are read from it are rounded, down.
type flow struct {
	rate     engine.Rate
	streamed bool
	runs     []run
}

// flows returns the flows of the two directions, with capacity for a number of values.
func flows(p *engine.Problem, values int) (out, back flow) {
	streamed := p.Transfers == engine.Streamed
	return flow{p.Device.ToHost, streamed, make([]run, 0, values)},
		flow{p.Device.ToDev, streamed, make([]run, 0, values)}
}

// run is a value on the link.
type run struct {
	from time.Duration // when the busy period of the link began
	base engine.Bytes  // the bytes that had passed before from
	sum  engine.Bytes  // the bytes that have passed when the value has
}

// add appends size bytes that exist from the time at on.
func (f *flow) add(at time.Duration, size engine.Bytes) {
	if size == 0 {
		return
	}
	r := run{from: at, sum: size}
	if k := len(f.runs); k > 0 {
		last := f.runs[k-1]
		r.base, r.sum = last.sum, last.sum+size
		if at <= last.from+floorTime(f.rate, last.sum-last.base) { // before the last value has passed
			r.from, r.base = last.from, last.base
		}
	}
	f.runs = append(f.runs, r)
}

// total returns the sum of the bytes added.
func (f *flow) total() engine.Bytes {
	if len(f.runs) == 0 {
		return 0
	}
	return f.runs[len(f.runs)-1].sum
}

// at returns the run with the v-th byte; v must be from 1 to total.
func (f *flow) at(v engine.Bytes) run {
	k, _ := slices.BinarySearchFunc(f.runs, v, func(r run, v engine.Bytes) int { return cmp.Compare(r.sum, v) })
	return f.runs[k]
}

// passed returns when the first v bytes have passed.
func (f *flow) passed(v engine.Bytes) time.Duration {
	r := f.at(v)
	return r.from + floorTime(f.rate, v-r.base)
}

// missing returns when v bytes of fetches can be missing on the device, in reversed time. This is when they have
// passed. But a streamed fetch takes room for a byte when the whole byte has arrived, so the v-th byte is missing
// as soon as a part of it is: at the first nanosecond after the other v-1 have passed.
func (f *flow) missing(v engine.Bytes) time.Duration {
	if !f.streamed {
		return f.passed(v)
	}
	r := f.at(v)
	return r.from + floorTime(f.rate, v-1-r.base) + 1
}

// forward fills the flow in the forward pass. ends are the earliest ends of F_i. ok is false if the budget is too
// small.
func (f *flow) forward(s *step) (ends []time.Duration, ok bool) {
	f.add(0, s.seed)
	var at time.Duration
	ends = make([]time.Duration, len(s.overF))
	for i := range s.overF {
		made := at // x_i exists from here on, while F_i may still wait for room
		if s.idle[i] {
			f.add(made, s.size[i])
		}
		if over := s.overF[i]; over > 0 {
			if over > f.total() {
				return nil, false
			}
			at = max(at, f.passed(over))
		}
		at += s.timeF[i]
		ends[i] = at
		if !s.idle[i] {
			f.add(made, s.size[i])
		}
	}
	return ends, true
}

// backward fills the flow in the backward pass in reversed time: B_0 comes first, and x_i may be moved from the
// reversed end of B_i on, which is the start of B_i.
func (f *flow) backward(s *step) (ends []time.Duration, ok bool) {
	var at time.Duration
	ends = make([]time.Duration, len(s.overB))
	for i := range s.overB {
		if over := s.overB[i]; over > 0 {
			if over > f.total() {
				return nil, false
			}
			at = max(at, f.missing(over))
		}
		at += s.timeB[i]
		ends[i] = at
		if !s.idle[i] {
			f.add(at, s.size[i])
		}
		if i+1 < len(s.size) && s.idle[i+1] {
			f.add(at, s.size[i+1])
		}
	}
	f.add(at, s.seed)
	return ends, true
}

// floorTime returns how long v bytes take at rate r, rounded down.
func floorTime(r engine.Rate, v engine.Bytes) time.Duration {
	return time.Duration(engine.MulDiv(int64(v), int64(time.Second), int64(r)))
}
