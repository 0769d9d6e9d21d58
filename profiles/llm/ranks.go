package llm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// Rank is what one rank of a pipeline holds and does.
type Rank struct {
	*Result
	Layers      []int64 // that it has, in their order
	First, Last bool    // it has the embedding, the head
	InFlight    int64   // micro batches that it holds at once, of all its layers, rounded up
	Busy        time.Duration
}

// Ranks is a step on a pipeline.
type Ranks struct {
	Schedule *pipeline.Schedule
	Trace    *pipeline.Trace
	List     []Rank
	Full     int           // the rank that reserves most
	Time     time.Duration // of the step, an estimate; 0 without a card
}

// sendLatency is what a send takes beside its bytes [assumed: 5 to 10 us].
const sendLatency = 10 * time.Microsecond

// PlayRanks plays every rank of a pipeline, whose passes take the times of a card.
func PlayRanks(s Setup, c *Card) (*Ranks, error) {
	return profiles.Try(func() *Ranks {
		s = s.normal()
		if s.Schedule == "" {
			refuse("no schedule of the pipeline is named")
		}
		return s.ranks(c, engine.NoLimit)
	})
}

// ranks plays the ranks of a normal setup; no allocator is replayed for what cannot be
// reserved within a limit. Without a card every layer takes as long, a backward twice a
// forward, and the step no time.
func (s *Setup) ranks(c *Card, limit engine.Bytes) *Ranks {
	out, shares := s.playOrder(c)
	at, keys := make([]*Setup, len(shares)), make([]string, len(shares))
	played, held := map[string]*Result{}, map[string]int64{} // equal ranks are played once
	for r, of := range shares {
		at[r] = s.onRank(out, r)
		keys[r] = fmt.Sprint(of.first, of.last, at[r].InFlight, s.kinds(of.layers))
		held[keys[r]] = at[r].InFlight * int64(len(of.layers))
	}
	s.checkHeld(slices.Collect(maps.Values(held)))
	for r, of := range shares {
		if played[keys[r]] == nil {
			played[keys[r]] = runStage(at[r], of, limit)
		}
		own := *played[keys[r]]
		own.Stage, own.program = int64(r), nil
		out.List = append(out.List, Rank{Result: &own, Layers: of.layers, First: of.first, Last: of.last, InFlight: at[r].InFlight, Busy: out.Trace.Busy[r]})
		if full := out.List[out.Full].Result; cmp.Or(cmp.Compare(own.most(), full.most()), cmp.Compare(own.Allocated, full.Allocated)) > 0 {
			out.Full = r
		}
	}
	return out
}

// onRank is the setup as one rank runs it. A rank that holds passes of several of its
// stages is taken to hold as many whole micro batches, rounded up. What a backward has
// left until that of the weights has run counts as all of the pass: an upper end.
func (s *Setup) onRank(ranks *Ranks, r int) *Setup {
	chunks := 0
	for _, rank := range ranks.Schedule.Rank {
		if rank == r {
			chunks++
		}
	}
	at := *s
	at.InFlight = ceil(int64(ranks.Trace.Held[r]), int64(chunks))
	at.lateLoss = s.Schedule != "gpipe" // there all forwards have ended, with their losses
	at.Accumulate = min(2, ceil(s.Accumulate, at.InFlight))
	return &at
}

// kinds tells layers apart that hold different things.
func (s *Setup) kinds(layers []int64) string {
	var b strings.Builder
	for _, l := range layers {
		fmt.Fprintln(&b, *s.Model.At(l))
	}
	return b.String()
}

// playOrder plays the passes, and says what each rank has of the model.
func (s *Setup) playOrder(c *Card) (*Ranks, []share) {
	chunks := cmp.Or(s.Chunks, 2)
	stages := pipeline.Stages(s.Schedule, int(s.Stages), int(chunks))
	s.checkPasses(stages)
	split := s.cut(int64(stages))
	plan := pipeline.Plan{Ranks: int(s.Stages), Micro: int(s.Accumulate), Chunks: int(chunks), Cost: s.costs(split, c)}
	if c != nil {
		_, outer := s.tokens()
		rate := c.NVLink
		if s.Stages*s.Shard*s.Tensor > inNode {
			rate = c.Network
		}
		plan.Send = sendLatency + seconds(float64(outer*s.Model.Hidden*s.Compute)/rate)
	}
	out, err := &Ranks{}, error(nil)
	out.Schedule, err = pipeline.New(s.Schedule, plan)
	profiles.End(err)
	out.Trace, err = out.Schedule.Play()
	profiles.End(err)
	profiles.End(s.poll.Err())
	shares := make([]share, s.Stages)
	for stage, r := range out.Schedule.Rank {
		of, n := &shares[r], out.Schedule.Layers(stage)
		of.first, of.last = of.first || n == 0, of.last || n == stages-1
		of.layers = append(of.layers, split[n]...)
	}
	if c != nil {
		var step float64
		for _, of := range shares {
			step = max(step, newProgram(s, of).stepSeconds(c))
		}
		out.Time = out.Trace.Makespan + seconds(step)
	}
	return out, shares
}

// costs says how long a pass of each stage takes.
func (s *Setup) costs(split [][]int64, c *Card) func(pipeline.Pass) time.Duration {
	type cost struct{ forward, back, late time.Duration }
	var list []cost
	for i, layers := range split {
		if c == nil {
			n := time.Duration(len(layers)) * time.Millisecond
			list = append(list, cost{n, 2 * n, n})
			continue
		}
		forward, back, late := newProgram(s, share{i == 0, i == len(split)-1, layers}).passSeconds(c)
		list = append(list, cost{seconds(forward), seconds(back), seconds(late)})
	}
	return func(p pipeline.Pass) time.Duration {
		at := list[p.Stage%len(list)]
		switch p.Kind {
		case pipeline.Forward:
			return at.forward
		case pipeline.Inputs:
			return at.back - at.late
		case pipeline.Weights:
			return at.late
		}
		return at.back
	}
}

// cut are the layers of each stage of the network.
func (s *Setup) cut(stages int64) (out [][]int64) {
	counts, all := s.Split, int64(0)
	if counts == nil {
		if s.Model.Layers < stages {
			refuse("a pipeline of %d stages needs as many layers at least; %s has %d", stages, s.Model.Name, s.Model.Layers)
		}
		for i := range stages {
			n := s.Model.Layers / stages
			if i < s.Model.Layers%stages {
				n++
			}
			counts = append(counts, n)
		}
	}
	next := int64(0)
	for _, n := range counts {
		if n < 1 {
			refuse("a stage of the pipeline is to have %d layers; it needs one at least", n)
		}
		all += n
	}
	if int64(len(counts)) != stages || all != s.Model.Layers {
		refuse("%d layers are laid out over %d stages; %s has %d layers, and the schedule has %d stages", all, len(counts), s.Model.Name, s.Model.Layers, stages)
	}
	for _, n := range counts {
		var layers []int64
		for range n {
			layers = append(layers, next)
			next++
		}
		out = append(out, layers)
	}
	return out
}
