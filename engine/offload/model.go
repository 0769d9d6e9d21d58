package offload

import (
	"math"
	"math/bits"
	"time"

	"memtide/engine"
)

// rule is the rule for when the bytes of a transfer count as gone.
type rule uint8

const (
	// whole is the rule of whole transfers: all of x_i at once, when it is gone [R_i].
	whole rule = iota
	// streamed is the rule of streamed transfers: byte by byte as the simulator counts them, and no
	// fetch before the last value is gone.
	streamed
	// fluid is the rule of the fractional communications of paper 000: any fraction of a byte, and a
	// fetch may begin when the last offload ends, even while the operation that uses the value is
	// still running. No ordered schedule of the set is faster.
	fluid
)

// never is the step time of a set that does not fit. No set has it.
const never = math.MaxInt64

// model evaluates many sets of values: it computes the step time that Ordered would find, without
// its schedule, and without allocating memory per call. Under the rules whole and streamed, times
// are nanoseconds and equal those of Ordered. Under fluid they are ticks.
type model struct {
	n            int
	rule         rule
	tick         int64          // ticks in a nanosecond
	size         []engine.Bytes // [|x_i|]
	overF, overB []engine.Bytes // [m_F - M, m_B - M] excess of each operation if nothing moves; negative: spare room
	timeF, timeB []int64        // [u_F, u_B]
	out, in      []int64        // how long the transfers of x_i take
	out1, in1    int64          // under fluid: how long a byte takes
	part         engine.Bytes   // under fluid: bytes of a fetch under way that the device may hold in excess
	compute      int64          // sum of the times of all operations
	early        bool           // fetches may begin when the last offload ends, even if the value is still in use
	excess       engine.Bytes   // [Mpeak - M]
	unit         engine.Bytes   // unit of the tie-break: see weight
	rest         []int64        // by i: times of the operations from i on, in both passes
	toHost       engine.Rate
	toDev        engine.Rate
	moves        []move // scratch: the transfers of the current set
}

// move is the transfer of a value out, and back in reversed time.
type move struct {
	size  engine.Bytes
	away  engine.Bytes // bytes that are away once it has ended
	start int64        // start of the offload
	end   int64
	gone  int64 // [R_i] when both the offload and the operation that uses the value have ended
	back  int64 // end of the fetch
}

// rule returns the rule of the problem's transfers.
func (s *step) rule() rule {
	if s.streamed {
		return streamed
	}
	return whole
}

// newModel builds the model of a step under a rule.
func newModel(s *step, r rule) *model {
	dev := s.p.Device
	m := &model{n: s.n, rule: r, tick: 1, early: r == fluid, size: s.size, excess: s.peak() - s.p.Budget,
		toHost: dev.ToHost, toDev: dev.ToDev, moves: make([]move, s.n)}
	if r == fluid {
		m.tick, m.out1, m.in1 = ticks(s)
		// A streamed byte takes room only when all of it has arrived. If bytes end between nanoseconds, a schedule can
		// therefore be faster than the paper's by the time of a byte, which a lower bound has to allow for.
		if s.streamed && int64(time.Second)%int64(dev.ToDev) != 0 {
			m.part = 1
		}
	}
	var all engine.Bytes
	for _, x := range s.size {
		all += x
	}
	for i := range s.n {
		// More spare room than all values take makes no difference, and could overflow.
		m.overF = append(m.overF, max(s.needF[i]-s.p.Budget, -all))
		m.overB = append(m.overB, max(s.needB[i]-s.p.Budget, -all))
		m.timeF = append(m.timeF, int64(s.timeF[i])*m.tick)
		m.timeB = append(m.timeB, int64(s.timeB[i])*m.tick)
		m.compute += m.timeF[i] + m.timeB[i]
		if r == fluid {
			m.out = append(m.out, int64(s.size[i])*m.out1)
			m.in = append(m.in, int64(s.size[i])*m.in1)
		} else {
			m.out = append(m.out, int64(dev.ToHost.Time(s.size[i])))
			m.in = append(m.in, int64(dev.ToDev.Time(s.size[i])))
		}
	}
	m.unit = all/engine.Bytes(never/int64(4*(1000+s.n))) + 1
	m.rest = make([]int64, s.n+1)
	for i := s.n - 1; i >= 0; i-- {
		m.rest[i] = m.rest[i+1] + m.timeF[i] + m.timeB[i]
	}
	return m
}

// ticks divides the nanosecond so that a byte takes a whole number of ticks in either direction, if
// the range of an integer allows it. Otherwise bytes take less time in the model than on the link,
// by less than a millionth. The model's step times are true lower bounds either way.
func ticks(s *step) (tick, out1, in1 int64) {
	longest, bytes := 1.0, 0.0
	for i := range s.n {
		longest += float64(s.timeF[i]) + float64(s.timeB[i])
		bytes += float64(s.size[i])
	}
	dev := s.p.Device
	longest += bytes * 1e9 * (1/float64(dev.ToHost) + 1/float64(dev.ToDev))
	most := math.Max(1, math.Floor(float64(1<<59)/longest))
	a, b := int64(dev.ToHost)/engine.GCD(int64(dev.ToHost), 1e9), int64(dev.ToDev)/engine.GCD(int64(dev.ToDev), 1e9)
	if hi, k := bits.Mul64(uint64(a/max(engine.GCD(a, b), 1)), uint64(b)); hi == 0 && float64(k) <= most {
		tick = int64(k)
	} else {
		tick = engine.Int64(math.Exp2(math.Floor(math.Log2(math.Min(most, 1<<40)))))
	}
	return tick, perByte(tick, dev.ToHost), perByte(tick, dev.ToDev)
}

// perByte returns the number of ticks that a byte takes, rounded down.
func perByte(tick int64, r engine.Rate) int64 {
	hi, lo := bits.Mul64(uint64(tick), uint64(time.Second))
	if hi >= uint64(r) {
		return 0
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	return int64(q)
}

// nanoseconds rounds a time of the model up. A step time is a whole number of nanoseconds, so a
// lower bound of it stays one.
func (m *model) nanoseconds(t int64) time.Duration {
	if t == never {
		return time.Duration(never)
	}
	return time.Duration((t + m.tick - 1) / m.tick)
}

// time returns the step time of a set [T(S)], or never.
func (m *model) time(set []bool) int64 { return m.below(set, never) }

// below returns the step time of a set if it is less than limit. Otherwise the result is at least limit, but may be
// less than the step time. A local search spends its time here. Both passes go through the values in the same order, so
// one loop covers both, and it ends as soon as the limit is out of reach.
func (m *model) below(set []bool, limit int64) int64 {
	n := m.n
	overF, overB, timeF, timeB := m.overF[:n], m.overB[:n], m.timeF[:n], m.timeB[:n]
	set, size, rest := set[:n], m.size[:n], m.rest[1:n+1]
	var at, atB, link, linkB, joined int64 // [e_i, r_i]; when the links are idle; least step time so far
	var away engine.Bytes
	moves, f, b := m.moves[:0], 0, 0 // f and b: the moves that F_i and B_i wait for
	for i := range n {
		ready := at // when x_i is on the device
		v, vB := overF[i], overB[i]
		if max(v, vB) > away {
			return never
		}
		if v > 0 {
			f = reach(moves, f, v)
			at = max(at, m.left(&moves[f], v))
		}
		if vB > 0 {
			b = reach(moves, b, vB)
			atB = max(atB, m.missing(&moves[b], vB))
		}
		at += timeF[i]
		atB += timeB[i]
		if v > 0 {
			joined = max(joined, at+m.missing(&moves[f], v))
		}
		if vB > 0 {
			joined = max(joined, atB+m.left(&moves[b], vB))
		}
		if set[i] && size[i] > 0 {
			start := max(link, ready)
			link, linkB = start+m.out[i], max(linkB, atB)+m.in[i]
			away += size[i]
			gone := max(link, at)
			moves = append(moves, move{size[i], away, start, link, gone, linkB})
			if m.early {
				gone = link
			}
			joined = max(joined, gone+linkB)
		}
		if max(joined, at+atB+rest[i]) >= limit {
			return limit
		}
	}
	return max(joined, at+atB)
}

// left returns the first time at which v bytes are away. x is the transfer of the last of them.
func (m *model) left(x *move, v engine.Bytes) int64 {
	if m.rule == whole {
		return x.gone
	}
	return m.leftPart(x, v)
}

// missing is left for fetches, in reversed time.
func (m *model) missing(x *move, v engine.Bytes) int64 {
	if m.rule == whole {
		return x.back
	}
	return m.missingPart(x, v)
}

func (m *model) leftPart(x *move, v engine.Bytes) int64 {
	if m.rule == fluid {
		return x.end - int64(x.away-v)*m.out1
	}
	return x.start + int64(m.toHost.Time(v-x.away+x.size))
}

func (m *model) missingPart(x *move, v engine.Bytes) int64 {
	rest := x.away - v
	if m.rule == fluid {
		return x.back - int64(rest+m.part)*m.in1
	}
	return x.back - int64(min(m.toDev.Time(rest), m.toDev.Time(rest+1)-1))
}

// reach returns the index of the first transfer with which v bytes are away. k is an index near it.
func reach(moves []move, k int, v engine.Bytes) int {
	for moves[k].away < v {
		k++
	}
	for k > 0 && moves[k-1].away >= v {
		k--
	}
	return k
}

// relax returns the least step time if any part of a value could move (Theorem 2): the time of moving just the excess,
// the first bytes first. It is a lower bound of every set. The rule of the model must be fluid.
func (m *model) relax() int64 {
	part := *m
	part.size, part.out, part.in = make([]engine.Bytes, m.n), make([]int64, m.n), make([]int64, m.n)
	set, left := make([]bool, m.n), m.excess
	for i := range set {
		part.size[i] = max(0, min(left, m.size[i]))
		part.out[i], part.in[i] = int64(part.size[i])*m.out1, int64(part.size[i])*m.in1
		left -= part.size[i]
		set[i] = part.size[i] > 0
	}
	return part.time(set)
}
