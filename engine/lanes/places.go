package lanes

import "memtide/engine"

// places says where the values of a graph are, or will be when what is queued is over,
// while a schedule is written step by step.
type places struct {
	g      *engine.Graph
	steps  engine.Schedule
	dev    []bool // by value: on the device or on its way there
	coming []bool // by value: maybe on its way
	host   []bool // by value: on the host or on its way there
}

func newPlaces(g *engine.Graph) *places {
	n := len(g.Values)
	p := &places{g: g, dev: make([]bool, n), coming: make([]bool, n), host: make([]bool, n)}
	for v := range g.Values {
		at := g.Values[v].Initial
		p.dev[v], p.host[v] = at&engine.OnDevice != 0, at&engine.OnHost != 0
	}
	return p
}

// move is a step about a value, which is whole before it is freed or copied.
func (p *places) move(st engine.Step) {
	v := st.Value
	if p.coming[v] && (st.Kind == engine.StepFree || st.Kind == engine.StepOffload) {
		p.steps, p.coming[v] = append(p.steps, engine.Wait(v)), false
	}
	switch st.Kind {
	case engine.StepFree:
		p.dev[v] = false
	case engine.StepOffload:
		p.host[v] = true
	case engine.StepFetch:
		p.dev[v], p.coming[v] = true, true
	case engine.StepWait:
		p.coming[v] = false
	}
	p.steps = append(p.steps, st)
}

// run is a run of whatever lane, which reads the copies of some values.
func (p *places) run(st engine.Step, in []engine.ValueID) {
	p.steps = append(p.steps, st)
	op := &p.g.Ops[st.Op]
	for _, v := range in {
		p.coming[v] = p.coming[v] && op.Lane == engine.LaneNetwork
	}
	for _, v := range op.Out {
		if op.Lane == engine.LaneCPU {
			p.host[v] = true
		} else {
			p.dev[v], p.coming[v] = true, op.Lane == engine.LaneNetwork
		}
	}
}
