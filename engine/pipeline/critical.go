package pipeline

import (
	"cmp"
	"slices"
	"time"
)

// Link is a pass on the critical path of a step, with how the time between the one before it on the path and its start
// passes: Message for a message between the ranks of the two, and Idle for everything else, such as room or a copy.
type Link struct {
	Rank, Place   int // in Trace.Ranks
	Message, Idle time.Duration
}

// ends finds the passes that others wait for: F and D as F, A and B as A.
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

// cause returns the pass at another stage that one waits for, and the stage that names the time of their message.
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

// Critical returns a chain of passes that determines the step time, from the first to the last: before each pass stands
// the one whose end, with its message, came last of what it waited for, on its own rank where both came at once. Of a
// measured trace that is what it waited for by the rules of the problem.
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

// before returns the link before one, with rank -1 at the beginning, and notes how the time between them passes.
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
		if p.Messages == Queued { // it may have stood behind others
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

// sending returns how long a rank is busy with what a pass sends.
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
	Kind          [In + 1]time.Duration // by kind of pass
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

// Shares adds up what a critical path of the trace is made of. A joined pass counts as a backward; where passes of a
// measured trace overlap, the time until the next one on the path starts.
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

// Slower is a pass that took another time than the one that was played.
type Slower struct {
	Rank             int
	Pass             Pass
	Played, Measured time.Duration
}

// Slower lists the passes of a measured step that the played one has as well, by how much longer they took.
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
				out = append(out, Slower{r, x.alone(), d, x.End - x.Start})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Slower) int { return cmp.Compare(b.Measured-b.Played, a.Measured-a.Played) })
	return out
}

// alone returns a pass without its joining.
func (x Pass) alone() Pass {
	x.Joined = false
	return x
}

// Turn is where the order of a rank differs from another one first.
type Turn struct {
	Rank, Place      int
	Played, Measured *Pass // nil: the rank has ended
}

// Turns lists the ranks whose passes a measured step ran in another order, with the first difference of each.
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

// Early counts the passes of a measured step that start before what they wait for on another rank has ended, and by how
// much at most. That cannot be: the clocks of the ranks differ by as much at least.
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
