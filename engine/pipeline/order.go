package pipeline

import "fmt"

// OrderError says why lists of passes are not a step: a pass comes before one that it needs on its own rank, or is
// missing.
type OrderError struct {
	Rank, Place int // Place is the index in the order of the rank; -1 if the pass is missing
	Pass        Pass
	Reason      string
}

func (e *OrderError) Error() string {
	if e.Place < 0 {
		return fmt.Sprintf("rank %d: %v is missing: %s", e.Rank, e.Pass, e.Reason)
	}
	return fmt.Sprintf("rank %d, place %d: %v: %s", e.Rank, e.Place, e.Pass, e.Reason)
}

// The states of a micro batch at a stage, after a part of its rank's list.
const (
	fresh    = iota // nothing has run
	kept            // its activations are on the device
	dropped         // only its input is on the device
	hosted          // its activations are on the host
	halfway         // B has run
	finished        // A, or B and W have run
)

// steps holds, for every kind, the state that it needs, the state after it, and the error if it is in another state.
var steps = [...]struct {
	from, to int
	needs    string
}{
	Forward:  {fresh, kept, "it runs once"},
	Dropped:  {fresh, dropped, "it runs once"},
	Again:    {dropped, kept, "it needs a dropped forward before it"},
	Backward: {kept, finished, "it needs its activations on the device before it, and runs once"},
	Inputs:   {kept, halfway, "it needs its activations on the device before it, and runs once"},
	Weights:  {halfway, finished, "it needs its backward of inputs before it"},
	Out:      {kept, hosted, "it needs activations on the device"},
	In:       {hosted, kept, "it needs a copy to the host before it"},
}

// checkOrder returns an error if the lists are not a whole step.
func (p *Problem) checkOrder(order [][]Pass) error {
	if len(order) != p.Ranks {
		return fmt.Errorf("%d lists of passes; want one for each of %d ranks", len(order), p.Ranks)
	}
	state := make([][]int8, len(p.Stages))
	for s := range state {
		state[s] = make([]int8, p.micro(s))
	}
	for r, list := range order {
		for i, x := range list {
			bad := ""
			switch {
			case x.Stage < 0 || x.Stage >= len(p.Stages) || x.Micro < 0 || x.Micro >= p.micro(x.Stage):
				return &OrderError{r, i, x, "there is no such stage or micro batch"}
			case p.Stages[x.Stage].Rank != r:
				bad = fmt.Sprintf("the stage lies on rank %d", p.Stages[x.Stage].Rank)
			case x.Joined && (x.Kind != Forward || i+1 == len(list) || list[i+1].Kind != Backward ||
				list[i+1].Micro == x.Micro && list[i+1].Stage == x.Stage):
				bad = "it is joined; want a forward before a backward of something else"
			case x.Kind.copies() && p.Stages[x.Stage].Off == 0:
				bad = "the stage has nothing to copy"
			case int(state[x.Stage][x.Micro]) != steps[x.Kind].from:
				bad = steps[x.Kind].needs
			}
			if bad != "" {
				return &OrderError{r, i, x, bad}
			}
			state[x.Stage][x.Micro] = int8(steps[x.Kind].to)
		}
	}
	for s := range state {
		for m, at := range state[s] {
			next := Pass{Kind: Backward, Micro: m, Stage: s}
			switch at {
			case finished:
				continue
			case fresh:
				next.Kind = Forward
			case halfway:
				next.Kind = Weights
			}
			return &OrderError{p.Stages[s].Rank, -1, next, "every micro batch runs forward and backward at every stage"}
		}
	}
	return nil
}
