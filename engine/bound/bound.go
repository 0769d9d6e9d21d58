// Package bound says how good any schedule of a problem could be: lower bounds
// on the step time. Everything here rounds DOWN, unlike the rest of the engine:
// a bound that rounded up would claim more than is proven.
//
// The package shares no code with the strategies and the simulator that are
// held against it.
package bound

import (
	"time"

	"memtide/engine"
)

// Names of the bounds, for people.
const (
	NameCompute = "compute time"
	NameLB      = "transfer volume (Beaumont et al. 2020, Prop. 3)"
	NameRelax   = "fractional relaxation (Beaumont et al. 2020, Thm. 2)"
)

// Of returns the best proven lower bound on the step time of schedules of a
// class, and its name for people. No schedule beats the sum of all times;
// nothing better is known here for schedules that may recompute. Schedules that
// only offload are held to LB and Relax as well, on chains. If the class has no
// schedule within the budget at all, every bound is true and the sum of all
// times is what comes back, or LB.
func Of(p *engine.Problem, class engine.Class) (time.Duration, string) {
	best, name := compute(p.Graph), NameCompute
	if class != engine.MayOffload || p.Chain == nil {
		return best, name
	}
	s := newStep(p, best)
	if v, ok := s.transferBound(p); ok && v > best {
		best, name = v, NameLB
	}
	// Relax is never below LB by more than the rounding; of two equal values it
	// is the one that people should hear of.
	if v, ok := s.relaxation(p); ok && v >= best && name != NameCompute || ok && v > best {
		best, name = v, NameRelax
	}
	return best, name
}

// compute returns the sum of the times of the operations that every schedule runs at
// least once, each the fastest way: all of them, or those without which Graph.Done cannot be made.
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
		// A value that is there already, or that either of two operations can
		// make, does not force any one of them.
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

// leastTime returns the shorter of the ways to run an operation.
func leastTime(op *engine.Op) time.Duration {
	if op.Lane != engine.LaneCompute {
		return 0 // beside what the device computes
	}
	if op.Alt != nil {
		return min(op.Time, op.Alt.Time)
	}
	return op.Time
}

// leastTemp returns the smaller workspace of the ways to run an operation.
func leastTemp(op *engine.Op) engine.Bytes {
	if op.Alt != nil {
		return min(op.Temp, op.Alt.Temp)
	}
	return op.Temp
}

// several is in the place of an operation where it could be any of several.
const several = engine.NoOp - 1

// makersOf returns for every value the only operation that can bring it about,
// itself or by a value that contains it, or NoOp if there is none or more than one.
func makersOf(g *engine.Graph) []engine.OpID {
	makers := make([]engine.OpID, len(g.Values))
	for v := range g.Values {
		makers[v] = engine.NoOp
		if g.Values[v].Initial != 0 {
			makers[v] = several
		}
	}
	for i := range g.Ops {
		for _, v := range g.Ops[i].Out {
			noteMaker(makers, v, engine.OpID(i))
		}
		for _, v := range g.Ops[i].OutputOnly {
			noteMaker(makers, v, engine.OpID(i))
		}
	}
	own := append([]engine.OpID(nil), makers...)
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
