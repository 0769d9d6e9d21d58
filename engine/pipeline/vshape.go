package pipeline

import "slices"

func init() {
	const paper = "2405.15362"
	register(
		maker{name: "zb-v", title: "zero bubble, two stages a rank in the form of a V, with the memory of 1F1B",
			paper: paper, shape: Vee, split: true, make: zeroBubbleV},
		maker{name: "v-half", title: "the form of a V with half of the memory of 1F1B (V-Half)", paper: paper, shape: Vee,
			split: true, make: vHalf},
		maker{name: "v-min", title: "the form of a V with a third of the memory of 1F1B (V-Min)", paper: paper, shape: Vee,
			split: true, make: vMin},
	)
}

// zeroBubbleV returns the order of torch's ScheduleZBVZeroBubble. For few micro batches, it makes an order for more
// and leaves out the others.
func zeroBubbleV(p *Request, _ *Problem) [][]Pass {
	n := max(2*p.Ranks-1, p.Micro)
	return eachRank(p, func(w *writer, r int) {
		first, second := r, 2*p.Ranks-1-r
		put := func(stage int, kinds ...Kind) {
			for _, k := range kinds {
				w.put(k, stage, false)
			}
		}
		w.puts(2*(p.Ranks-r)-1, Forward, first)
		for range r {
			put(second, Forward)
			put(first, Forward)
		}
		for range p.Ranks - r {
			put(second, Forward, Inputs, Weights)
		}
		for w.ran(Forward, second) < w.ran(Forward, first) || w.ran(Forward, first) < n {
			if w.ran(Forward, first) < n {
				put(first, Forward)
			}
			put(first, Inputs, Weights)
			put(second, Forward, Inputs, Weights)
		}
		for range r {
			put(first, Inputs)
			put(second, Inputs)
		}
		for range p.Ranks - r {
			put(first, Inputs, Weights)
		}
		for _, stage := range []int{second, first} {
			w.puts(n-w.ran(Weights, stage), Weights, stage)
		}
	})
}

// block is a building block of section 3: when the passes of a micro batch start on a rank, in slots of one pass. The
// next micro batch follows six slots later.
type block [4]int // first F, second F, second B, first B

func vHalf(p *Request, _ *Problem) [][]Pass {
	i := 0
	if p.Ranks%2 == 0 {
		i = 3
	}
	return p.blocks(2*((p.Ranks+2)/2), func(r int) block {
		return block{2 * r, 3*p.Ranks - 2 - r, 3*p.Ranks - 1 + i + 2*r, 6*p.Ranks + i - 2 - r}
	})
}

func vMin(p *Request, _ *Problem) [][]Pass {
	i := 0
	if p.Ranks%3 == 0 {
		i = 2
	}
	return p.blocks(2*((p.Ranks+4)/3), func(r int) block {
		return block{r, 2*p.Ranks - 1 - r, 2*p.Ranks + i + r, 4*p.Ranks + i - 1 - r}
	})
}

// blocks repeats a block for every micro batch and compacts it: in slots of one pass, each pass starts as early as
// its data and the peak of the block allow, in the order of the block, and backwards of weights fill the remaining
// slots. It tries this with and without forwards that overtake waiting passes, and returns the shorter order. The
// authors' program compacts more in some cases: there V-Half takes 53 slots for 4 ranks and 8 micro batches, here 55.
func (p *Request) blocks(peak int, blockOf func(r int) block) [][]Pass {
	var shorter *squeezing
	for _, overtake := range []bool{false, true} {
		s := &squeezing{peak: peak, overtake: overtake, ends: map[Pass]int{}, last: 2*p.Ranks - 1,
			todo: make([][]Pass, p.Ranks), order: make([][]Pass, p.Ranks), weights: make([][]Pass, p.Ranks),
			held: make([]int, p.Ranks)}
		for r := range p.Ranks {
			s.repeat(r, blockOf(r), p.Micro)
		}
		for left := 6 * p.Micro * p.Ranks; left > 0; s.slot++ {
			for r := range p.Ranks {
				if s.next(r) {
					left--
				}
			}
		}
		if shorter == nil || s.slot < shorter.slot {
			shorter = s
		}
	}
	return shorter.order
}

// squeezing is a step that is being made of blocks.
type squeezing struct {
	peak, last, slot int          // most passes that a rank holds; the last stage; the current slot
	overtake         bool         // forwards may overtake passes that wait
	ends             map[Pass]int // slot after the pass
	todo             [][]Pass     // by rank: passes to run in the order of its blocks, without backwards of weights
	weights          [][]Pass     // by rank: backwards of weights that can run
	held             []int        // by rank: number of passes held
	order            [][]Pass
}

// repeat lists the passes of a rank in the order of their times in its blocks.
func (s *squeezing) repeat(r int, at block, micro int) {
	var next block
	for range 4 * micro {
		k := -1
		for i := range at {
			if next[i] < micro && (k < 0 || at[i]+6*next[i] < at[k]+6*next[k]) {
				k = i
			}
		}
		kind, stage := Forward, r
		if k >= 2 {
			kind = Inputs
		}
		if k == 1 || k == 2 {
			stage = s.last - r
		}
		s.todo[r] = append(s.todo[r], Pass{Kind: kind, Micro: next[k], Stage: stage})
		next[k]++
	}
}

// next runs a pass of a rank in this slot, and reports whether one can run.
func (s *squeezing) next(r int) bool {
	i := slices.IndexFunc(s.todo[r][:min(len(s.todo[r]), 12*s.last)],
		func(x Pass) bool { return s.ready(x) && s.fits(r, x) })
	switch {
	case i >= 0:
		x := s.todo[r][i]
		s.ends[x] = s.slot + 1
		s.todo[r] = slices.Delete(s.todo[r], i, i+1)
		s.order[r] = append(s.order[r], x)
		if x.Kind == Forward {
			s.held[r]++
		} else {
			s.weights[r] = append(s.weights[r], Pass{Kind: Weights, Micro: x.Micro, Stage: x.Stage})
		}
	case len(s.weights[r]) > 0:
		s.order[r] = append(s.order[r], s.weights[r][0])
		s.weights[r] = s.weights[r][1:]
		s.held[r]--
	default:
		return false
	}
	return true
}

// ready reports whether the pass that x waits for has ended.
func (s *squeezing) ready(x Pass) bool {
	switch {
	case x.Kind == Forward && x.Stage > 0:
		x.Stage--
	case x.Kind == Inputs && x.Stage < s.last:
		x.Stage++
	case x.Kind == Inputs:
		x.Kind = Forward
	default:
		return true
	}
	end, ran := s.ends[x]
	return ran && end <= s.slot
}

// fits reports whether a rank may run a pass now: the next one, or a forward that leaves room for those before it.
func (s *squeezing) fits(r int, x Pass) bool {
	if x == s.todo[r][0] {
		return x.Kind == Inputs || s.held[r] < s.peak || len(s.weights[r]) == 0
	}
	if !s.overtake || x.Kind == Inputs || s.held[r] >= s.peak {
		return false
	}
	now := s.held[r] - len(s.weights[r]) + 1
	for _, y := range s.todo[r] {
		if y == x {
			break
		}
		if y.Kind == Inputs {
			now--
		} else if now++; now > s.peak {
			return false
		}
	}
	return true
}
