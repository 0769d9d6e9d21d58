package remat

// frontier bounds from below what a schedule has paid for recomputation when
// it stands before stage s with m left: cost(s,m). It knows a few hundred cells
// of m per stage; within a cell it assumes the least cost and the most memory.
type frontier[T unit] struct {
	shift uint  // cell = m >> shift
	cost  [][]T // cost[s][cell]: least cost to stand at s with m in this cell or above
	top   [][]T // top[s][cell]: the largest m of the cell that is reached; -1: none, or not worth going on from
	most  []T   // most[s]: the largest m with which s is reached; -1: it is not
}

const frontierCells = 1024

func newFrontier[T unit](n int, room T, most int) *frontier[T] {
	f := &frontier[T]{cost: make([][]T, n+1), top: make([][]T, n+1), most: make([]T, n+1)}
	for room>>f.shift >= T(most) {
		f.shift++
	}
	cells := int(room>>f.shift) + 1
	all := make([]T, 2*(n+1)*cells)
	for s := range f.cost {
		f.cost[s], all = all[:cells], all[cells:]
		f.top[s], all = all[:cells], all[cells:]
	}
	return f
}

// at is the bound for standing at s with m left.
func (f *frontier[T]) at(s int, m T) T { return f.cost[s][m>>f.shift] }

// build computes the bound below the table's limit. Without the trick it says
// that everything is reached for nothing.
func (f *frontier[T]) build(x *table[T]) error {
	inf := never[T]()
	for s := range f.cost {
		f.most[s] = -1
		if !x.use.forward {
			f.most[s] = x.room
			clear(f.cost[s])
			continue
		}
		for i := range f.cost[s] {
			f.cost[s][i], f.top[s][i] = inf, -1
		}
	}
	if !x.use.forward {
		return nil
	}
	f.reach(1, x.room, 0)
	for s := 1; s <= x.n; s++ {
		f.settle(s)
		for i := len(f.top[s]) - 1; i >= 0; i-- {
			if f.top[s][i] < 0 {
				continue
			}
			if err := x.poll.Err(); err != nil {
				return err
			}
			f.expand(x, s, x.n, f.top[s][i], f.cost[s][i])
		}
	}
	return nil
}

func (f *frontier[T]) reach(s int, m, cost T) {
	i := m >> f.shift
	f.cost[s][i] = min(f.cost[s][i], cost)
	f.top[s][i] = max(f.top[s][i], m)
}

// settle makes cost[s] cover the cells above, and forgets cells that one above
// dominates: more memory for no more cost.
func (f *frontier[T]) settle(s int) {
	best := never[T]()
	for i := len(f.cost[s]) - 1; i >= 0; i-- {
		if f.cost[s][i] >= best {
			f.cost[s][i], f.top[s][i] = best, -1
			continue
		}
		best = f.cost[s][i]
		if f.most[s] < 0 {
			f.most[s] = f.top[s][i]
		}
	}
}

// expand goes on from (s,m): F_all^s, or F_ck^s and a split before j.
func (f *frontier[T]) expand(x *table[T], s, t int, m, cost T) {
	if !x.lean && s < t && m >= x.saved[s] {
		f.reach(s+1, m-x.saved[s], cost)
	}
	for j := s + 1; j <= t; j++ {
		c := cost + x.till[j] - x.until[s]
		if c > x.limit {
			break
		}
		if m >= x.in[j] {
			f.reach(j, m-x.in[j], c)
		}
	}
}

// highest is the largest m up to most[s] that is reached for no more than cost.
func (f *frontier[T]) highest(s int, cost T) T {
	top := f.most[s]
	cells := f.cost[s]
	lo, hi := 0, int(top>>f.shift)
	if cells[hi] <= cost {
		return top
	}
	for lo < hi { // costs rise with the cell
		mid := int(uint(lo+hi) >> 1)
		if cells[mid] <= cost {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return T(lo)<<f.shift - 1
}
