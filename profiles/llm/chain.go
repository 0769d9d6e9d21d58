package llm

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// form is a set of forms in which a step can be written.
type form int

const (
	asChain form = 1 << iota
	asGraph
)

// Profile returns a step of one micro batch as a chain of blocks and as operations on one of the cards, for strategies
// that choose what is kept, computed again or moved, with the memory of the card that a program can use. Both are made
// from the step as it is played (Run), so that keeping everything has its peak. States stay on the device, and
// gradients appear as the backward makes them, unless they are accumulated. What a block of the chain gathers, reduces
// and needs as scratch is its temporary. The setup's checkpointing and offloading are ignored.
func (a Ask) Profile() (*profiles.Profile, error) {
	a.Setup = a.Setup.keeping()
	return a.profile(asChain | asGraph)
}

// profile is Profile in some forms. A policy of checkpointing stays: each block of the chain then keeps what that
// leaves, and computes the rest again in its backward.
func (a Ask) profile(as form) (*profiles.Profile, error) {
	a.Setup.Workspace = a.Card.Workspace
	p, err := profiles.Try(func() *profiles.Profile { return a.Setup.profile(a.Card, as) })
	if err != nil {
		return nil, err
	}
	p.Device = &engine.Device{Name: a.Card.Name, Memory: a.Card.Memory - a.Context,
		ToHost: engine.Rate(engine.Int64(a.Card.Link)), ToDev: engine.Rate(engine.Int64(a.Card.Back))}
	return p, nil
}

// profile is Profile in some forms. It ends if there is an error.
func (s Setup) profile(c *Card, as form) *profiles.Profile {
	s = s.normal()
	switch {
	case s.Stages > 1:
		refuse("the stages of a pipeline are no chain on one card")
	case s.OneGraph:
		refuse("one graph of all blocks cannot be told as a chain of blocks")
	case s.Stash && s.Model.At(0).Unet != nil:
		refuse("the skips of a U-Net whose activations move cannot be told as a chain of blocks")
	case s.Checkpoint != CheckpointNone && as&asGraph != 0:
		refuse("checkpointing within blocks is known of a chain of blocks, not of their operations")
	}
	m := s.Model
	o := newOutline(&s)
	out := &profiles.Profile{Name: m.Name, Batch: int(s.Batch), DType: "bf16",
		Source: profiles.Source{Tool: "memtide plan", Times: profiles.Estimated, Sizes: profiles.Analytic,
			Device: c.Name,
			Notes:  []string{fmt.Sprintf("One rank of %d that share the states, %d x %d tokens, by the operators of the blocks.", s.Shard, s.Batch, s.Seq), s.beside()}}}
	if as&asChain != 0 {
		out.Chain = o.chain(c)
	}
	if as&asGraph != 0 && s.chained() && as&asChain == 0 {
		refuse("weights or a part of the optimizer in host memory are not known as operations, only as a chain")
	}
	if as&asGraph != 0 && !s.chained() {
		out.Graph = o.graph(c)
	}
	return out
}

// outline is a step that was played operation by operation. Chains and graphs are made from it.
type outline struct {
	*program
	record []moment // see moment
	n      int      // stages: the embedding, the blocks, and the head with the loss
}

// newOutline plays a step that keeps everything.
func newOutline(s *Setup) *outline {
	o := &outline{program: newProgram(s, s.end(true, true)), n: int(s.Model.Layers) + 2}
	l := ledgers.Get().(*ledger)
	o.ledger, l.record = l, []moment{}
	o.play(steps)
	o.record = l.record
	o.ledger = &ledger{}
	l.reuse()
	return o
}

// forward and backward return the moments at which the passes of stage k, counted from 1, end;
// reduction and step return the moments at which these end.
func (o *outline) forward(k int) moment  { return o.record[k] }
func (o *outline) backward(k int) moment { return o.record[2*o.n+1-k] }
func (o *outline) reduction() moment     { return o.record[2*o.n+1] }
func (o *outline) step() moment          { return o.record[2*o.n+2] }

// keeping returns the setup without checkpointing and offloading.
func (s Setup) keeping() Setup {
	s.Checkpoint, s.OffloadX, s.Stash = CheckpointNone, false, false
	s.Every, s.First, s.Group, s.Keep, s.OneGraph, s.Swap = 1, 0, 1, nil, false, 0
	return s
}

// chained reports whether the step is not known as operations, only as a chain.
func (s *Setup) chained() bool {
	return s.HostWeights || s.HostStep && (s.HostPart < 100 || s.KeepMasters) || s.DeepSpeed
}

// beside returns a note on what the operations have that the chain does not, and where their times come from.
func (s *Setup) beside() string {
	text := ""
	if s.gathers() && s.Shard > 1 {
		text = fmt.Sprintf("Weights are gathered for each block and pass, and gradients reduced, at %.0f %% of the link between the cards. Where that takes longer than the blocks, they wait for it. Taken as operations, gathers run one block ahead, as early as a plan lets them. ", 100*linkShare)
	}
	const first = "The first stage of the chain is the optimizer, whose step is the last backward."
	switch {
	case s.chained():
		return text + first
	case s.HostStep:
		return text + fmt.Sprintf("Taken as operations it has the optimizer's step on the host, of each block as soon as its gradient is there, at %s of host memory for a card.", engine.Rate(hostMemory).Text())
	}
	return text + first + " Taken as operations it is one of each block, with states that can move."
}

// chain returns the step as a chain of blocks. Its first stage is the optimizer, whose forward does nothing and
// whose backward is the last operation. Temporaries are the memory of the played step beside what a chain knows,
// which includes gradients of weights as they appear.
func (o *outline) chain(c *Card) *engine.Chain {
	s := o.s
	optimizer := engine.Stage{Name: "optimizer", Kind: engine.OptimizerKind, Back: seconds(o.stepSeconds(c))}
	chain := &engine.Chain{Name: s.Model.Name, Batch: int(s.Batch),
		Stages: append([]engine.Stage{optimizer}, o.stages(c)...)}
	o.besides(c, chain.Stages)
	chain.Resident = o.resident()
	r := &chain.Resident
	for w := range o.weights() {
		if w.trained && o.accumulated() {
			r.Grads += s.at(w, 2, s.storedBytes(w, s.Grad))
		}
	}
	for _, u := range o.all() {
		r.Pinned += o.casted(u, false) + o.pinned(u)
	}
	r.Pinned += max(0, o.record[0].live-r.Weights-r.Grads-r.Optimizer) + o.skips()
	held := r.Total()
	for k := 1; k <= chain.Len(); k++ {
		st := &chain.Stages[k-1]
		if k > 1 {
			st.FwdTemp = max(0, o.forward(k-1).peak-held-st.Saved-chain.Beside(k))
		}
		held += st.Saved + chain.Beside(k) - chain.Beside(k-1)
	}
	for k := chain.Len(); k > 0; k-- {
		st := &chain.Stages[k-1]
		most := o.step().peak
		if k > 1 {
			most = o.backward(k - 1).peak
		}
		if k == 2 {
			most = max(most, o.reduction().peak)
		}
		st.BwdTemp = max(0, most-held-chain.Grad(k-1))
		held += chain.Grad(k-1) - st.Grad - st.Saved
	}
	return chain
}

// stages returns the embedding, the blocks, and the head with the loss, with their times and what they keep,
// without temporaries.
func (o *outline) stages(c *Card) []engine.Stage {
	read := o.finalNorm()
	written := func(i int) engine.Bytes { // input of block i, or of the head
		if i < len(o.units) {
			return o.units[i].block.values[blockInput].bytes
		}
		return read.values[blockInput].bytes
	}
	x := written(0)
	moved := seconds(float64(2*x) / (c.Bandwidth * trafficShare))
	out := []engine.Stage{{Name: "embedding", Kind: "embed", Out: x, Grad: x, Forward: moved, Back: moved}}
	wait := o.tensorSeconds(c) / float64(2*len(o.units)) // half on the way there, half back
	for i, u := range o.units {
		there, back, again, _ := o.unitSeconds(u, c)
		out = append(out, engine.Stage{Name: fmt.Sprintf("block %d", i+1), Kind: "block", Out: written(i + 1),
			Grad: written(i + 1), Forward: seconds(there + wait), Back: seconds(back + wait), Again: seconds(again)})
	}
	forward, back := o.headSeconds(c)
	head := "head and loss"
	switch beside := o.referenceSeconds(c); o.s.Objective {
	case ObjectiveDPO:
		forward += beside
		head = "head, reference, loss"
	case ObjectiveGRPO:
		out[0].Forward += seconds(beside)
		out[0].Name = "reference, embedding"
	}
	out = append(out, engine.Stage{Name: head, Kind: "loss", Forward: seconds(forward), Back: seconds(back)})
	for i := range out {
		st := &out[i]
		st.Saved = o.forward(i+1).acts - o.record[i].acts
		if i > 0 && out[i-1].Unsaved {
			st.Saved += out[i-1].Out
		}
		if i == len(out)-1 {
			break
		}
		next := read
		if i < len(o.units) {
			next = o.units[i].block
		}
		within := i < len(o.units) && int64(i)%o.s.Group != 0 // a checkpoint
		if !next.input || within || o.offloads(next) {        // no backward reads this output where it lies
			st.Unsaved = true
			st.Saved -= st.Out
		}
	}
	for i, u := range o.units {
		if u.front().keepsCopies() {
			out[i+1].Saved += o.casted(u, true) - o.casted(u, false)
		}
	}
	for i := range out { // a stage may free a skip that is larger than what it keeps
		if out[i].Saved = max(0, out[i].Saved); !out[i].Unsaved {
			out[i].Saved = max(out[i].Saved, out[i].Out)
		}
	}
	return out
}

// besides adds to the stages what runs beside them: copies of a policy or of weights in host memory, collectives, and
// the host's part of the optimizer. All blocks wait equally for what takes longer than their arithmetic.
func (o *outline) besides(c *Card, stages []engine.Stage) {
	blocks, n := stages[2:2+len(o.units)], time.Duration(len(o.units))
	wait := seconds(o.gatherWaits(c) / float64(2*n))
	tensor := seconds(o.tensorSeconds(c) / float64(2*n))
	there, back := o.swapWaits(c)
	waits := [2]time.Duration{seconds(there), seconds(back)} // of all blocks for copies
	if moved := float64(o.moved()); moved > 0 {
		there, back = o.swapLink(c)
		links := [2]time.Duration{seconds(moved/c.Link + there), seconds(moved/c.Back + back)}
		for i := range blocks {
			links[0], links[1] = links[0]-blocks[i].Forward, links[1]-blocks[i].Back
		}
		waits[0], waits[1] = max(waits[0], links[0]), max(waits[1], links[1])
	}
	for i := range blocks {
		st := &blocks[i]
		for pass, t := range []*time.Duration{&st.Forward, &st.Back} {
			longer := waits[pass]/n + wait
			*t += longer
			st.Asides[pass] = o.collectives(o.units[i], pass, c)
			st.Asides[pass].Network += tensor
			st.Asides[pass].Stall = longer + tensor
			o.swapAfter(i, pass == 0, func(out, in int) {
				st.Asides[pass].ToHost = seconds(float64(o.swapBytes(o.units[out])) / c.Link)
				st.Asides[pass].ToDev = seconds(float64(o.swapBytes(o.units[in])) / c.Back)
			})
			st.Asides[pass].ToDev += seconds(o.ramSeconds(o.units[i], c))
		}
		if st.Away = o.movedOf(i); st.Away > 0 {
			st.Asides[0].ToHost += seconds(float64(st.Away) / c.Link)
			st.Asides[1].ToDev += seconds(float64(st.Away) / c.Back)
		}
	}
	for pass := range 2 {
		stages[1].Asides[pass] = o.collectives(o.root, pass, c)
		if o.apart() {
			stages[len(stages)-1].Asides[pass] = o.collectives(o.head, pass, c)
		}
	}
	if o.s.HostStep {
		stages[0].Asides[1] = o.hostStep(c)
	}
}

// collectives returns what FSDP does beside a pass of a unit: its weights are gathered for both passes, unless they
// stay, after they were copied from the host if they wait there, and gradients are reduced.
func (o *outline) collectives(u *unit, pass int, c *Card) (a engine.Aside) {
	s := o.s
	if !s.gathers() {
		return a
	}
	var params, own, bytes float64
	for _, w := range u.weights {
		params += float64(w.n)
		own += float64(s.weightBytes(w))
	}
	gathers := pass == 0 || !s.NoReshard
	if gathers {
		bytes = params * float64(s.Compute)
	}
	if pass == 1 {
		bytes += params * float64(s.Reduce)
	}
	if s.Shard > 1 {
		a.Network = seconds(bytes / o.collectiveRate(c))
	}
	if s.HostWeights && gathers {
		a.ToDev = seconds(own / c.Back)
	}
	return a
}

// gatherWaits returns the seconds that FSDP's collectives of a micro batch take beyond the arithmetic. A chain has no
// network beside the blocks, so that these wait for it, also where a plan computes more.
func (o *outline) gatherWaits(c *Card) float64 {
	var forward, back float64
	for _, u := range o.units {
		there, again, _, _ := o.unitSeconds(u, c)
		forward, back = forward+there, back+again
	}
	if moved := float64(o.moved()); moved > 0 { // blocks wait for copies, too
		forward, back = max(forward, moved/c.Link), max(back, moved/c.Back)
	}
	there, again := o.headSeconds(c)
	return max(0, o.gatherSeconds(c)-forward-back-there-again)
}

// casted returns the bytes of autocast's copies of a unit's weights. Those of a block's frozen weights, which a product
// keeps and autocast does not, count if all is true; the others are there through the step.
func (p *program) casted(u *unit, all bool) engine.Bytes {
	q := &program{ledger: &ledger{}, s: p.s}
	was := u.whole
	u.whole = make([]handle, len(u.weights))
	q.cast(u)
	for i, w := range u.weights {
		if !all && !w.trained && u.block != nil {
			q.release(&u.whole[i])
		}
	}
	u.whole = was
	return q.live
}

// pinned returns what a gathered unit holds through the step beside its states: its weights if they stay, and the
// gradient of a head, which is reduced last.
func (p *program) pinned(u *unit) (n engine.Bytes) {
	if !p.s.gathers() {
		return 0
	}
	for _, w := range u.weights {
		if u.stays {
			n += size(w.n, p.s.Compute)
		}
		if w.trained && !p.apart() && (w.name == "head" || w.name == "embedding" && p.s.Model.Tied) {
			n += size(w.n, p.s.Compute)
		}
	}
	return n
}

func seconds(s float64) time.Duration {
	return time.Duration(engine.Int64(s*float64(time.Second) + 0.999999999))
}
