package remat

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

// frontier bounds from below what a schedule has paid for recomputation when it stands before stage
// s with m left: cost(s,m). It divides m into a few hundred cells per stage, and assumes the least
// cost and the most memory within a cell.
type frontier struct {
	shift uint      // cell = m >> shift
	cells int       // per stage
	cost  []int64   // by stage and cell: least cost to reach the stage with m in this cell or above
	work  []arrival // by stage and cell; top is -1 if the cell is not reached or is dominated
	most  []int64   // by stage: the largest m with which it is reached; -1 if it is not
}

// arrival is the least cost and the largest m with which a cell is reached.
type arrival struct{ cost, top int64 }

// A frontier for n stages has min(frontierCells, stageCells*n) cells per stage. Short chains have
// fewer cells, because solving them takes less time than building more cells.
const (
	frontierCells = 1024
	stageCells    = 8
)

func newFrontier(n int, room int64, most int) *frontier {
	f := &frontier{most: make([]int64, n+1)}
	for room>>f.shift >= int64(most) {
		f.shift++
	}
	f.cells = int(room>>f.shift) + 1
	f.cost, f.work = make([]int64, (n+1)*f.cells), make([]arrival, (n+1)*f.cells)
	return f
}

// at returns the bounds for stage s, by cell.
func (f *frontier) at(s int) []int64 { return f.cost[s*f.cells:][:f.cells] }

// build computes the bounds below the table's limit. Without the forward trick, the bounds are 0
// and everything counts as reached.
func (f *frontier) build(x *table) error {
	if !x.use.forward {
		for s := range f.most {
			f.most[s] = x.room
		}
		clear(f.cost)
		return nil
	}
	fill(f.work, arrival{inf, -1})
	f.work[f.cells+int(x.room>>f.shift)] = arrival{0, x.room}
	for s := 1; s <= x.n; s++ {
		if err := x.poll.Now(); err != nil {
			return err
		}
		f.most[s] = x.dropDominated(f.work[s*f.cells:], f.at(s), f.cells, f.shift, s, x.n)
	}
	return nil
}

// fill sets all elements, by copying what is already set. In WebAssembly that is much faster than a
// loop over the elements.
func fill(all []arrival, with arrival) {
	all[0] = with
	for done := 1; done < len(all); done *= 2 {
		copy(all[done:], all[:done])
	}
}

// dropDominated makes the costs of the cells of s cover the cells above, and drops the cells that a cell above
// dominates, which has more memory for no more cost. It spreads from the other cells, up to t, and returns the largest
// m of them, or -1 if all are dropped. work begins with the cells of s; there are cells of them per stage.
func (x *table) dropDominated(work []arrival, cost []int64, cells int, shift uint, s, t int) int64 {
	best, most := inf, int64(-1)
	for i := len(cost) - 1; i >= 0; i-- {
		at := work[i]
		if at.cost >= best {
			cost[i], work[i].top = best, -1
			continue
		}
		best = at.cost
		cost[i] = best
		most = max(most, at.top)
		x.spread(work, cells, shift, s, t, at)
	}
	return most
}

// spread reaches the states that follow s within the stages up to t: after F_all^s, and after
// F_ck^s and a split before any j. work begins with the cells of s.
func (x *table) spread(work []arrival, cells int, shift uint, s, t int, at arrival) {
	if left := at.top - x.saved[s]; !x.outputOnly && s < t && left >= 0 {
		to := &work[cells+int(left>>shift)]
		to.cost, to.top = min(to.cost, at.cost), max(to.top, left)
	}
	paid := at.cost - x.until[s]
	till := x.till[s+1 : t+1]
	in := x.in[s+1:][:len(till)]
	row := 0
	for i, u := range till {
		v := paid + u
		if v > x.limit {
			break
		}
		row += cells
		if left := at.top - in[i]; left >= 0 {
			to := &work[row+int(left>>(shift&63))]
			to.cost, to.top = min(to.cost, v), max(to.top, left)
		}
	}
}

// highest returns the largest m, at most most[s], with which s is reached for no more than cost. It
// returns -1 if there is none.
func (f *frontier) highest(s int, cost int64) int64 {
	top := f.most[s]
	if top < 0 {
		return -1
	}
	cells := f.at(s)
	last := int(top >> f.shift)
	if cells[last] <= cost {
		return top
	}
	// Costs rise with the cell: k is the first cell that costs more.
	k, _ := slices.BinarySearchFunc(cells[:last], cost,
		func(c, cost int64) int { return cmp.Or(cmp.Compare(c, cost), -1) })
	return int64(k)<<f.shift - 1
}

// Fall is a step of a falling function of memory: with Bytes or more, until the next fall, computing again takes Extra.
type Fall struct {
	Bytes int64 // memory besides the input
	Extra time.Duration
}

// Curves returns, for every stage s, how long the chain from s on computes again as a function of
// the memory: the falls by rising Bytes. Times above limit are left out. Curves returns an error
// that wraps engine.ErrUnsupported if its table would take more than most bytes.
func Curves(c *engine.Chain, limit time.Duration, most int, poll *engine.Poll) ([][]Fall, error) {
	t := newTerms(c, engine.NoLimit)
	if t.tooLong() {
		return nil, errTooLong
	}
	x := newTable(t, tricks{limit: true, gallop: true}, poll)
	x.store.most = most
	if _, err := x.fill(int64(limit)); err != nil {
		return nil, err
	}
	curves := make([][]Fall, x.n+1)
	for s := 1; s <= x.n; s++ {
		for _, w := range x.row(s, x.n) {
			curves[s] = append(curves[s], Fall{w.m, time.Duration(w.v)})
		}
	}
	return curves, nil
}
