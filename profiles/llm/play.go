package llm

import (
	"slices"
	"strings"

	"memtide/engine"
)

// block is a tape prepared for play: what is kept, how often, and when a value is read for the last time.
type block struct {
	*tape
	last    []int          // by root: the last operator of the forward that touches it
	keepers []int          // by root: how many operators keep it
	cached  []bool         // by root: survives the forward of a checkpointed block
	stop    int            // recomputation ends before this operator
	rerun   []bool         // by operator: recomputation runs it
	input   bool           // the input is held until the backward
	mode    CheckpointKind // of checkpointing
	adapts  bool           // it has adapters
	late    bool           // recomputation runs each operator once, when the backward first needs it
	whole   bool           // recomputation runs to the end, and its output is held until the backward ends
}

// newPlayed prepares a tape under a policy of checkpointing. late says that the whole graph is partitioned at once.
func newPlayed(t *tape, s *Setup, mode CheckpointKind, late bool) *block {
	b := &block{tape: t, late: late, last: make([]int, len(t.values)), keepers: make([]int, len(t.values)),
		cached: make([]bool, len(t.values)), mode: mode}
	b.whole = s.Reentrant && mode == CheckpointFull
	products := 0
	for i, o := range t.ops {
		for _, v := range append(o.in[:len(o.in):len(o.in)], o.out...) {
			b.last[t.values[v].root] = i
		}
		for _, v := range o.keeps {
			b.keepers[t.values[v].root]++
		}
		if len(o.keeps) > 0 {
			b.stop = i
			if slices.ContainsFunc(o.keeps, func(v valueID) bool { return slices.Contains(o.out, v) }) {
				b.stop = i + 1
			}
		}
		for _, w := range o.weights {
			b.adapts = b.adapts || w.adapter
		}
		if selected(o, s, mode, &products) {
			for _, v := range o.out {
				b.cached[t.values[v].root] = true
			}
		}
	}
	if b.whole {
		b.stop = len(t.ops)
	}
	for id, v := range t.values {
		switch {
		case mode == CheckpointModules:
			b.cached[id] = b.keepers[id] > 0 && !discarded(v.name, s.Recompute)
		case v.held && mode != CheckpointNone, slices.Contains(s.Keep, v.name):
			b.cached[id] = true
		}
	}
	if mode == CheckpointBudget {
		b.fill(s.Budget)
	}
	if s.Compiled {
		b.prune()
	}
	b.demand(s.Compiled || mode == CheckpointModules)
	return b
}

// demand marks the operators that recomputation runs. A checkpoint runs every operator before its end whose
// result is missing [torch.utils.checkpoint]. With alone, as for modules and a compiler, only operators that lead
// to a missing value run.
func (b *block) demand(alone bool) {
	missing := make([]bool, len(b.values))
	for root, n := range b.keepers {
		missing[root] = n > 0 && !b.cached[root]
	}
	b.rerun = make([]bool, len(b.ops))
	b.input = b.keepers[0] > 0 || b.mode != CheckpointNone && !alone && b.stop > 0
	for i, o := range slices.Backward(b.ops[:b.stop]) {
		for _, v := range o.out {
			root := b.values[v].root
			b.rerun[i] = b.rerun[i] || !b.cached[root] && (!alone || missing[root])
		}
		for _, v := range o.in {
			root := b.values[v].root
			missing[root] = missing[root] || b.rerun[i] && !b.cached[root]
			b.input = b.input || b.mode != CheckpointNone && root == 0 && b.rerun[i]
		}
	}
}

// prune drops selected values that neither the backward nor recomputation reads. The partitioner of torch.compile
// saves nothing else.
func (b *block) prune() {
	read := make([]bool, len(b.values))
	for root, n := range b.keepers {
		read[root] = n > 0
	}
	for _, o := range slices.Backward(b.ops) {
		again := false
		for _, v := range o.out {
			root := b.values[v].root
			again = again || read[root] && !b.cached[root]
		}
		for _, v := range o.in {
			read[b.values[v].root] = read[b.values[v].root] || again
		}
	}
	for root := range b.cached {
		b.cached[root] = b.cached[root] && read[root]
	}
}

// selected reports whether a selective policy keeps the output of an operator. torchtitan's policy keeps
// attention, reduce-scatters, and all products, or every second one, and then neither keeps nor counts those of
// experts, which are one grouped product; what ranks of experts exchange it keeps since September 2025
// [activation_checkpoint.py; torchtitan#1672]. JAX's policy for dots keeps only products, and attention is a kernel
// [jax.checkpoint_policies.dots_with_no_batch_dims_saveable].
func selected(o op, s *Setup, mode CheckpointKind, products *int) bool {
	switch {
	case mode == CheckpointDots:
		return o.kind == opProduct
	case mode != CheckpointOp && mode != CheckpointOpAll:
		return false
	case o.kind == opProduct:
		if mode == CheckpointOp && len(o.weights) > 0 && o.weights[0].expert {
			return false
		}
		*products++
		return mode == CheckpointOpAll || *products%2 == 1
	case o.kind == opExchange:
		return mode == CheckpointOpAll || s.EndsApart
	}
	return o.kind == opAttention || o.kind == opScatter
}

// modules maps Megatron's names of modules that are computed again to the values that are then not kept
// [megatron/core/transformer: recompute_modules]. A name that ends in a point is a prefix.
var modules = map[string][]string{
	"core_attn":      {"statistics"},
	"layernorm":      {"n1", "n2"},
	"gdn_norm_out":   {"delta.norm", "delta.norm.stat", "delta.gated", "delta.tokens"},
	"mla_up_proj":    {"q", "q.rope", "kv.up", "k.cat", "v.copy"},
	"mlp":            {"gate", "up", "silu", "gelu", "gated"},
	"moe_act":        {"experts.silu", "experts.gated", "experts.gelu", "experts.act.weighted"},
	"shared_experts": {"shared.gate", "shared.up", "shared.silu", "shared.gated"},
	"moe":            {"experts.", "shared."},
}

// discarded reports whether a value is not kept because of a module that is computed again.
func discarded(name string, recompute []string) bool {
	for _, m := range recompute {
		for _, v := range modules[m] {
			if name == v || v[len(v)-1] == '.' && strings.HasPrefix(name, v) {
				return true
			}
		}
	}
	return false
}

// kept is what a block holds between its forward and its backward.
type kept struct {
	storage []handle       // by root; the input is 0
	left    []int          // by root: how many keepers have still to run their backward
	away    []engine.Bytes // by root: bytes in host memory; nil if nothing is there
	again   *rerunning     // for a block with late; else nil
	ran     func()         // called when recomputation has ended, or nil
}

// forward runs the block on x, which stays the caller's. It returns the output and what is held, without the input.
func (b *block) forward(l *ledger, x handle) (handle, *kept) {
	k := &kept{storage: make([]handle, len(b.values))}
	k.storage[0] = x
	holds := func(root valueID) bool {
		if b.mode == CheckpointNone {
			return b.keepers[root] > 0
		}
		return b.cached[root]
	}
	b.run(l, k, len(b.ops), nil, holds)
	out := k.storage[b.values[b.output].root]
	k.storage[b.values[b.output].root] = 0
	k.storage[0] = 0
	return out, k
}

// passBy runs the block on x without keeping anything for its backward, and returns the output.
func (b *block) passBy(l *ledger, x handle) handle {
	k := &kept{storage: make([]handle, len(b.values))}
	b.run(l, k, len(b.ops), nil, func(valueID) bool { return false })
	return k.storage[b.values[b.output].root]
}

// run plays the operators before to, or some of them. Values that are not held are freed after their last reader.
func (b *block) run(l *ledger, k *kept, to int, some []bool, holds func(valueID) bool) {
	output := b.values[b.output].root
	for i := range b.ops[:to] {
		if some == nil || some[i] {
			b.write(l, k, &b.ops[i])
		}
		b.sweep(l, k, i, to, output, holds)
	}
}

// write allocates the results of an operator that are not there.
func (b *block) write(l *ledger, k *kept, o *op) {
	temp := l.take(o.temp, Working)
	for _, v := range o.out {
		if w := b.values[v]; w.root == v && k.storage[v] == 0 {
			k.storage[v] = l.take(w.bytes, Working)
		}
	}
	l.give(temp)
}

// sweep frees the values that operator i was the last to touch.
func (b *block) sweep(l *ledger, k *kept, i, to int, output valueID, holds func(valueID) bool) {
	done := func(v valueID) {
		root := b.values[v].root
		switch {
		case root == blockInput || b.last[root] != i || k.storage[root] == 0:
		case root == output && to == len(b.ops):
		case holds(root):
			l.turn(k.storage[root], Saved)
		default:
			l.release(&k.storage[root])
		}
	}
	for _, v := range b.ops[i].in {
		done(v)
	}
	for _, v := range b.ops[i].out {
		done(v)
	}
}

// backward plays the block's backward from g, the gradient of its output, which it takes over. It returns the
// gradient of the input. x stays the caller's. It calls grad for each gradient of a weight, as it appears.
func (b *block) backward(l *ledger, x, g handle, k *kept, grad func(weight)) handle {
	k.storage[0] = x
	k.left = append([]int(nil), b.keepers...)
	switch {
	case b.late:
		k.again = b.toCome()
	case b.mode != CheckpointNone:
		b.recompute(l, k)
	}
	if k.ran != nil {
		k.ran()
	}
	grads := make([]handle, len(b.values))
	grads[b.output] = g
	for i := len(b.ops) - 1; i >= 0; i-- {
		b.undo(l, k, i, grads, grad)
	}
	l.giveAll(k.storage[1:]) // values of recomputation that no operator keeps
	return grads[0]
}

// recompute runs the forward again until all values are there that the backward reads.
func (b *block) recompute(l *ledger, k *kept) {
	b.run(l, k, b.stop, b.rerun, func(root valueID) bool { return b.keepers[root] > 0 })
	for root, h := range k.storage {
		if root != 0 && h != 0 && b.keepers[root] == 0 && !(b.whole && valueID(root) == b.values[b.output].root) {
			l.give(h)
			k.storage[root] = 0
		}
	}
}

// undo plays the backward of operator i.
func (b *block) undo(l *ledger, k *kept, i int, grads []handle, grad func(weight)) {
	o := &b.ops[i]
	b.fetch(l, k, o)
	if k.again != nil {
		for _, v := range o.keeps {
			b.need(l, k, b.values[v].root)
		}
	}
	if slices.ContainsFunc(o.out, func(v valueID) bool { return grads[v] != 0 }) {
		if o.byRef {
			b.handOn(l, o, grads)
		} else {
			b.derive(l, o, grads, grad)
		}
	}
	for _, v := range o.keeps {
		root := b.values[v].root
		if k.left[root]--; k.left[root] == 0 && root != blockInput && !k.again.reads(root) {
			l.release(&k.storage[root])
		}
	}
}

// send moves what a block keeps to host memory. It returns the newest tensors, which stay until the next block has run.
func (b *block) send(l *ledger, k *kept) (stay []handle) {
	k.away = make([]engine.Bytes, len(k.storage))
	for root, h := range k.storage {
		if h != 0 {
			k.away[root] = l.storages[h-1].bytes
			l.toHost(k.away[root])
			k.storage[root] = 0
			stay = append(stay, h)
		}
	}
	for len(stay) > stashed {
		l.give(stay[0])
		stay = stay[1:]
	}
	return stay
}

// stashed is how many tensors on their way to the host are still on the card [torchtune:
// training/_activation_offloading.py, max_fwd_stash_size].
const stashed = 5

// fetch brings back the values that an operator reads.
func (b *block) fetch(l *ledger, k *kept, o *op) {
	for _, v := range o.keeps {
		if root := b.values[v].root; k.away != nil && k.away[root] > 0 {
			k.storage[root] = l.take(k.away[root], Saved)
			l.toHost(-k.away[root])
			k.away[root] = 0
		}
	}
}

// handOn passes the gradient of the output to every input without a copy.
func (b *block) handOn(l *ledger, o *op, grads []handle) {
	g := grads[o.out[0]]
	grads[o.out[0]] = 0
	for _, v := range o.in {
		if b.values[v].needs {
			b.collectGrad(l, grads, v, l.share(g))
		}
	}
	l.give(g)
}

// derive makes new gradients of the inputs and the weights.
func (b *block) derive(l *ledger, o *op, grads []handle, grad func(weight)) {
	scratch := l.take(o.back, Backwards)
	made := make([]handle, len(o.in))
	for j, v := range o.in {
		if b.values[v].needs {
			made[j] = l.take(b.values[v].grad, Backwards)
		}
	}
	for _, w := range o.weights {
		if w.trained {
			grad(w)
		}
	}
	l.give(scratch)
	for _, v := range o.out {
		l.release(&grads[v])
	}
	for j, v := range o.in {
		if made[j] != 0 {
			b.collectGrad(l, grads, v, made[j])
		}
	}
}

// collectGrad adds g to the gradient of a value, in place if one of the two has no other reference [torch:
// InputBuffer::accumulate].
func (b *block) collectGrad(l *ledger, grads []handle, v valueID, g handle) {
	old := grads[v]
	switch {
	case old == 0:
		grads[v] = g
	case !l.shared(old):
		l.give(g)
	case !l.shared(g):
		grads[v] = g
		l.give(old)
	default:
		grads[v] = l.take(b.values[v].grad, Backwards)
		l.give(old)
		l.give(g)
	}
}
