package play

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// Class is what a plan may do.
type Class string

// The classes: each of the first three within the next, and nested within the others.
const (
	ClassUnit      Class = "unit"      // units run again, each by itself
	ClassWrappable Class = "wrappable" // runs of units run again as a whole
	ClassNested    Class = "nested"    // within a run that runs again, runs are dropped again
	ClassSAC       Class = "sac"       // of a run that runs again, results of single operators stay
	ClassOffload   Class = "offload"   // what units keep, and the arguments of runs, may go to the host
)

// Classes returns all of them.
func Classes() []Class {
	return []Class{ClassUnit, ClassWrappable, ClassNested, ClassSAC, ClassOffload}
}

// within returns the classes within one, and itself; nil: it is unknown.
func within(class Class) []Class {
	all := Classes()
	switch i := slices.Index(all, class); {
	case i < 0:
		return nil
	case i < 3:
		return all[:i+1]
	}
	return append(all[:3:3], class)
}

const (
	deepest = 3 // how often halves of a run may be dropped again
	shares  = 3 // each class gets 1/shares of the plays
)

// What becomes of a run, if it does not run again.
const (
	kept = -1
	away = -2 // on the host
)

// run is a stretch of groups, from a to before b: kept, away, or run again with halves
// dropped again depth deep.
type run struct {
	a, b, depth int
	save        int  // how many of its results stay, the best ones; 0 unless depth is 0
	input       bool // its arguments are on the host
}

// search walks over partitions of the groups of units that have to stay together, from
// the best of regular ones, and takes steps that cost a little more less and less.
type search struct {
	p        *Player
	class    Class
	budget   engine.Bytes
	groups   [][]string
	rnd      *rand.Rand
	base     int64 // time of the step
	least    engine.Bytes
	leanest  []*Segment // of that peak
	best     []run      // of partitions
	segments []*Segment
	result   Result
	found    bool
	results  map[[2]int][]Saved // of stretches of groups, the best ones first
}

// Solve finds a plan of a class whose peak, above what is there before the step, is
// within the budget: the fastest that is met within a number of plays. It begins with
// regular plans and with known ones, and goes through the classes within this one, each
// with a third of the plays: so no class finds less than one within it. Of known plans,
// which are valid, those of a wider class only give it places to begin. Nothing is proven
// about others. The error is an
// *engine.InfeasibleError with the smallest peak that was met, whose plan and result are
// returned beside it, or that of the poll.
func (p *Player) Solve(class Class, budget engine.Bytes, plays int, known [][]*Segment,
	poll *engine.Poll) ([]*Segment, Result, error) {
	classes := within(class)
	if classes == nil {
		return nil, Result{}, fmt.Errorf("there is no class %q; known are %v", class, Classes())
	}
	s := &search{p: p, budget: budget, groups: p.t.groups(), rnd: rand.New(rand.NewPCG(1, 2)),
		base: int64(p.t.Time()), least: engine.NoLimit, results: map[[2]int][]Saved{}}
	for _, class := range classes {
		s.class = class
		if err := s.walk(plays/shares, known, poll); err != nil {
			return nil, Result{}, err
		}
	}
	for _, k := range known {
		if slices.Contains(classes, p.t.ClassOf(k)) {
			s.try(k)
		}
	}
	if !s.found {
		return s.leanest, p.Play(s.leanest),
			&engine.InfeasibleError{Budget: budget, Smallest: s.least,
				Why: fmt.Sprintf("no plan of class %s was found; the smallest peak that was met is named, and nothing proves that it is the smallest", class)}
	}
	return s.segments, s.result, nil
}

// walk goes on from the best start in plans of one class.
func (s *search) walk(plays int, known [][]*Segment, poll *engine.Poll) error {
	starts := s.starts()
	if s.class != ClassUnit {
		for _, k := range known {
			starts = append(starts, s.partition(k))
		}
	}
	if s.best != nil {
		starts = append(starts, s.best)
	}
	if s.class == ClassSAC || s.class == ClassOffload {
		starts = s.withSaves(starts)
	}
	var now []run
	cost := int64(-1)
	for _, start := range starts {
		if c := s.tryRuns(start); cost < 0 || c < cost {
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
		if c := s.tryRuns(next); c <= cost+slack {
			now, cost = next, c
		}
	}
	return nil
}

// partition returns that of segments which run again; a group goes with its first unit.
func (s *search) partition(segments []*Segment) (runs []run) {
	last := -1
	for i, g := range s.groups {
		at := slices.IndexFunc(segments, func(k *Segment) bool { return slices.Contains(k.Units, g[0]) })
		switch {
		case at < 0:
			runs = append(runs, run{a: i, b: i + 1, depth: kept})
		case at == last:
			runs[len(runs)-1].b = i + 1
		default:
			runs = append(runs, run{a: i, b: i + 1})
		}
		last = at
	}
	return runs
}

// groups returns the names of units that have to stay together.
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
		all[0] = append(all[0], run{a: i, b: i + 1, depth: kept})
	}
	longest := n
	if s.class == ClassUnit {
		longest = 1
	}
	for size := 1; size <= longest; size++ {
		var runs []run
		for a := 0; a < n; a += size {
			runs = append(runs, run{a: a, b: min(n, a+size)})
		}
		all = append(all, runs)
	}
	return all
}

// withSaves returns starts, and the same with results that stay or with arguments on the host.
func (s *search) withSaves(starts [][]run) [][]run {
	for _, start := range slices.Clone(starts) {
		for n := 1; n <= 8 && (n == 1 || s.class == ClassSAC); n++ {
			other := slices.Clone(start)
			for i := range other {
				r := &other[i]
				switch {
				case s.class == ClassSAC && r.depth == 0:
					r.save = min(n, len(s.worth(*r)))
				case s.class == ClassOffload && r.depth >= 0:
					r.input = true
				case s.class == ClassOffload && len(start) == len(s.groups):
					r.depth = away
				}
			}
			starts = append(starts, other)
		}
	}
	return starts
}

// tryRuns tries a partition, and remembers the best one.
func (s *search) tryRuns(runs []run) int64 {
	cost, better := s.try(s.write(runs))
	if better {
		s.best = slices.Clone(runs)
	}
	return cost
}

// try plays segments: their extra time, and more the further they are from fitting.
func (s *search) try(segments []*Segment) (cost int64, better bool) {
	got := s.p.Play(segments)
	if got.Peak < s.least {
		s.least, s.leanest = got.Peak, segments
	}
	extra := int64(got.Again + got.Copies)
	if got.Peak > s.budget {
		over := int64(got.Peak-s.budget) / (int64(s.budget)/1000 + 1)
		return extra + s.base/50 + min(over, 1<<20)*(s.base/300+1), false
	}
	if !s.found || got.Time < s.result.Time || got.Time == s.result.Time && got.Peak < s.result.Peak {
		s.found, better, s.segments, s.result = true, true, segments, got
	}
	return extra, better
}

// step changes a partition at one place.
func (s *search) step(runs []run) []run {
	i := s.rnd.IntN(len(runs))
	r, last := &runs[i], i+1 == len(runs)
	if (s.class == ClassSAC || s.class == ClassOffload) && s.rnd.IntN(3) == 0 {
		s.turn(r)
		return runs
	}
	way := s.rnd.IntN(10)
	switch {
	case way < 4 || s.class == ClassUnit:
		if r.depth != kept {
			*r = run{a: r.a, b: r.b, depth: kept}
		} else {
			r.depth = s.depth(r.b - r.a)
		}
	case way < 6 && r.b-r.a > 1:
		cut := r.a + 1 + s.rnd.IntN(r.b-r.a-1)
		other := run{a: cut, b: r.b, depth: []int{r.depth, kept, 0}[s.rnd.IntN(3)]}
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

// turn changes what only the last two classes have.
func (s *search) turn(r *run) {
	switch {
	case s.class == ClassSAC && r.depth == 0:
		r.save = s.rnd.IntN(len(s.worth(*r)) + 1)
	case s.class == ClassOffload && r.depth >= 0 && s.rnd.IntN(3) > 0:
		r.input = !r.input
	case s.class == ClassOffload && r.depth == away:
		r.depth = kept
	case s.class == ClassOffload:
		*r = run{a: r.a, b: r.b, depth: away}
	}
}

func (s *search) depth(groups int) int {
	if s.class == ClassUnit || s.class == ClassWrappable || groups < 2 {
		return 0
	}
	return s.rnd.IntN(deepest + 1)
}

// write makes segments of a partition.
func (s *search) write(runs []run) (segments []*Segment) {
	for _, r := range runs {
		segment := &Segment{Units: s.names(r.a, r.b), Do: DoRecompute}
		switch {
		case r.depth == kept:
			continue
		case r.depth == away:
			segment.Do = DoOffload
		case r.depth == 0 && r.save > 0:
			worth := s.worth(r)
			segment.Save = worth[:min(r.save, len(worth))]
		default:
			segment.Inner = s.halves(r.a, r.b, r.depth)
		}
		if r.input && r.depth >= 0 {
			segment.Input = DoOffload
		}
		segments = append(segments, segment)
	}
	return segments
}

// worth returns the results of a run that may stay, the most time for their bytes first.
func (s *search) worth(r run) []Saved {
	key := [2]int{r.a, r.b}
	if _, known := s.results[key]; !known {
		s.results[key] = s.p.t.Worth(s.names(r.a, r.b))
	}
	return s.results[key]
}

func (s *search) names(a, b int) []string { return slices.Concat(s.groups[a:b]...) }

// halves returns the first halves of a run, each within the one before.
func (s *search) halves(a, b, depth int) []*Segment {
	if depth <= 0 || b-a < 2 {
		return nil
	}
	half := a + (b-a+1)/2
	return []*Segment{{Units: s.names(a, half), Do: DoRecompute, Inner: s.halves(a, half, depth-1)}}
}
