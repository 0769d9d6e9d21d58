package graphs

import (
	"fmt"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(blocks) }

var blocks = &engine.Strategy{
	Name:  "blocks",
	Title: "Blocks, operation by operation",
	Mark:  13,
	Doc:   "Cuts the graph into a chain of blocks, finds many ways to carry out each, and chooses among them for all blocks at once.",
	Class: engine.MayRecompute, Graphs: true,
	Rank: engine.Rank{Graph: 1},
	Cost: engine.CostTable,
	Cites: []engine.Cite{
		{Text: "Zhao, Hellard, Eyraud-Dubois, Gusak and Beaumont: Rockmate: an Efficient, Fast, Automatic and Generic Tool for Re-materialization in PyTorch. ICML 2023", ID: "arXiv:2307.01236", Section: "3 (blocks and their options)"},
		{Text: "Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova: Optimal Re-Materialization Strategies for Heterogeneous Chains", ID: "arXiv:1911.13214", Section: "4.2 (the recursion)"}},
	Solver: maker(blockPlans).solve, Sweeper: maker(blockPlans).sweep,
}

// quickOps is the number of operations above which plans of segments that are made again as a whole come first,
// because the others take time.
const quickOps = 600

// point is a plan for a part of the chain: with an option for its first block and a plan for the rest, or with a
// split, up to which blocks are passed over. Points refer to others by index.
type point struct {
	memory engine.Bytes
	time   int64
	option int32 // none for a split
	split  int32 // number of blocks that are passed over
	a, b   int32 // plans of the parts
}

// chainOf is a chain of analysed blocks and the plans of its parts. Parts of equal blocks have equal plans.
type chainOf struct {
	blocks []block
	info   []*analysis    // by block
	class  []int32        // by block; equal blocks have equal classes
	parts  [][]int32      // by first and last block: the number of the part; equal parts have equal numbers
	cuts   [][]crossing   // by block: the cut after it
	grad   []engine.Bytes // by cut: bytes of its gradients
	limit  engine.Bytes   // plans that need more memory are left out
	fronts [][]point      // by number of part; nil before front computes it
	grows  growing        // scratch of front
	poll   *engine.Poll
}

// Limits of a chain. In longer chains, and in those with more different parts, neighbouring blocks are joined.
const (
	maxParts    = 2500
	maxBlocks   = 320
	maxPoints   = 2000       // points kept for a part
	maxSplits   = 48         // splits tried for a part, evenly spread
	mostWork    = 60_000_000 // parts x splits x points: with many different parts there are fewer points
	leastPoints = 100
	loose       = 4 // a front may have this many times maxPoints before it is thinned
)

// blockPlans adds the plans of strategy blocks.
func blockPlans(l *plans, _ engine.Parsed, poll *engine.Poll) {
	m := l.m.whole()
	if len(m.order) > quickOps {
		for n := 4; n <= 64; n *= 2 {
			l.addSegments(m.forward(), n)
		}
	}
	sizes := []int{inGroup, 1} // least sizes of parts
	if len(m.firstForward()) > fewForward {
		sizes = sizes[:1]
	}
	before := 0
	for _, fewest := range sizes {
		if blocks := m.blocks(fewest); len(blocks) != before && len(blocks) > 1 {
			before = len(blocks)
			(&chainOf{blocks: blocks, limit: l.list[0].peak, poll: poll}).plan(l, m)
		}
	}
}

// plan adds the plans of the chain.
func (c *chainOf) plan(l *plans, m *model) {
	poll := c.poll
	for len(c.blocks) > maxBlocks {
		c.blocks = pairs(c.blocks)
	}
	classes := c.classify(m)
	for len(c.fronts) > maxParts && poll.Err() == nil {
		c.blocks = pairs(c.blocks)
		classes = c.classify(m)
	}
	n := len(c.blocks)
	if n < 2 {
		return
	}
	c.analyse(m, classes)
	if poll.Err() != nil {
		return
	}
	all := c.solve()
	if poll.Err() != nil {
		return
	}
	note := fmt.Sprintf("The graph is a chain of %d blocks, %d of them different.", n, classes)
	for k := range all {
		l.add(c.build(0, n-1, int32(k), nil), note)
	}
}

// solve returns the plans of the whole chain, after computing those of all shorter parts.
func (c *chainOf) solve() []point {
	n := len(c.blocks)
	for length := range n {
		c.poll.Report(engine.Progress{Done: length, Total: n})
		for s := 0; s+length < n; s++ {
			c.front(s, s+length)
		}
	}
	return c.front(0, n-1)
}

// analyse sets info and grad; equal blocks are analysed once. If poll ends it, info is incomplete.
func (c *chainOf) analyse(m *model, classes int32) {
	n := len(c.blocks)
	c.info, c.grad = nil, make([]engine.Bytes, n+1)
	first := make([]*analysis, classes)
	for k := range c.blocks {
		if c.poll.Err() != nil {
			return
		}
		b, of := &c.blocks[k], c.class[k]
		loc := m.newLocal(b)
		if first[of] == nil {
			first[of] = analyse(loc, c.poll)
		}
		same := *first[of]
		same.local = loc
		c.info = append(c.info, &same)
		for _, v := range b.gradIn {
			c.grad[k+1] += m.size[v]
		}
	}
}

// crossing is a value of a cut: the block that makes it, and its size.
type crossing struct {
	made int
	size engine.Bytes
}

// cut returns the size of the values of the cut after block k that blocks from s on make. Other values of the cut
// are in memory before block s.
func (c *chainOf) cut(s, k int) (sum engine.Bytes) {
	if k < s {
		return 0
	}
	for _, x := range c.cuts[k] {
		if x.made >= s {
			sum += x.size
		}
	}
	return sum
}

// classify finds which blocks and which parts are equal, and returns the number of different blocks. fronts has an
// element for every different part, or more than maxParts elements if there are more parts.
func (c *chainOf) classify(m *model) (classes int32) {
	n := len(c.blocks)
	known := map[string]int32{}
	c.class, c.parts, c.cuts = make([]int32, n), make([][]int32, n), make([][]crossing, n)
	made := make([]int, len(m.size))
	for k := range c.blocks {
		key := m.key(&c.blocks[k], m.newLocal(&c.blocks[k]))
		c.cuts[k] = nil
		for _, i := range c.blocks[k].forward {
			for _, v := range m.kinds[i].writes {
				made[v] = k
			}
		}
		for _, v := range c.blocks[k].out {
			x := crossing{made[v], m.size[v]}
			c.cuts[k] = append(c.cuts[k], x)
			key += fmt.Sprint(" ", k-x.made, x.size)
		}
		class, ok := known[key]
		if !ok {
			class = int32(len(known))
			known[key] = class
		}
		c.class[k] = class
	}
	parts := map[[2]int32]int32{}
	for s := n - 1; s >= 0; s-- {
		c.parts[s] = make([]int32, n)
		for t := s; t < n && len(parts) <= maxParts; t++ {
			pair := [2]int32{c.class[s], none}
			if t > s {
				pair[1] = c.parts[s+1][t]
			}
			part, ok := parts[pair]
			if !ok {
				part = int32(len(parts))
				parts[pair] = part
			}
			c.parts[s][t] = part
		}
	}
	c.fronts = make([][]point, len(parts))
	return int32(len(known))
}

// pairs joins every two neighbouring blocks.
func pairs(list []block) (out []block) {
	for k := 0; k < len(list); k += 2 {
		b := list[k]
		if k+1 < len(list) {
			next := list[k+1]
			b.forward = append(slices.Clone(b.forward), next.forward...)
			b.backward = append(slices.Clone(next.backward), b.backward...)
			b.out, b.gradIn = next.out, next.gradIn
		}
		out = append(out, b)
	}
	return out
}

// front returns the plans of blocks s to t that no other plan beats in memory and time, in the order of memory. It
// keeps them for the next call; those of shorter parts are known. Block s either runs once, by one of its options,
// or it runs again, together with the blocks up to some split.
func (c *chainOf) front(s, t int) []point {
	part := c.parts[s][t]
	if c.fronts[part] != nil {
		return c.fronts[part]
	}
	f := &c.grows
	most := min(maxPoints, max(mostWork/(len(c.fronts)*min(len(c.blocks), maxSplits)), leastPoints))
	f.all = f.all[:0]
	in := c.info[s]
	for k, o := range in.options {
		if c.poll.Err() != nil {
			return nil
		}
		own := max(c.grad[t+1]+o.peakF, o.peakB)
		f.next = f.next[:0]
		if s == t {
			f.next = append(f.next, point{memory: own, time: in.timeF + o.timeB, option: int32(k)})
		} else {
			for i, q := range c.front(s+1, t) {
				f.next = climb(f.next, point{memory: max(own, o.saved+q.memory), time: in.timeF + o.timeB + q.time,
					option: int32(k), a: int32(i)})
			}
		}
		f.merge(c.limit, loose*most)
	}
	passed := engine.Bytes(0)
	var time int64
	step := max((t-s)/maxSplits, 1)
	for split := 1; s+split <= t && c.info[s+split-1].repeats; split++ {
		j := s + split - 1 // the last block that is passed over
		passed = max(passed, c.grad[t+1]+c.cut(s, j-1)+c.info[j].lean)
		time += c.info[j].timeF
		if split%step != 0 && split > maxSplits/4 {
			continue
		}
		f.next = c.both(f.next[:0], c.front(s+split, t), c.front(s, j), c.cut(s, j),
			point{memory: passed, time: time, option: none, split: int32(split)})
		f.merge(c.limit, loose*most)
	}
	front := append([]point{}, evenly(f.all, most)...) // not nil, even if nothing fits
	if c.poll.Err() == nil {
		c.fronts[part] = front
	}
	return front
}

// growing is a front that is being made, with memory for the next step.
type growing struct{ all, next, spare []point }

// climb appends a point that needs at least as much memory as the last one and takes less time.
func climb(list []point, p point) []point {
	if n := len(list); n > 0 && list[n-1].memory == p.memory {
		list[n-1] = p
		return list
	}
	return append(list, p)
}

// merge adds the points of next within a limit, drops those that another point beats, and keeps at most most
// points. Of equal points it keeps the older one.
func (f *growing) merge(limit engine.Bytes, most int) {
	a, b := f.all, f.next
	if len(b) == 0 || b[0].memory > limit {
		return
	}
	out := f.spare[:0]
	for len(a) > 0 || len(b) > 0 {
		var p point
		if len(b) == 0 || len(a) > 0 &&
			(a[0].memory < b[0].memory || a[0].memory == b[0].memory && a[0].time <= b[0].time) {
			p, a = a[0], a[1:]
		} else {
			p, b = b[0], b[1:]
		}
		if p.memory > limit {
			break
		}
		if n := len(out); n == 0 || p.time < out[n-1].time {
			out = append(out, p)
		}
	}
	f.all, f.spare = evenly(out, most), f.all
}

// both appends the plans that pass over the first blocks, run the later ones by a plan of a, beside the cut before
// them, and then the first ones by a plan of b.
func (c *chainOf) both(list []point, a, b []point, cut engine.Bytes, p point) []point {
	i, j := 0, 0
	for len(a) > 0 && len(b) > 0 && c.poll.Err() == nil {
		m := max(a[i].memory+cut, b[j].memory)
		for i+1 < len(a) && a[i+1].memory+cut <= m {
			i++
		}
		for j+1 < len(b) && b[j+1].memory <= m {
			j++
		}
		list = climb(list, point{max(m, p.memory), p.time + a[i].time + b[j].time, p.option, p.split, int32(i),
			int32(j)})
		switch {
		case i+1 < len(a) && (j+1 == len(b) || a[i+1].memory+cut <= b[j+1].memory):
			i++
		case j+1 < len(b):
			j++
		default:
			return list
		}
	}
	return list
}

// evenly returns at most most items of list at even distances, with the first and the last. It overwrites list.
func evenly[T any](list []T, most int) []T {
	n := len(list)
	if n <= most {
		return list
	}
	for k := range most {
		list[k] = list[k*(n-1)/(most-1)]
	}
	return list[:most]
}

// build appends the runs of plan at for the blocks from s to t.
func (c *chainOf) build(s, t int, at int32, seq []kindID) []kindID {
	p := c.front(s, t)[at]
	if p.option != none {
		seq = append(seq, c.blocks[s].forward...)
		if s < t {
			seq = c.build(s+1, t, p.a, seq)
		}
		for _, i := range c.info[s].options[p.option].backward {
			seq = append(seq, c.info[s].global[i])
		}
		return seq
	}
	for k := s; k < s+int(p.split); k++ {
		seq = append(seq, c.blocks[k].forward...)
	}
	seq = c.build(s+int(p.split), t, p.a, seq)
	return c.build(s, s+int(p.split)-1, p.b, seq)
}
