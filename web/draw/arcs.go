package draw

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
)

// farReader is how many operations lie between a value and its last forward reader
// before it has an arc: what is read sooner is seen in the order itself.
const farReader = 4

// mostArcs is how many arcs can be told apart, beside that of what is selected.
const mostArcs = 24

// structure is a graph in the order in which a trace runs it: its forward
// operations by place, from 0, and the values that wait long for a reader.
type structure struct {
	ops       []engine.OpID  // by place, in the order of their first runs
	runs      []sim.SpanID   // by place, the first run
	decisions []sim.Decision // by place, of what the operation makes
	places    []int32        // by operation; -1: it is no forward operation, or does not run
	arcs      []arc          // the heaviest first: bytes x distance
	blocks    []block        // whose arcs fold, in the order of their stages
	largest   engine.Bytes   // of the arcs
}

// arc is a value from the operation that makes it to the last forward operation
// that reads it.
type arc struct {
	value    engine.ValueID
	from, to int32 // places
	bytes    engine.Bytes
	block    int32 // the stage that both ends are in, if its arcs fold; 0: none
}

// weight is what arcs are chosen by where there is no room for all.
func (a *arc) weight() float64 { return float64(a.bytes) * float64(a.to-a.from) }

// block is a stage that repeats, with the arcs within it.
type block struct {
	stage       int32
	first, last int32 // places of its operations
	arcs        int
}

// graph is the structure of what is solved; nil for a chain, whose layers are one
// after the other.
func (m *indexModel) graph() *structure {
	m.graphOnce.Do(func() {
		if m.problem.Chain == nil {
			m.structure = newStructure(m)
		}
	})
	return m.structure
}

// IsGraph says that the model has operations on values that are read in any order.
func (m *indexModel) IsGraph() bool { return m.problem.Chain == nil }

func newStructure(m *indexModel) *structure {
	g := m.problem.Graph
	st := &structure{places: make([]int32, len(g.Ops))}
	for i := range st.places {
		st.places[i] = -1
	}
	makers := make([]int32, len(g.Values)) // places, from 1
	for i := range m.trace.Spans {
		s := &m.trace.Spans[i]
		if s.Kind != sim.SpanForward || st.places[s.Op] >= 0 {
			continue
		}
		st.places[s.Op] = int32(len(st.ops))
		st.ops, st.runs = append(st.ops, s.Op), append(st.runs, sim.SpanID(i))
		for _, out := range [...][]engine.ValueID{g.Ops[s.Op].Out, g.Ops[s.Op].OutputOnly} {
			for _, v := range out {
				if makers[v] == 0 && g.Values[v].Kind == engine.KindActivation {
					makers[v] = int32(len(st.ops))
				}
			}
		}
	}
	st.decide(m.trace, makers)
	st.findArcs(g, makers)
	st.fold(g)
	slices.SortFunc(st.arcs, func(a, b arc) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(a.value, b.value))
	})
	return st
}

// decide reads off a trace what becomes of what each operation makes.
func (st *structure) decide(t *sim.Trace, makers []int32) {
	st.decisions = make([]sim.Decision, len(st.ops))
	for i := range t.Spans {
		switch s := &t.Spans[i]; {
		case s.Kind == sim.SpanRecompute && st.places[s.Op] >= 0:
			st.decisions[st.places[s.Op]] |= sim.Recompute
		case s.Kind == sim.SpanOffload && makers[s.Value] > 0:
			st.decisions[makers[s.Value]-1] |= sim.Offload
		}
	}
}

func (st *structure) findArcs(g *engine.Graph, makers []int32) {
	last := make([]int32, len(g.Values))
	for place, op := range st.ops {
		for _, v := range g.Ops[op].In {
			last[v] = int32(place)
		}
	}
	for v := range g.Values {
		if from := makers[v] - 1; from >= 0 && last[v]-from > farReader {
			st.arcs = append(st.arcs, arc{value: engine.ValueID(v), from: from, to: last[v], bytes: g.Values[v].Size})
			st.largest = max(st.largest, g.Values[v].Size)
		}
	}
}

// fold gives the arcs within blocks to these, where there are more arcs than can be
// told apart. A block is a stage of which there is another with the same arcs.
func (st *structure) fold(g *engine.Graph) {
	if len(st.arcs) <= mostArcs {
		return
	}
	first, last := make([]int32, g.Stages+1), make([]int32, g.Stages+1)
	for place, op := range st.ops {
		if k := g.Ops[op].Stage; k >= 1 && k <= g.Stages {
			if last[k] == 0 {
				first[k] = int32(place)
			}
			last[k] = int32(place) + 1 // from 1, until it is written down
		}
	}
	inside := make([][]int, g.Stages+1)
	shapes := make([][]byte, g.Stages+1)
	for i := range st.arcs {
		a := &st.arcs[i]
		k := g.Ops[st.ops[a.from]].Stage
		if k < 1 || k > g.Stages || g.Ops[st.ops[a.to]].Stage != k {
			continue
		}
		inside[k] = append(inside[k], i)
		for _, n := range [...]int64{int64(a.from - first[k]), int64(a.to - first[k]), int64(a.bytes)} {
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
		st.blocks = append(st.blocks, block{int32(k), first[k], last[k] - 1, len(list)})
		for _, i := range list {
			st.arcs[i].block = int32(k)
		}
	}
}

// arcOf is the arc of a value; nil if it has none.
func (st *structure) arcOf(v engine.ValueID) *arc {
	for i := range st.arcs {
		if st.arcs[i].value == v {
			return &st.arcs[i]
		}
	}
	return nil
}

// Foremost is the value that weighs most among those that wait for a reader far
// away: what to look at first in a graph. Nothing if there is none.
func (m *indexModel) Foremost() Target {
	if st := m.graph(); st != nil && len(st.arcs) > 0 {
		return Target{OnValue, int(st.arcs[0].value)}
	}
	return Target{}
}

// valueOf is the value that a target is about: of a copy and of a wait for data the
// one that is copied, of a run and of a layer the largest activation that it makes.
// NoValue if there is none.
func (m *indexModel) valueOf(t Target) engine.ValueID {
	g := m.problem.Graph
	best := engine.NoValue
	larger := func(v engine.ValueID) {
		if g.Values[v].Kind == engine.KindActivation && (best == engine.NoValue || g.Values[v].Size > g.Values[best].Size) {
			best = v
		}
	}
	switch {
	case !m.valid(t):
	case t.Kind == OnValue:
		return engine.ValueID(t.Index)
	case t.Kind == OnGap:
		return m.trace.Gaps[t.Index].Value
	case t.Kind == OnSpan && m.trace.Spans[t.Index].Op == engine.NoOp:
		return m.trace.Spans[t.Index].Value
	case t.Kind == OnSpan:
		for _, v := range g.Ops[m.trace.Spans[t.Index].Op].Out {
			larger(v)
		}
	case t.Kind == OnStage:
		for _, id := range m.byStage[t.Index-1] {
			if s := &m.trace.Spans[id]; s.Kind == sim.SpanForward {
				for _, v := range g.Ops[s.Op].Out {
					larger(v)
				}
			}
		}
	}
	return best
}

// byPlace are the arcs from left to right; of those that begin at one operation the
// longest first.
func (st *structure) byPlace() []arc {
	out := slices.Clone(st.arcs)
	slices.SortFunc(out, func(a, b arc) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.value, b.value))
	})
	return out
}

// stepArc is the value n arcs to the right of that of t; it stops at the ends.
func (m *indexModel) stepArc(t Target, n int) Target {
	st := m.graph()
	if st == nil || len(st.arcs) == 0 {
		return t
	}
	arcs := st.byPlace()
	i := slices.IndexFunc(arcs, func(a arc) bool { return int(a.value) == t.Index })
	return Target{OnValue, int(arcs[min(max(i+n, 0), len(arcs)-1)].value)}
}

// betweenArcs leads from an arc down to the run that makes its value, and from the
// compute lane up to the arc that begins nearest; false if the step is another one.
func (m *indexModel) betweenArcs(t Target, lane int, inLane bool) (Target, bool) {
	st := m.graph()
	switch {
	case st == nil || len(st.arcs) == 0:
		return t, false
	case m.valid(t) && t.Kind == OnValue:
		if a := st.arcOf(engine.ValueID(t.Index)); a != nil && lane > 0 {
			return Target{OnSpan, int(st.runs[a.from])}, true
		}
		return t, true
	case !inLane || lane >= 0:
		return t, false
	}
	place := int32(0)
	if s := m.span(sim.SpanID(t.Index)); t.Kind == OnSpan && s != nil && s.Op != engine.NoOp {
		place = max(st.places[s.Op], 0)
	}
	best := st.arcs[0]
	for _, a := range st.byPlace() {
		if max(a.from-place, place-a.from) < max(best.from-place, place-best.from) {
			best = a
		}
	}
	return Target{OnValue, int(best.value)}, true
}

// nameOfValue is the name of a value for links, see Name.
func (m *indexModel) nameOfValue(id int) string {
	values, n := m.problem.Graph.Values, 0
	for i := range id + 1 {
		if values[i].Name == values[id].Name {
			n++
		}
	}
	name := valueMark + values[id].Name
	if n > 1 {
		name += "@" + strconv.Itoa(n)
	}
	return name
}

// namedValue is the value of a name without its mark; Nothing if there is none.
func (m *indexModel) namedValue(name string) Target {
	nth := func(name string, n int) Target {
		for i := range m.problem.Graph.Values {
			if m.problem.Graph.Values[i].Name == name {
				if n--; n == 0 {
					return Target{OnValue, i}
				}
			}
		}
		return Target{}
	}
	if t := nth(name, 1); t.Kind != Nothing {
		return t
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 1 {
			return nth(name[:i], n)
		}
	}
	return Target{}
}
