package draw

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"memtide/engine"
)

// PassKind is the kind of a pass of a pipeline.
type PassKind uint8

// The kinds: a forward, a whole backward, and the two parts of a backward, for the inputs and for the weights.
const (
	PassForward PassKind = iota
	PassBackward
	PassInputs
	PassWeights
	NumPassKinds
)

// passWords are the names of the kinds in sentences.
var passWords = [NumPassKinds]string{"forward", "backward", "backward of the inputs", "backward of the weights"}

func (k PassKind) String() string { return passWords[k] }

// Pass is a run of one micro batch at one stage of a pipeline.
type Pass struct {
	Kind         PassKind
	Micro, Stage int
	Start, End   time.Duration
}

// PassRank is a rank of a pipeline.
type PassRank struct {
	Passes   []Pass       // in the order of time; passes that run as one have the same times
	Base     engine.Bytes // memory that does not depend on the passes
	Reserved engine.Bytes // the most memory that the allocator reserves; 0 if unknown
}

// PassStage is a stage of a pipeline.
type PassStage struct {
	First, Last bool         // in its path through the pipeline
	Act         engine.Bytes // memory that a micro batch holds from its forward on
	Rest        engine.Bytes // memory that it holds from the backward of the inputs to that of the weights
}

// Passes are the ranks of a pipeline, arranged for drawing: a lane with the passes of each, and
// their memory on the same time axis.
type Passes struct {
	drawn[*Passes]

	Path  []int         // the numbers of the passes on the critical path, from first to last; nil if unknown
	Made  string        // the composition of the critical path, in words
	Bound time.Duration // lower bound of the time of all orders of the passes; 0 if unknown
	Title string
	Bare  bool // do not draw the memory, because it is not known

	ranks  []PassRank
	stages []PassStage
	room   engine.Bytes // memory of a card for the program
	full   int          // the fullest rank
	picked int          // the chosen rank, whose memory has a line of its own
	end    time.Duration
	beside *Passes // has the same axes; nil if x has its own

	first []int          // by rank, and one more: the number of its first pass
	there [][]int32      // by stage and micro batch: the number of the forward, or -1
	back  [][]int32      // the same for the backward or the backward of the inputs
	level [][]level      // by rank: its memory over time
	most  []engine.Bytes // by rank: its peak
}

// level is the memory that a rank holds from a moment on.
type level struct {
	at    time.Duration
	bytes engine.Bytes
}

// Pick chooses a rank of the picture of memory.
func (x *Passes) Pick(rank int) { x.picked = rank }

// NewPasses arranges the passes of ranks for drawing. room is the memory of a card for the program, full
// the fullest rank.
func NewPasses(ranks []PassRank, stages []PassStage, room engine.Bytes, full int) *Passes {
	x := &Passes{Title: PassLanes.Title(), ranks: ranks, stages: stages, room: room, full: full, picked: full,
		first: []int{0}, there: make([][]int32, len(stages)), back: make([][]int32, len(stages))}
	x.drawn = drawn[*Passes]{x, x.frame, passLayouts[:], PassLanes}
	put := func(list *[]int32, micro, n int) {
		for len(*list) <= micro {
			*list = append(*list, -1)
		}
		(*list)[micro] = int32(n)
	}
	for r := range ranks {
		for i, p := range ranks[r].Passes {
			n := x.first[r] + i
			switch p.Kind {
			case PassForward:
				put(&x.there[p.Stage], p.Micro, n)
			case PassBackward, PassInputs:
				put(&x.back[p.Stage], p.Micro, n)
			}
			x.end = max(x.end, p.End)
		}
		x.first = append(x.first, x.first[r]+len(ranks[r].Passes))
		x.level = append(x.level, x.levels(&ranks[r]))
		most := engine.Bytes(0)
		for _, l := range x.level[r] {
			most = max(most, l.bytes)
		}
		x.most = append(x.most, most)
	}
	return x
}

// levels returns the memory of a rank over time. A forward allocates at its start, a backward frees at its end.
func (x *Passes) levels(r *PassRank) []level {
	var changes []level
	for _, p := range r.Passes {
		switch st := &x.stages[p.Stage]; p.Kind {
		case PassForward:
			changes = append(changes, level{p.Start, st.Act})
		case PassBackward:
			changes = append(changes, level{p.End, -st.Act})
		case PassInputs:
			changes = append(changes, level{p.Start, max(0, st.Rest-st.Act)}, level{p.End, -max(0, st.Act-st.Rest)})
		case PassWeights:
			changes = append(changes, level{p.End, -st.Rest})
		}
	}
	slices.SortStableFunc(changes, func(a, b level) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.bytes, b.bytes)) // free before allocating
	})
	out := []level{{0, r.Base}}
	for _, c := range changes {
		last := &out[len(out)-1]
		if c.at != last.at {
			out = append(out, level{c.at, last.bytes})
			last = &out[len(out)-1]
		}
		last.bytes += c.bytes
	}
	return out
}

// Share gives x and other one axis of time and one of memory.
func (x *Passes) Share(other *Passes) { x.beside, other.beside = other, x }

// Alone has the axes of x be its own again.
func (x *Passes) Alone() { x.beside = nil }

// End returns the end of the last pass.
func (x *Passes) End() time.Duration { return x.end }

// Ranks returns the number of ranks.
func (x *Passes) Ranks() int { return len(x.ranks) }

// Count returns the number of passes. Passes are numbered from 0, rank by rank.
func (x *Passes) Count() int { return x.first[len(x.ranks)] }

// Pass returns the pass with a number, and its rank.
func (x *Passes) Pass(n int) (p *Pass, rank int) {
	rank = sort.SearchInts(x.first, n+1) - 1
	return &x.ranks[rank].Passes[n-x.first[rank]], rank
}

// Numbers returns the numbers of the passes of a rank, [from, to).
func (x *Passes) Numbers(rank int) (from, to int) { return x.first[rank], x.first[rank+1] }

// Sizes in CSS pixels.
const (
	passesTop    = titleLine + 18 // y of the lanes, below the title and the labels of the time axis
	passesMemory = 132.0          // height of the memory
	passesSpace  = 20.0           // between the lanes and the memory, for its title
	joinedPass   = 6.0            // narrower passes are drawn as bands
)

// passLayouts holds the layout of the picture. The init function of the file that draws it sets it.
var passLayouts [1]layoutOf[*Passes]

// laneHeight returns the height of a lane with the space to the next one.
func (x *Passes) laneHeight() float64 {
	return math.Max(5, math.Min(26, math.Floor(340/float64(max(1, len(x.ranks))))))
}

// Height returns the height of the picture.
func (x *Passes) Height() float64 {
	if x.Bare {
		return x.bottom() + passesSpace
	}
	return x.bottom() + passesSpace + passesMemory
}

// bottom returns the lower end of the lanes.
func (x *Passes) bottom() float64 { return passesTop + x.laneHeight()*float64(len(x.ranks)) }

func (x *Passes) frame(pic Picture, v View) frame {
	v.Height = x.Height()
	end := x.end
	if x.beside != nil {
		end = max(end, x.beside.end)
	}
	return newFrame(pic, v, end)
}

// lane returns the upper edge and the height of the lane of rank r.
func (x *Passes) lane(r int) (y, h float64) {
	h = x.laneHeight()
	space := 3.0
	if h < 12 {
		space = 1
	}
	return passesTop + float64(r)*h, h - space
}
