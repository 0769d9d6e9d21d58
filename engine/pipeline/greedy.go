package pipeline

import (
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// rule decides which pass a free rank starts next: of the forwards and backwards that can start, the one that is
// planned first; if none can or a forward lacks room, a backward of weights.
type rule struct {
	forward, back []int64 // by stage: the planned time of micro batch 0
	period, slack int64   // time between micro batches; how long before its planned time a forward may start
	patience      int64   // wait instead of starting W if another pass can start within that many quarters of W
	unreserved    bool    // reserve no room for later stages of the rank; the rank may get stuck
}

// greedy is a step that is being made by a rule.
type greedy struct {
	*work
	rule  *rule
	mine  [][]int32      // by rank: its stages
	ran   [][4]int32     // by stage and kind of node: number of passes that have started
	room  []engine.Bytes // by rank: free bytes
	until []int64        // by rank: end of its last pass
	now   int64
}

// never is later than every time of a step.
const never = int64(1) << 62

// greedy makes an order event by event: whenever a rank is free, it starts a pass by the rule. greedy returns the
// step time, and false if it gets stuck. It drops no forwards.
func (w *work) greedy(ru *rule, poll *engine.Poll) (makespan int64, ok bool) {
	g := &greedy{work: w, rule: ru, mine: make([][]int32, w.p.Ranks), ran: make([][4]int32, len(w.p.Stages)),
		until: make([]int64, w.p.Ranks)}
	w.order = make([][]int32, w.p.Ranks)
	clear(w.dropped)
	left := 0
	for s := range w.p.Stages {
		r := w.p.Stages[s].Rank
		g.mine[r] = append(g.mine[r], int32(s))
		if left += 3 * w.p.micro(s); w.p.Fused {
			left -= w.p.micro(s)
		}
	}
	for r := range w.p.Ranks {
		g.room = append(g.room, w.p.limit(r)-w.p.fixed(r))
	}
	for left > 0 {
		next := never
		for r := range g.until {
			for g.until[r] <= g.now {
				node, wait := g.pick(r)
				if node < 0 {
					next = min(next, wait)
					break
				}
				g.run(r, node)
				left--
			}
			if g.until[r] > g.now {
				next = min(next, g.until[r])
			}
		}
		if next == never || poll.Err() != nil {
			return 0, false
		}
		if next > g.now || left == 0 {
			g.now = next
		}
	}
	return slices.Max(g.until), true
}

// run starts a pass.
func (g *greedy) run(r int, node int32) {
	s := g.stage[node/4]
	use := g.use(node)
	g.room[r] += use[1] - use[0]
	g.ran[s][node%4]++
	g.order[r] = append(g.order[r], node)
	g.until[r] = g.now + g.time(node)
	g.end[node] = g.until[r]
	g.played++
}

// choice is the best pass so far that a rank can start.
type choice struct {
	node     int32 // -1 if nothing can start
	priority int64
	wait     int64 // earliest time at which another pass can start
	blocked  bool  // a pass lacks room
}

// offer takes over a node if its priority is lower, which is better.
func (c *choice) offer(node int32, priority int64) {
	if c.node < 0 || priority < c.priority {
		c.node, c.priority = node, priority
	}
}

// pick returns the pass that a free rank starts now, or -1 and the time at which to try again.
func (g *greedy) pick(r int) (node int32, wait int64) {
	c := &choice{node: -1, wait: never}
	weights := int32(-1)
	for _, s := range g.mine[r] {
		g.offerBack(c, r, s)
		g.offerForward(c, r, s)
		if n := g.ran[s][nodeW]; !g.p.Fused && n < g.ran[s][nodeB] {
			x := 4*(g.first[s]+n) + nodeW
			if g.use(x)[0] <= g.room[r] && (weights < 0 || g.end[x-nodeW+nodeB] < g.end[weights-nodeW+nodeB]) {
				weights = x
			}
		}
	}
	if c.node >= 0 || weights < 0 {
		return c.node, c.wait
	}
	if !c.blocked && c.wait < never && 4*(c.wait-g.now) < g.rule.patience*g.time(weights) {
		return -1, c.wait
	}
	return weights, c.wait
}

// offerBack offers the next backward of a stage.
func (g *greedy) offerBack(c *choice, r int, s int32) {
	n := g.ran[s][nodeB]
	if n >= g.ran[s][nodeF] {
		return
	}
	cell := g.first[s] + n
	arrives := int64(0)
	if b := g.behind[cell]; b >= 0 {
		if g.ran[s+1][nodeB] <= n {
			return
		}
		arrives = g.end[4*b+nodeB] + g.message[s+1]
	}
	switch node := 4*cell + nodeB; {
	case arrives > g.now:
		c.wait = min(c.wait, arrives)
	case g.use(node)[0] > g.room[r]:
		c.blocked = true
	default:
		c.offer(node, g.rule.back[s]+int64(n)*g.rule.period)
	}
}

// offerForward offers the next forward of a stage.
func (g *greedy) offerForward(c *choice, r int, s int32) {
	n, ru := g.ran[s][nodeF], g.rule
	if int(n) >= g.p.micro(int(s)) {
		return
	}
	cell := g.first[s] + n
	arrives := int64(0)
	if b := g.before[cell]; b >= 0 {
		if g.ran[s-1][nodeF] <= n {
			return
		}
		arrives = g.end[4*b+nodeF] + g.message[s]
	}
	planned := ru.forward[s] + int64(n)*ru.period
	arrives = max(arrives, planned-ru.slack)
	needs := g.needs(int(s))
	if !ru.unreserved {
		needs += g.reserve(r, s)
	}
	switch node := 4*cell + nodeF; {
	case needs > g.room[r]:
		c.blocked = c.blocked || arrives <= g.now
	case arrives > g.now:
		c.wait = min(c.wait, arrives)
	default:
		c.offer(node, planned)
	}
}

// needs returns the most bytes that a micro batch needs at a stage at once.
func (g *greedy) needs(s int) engine.Bytes {
	st := &g.p.Stages[s]
	return max(st.Act+max(st.FwdTemp, st.InputsTemp), st.Rest+max(st.InputsTemp, st.WeightsTemp))
}

// reserve returns the room for one pass of every later stage of the rank that holds nothing. Micro batches keep their
// order, so with this reserve a rank cannot fill itself with passes of early stages and wait for ever.
func (g *greedy) reserve(r int, s int32) (b engine.Bytes) {
	released := nodeW
	if g.p.Fused {
		released = nodeB
	}
	for _, x := range g.mine[r] {
		holds := g.ran[x][nodeF] > g.ran[x][released]
		if x == s || holds || int(g.ran[x][nodeF]) >= g.p.micro(int(x)) {
			continue
		}
		if g.p.first(int(x)) || x > s && g.p.Stages[x].Path == g.p.Stages[s].Path {
			b += g.needs(int(x))
		}
	}
	return b
}

// waveSlopes are the slopes of the waves that are tried first: of F and B, each in both directions along the ranks,
// in quarters of a pass. The blocks of V-Half and V-Min are among them.
var waveSlopes = [][4]int64{{4, 4, 4, 4}, {8, 4, 8, 4}, {4, 8, 4, 8}, {4, 4, 8, 8}, {8, 8, 4, 4}, {6, 4, 6, 4},
	{4, 4, 6, 6}}

// wave returns the rule that plans passes from four slopes: the i-th of waveSlopes, or random ones.
func (w *work) wave(rng *rand.Rand, i int) *rule {
	var slope [4]int64
	for k := range slope {
		slope[k] = 4 + rng.Int64N(1+rng.Int64N(9))
	}
	if i < len(waveSlopes) {
		slope = waveSlopes[i]
	}
	p, n := w.p, len(w.p.Stages)
	ru := &rule{forward: make([]int64, n), back: make([]int64, n), unreserved: rng.IntN(2) == 0,
		patience: rng.Int64N(6) * rng.Int64N(2)}
	busy := make([]int64, p.Ranks)
	for s := range p.Stages {
		length := w.length[4*s : 4*s+4]
		busy[p.Stages[s].Rank] += length[nodeF] + length[nodeB] + length[nodeW]
		ru.period = max(ru.period, busy[p.Stages[s].Rank], 1)
		if !p.first(s) {
			ru.forward[s] = ru.forward[s-1] + slope[w.leg(s-1, s)]*w.length[4*(s-1)+nodeF]/4 + w.message[s]
		}
	}
	for s := n - 1; s >= 0; s-- {
		if p.last(s) {
			ru.back[s] = ru.forward[s] + w.length[4*s+nodeF]
			continue
		}
		ru.back[s] = ru.back[s+1] + slope[2+w.leg(s+1, s)]*w.length[4*(s+1)+nodeB]/4 + w.message[s+1]
	}
	ru.slack = []int64{0, 1, 2, 4, 2000}[rng.IntN(5)] * ru.period / 2
	return ru
}

// leg returns the direction between two stages: 1 towards lower ranks, otherwise 0.
func (w *work) leg(from, to int) int {
	if w.p.Stages[from].Rank > w.p.Stages[to].Rank {
		return 1
	}
	return 0
}

// vary returns a rule with one random change.
func (ru *rule) vary(rng *rand.Rand) *rule {
	v := *ru
	v.forward, v.back = slices.Clone(ru.forward), slices.Clone(ru.back)
	shift := func(part int64) int64 { return rng.Int64N(v.period/part+1) - v.period/part/2 }
	switch rng.IntN(4) {
	case 0:
		v.slack = v.slack * (2 + rng.Int64N(5)) / 4
	case 1:
		v.patience = rng.Int64N(7)
	case 2:
		d := shift(1)
		for s := range v.back {
			v.back[s] += d
		}
	default:
		d, share := shift(2), rng.Int64N(5)
		for s := rng.IntN(len(v.forward)); s < len(v.forward); s++ {
			v.forward[s] += d
			v.back[s] += d * share / 4
		}
	}
	return &v
}
