package lookup

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// layersOf returns the layers of p's graph, without decisions.
func layersOf(p *engine.Problem) layers {
	g := p.Graph
	l := layers{OfOp: make([]int32, len(g.Ops)), ofValue: make([]int32, len(g.Values))}
	// If there are more stages than operations, the numbers mean something else.
	if g.Stages > 0 && (p.Chain != nil || g.Stages <= len(g.Ops)) {
		l.byStages(g)
	} else {
		l.byFunctions(g)
	}
	if l.Count = len(l.Names); p.Chain != nil {
		c := p.Chain.Chain
		for k := range min(len(l.Names), c.Len()) {
			l.Names[k] = strings.ToValidUTF8(c.Stages[k].Name, "\uFFFD")
		}
		if !c.LossGradAllocated { // it ends in an explicit loss
			l.Count--
		}
	}
	l.Sizes = make([]engine.Bytes, len(l.Names))
	for i := range g.Values {
		if v, k := &g.Values[i], l.ofValue[i]; k > 0 && v.Kind == engine.KindActivation && v.PartOf == engine.NoValue {
			l.Sizes[k-1] += v.Size
		}
	}
	for k := range l.Sizes {
		l.Sizes[k] = max(l.Sizes[k], away(p, k+1))
	}
	return l
}

// byStages makes a layer of every stage of the graph. Its name is what the names of its forward
// operations have in common: "layer1.0" for "F layer1.0/conv1" and "F layer1.0/relu2".
func (l *layers) byStages(g *engine.Graph) {
	l.Names = make([]string, g.Stages)
	named := make([]bool, g.Stages)
	within := func(stage int) int32 {
		if stage < 1 || stage > g.Stages {
			return 0
		}
		return int32(stage)
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		k := within(op.Stage)
		if l.OfOp[i] = k; k == 0 {
			continue
		}
		name := strings.TrimPrefix(strings.ToValidUTF8(op.Name, "\uFFFD"), "F ")
		switch {
		case !named[k-1]:
			l.Names[k-1], named[k-1] = name, true
		case op.Pass == engine.Forward:
			l.Names[k-1] = inCommon(l.Names[k-1], name)
		}
	}
	for i := range g.Values {
		l.ofValue[i] = within(g.Values[i].Stage)
	}
}

// inCommon returns the common prefix of two names that ends before a slash or at the end of
// a name. If there is none, it returns a.
func inCommon(a, b string) string {
	n := 0
	for i := 0; i <= min(len(a), len(b)); i++ {
		if (i == len(a) || a[i] == '/') && (i == len(b) || b[i] == '/') {
			n = i
		}
		if i < min(len(a), len(b)) && a[i] != b[i] {
			break
		}
	}
	if n == 0 {
		return a
	}
	return a[:n]
}

// byFunctions makes a layer of every forward operation and the values that it
// makes. Weights belong to the layer that reads them first. A backward operation
// belongs to the layer with which it shares most values, or to the last of several.
func (l *layers) byFunctions(g *engine.Graph) {
	readers := make([][]int32, len(g.Values)) // the layers that read or make each value
	for i := range g.Ops {
		op := &g.Ops[i]
		if op.Pass != engine.Forward {
			continue
		}
		l.Names = append(l.Names, strings.ToValidUTF8(op.Name, "\uFFFD"))
		k := int32(len(l.Names))
		l.OfOp[i] = k
		for _, v := range op.Out {
			l.ofValue[v] = k
			readers[v] = append(readers[v], k)
		}
		for _, v := range op.In {
			readers[v] = append(readers[v], k)
		}
	}
	for v := range g.Values {
		if g.Values[v].Kind == engine.KindWeight && l.ofValue[v] == 0 && len(readers[v]) > 0 {
			l.ofValue[v] = slices.Min(readers[v])
		}
	}
	for i := range g.Ops {
		if op := &g.Ops[i]; op.Pass != engine.Forward {
			l.OfOp[i] = mostShared(op, readers)
			for _, v := range op.Out {
				if l.ofValue[v] == 0 {
					l.ofValue[v] = l.OfOp[i]
				}
			}
		}
	}
}

// mostShared returns the layer that most inputs of op have among their readers, see byFunctions.
func mostShared(op *engine.Op, readers [][]int32) (best int32) {
	shared := map[int32]int{}
	for _, v := range op.In {
		for _, k := range readers[v] {
			if shared[k]++; shared[k] > shared[best] || shared[k] == shared[best] && k > best {
				best = k
			}
		}
	}
	return best
}

// decide returns what happens to the activations of each layer: the decisions of the trace if
// they are about the same layers, or else decisions derived from its spans.
func (m *Index) decide() []sim.Decision {
	out := make([]sim.Decision, len(m.Sizes))
	if len(m.Trace.Decisions) == len(m.Sizes) {
		copy(out, m.Trace.Decisions)
		for k := range out {
			if away(m.Problem, k+1) > 0 {
				out[k] |= sim.Offload
			}
		}
		return out
	}
	for k, spans := range m.ByStage {
		for _, id := range spans {
			switch s := m.Trace.Spans[id]; {
			case s.Kind == sim.SpanRecompute:
				out[k] |= sim.Recompute
			case s.Kind == sim.SpanOffload && m.Value(s.Value) != nil && m.Value(s.Value).Kind == engine.KindActivation:
				out[k] |= sim.Offload
			}
		}
	}
	return out
}

// StageName returns the name of stage k, or "stage k" if it has none.
func (m *Index) StageName(k int) string {
	if k >= 1 && k <= len(m.Names) && m.Names[k-1] != "" {
		return m.Names[k-1]
	}
	return "stage " + strconv.Itoa(k)
}

// StageOfSpan returns the stage of the operation that a span runs or of the value that it moves, or 0 for one that
// belongs to no stage.
func (m *Index) StageOfSpan(s *sim.Span) int {
	if s.Op != engine.NoOp && int(s.Op) < len(m.OfOp) {
		return int(m.OfOp[s.Op])
	}
	return m.stageOfValue(s.Value)
}

// Own returns what a framework does within and beside a run of a stage, see engine.Stage. again is 0 for forwards.
func (m *Index) Own(s *sim.Span) (again time.Duration, beside engine.Aside) {
	c, k := m.Problem.Chain, m.StageOfSpan(s)
	if c == nil || k < 1 || s.Lane != sim.Compute {
		return 0, engine.Aside{}
	}
	st := &c.Chain.Stages[k-1]
	if s.Kind == sim.SpanBackward {
		return st.Again, st.Asides[1]
	}
	return 0, st.Asides[0]
}

// away returns the bytes of stage k of p that a framework moves to the host by itself.
func away(p *engine.Problem, k int) engine.Bytes {
	if c := p.Chain; c != nil && k <= len(c.Chain.Stages) {
		return c.Chain.Stages[k-1].Away
	}
	return 0
}

func (m *Index) stageOfValue(v engine.ValueID) int {
	if v < 0 || int(v) >= len(m.ofValue) {
		return 0
	}
	return int(m.ofValue[v])
}

// Deed returns Decision together with what a framework does within stage k under a policy.
func (m *Index) Deed(k int) sim.Decision {
	d := m.Decision(k)
	if c := m.Problem.Chain; c != nil && k >= 1 && k <= len(c.Chain.Stages) {
		s := &c.Chain.Stages[k-1]
		if s.Again > 0 {
			d |= sim.Recompute
		}
		if s.Away > 0 {
			d |= sim.Offload
		}
	}
	return d
}

// Decision returns what happens to the activations of stage k, by default sim.Keep.
func (m *Index) Decision(k int) sim.Decision {
	if k >= 1 && k <= len(m.decisions) {
		return m.decisions[k-1]
	}
	return sim.Keep
}
