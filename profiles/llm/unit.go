package llm

import "memtide/engine"

// unit is what is gathered and reduced at once: a block, or the ends before and after all blocks.
type unit struct {
	weights []weight
	block   *block // nil for the ends
	light   *block // the block as it runs in the forward if several blocks are one checkpoint, else nil

	base     []handle // frozen weights that block swap moves, while they are on the card
	grads    []handle // by weight: the stored gradient, or 0
	summed   handle   // gradients of earlier micro batches of a pipeline, not reduced
	reduced  handle   // the gradients of FSDP: one storage
	whole    []handle // by weight: the gathered or cast weight, or 0
	fresh    []handle // by weight: the gradient that is not reduced yet, or 0
	incoming handle   // an all-gather under way
	stays    bool     // gathered weights are kept from the forward to the backward
}

func newUnit(ws []weight, b *block) *unit {
	n := len(ws)
	return &unit{weights: ws, block: b, grads: make([]handle, n), whole: make([]handle, n), fresh: make([]handle, n)}
}

// front returns the block as it runs in the forward.
func (u *unit) front() *block {
	if u.light != nil {
		return u.light
	}
	return u.block
}

// load allocates the stored weights, which stay, and gradients that have a buffer.
func (p *program) load(u *unit) {
	for i, w := range u.weights {
		if w.trained && p.s.Buckets {
			p.take(size(w.n, p.s.storedBytes(w, p.s.Grad)), Buffers)
		}
		if !p.s.moves(w) && !p.s.HostWeights {
			p.take(p.s.weightBytes(w), Weights)
		}
		p.toHost(p.s.hostBytes(w))
		if p.s.cachesFloat8() && w.rows > 0 && u != p.root && u != p.head {
			p.take(size(w.n, 2), Gathered)
		}
		if w.trained && p.s.Static {
			u.grads[i] = p.take(p.s.at(w, 2, p.s.storedBytes(w, p.s.Grad)), Gradients)
		}
	}
}

// loadMasters allocates what the optimizer has beside the stored weights from the beginning.
func (p *program) loadMasters(u *unit) {
	for _, w := range u.weights {
		if n := p.s.at(w, 1, p.s.Master); w.trained && p.s.KeepMasters {
			p.take(n, Masters)
		} else if w.trained {
			p.take(p.s.stays(n), Masters)
		}
	}
}

// made allocates the weights that Megatron's modules are made with. Its distributed optimizer has those that train in a
// buffer of their own, into which they are copied once it and that of the gradients are there [Megatron-LM:
// core/distributed/param_and_grad_buffer.py].
func (p *program) made() (out []handle) {
	for w := range p.weights() {
		if p.s.TE && p.s.Zero == 1 && w.trained {
			out = append(out, p.take(p.s.weightBytes(w), Weights))
		}
	}
	return out
}

// unshard gathers the weights of a unit: it allocates the rank's share in the compute type and the collective's
// output, from which receive copies every weight [torch: foreach_all_gather].
func (p *program) unshard(u *unit) {
	if len(u.weights) == 0 { // the ends on a middle rank of a pipeline
		return
	}
	if u != p.root && u != p.head {
		p.cast(u)
	}
	if p.s.Flat && p.s.gathers() { // also if they are there [torch: distributed/fsdp/_runtime_utils.py, _unshard]
		p.limit()
	}
	if !p.s.gathers() || u.whole[0] != 0 || u.incoming != 0 {
		return
	}
	var all, own engine.Bytes
	for _, w := range u.weights {
		all += p.s.gathered(w, w.n)
		own += p.s.gathered(w, ceil(w.n, p.s.split(w)))
	}
	if p.s.Flat { // weights are read where the collective writes them; the share is narrowed first
		if p.s.Weight == p.s.Compute {
			own = 0
		}
		share := p.takeIn(narrow, own, Buffers)
		u.whole[0] = p.takeLate(gather, all, Gathered)
		p.give(share)
		return
	}
	share := p.takeIn(gather, own, Buffers)
	u.incoming = p.takeIn(gather, all, Buffers)
	p.give(share)
}

// unshardBefore gathers what the backward needs after that of block i: the block before it, or an embedding that
// is a unit of its own. FSDP1 does not gather a unit early if its forward had no gradients, as within a reentrant
// checkpoint [torch: distributed/fsdp/_runtime_utils.py, _get_handle_to_prefetch and _register_pre_backward_hooks].
func (p *program) unshardBefore(i int) {
	switch {
	case i > 0 && !(p.s.Flat && p.units[i-1].block.whole):
		p.unshard(p.units[i-1])
	case i == 0 && p.apart():
		p.unshard(p.root)
	}
}

// ready gathers the weights of a unit if needed, and waits for them.
func (p *program) ready(u *unit, forward bool) {
	p.unshard(u)
	p.receive(u, forward)
}

// cast makes the copies in the compute type of weights that autocast narrows, those of products. They live until
// the unit's backward. An embedding is read without a copy unless it is the head, too.
func (p *program) cast(u *unit) {
	if p.s.gathers() {
		return
	}
	for i, w := range u.weights {
		if u.whole[i] == 0 && p.casts(w) {
			copies := int64(1)
			if p.s.Litgpt && w.name == "head" && !w.trained { // one for each chunk, since autocast caches none
				copies = ceil(p.s.Seq, headChunk)
			}
			u.whole[i] = p.take(size(copies*w.n, p.s.Compute), Gathered)
		}
	}
}

// casts reports whether a product reads a copy of a weight in the compute type. Grouped products of experts have
// no autocast.
func (p *program) casts(w weight) bool {
	switch {
	case w.adapter: // also beside narrow weights
		return p.s.autocast() && p.s.LoRA.Stored > p.s.Compute && w.row > 0
	case p.s.quantised(w), p.s.Weight <= p.s.Compute:
		return false
	case w.name == "embedding":
		return p.s.autocast() && p.s.Model.Tied && p.last
	case !p.s.autocast():
		return true
	}
	return w.rows > 0 && !w.expert || w.conv || w.name == "head" || w.name == "router"
}

// uncast frees the copies of weights of a checkpointed block that autocast holds no longer: those of frozen weights
// when the block has run, since it caches none of them, and all others when the forward ends [torch:
// aten/src/ATen/autocast_mode.cpp, cached_cast].
func (p *program) uncast(u *unit, trained bool) {
	for i, w := range u.weights {
		if p.s.autocast() && !u.front().keepsCopies() && w.trained == trained {
			p.release(&u.whole[i])
		}
	}
}

// keepsCopies reports whether a block's products keep copies of their weights for the backward: those that do not run
// again do.
func (b *block) keepsCopies() bool { return b.mode == CheckpointNone || b.mode == CheckpointModules }

// receive copies a finished all-gather into the weights. In the forward the output of the collective stays until
// the next one is copied out, in the backward it is freed [torch: wait_for_unshard].
func (p *program) receive(u *unit, forward bool) {
	if u.incoming == 0 {
		return
	}
	if forward {
		p.release(&p.previous)
	}
	for i, w := range u.weights {
		u.whole[i] = p.take(p.s.gathered(w, w.n), Gathered)
	}
	if forward {
		p.previous = u.incoming
	} else {
		p.give(u.incoming)
	}
	u.incoming = 0
}

// reshard frees the gathered weights of a unit. FSDP1 queues an event behind their use [torch:
// distributed/fsdp/_runtime_utils.py, _reshard].
func (p *program) reshard(u *unit) {
	if p.s.Flat && p.s.gathers() && len(u.whole) > 0 && u.whole[0] != 0 {
		defer p.mark()
	}
	p.giveAll(u.whole)
}

// gradient allocates the gradient of a weight as the backward makes it, unless a product adds it to the stored one.
func (p *program) gradient(u *unit, w weight) {
	if p.s.Adds && w.rows > 0 && !w.adapter || w.adapter && p.s.LoRA.Params > 0 && w.name != allAdapters {
		return
	}
	for i := range u.weights {
		if u.weights[i].name == w.name && u.weights[i].n == w.n && u.fresh[i] == 0 {
			p.newGradient(u, i)
			return
		}
	}
}

func (p *program) newGradient(u *unit, i int) {
	w := u.weights[i]
	bytes := p.s.storedBytes(w, p.s.Compute)
	if p.s.gathers() {
		bytes = p.s.Compute
	}
	h := p.take(size(w.n, bytes), Gradients)
	switch {
	case p.s.gathers() && p.s.DeepSpeed, p.s.bucketed(): // reduced at once, into the share of the rank or of its host
		p.give(h)
	case p.s.gathers():
		u.fresh[i] = h
	case p.s.StepInBack, u.grads[i] != 0: // stepped on, or added to the stored gradient
		p.give(h)
	case p.s.Zero < 2 && p.s.Grad == p.s.Compute:
		u.grads[i] = h
	default:
		u.grads[i] = p.take(p.s.at(w, 2, p.s.storedBytes(w, p.s.Grad)), Gradients)
		p.give(h)
	}
}

// reduceUnit ends a unit's backward under FSDP. It frees the weights and copies the gradients into the input of a
// reduce-scatter, which stays until the next one. The output is the rank's share [torch: FSDPParamGroup.post_backward].
func (p *program) reduceUnit(u *unit) {
	if !p.s.gathers() {
		p.reshard(u)
		return
	}
	var all, flat, out, stored engine.Bytes
	for i, w := range u.weights {
		if u.fresh[i] != 0 {
			flat += size(w.n, p.s.Compute)
			all += size(w.n, p.s.Reduce)
			out += p.s.at(w, 3, p.s.Reduce)
			stored += p.s.at(w, 3, p.s.storedBytes(w, p.s.Grad))
		}
	}
	if p.s.Flat && all > 0 {
		p.reduceFlat(u, flat, all, out, stored)
		return
	}
	if !p.s.NoReshard || p.final {
		p.reshard(u)
	}
	if all == 0 {
		return
	}
	if (p.s.Stages > 1 || p.s.Deferred) && !p.final {
		p.accumulate(u, all)
		return
	}
	p.give(p.reducing)
	// Before June 2024 the input was in the reductions' stream, which frees it at once [pytorch#129721].
	from := compute
	if p.s.ReduceAside {
		from = reduce
	}
	p.reducing = p.takeIn(from, all, Buffers)
	p.giveAll(u.fresh)
	p.release(&u.summed)
	share := p.takeIn(reduce, out, Gradients)
	if p.s.ReduceAside {
		p.release(&p.reducing)
	}
	if stored != out {
		narrow := p.takeIn(reduce, stored, Gradients)
		p.give(share)
		share = narrow
	}
	p.keepShare(u, share)
}

// keepShare holds the reduced gradients of a unit, unless the optimizer steps on them at once, they go to the host, or
// they are added to earlier ones.
func (p *program) keepShare(u *unit, share handle) {
	if p.s.StepInBack || p.s.HostWeights || u.reduced != 0 {
		p.give(share)
		return
	}
	u.reduced = share
}

// micro is how many micro batches of a step are played. What comes between the first and the last is new under FSDP1
// alone, where gradients stay whole and a new one lies beside their sum.
func (s *Setup) micro() int64 {
	if s.Flat && s.Deferred {
		return min(s.Accumulate, 3)
	}
	return min(s.Accumulate, 2)
}

// reduceFlat ends a unit's backward under FSDP1. The gradient of the flat parameter is put together in the stream of
// gathers, added to that of earlier micro batches, which it outlives until the hook ends, and widened in the stream of
// reductions, and its share stays [torch: distributed/fsdp/_runtime_utils.py, _post_backward_hook; autograd/engine.cpp,
// where post hooks hold a node's inputs].
func (p *program) reduceFlat(u *unit, flat, all, out, stored engine.Bytes) {
	sum := handle(0) // the sum of the two gradients of an embedding that is tied to the head
	if p.s.Model.Tied && u == p.root && u == p.head {
		sum = p.takeIn(gather, size(u.weights[0].n, p.s.Compute), Buffers)
	}
	held, class := p.s.Deferred && !p.final, Buffers
	if held && u.summed == 0 {
		class = Gradients
	}
	whole := p.takeLate(gather, flat, class)
	p.give(sum)
	p.giveAll(u.fresh)
	if !p.s.NoReshard || p.final {
		p.reshard(u)
	}
	if held && u.summed == 0 {
		u.summed = whole
		return
	}
	if held {
		p.give(whole)
		return
	}
	wide := p.takeIn(reduce, engine.Bytes(given(p.s.Reduce != p.s.Compute, int64(all))), Buffers)
	share := p.takeIn(reduce, out, Gradients)
	if stored != out {
		own := p.takeIn(reduce, stored, Gradients)
		p.give(share)
		share = own
	}
	p.give(wide)
	p.give(whole)
	p.release(&u.summed)
	p.keepShare(u, share)
}

// accumulate adds a micro batch's gradients in the type of the reduction. A pipeline reduces after its last micro batch
// [torch: to_accumulated_grad_if_needed].
func (p *program) accumulate(u *unit, all engine.Bytes) {
	if u.summed == 0 {
		u.summed = p.take(all, Gradients)
	}
	p.giveAll(u.fresh)
}

// hooked reports whether FSDP1 has a hook on the input of a checkpointed block, as it has where the flat parameter of
// a unit is frozen. Within a reentrant checkpoint the input of the unit is a leaf, which the hook refers to: it and its
// gradient stay until the hooks are removed, when the backward ends [torch: distributed/fsdp/_runtime_utils.py,
// _register_post_backward_reshard_only_hook; autograd/graph.py, register_multi_grad_hook].
func (p *program) hooked(u *unit) bool {
	return p.s.Flat && !p.s.NonReentrant && !p.s.trains() && u.front().mode == CheckpointFull && p.s.Group == 1 &&
		!p.offloads(u.front())
}
