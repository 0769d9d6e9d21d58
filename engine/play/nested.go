package play

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// Part is a run of consecutive stages of a chain, from First to Last. By default their saved activations are
// dropped, and the stages are computed again as a whole when their backward comes. Within are the parts of it that
// are dropped again during that. With Offload, First is Last, and the saved activations of this stage move to the
// host instead. With InputOffload, the input of stages that are computed again moves to the host.
type Part struct {
	First, Last           int
	Within                []Part
	Offload, InputOffload bool
}

// Nested converts a schedule of a chain to parts. sim must be able to play the schedule. Parts do not contain the
// times of copies, and hold their inputs from the first forward on. If the schedule moves only the input of a stage
// that is not computed again, the part moves all saved activations of the stage. The error says what parts cannot
// express: moving a value that is made again, or making a saved set again that was kept.
func Nested(p *engine.Problem, schedule engine.Schedule) ([]Part, error) {
	if p.Chain == nil {
		return nil, fmt.Errorf("a plan's runs are of stages one after the other, and this network is not a chain of stages")
	}
	n := &nesting{g: p.Chain}
	var moved []engine.ValueID
	for i := range schedule {
		switch s := &schedule[i]; s.Kind {
		case engine.DoOffload:
			moved = append(moved, s.Value)
		case engine.DoRun:
			n.runs = append(n.runs, s)
		}
	}
	parts, err := n.part(1, p.Chain.Chain.Len())
	for _, v := range moved {
		if err == nil {
			parts, err = n.offload(parts, v)
		}
	}
	return parts, err
}

// offload returns parts that also move v to the host. The input of the chain is not moved, because it exists before
// the step and belongs to the program that calls the model.
func (n *nesting) offload(parts []Part, v engine.ValueID) ([]Part, error) {
	if v == n.g.Act(0) {
		return parts, nil
	}
	layers := n.g.Chain.Len()
	for k := 1; k <= layers; k++ {
		// the part of stage k, or the first part after it
		at := slices.IndexFunc(parts, func(p Part) bool { return p.Last >= k })
		if at < 0 {
			at = len(parts)
		}
		within := at < len(parts) && parts[at].First <= k
		switch {
		case !within && (v == n.g.Saved(k) || v == n.g.Act(k-1)):
			return slices.Insert(parts, at, Part{First: k, Last: k, Offload: true}), nil
		case v == n.g.Saved(k) && parts[at].Offload, v == n.g.Act(k-1) && within && parts[at].Offload:
			return parts, nil // the part moves it already
		case v == n.g.Act(k-1) && within && parts[at].First == k:
			parts[at].InputOffload = true
			return parts, nil
		}
	}
	return nil, fmt.Errorf("this schedule moves %s to the host, which no plan does: a plan moves all that a stage keeps, or the input of stages that run again", n.g.Values[v].Name)
}

// nesting walks over the computations of a schedule.
type nesting struct {
	g    *engine.ChainGraph
	runs []*engine.Instruction
}

// next returns the stage of the next computation, and whether it is a forward.
func (n *nesting) next() (stage int, forward bool) {
	if len(n.runs) == 0 {
		return 0, false
	}
	op := &n.g.Ops[n.runs[0].Op]
	return op.Stage, op.Pass == engine.Forward
}

// part reads the forward of stages and their backward, and returns their parts.
func (n *nesting) part(first, last int) (parts []Part, err error) {
	lean := make([]bool, last+1)
	for k := first; k <= last; k++ {
		if s, forward := n.next(); !forward || s != k {
			return nil, n.outOfOrder(k)
		}
		lean[k], n.runs = n.runs[0].OutputOnly, n.runs[1:]
	}
	for k := last; k >= first; {
		s, forward := n.next()
		if !forward {
			if s != k || lean[k] {
				return nil, n.outOfOrder(k)
			}
			n.runs = n.runs[1:]
			k--
			continue
		}
		if s < first || s > k || slices.Contains(lean[s:k+1], false) {
			return nil, n.outOfOrder(k)
		}
		within, err := n.part(s, k)
		if err != nil {
			return nil, err
		}
		parts = slices.Insert(parts, 0, Part{First: s, Last: k, Within: within})
		k = s - 1
	}
	return parts, nil
}

// outOfOrder returns the error for stage k running at a time at which parts cannot run it.
func (n *nesting) outOfOrder(k int) error {
	return fmt.Errorf("this schedule drops %s and makes it again while its run is not in progress: no wrapper does that; take -strategy rotor, or search", n.g.Values[n.g.Saved(k)].Name)
}

// OfStages converts parts of a chain to segments. Each stage of the chain must have the name of its last unit.
func (t *Trace) OfStages(c *engine.Chain, parts []Part) (segments []*Segment) {
	names := t.UnitNames()
	end := func(stage int) int { // the index after the last unit of a stage
		switch {
		case stage == 0:
			return 0
		case stage == c.Len():
			return len(names)
		}
		return slices.Index(names, c.Stages[stage-1].Name) + 1
	}
	for _, p := range parts {
		if a, b := end(p.First-1), end(p.Last); a < b {
			s := &Segment{Units: names[a:b:b], Do: DoRecompute, Inner: t.OfStages(c, p.Within)}
			if p.Offload {
				s.Do = DoOffload
			}
			if p.InputOffload {
				s.Input = DoOffload
			}
			segments = append(segments, s)
		}
	}
	return segments
}

// ClassOf returns the smallest class that contains segments.
func (t *Trace) ClassOf(segments []*Segment) Class {
	class, group := ClassUnit, map[string]int{}
	for i, g := range t.groups() {
		for _, u := range g {
			group[u] = i
		}
	}
	for _, s := range segments {
		switch {
		case s.Do == DoOffload || s.Input == DoOffload:
			return ClassOffload
		case len(s.Save) > 0:
			return ClassSAC
		case len(s.Inner) > 0:
			class = ClassNested
		case class == ClassUnit && group[s.Units[0]] != group[s.Units[len(s.Units)-1]]:
			class = ClassWrappable
		}
		if inner := t.ClassOf(s.Inner); inner == ClassSAC {
			return inner
		}
	}
	return class
}
