package remat

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

func init() {
	engine.Register(&engine.Strategy{
		Name:  "sequential",
		Title: "Equal segments",
		Mark:  3,
		Doc:   "Cuts the chain into segments of equal length and keeps only their inputs.",
		Class: engine.MayRecompute,
		Short: "Equal segments",
		Rank:  engine.Rank{Chain: 3},
		Plans: "wrappable",
		Cites: []engine.Cite{
			sublinear("3"),
			Paper002("5, the strategy \"sequential\""),
		},
		Params: []engine.Param{{
			Name: "segments", Title: "Segments", Default: "0", Min: 0, Max: engine.MaxStages,
			Doc: "Number of segments; 0 takes the fastest number that fits.",
		}},
		Solver: solveSequential,
	})
}

// solveSequential takes the fastest segmentation whose peak fits.
func solveSequential(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	tries, err := segmentations(c, args.Int("segments"))
	if err != nil {
		return nil, err
	}
	why := fmt.Sprintf("with %d segments", tries[0].number)
	if len(tries) > 1 {
		why = "with any number of equal segments"
	}
	return fastest(p, tries, poll, why, func(segments int) ([]engine.ChainOp, string) {
		return SegmentSequence(c, segments), fmt.Sprintf("%d segments of %d layers; the last one has %d.", segments,
			c.Layers()/segments, c.Layers()-(segments-1)*(c.Layers()/segments))
	})
}

// fastest returns the schedule of the fastest try whose peak fits, and of equally fast ones that of the lowest number.
// It sorts tries. why names the tries in an error. build returns the sequence of a number, with a note about it.
func fastest(p *engine.Problem, tries []try, poll *engine.Poll, why string,
	build func(int) ([]engine.ChainOp, string)) (*engine.Solution, error) {
	slices.SortFunc(tries, func(a, b try) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.number, b.number))
	})
	smallest, by := engine.NoLimit, 0
	for i, t := range tries {
		if err := poll.Err(); err != nil {
			return nil, err
		}
		poll.Report(engine.Progress{Done: i, Total: len(tries)})
		seq, note := build(t.number)
		if _, peak := Replay(p.Chain.Chain, seq); peak > p.Budget {
			if peak < smallest {
				smallest, by = peak, t.number
			}
			continue
		}
		sol := solution(p, seq)
		// Every schedule runs every operation at least once, so one that runs none twice is optimal.
		sol.Bound = p.Chain.Chain.ForwardTime() + p.Chain.Chain.BackTime()
		sol.Optimal = sol.Makespan == sol.Bound
		sol.OptimalAmong = p.Graph.FirstWays("all schedules")
		sol.Notes = []string{note}
		return sol, nil
	}
	seq, _ := build(by)
	return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: smallest, Why: why + ", " + needs(p.Chain, seq)}
}

// try is a number that a method may choose, and the step time with that number.
type try struct {
	number int
	time   time.Duration
}

// segmentations returns the numbers of segments to try: the given one, or all of them if segments
// is 0. A chain that is only a loss has one segment.
func segmentations(c *engine.Chain, segments int) ([]try, error) {
	most := max(c.Layers(), 1)
	if segments > most {
		return nil, fmt.Errorf("%w: %d segments are asked for, and the network has %d layers", engine.ErrUnsupported,
			segments, most)
	}
	// until[k] is the forward time of the first k layers.
	until := make([]time.Duration, most+1)
	for k := 1; k <= c.Layers(); k++ {
		until[k] = until[k-1] + c.Stages[k-1].Forward
	}
	base := c.ForwardTime() + c.BackTime()
	var all []try
	for k := 1; k <= most; k++ {
		if segments == 0 || k == segments {
			all = append(all, try{k, base + until[(k-1)*(most/k)]})
		}
	}
	return all, nil
}

// SegmentSequence returns the sequence of Table 1 for k equal segments, where k is at least 1 and
// at most the number of layers.
func SegmentSequence(c *engine.Chain, k int) []engine.ChainOp {
	size := c.Layers() / k
	var seq []engine.ChainOp
	for first := 1; first <= (k-1)*size; first += size {
		seq = KeepInput(seq, first, first+size-1)
	}
	seq = keepAll(seq, (k-1)*size+1, c.Len())
	for i := k - 2; i >= 0; i-- {
		seq = keepAll(seq, i*size+1, (i+1)*size)
	}
	return seq
}
