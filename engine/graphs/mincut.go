package graphs

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"memtide/engine"
)

func init() { engine.Register(minCut) }

var minCut = &engine.Strategy{
	Name:  "mincut",
	Title: "Min-cut partitioner (PyTorch)",
	Mark:  14,
	Doc:   "Decides by a minimum cut which forward values are saved, and computes the rest again in the backward pass, once.",
	Class: engine.MayRecompute, Graphs: true,
	Cost:  engine.CostTable,
	Cites: []engine.Cite{{Text: "Ansel et al.: PyTorch 2: Faster Machine Learning Through Dynamic Python Bytecode Transformation and Graph Compilation. ASPLOS 2024; torch/_functorch/partitioners.py, min_cut_rematerialization_partition", ID: "10.1145/3620665.3640366", Section: "AOTAutograd"}},
	Params: []engine.Param{
		{Name: "share", Title: "Memory budget", Default: "-1", Min: -1, Max: 100,
			Doc: "Percent of what the default cut saves [activation_memory_budget]; -1 tries every 5 percent."},
		{Name: "solver", Title: "Knapsack", Default: "dp", Choices: []string{"dp", "greedy"},
			Doc: "How the values to save are chosen: by dynamic programming over sizes in thousandths, or by the best ratio first."},
	},
	Solver: maker(minCutPlans).solve, Sweeper: maker(minCutPlans).sweep,
}

// partition is a graph as the partitioner treats it.
type partition struct {
	m       *model
	forward []int32
	inside  []bool  // by operation: it is a forward one
	weight  []int64 // by value: cost of cutting it
	poll    *engine.Poll
}

func minCutPlans(l *plans, args engine.Parsed, poll *engine.Poll) {
	p := newPartition(l.m.whole(), poll)
	usual, heavy := p.saved(p.all()), p.saved(p.heavy())
	if usual == nil || heavy == nil {
		return
	}
	shares := []int{args.Int("share")}
	if shares[0] < 0 {
		shares = nil
		for k := 100; k >= 0; k -= 5 {
			shares = append(shares, k)
		}
	}
	for _, share := range shares {
		saved := p.within(share, usual, heavy, args.Is("solver", "dp"))
		if saved == nil {
			return
		}
		l.add(p.m.saving(p.forward, func(v int32) bool { return saved[v] }),
			fmt.Sprintf("What is saved is to be %d %% of the default.", share))
	}
}

// within returns the values that are saved for a share in percent of the default, or nil if poll ended it.
func (p *partition) within(share int, usual, heavy []bool, dp bool) []bool {
	switch {
	case share == 100:
		return usual
	case share == 0:
		return make([]bool, len(usual))
	}
	room := p.bytes(usual) / 100 * engine.Bytes(share)
	if p.bytes(heavy) < room {
		return heavy
	}
	banned := p.heavy()
	var items []int32 // banned operations whose values the backward pass needs
	for _, i := range p.forward {
		if banned[i] && !p.m.once[i] &&
			slices.ContainsFunc(p.m.kinds[i].writes, func(v int32) bool { return heavy[v] }) {
			items = append(items, i)
		}
	}
	chosen := p.greedy(items, room)
	if dp {
		chosen = p.best(items, room)
	}
	for _, i := range items {
		banned[i] = chosen[i]
	}
	return p.saved(banned)
}

func newPartition(m *model, poll *engine.Poll) *partition {
	p := &partition{m: m, forward: m.forward(), inside: make([]bool, m.ops+2), weight: make([]int64, len(m.size)),
		poll: poll}
	for _, i := range p.forward {
		p.inside[i] = true
	}
	var total engine.Bytes
	for _, size := range m.size {
		total += size
	}
	unit := uint(max(bits.Len64(uint64(total))-38, 0))
	distance := slices.Repeat([]int{100}, len(m.size)) // by value: to the backward pass
	for _, i := range slices.Backward(m.order) {
		for _, v := range m.in[i] {
			d := 0
			if p.inside[i] {
				d = 100
				for _, w := range m.kinds[i].writes {
					d = min(d, distance[w]+1)
				}
			}
			distance[v] = min(distance[v], d)
		}
	}
	for v, size := range m.size {
		w := float64(size>>unit + 1)
		for range max(distance[v], 1) {
			w *= 1.1
		}
		p.weight[v] = engine.Int64(w)
	}
	return p
}

// all returns the operations that take time, to be banned from running again.
func (p *partition) all() []bool {
	banned := make([]bool, p.m.ops)
	for _, i := range p.forward {
		banned[i] = p.m.kinds[i].time > 0
	}
	return banned
}

// expensive are parts of the names of operations that compute much.
var expensive = []string{"conv", "mm", "matmul", "linear", "gemm", "attention", "attn", "sdpa", "lstm", "gru", "einsum"}

// heavy returns the operations to be banned from running again: those that compute much, those that must not run
// again, and those whose outputs are much smaller than their inputs.
func (p *partition) heavy() []bool {
	banned, named := make([]bool, p.m.ops), false
	var bytes, time uint64
	for _, i := range p.forward {
		name := strings.ToLower(p.m.g.Ops[i].Name)
		banned[i] = slices.ContainsFunc(expensive, func(part string) bool { return strings.Contains(name, part) })
		named = named || banned[i]
		bytes += uint64(p.m.kinds[i].bytes)
		time += uint64(p.m.kinds[i].time)
	}
	for _, i := range p.forward {
		k := &p.m.kinds[i]
		var in engine.Bytes
		for _, v := range p.m.in[i] {
			in += p.m.size[v]
		}
		slow := !named && engine.CompareRatios(time, max(bytes, 1), uint64(k.time), uint64(max(k.bytes, 1))) < 0
		banned[i] = banned[i] || slow || p.m.once[i] || 4*k.bytes < in
	}
	return banned
}

// saved returns the forward values of the least cut if the banned operations must not run again, or nil if poll
// ended it.
func (p *partition) saved(banned []bool) []bool {
	m := p.m
	count := int32(len(m.size))
	source, sink := 2*count, 2*count+1
	n := &network{from: make([][]int32, 2*count+2), poll: p.poll}
	for v := range count {
		i := m.maker[v]
		if i == none || i != m.source() && !p.inside[i] {
			continue
		}
		n.add(2*v, 2*v+1, p.weight[v])
		if i == m.source() || banned[i] {
			n.add(source, 2*v, boundless)
		}
		for _, u := range m.users[v] {
			if !p.inside[u] {
				n.add(2*v+1, sink, boundless)
				continue
			}
			for _, w := range m.kinds[u].writes {
				n.add(2*v+1, 2*w, boundless)
			}
		}
	}
	side := n.reached(source, sink)
	if side == nil {
		return nil
	}
	saved := make([]bool, count)
	for v := range count {
		saved[v] = side[2*v] && !side[2*v+1]
	}
	return saved
}

// bytes returns the size of the saved values, without those that are on the device at the start.
func (p *partition) bytes(saved []bool) (sum engine.Bytes) {
	for v, s := range saved {
		if s && p.m.maker[v] != p.m.source() {
			sum += p.m.size[v]
		}
	}
	return sum
}

// greedy chooses the operations with the most time for their bytes that fit.
func (p *partition) greedy(items []int32, room engine.Bytes) []bool {
	chosen := make([]bool, p.m.ops)
	order := slices.Clone(items)
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &p.m.kinds[a], &p.m.kinds[b]
		return cmp.Compare(float64(y.time)*float64(x.bytes+1), float64(x.time)*float64(y.bytes+1))
	})
	for _, i := range order {
		if size := p.m.kinds[i].bytes; size <= room {
			chosen[i] = true
			room -= size
		}
	}
	return chosen
}

// best chooses operations for the most time, by dynamic programming. Sizes are rounded to thousandths of the room,
// so the choice can be slightly larger than the room.
func (p *partition) best(items []int32, room engine.Bytes) []bool {
	const grains = 1000
	chosen := make([]bool, p.m.ops)
	if room <= 0 {
		return chosen
	}
	grain := max(room/grains, 1)
	top := min(int(room/grain), 2*grains)
	value, takes := make([]int64, top+1), make([][]bool, len(items))
	size := func(i int32) int { return int(min((p.m.kinds[i].bytes+grain/2)/grain, engine.Bytes(top)+1)) }
	for k, i := range items {
		takes[k] = make([]bool, top+1)
		for c := top; c >= size(i) && p.poll.Err() == nil; c-- {
			if with := value[c-size(i)] + int64(p.m.kinds[i].time); with > value[c] {
				value[c], takes[k][c] = with, true
			}
		}
	}
	for k, c := len(items)-1, top; k >= 0; k-- {
		if takes[k][c] {
			chosen[items[k]] = true
			c -= size(items[k])
		}
	}
	return chosen
}

// network is a flow network with whole capacities.
type network struct {
	edges []edgeTo  // an edge and its reverse are neighbours
	from  [][]int32 // by node: its edges
	poll  *engine.Poll
}

// edgeTo is an edge with its residual capacity.
type edgeTo struct {
	to   int32
	room int64
}

// boundless is the capacity of edges that must not be cut.
const boundless = math.MaxInt64 / 4

func (n *network) add(a, b int32, capacity int64) {
	n.from[a] = append(n.from[a], int32(len(n.edges)))
	n.edges = append(n.edges, edgeTo{b, capacity})
	n.from[b] = append(n.from[b], int32(len(n.edges)))
	n.edges = append(n.edges, edgeTo{a, 0})
}

// reached returns the nodes on the source's side of a least cut, by Dinic's algorithm with paths instead of
// recursion. It returns nil if poll ended it.
func (n *network) reached(source, sink int32) []bool {
	level, next := make([]int32, len(n.from)), make([]int, len(n.from))
	for n.levels(level, source); level[sink] >= 0; n.levels(level, source) {
		clear(next)
		for n.poll.Err() == nil && n.augment(level, next, source, sink) {
		}
	}
	if n.poll.Err() != nil {
		return nil
	}
	side := make([]bool, len(level))
	for v, l := range level {
		side[v] = l >= 0
	}
	return side
}

// levels sets the distances of the nodes from the source, or -1. If poll ends it, some distances are missing.
func (n *network) levels(level []int32, source int32) {
	for v := range level {
		level[v] = -1
	}
	level[source] = 0
	for queue := []int32{source}; len(queue) > 0 && n.poll.Err() == nil; queue = queue[1:] {
		for _, e := range n.from[queue[0]] {
			if to := n.edges[e].to; n.edges[e].room > 0 && level[to] < 0 {
				level[to] = level[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
}

// augment sends as much as possible along one path from level to level. It returns false if there is no path.
func (n *network) augment(level []int32, next []int, source, sink int32) bool {
	var path []int32
	for at := source; at != sink; {
		if next[at] == len(n.from[at]) { // a dead end
			if len(path) == 0 {
				return false
			}
			last := path[len(path)-1]
			path = path[:len(path)-1]
			at = n.edges[last^1].to
			next[at]++
			continue
		}
		e := n.from[at][next[at]]
		if to := n.edges[e].to; n.edges[e].room > 0 && level[to] == level[at]+1 {
			path = append(path, e)
			at = to
		} else {
			next[at]++
		}
	}
	least := int64(boundless)
	for _, e := range path {
		least = min(least, n.edges[e].room)
	}
	for _, e := range path {
		n.edges[e].room -= least
		n.edges[e^1].room += least
	}
	return true
}
