package llm

import (
	"slices"
	"strconv"
	"time"

	"memtide/engine"
	_ "memtide/engine/lanes" // operations of other lanes are played here
	"memtide/engine/sim"
	"memtide/profiles"
)

// graph returns the step of one micro batch with its optimizer as operations: those of a chain of blocks, and
// those of the network and the host. Weights are gathered for each block and pass, one block ahead, and gradients
// are reduced one block at a time [torch: FSDPParamGroup]. The optimizer steps on a unit's states where they are,
// on the host as soon as the gradient is there. States and gradients are values that can move.
func (o *outline) graph(c *Card) *engine.Graph {
	of := engine.ExpandChain(&engine.Chain{Stages: o.stages(c)})
	nameStages(of)
	w := &grapher{outline: o, c: c, of: of,
		g:  &engine.Graph{Values: of.Values, Done: engine.NoValue, Stages: of.Stages},
		at: make([]engine.OpID, 2*o.n), after: engine.NoValue, reduced: engine.NoOp}
	for i, u := range o.all() {
		w.units = append(w.units, w.states(u, i))
		w.numbers += w.trained(w.units[i])
	}
	w.g.Fixed = o.record[0].live + o.skips()
	for i := range w.g.Values {
		if v := &w.g.Values[i]; v.Initial&engine.OnDevice != 0 {
			w.g.Fixed -= v.Size
		}
	}
	w.forwards()
	for k := o.n; k > 0; k-- {
		if k > 1 && w.unit(k-1) != w.unit(o.n) && !w.units[w.unit(k-1)].stays {
			after := w.at[of.Fwd(o.n)]
			if k < o.n {
				after = w.at[of.Bwd(k+1)]
			}
			w.gather(w.unit(k-1), after)
		}
		w.writeBackward(k)
		if w.unit(k) != 0 {
			w.reduce(w.unit(k))
		}
	}
	w.reduce(0)
	w.optimizer()
	w.measure()
	return w.g
}

// nameStages names the operations and values of a chain after its stages.
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
	*outline
	c       *Card
	of      *engine.ChainGraph
	g       *engine.Graph
	units   []*values        // by unit, the root first
	at      []engine.OpID    // the operation in g, by operation of the chain
	reduced engine.OpID      // the reduction of embedding and head
	stepped []engine.OpID    // steps of the optimizer on the device
	after   engine.ValueID   // value of no bytes: the gradients of the stage after this one exist
	numbers float64          // numbers on which the rank steps
	updated []engine.ValueID // weights that the host has stepped on
}

// values are the values of a unit; NoValue for those that it does not have.
type values struct {
	*unit
	name   string
	shard  engine.ValueID   // stored weights
	whole  engine.ValueID   // gathered or cast weights
	states engine.ValueID   // states of the optimizer
	made   []engine.ValueID // gradients, as the backward makes them or as they are stored
	share  engine.ValueID   // the rank's share of the gradient, which the optimizer reads
}

func (w *grapher) value(name string, kind engine.ValueKind, n engine.Bytes, at engine.Place) engine.ValueID {
	w.g.Values = append(w.g.Values, engine.Value{Name: name, Kind: kind, Size: n, Initial: at, PartOf: engine.NoValue})
	return engine.ValueID(len(w.g.Values) - 1)
}

func (w *grapher) op(o engine.Op) engine.OpID {
	w.g.Ops = append(w.g.Ops, o)
	return engine.OpID(len(w.g.Ops) - 1)
}

// unit returns the unit of a stage. The first and the last stage belong to unit 0, unless the head is apart.
func (w *grapher) unit(k int) int {
	if k == w.n && !w.apart() {
		return 0
	}
	return k - 1
}

// states returns the values of unit i: those that exist from the start, and those that operations will make.
func (w *grapher) states(u *unit, i int) *values {
	s := w.s
	v := &values{unit: u, name: "block " + strconv.Itoa(i), shard: engine.NoValue, whole: engine.NoValue,
		states: engine.NoValue, share: engine.NoValue}
	switch {
	case i == 0 && w.apart():
		v.name = "embedding"
	case i == 0:
		v.name = "embedding and head"
	case u == w.head:
		v.name = "head"
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
	if s.HostStep && share > 0 { // the host replaces the weights
		w.g.Values[v.shard].Kind = engine.KindState
	}
	if cast := w.casted(u, true); cast > 0 {
		v.whole = w.value("weights of "+v.name+" in the compute type", engine.KindState, cast, 0)
	} else if s.gathers() {
		v.whole = w.value("gathered weights of "+v.name, engine.KindState, gathered, 0)
	}
	if kept > 0 && s.Optimizer != StepNone {
		kind, at := engine.KindWeight, engine.OnDevice
		if s.HostStep {
			kind, at = engine.KindState, engine.OnHost
		}
		v.states = w.value("optimizer states of "+v.name, kind, kept, at)
	}
	switch {
	case share == 0:
	case s.gathers() && w.accumulated(): // the gradient is resident and only added to
		v.share = w.value("gradient of "+v.name, engine.KindState, 0, 0)
	case s.gathers():
		v.share = w.value("gradient of "+v.name, engine.KindState, share, 0)
	case w.accumulated():
		v.made = append(v.made, w.value("gradient of "+v.name, engine.KindState, share, engine.OnDevice))
	}
	return v
}

// accumulated reports whether gradients have a buffer that exists when the micro batch begins.
func (p *program) accumulated() bool { return (p.s.Static || p.s.Accumulate > 1) && !p.s.HostStep }

// gather writes the all-gather of a unit after the operation after, or first if after is NoOp. The buffer that is
// copied out belongs to the operations beside it.
func (w *grapher) gather(i int, after engine.OpID) {
	v := w.units[i]
	if !w.s.gathers() {
		return
	}
	o := engine.Op{Name: "gather " + v.name, Lane: engine.LaneNetwork, Time: w.collective(w.g.Values[v.whole].Size),
		In: []engine.ValueID{v.shard}, Out: []engine.ValueID{v.whole}}
	if after != engine.NoOp {
		o.After = []engine.OpID{after}
	}
	w.op(o)
}

// collective returns how long the ranks take to gather or reduce n bytes; a single rank takes no time.
func (w *grapher) collective(n engine.Bytes) time.Duration {
	if w.s.Shard < 2 {
		return 0
	}
	return seconds(float64(n) / w.collectiveRate(w.c))
}

// cast writes autocast's copy of a unit's weights, once. It lives until the unit's backward.
func (w *grapher) cast(i int) {
	if v := w.units[i]; v.whole != engine.NoValue && !w.s.gathers() {
		w.op(engine.Op{Name: "cast " + v.name, Once: true, In: []engine.ValueID{v.shard},
			Out: []engine.ValueID{v.whole}})
	}
}

func (w *grapher) forwards() {
	w.gather(0, engine.NoOp)
	w.gather(1, engine.NoOp)
	w.cast(0)
	for k := 1; k <= w.n; k++ {
		after := engine.NoOp
		if k > 1 {
			after = w.at[k-2]
		}
		if k > 1 && k < w.n && w.unit(k+1) != 0 { // stage 2 is gathered above
			w.gather(w.unit(k+1), after)
		}
		if k > 1 && k < w.n {
			w.cast(w.unit(k))
		}
		o := w.of.Ops[w.of.Fwd(k)]
		o.In = append(slices.Clone(o.In), w.weightsOf(k))
		w.at[k-1] = w.op(o)
	}
}

// weightsOf returns the weights that an operation of a stage reads. The embedding reads the stored ones unless
// weights are gathered.
func (w *grapher) weightsOf(k int) engine.ValueID {
	v := w.units[w.unit(k)]
	if v.whole == engine.NoValue || k == 1 && !w.s.gathers() {
		return v.shard
	}
	return v.whole
}

// writeBackward writes the backward of a stage, and after it an operation of no time that makes the gradients of
// its weights. Until then they are among the temporaries of the backward, since they appear one by one while
// other values are freed.
func (w *grapher) writeBackward(k int) {
	v, name := w.units[w.unit(k)], w.of.Chain.Stages[k-1].Name
	o := w.of.Ops[w.of.Bwd(k)]
	o.In = append(slices.Clone(o.In), w.weightsOf(k))
	if w.after != engine.NoValue {
		o.In = append(o.In, w.after)
	}
	if !w.s.gathers() && w.accumulated() {
		o.In = append(o.In, v.made...)
	}
	w.at[w.of.Bwd(k)] = w.op(o)
	w.after = engine.NoValue
	bytes := w.made(k)
	if bytes == 0 {
		return
	}
	o = engine.Op{Name: "gradients of " + name, Pass: engine.Backward, In: []engine.ValueID{w.of.Grad(k - 1)},
		Out: []engine.ValueID{w.value("new gradient of "+name, engine.KindState, bytes, 0)}}
	v.made = append(v.made, o.Out[0])
	if k > 1 {
		w.after = w.value("order behind "+name, engine.KindState, 0, 0)
		o.Out = append(o.Out, w.after)
	}
	w.op(o)
}

// made returns the bytes of the new gradients after the backward of a stage. The last stage makes those of the
// head, the first stage those of the embedding, unless they are tied.
func (w *grapher) made(k int) (n engine.Bytes) {
	s, root := w.s, w.unit(k) == 0
	if !s.gathers() && (w.accumulated() || s.StepInBack) {
		return 0
	}
	for _, x := range w.units[w.unit(k)].weights {
		first := x.name == "embedding" && !s.Model.Tied
		switch {
		case !x.trained, root && first != (k == 1):
		case s.gathers():
			n += size(x.n, s.Compute)
		default:
			n += s.at(x, 2, s.storedBytes(x, s.Grad))
		}
	}
	return n
}

// reduce writes the reduce-scatter of a unit, and the optimizer's step on it if that does not wait for other units.
func (w *grapher) reduce(i int) {
	v := w.units[i]
	if v.share != engine.NoValue {
		var all engine.Bytes
		for _, x := range v.weights {
			if x.trained {
				all += size(x.n, w.s.Reduce)
			}
		}
		id := w.op(engine.Op{Name: "reduce " + v.name, Pass: engine.Backward, Lane: engine.LaneNetwork, Once: true,
			Time: w.collective(all), In: v.made, Out: []engine.ValueID{v.share}})
		if i == 0 { // nothing runs beside it
			w.reduced = id
		}
		v.made = []engine.ValueID{v.share}
	}
	switch {
	case w.s.HostStep && v.states != engine.NoValue: // new weights come back in place of the old ones
		fresh := w.value("new weights of "+v.name, engine.KindState, w.g.Values[v.shard].Size, 0)
		w.op(engine.Op{Name: "step " + v.name, Pass: engine.Backward, Lane: engine.LaneCPU,
			Time: seconds(w.trained(v) * stepTraffic / hostMemory),
			In:   append(slices.Clone(v.made), v.states), Out: []engine.ValueID{fresh}})
		w.updated = append(w.updated, fresh)
	case w.s.StepInBack && !w.s.HostStep:
		w.writeStep(v)
	}
}

// trained returns the number of a unit's numbers on which the rank steps.
func (w *grapher) trained(v *values) (n float64) {
	for _, x := range v.weights {
		if x.trained {
			n += float64(w.s.at(x, 1, 1))
		}
	}
	return n
}

// optimizer writes the steps on the device, unit by unit after the whole backward. New weights from the host are
// there at the end.
func (w *grapher) optimizer() {
	if w.s.HostStep {
		w.op(engine.Op{Name: "new weights", Pass: engine.Backward, In: w.updated})
		return
	}
	if !w.s.StepInBack {
		for _, v := range w.units {
			w.writeStep(v)
		}
	}
}

// writeStep writes the optimizer's step of a unit on the device, in place: it reads the weights and states that
// it changes. Steps after the backward wait for its end.
func (w *grapher) writeStep(v *values) {
	n := w.trained(v)
	if n == 0 || w.s.Optimizer == StepNone {
		return
	}
	o := engine.Op{Name: "step " + v.name, Pass: engine.Backward, Time: seconds(w.stepSeconds(w.c) * n / w.numbers),
		In: append(slices.Clone(v.made), v.shard)}
	if v.states != engine.NoValue {
		o.In = append(o.In, v.states)
	}
	if w.s.StepInBack {
		w.op(o)
		return
	}
	o.In = append(o.In, w.of.Grad(0))
	w.stepped = append(w.stepped, w.op(o))
}

// measure gives operations temporaries, so that the memory of each reaches the peak of the played step beside
// what exists if everything is kept. The optimizer's temporaries are those of its first operation, since kernels
// that take lists make all of them at once.
func (w *grapher) measure() {
	most := map[engine.OpID]engine.Bytes{}
	for k := 1; k <= w.n; k++ {
		most[w.at[w.of.Fwd(k)]], most[w.at[w.of.Bwd(k)]] = w.forward(k).peak, w.backward(k).peak
	}
	if w.reduced != engine.NoOp {
		most[w.reduced] = w.reduction().peak
	}
	if w.stepped != nil {
		most[w.stepped[0]] = w.step().peak
	}
	for id, used := range w.beside(most) {
		w.g.Ops[id].Temp = max(0, most[id]-used)
	}
	for _, id := range w.stepped {
		w.g.Ops[id].Temp = w.g.Ops[w.stepped[0]].Temp
	}
}

// beside plays the operations, keeping everything, and returns the peak of memory during each operation in some,
// without its temporaries.
func (w *grapher) beside(some map[engine.OpID]engine.Bytes) map[engine.OpID]engine.Bytes {
	for id := range some {
		w.g.Ops[id].Temp = 1 // so that the trace has a life for the operation
	}
	p := &engine.Problem{Graph: w.g, Device: engine.Device{ToHost: engine.Rate(engine.Int64(w.c.Link)),
		ToDev: engine.Rate(engine.Int64(w.c.Back))}, Budget: engine.NoLimit}
	sol, err := engine.Lookup(engine.KeepAll).Solve(p, nil, nil)
	profiles.End(err)
	t, err := sim.Play(p, sol.Schedule)
	profiles.End(err)
	last := 0
	for _, l := range t.Lives {
		last = max(last, l.StartSeq, l.EndSeq)
	}
	used := make([]engine.Bytes, last+2)
	for _, l := range t.Lives {
		used[l.StartSeq] += l.Bytes
		used[l.EndSeq] -= l.Bytes
	}
	for i := range used[1:] {
		used[i+1] += used[i]
	}
	out := map[engine.OpID]engine.Bytes{}
	for _, l := range t.Lives {
		if l.Op != engine.NoOp {
			out[l.Op] = w.g.Fixed + slices.Max(used[l.StartSeq:max(l.EndSeq, l.StartSeq+1)]) - 1
		}
	}
	return out
}
