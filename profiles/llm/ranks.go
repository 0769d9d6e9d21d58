package llm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// Rank is what one rank of a pipeline holds and does.
type Rank struct {
	*Result
	Layers      []int64 // layers of the rank, in order
	First, Last bool    // whether it has the embedding, and the head
	InFlight    int64   // micro batches that all its layers hold at once, rounded up
	Busy        time.Duration
}

// Ranks is a step on a pipeline.
type Ranks struct {
	Schedule *pipeline.Schedule
	Trace    *pipeline.Trace
	List     []Rank
	Full     int           // the rank that reserves most
	Time     time.Duration // of the step, an estimate; 0 without a card
	Fastest  time.Duration // with ScheduleAuto that of the fastest order, whether it fits or not
	lay      *lay
}

// sendLatency is the time of a send without its bytes [assumed: 5 to 10 us].
const sendLatency = 10 * time.Microsecond

// PlayRanks plays every rank of a pipeline. The card gives the times of passes.
func PlayRanks(s Setup, c *Card) (*Ranks, error) {
	return profiles.Try(func() *Ranks {
		s = s.normal()
		if s.Schedule == "" {
			refuse("no schedule of the pipeline is named")
		}
		return s.ranks(c, engine.NoLimit)
	})
}

// ranks plays the ranks of a normal setup, and skips the replay through the allocator for ranks that need more
// than limit. Without a card every layer takes the same time, a backward takes twice a forward, and the step
// takes no time.
func (s *Setup) ranks(c *Card, limit engine.Bytes) *Ranks {
	k := newRanker(s, c)
	return k.fill(k.order(s.Schedule), limit)
}

// ranker plays pipelines of one setup in different orders, and plays equal ranks once. With fullest set, it plays
// only the one that holds most among ranks that differ only in what their passes hold, so that 64 ranks take
// three plays. That rank allocates most. Another rank may still reserve a segment more, since the number of
// segments is not monotonic.
type ranker struct {
	s       *Setup // normal
	c       *Card  // nil: every layer takes the same time
	fullest bool
	lays    map[string]*lay
	played  map[string]*Result
}

func newRanker(s *Setup, c *Card) *ranker {
	return &ranker{s: s, c: c, lays: map[string]*lay{}, played: map[string]*Result{}}
}

// fill plays the step of every rank for an order of passes, from which the bytes that each rank holds follow.
func (k *ranker) fill(out *Ranks, limit engine.Bytes) *Ranks {
	l := out.lay
	at, like, held := make([]*Setup, len(l.shares)), make([]string, len(l.shares)), map[string]int64{}
	most := map[string]int{} // the rank that holds most among ranks that are alike
	for r, of := range l.shares {
		at[r] = k.onRank(out, r)
		like[r] = fmt.Sprint(of.first, of.last, at[r].Accumulate, at[r].lateLoss, at[r].Checkpoint, limit)
		for _, layer := range of.layers { // layers may hold different amounts
			like[r] += fmt.Sprintln(*k.s.Model.At(layer))
		}
		if !k.fullest {
			like[r] += fmt.Sprint(at[r].InFlight, " ", at[r].more)
		}
		if old, ok := most[like[r]]; !ok ||
			cmp.Or(cmp.Compare(at[r].InFlight, at[old].InFlight), cmp.Compare(at[r].more, at[old].more)) > 0 {
			most[like[r]] = r
		}
		held[like[r]] = max(held[like[r]], at[r].InFlight*int64(len(of.layers)))
	}
	k.s.checkHeld(slices.Collect(maps.Values(held)))
	for r, of := range l.shares {
		full := at[most[like[r]]]
		key := fmt.Sprint(like[r], full.InFlight, " ", full.more)
		if k.played[key] == nil {
			k.played[key] = runStage(full, of, limit)
		}
		own := *k.played[key]
		own.Stage, own.program = int64(r), nil
		inFlight := ceil(int64(out.Trace.Held[r]), int64(l.chunks[r]))
		out.List = append(out.List, Rank{Result: &own, Layers: of.layers, First: of.first, Last: of.last,
			InFlight: inFlight, Busy: out.Trace.Busy[r]})
		if full := out.List[out.Full].Result; cmp.Or(cmp.Compare(own.most(), full.most()),
			cmp.Compare(own.Allocated, full.Allocated)) > 0 {
			out.Full = r
		}
	}
	return out
}

// onRank returns the setup of one rank. The bytes that its passes hold at once are played as whole micro batches,
// and the rest as one value.
func (k *ranker) onRank(ranks *Ranks, r int) *Setup {
	at := *k.s.checkpointing(r)
	at.InFlight = ceil(int64(ranks.Trace.Held[r]), int64(ranks.lay.chunks[r]))
	if unit := ranks.lay.unit[r]; unit > 0 {
		at.InFlight = max(1, int64(ranks.Trace.Peak[r]/unit))
		at.more = max(0, ranks.Trace.Peak[r]-engine.Bytes(at.InFlight)*unit)
	}
	if k.s.Outputs && ranks.lay.shares[r].last && k.s.Loss.Whole() {
		at.outputs = size(k.s.logits(), k.s.Compute) * engine.Bytes(k.s.Accumulate-1)
	}
	if ranks.lay.shares[r].last {
		_, outer := at.tail().tokens()
		late := min(k.s.LateHead, k.s.Accumulate*(1+k.s.Nexts)-1)
		at.outputs += engine.Bytes(late) * size(k.s.logits()+outer*k.s.Model.Hidden, k.s.Compute)
	}
	at.lateLoss = ranks.Schedule.Name != "gpipe" // GPipe ends all forwards, with their losses, first
	at.Accumulate = min(2, ceil(k.s.Accumulate, at.InFlight))
	return &at
}

// checkpointing returns the setup of rank r with its own checkpointing: if only the first ranks checkpoint, other
// ranks compute nothing again.
func (s *Setup) checkpointing(r int) *Setup {
	if s.OnRanks == 0 || int64(r) < s.OnRanks {
		return s
	}
	at := *s
	at.Checkpoint, at.OffloadX, at.Group = CheckpointNone, false, 1
	return &at
}

// lay is the layout of layers on ranks, with what a pass of each stage takes and holds.
type lay struct {
	stages [][]int64        // layers of each stage of the network
	cost   []cost           // of each stage
	holds  []pipeline.Holds // of each stage; nil if passes are counted instead
	chunks []int            // stages of each rank
	unit   []engine.Bytes   // bytes that one micro batch holds at all stages of a rank; 0 if passes are counted
	shares []share          // of each rank
	always []engine.Bytes   // states of each rank without gradients, and what Transformer Engine keeps
	step   float64          // seconds of the optimizer on the slowest rank
}

// cost is how long a pass of a stage takes. late is the part of the backward that computes the gradients of the
// weights.
type cost struct{ forward, back, late time.Duration }

// order plays the passes in the order of the named schedule.
func (k *ranker) order(name string) *Ranks {
	s := k.s
	if name == ScheduleAuto {
		refuse("which order of passes is the fastest that fits depends on the card; name one of %q", pipeline.Names())
	}
	chunks := cmp.Or(s.Chunks, 2)
	layout := pipeline.Layout(name, int(s.Stages), int(chunks))
	stages := pipeline.Stages(name, int(s.Stages), int(chunks))
	s.checkPasses(stages)
	key := fmt.Sprint(stages, layout)
	if k.lays[key] == nil {
		k.lays[key] = k.lay(layout, stages)
	}
	l := k.lays[key]
	plan := pipeline.Request{Ranks: int(s.Stages), Micro: int(s.Accumulate), Chunks: int(chunks), Send: k.send(),
		Cost: l.time}
	if l.holds != nil {
		plan.Keep = func(stage int) pipeline.Holds { return l.holds[stage] }
	}
	out, err := &Ranks{lay: l}, error(nil)
	out.Schedule, err = pipeline.New(name, plan)
	profiles.End(err)
	out.Trace, err = out.Schedule.Play()
	profiles.End(err)
	profiles.End(s.poll.Err())
	if k.c != nil {
		out.Time = out.Trace.Makespan + seconds(l.step)
	}
	return out
}

func (k *ranker) send() time.Duration {
	if k.c == nil {
		return 0
	}
	s := k.s
	_, outer := s.tokens()
	rate := k.c.NVLink
	if s.Stages*s.Shard*s.Tensor > inNode {
		rate = k.c.Network
	}
	return sendLatency + seconds(float64(outer*s.Model.Hidden*s.Compute)/rate)
}

func (l *lay) time(p pipeline.Pass) time.Duration {
	at := l.cost[p.Stage%len(l.cost)]
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

// lay cuts the network into stages, and puts stage i%stages on rank layout[i].
func (k *ranker) lay(layout []int, stages int) *lay {
	s := k.s
	l := &lay{stages: s.cut(int64(stages)), chunks: make([]int, s.Stages), unit: make([]engine.Bytes, s.Stages),
		shares: make([]share, s.Stages)}
	if s.OnRanks > 0 && len(layout) > stages {
		refuse("checkpointing on the first %d ranks alone is not known where every layer lies on two ranks", s.OnRanks)
	}
	counted := s.Stash || s.OffloadX || s.Group > 1 // these hold different amounts for each micro batch
	for n, layers := range l.stages {
		p := newProgram(s.checkpointing(layout[n]), share{n == 0, n == stages-1, layers})
		l.cost = append(l.cost, k.cost(p, len(layers)))
		if !counted {
			l.holds = append(l.holds, p.holds())
		}
	}
	for i, r := range layout {
		n := i % stages
		of := &l.shares[r]
		of.first, of.last = of.first || n == 0, of.last || n == stages-1
		of.layers = append(of.layers, l.stages[n]...)
		if l.chunks[r]++; !counted {
			l.unit[r] += l.holds[n].Act
		}
	}
	for r, of := range l.shares {
		if len(of.layers) == 0 {
			refuse("rank %d of the pipeline has no layers; it needs one at least: want more stages on a rank", r)
		}
		p := newProgram(s.checkpointing(r), of)
		l.always = append(l.always, p.states()-p.gradients()+p.engineBytes())
		if k.c != nil {
			l.step = max(l.step, p.stepSeconds(k.c))
		}
	}
	return l
}

// cost returns the times of the passes of a program with a number of layers.
func (k *ranker) cost(p *program, layers int) cost {
	if k.c == nil {
		n := time.Duration(layers) * time.Millisecond
		return cost{n, 2 * n, n}
	}
	forward, back, late := p.passSeconds(k.c)
	return cost{seconds(forward), seconds(back), seconds(late)}
}

// holds returns the bytes of a micro batch at a stage: from its forward to its backward, and from the backward of
// the inputs to the backward of the weights.
func (p *program) holds() (h pipeline.Holds) {
	h.Act = p.frontBytes()
	if len(p.units) > 0 { // the first or the last stage may have no layers
		h.Input = p.units[0].front().values[blockInput].bytes
	}
	for _, u := range p.units {
		h.Act += u.front().keeps()
		h.Rest += u.block.operands()
	}
	if !p.last {
		return h
	}
	_, outer, wide := p.behind()
	h.Act += size(outer*wide, p.s.Compute) // the output of the last block, which waits for the loss
	if p.s.trains() && p.s.Loss.Whole() {
		h.Rest += size(outer*wide+p.s.logits(), p.s.Compute)
	}
	return h
}

// operands returns the bytes that the backward of the weights reads: the inputs of products whose weights train,
// and the gradients of their results. They can be more than what the forward keeps.
func (b *block) operands() (n engine.Bytes) {
	var in []valueID
	for _, o := range b.ops {
		if o.kind == opProduct && o.trains() {
			in = append(in, o.in...)
			for _, v := range o.out {
				n += b.values[v].grad
			}
		}
	}
	for _, root := range b.roots(in) {
		n += b.values[root].bytes
	}
	return n
}

// byCost returns how many layers each stage has by ByCost.
func (s *Setup) byCost(stages int64) []int64 {
	m, counts := s.Model, make([]int64, stages)
	layer := m.Hidden * (4*m.Heads*m.Head + 3*m.Wide)
	all := m.Layers*layer + m.Words*m.Hidden
	stage, cost := int64(0), int64(0)
	for range m.Layers {
		counts[stage]++
		if cost += layer; cost*stages > all*(stage+1) {
			stage++
		}
	}
	return counts
}

// cut returns the layers of each stage of the network.
func (s *Setup) cut(stages int64) (out [][]int64) {
	counts, all := s.Split, int64(0)
	if counts == nil && s.ByCost {
		counts = s.byCost(stages)
	}
	if counts == nil {
		fewer := s.LighterFirst + s.Lighter
		each := s.Model.Layers / stages
		if each == 0 { // embedding and head count as layers [Megatron-LM: --account-for-embedding-in-pipeline-split]
			each = (s.Model.Layers + fewer) / stages
		}
		if each == 0 {
			refuse("a pipeline of %d stages needs as many layers at least; %s has %d", stages, s.Model.Name,
				s.Model.Layers)
		}
		even, left := stages, s.Model.Layers
		apart := func(fewer int64) (count []int64) { // a stage with fewer layers is set apart
			if fewer > 0 && stages > 1 {
				count = []int64{each - fewer}
				even--
				left -= count[0]
			}
			return count
		}
		counts = apart(s.LighterFirst)
		last := apart(s.Lighter)
		for i := range even {
			counts = append(counts, (left+even-1-i)/even)
		}
		counts = append(counts, last...)
	}
	for i, n := range counts {
		inner := i > 0 && i < len(counts)-1
		if n < 0 || n == 0 && (inner || s.Split == nil && s.Model.Layers >= stages) {
			refuse("a stage of the pipeline is to have %d layers; it needs one at least", n)
		}
		all += n
	}
	if int64(len(counts)) != stages || all != s.Model.Layers {
		refuse("%d layers are laid out over %d stages; %s has %d layers, and the schedule has %d stages", all,
			len(counts), s.Model.Name, s.Model.Layers, stages)
	}
	next := int64(0)
	for _, n := range counts {
		layers := make([]int64, n)
		for i := range layers {
			layers[i] = next
			next++
		}
		out = append(out, layers)
	}
	return out
}
