package llm

import "fmt"

// rerunning is what a partitioned graph still computes again: one copy of each operator, run
// when the backward first needs what it leads to, as torch.compile orders its backward
// [torch/_functorch/partitioners.py: reordering_to_mimic_autograd_engine].
type rerunning struct {
	producer []int  // by root: the operator that makes it
	readers  []int  // by root: operators to come that read it
	ran      []bool // by operator
}

// reads reports whether something that is computed again will read a value.
func (a *rerunning) reads(root valueID) bool { return a != nil && a.readers[root] > 0 }

// toCome returns all that a block computes again.
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
func (b *block) roots(list []valueID) (out []valueID) {
	seen := map[valueID]bool{}
	for _, v := range list {
		if root := b.values[v].root; !seen[root] {
			seen[root] = true
			out = append(out, root)
		}
	}
	return out
}

// need computes again what leads to a value that is not there.
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
			l.give(k.storage[r])
			k.storage[r] = 0
		}
	}
}

// newWhole returns all layers as one graph, as a compiler sees a model that is compiled as a
// whole, partitioned under a memory budget.
func newWhole(s *Setup, layers []int64) *block {
	_, outer := s.tokens()
	t := newTape(size(outer*s.Model.Hidden, s.Compute), true)
	x := blockInput
	for _, layer := range layers {
		from := len(t.ops)
		t.block(s, layer, x, nil)
		x = t.output
		for _, o := range t.ops[from:] { // weights of their own
			for j := range o.weights {
				o.weights[j].name += fmt.Sprintf("@%d", layer)
			}
		}
	}
	return newPlayed(t, s, CheckpointBudget, true)
}
