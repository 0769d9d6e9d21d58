package llm

import (
	"fmt"
	"math"
	"slices"

	"memtide/engine"
)

// rerunning is what a partitioned graph still has to compute again: one copy of each operator, which runs when
// the backward first needs it, as torch.compile orders its backward [torch/_functorch/partitioners.py:
// reordering_to_mimic_autograd_engine].
type rerunning struct {
	producer []int  // by root: the operator that makes the value
	readers  []int  // by root: how many operators that have not run yet read the value
	ran      []bool // by operator: whether it has run
}

// reads reports whether an operator that has not run yet reads a value. It is false for nil.
func (a *rerunning) reads(root valueID) bool { return a != nil && a.readers[root] > 0 }

// toCome returns everything that a block computes again.
func (b *block) toCome() *rerunning {
	a := &rerunning{producer: make([]int, len(b.values)), readers: make([]int, len(b.values)),
		ran: make([]bool, len(b.ops))}
	for i := range b.ops {
		for _, v := range b.ops[i].out {
			if b.values[v].root == v {
				a.producer[v] = i
			}
		}
		if b.rerun[i] {
			for _, root := range b.roots(b.ops[i].in) {
				a.readers[root]++
			}
		}
	}
	return a
}

// roots returns the storages of values, each once.
func (t *tape) roots(list []valueID) (out []valueID) {
	for _, v := range list {
		if root := t.values[v].root; !slices.Contains(out, root) {
			out = append(out, root)
		}
	}
	return out
}

// need computes a value again if it is not there, with everything that it depends on.
func (b *block) need(l *ledger, k *kept, root valueID) {
	a := k.again
	i := a.producer[root]
	if root == blockInput || k.storage[root] != 0 || a.ran[i] {
		return
	}
	o := &b.ops[i]
	in := b.roots(o.in)
	for _, r := range in {
		b.need(l, k, r)
	}
	b.write(l, k, o)
	a.ran[i] = true
	for _, r := range in {
		a.readers[r]--
	}
	for _, r := range append(in, b.roots(o.out)...) {
		if r != blockInput && k.left[r] == 0 && a.readers[r] == 0 {
			l.release(&k.storage[r])
		}
	}
}

// newWhole returns all layers as one graph, as a compiler sees a model that is compiled whole, partitioned under
// a memory budget.
func newWhole(s *Setup, layers []int64) *block {
	_, outer := s.tokens()
	t := newTape(size(outer*s.Model.Hidden, s.Compute), true)
	x := blockInput
	for _, layer := range layers {
		from := len(t.ops)
		t.block(s, layer, x, nil)
		x = t.output
		for _, o := range t.ops[from:] { // each layer has weights of its own
			for j := range o.weights {
				o.weights[j].name += fmt.Sprintf("@%d", layer)
			}
		}
	}
	if s.partitioned() {
		t.fuse()
	}
	return newPlayed(t, s, CheckpointBudget, true)
}

// budgetScale is the resolution of sizes in the partitioner
// [torch/_functorch/_activation_checkpointing/knapsack.py: dp_knapsack, S].
const budgetScale = 10000

// fill selects what torch.compile's partitioner keeps under a memory budget in per cent: those of the values that
// the block keeps without a budget whose recomputation takes longest, within the sum of their sizes. Time is the
// number of operations, and at least one for each value [torch/_functorch/partitioners.py:
// choose_saved_values_set, estimate_runtime in its mode "flops"]. The block's input is always kept.
func (b *block) fill(percent int64) {
	if percent == 0 { // nothing but the input, not even values whose size rounds to 0
		return
	}
	var items []valueID
	var all engine.Bytes
	flops := make([]float64, len(b.values)) // by root: operations that make the value
	for _, o := range b.ops {
		for _, v := range o.out {
			flops[b.values[v].root] += o.flops
		}
	}
	for root, n := range b.keepers {
		if root == 0 || b.values[root].bytes == 0 {
			continue
		}
		if n > 0 {
			all += b.values[root].bytes
		}
		if b.late && flops[root] > 0 || !b.late && n > 0 {
			items = append(items, valueID(root))
		}
	}
	room := int(percent * budgetScale / 100)
	cells := func(v valueID) int {
		return int(engine.Int64(math.Round(float64(b.values[v].bytes) / float64(all) * budgetScale)))
	}
	best := make([]float64, room+1)        // by size: the largest time
	taken := make([][]bool, 0, len(items)) // by item and size
	for _, v := range items {
		n := cells(v)
		took := make([]bool, room+1)
		for at := room; at >= n; at-- {
			if t := best[at-n] + max(flops[v], 1); t > best[at] {
				best[at], took[at] = t, true
			}
		}
		taken = append(taken, took)
	}
	at := room
	for i := len(items) - 1; i >= 0; i-- {
		if taken[i][at] {
			b.cached[items[i]] = true
			at -= cells(items[i])
		}
	}
}
