package pipeline

import (
	"cmp"
	"slices"
	"time"
)

// Link is a pass on the critical path of a step, with the time between the end of the pass before it on the path and
// its start. Message is the part of a message between the ranks of the two; Idle is the rest, such as a wait for room
// or for a copy.
type Link struct {
	Rank, Place   int // indices in Trace.Ranks
	Message, Idle time.Duration
}

// ends returns the passes that others wait for, with D counted as F and B as A.
func (t *Trace) ends() map[Pass]Link {
	at := map[Pass]Link{}
	for r, spans := range t.Ranks {
		for i, x := range spans {
			switch x.Kind {
			case Forward, Dropped:
				at[Pass{Kind: Forward, Stage: x.Stage, Micro: x.Micro}] = Link{Rank: r, Place: i}
			case Backward, Inputs:
				at[Pass{Kind: Backward, Stage: x.Stage, Micro: x.Micro}] = Link{Rank: r, Place: i}
			}
		}
	}
	return at
}

// cause returns the pass at another stage that x waits for, and the stage whose Comm is the time of their message. ok
// is false if there is no such pass.
func (p *Problem) cause(ends map[Pass]Link, x Pass) (at Link, comm int, ok bool) {
	from := Pass{Kind: Forward, Stage: x.Stage - 1, Micro: x.Micro}
	switch s := x.Stage; {
	case x.Kind == Forward || x.Kind == Dropped:
		ok, comm = !p.first(s), s
	case x.Kind == Backward || x.Kind == Inputs:
		ok, comm = !p.last(s), s+1
		from.Kind, from.Stage = Backward, s+1
	}
	if ok {
		at, ok = ends[from]
	}
	return at, comm, ok
}

// Critical returns a chain of passes that determines the step time, from the first to the last. Before each pass
// comes the one whose end, with its message, was the last of those that it waited for; of two, the one on its own
// rank. For a measured trace, the rules of the problem say what a pass waited for.
func (p *Problem) Critical(t *Trace) (path []Link) {
	at := Link{Rank: -1}
	last := time.Duration(-1)
	for r, spans := range t.Ranks {
		if n := len(spans); n > 0 && spans[n-1].End > last {
			at, last = Link{Rank: r, Place: n - 1}, spans[n-1].End
		}
	}
	ends := t.ends()
	for passes := len(ends) * 4; at.Rank >= 0 && passes > 0; passes-- {
		before := p.before(t, ends, &at)
		path = append(path, at)
		at = before
	}
	slices.Reverse(path)
	return path
}

// before returns the link before at, with rank -1 if at is the first one, and sets Message and Idle of at.
func (p *Problem) before(t *Trace, ends map[Pass]Link, at *Link) Link {
	spans := t.Ranks[at.Rank]
	start := spans[at.Place].Start
	first, last := at.Place, at.Place // the parts of a joined pass
	for first > 0 && spans[first-1].Joined && spans[first-1].Start == start {
		first--
	}
	for last+1 < len(spans) && spans[last].Joined {
		last++
	}
	best, came, message := Link{Rank: -1}, time.Duration(-1), time.Duration(0)
	receiving := time.Duration(0)
	for _, x := range spans[first : last+1] {
		c, comm, ok := p.cause(ends, x.Pass)
		if !ok {
			continue
		}
		receiving = max(receiving, p.blocked(comm))
		from, takes := t.Ranks[c.Rank][c.Place], p.comm(comm)
		if p.Messages == Queued { // it may have waited for other messages
			takes = max(0, start-from.End)
		}
		if from.End+takes > came && from.Start <= start {
			best, came, message = c, from.End+takes, takes
		}
	}
	if first > 0 {
		own := spans[first-1]
		if busy := p.sending(own.Pass) + receiving; own.End+busy >= came {
			best, message = Link{Rank: at.Rank, Place: first - 1}, busy
		}
	}
	gap := start
	if best.Rank >= 0 {
		gap = max(0, start-t.Ranks[best.Rank][best.Place].End)
	}
	at.Message = min(gap, message)
	at.Idle = gap - at.Message
	return best
}

// sending returns how long a rank is busy sending the result of a pass.
func (p *Problem) sending(x Pass) time.Duration {
	switch s := x.Stage; {
	case (x.Kind == Forward || x.Kind == Dropped) && !p.last(s):
		return p.blocked(s + 1)
	case (x.Kind == Backward || x.Kind == Inputs) && !p.first(s):
		return p.blocked(s)
	}
	return 0
}

// Shares are the parts of the critical path.
type Shares struct {
	Kind          [In + 1]time.Duration // by kind of pass: its passes on the path
	Rank          []time.Duration       // by rank: its passes on the path
	Message, Idle time.Duration
}

// Compute returns the time of all passes on the path.
func (s *Shares) Compute() (all time.Duration) {
	for _, d := range s.Rank {
		all += d
	}
	return all
}

// Shares returns the parts of a critical path of the trace. A joined pass counts as a backward. If passes of a
// measured trace overlap, a pass counts until the next one on the path starts.
func (t *Trace) Shares(path []Link) *Shares {
	s := &Shares{Rank: make([]time.Duration, len(t.Ranks))}
	for i, at := range path {
		x := t.Ranks[at.Rank][at.Place]
		end := x.End
		if i+1 < len(path) {
			next := path[i+1]
			end = min(end, t.Ranks[next.Rank][next.Place].Start)
		}
		s.Kind[x.Kind] += end - x.Start
		s.Rank[at.Rank] += end - x.Start
		s.Message += at.Message
		s.Idle += at.Idle
	}
	return s
}

// Slower is a pass whose measured time differs from the played one.
type Slower struct {
	Rank int `json:"rank"`
	Pass
	Measured time.Duration `json:"measured_ns"`
	Played   time.Duration `json:"played_ns"`
}

// Slower returns the passes that are in both the played trace t and the measured one, sorted by how much longer they
// took in the measured one.
func (t *Trace) Slower(measured *Trace) (out []Slower) {
	took := map[Pass]time.Duration{}
	for _, spans := range t.Ranks {
		for _, x := range spans {
			took[x.alone()] = x.End - x.Start
		}
	}
	for r, spans := range measured.Ranks {
		for _, x := range spans {
			if d, ok := took[x.alone()]; ok {
				out = append(out, Slower{r, x.alone(), x.End - x.Start, d})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Slower) int { return cmp.Compare(b.Measured-b.Played, a.Measured-a.Played) })
	return out
}

// alone returns a pass without Joined.
func (x Pass) alone() Pass {
	x.Joined = false
	return x
}

// Turn is the first place at which two orders of a rank differ.
type Turn struct {
	Rank             int   `json:"rank"`
	Place            int   `json:"place"` // index in the order of the rank
	Played, Measured *Pass `json:"-"`     // nil if the order has ended
}

// Turns returns the ranks whose passes ran in another order in the measured step, each with the first difference.
func (t *Trace) Turns(measured *Trace) (out []Turn) {
	for r := range max(len(t.Ranks), len(measured.Ranks)) {
		at := func(t *Trace, i int) *Pass {
			if r >= len(t.Ranks) || i >= len(t.Ranks[r]) {
				return nil
			}
			x := t.Ranks[r][i].alone()
			return &x
		}
		for i := 0; ; i++ {
			a, b := at(t, i), at(measured, i)
			if a == nil && b == nil {
				break
			}
			if a == nil || b == nil || *a != *b {
				out = append(out, Turn{r, i, a, b})
				break
			}
		}
	}
	return out
}

// Early returns the number of passes of a measured step that start before a pass that they wait for on another rank
// has ended, and the largest difference. That is impossible, so the clocks of the ranks differ by at least that much.
func (p *Problem) Early(measured *Trace) (n int, most time.Duration) {
	ends := measured.ends()
	for _, spans := range measured.Ranks {
		for _, x := range spans {
			c, _, ok := p.cause(ends, x.Pass)
			if !ok {
				continue
			}
			if early := measured.Ranks[c.Rank][c.Place].End - x.Start; early > 0 {
				n, most = n+1, max(most, early)
			}
		}
	}
	return n, most
}
