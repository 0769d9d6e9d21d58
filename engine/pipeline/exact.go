package pipeline

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// The states of a micro batch at a stage in the exact search.
const (
	exFresh = iota
	exForward
	exKept
	exDropping
	exDropped
	exAgain
	exOut
	exHosted
	exIn
	exBack
	exRest
	exWeights
	exDone
)

// moment is the state of a pipeline when something has ended: the states of all cells, the remaining times of
// messages, and the remaining times of the three lanes of each rank (passes, out, in).
type moment struct {
	cells    []byte
	messages []int64 // by cell: the message that its next pass waits for, or unsent
	lanes    []int64 // by rank and lane; 0: free
}

// unsent is the remaining time of a message that was not sent.
const unsent = int64(-1)

// exact is an A* search over moments.
type exact struct {
	*work
	allowed Allowed
	mine    [][]int32 // by rank: its stages
	cells   [][]int32 // by rank: its cells
	below   int64     // steps that take this long or longer are of no use
	most    int       // largest number of moments
	poll    *engine.Poll

	ids   map[string]int32 // by encoded moment: its number
	keys  []string         // by number: the encoded moment
	took  []int64          // by number: its earliest time so far
	from  []int32          // by number: the moment before it, or -1
	queue engine.Heap[open]
}

// open is a moment in the queue.
type open struct {
	bound, took int64
	id          int32
}

// Before orders moments by bound, and the later one first if bounds are equal.
func (a open) Before(b open) bool {
	return cmp.Or(cmp.Compare(a.bound, b.bound), cmp.Compare(b.took, a.took), cmp.Compare(a.id, b.id)) < 0
}

// MostCells is the largest number of cells, micro batches at stages, that Exact takes.
const MostCells = 24

// Exact finds a fastest step, or returns nil without an error if no step is faster than below, a step time that is
// known to be possible (0: none is known). It is an A* search over the states of the pipeline at every event, where
// everything that can start may start or wait. Within a stage, each kind of pass runs the micro batches in order.
// Exact returns an error for more than MostCells cells, for passes that take no time and for messages that compete,
// and ErrTooLarge after the given number of states.
func Exact(p *Problem, a Allowed, below time.Duration, states int, poll *engine.Poll) (*Found, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	x := &exact{work: newWork(p), allowed: a, mine: make([][]int32, p.Ranks), cells: make([][]int32, p.Ranks),
		below: int64(below), most: states, poll: poll, ids: map[string]int32{}}
	if below == 0 {
		x.below = never
	}
	for s := range p.Stages {
		st := &p.Stages[s]
		x.mine[st.Rank] = append(x.mine[st.Rank], int32(s))
		for m := range p.micro(s) {
			x.cells[st.Rank] = append(x.cells[st.Rank], x.first[s]+int32(m))
		}
		if st.Forward == 0 || x.length[4*s+nodeB] == 0 || !p.Fused && st.Weights == 0 || a.Offload && st.Off > 0 &&
			(st.Out == 0 || st.In == 0) {
			return nil, fmt.Errorf("stage %d has a pass or a copy of no time: %w", s, engine.ErrUnsupported)
		}
	}
	if len(x.stage) > MostCells || p.Messages != Latency && p.Messages != Included {
		return nil, fmt.Errorf("the exact search takes at most %d micro batches at stages, messages that do not compete; there are %d: %w", MostCells, len(x.stage), engine.ErrUnsupported)
	}
	goal, err := x.search()
	if err != nil || goal < 0 {
		return nil, err
	}
	return x.found(goal), nil
}

// ErrTooLarge is the error of Exact after too many states.
var ErrTooLarge = fmt.Errorf("too many states for the exact search")

// search returns the last moment of a fastest step, or -1 if no step is fast enough.
func (x *exact) search() (int32, error) {
	n := len(x.stage)
	start := &moment{make([]byte, n), make([]int64, n), make([]int64, 3*x.p.Ranks)}
	for c := range start.messages {
		if x.before[c] >= 0 {
			start.messages[c] = unsent
		}
	}
	x.push(start, 0, -1)
	for len(x.queue) > 0 {
		if err := x.poll.Err(); err != nil {
			return -1, err
		}
		at := x.queue.Pop()
		if x.took[at.id] < at.took {
			continue
		}
		m := x.decode(x.keys[at.id])
		if !slices.ContainsFunc(m.cells, func(c byte) bool { return c != exDone }) {
			return at.id, nil
		}
		if len(x.keys) > x.most {
			return -1, ErrTooLarge
		}
		x.starts(m, 0, at.id, at.took)
	}
	return -1, nil
}

// push adds a moment that is reached at a time, if it is new or earlier than before.
func (x *exact) push(m *moment, took int64, from int32) {
	key := x.encode(m)
	id, known := x.ids[key]
	if known && x.took[id] <= took {
		return
	}
	bound := took + x.left(m)
	if bound >= x.below {
		return
	}
	if !known {
		id = int32(len(x.keys))
		x.ids[key] = id
		x.keys, x.took, x.from = append(x.keys, key), append(x.took, 0), append(x.from, 0)
	}
	x.took[id], x.from[id] = took, from
	x.queue.Push(open{bound, took, id})
}

func (x *exact) encode(m *moment) string {
	b := append(make([]byte, 0, 64), m.cells...)
	for _, t := range m.messages {
		b = binary.AppendUvarint(b, uint64(t+1))
	}
	for _, t := range m.lanes {
		b = binary.AppendUvarint(b, uint64(t))
	}
	return string(b)
}

func (x *exact) decode(key string) *moment {
	n := len(x.stage)
	m := &moment{[]byte(key[:n]), make([]int64, n), make([]int64, 3*x.p.Ranks)}
	rest := []byte(key[n:])
	read := func() int64 {
		v, size := binary.Uvarint(rest)
		rest = rest[size:]
		return int64(v)
	}
	for i := range m.messages {
		m.messages[i] = read() - 1
	}
	for i := range m.lanes {
		m.lanes[i] = read()
	}
	return m
}

// starts tries everything that can start on the lanes from lane on, and pushes the moments at which something has
// ended next.
func (x *exact) starts(m *moment, lane int, id int32, took int64) {
	if x.poll.Err() != nil { // search returns the error
		return
	}
	if lane == len(m.lanes) {
		x.advance(m, id, took)
		return
	}
	x.starts(m, lane+1, id, took)
	if m.lanes[lane] > 0 || lane%3 > 0 && !x.allowed.Offload {
		return
	}
	r := lane / 3
	free := x.p.limit(r) - x.uses(m, r)
	for _, s := range x.mine[r] {
		first, n := x.first[s], int32(x.p.micro(int(s)))
		forward, again, back, weights := true, true, true, true
		for c := first; c < first+n; c++ {
			was := m.cells[c]
			begin := func(to byte, takes engine.Bytes, length int64) {
				if takes > free {
					return
				}
				m.cells[c], m.lanes[lane] = to, length
				x.starts(m, lane+1, id, took)
				m.cells[c], m.lanes[lane] = was, 0
			}
			st := &x.p.Stages[s]
			length := x.length[4*s : 4*s+4]
			limited := x.p.limit(r) != engine.NoLimit
			use := func(k int32) engine.Bytes { return x.bytes[5*s+k][0] }
			switch {
			case lane%3 == 1 && was == exKept && st.Off > 0 && limited:
				begin(exOut, 0, int64(st.Out))
			case lane%3 == 2 && was == exHosted:
				begin(exIn, st.Off, int64(st.In))
			case lane%3 > 0:
			case was == exFresh && forward:
				if forward = false; m.messages[c] == 0 {
					begin(exForward, use(nodeF), length[nodeF])
					if x.allowed.Recompute && st.Input < st.Act && limited {
						begin(exDropping, use(4), length[nodeF])
					}
				}
			case was == exDropped && again:
				again = false
				begin(exAgain, use(nodeR), length[nodeR])
			case was == exKept && back && m.messages[c] == 0:
				begin(exBack, use(nodeB), length[nodeB])
			case was == exRest && weights:
				weights = false
				begin(exWeights, use(nodeW), length[nodeW])
			}
			back = back && was >= exBack
		}
	}
}

// uses returns the bytes that a rank holds.
func (x *exact) uses(m *moment, r int) (b engine.Bytes) {
	b = x.p.fixed(r)
	for _, c := range x.cells[r] {
		st := &x.p.Stages[x.stage[c]]
		switch m.cells[c] {
		case exForward, exAgain:
			b += st.Act + st.FwdTemp
		case exDropping:
			b += st.Input + st.FwdTemp
		case exKept, exOut, exIn:
			b += st.Act
		case exDropped:
			b += st.Input
		case exHosted:
			b += st.Act - st.Off
		case exBack:
			if b += st.Act + st.InputsTemp; !x.p.Fused {
				b += max(0, st.Rest-st.Act)
			}
		case exRest:
			b += st.Rest
		case exWeights:
			b += st.Rest + st.WeightsTemp
		}
	}
	return b
}

// advance goes on to the next end or arrival.
func (x *exact) advance(m *moment, id int32, took int64) {
	step := never
	for _, t := range slices.Concat(m.lanes, m.messages) {
		if t > 0 {
			step = min(step, t)
		}
	}
	if step == never {
		return
	}
	next := &moment{slices.Clone(m.cells), slices.Clone(m.messages), slices.Clone(m.lanes)}
	for c := range next.messages {
		next.messages[c] -= min(max(next.messages[c], 0), step)
	}
	for lane, t := range m.lanes {
		if next.lanes[lane] -= min(t, step); t != step {
			continue
		}
		for _, c := range x.cells[lane/3] {
			x.end(next, c, lane%3)
		}
	}
	x.push(next, took+step, id)
}

// end ends the pass or copy of a cell that runs on a lane.
func (x *exact) end(m *moment, c int32, lane int) {
	switch at := m.cells[c]; {
	case lane == 0 && (at == exForward || at == exDropping):
		m.cells[c] = exKept
		if at == exDropping {
			m.cells[c] = exDropped
		}
		m.messages[c] = 0
		if b := x.behind[c]; b >= 0 {
			m.messages[c], m.messages[b] = unsent, x.message[x.stage[b]]
		}
	case lane == 0 && at == exAgain, lane == 2 && at == exIn:
		m.cells[c] = exKept
	case lane == 1 && at == exOut:
		m.cells[c] = exHosted
	case lane == 0 && at == exBack:
		m.cells[c] = exRest
		if x.p.Fused {
			m.cells[c] = exDone
		}
		if b := x.before[c]; b >= 0 {
			m.messages[b] = x.message[x.stage[c]]
		}
	case lane == 0 && at == exWeights:
		m.cells[c] = exDone
	}
}

// left returns a lower bound on the remaining time of a step, from the work of each rank and the way of each micro
// batch.
func (x *exact) left(m *moment) (most int64) {
	for r, cells := range x.cells {
		t := m.lanes[3*r]
		for _, c := range cells {
			t += x.owes(x.stage[c], m.cells[c])
		}
		most = max(most, t)
	}
	for c, before := range x.before {
		if before < 0 {
			most = max(most, x.way(m, int32(c)))
		}
	}
	return most
}

// owes returns the time of the passes of a cell that have not started.
func (x *exact) owes(s int32, at byte) int64 {
	l := x.length[4*s : 4*s+4]
	switch at {
	case exFresh:
		return l[nodeF] + l[nodeB] + l[nodeW]
	case exDropping, exDropped:
		return l[nodeR] + l[nodeB] + l[nodeW]
	case exForward, exKept, exAgain, exOut, exHosted, exIn:
		return l[nodeB] + l[nodeW]
	case exBack, exRest:
		return l[nodeW]
	}
	return 0
}

// way returns a lower bound on the time until a micro batch has run through all stages and back. c is its cell at the
// first stage.
func (x *exact) way(m *moment, c int32) int64 {
	t, last := int64(0), c
	for ; c >= 0; c = x.behind[c] { // t becomes the end of its forwards
		s := x.stage[c]
		running := m.lanes[3*x.p.Stages[s].Rank]
		switch m.cells[c] {
		case exFresh:
			if m.messages[c] >= 0 {
				t = m.messages[c]
			} else {
				t += x.message[s]
			}
			t += x.length[4*s+nodeF]
		case exForward, exDropping:
			t = running
		default:
			t = 0
		}
		last = c
	}
	most := int64(0)
	for c = last; c >= 0; c = x.before[c] { // t becomes the end of its backwards
		s := x.stage[c]
		switch at := m.cells[c]; {
		case at < exBack:
			if b := x.behind[c]; b >= 0 {
				if m.messages[c] >= 0 && at != exFresh {
					t = m.messages[c]
				} else {
					t += x.message[x.stage[b]]
				}
			}
			t += x.length[4*s+nodeB]
		case at == exBack:
			t = m.lanes[3*x.p.Stages[s].Rank]
		default:
			t = 0
			continue
		}
		most = max(most, t+x.length[4*s+nodeW])
	}
	return most
}

// found returns the step of the moments that lead to goal.
func (x *exact) found(goal int32) *Found {
	var way []int32
	for id := goal; id >= 0; id = x.from[id] {
		way = append(way, id)
	}
	slices.Reverse(way)
	t := newTrace(x.p, make([][]Pass, x.p.Ranks))
	for i, id := range way[1:] {
		was, is := x.decode(x.keys[way[i]]), x.decode(x.keys[id])
		for c := range was.cells {
			if k, started := startedAs(was.cells[c], is.cells[c], x.p.Fused); started {
				s := int(x.stage[c])
				pass := Pass{Kind: k, Micro: c - int(x.first[s]), Stage: s}
				at := time.Duration(x.took[way[i]])
				t.add(x.p, Span{pass, at, at + x.p.Time(pass)})
			}
		}
	}
	for r := range t.Ranks {
		t.Peak[r] = x.p.peak(r, slices.Concat(t.Ranks[r], t.Copies[r]))
	}
	f := &Found{Trace: t, Bound: time.Duration(x.took[goal]), From: "the exact search"}
	f.Order = t.order()
	for r := range f.Order {
		t.Held[r] = held(f.Order[r])
	}
	return f
}

// startedAs returns the kind of what started on a cell between two moments, and whether anything did.
func startedAs(was, is byte, fused bool) (Kind, bool) {
	if was == is {
		return 0, false
	}
	switch was {
	case exFresh:
		if is == exDropping || is == exDropped {
			return Dropped, true
		}
		return Forward, true
	case exDropped:
		return Again, true
	case exHosted:
		return In, true
	case exRest:
		return Weights, true
	case exKept:
		switch {
		case is == exOut || is == exHosted:
			return Out, true
		case fused:
			return Backward, true
		}
		return Inputs, true
	}
	return 0, false
}
