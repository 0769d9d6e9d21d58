package llm

import (
	"slices"
	"strconv"

	"memtide/engine"
)

// graph is the step of one micro batch with its optimizer as operations: those of a chain
// of blocks, and beside them the network's and the host's. Weights that are gathered are so
// for each block and pass, one block ahead, and gradients are reduced a block at a time
// [torch: FSDPParamGroup]; the optimizer steps on a unit's states where they are, in host
// memory as soon as its gradient is there. States and gradients are values that can move.
func (p *program) graph(chain *engine.Chain, c *Card) *engine.Graph {
	of := engine.ExpandChain(chain)
	nameStages(of)
	w := &grapher{program: p, c: c, of: of, g: &engine.Graph{Values: of.Values, Fixed: chain.Resident.Pinned, Done: engine.NoValue, Stages: of.Stages}}
	for i, u := range p.all() {
		w.units = append(w.units, w.states(u, i))
		w.steps += w.trained(w.units[i])
	}
	if q := (&program{ledger: &ledger{}, s: p.s, root: p.root, units: p.units}); !p.s.StepInBack {
		q.stepTemps()
		w.temps = q.peak
	}
	w.gather(0, engine.NoOp)
	w.gather(1, engine.NoOp)
	n := chain.Len()
	at := make([]engine.OpID, 2*n) // by operation of the chain
	for k := 1; k <= n; k++ {
		after := engine.NoOp
		if k > 1 {
			after = at[k-2]
		}
		if k > 1 && k < n-1 { // that of stage 2 is under way
			w.gather(w.unit(k+1), after)
		}
		at[k-1] = w.compute(of.Ops[of.Fwd(k)], k)
	}
	for k := n; k > 0; k-- {
		if k > 2 && k < n && !w.units[w.unit(k-1)].stays {
			w.gather(w.unit(k-1), at[of.Bwd(k+1)])
		}
		at[of.Bwd(k)] = w.backward(of.Ops[of.Bwd(k)], k)
		if k > 1 && k < n {
			w.reduce(w.unit(k))
		}
	}
	w.reduce(0)
	w.optimizer()
	return w.g
}

// nameStages gives the operations and values of a chain the names of its stages.
func nameStages(of *engine.ChainGraph) {
	for k := 1; k <= of.Chain.Len(); k++ {
		name := of.Chain.Stages[k-1].Name
		of.Ops[of.Fwd(k)].Name, of.Ops[of.Bwd(k)].Name = name, name+" backward"
		of.Values[of.Act(k)].Name, of.Values[of.Saved(k)].Name = "output of "+name, "what "+name+" keeps"
		of.Values[of.Grad(k)].Name = "gradient of the output of " + name
	}
	of.Values[of.Act(0)].Name, of.Values[of.Grad(0)].Name = "words", "gradient of the words"
}

// grapher writes the operations of a step, in the order of its program.
type grapher struct {
	*program
	c     *Card
	of    *engine.ChainGraph
	g     *engine.Graph
	units []*values // by unit, the root first

	steps float64      // numbers that the rank steps on
	temps engine.Bytes // of the optimizer's step
}

// values are those of a unit; NoValue where it has none.
type values struct {
	*unit
	name    string
	shard   engine.ValueID // what is stored
	whole   engine.ValueID // gathered
	states  engine.ValueID // of the optimizer
	made    []engine.ValueID
	share   engine.ValueID // of the gradient, that the optimizer reads
	updated []engine.ValueID
}

func (w *grapher) value(name string, kind engine.ValueKind, n engine.Bytes, at engine.Place) engine.ValueID {
	w.g.Values = append(w.g.Values, engine.Value{Name: name, Kind: kind, Size: n, Initial: at, PartOf: engine.NoValue})
	return engine.ValueID(len(w.g.Values) - 1)
}

func (w *grapher) op(o engine.Op) engine.OpID {
	w.g.Ops = append(w.g.Ops, o)
	return engine.OpID(len(w.g.Ops) - 1)
}

// unit is that of a stage: the root's stages are the first and the last.
func (w *grapher) unit(k int) int {
	if k == w.of.Chain.Len() {
		return 0
	}
	return k - 1
}

// states are the values of a unit that are there from the beginning, and those that
// others will make.
func (w *grapher) states(u *unit, i int) *values {
	s := w.s
	v := &values{unit: u, name: "block " + strconv.Itoa(i), shard: engine.NoValue, whole: engine.NoValue, states: engine.NoValue, share: engine.NoValue}
	if i == 0 {
		v.name = "embedding and head"
	}
	var stored, gathered, kept, share engine.Bytes
	for _, x := range u.weights {
		stored += s.weightBytes(x)
		gathered += s.gathered(x, x.n)
		if x.trained {
			kept += s.stateBytes(x)
			share += s.at(x, max(2, s.Zero), s.storedBytes(x, s.Grad))
		}
	}
	v.shard = w.value("weights of "+v.name, engine.KindWeight, stored, engine.OnDevice)
	if share > 0 && s.Optimizer != StepNone { // the step replaces them
		w.g.Values[v.shard].Kind = engine.KindState
	}
	if s.gathers() {
		v.whole = w.value("gathered weights of "+v.name, engine.KindState, gathered, 0)
	}
	if kept > 0 && s.Optimizer != StepNone {
		at := engine.OnDevice
		if s.HostStep {
			at = engine.OnHost
		}
		v.states = w.value("optimizer states of "+v.name, engine.KindState, kept, at)
	}
	if w.accumulated() { // it is there from the beginning
		w.g.Fixed += share
		share = 0
	}
	if slices.ContainsFunc(u.weights, func(x weight) bool { return x.trained }) && s.gathers() {
		v.share = w.value("gradient of "+v.name, engine.KindState, share, 0)
	}
	return v
}

// accumulated says whether gradients have a buffer that is there when the micro batch
// begins.
func (p *program) accumulated() bool { return (p.s.Static || p.s.Accumulate > 1) && !p.s.HostStep }

// gather writes the all-gather of a unit, with its output beside what it is copied into,
// and the rank's share.
func (w *grapher) gather(i int, after engine.OpID) {
	v := w.units[i]
	if !w.s.gathers() {
		return
	}
	var own engine.Bytes
	for _, x := range v.weights {
		own += w.s.gathered(x, ceil(x.n, w.s.split(x)))
	}
	all := w.g.Values[v.whole].Size
	o := engine.Op{Name: "gather " + v.name, Lane: engine.LaneNetwork, Time: seconds(float64(all) / w.collectiveRate(w.c)), Temp: all + own,
		In: []engine.ValueID{v.shard}, Out: []engine.ValueID{v.whole}}
	if w.s.Shard < 2 {
		o.Time = 0
	}
	if after != engine.NoOp {
		o.After = []engine.OpID{after}
	}
	w.op(o)
}

// weightsOf is what an operation reads of a unit's weights.
func (v *values) weightsOf() engine.ValueID {
	if v.whole != engine.NoValue {
		return v.whole
	}
	return v.shard
}

func (w *grapher) compute(o engine.Op, k int) engine.OpID {
	o.In = append(slices.Clone(o.In), w.units[w.unit(k)].weightsOf())
	return w.op(o)
}

// backward writes the backward of a stage, which makes gradients of its weights: the last
// stage that of the head, the first one that of the embedding.
func (w *grapher) backward(o engine.Op, k int) engine.OpID {
	s, v := w.s, w.units[w.unit(k)]
	name := v.name
	var bytes, beside engine.Bytes
	for _, x := range v.weights {
		switch at := x.name == "embedding"; {
		case !x.trained:
		case w.unit(k) == 0 && at != (k == 1):
			if tied := s.Model.Tied && at; tied { // the head makes it too
				bytes += w.madeWhole(x)
			}
		case at && s.Model.Tied: // added to that of the head
			beside += w.madeBytes(x)
		default:
			bytes += w.madeWhole(x)
		}
	}
	if w.unit(k) == 0 {
		name = w.of.Chain.Stages[k-1].Name
	}
	if w.accumulated() && !s.gathers() {
		bytes = 0
	}
	o.Temp += beside
	if bytes > 0 {
		id := w.value("new gradient of "+name, engine.KindState, bytes, 0)
		v.made = append(v.made, id)
		o.Out = append(slices.Clone(o.Out), id)
	}
	return w.compute(o, k)
}

// madeBytes are those of the gradient of a weight as the backward makes it.
func (p *program) madeBytes(w weight) engine.Bytes {
	if p.s.gathers() {
		return size(w.n, p.s.Compute)
	}
	return size(w.n, p.s.storedBytes(w, p.s.Compute))
}

// madeWhole are those of it until it is reduced: without gathering it is stored at once.
func (p *program) madeWhole(w weight) engine.Bytes {
	if p.s.gathers() {
		return p.madeBytes(w)
	}
	return p.s.at(w, 2, p.s.storedBytes(w, p.s.Grad))
}

// reduce writes the reduce-scatter of a unit, with what it reads in the type that is
// reduced, and the optimizer's step of it on the host.
func (w *grapher) reduce(i int) {
	v := w.units[i]
	if v.share != engine.NoValue {
		var all, out engine.Bytes
		for _, x := range v.weights {
			if x.trained {
				all += size(x.n, w.s.Reduce)
				out += w.s.at(x, 3, w.s.Reduce)
			}
		}
		if out == w.g.Values[v.share].Size {
			out = 0
		}
		o := engine.Op{Name: "reduce " + v.name, Pass: engine.Backward, Lane: engine.LaneNetwork, Once: true, Time: seconds(float64(all) / w.collectiveRate(w.c)), Temp: all + out,
			In: v.made, Out: []engine.ValueID{v.share}}
		if w.s.Shard < 2 {
			o.Time = 0
		}
		w.op(o)
		v.made = []engine.ValueID{v.share}
	}
	switch {
	case w.s.HostStep && v.states != engine.NoValue:
		w.hostStep(v)
	case w.s.StepInBack && !w.s.HostStep:
		w.step(v, nil)
	}
}

// hostStep writes the optimizer's step of a unit on the host: the gradient goes there, and
// new weights come back in the room of the old ones.
func (w *grapher) hostStep(v *values) {
	n := w.trained(v)
	fresh := w.value("new weights of "+v.name, engine.KindState, w.g.Values[v.shard].Size, 0)
	w.op(engine.Op{Name: "step " + v.name, Pass: engine.Backward, Lane: engine.LaneCPU, Time: seconds(n * stepTraffic / hostMemory),
		In: append(slices.Clone(v.made), v.states), Out: []engine.ValueID{fresh}})
	v.updated = append(v.updated, fresh)
}

// trained is how many numbers of a unit the rank steps on.
func (w *grapher) trained(v *values) (n float64) {
	for _, x := range v.weights {
		if x.trained {
			n += float64(w.s.at(x, 1, 1))
		}
	}
	return n
}

// optimizer writes the steps on the device, unit by unit behind the whole backward. What
// the host has stepped on is there at the end.
func (w *grapher) optimizer() {
	if w.s.HostStep {
		o := engine.Op{Name: "new weights", Pass: engine.Backward}
		for _, v := range w.units {
			o.In = append(o.In, v.updated...)
		}
		w.op(o)
		return
	}
	if w.s.StepInBack {
		return
	}
	for _, v := range w.units {
		w.step(v, []engine.ValueID{w.of.Grad(0)}) // the backward is over
	}
}

// step writes the optimizer's step of a unit on the device, whose new weights and states
// stand beside the old ones.
func (w *grapher) step(v *values, after []engine.ValueID) {
	n := w.trained(v)
	if n == 0 || w.s.Optimizer == StepNone {
		return
	}
	o := engine.Op{Name: "step " + v.name, Pass: engine.Backward, Time: seconds(w.stepSeconds(w.c) * n / w.steps), Temp: w.temps,
		In: slices.Concat(v.made, after, []engine.ValueID{v.shard}), Out: []engine.ValueID{w.value("new weights of "+v.name, engine.KindWeight, w.g.Values[v.shard].Size, 0)}}
	if v.states != engine.NoValue {
		o.In = append(o.In, v.states)
		o.Out = append(o.Out, w.value("new optimizer states of "+v.name, engine.KindWeight, w.g.Values[v.states].Size, 0))
	}
	w.op(o)
}
