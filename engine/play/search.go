package play

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// Class is a set of plans.
type Class string

// The classes. Each of the first three contains the one before it, and the last two contain ClassNested.
const (
	ClassUnit      Class = "unit"      // units run again, each by itself
	ClassWrappable Class = "wrappable" // consecutive units run again as a whole
	ClassNested    Class = "nested"    // within units that run again, units are dropped again
	ClassSAC       Class = "sac"       // within units that run again, results of single operators are kept
	ClassOffload   Class = "offload"   // saved tensors of units, and arguments, may move to the host
)

// Classes returns all classes.
func Classes() []Class {
	return []Class{ClassUnit, ClassWrappable, ClassNested, ClassSAC, ClassOffload}
}

const (
	deepest = 3 // the largest depth of a run
	shares  = 3 // each class gets 1/shares of the plays
)

// Values of run.depth for runs that do not run again.
const (
	kept = -1
	away = -2 // on the host
)

// run is the groups a..b-1. They are kept, moved to the host, or run again; depth is then how often the first half
// of the run is dropped again.
type run struct {
	a, b, depth int
	save        int  // how many of its best results are kept; 0 unless depth is 0
	input       bool // its arguments are on the host
}

// search is a search by simulated annealing. It changes partitions of the groups into runs, beginning with the best
// regular partition.
type search struct {
	p        *Player
	class    Class
	budget   engine.Bytes
	groups   [][]string // units that must stay together
	rnd      *rand.Rand
	base     int64        // time of the plain step
	least    engine.Bytes // the smallest peak so far
	leanest  []*Segment   // the plan with that peak
	best     []run        // the partition of the fastest plan so far that fits
	segments []*Segment   // the fastest plan so far that fits
	result   Result       // of segments
	found    bool
	results  map[[2]int][]Saved // by range of groups: the results that may be kept, the best ones first
}

// Solve searches for the fastest plan of a class whose peak is at most budget, in addition to the memory in use
// before the step. plays is the number of plans that it plays. The search starts with regular plans and with the
// known plans, which must be valid. It also searches the classes that class contains, each with a third of the
// plays, so that a class never does worse than a class that it contains. Known plans of other classes are only
// starting points. The result need not be optimal. The error is that of poll, or an *engine.InfeasibleError with
// the smallest peak of all plans played; Solve then returns the plan and the result with this peak.
func (p *Player) Solve(class Class, budget engine.Bytes, plays int, known [][]*Segment,
	poll *engine.Poll) ([]*Segment, Result, error) {
	classes := Classes()
	at := slices.Index(classes, class)
	if at < 0 {
		return nil, Result{}, fmt.Errorf("there is no class %q; known are %v", class, classes)
	}
	at = min(at, 3)
	classes = append(classes[:at:at], class)
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

// walk searches the plans of one class, from the best start.
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

// partition returns the partition of segments, in which each run of a segment runs again. A group belongs to the
// segment of its first unit.
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

// groups returns the units in groups that must stay together.
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

// starts returns the regular partitions: keeping everything, and equal runs of every length.
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

// withSaves returns starts and variants of them: with results that are kept for ClassSAC, and with arguments or
// units on the host for ClassOffload.
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

// tryRuns is try for a partition.
func (s *search) tryRuns(runs []run) int64 {
	cost, better := s.try(s.write(runs))
	if better {
		s.best = slices.Clone(runs)
	}
	return cost
}

// try plays segments and returns their cost: the extra time, plus a penalty that grows with the bytes above the
// budget. better reports whether they are the best plan so far.
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

// step makes a random change to a partition.
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

// turn makes a random change that only plans of ClassSAC or ClassOffload have.
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

// write returns the segments of a partition.
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

// worth returns the results of a run that may be kept, the most time per byte first.
func (s *search) worth(r run) []Saved {
	key := [2]int{r.a, r.b}
	if _, known := s.results[key]; !known {
		s.results[key] = s.p.t.Worth(s.names(r.a, r.b))
	}
	return s.results[key]
}

func (s *search) names(a, b int) []string { return slices.Concat(s.groups[a:b]...) }

// halves returns the segment of the first half of the groups a..b-1, with its own first half within it, and so on
// to the given depth.
func (s *search) halves(a, b, depth int) []*Segment {
	if depth <= 0 || b-a < 2 {
		return nil
	}
	half := a + (b-a+1)/2
	return []*Segment{{Units: s.names(a, half), Do: DoRecompute, Inner: s.halves(a, half, depth-1)}}
}
