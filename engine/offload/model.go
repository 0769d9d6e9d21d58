package offload

import (
	"math"
	"math/bits"
	"time"

	"memtide/engine"
)

// rule says when the bytes of a transfer count as gone.
type rule uint8

const (
	// whole: all of x_i at once, when it is gone [R_i]. What whole transfers do.
	whole rule = iota
	// streamed: byte by byte as the simulator counts them, and no fetch before
	// the last value is gone. What streamed transfers do.
	streamed
	// fluid: any fraction, and a fetch may begin when the last offload ends
	// although the operation that uses the value still runs. The fractional
	// communications of paper 000: no ordered schedule of the set is faster.
	fluid
)

// never is a step time that no set has: it does not fit.
const never = math.MaxInt64

// model evaluates sets of values over and over: the closed form of Plan for the
// step time alone, without memory of its own per call. Under the rules whole
// and streamed its times are nanoseconds, and equal those of Plan; under fluid
// they are ticks.
type model struct {
	n            int
	rule         rule
	tick         int64          // ticks in a nanosecond
	size         []engine.Bytes // [|x_i|]
	overF, overB []engine.Bytes // [m_F - M, m_B - M] what is too much if nothing moves
	timeF, timeB []int64        // [u_F, u_B]
	out, in      []int64        // how long x_i travels
	out1, in1    int64          // under fluid: how long a byte travels
	part         engine.Bytes   // under fluid: what may be on the device in excess, on its way
	compute      int64          // the sum of all operations
	early        bool           // fetches begin when the last offload ends, even if the value is still in use
	workB        int64          // the sum of the backward operations
	excess       engine.Bytes   // [Mpeak - M]
	unit         engine.Bytes   // that tie-breaks count in: see weight
	ends         []int64        // scratch: [e_i], then [r_i]
	endsB        []int64
	rest         []int64 // the sum of the operations from i on, in both passes
	fwd, bwd     lane
}

// lane is one direction of the link during an evaluation.
type lane struct {
	rule     rule
	backward bool
	rate     engine.Rate
	one      int64          // how long a byte travels, under fluid
	part     engine.Bytes   // see model
	cum      []engine.Bytes // what has moved after each transfer
	start    []int64
	end      []int64
	gone     []int64 // [R_i]
	k        int     // number of transfers
	at       int     // the transfer that was asked for last
}

// rule returns what the problem's transfers do.
func (s *step) rule() rule {
	if s.streamed {
		return streamed
	}
	return whole
}

// newModel builds the model of a step under a rule.
func newModel(s *step, r rule) *model {
	m := &model{n: s.n, rule: r, tick: 1, early: r == fluid, size: s.size, excess: s.peak() - s.p.Budget}
	dev := s.p.Device
	if r == fluid {
		m.tick, m.out1, m.in1 = ticks(s)
		// A streamed byte takes room when all of it has arrived. Where bytes end
		// between nanoseconds, that can make a schedule faster than the paper's
		// by what a byte takes, which a lower bound has to allow for.
		if s.streamed && int64(time.Second)%int64(dev.ToDev) != 0 {
			m.part = 1
		}
	}
	var all engine.Bytes
	for _, x := range s.size {
		all += x
	}
	for i := range s.n {
		// Room for more than there is makes no difference, and could overflow.
		m.overF = append(m.overF, max(s.needF[i]-s.p.Budget, -all))
		m.overB = append(m.overB, max(s.needB[i]-s.p.Budget, -all))
		m.timeF = append(m.timeF, int64(s.timeF[i])*m.tick)
		m.timeB = append(m.timeB, int64(s.timeB[i])*m.tick)
		m.compute += m.timeF[i] + m.timeB[i]
		m.workB += m.timeB[i]
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
	m.ends, m.endsB = make([]int64, s.n), make([]int64, s.n)
	m.fwd, m.bwd = newLane(s.n, r, dev.ToHost, m.out1), newLane(s.n, r, dev.ToDev, m.in1)
	m.bwd.backward, m.bwd.part = true, m.part
	return m
}

func newLane(n int, r rule, rate engine.Rate, one int64) lane {
	return lane{rule: r, rate: rate, one: one, cum: make([]engine.Bytes, n),
		start: make([]int64, n), end: make([]int64, n), gone: make([]int64, n)}
}

// ticks divides the nanosecond so that a byte travels a whole number of ticks in
// either direction, as far as the longest step allows. Where it does not, bytes
// travel faster in the model than on the link, by less than a millionth: the
// model's step times are true lower bounds either way.
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

// perByte returns how many ticks a byte travels, rounded down.
func perByte(tick int64, r engine.Rate) int64 {
	hi, lo := bits.Mul64(uint64(tick), uint64(time.Second))
	if hi >= uint64(r) {
		return 0
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	return int64(q)
}

// nanoseconds rounds a time of the model up: a step time that is a whole number
// of nanoseconds and no less than t is no less than that.
func (m *model) nanoseconds(t int64) time.Duration {
	if t == never {
		return time.Duration(never)
	}
	return time.Duration((t + m.tick - 1) / m.tick)
}

// add appends the transfer of x_i, which may start when it is there, at the
// earliest, and is used until used.
func (l *lane) add(size engine.Bytes, lasts, there, used int64) {
	var link int64
	var before engine.Bytes
	k := l.k
	if k > 0 {
		link, before = l.end[k-1], l.cum[k-1]
	}
	l.cum[k], l.start[k] = before+size, max(link, there)
	l.end[k] = l.start[k] + lasts
	l.gone[k] = max(l.end[k], used)
	l.k++
}

// off returns the first moment at which v bytes are away, or never.
func (l *lane) off(v engine.Bytes) int64 {
	if v <= 0 {
		return 0
	}
	k := l.at
	for k < l.k && l.cum[k] < v {
		k++
	}
	for k > 0 && (k >= l.k || l.cum[k-1] >= v) {
		k--
	}
	l.at = k
	if k >= l.k || l.cum[k] < v {
		return never
	}
	if l.rule == whole {
		return l.gone[k]
	}
	rest := l.cum[k] - v
	switch {
	case l.rule == fluid:
		return l.end[k] - int64(rest+l.part)*l.one
	case l.backward:
		return l.end[k] - int64(min(l.rate.Time(rest), l.rate.Time(rest+1)-1))
	}
	if k > 0 {
		v -= l.cum[k-1]
	}
	return l.start[k] + int64(l.rate.Time(v))
}

// time returns the step time of a set [T(S)], or never.
func (m *model) time(set []bool) int64 { return m.below(set, never) }

// below returns the step time of a set if it is less than limit; otherwise what comes
// back is no less than limit either, and may be less than the step time.
func (m *model) below(set []bool, limit int64) int64 {
	if m.rule == whole && !m.early {
		return m.belowWhole(set, limit)
	}
	f, b := &m.fwd, &m.bwd
	f.k, f.at, b.k, b.at = 0, 0, 0, 0
	var at int64
	for i := range m.n {
		there := at
		if v := m.overF[i]; v > 0 {
			off := f.off(v)
			if off == never {
				return never
			}
			at = max(at, off)
		}
		at += m.timeF[i]
		m.ends[i] = at
		if set[i] && m.size[i] > 0 {
			f.add(m.size[i], m.out[i], there, at)
		}
	}
	total := at
	if k := f.k - 1; limit != never && (at+m.workB >= limit || k >= 0 && f.end[k]+m.travel() >= limit) {
		return limit
	}
	at = 0
	for i := range m.n {
		if v := m.overB[i]; v > 0 {
			off := b.off(v)
			if off == never {
				return never
			}
			at = max(at, off)
		}
		at += m.timeB[i]
		m.endsB[i] = at
		if set[i] && m.size[i] > 0 {
			b.add(m.size[i], m.in[i], at, 0)
		}
	}
	return m.join(total + at)
}

// travel returns how long the fetches of the present offloads take, at least.
func (m *model) travel() (sum int64) {
	if m.rule == fluid {
		return int64(m.fwd.cum[m.fwd.k-1]) * m.in1
	}
	return int64(m.bwd.rate.Time(m.fwd.cum[m.fwd.k-1]))
}

// join completes the step time: see step.join and step.plan.
func (m *model) join(total int64) int64 {
	f, b := &m.fwd, &m.bwd
	for i := range m.n {
		if v := m.overF[i]; v > 0 {
			total = max(total, m.ends[i]+b.off(v))
		}
		if v := m.overB[i]; v > 0 {
			total = max(total, m.endsB[i]+f.off(v))
		}
	}
	if k := f.k - 1; k >= 0 {
		last := f.gone[k]
		if m.early {
			last = f.end[k]
		}
		total = max(total, last+b.end[k])
	}
	return total
}

// relax returns the least step time if any part of a value could move (Theorem 2):
// that of moving just the excess, the first bytes first. Under fluid it is a
// lower bound of every set. The model must be one of fluid.
func (m *model) relax() int64 {
	part := *m
	part.size = append([]engine.Bytes(nil), m.size...)
	part.out, part.in = make([]int64, m.n), make([]int64, m.n)
	set, left := make([]bool, m.n), m.excess
	for i := range set {
		part.size[i] = max(0, min(left, m.size[i]))
		part.out[i], part.in[i] = int64(part.size[i])*m.out1, int64(part.size[i])*m.in1
		left -= part.size[i]
		set[i] = part.size[i] > 0
	}
	return part.time(set)
}

// belowWhole is below for whole transfers, where a local search spends its time.
// Both passes go through the values in the same order, so one loop does for both,
// and it ends as soon as the limit is out of reach.
func (m *model) belowWhole(set []bool, limit int64) int64 {
	n := m.n
	overF, overB, timeF, timeB := m.overF[:n], m.overB[:n], m.timeF[:n], m.timeB[:n]
	set, size, rest := set[:n], m.size[:n], m.rest[1:n+1]
	cum, gone, end := m.fwd.cum, m.fwd.gone, m.bwd.end
	var at, atB, link, linkB, joined int64 // [e_i, r_i], when the links are idle, see join
	var away engine.Bytes
	count, f, b := 0, 0, 0 // transfers, and those that F_i and B_i wait for
	for i := range n {
		there := at
		v, vB := overF[i], overB[i]
		if max(v, vB) > away {
			return never
		}
		if v > 0 {
			f = reach(cum[:count], f, v)
			at = max(at, gone[f])
		}
		if vB > 0 {
			b = reach(cum[:count], b, vB)
			atB = max(atB, end[b])
		}
		at += timeF[i]
		atB += timeB[i]
		if v > 0 {
			joined = max(joined, at+end[f])
		}
		if vB > 0 {
			joined = max(joined, atB+gone[b])
		}
		if set[i] && size[i] > 0 {
			link, linkB = max(link, there)+m.out[i], max(linkB, atB)+m.in[i]
			away += size[i]
			cum[count], gone[count], end[count] = away, max(link, at), linkB
			joined = max(joined, gone[count]+linkB)
			count++
		}
		if max(joined, at+atB+rest[i]) >= limit {
			return limit
		}
	}
	return max(joined, at+atB)
}

// reach returns the first of the transfers after which v bytes are away, from one
// that is near.
func reach(cum []engine.Bytes, k int, v engine.Bytes) int {
	for cum[k] < v {
		k++
	}
	for k > 0 && cum[k-1] >= v {
		k--
	}
	return k
}
