package llm

import (
	"math"
	"slices"

	"memtide/engine"
)

// partitioned reports whether blocks are written as Transformers' modules and then fused by torch.compile. Blocks
// of other programs are written as they look when compiled.
func (s *Setup) partitioned() bool { return s.Compiled && s.Written }

// cut is a tape as AOTAutograd's partitioner sees it [torch/_functorch/partitioners.py: solve_min_cut]: what the
// backward reads is saved, or computed again from what is saved.
type cut struct {
	*tape
	maker   []int   // by root: the operator that makes the value; -1: none
	readers [][]int // by root: operators that read the value
	kept    []bool  // by root: the backward of an operator reads the value
	whole   []bool  // by root: an operator that is not fused makes or reads the value, so that it is written to memory
	banned  []bool  // by root: the value is never computed again
}

// fused reports whether an operator is computed together with its neighbours. A view computes nothing.
func (c *cut) fused(o *op) bool { return o.kind == opPoint && c.values[o.out[0]].root == o.out[0] }

// newCut reads a tape. Banned are results of products, attention and convolutions, second results (statistics,
// masks, indices), reductions, and what the backward of a product reads. That the partitioner also bans what reads
// a value again behind a product is left out: it then saves a sum instead of the equally large product in it.
func newCut(t *tape) *cut {
	n := len(t.values)
	c := &cut{t, slices.Repeat([]int{-1}, n), make([][]int, n), make([]bool, n), make([]bool, n), make([]bool, n)}
	c.whole[blockInput], c.banned[blockInput], c.whole[t.values[t.output].root] = true, true, true
	for i := range t.ops {
		o, in := &t.ops[i], 0.0
		solid := o.kind != opPoint
		for _, r := range t.roots(o.in) {
			c.readers[r], c.whole[r] = append(c.readers[r], i), c.whole[r] || solid
			in += float64(t.values[r].bytes)
		}
		for _, r := range t.roots(o.keeps) {
			c.kept[r], c.banned[r] = c.kept[r] || !t.values[r].again, c.banned[r] || solid
		}
		for j, v := range o.out {
			if t.values[v].root == v {
				c.maker[v], c.whole[v] = i, c.whole[v] || solid
				c.banned[v] = c.banned[v] || solid || j > 0 || 4*float64(t.values[v].bytes) < in
			}
		}
	}
	return c
}

// saved returns, by root, whether a value is saved: the smallest cut between what is never computed again and what
// the backward reads. A value weighs its bytes, times 1.1 for each step from the backward, and times two unless it
// is written to memory anyway [get_node_weight].
func (c *cut) saved() []bool {
	n, out := len(c.values), make([]bool, len(c.values))
	from, to, steps, f := 2*n, 2*n+1, slices.Repeat([]float64{100}, n), make(flow, 2*n+2)
	for x := range f {
		f[x] = map[int]int64{}
	}
	for r := n - 1; r >= 0; r-- {
		for _, i := range c.readers[r] {
			for _, v := range c.roots(c.ops[i].out) {
				if v != valueID(r) { // not a view
					steps[r], f[2*r+1][2*int(v)] = min(steps[r], steps[v]+1), math.MaxInt64
				}
			}
		}
		if c.kept[r] {
			steps[r], f[2*r+1][to] = 1, math.MaxInt64
		}
		if c.banned[r] {
			f[from][2*r] = math.MaxInt64
		}
		weight := float64(c.values[r].bytes) * math.Pow(1.1, steps[r])
		if !c.whole[r] {
			weight *= 2
		}
		f[2*r][2*r+1] = engine.Int64(min(weight, mostValue))
	}
	seen := make([]bool, len(f))
	for f.push(from, to, math.MaxInt64, seen) > 0 {
		clear(seen)
	}
	for r := range out {
		out[r] = seen[2*r] && !seen[2*r+1]
	}
	return out
}

// flow is, by node and next node, what still fits between them.
type flow []map[int]int64

// push sends up to most from x along a path past nodes that were not seen, and returns what it has sent.
func (f flow) push(x, to int, most int64, seen []bool) int64 {
	if seen[x] = true; x == to {
		return most
	}
	for y, room := range f[x] {
		if room > 0 && !seen[y] {
			if n := f.push(y, to, min(most, room), seen); n > 0 {
				f[x][y], f[y][x] = room-n, f[y][x]+n
				return n
			}
		}
	}
	return 0
}

// fuse rewrites a tape as torch.compile runs it: what is between two operators that are not fused is one operator,
// which keeps what the partitioner saves and does not write what nothing else reads. A sum of two values in memory
// stays alone: one gradient serves both.
func (t *tape) fuse() {
	c := newCut(t)
	var ops []op
	var one op
	var made []valueID // by the operators that are one
	saved := c.saved()
	flush := func(next int) {
		for _, v := range made {
			if saved[v] || c.whole[v] || slices.ContainsFunc(c.readers[v], func(i int) bool { return i >= next }) {
				one.out = append(one.out, v)
			}
		}
		if len(made) > 0 {
			ops = append(ops, one)
		}
		one, made = op{}, nil
	}
	for i, o := range t.ops {
		inside := func(v valueID) bool { return slices.Contains(made, t.values[v].root) }
		inner := slices.ContainsFunc(o.in, inside)
		if c.fused(&o) && (inner || !o.byRef) {
			one.in = append(one.in, slices.DeleteFunc(slices.Clone(o.in), func(v valueID) bool {
				return inside(v) || slices.Contains(one.in, v)
			})...)
			one.keeps = append(one.keeps, c.leaves(o.keeps, saved)...)
			one.weights, one.flops, made = append(one.weights, o.weights...), one.flops+o.flops, append(made, o.out...)
			continue
		}
		if o.kind != opPoint || inner {
			flush(i)
		}
		ops = append(ops, o)
	}
	flush(len(t.ops))
	t.ops = ops
}

// leaves returns the saved values from which values are computed again.
func (c *cut) leaves(list []valueID, saved []bool) (out []valueID) {
	for _, r := range c.roots(list) {
		if saved[r] {
			out = append(out, r)
		} else if i := c.maker[r]; i >= 0 && !c.values[r].again {
			out = append(out, c.leaves(c.ops[i].in, saved)...)
		}
	}
	return out
}
