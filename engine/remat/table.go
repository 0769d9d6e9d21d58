package remat

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"memtide/engine"
)

// table is the dynamic program of Theorem 1 of Beaumont et al. (arXiv:1911.13214, section 4.2),
// solved in exact bytes. The paper fills an array over (s, t, m) with memory rounded up to 500
// slots. This table has no slots and is a hundred times faster, by these means:
//
// Steps. As a function of m, C(s,t,m) - sum(uF+uB), the time spent on computing again, never rises. A row is the list
// of its falls (m, v): the value is v from m on, until the next fall. Below the first m nothing fits. So memory can be
// counted in bytes. The choices are not stored: trace finds them again.
//
// Prefix. A split before s' costs at least U(s,s') = uF^s+..+uF^{s'-1}. It only matters for the m at which the row is
// still above that, which form a prefix. Once all of the row is below U(s,s'), no later s' matters.
//
// Least. The least possible value of a split is compared with the row before the steps of the split are read.
//
// Limit. Let limit be an upper bound of the root's value. A state (s,t), t<n, is only entered as the left part of a
// split before t+1, which has paid U(s,t+1). So values above limit-U(s,t+1) are dropped. The other values are exact. If
// the root is dropped, the limit was too low; rising limits soon find one that suffices.
//
// Forward. A schedule that stands at s with m left has already paid something: at least
// frontier.cost(s,m). Every schedule pays that, so only a narrow band of each row remains.
//
// Contexts. A state (s,t) with t < n is entered by a split before t+1, whose right part also costs
// something. The rows of the right part are known by then. Together with what was paid to reach s,
// a small part of most rows remains (contexts).
//
// Coarse. To find a good limit without heuristics, the chain with its stages grouped by 16, 8, 4 and
// 2 (see terms.group) is solved first, each grouping with the limit of the one before.
//
// Gallop. If a candidate is far above the row, whole blocks of its steps are skipped, by comparing
// the last and lowest values of a block only.
//
// The last five are switches of tricks. The tests compare all combinations with the plain recursion.
type table struct {
	terms                 // their needs are cut down: see newTable
	until         []int64 // by stage: forward time of the stages before it
	till          []int64 // a split of (s,t) before j costs till[j] - until[s]
	use           tricks
	limit         int64
	front         *frontier
	around, spare *contexts // around is nil if unused; spare keeps the memory for the next fill
	rows          []rowRef  // of (s,t), by s, then t
	cols          []ended   // of (s,t), by t, then s
	store         arena
	poll          *engine.Poll
}

// tricks are switches of the means above. Outside of tests all are on.
type tricks struct {
	limit, forward, coarse, gallop, context bool
}

var allTricks = tricks{true, true, true, true, true}

// step is a fall of a row: the value is v from m on.
type step struct{ m, v int64 }

var (
	errTableFull = fmt.Errorf("%w: the table would need too much memory", engine.ErrUnsupported)
	errTooLong   = fmt.Errorf("%w: the times or sizes add up to more than a machine integer holds",
		engine.ErrUnsupported)
)

// inf is above every time and size, and does not overflow when one is added to it.
const inf = int64(math.MaxInt64 / 2)

// newTable prepares the table of terms. Needs above the room are cut down to just above it, because
// their exact size does not matter.
func newTable(t *terms, use tricks, poll *engine.Poll) *table {
	x := &table{terms: *t, use: use, poll: poll}
	for _, v := range []*[]int64{&x.in, &x.saved, &x.held, &x.allFwd, &x.allBwd, &x.first, &x.mid, &x.single} {
		*v = slices.Clone(*v)
		for i, b := range *v {
			(*v)[i] = max(min(b, t.room+1), -t.room-1)
		}
	}
	x.until = make([]int64, t.n+2)
	for s := 1; s <= t.n; s++ {
		x.until[s+1] = x.until[s] + t.fwd[s]
	}
	x.till = x.until
	if t.outputOnly {
		x.till = make([]int64, t.n+2)
		for j := 2; j <= t.n; j++ {
			x.till[j] = x.until[j] - t.tail[j-1]
		}
	}
	side := t.n + 1
	x.rows, x.cols = make([]rowRef, side*side), make([]ended, side*side)
	x.store.most = maxRowBytes
	x.front = newFrontier(t.n, x.room, min(frontierCells, stageCells*t.n))
	return x
}

// row returns the row of (s,t). It has no steps if none of its values is of interest.
func (x *table) row(s, t int) []step { return x.store.get(x.rows[s*(x.n+1)+t]) }

// find returns the index of the last step at or before m, or -1 if there is none.
func find(w []step, m int64) int {
	lo, hi := 0, len(w)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if w[mid].m <= m {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// value returns D(s,t,m), if it is finite and was not dropped.
func (x *table) value(s, t int, m int64) (int64, bool) {
	w := x.row(s, t)
	if i := find(w, m); i >= 0 {
		return w[i].v, true
	}
	return 0, false
}

// fill computes all rows below a limit. found reports whether the root has a value, which is then the optimum.
func (x *table) fill(limit int64) (found bool, err error) {
	x.limit = limit
	x.store.used, x.store.fill, x.store.steps = 0, 0, 0
	clear(x.rows)
	clear(x.cols)
	if err := x.front.build(x); err != nil {
		return false, err
	}
	x.around = nil
	if x.use.context && x.use.forward && x.use.limit && limit > x.until[x.n+1]/contextShare {
		if x.spare == nil {
			x.spare = newContexts(x.n, x.room)
		}
		x.around = x.spare
		if err := x.around.front.build(x); err != nil {
			return false, err
		}
	}
	b := builder{table: x}
	for s := x.n; s >= 1; s-- {
		if s < x.n && x.around != nil {
			if err := x.around.finish(x, s+1); err != nil {
				return false, err
			}
		}
		if x.front.most[s] < 0 {
			continue // no schedule within the limit reaches s
		}
		b.start(s)
		for t := s + 1; t <= x.n; t++ {
			b.build(t)
			if b.err != nil {
				return false, b.err
			}
		}
		x.poll.Report(engine.Progress{Done: x.n - s, Total: x.n})
	}
	v, ok := x.value(1, x.n, x.room)
	return ok && v <= limit, nil
}

// rowRef is the place of the steps of a row. The first step is always at an index that fits into 16 bits: only a row
// longer than a normal segment could begin beyond, and such a row has a segment of its own.
type rowRef struct {
	segment, at uint16
	count       int32
}

// ended is a row with the m of its first step and the value of its last one. These two mostly show
// that a split is of no use, and are next to each other in memory.
type ended struct {
	rowRef
	from, least int64
}

// maxRowBytes bounds the memory of the rows: a browser tab has no more than a few hundred MiB. It
// is a variable so that tests can change it.
var maxRowBytes = 112 << 20

// arena stores rows one after the other in segments. Segments stay in place when the arena grows,
// and double in length up to a bound.
type arena struct {
	segments [][]step
	used     int // number of segments in use
	fill     int // steps in the last segment in use
	steps    int // capacity of the segments in use
	most     int // largest number of bytes
}

const (
	firstSegment     = 1 << 8
	segmentDoublings = 8
)

// full reports whether the rows take more than they may.
func (a *arena) full() bool { return a.steps*int(unsafe.Sizeof(step{})) > a.most }

func (a *arena) get(r rowRef) []step {
	if r.count == 0 {
		return nil
	}
	return a.segments[r.segment][r.at:][:r.count]
}

func (a *arena) put(w []step) rowRef {
	if a.used == 0 || a.fill+len(w) > len(a.segments[a.used-1]) {
		if a.used == len(a.segments) || len(a.segments[a.used]) < len(w) {
			a.segments = append(a.segments[:a.used],
				make([]step, max(firstSegment<<min(a.used, segmentDoublings), len(w))))
		}
		a.steps += len(a.segments[a.used])
		a.used++
		a.fill = 0
	}
	copy(a.segments[a.used-1][a.fill:], w)
	r := rowRef{uint16(a.used - 1), uint16(a.fill), int32(len(w))}
	a.fill += len(w)
	return r
}

// visit is a state still to be unfolded, or a backward still to be emitted.
type visit struct {
	s, t int // t == 0: emit B^s
	m    int64
}

// trace returns the sequence that attains the root's value, by finding the choices again (OptRec of arXiv:1911.13214,
// algorithm 2). It keeps its own stack, because the recursion can be as deep as the chain is long.
//
// A state may be visited with more memory than its row covers, because rows end where nothing more is of interest. Its
// value is then one that less memory attains, and its branches may turn out better, never worse.
func (x *table) trace() (seq []engine.ChainOp) {
	emit := func(kind engine.ChainOpKind, k int) { seq = append(seq, engine.ChainOp{Kind: kind, Stage: k}) }
	stack := []visit{{1, x.n, x.room}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if v.t == 0 {
			emit(engine.BStep, v.s)
			continue
		}
		if v.s == v.t {
			emit(engine.FAll, v.s)
			emit(engine.BStep, v.s)
			continue
		}
		j := x.choice(v.s, v.t, v.m)
		if j == v.s {
			emit(engine.FAll, v.s)
			stack = append(stack, visit{s: v.s}, visit{v.s + 1, v.t, v.m - x.saved[v.s]})
			continue
		}
		seq = KeepInput(seq, v.s, j-1) // the paper prints ..s', which would consume a^{s'-1}
		stack = append(stack, visit{v.s, j - 1, v.m}, visit{j, v.t, v.m - x.in[j]})
	}
	return seq
}

// choice returns the split j that attains the value of (s,t,m), or s if F_all^s does.
func (x *table) choice(s, t int, m int64) int {
	want, ok := x.value(s, t, m)
	if !ok {
		panic("remat: a state of the optimum has no value")
	}
	if !x.outputOnly && m >= x.all(s, t) {
		if v, ok := x.value(s+1, t, m-x.saved[s]); ok && v <= want {
			return s
		}
	}
	none := x.first[s]
	for j := s + 1; j < t; j++ {
		none = max(none, x.mid[j])
	}
	if m >= x.held[t]+none {
		for j := s + 1; j <= t; j++ {
			right, okR := x.value(j, t, m-x.in[j])
			left, okL := x.value(s, j-1, m)
			if okR && okL && x.till[j]-x.until[s]+right+left <= want {
				return j
			}
		}
	}
	panic("remat: no choice attains the value of a state")
}

// ungroup converts a sequence of the chain grouped by g into one of the chain itself (see terms.group).
func (t *terms) ungroup(grouped []engine.ChainOp, g int) []engine.ChainOp {
	n := t.n
	count := (n-1+g-1)/g + 1
	var seq []engine.ChainOp
	emit := func(kind engine.ChainOpKind, k int) { seq = append(seq, engine.ChainOp{Kind: kind, Stage: k}) }
	for _, op := range grouped {
		a, b := (op.Stage-1)*g+1, min(op.Stage*g, n-1)
		if op.Stage == count {
			a, b = n, n
		}
		switch op.Kind {
		case engine.FCk: // keeps only the input of the group
			seq = KeepInput(seq, a, b)
		case engine.FNone:
			for k := a; k <= b; k++ {
				emit(engine.FNone, k)
			}
		case engine.FAll:
			kind := engine.FAll
			if t.outputOnly {
				kind = engine.FCk
			}
			for k := a; k < b; k++ {
				emit(kind, k)
			}
			emit(engine.FAll, b)
		case engine.BStep:
			for k := b; k >= a; k-- {
				if t.outputOnly && k < b {
					emit(engine.FAll, k)
				}
				emit(engine.BStep, k)
			}
		}
	}
	return seq
}
