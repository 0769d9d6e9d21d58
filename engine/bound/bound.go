// Package bound computes lower bounds on the step time of any schedule of a problem. Unlike the rest of the engine
// it rounds DOWN, because a bound that rounded up would claim more than is proven.
//
// The package shares no code with the strategies and the simulator, whose results are compared with its bounds.
package bound

import (
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
