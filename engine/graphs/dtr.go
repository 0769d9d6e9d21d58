package graphs

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"memtide/engine"
)

func init() { engine.Register(dtr) }

var dtr = &engine.Strategy{
	Name:  "dtr",
	Title: "Dynamic tensor rematerialization",
	Mark:  11,
	Doc:   "Runs the operations as they come, and when memory is short lets go of the value that is cheapest to make again for its size and age.",
	Class: engine.MayRecompute, Graphs: true,
	Rank:  engine.Rank{Graph: 2},
	Cites: []engine.Cite{{Text: "Kirisame, Lyubomirsky, Haan, Brennan, He, Roesch, Chen and Tatlock: Dynamic Tensor Rematerialization. ICLR 2021", ID: "arXiv:2006.09616", Section: "3 and appendix C (heuristics)"}},
	Params: []engine.Param{{Name: "heuristic", Title: "Cost of a value", Default: "classes",
		Choices: []string{"local", "neighbourhood", "classes"},
		Doc:     "What letting go of a value is taken to cost: its own operation; with all that is missing around it; or with the classes of what is missing beside it."}},
	Solver: maker(dtrPlans).solve, Sweeper: maker(dtrPlans).sweep,
}

// dtrBudgets is the number of budgets that are tried.
const dtrBudgets = 48

func dtrPlans(l *plans, args engine.Parsed, poll *engine.Poll) {
	low, _ := l.m.footprint()
	high := l.list[0].peak
	m := l.m.whole()
	for k := engine.Bytes(0); k < dtrBudgets && poll.Err() == nil; k++ {
		budget := low + (high-low)/dtrBudgets*k
		r := newOnline(m, budget, args.Word("heuristic"), poll)
		if r.all() {
			l.add(r.seq, "With the budget of this run, values go when "+budget.Text()+" are full.")
		}
	}
}

// online is one run: what is in memory, and the clock.
type online struct {
	m         *model
	budget    engine.Bytes
	heuristic string
	poll      *engine.Poll
	most      int // largest number of runs; the run fails with more
	looks     int // number of missing values that it may still look at; the run fails below 0

	seq     []kindID
	used    engine.Bytes
	clock   time.Duration
	there   []bool          // by value: it is in memory
	missing []bool          // by value: it was made and is not in memory
	read    []time.Duration // by value: time of its last use
	uses    []int           // by value: uses by the program that are still to come
	pinned  []int           // by value: running operations that read it

	class []int32         // by value: its parent in the union-find of missing values
	cost  []time.Duration // by root of a class: sum of the costs of its values
	seen  []int32         // by value: the last look that has visited it
	look  int32           // number of the current look
}

func newOnline(m *model, budget engine.Bytes, heuristic string, poll *engine.Poll) *online {
	n := len(m.size)
	r := &online{m: m, budget: budget, heuristic: heuristic, poll: poll, most: 50 * len(m.order), looks: math.MaxInt,
		used: m.g.Fixed, there: make([]bool, n), missing: make([]bool, n),
		read: make([]time.Duration, n), uses: make([]int, n), pinned: make([]int, n), class: make([]int32, n),
		cost: make([]time.Duration, n), seen: make([]int32, n)}
	for v := range m.size {
		r.class[v] = int32(v)
		r.uses[v] = len(m.users[v])
		if m.maker[v] == m.source() {
			r.there[v] = true
			r.used += m.size[v]
		}
	}
	return r
}

// all runs the program. It returns false if the program does not fit, or takes too many runs.
func (r *online) all() bool {
	for _, i := range r.m.order {
		if !r.run(i) {
			return false
		}
		for _, v := range r.m.in[i] {
			r.uses[v]--
			if r.uses[v] == 0 && r.there[v] {
				r.leave(v)
			}
		}
	}
	return true
}

// run runs an operation, after the operations that make its inputs again.
func (r *online) run(i int32) bool {
	if r.poll.Err() != nil || len(r.seq) > r.most {
		return false
	}
	for _, v := range r.m.in[i] {
		r.pinned[v]++
	}
	defer func() {
		for _, v := range r.m.in[i] {
			r.pinned[v]--
		}
	}()
	for _, v := range r.m.in[i] {
		if !r.there[v] && (r.m.maker[v] == r.m.source() || r.m.once[r.m.maker[v]] || !r.run(r.m.maker[v])) {
			return false
		}
	}
	k := &r.m.kinds[i]
	for _, v := range k.writes { // an older copy is freed
		if r.there[v] {
			r.there[v] = false
			r.used -= r.m.size[v]
		}
	}
	for r.used+k.bytes+k.temp > r.budget {
		if !r.evict() {
			return false
		}
	}
	r.seq = append(r.seq, i)
	r.clock += k.time
	for _, v := range r.m.in[i] {
		r.read[v] = r.clock
	}
	for _, v := range k.writes {
		r.there[v], r.read[v] = true, r.clock
		r.used += r.m.size[v]
		if r.missing[v] {
			r.missing[v] = false
			c := r.find(v)
			r.cost[c] = max(0, r.cost[c]-r.own(v)) // classes are not split
		}
	}
	for _, v := range k.writes {
		if r.uses[v] == 0 && r.pinned[v] == 0 {
			r.leave(v)
		}
	}
	return true
}

// own returns the time of the operation that makes a value.
func (r *online) own(v int32) time.Duration { return r.m.kinds[r.m.maker[v]].time }

// leave frees a value, unless it will be read and cannot or must not be made again.
func (r *online) leave(v int32) {
	given := r.m.maker[v] == r.m.source()
	mayRead := func(u int32) bool { return u == r.m.sink() || !r.m.once[u] }
	if (given || r.m.once[r.m.maker[v]]) && (r.uses[v] > 0 || slices.ContainsFunc(r.m.users[v], mayRead)) {
		return
	}
	r.there[v], r.missing[v] = false, !given
	r.used -= r.m.size[v]
	if !given && r.heuristic == "classes" {
		r.class[v], r.cost[v] = v, r.own(v)
		r.beside(v, func(u int32) {
			if a, b := r.find(u), r.find(v); a != b {
				r.class[a] = b
				r.cost[b] = min(r.cost[b]+r.cost[a], 1<<60)
			}
		})
	}
}

// evict frees the value that is cheapest for its size and age. It returns false if no value can be evicted.
func (r *online) evict() bool {
	best := none
	var least, size uint64
	for v := range r.there {
		i := r.m.maker[v]
		if !r.there[v] || r.pinned[v] > 0 || r.m.size[v] == 0 || i == r.m.source() || r.m.once[i] ||
			r.m.g.Values[v].Kind == engine.KindWeight {
			continue
		}
		cost := uint64(r.price(int32(v))) + 1
		weight := area(uint64(r.m.size[v]), uint64(r.clock-r.read[v])+1)
		if best == none || engine.CompareRatios(cost, weight, least, size) < 0 {
			best, least, size = int32(v), cost, weight
		}
	}
	if best == none || r.looks < 0 || r.poll.Err() != nil {
		return false
	}
	r.leave(best)
	return true
}

// area returns a product in units of 2^20, so that it stays in range, and at least 1.
func area(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return max(hi<<44|lo>>20, 1)
}

// price returns the cost of a value by the heuristic.
func (r *online) price(v int32) time.Duration {
	sum := r.own(v)
	r.look++
	switch r.heuristic {
	case "neighbourhood":
		sum += r.around(v, true) + r.around(v, false)
	case "classes":
		r.beside(v, func(u int32) {
			if c := r.find(u); r.seen[c] != r.look {
				r.seen[c] = r.look
				sum += r.cost[c]
			}
		})
	}
	return sum
}

// around returns the cost of the missing values that a value needs (up) or that need it.
func (r *online) around(v int32, up bool) (sum time.Duration) {
	todo := []int32{v}
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		r.looks--
		r.next(u, up, func(w int32) {
			if r.missing[w] && r.seen[w] != r.look {
				r.seen[w] = r.look
				sum += r.own(w)
				todo = append(todo, w)
			}
		})
	}
	return sum
}

// next visits the values that a value is made from (up) or that are made from it.
func (r *online) next(v int32, up bool, visit func(int32)) {
	if up {
		for _, w := range r.m.in[r.m.maker[v]] {
			visit(w)
		}
		return
	}
	for _, i := range r.m.users[v] {
		for _, w := range r.m.kinds[i].writes {
			visit(w)
		}
	}
}

// beside visits the missing values next to a value.
func (r *online) beside(v int32, visit func(int32)) {
	for _, up := range []bool{true, false} {
		r.next(v, up, func(w int32) {
			if r.missing[w] {
				visit(w)
			}
		})
	}
}

// find returns the root of the class of a value.
func (r *online) find(v int32) int32 {
	for r.class[v] != v {
		r.class[v] = r.class[r.class[v]]
		v = r.class[v]
	}
	return v
}
