package llm

import (
	"maps"
	"slices"

	"memtide/profiles"
)

// allAdapters is the name under which all adapters of a block count if only their total is known.
const allAdapters = "adapters"

// program is a setup that is being played.
type program struct {
	*ledger
	s *Setup

	root  *unit // the embedding, with last norm and head unless they are a unit of their own
	head  *unit // last norm and head; equal to root if they are one unit with the embedding
	units []*unit
	nexts []*unit // layers that predict later tokens
	swaps []swapRow
	first bool // has the embedding
	last  bool // has the head

	held     handle    // logits that a variable of the program keeps
	previous handle    // the output of the last all-gather of a forward
	graph    handle    // what the graph of the last micro batch still has, see buffered
	reducing handle    // the input of the last reduce-scatter
	stepped  bool      // moments are allocated, and stay
	final    bool      // the micro batch under way is the step's last one
	blas     [2]handle // workspaces of cuBLAS: of the forward's thread, of autograd's
}

// share is the part of the model that a rank of a pipeline has.
type share struct {
	first, last bool    // whether it has the embedding, and the head
	layers      []int64 // layers in order
}

// end returns the share of the first stage of a pipeline, of the last stage, or of the only one.
func (s *Setup) end(first, last bool) share {
	of := share{first: first, last: last}
	count := ceil(s.Model.Layers, s.Stages)
	for i := range count {
		if !first {
			i += s.Model.Layers - count
		}
		of.layers = append(of.layers, i)
	}
	return of
}

// newProgram returns the program of a share, with its units.
func newProgram(s *Setup, of share) *program {
	first, last := of.first, of.last
	p := &program{ledger: &ledger{}, s: s, first: first, last: last, swaps: s.swaps()}
	m, trained := s.Model, s.trains()
	p.root, p.head = p.ends()
	if s.OneGraph && s.Checkpoint == CheckpointBudget {
		b := newWhole(s, of.layers)
		u := newUnit(p.blockWeights(b), b)
		u.stays = true
		p.units = []*unit{u}
		return p
	}
	type kind struct {
		made   Block
		needs  bool
		mode   CheckpointKind
		shared string // key of the shared values that it is the first to have
	}
	blocks := map[kind]*block{}
	seen := map[string]bool{}
	played := func(layer int64, k kind) *block {
		if b := blocks[k]; b != nil { // once a kind is first with no shared value, it never is again
			return b
		}
		before := maps.Clone(seen)
		t := newBlock(s, layer, k.needs, seen)
		k.shared = t.firsts()
		if blocks[k] == nil {
			blocks[k] = newPlayed(t, s, k.mode, false)
		}
		if s.Group > 1 && k.mode == CheckpointNone { // its light block has the same shared values
			seen = before
		}
		return blocks[k]
	}
	for i, layer := range of.layers {
		k := kind{made: *m.At(layer), needs: i > 0 || trained || !first || s.widened(), mode: s.Checkpoint}
		if n := int64(i); (n+1)%s.Every != 0 || s.First > 0 && n >= s.First {
			k.mode = CheckpointNone
		}
		if k.made.Unet != nil {
			k.needs = trained || slices.ContainsFunc(p.units, func(u *unit) bool { return u.block.adapts })
			if k.made.Unet.Plain {
				k.mode = CheckpointNone
			}
		}
		light := k
		if s.Group > 1 {
			k.mode = CheckpointNone
		}
		b := played(layer, k)
		u := newUnit(p.blockWeights(b), b)
		if s.Group > 1 {
			u.light = played(layer, light)
		}
		p.units = append(p.units, u)
	}
	p.addNexts()
	for i, u := range p.units {
		u.stays = s.NoReshard || i == len(p.units)-1 && !p.apart() && !s.Flat
	}
	return p
}

// ends returns the units of the embedding, and of last norm and head. They are one unit unless the setup
// separates them.
func (p *program) ends() (front, behind *unit) {
	s, m, trained := p.s, p.s.Model, p.s.trains()
	var root, head []weight
	if p.first { // positions and types are whole on all tensor parallel ranks
		words := m.Words * m.Hidden * given(!m.Ends.pictures(), 1)
		root = append(root, weight{name: "embedding", n: m.embedding() - words + ceil(words, s.Tensor),
			trained: trained, row: m.Hidden})
	}
	if p.last {
		b := newBuilder(newTape(0, trained), s.tail(), &m.Block)
		b.final()
		for _, o := range b.ops {
			head = append(head, o.weights...)
		}
		n := m.head() - m.finalParams()
		if m.Tied && !p.first && m.Words > 1 { // the last stage has a copy [Megatron-LM: gpt_model.py]
			n += m.Words * m.Hidden
		}
		if n > 0 {
			head = append(head, weight{name: "head", n: ceil(n, s.Tensor), trained: trained, row: m.Hidden,
				rows: given(s.Litgpt && !trained, m.Hidden)})
		}
	}
	// also by the configurations for all weights of Llama 3 [torchtune: recipes/configs, custom_sharded_layers]
	apart := s.EndsApart || s.Tune && trained && m.Words == 128_256
	if apart && s.gathers() && !m.Tied && len(root) > 0 && len(head) > 0 {
		front, behind = newUnit(root, nil), newUnit(head, nil)
		front.stays = s.NoReshard
	} else {
		front = newUnit(append(root, head...), nil)
		front.stays, behind = true, front
	}
	behind.stays = true
	return front, behind
}

// apart reports whether last norm and head are a unit of their own.
func (p *program) apart() bool { return p.head != p.root }

func (p *program) blockWeights(b *block) (out []weight) {
	l := p.s.LoRA
	for _, o := range b.ops {
		for _, w := range o.weights {
			if !w.adapter || l.Params == 0 {
				out = append(out, w)
			}
		}
	}
	if l != nil && l.Params > 0 {
		out = append(out, weight{name: allAdapters, n: ceil(l.Params, p.s.Model.Layers), trained: true, adapter: true})
	}
	return out
}

// all returns the units in the order of the forward, each once.
func (p *program) all() []*unit {
	all := slices.Compact(slices.Concat([]*unit{p.root}, p.units, p.nexts))
	if p.apart() {
		all = append(all, p.head)
	}
	return all
}

func (p *program) loads() {
	p.phase = Load
	r := p.towers()
	p.take(r.Weights, Weights)
	p.take(r.Grads, Gradients)
	p.take(r.Optimizer, Moments)
	made := p.made()
	for _, u := range p.all() {
		p.load(u)
	}
	p.giveAll(made)
	for _, u := range p.all() {
		p.loadMasters(u)
	}
	p.loadBuckets()
	p.take(p.engineBytes(), Working)
	p.toHost(p.driveBuffers())
	p.take(p.besideBytes(), Weights)
	p.loadSwapped()
	p.loadRamTorch()
	p.give(p.take(p.hybridClones(), Masters))
}

// pass is what a micro batch holds between its forward and its backward.
type pass struct {
	inputs []handle // by block
	kept   []*kept
	again  handle // output of the blocks of one checkpoint that ran again, until their backward ends
	loss   lossState
	held   []handle // what FSDP1's hooks hold until the backward ends, see hooked
	front  handle   // values kept before the first block
	beside []handle // by block of a UNet: its input for a later block, then the gradient of that use
	out    handle   // output of the last block, while the loss waits
	next   []next   // by layer that predicts a later token
}

func (p *program) step() {
	micro := p.s.micro()
	outputs := p.take(p.s.outputs, Logits)
	for m := range micro {
		if p.record != nil { // of the last micro batch
			p.record = p.record[:0]
			p.cut()
		}
		passes := make([]*pass, p.s.InFlight)
		for i := range passes {
			passes[i] = p.forwardPass()
		}
		more := p.take(p.s.more, Saved)
		for i, w := range passes {
			p.final = m == micro-1 && i == len(passes)-1
			p.backwardPass(w)
			p.release(&more)
		}
		p.graph = p.take(p.buffered(), Saved)
	}
	p.phase = Step
	p.give(outputs)
	p.wait()
	p.optimize()
	p.cut()
}

func (p *program) forwardPass() *pass {
	p.phase = Forward
	if p.s.Objective == ObjectiveGRPO {
		p.reference()
	}
	w := &pass{beside: make([]handle, len(p.units))}
	p.ready(p.root, true)
	x := p.take(p.units[0].front().values[blockInput].bytes, Saved)
	w.front = p.take(p.frontBytes(), Saved)
	p.workspace(0)
	if !p.root.stays {
		p.reshard(p.root)
	}
	p.cut()
	var leaving []handle // on their way to the host
	for i, u := range p.units {
		profiles.End(p.s.poll.Err())
		p.ready(u, true)
		b := u.front()
		y, k := b.forward(p.ledger, x)
		p.turn(y, Saved)
		p.join(w, i, x)
		p.uncast(u, false)
		if !u.stays && p.s.gathers() {
			p.reshard(u)
		}
		var out []handle
		switch {
		case !b.input || int64(i)%p.s.Group != 0:
			p.release(&x)
		case p.offloads(b):
			out = []handle{x}
			p.toHost(b.values[blockInput].bytes)
			x = 0
		}
		if p.s.Stash {
			out = append(out, b.send(p.ledger, k)...)
		}
		if p.s.Stash || out != nil {
			p.giveAll(leaving)
			leaving = out
		}
		if u.light != nil {
			k = nil
		}
		w.inputs = append(w.inputs, x)
		w.kept = append(w.kept, k)
		x = y
		p.swapAfter(i, true, p.swap)
		p.cut()
	}
	p.giveAll(leaving)
	switch {
	case p.last && p.s.lateLoss:
		w.out = x
	case p.last:
		p.lossForward(w, x)
	default:
		p.give(x)
	}
	p.release(&p.previous)
	p.release(&p.graph)
	p.cut()
	return w
}

// again runs the blocks of one checkpoint up to block last, and holds what all of them keep [Megatron:
// core/transformer/transformer_block.py, recompute_method uniform].
func (p *program) again(w *pass, last int) {
	first := last - last%int(p.s.Group)
	x := w.inputs[first]
	for i := first; i <= last; i++ {
		u := p.units[i]
		p.ready(u, false)
		y, k := u.block.forward(p.ledger, x)
		w.kept[i] = k
		switch {
		case i == first:
		case u.block.keepers[0] == 0:
			p.give(x)
		default:
			w.inputs[i] = x
		}
		x = y
	}
	w.again = x
}

func (p *program) offloads(b *block) bool {
	return b.input && (p.s.OffloadX && b.mode != CheckpointNone || p.s.Stash)
}

// workspace allocates the workspace of a thread at its first product that is not Transformer Engine's.
func (p *program) workspace(thread int) {
	if p.blas[thread] == 0 && (!p.s.TE || p.last || p.s.Attention == AttentionEager) {
		p.blas[thread] = p.take(p.s.Workspace, Working)
	}
}

// backwardPass runs the backward of a micro batch and reduces its gradients.
func (p *program) backwardPass(w *pass) {
	if w.out != 0 {
		p.lossForward(w, w.out)
	}
	bucket := p.bucket()
	defer func() { p.give(bucket) }()
	g := p.lossBackward(w)
	p.cut()
	p.phase = Backward
	fetch := func(i int) {
		if i >= 0 && w.inputs[i] == 0 && int64(i)%p.s.Group == 0 && p.offloads(p.units[i].front()) {
			w.inputs[i] = p.take(p.units[i].front().values[blockInput].bytes, Saved)
			p.toHost(-p.units[i].front().values[blockInput].bytes)
		}
	}
	for i := len(p.units) - 1; i >= 0; i-- {
		profiles.End(p.s.poll.Err())
		u := p.units[i]
		p.ready(u, false)
		p.unshardBefore(i)
		fetch(i)
		if !p.s.Stash {
			fetch(i - 1)
		}
		if w.kept[i] == nil {
			fetch(i - i%int(p.s.Group))
			p.again(w, i)
		}
		p.part(w, i, g)
		g = p.unitBackward(u, w.inputs[i], g, w.kept[i])
		p.give(w.beside[i])
		if p.hooked(u) {
			w.held = append(w.held, w.inputs[i], p.share(g))
		} else {
			p.give(w.inputs[i])
		}
		if i%int(p.s.Group) == 0 {
			p.release(&w.again)
		}
		p.reduceUnit(u)
		p.swapAfter(i, false, p.swap)
		p.cut()
	}
	p.give(w.front)
	p.reduceEnds(g)
	p.release(&w.loss.held)
	p.giveAll(w.held)
}

// unitBackward runs the backward of a block from the gradient of its output, and makes the gradients of its weights.
func (p *program) unitBackward(u *unit, x, g handle, k *kept) handle {
	if p.s.Flat && u.block.whole && !u.stays { // the forward that runs again is a forward to FSDP1, too
		k.ran = func() {
			p.reshard(u)
			p.ready(u, false)
		}
	}
	g = u.block.backward(p.ledger, x, g, k, func(w weight) { p.gradient(u, w) })
	if u.block.adapts && p.s.LoRA.Params > 0 {
		p.gradient(u, u.weights[len(u.weights)-1])
	}
	return g
}

// reduceEnds ends the backward from g, the gradient of the embedding's output. It makes the gradient of the
// embedding, and reduces the gradients of embedding and head.
func (p *program) reduceEnds(g handle) {
	p.phase = Reduction
	p.receive(p.root, false)
	if p.first && p.s.trains() {
		p.embeddingBackward()
	}
	p.give(g)
	p.cut()
	p.reduceUnit(p.root)
	p.release(&p.reducing)
	p.cut()
}

// embeddingBackward makes the gradient of the embedding. The gradient of a tied embedding is added to that of the head.
func (p *program) embeddingBackward() {
	u := p.root
	if p.s.Model.Tied && p.last && u.fresh[0] != 0 {
		p.give(p.take(size(u.weights[0].n, p.s.Compute), Gradients))
		if !p.s.gathers() {
			p.release(&u.fresh[0])
		}
		return
	}
	p.newGradient(u, 0)
}

func (p *program) optimize() {
	s := p.s
	if s.Optimizer == StepNone || s.HostStep && s.HostPart == 100 && !s.KeepMasters {
		p.drop()
		return
	}
	if !p.stepped {
		p.stepped = true
		p.hybridGradients()
		for w := range p.weights() {
			if w.trained {
				n := s.moments(w)
				p.take(s.stays(n[0]), Moments)
				p.take(s.stays(n[1]), Moments)
			}
		}
	}
	if !s.StepInBack {
		wide := p.widenGradients()
		p.stepTemps()
		p.give(wide)
	}
	p.drop()
}

func (p *program) stepTemps() {
	var all []handle
	for w := range p.weights() {
		if !w.trained {
			continue
		}
		var of []handle
		temps, together := p.s.stepTemps(w)
		for _, bytes := range temps {
			of = append(of, p.take(p.s.stays(bytes), StepTemps))
		}
		if together {
			all = append(all, of...)
		} else {
			p.giveAll(of)
		}
	}
	p.giveAll(all)
}

func (p *program) drop() {
	if p.s.Static {
		return
	}
	for _, u := range p.all() {
		p.release(&u.reduced)
		p.giveAll(u.grads)
	}
}
