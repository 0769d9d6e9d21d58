package llm

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// Profile is the step as a chain on one of the cards, with what of it a program can use.
func (a Ask) Profile() (*profiles.Profile, error) {
	p, err := Profile(a.Setup, a.Card)
	if err != nil {
		return nil, err
	}
	p.Device = &engine.Device{Name: a.Card.Name, Memory: a.Card.Memory - a.Context, ToHost: engine.Rate(engine.Int64(a.Card.Link)), ToDev: engine.Rate(engine.Int64(a.Card.back()))}
	return p, nil
}

// Profile is a step of one micro batch as a chain of blocks, for the methods that choose
// what is kept, computed again or moved. States stay on the device, gradients from the
// step's beginning on, as if they were accumulated. What a block gathers, reduces and
// computes with is its temporary. Checkpointing and offloading are left to the methods,
// whatever the setup says.
func Profile(s Setup, c *Card) (*profiles.Profile, error) {
	return profiles.Try(func() *profiles.Profile { return s.profile(c) })
}

// profile is Profile, which ends at an error.
func (s Setup) profile(c *Card) *profiles.Profile {
	s = s.keeping().normal()
	if s.Stages > 1 {
		refuse("the stages of a pipeline are no chain on one card")
	}
	m := s.Model
	inner, _ := s.tokens()
	p := newProgram(&s, s.end(true, true))
	chain := &engine.Chain{Name: m.Name, Batch: int(s.Batch), Input: size(inner, 8), Stages: p.stages(c, true)}
	lanes := *chain
	lanes.Stages = p.stages(c, false)
	for _, u := range p.all() {
		for _, w := range u.weights {
			chain.Resident.Weights += s.weightBytes(w)
			if w.trained {
				chain.Resident.Grads += s.at(w, 2, s.storedBytes(w, s.Grad))
			}
			if w.trained && !s.HostStep {
				chain.Resident.Optimizer += s.stateBytes(w)
			}
		}
		chain.Resident.Pinned += p.casted(u) + p.pinned(u)
		lanes.Resident.Pinned += p.casted(u)
	}
	return &profiles.Profile{Name: m.Name, Batch: int(s.Batch), DType: "bf16", Chain: chain, Graph: p.graph(&lanes, c),
		Source: profiles.Source{Tool: "memtide plan", Times: profiles.Estimated, Sizes: profiles.Analytic, Device: c.Name,
			Notes: []string{fmt.Sprintf("One rank of %d that share the states, %d x %d tokens, by the operators of the blocks.", s.Shard, s.Batch, s.Seq), s.beside()}}}
}

// keeping is the setup without a policy of checkpointing and offloading.
func (s Setup) keeping() Setup {
	s.Checkpoint, s.OffloadX, s.Stash = CheckpointNone, false, false
	s.Every, s.First, s.Group, s.Keep, s.OneGraph = 1, 0, 1, nil, false
	return s
}

// beside says what the operations have that the chain has not, and where its times come
// from.
func (s *Setup) beside() string {
	text := ""
	if s.gathers() && s.Shard > 1 {
		text = fmt.Sprintf("Taken as operations it has the network's: weights are gathered for each block and pass, one block ahead, and gradients reduced, at %.0f %% of the link between the cards. ", 100*linkShare)
	}
	if s.HostStep {
		return text + fmt.Sprintf("Taken as operations it has the optimizer's step on the host, of each block as soon as its gradient is there, at %s of host memory for a card.", engine.Rate(hostMemory).Text())
	}
	return text + "Taken as operations it has the optimizer's step, with states that can move; the new ones of a block stand beside the old ones while it runs."
}

// stages are the chain: the embedding, the blocks, and the head with the loss. shared says
// whether what blocks gather and reduce is their temporary.
func (p *program) stages(c *Card, shared bool) []engine.Stage {
	_, outer := p.s.tokens()
	x := size(outer*p.s.Model.Hidden, p.s.Compute)
	moved := seconds(float64(2*x) / (c.Bandwidth * trafficShare))
	out := []engine.Stage{{Name: "embedding", Kind: "embed", Out: x, Grad: x, Saved: x, Forward: moved, Back: moved}}
	for i, u := range p.units {
		out = append(out, p.blockStage(u, i, c, shared))
	}
	loss, norm := p.lossStage(c)
	for i := range out {
		next := norm
		if i < len(p.units) {
			next = p.units[i].block
		}
		if next.keepers[0] == 0 { // no backward reads this output
			out[i].Unsaved = true
			out[i].Saved -= out[i].Out
		}
	}
	return append(out, loss)
}

// casted are the copies of autocast, which a unit holds through the step.
func (p *program) casted(u *unit) engine.Bytes {
	q := &program{ledger: &ledger{}, s: p.s}
	was := u.whole
	u.whole = make([]handle, len(u.weights))
	q.cast(u)
	u.whole = was
	return q.live
}

// pinned is what a unit that is gathered holds beside its states through the step: its
// weights if they stay, and the gradient of a head, which is reduced last.
func (p *program) pinned(u *unit) (n engine.Bytes) {
	if !p.s.gathers() {
		return 0
	}
	for _, w := range u.weights {
		if u.stays {
			n += size(w.n, p.s.Compute)
		}
		if w.name == "head" || w.name == "embedding" && p.s.Model.Tied {
			n += size(w.n, p.s.Compute)
		}
	}
	return n
}

// seconds is a time, rounded up.
func seconds(s float64) time.Duration {
	return time.Duration(engine.Int64(s*float64(time.Second) + 0.999999999))
}

// blockStage plays one block by itself: what it keeps, and the most that it takes besides
// on the way there and back, with what it gathers and reduces if shared says so.
func (p *program) blockStage(u *unit, index int, c *Card, shared bool) engine.Stage {
	q := &program{ledger: &ledger{}, s: p.s, root: p.root, final: true}
	b := u.block
	x := q.take(b.values[0].bytes, Saved)
	in := q.live
	if shared {
		q.unshard(u)
		q.receive(u, true)
	}
	y, k := b.forward(q.ledger, x)
	if !u.stays {
		q.reshard(u)
	}
	q.give(q.previous)
	q.previous = 0
	gathered := q.classes[Gathered] // what is left of it is pinned
	out := b.values[b.output].bytes
	kept := q.live - in - out - gathered
	st := engine.Stage{Name: fmt.Sprintf("block %d", index+1), Kind: "block", Out: out, Grad: out, Saved: out + kept, FwdTemp: q.peak - in - out - kept - gathered}
	q.give(y)
	before := q.live - gathered
	q.peak = 0
	gradient := func(w weight) { q.give(q.take(p.madeBytes(w), Gradients)) }
	if shared {
		q.unshard(u)
		q.receive(u, false)
		gradient = func(w weight) { q.gradient(u, w) }
	}
	g := b.backward(q.ledger, x, q.take(out, Backwards), k, gradient)
	if shared {
		q.reduceUnit(u)
	}
	st.BwdTemp = max(0, q.peak-gathered-before-2*out)
	q.give(g)
	forward, back := c.passOf(b.tape)
	wait := p.tensorSeconds(c) / float64(2*len(p.units)) // half on the way there, half back
	st.Forward, st.Back = seconds(forward+wait), seconds(back+wait)
	for i := range u.grads { // the unit is played again for the next block of its kind
		u.grads[i], u.reduced = 0, 0
	}
	return st
}

// passOf are the seconds of a tape's forward and backward.
func (c *Card) passOf(t *tape) (forward, back float64) {
	var w work
	w.add(t)
	return w.seconds(c), w.back(c)
}

// lossStage is the last norm, the head and the loss, and the norm's block.
func (p *program) lossStage(c *Card) (engine.Stage, *block) {
	q := &program{ledger: &ledger{}, s: p.s, root: newUnit(p.root.weights, nil), first: true, last: true, final: true}
	_, outer := p.s.tokens()
	for i := range q.root.weights { // the head's gradient is there already
		q.root.grads[i], q.root.fresh[i] = q.take(1, Gradients), q.take(1, Gradients)
	}
	w := &pass{}
	x := q.take(size(outer*p.s.Model.Hidden, p.s.Compute), Saved)
	in := q.live
	q.lossForward(w, q.share(x))
	kept := q.live - in
	st := engine.Stage{Name: "head and loss", Kind: "loss", Out: 4, Grad: 4, Saved: 4 + kept, FwdTemp: q.peak - in - kept}
	q.peak = 0
	q.lossBackward(w)
	st.BwdTemp = max(0, q.peak-in-kept-in)
	inner, _ := p.s.tokens()
	head := 2 * float64(inner) * float64(p.s.Model.Hidden) * float64(p.s.Model.Words) / float64(p.s.Tensor) / (c.Peak * c.Share)
	traffic := lossTraffic * float64(p.logits()) / (c.Bandwidth * trafficShare)
	st.Forward, st.Back = seconds(head+traffic/3), seconds(2*head+2*traffic/3)
	return st, w.loss.norm
}
