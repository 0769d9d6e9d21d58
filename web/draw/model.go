package draw

import (
	"sort"
	"sync"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// indexModel is a trace, arranged so that what is asked of it is found at once. It is
// not changed after it is built, except that the critical chain and the structure of a
// graph are found when they are first asked for.
type indexModel struct {
	problem *engine.Problem
	trace   *sim.Trace
	layers
	lanes   [sim.NumLanes]lane
	memory  memoryIndex
	lives   lifeIndex
	byStage [][]sim.SpanID // the spans of stages 1..n
	rows    []int32        // all spans and gaps by start, as in lane.ref
	phases  []phase

	piecesOnce sync.Once
	pieceIndex pieceIndex // see pieces

	chainOnce sync.Once
	chain     []ChainLink // see CriticalChain

	graphOnce sync.Once
	structure *structure // see graph
}

// newIndexModel arranges a trace of p's graph. p and t must not change
// while the model is in use. It takes time and memory in proportion to the trace.
func newIndexModel(p *engine.Problem, t *sim.Trace) *indexModel {
	m := &indexModel{problem: p, trace: t, layers: layersOf(p)}
	for l := range m.lanes {
		m.lanes[l] = newLane(t, sim.Lane(l))
	}
	m.memory = newMemoryIndex(t.Memory)
	m.lives = newLifeIndex(t.Lives)
	m.byStage = make([][]sim.SpanID, len(m.sizes))
	for i := range t.Spans {
		if k := m.stageOf(&t.Spans[i]); k >= 1 && k <= len(m.byStage) {
			m.byStage[k-1] = append(m.byStage[k-1], sim.SpanID(i))
		}
	}
	m.decisions = m.decide()
	m.phases = m.findPhases()
	m.rows = make([]int32, 0, len(t.Spans)+len(t.Gaps))
	for i, j := 0, 0; i < len(t.Spans) || j < len(t.Gaps); {
		if j == len(t.Gaps) || i < len(t.Spans) && t.Spans[i].Start <= t.Gaps[j].Start {
			m.rows = append(m.rows, int32(i))
			i++
		} else {
			m.rows = append(m.rows, ^int32(j))
			j++
		}
	}
	return m
}

// Makespan is the step time: the end of the time axis.
func (m *indexModel) Makespan() time.Duration { return m.trace.Makespan }

// Stages is how many stages the strip shows.
func (m *indexModel) Stages() int { return len(m.sizes) }

// value is nil if there is no such value.
func (m *indexModel) value(id engine.ValueID) *engine.Value {
	if id < 0 || int(id) >= len(m.problem.Graph.Values) {
		return nil
	}
	return &m.problem.Graph.Values[id]
}

// spanName is the short name of a span: the operation or the value moved.
func (m *indexModel) spanName(s *sim.Span) string {
	if s.Op != engine.NoOp && int(s.Op) < len(m.problem.Graph.Ops) {
		return m.problem.Graph.Ops[s.Op].Name
	}
	return m.valueName(s.Value)
}

func (m *indexModel) valueName(id engine.ValueID) string {
	if v := m.value(id); v != nil {
		return v.Name
	}
	return "?"
}

func (m *indexModel) span(id sim.SpanID) *sim.Span {
	if id < 0 || int(id) >= len(m.trace.Spans) {
		return nil
	}
	return &m.trace.Spans[id]
}

// kindWaiting is the kind of gaps, beside the kinds of spans.
const (
	kindWaiting = uint8(sim.SpanCPU) + 1
	numKinds    = kindWaiting + 1
)

// blockSize is how many slices or samples share an entry of a prefix sum or of
// an extreme: what has to be looked at beside whole blocks.
const blockSize = 32

// lane is what happens on a lane as columns sorted by start. Slices do not
// overlap; on the compute lane the gaps are slices too.
type lane struct {
	from, to []int64 // nanoseconds
	kind     []uint8
	ref      []int32 // a sim.SpanID, or ^i for gap i
	// busy[b] is the time by kind of the slices before b*blockSize.
	busy [][numKinds]int64
}

func newLane(t *sim.Trace, which sim.Lane) lane {
	n := 0
	for i := range t.Spans {
		if t.Spans[i].Lane == which {
			n++
		}
	}
	if which == sim.Compute {
		n += len(t.Gaps)
	}
	l := lane{from: make([]int64, 0, n), to: make([]int64, 0, n), kind: make([]uint8, 0, n), ref: make([]int32, 0, n)}
	j := 0
	// Strictly before: a run of no duration goes before the gap that starts with
	// it, so that ends are sorted too.
	gapsBefore := func(at time.Duration) {
		for ; which == sim.Compute && j < len(t.Gaps) && t.Gaps[j].Start < at; j++ {
			l.add(int64(t.Gaps[j].Start), int64(t.Gaps[j].End), kindWaiting, ^int32(j))
		}
	}
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Lane == which {
			gapsBefore(s.Start)
			l.add(int64(s.Start), int64(s.End), uint8(s.Kind), int32(i))
		}
	}
	gapsBefore(t.Makespan + 1)
	l.index()
	return l
}

func (l *lane) add(from, to int64, kind uint8, ref int32) {
	l.from, l.to = append(l.from, from), append(l.to, max(from, to))
	l.kind, l.ref = append(l.kind, kind), append(l.ref, ref)
}

func (l *lane) index() {
	l.busy = make([][numKinds]int64, len(l.from)/blockSize+1)
	var sum [numKinds]int64
	for i := range l.from {
		if i%blockSize == 0 {
			l.busy[i/blockSize] = sum
		}
		sum[l.kind[i]] += l.to[i] - l.from[i]
	}
	if len(l.from)%blockSize == 0 {
		l.busy[len(l.from)/blockSize] = sum
	}
}

// busyIn adds up the time by kind of slices [i, j).
func (l *lane) busyIn(i, j int) (sum [numKinds]int64) {
	bi, bj := (i+blockSize-1)/blockSize, j/blockSize
	if bi >= bj {
		l.addUp(i, j, &sum)
		return sum
	}
	l.addUp(i, bi*blockSize, &sum)
	l.addUp(bj*blockSize, j, &sum)
	for k := range sum {
		sum[k] += l.busy[bj][k] - l.busy[bi][k]
	}
	return sum
}

//go:noinline
func (l *lane) addUp(i, j int, sum *[numKinds]int64) {
	from, to, kind := l.from[i:j], l.to[i:j], l.kind[i:j]
	for x := range from {
		sum[kind[x]] += to[x] - from[x]
	}
}

// firstEnding is the first slice that ends after t.
func (l *lane) firstEnding(t int64) int {
	return sort.Search(len(l.to), func(i int) bool { return l.to[i] > t })
}

// firstStarting is the first slice from i on that starts at or after t. It
// looks near i first, since most columns hold few slices.
func (l *lane) firstStarting(i int, t int64) int {
	step, hi := 1, i
	for hi < len(l.from) && l.from[hi] < t {
		i = hi + 1
		hi += step
		step *= 2
	}
	hi = min(hi, len(l.from))
	for i < hi {
		mid := int(uint(i+hi) / 2)
		if l.from[mid] < t {
			i = mid + 1
		} else {
			hi = mid
		}
	}
	return i
}

// at is the slice that covers t, or -1.
func (l *lane) at(t int64) int {
	i := l.firstEnding(t)
	if i < len(l.from) && l.from[i] <= t {
		return i
	}
	return -1
}

// find is the slice with a reference, which starts at from; -1 if there is none.
func (l *lane) find(ref int32, from int64) int {
	for i := l.firstStarting(0, from); i < len(l.from) && l.from[i] == from; i++ {
		if l.ref[i] == ref {
			return i
		}
	}
	return -1
}

// CopyLanes is how many lanes beside compute something runs on in a trace.
func CopyLanes(t *sim.Trace) int {
	var used [sim.NumLanes]int
	for i := range t.Spans {
		used[t.Spans[i].Lane] = 1
	}
	return used[sim.ToHost] + used[sim.ToDev] + used[sim.Network] + used[sim.CPU]
}
