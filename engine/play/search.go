package play

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// Class is what a plan may do.
type Class string

// The classes, each within the next.
const (
	ClassUnit      Class = "unit"      // units run again, each by itself
	ClassWrappable Class = "wrappable" // runs of units run again as a whole
	ClassNested    Class = "nested"    // within a run that runs again, runs are dropped again
)

// Classes are all of them.
func Classes() []Class { return []Class{ClassUnit, ClassWrappable, ClassNested} }

// deepest is how often halves of a run are dropped again.
const deepest = 3

// run is a stretch of groups, from a to before b: kept (depth -1), or run again with
// halves dropped again depth deep.
type run struct{ a, b, depth int }

// search walks over partitions of the groups of units that have to stay together, from
// the best of regular ones, and takes steps that cost a little more less and less.
type search struct {
	p      *Player
	class  Class
	budget engine.Bytes
	groups [][]string
	rnd    *rand.Rand
	base   int64 // time of the step
	least  engine.Bytes
	best   []run
	again  Result
	found  bool
}

// Stretch is units of a trace, from the place First in Trace.Units to Last.
type Stretch struct{ First, Last int }

// Solve finds a plan of a class whose peak, above what is there before the step, is
// within the budget: the fastest of those that so many plays have met. It begins with
// regular plans and with those that run known stretches again, and goes through the
// classes up to this one, each with its share of the plays: so no class finds less than
// one within it. Nothing is proven about others. The error is an
// *engine.InfeasibleError with the smallest peak that was met, or that of the poll.
func (p *Player) Solve(class Class, budget engine.Bytes, plays int, known [][]Stretch, poll *engine.Poll) ([]*Segment, Result, error) {
	last := slices.Index(Classes(), class)
	if last < 0 {
		return nil, Result{}, fmt.Errorf("there is no class %q; known are %v", class, Classes())
	}
	s := &search{p: p, budget: budget, groups: p.t.groups(), rnd: rand.New(rand.NewPCG(1, 2)), base: int64(p.t.Time()), least: engine.NoLimit}
	for _, s.class = range Classes()[:last+1] {
		if err := s.walk(plays/len(Classes()), known, poll); err != nil {
			return nil, Result{}, err
		}
	}
	if !s.found {
		return nil, Result{}, &engine.InfeasibleError{Budget: budget, Smallest: s.least, Why: fmt.Sprintf("no plan of class %s was found; the smallest peak that was met is named, and nothing proves that it is the smallest", class)}
	}
	return s.segments(s.best), s.again, nil
}

// walk goes on from the best start in plans of one class.
func (s *search) walk(plays int, known [][]Stretch, poll *engine.Poll) error {
	starts := s.starts()
	if s.class != ClassUnit {
		for _, k := range known {
			starts = append(starts, s.partition(k))
		}
	}
	if s.found {
		starts = append(starts, s.best)
	}
	var now []run
	cost := int64(-1)
	for _, start := range starts {
		if c := s.try(start); cost < 0 || c < cost {
			now, cost = start, c
		}
	}
	for i := 0; i < plays && len(s.groups) > 1; i++ {
		if err := poll.Err(); err != nil {
			return err
		}
		next := s.step(slices.Clone(now))
		if slices.Equal(next, now) {
			continue
		}
		slack := s.base / 40 * int64(plays-i) / int64(plays) * s.rnd.Int64N(1000) / 1000
		if c := s.try(next); c <= cost+slack {
			now, cost = next, c
		}
	}
	return nil
}

// partition is that of stretches which run again; a group goes with its first unit.
func (s *search) partition(stretches []Stretch) (runs []run) {
	first := 0
	for i := range s.groups {
		at := slices.IndexFunc(stretches, func(k Stretch) bool { return k.First <= first && first <= k.Last })
		first += len(s.groups[i])
		switch n := len(runs); {
		case at < 0:
			runs = append(runs, run{i, i + 1, -1})
		case n > 0 && runs[n-1].depth == 0 && stretches[at].First < first-len(s.groups[i]):
			runs[n-1].b = i + 1
		default:
			runs = append(runs, run{i, i + 1, 0})
		}
	}
	return runs
}

// groups are the names of units that have to stay together.
func (t *Trace) groups() (groups [][]string) {
	for i, name := range t.UnitNames() {
		if i > 0 && slices.Contains(t.Tied, i) {
			groups[len(groups)-1] = append(groups[len(groups)-1], name)
			continue
		}
		groups = append(groups, []string{name})
	}
	return groups
}

// starts are keeping all, and equal runs of every length.
func (s *search) starts() [][]run {
	n := len(s.groups)
	all := [][]run{nil}
	for i := range n {
		all[0] = append(all[0], run{i, i + 1, -1})
	}
	longest := n
	if s.class == ClassUnit {
		longest = 1
	}
	for size := 1; size <= longest; size++ {
		var runs []run
		for a := 0; a < n; a += size {
			runs = append(runs, run{a, min(n, a+size), 0})
		}
		all = append(all, runs)
	}
	return all
}

// try plays a partition: its extra time, and more the further it is from fitting.
func (s *search) try(runs []run) int64 {
	got := s.p.Play(s.segments(runs))
	s.least = min(s.least, got.Peak)
	if got.Peak > s.budget {
		over := int64(got.Peak-s.budget) / (int64(s.budget)/1000 + 1)
		return int64(got.Again) + s.base/50 + min(over, 1<<20)*(s.base/300+1)
	}
	if !s.found || got.Again < s.again.Again || got.Again == s.again.Again && got.Peak < s.again.Peak {
		s.found, s.best, s.again = true, slices.Clone(runs), got
	}
	return int64(got.Again)
}

// step changes a partition at one place.
func (s *search) step(runs []run) []run {
	i := s.rnd.IntN(len(runs))
	r, last := &runs[i], i+1 == len(runs)
	way := s.rnd.IntN(10)
	switch {
	case way < 4 || s.class == ClassUnit:
		if r.depth >= 0 {
			r.depth = -1
		} else {
			r.depth = s.depth(r.b - r.a)
		}
	case way < 6 && r.b-r.a > 1:
		cut := r.a + 1 + s.rnd.IntN(r.b-r.a-1)
		other := run{cut, r.b, []int{r.depth, -1, 0}[s.rnd.IntN(3)]}
		r.b = cut
		runs = slices.Insert(runs, i+1, other)
	case way < 8 && !last:
		r.b, r.depth = runs[i+1].b, max(r.depth, runs[i+1].depth)
		runs = slices.Delete(runs, i+1, i+2)
	case !last:
		if cut := r.b + 2*s.rnd.IntN(2) - 1; r.a < cut && cut < runs[i+1].b {
			r.b, runs[i+1].a = cut, cut
		}
	default:
		r.depth = s.depth(r.b - r.a)
	}
	return runs
}

func (s *search) depth(groups int) int {
	if s.class != ClassNested || groups < 2 {
		return 0
	}
	return s.rnd.IntN(deepest + 1)
}

func (s *search) segments(runs []run) (segments []*Segment) {
	for _, r := range runs {
		if r.depth >= 0 {
			segments = append(segments, &Segment{Units: s.names(r.a, r.b), Do: DoRecompute, Inner: s.halves(r.a, r.b, r.depth)})
		}
	}
	return segments
}

func (s *search) names(a, b int) []string { return slices.Concat(s.groups[a:b]...) }

// halves are the first halves of a run, each within the one before.
func (s *search) halves(a, b, depth int) []*Segment {
	if depth <= 0 || b-a < 2 {
		return nil
	}
	half := a + (b-a+1)/2
	return []*Segment{{Units: s.names(a, half), Do: DoRecompute, Inner: s.halves(a, half, depth-1)}}
}
