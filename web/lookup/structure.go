package lookup

import (
	"cmp"
	"encoding/binary"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// FarReader is the largest distance, in operations, of a value from its last forward reader for which it has no arc.
const FarReader = 4

// MostArcs is how many arcs a picture shows, in addition to the selected one.
const MostArcs = 24

// Weight returns the size of the value times its distance. The heaviest arcs are shown if there is no room for all.
func (a *Arc) Weight() float64 { return float64(a.Bytes) * float64(a.To-a.From) }

// Structure returns the structure of the graph, or nil for a chain.
func (m *Index) Structure() *Structure {
	m.graphOnce.Do(func() {
		if m.Problem.Chain == nil {
			m.structure = newStructure(m)
		}
	})
	return m.structure
}

// IsGraph reports whether the problem is a graph and not a chain.
func (m *Index) IsGraph() bool { return m.Problem.Chain == nil }

// newStructure returns the structure of the graph of m.
func newStructure(m *Index) *Structure {
	g := m.Problem.Graph
	st := &Structure{Places: slices.Repeat([]int32{-1}, len(g.Ops))}
	makers := make([]int32, len(g.Values)) // 1 + the place of the operation that makes each value; 0 if none
	for i := range m.Trace.Spans {
		s := &m.Trace.Spans[i]
		if s.Kind != sim.SpanForward || st.Places[s.Op] >= 0 {
			continue
		}
		st.Places[s.Op] = int32(len(st.Ops))
		st.Ops, st.Runs = append(st.Ops, s.Op), append(st.Runs, sim.SpanID(i))
		for _, out := range [...][]engine.ValueID{g.Ops[s.Op].Out, g.Ops[s.Op].OutputOnly} {
			for _, v := range out {
				if makers[v] == 0 && g.Values[v].Kind == engine.KindActivation {
					makers[v] = int32(len(st.Ops))
				}
			}
		}
	}
	st.decide(m.Trace, makers)
	st.findArcs(g, makers)
	st.fold(g)
	slices.SortFunc(st.Arcs, func(a, b Arc) int {
		return cmp.Or(cmp.Compare(b.Weight(), a.Weight()), cmp.Compare(a.Value, b.Value))
	})
	return st
}

// decide sets Decisions to what happens to the outputs of each operation in a trace.
func (st *Structure) decide(t *sim.Trace, makers []int32) {
	st.Decisions = make([]sim.Decision, len(st.Ops))
	for i := range t.Spans {
		switch s := &t.Spans[i]; {
		case s.Kind == sim.SpanRecompute && st.Places[s.Op] >= 0:
			st.Decisions[st.Places[s.Op]] |= sim.Recompute
		case s.Kind == sim.SpanOffload && makers[s.Value] > 0:
			st.Decisions[makers[s.Value]-1] |= sim.Offload
		}
	}
}

// findArcs sets Arcs and Largest.
func (st *Structure) findArcs(g *engine.Graph, makers []int32) {
	last := make([]int32, len(g.Values))
	for place, op := range st.Ops {
		for _, v := range g.Ops[op].In {
			last[v] = int32(place)
		}
	}
	for v := range g.Values {
		if from := makers[v] - 1; from >= 0 && last[v]-from > FarReader {
			st.Arcs = append(st.Arcs, Arc{Value: engine.ValueID(v), From: from, To: last[v], Bytes: g.Values[v].Size})
			st.Largest = max(st.Largest, g.Values[v].Size)
		}
	}
}

// fold sets Blocks, and the Block of the arcs within them, if there are more than MostArcs arcs.
// A block is a stage whose arcs equal those of another stage.
func (st *Structure) fold(g *engine.Graph) {
	if len(st.Arcs) <= MostArcs {
		return
	}
	first, last := make([]int32, g.Stages+1), make([]int32, g.Stages+1)
	for place, op := range st.Ops {
		if k := g.Ops[op].Stage; k >= 1 && k <= g.Stages {
			if last[k] == 0 {
				first[k] = int32(place)
			}
			last[k] = int32(place) + 1 // 1 + the place, since 0 means none
		}
	}
	inside := make([][]int, g.Stages+1)  // the arcs within each stage
	shapes := make([][]byte, g.Stages+1) // their encoding, relative to the stage
	for i := range st.Arcs {
		a := &st.Arcs[i]
		k := g.Ops[st.Ops[a.From]].Stage
		if k < 1 || k > g.Stages || g.Ops[st.Ops[a.To]].Stage != k {
			continue
		}
		inside[k] = append(inside[k], i)
		for _, n := range [...]int64{int64(a.From - first[k]), int64(a.To - first[k]), int64(a.Bytes)} {
			shapes[k] = binary.AppendVarint(shapes[k], n)
		}
	}
	alike := map[string]int{}
	for _, s := range shapes {
		alike[string(s)]++
	}
	for k, list := range inside {
		if len(list) == 0 || alike[string(shapes[k])] < 2 {
			continue
		}
		st.Blocks = append(st.Blocks, Block{int32(k), first[k], last[k] - 1})
		for _, i := range list {
			st.Arcs[i].Block = int32(k)
		}
	}
}

// ArcOf returns the arc of a value, or nil if it has none.
func (st *Structure) ArcOf(v engine.ValueID) *Arc {
	for i := range st.Arcs {
		if st.Arcs[i].Value == v {
			return &st.Arcs[i]
		}
	}
	return nil
}

// Foremost returns the value of the heaviest arc, which is the first thing to look at in a graph,
// or Nothing if there is none.
func (m *Index) Foremost() Target {
	if st := m.Structure(); st != nil && len(st.Arcs) > 0 {
		return Target{OnValue, int(st.Arcs[0].Value)}
	}
	return Target{}
}

// ValueOf returns the value that a target is about: for a copy or a wait for data the value that is copied, for a run
// or a layer the largest activation that it makes. It returns NoValue for a target that is about no value.
func (m *Index) ValueOf(t Target) engine.ValueID {
	g := m.Problem.Graph
	best := engine.NoValue
	larger := func(v engine.ValueID) {
		if g.Values[v].Kind == engine.KindActivation &&
			(best == engine.NoValue || g.Values[v].Size > g.Values[best].Size) {
			best = v
		}
	}
	switch {
	case !m.Valid(t):
	case t.Kind == OnValue:
		return engine.ValueID(t.Index)
	case t.Kind == OnGap:
		return m.Trace.Gaps[t.Index].Value
	case t.Kind == OnSpan && m.Trace.Spans[t.Index].Op == engine.NoOp:
		return m.Trace.Spans[t.Index].Value
	case t.Kind == OnSpan:
		for _, v := range g.Ops[m.Trace.Spans[t.Index].Op].Out {
			larger(v)
		}
	case t.Kind == OnStage:
		for _, id := range m.ByStage[t.Index-1] {
			if s := &m.Trace.Spans[id]; s.Kind == sim.SpanForward {
				for _, v := range g.Ops[s.Op].Out {
					larger(v)
				}
			}
		}
	}
	return best
}

// byPlace returns the arcs from left to right. Of arcs that begin at the same operation the longest comes first.
func (st *Structure) byPlace() []Arc {
	out := slices.Clone(st.Arcs)
	slices.SortFunc(out, func(a, b Arc) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(a.Value, b.Value))
	})
	return out
}

// stepArc returns the value n arcs to the right of the value t. It stops at the ends.
func (m *Index) stepArc(t Target, n int) Target {
	st := m.Structure()
	if st == nil || len(st.Arcs) == 0 {
		return t
	}
	arcs := st.byPlace()
	i := slices.IndexFunc(arcs, func(a Arc) bool { return int(a.Value) == t.Index })
	return Target{OnValue, int(arcs[min(max(i+n, 0), len(arcs)-1)].Value)}
}

// betweenArcs implements OtherLane between arcs and the compute lane: it leads from an arc down to
// the run that makes its value, and from a run up to the arc that begins nearest. It reports false
// for other steps. lane is the lane to go to, inLane whether t is on a lane.
func (m *Index) betweenArcs(t Target, lane int, inLane bool) (Target, bool) {
	st := m.Structure()
	switch {
	case st == nil || len(st.Arcs) == 0:
		return t, false
	case m.Valid(t) && t.Kind == OnValue:
		if a := st.ArcOf(engine.ValueID(t.Index)); a != nil && lane > 0 {
			return Target{OnSpan, int(st.Runs[a.From])}, true
		}
		return t, true
	case !inLane || lane >= 0:
		return t, false
	}
	place := int32(0)
	if s := m.Span(sim.SpanID(t.Index)); t.Kind == OnSpan && s != nil && s.Op != engine.NoOp {
		place = max(st.Places[s.Op], 0)
	}
	best := st.Arcs[0]
	for _, a := range st.byPlace() {
		if max(a.From-place, place-a.From) < max(best.From-place, place-best.From) {
			best = a
		}
	}
	return Target{OnValue, int(best.Value)}, true
}
