package combined

import (
	"slices"

	"memtide/engine"
	"memtide/engine/remat"
)

// segment is a part of the first forward sweep and its backward part.
type segment struct {
	first, last int
	saved       bool             // one stage with F_all; otherwise the segment keeps nothing
	afterSaved  bool             // its input is abar^{first-1}, not a^{first-1}
	offload     bool             // its input is offloaded
	backward    []engine.ChainOp // operations of the backward part; the last one is B^first
}

// input returns the value that is Z_i of the segment.
func (s *segment) input(g *engine.ChainGraph) engine.ValueID {
	if s.afterSaved && s.first > 1 {
		return g.Saved(s.first - 1)
	}
	return g.Act(s.first - 1)
}

// plan returns the segments of the plan that ends with label last before the loss stage. It follows
// the links back, and computes the states on the way again.
func (s *sweep) plan(last int32) []segment {
	var path []link
	for id := last; id >= 0; id = s.links[id].from {
		path = append(path, s.links[id])
	}
	slices.Reverse(path)
	var l label
	var segs []segment
	for x := 1; x < len(path); x++ {
		to := path[x]
		i, j := int(to.segment), int(to.stage)-1
		seg := segment{first: i, last: j, saved: to.saved, afterSaved: path[x-1].saved, offload: to.offload}
		z := s.input(i, seg.afterSaved)
		var costF, costB int64
		if to.saved {
			seg.backward = []engine.ChainOp{{Kind: engine.BStep, Stage: i}}
			costF, costB, _ = s.keeping(&l, i, z)
		} else {
			for k := i; k <= j; k++ {
				costF = s.stall(costF, &l, i, k, z)
			}
			costF += s.until[j] - s.until[i-1]
			var which int
			costB, which = s.f.cost(i, j, l.held+z, l.in)
			seg.backward = s.f.unfold(nil, i, j, s.f.at(i, j)[which])
		}
		n := label{offload: to.offload}
		s.move(&n, &l, z, costF, costB)
		l = n
		segs = append(segs, seg)
	}
	return append(segs, segment{first: s.n, last: s.n, saved: true, afterSaved: path[len(path)-1].saved,
		backward: []engine.ChainOp{{Kind: engine.BStep, Stage: s.n}}})
}

// unfold appends the operations of triple c of (i,j). It looks for the branch that attains the
// triple.
func (f *fronts) unfold(seq []engine.ChainOp, i, j int, c triple) []engine.ChainOp {
	all, back := engine.ChainOp{Kind: engine.FAll, Stage: i}, engine.ChainOp{Kind: engine.BStep, Stage: i}
	if i == j {
		return append(seq, all, back)
	}
	for _, r := range f.at(i+1, j) {
		if f.keeping(i, j, r) == c {
			return append(f.unfold(append(seq, all), i+1, j, r), back)
		}
	}
	var none, wanting int64
	for k := i; k < j; k++ {
		need := f.none(i, j, k)
		none, wanting = max(none, need), max(wanting-f.fwd[k], need*f.in)
		for _, l := range f.at(i, k) {
			for _, r := range f.at(k+1, j) {
				if f.splitting(i, k, none, wanting, l, r) != c {
					continue
				}
				seq = remat.KeepInput(seq, i, k)
				return f.unfold(f.unfold(seq, k+1, j, r), i, k, l)
			}
		}
	}
	panic("combined: no branch attains a triple")
}

// sequence returns the operations of a plan, in order.
func sequence(segs []segment) (seq []engine.ChainOp) {
	for x := range segs {
		seq = append(seq, segs[x].forward()...)
	}
	for _, s := range slices.Backward(segs) {
		seq = append(seq, s.backward...)
	}
	return seq
}

// forward returns the operations of the segment in the first sweep.
func (s *segment) forward() []engine.ChainOp {
	if s.saved {
		return []engine.ChainOp{{Kind: engine.FAll, Stage: s.first}}
	}
	return remat.KeepInput(nil, s.first, s.last)
}
