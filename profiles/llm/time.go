package llm

import (
	"slices"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
)

// Shares and costs of the time model, which is an estimate. See Card.TimeRange for how far
// published steps deviate from it.
const (
	attentionBack = 2.5  // backward over forward: five products instead of two [arXiv:2307.08691]
	trafficShare  = 0.8  // of the memory's bandwidth in element-wise kernels [assumed, as in profiles/analytic]
	linkShare     = 0.75 // of a link in collectives [assumed]
	launch        = 5e-6 // seconds per kernel [profiles/analytic]
	stepTraffic   = 28   // bytes per parameter: fp32 weight, gradient and moments read, all but the gradient written
	lossTraffic   = 30   // bytes per logit, read and written in forward and backward of LossFP32
	inNode        = 8    // cards that NVLink connects
	// bytes read and written per byte of a cast operand: 3 from 16 to 8 bits, 1.25 from 4 to 16 bits
	narrowTraffic = 1.5
	hostMemory    = 150e9 // bytes/s of host memory for one card [assumed]
)

// flops are operations of products, in 16 bits and in 8 bits.
type flops [2]float64

// products returns how long products take, in seconds.
func (c *Card) products(n flops) float64 {
	t := n[0] / (c.Peak * c.Share)
	if n[1] > 0 {
		t += n[1] / (c.Peak8 * c.Share)
	}
	return t
}

// work is the cost of a pass over some operators.
type work struct {
	products  flops
	attention float64
	frozen    flops   // the part of products whose weights have no gradients
	traffic   float64 // bytes
	kernels   float64
}

// again adds what a block computes again.
func (w *work) again(b *block) {
	if b.mode == CheckpointFull {
		w.add(b.tape, nil)
	} else if b.mode != CheckpointNone {
		w.add(b.tape, b.rerun)
	}
}

// add adds the operators of a tape, or some of them.
func (w *work) add(t *tape, some []bool) {
	for i, o := range t.ops {
		if some != nil && !some[i] {
			continue
		}
		switch o.kind {
		case opProduct:
			at := 0
			if o.narrow {
				at = 1
			}
			w.products[at] += o.flops
			w.traffic += narrowTraffic * float64(o.temp)
			if !o.trains() {
				w.frozen[at] += o.flops
			}
		case opAttention:
			w.attention += o.flops
			w.traffic += float64(o.moved)
		case opShared:
			continue
		default:
			for _, v := range append(o.in[:len(o.in):len(o.in)], o.out...) {
				w.traffic += float64(t.values[v].bytes)
			}
		}
		w.kernels++
	}
}

func (w *work) seconds(c *Card) float64 {
	return c.products(w.products) + w.attention/(c.Peak*c.Attention) + w.traffic/(c.Bandwidth*trafficShare) +
		w.kernels*launch
}

// back returns the seconds of the backward: each product twice, or once if its weights are frozen.
func (w *work) back(c *Card) float64 {
	return 2*c.products(w.products) - c.products(w.frozen) + attentionBack*w.attention/(c.Peak*c.Attention) +
		2*w.traffic/(c.Bandwidth*trafficShare) + 2*w.kernels*launch
}

// StepTime estimates how long a step takes on cards of a kind.
func StepTime(s Setup, c *Card) (time.Duration, error) {
	return profiles.Try(func() time.Duration {
		s = s.normal()
		c.check(&s)
		if s.Schedule != "" {
			return newRanker(&s, c).order(s.Schedule).Time
		}
		return newProgram(&s, s.end(true, true)).stepTime(c)
	})
}

// check ends with an error for a setup that the card cannot run.
func (c *Card) check(s *Setup) {
	if s.Float8 && c.Peak8 == 0 {
		refuse("%s has no products in 8 bits that are known; want 16 bits, -fp8 none", c.Name)
	}
	if c.Link <= 0 && (s.HostStep || s.OffloadX || s.Stash || s.Swap > 0 || s.RamTorch) {
		refuse("no link from %s to the host is known, so nothing can wait there; want none of -offload, -stash, -host, -ramtorch and -swap-blocks", c.Name)
	}
}

// stepTime returns how long a step takes without a pipeline.
func (p *program) stepTime(c *Card) time.Duration {
	forward, back, _ := p.passSeconds(c)
	micro := float64(p.s.Accumulate * p.s.InFlight)
	return seconds((forward+back)*micro + p.stepSeconds(c))
}

// passSeconds returns the seconds of the forward and the backward of a micro batch. late is the part of the
// backward that makes the gradients of weights.
func (p *program) passSeconds(c *Card) (forward, back, late float64) {
	s := p.s
	for _, u := range slices.Concat(p.units, p.nexts) {
		there, again, _, weights := p.unitSeconds(u, c)
		forward, back, late = forward+there, back+again, late+weights
	}
	waits, again := p.swapWaits(c)
	forward, back = forward+waits, back+again
	if moved := p.moved(); moved > 0 {
		there, again := p.swapLink(c)
		forward, back = max(forward, float64(moved)/c.Link+there), max(back, float64(moved)/c.Back+again)
	}
	if p.last {
		there, again := p.headSeconds(c)
		forward += there
		back += again
		if s.trains() {
			late += p.headProduct(c)
		}
	}
	forward += p.referenceSeconds(c)
	pass := max(forward+back, p.gatherSeconds(c)) + p.tensorSeconds(c)
	if rate := pass / (forward + back); forward+back > 0 {
		forward, back = forward*rate, back*rate
	}
	return forward, back, min(late, back)
}

func (p *program) headProduct(c *Card) float64 {
	return 2 * float64(p.s.logits()) * float64(p.s.tail().Model.Hidden) / (c.Peak * c.Share)
}

// headSeconds returns the seconds of the head and the loss, and of those of later tokens, forward and backward.
func (p *program) headSeconds(c *Card) (forward, back float64) {
	head, loss := p.headProduct(c), lossTraffic*float64(p.s.logits())/(c.Bandwidth*trafficShare)
	n := float64(1 + p.s.Nexts)
	return n * (head + loss/3), n * (2*head + loss*2/3)
}

// moved returns the bytes of all blocks that go to the host in a forward, and come back in the backward.
func (p *program) moved() (n engine.Bytes) {
	for i := range p.units {
		n += p.movedOf(i)
	}
	return n
}

// movedOf returns the bytes of moved that are those of block i.
func (p *program) movedOf(i int) (n engine.Bytes) {
	b := p.units[i].front()
	if p.offloads(b) && int64(i)%p.s.Group == 0 {
		n += b.values[0].bytes
	}
	for root, keepers := range b.keepers {
		if p.s.Stash && keepers > 0 && root != 0 {
			n += b.values[root].bytes
		}
	}
	return n
}

func (p *program) stepSeconds(c *Card) float64 {
	var trained, matrices float64
	for w := range p.weights() {
		if w.trained {
			trained += float64(p.s.at(w, 1, 1))
		}
		if p.s.orthogonal(w) {
			side := float64(min(w.rows, w.cols)) // Muon's iterations are products of matrices
			flops := side * (4*float64(w.n) + 2*float64(w.matrices())*side*side)
			matrices += muonSteps * flops / float64(p.s.split(w))
		}
	}
	if p.s.HostStep {
		trained -= float64(p.s.HostPart) / 100 * trained
		return trained*stepTraffic/c.Bandwidth + p.hostStep(c).Stall.Seconds()
	}
	return trained*stepTraffic/c.Bandwidth + matrices/(c.Peak*c.Share)
}

// hostStep returns what the host's part of the optimizer takes: gradients go there, the processor steps, and weights
// come back unless they stay, one after the other.
func (p *program) hostStep(c *Card) (a engine.Aside) {
	var there float64
	for w := range p.weights() {
		if w.trained {
			there += float64(p.s.at(w, 1, 1)) * float64(p.s.HostPart) / 100
		}
	}
	a.ToHost, a.CPU = seconds(there*float64(p.s.Grad)/c.Link), seconds(there*stepTraffic/hostMemory)
	if !p.s.HostWeights {
		a.ToDev = seconds(there * float64(p.s.Compute) / c.Back)
	}
	if p.s.NVMe > 0 { // weight, moments and gradient, both ways
		each := 2 * float64(max(p.s.Master, p.s.Weight)+p.s.Moments+p.s.Grad)
		a.CPU += seconds(there * each / (float64(p.s.NVMe) * 1e9))
	}
	a.Stall = a.ToHost + a.CPU + a.ToDev
	return a
}

// unitSeconds returns the seconds of a block, forward and backward, where the backward includes again, what is
// computed again. late is the part of the backward that makes the gradients of weights.
func (p *program) unitSeconds(u *unit, c *Card) (forward, back, again, late float64) {
	var w, more work
	w.add(u.block.tape, nil)
	more.again(u.front())
	again = more.seconds(c)
	return w.seconds(c), w.back(c) + again, again, c.products(w.products) - c.products(w.frozen)
}

// gatherSeconds returns the seconds of FSDP's collectives of a micro batch, which run beside the arithmetic:
// weights are gathered for the forward and, if they were freed, for the backward, and gradients are reduced once.
// Weights in host memory are copied to the card before.
func (p *program) gatherSeconds(c *Card) float64 {
	if !p.s.gathers() {
		return 0
	}
	times := 2.0
	if p.s.NoReshard {
		times = 1
	}
	if p.s.refers() {
		times++
	}
	var params, own float64
	for w := range p.weights() {
		params += float64(w.n)
		own += float64(p.s.weightBytes(w))
	}
	var copies float64
	if p.s.HostWeights {
		if copies = times * own / c.Back; p.s.NVMe > 0 {
			copies += times * own / (float64(p.s.NVMe) * 1e9)
		}
	}
	if p.s.Shard < 2 {
		return copies
	}
	return params*(times*float64(p.s.Compute)+float64(p.s.Reduce))/p.collectiveRate(c) + copies
}

// collectiveRate returns the bytes per second at which states are gathered or reduced.
func (p *program) collectiveRate(c *Card) float64 {
	rate := c.NVLink
	if p.s.Shard*p.s.Tensor > inNode { // the cards of a node share its network
		rate = min(rate, c.Network*inNode/float64(min(p.s.Tensor, inNode)))
	}
	return rate * linkShare
}

// tensorSeconds returns the seconds of the collectives of tensor parallelism, for which the products wait: four
// per block, or six if a block runs twice.
func (p *program) tensorSeconds(c *Card) float64 {
	if p.s.Tensor == 1 {
		return 0
	}
	n := 4.0
	if p.s.Checkpoint != CheckpointNone {
		n = 6
	}
	inner, _ := p.s.tokens()
	return n * float64(len(p.units)) * float64(inner*p.s.Model.Hidden*p.s.Compute) / (c.NVLink * linkShare)
}

// runs describes published runs of one class. Nine of ten of their steps took between low and high times the
// estimate, if that many are known.
type runs struct {
	kinds     []card.Kind // kinds of their cards
	is        func(*Setup) bool
	low, high float64
	n         int // number of runs
}

// fullSteps is the number of tokens from which on a step keeps a card busy.
const fullSteps = 8192

// timeClasses are the classes of runs. A step belongs to the first class that holds for it. [torchtitan, prime-rl,
// torchtune, LLM-foundry, fms-acceleration, TRL, axolotl, torchao: the tables and logs that Score reads; on one card by
// the Trainer, experts and narrow models: docs/language-models.md]. There are too few runs on cards before Ampere, on
// cards of other vendors than NVIDIA, and with pipelines, block swap and diffusion transformers.
var timeClasses = []runs{
	{[]card.Kind{card.Hopper}, func(s *Setup) bool { return s.Model.MoE != nil && s.alone() }, 1.6, 5.5, 8},
	{[]card.Kind{card.Ampere, card.Hopper, card.Blackwell}, func(s *Setup) bool { return s.Model.MoE != nil }, 1,
		3.2, 17},
	{[]card.Kind{card.Hopper}, func(s *Setup) bool { return s.Model.Hidden <= narrowest && s.alone() }, 1.3, 3, 14},
	{[]card.Kind{card.Hopper}, func(s *Setup) bool { return s.Float8 }, 1.05, 2.1, 7},
	{[]card.Kind{card.Blackwell}, func(s *Setup) bool { return s.Float8 }, 1.5, 2.7, 4},
	{[]card.Kind{card.Blackwell}, nil, 1.5, 2.3, 6},
	{[]card.Kind{card.Ampere, card.Hopper}, func(s *Setup) bool { return s.Tensor > 1 || s.Context > 1 }, 0.6, 1.6, 12},
	{[]card.Kind{card.Hopper}, func(s *Setup) bool { inner, _ := s.tokens(); return inner < fullSteps }, 1, 1.9, 5},
	{[]card.Kind{card.Hopper}, nil, 0.7, 1.7, 40},
	{[]card.Kind{card.Ampere}, nil, 0.85, 1.4, 25},
}

// narrowest is the width up to which the kernels of Transformers' blocks are too small to keep a card busy.
const narrowest = 1024

// alone reports whether Transformers' own code runs on one card.
func (s *Setup) alone() bool {
	return s.written() && !s.Compiled && s.Shard <= 1 && s.Tensor <= 1 && s.Expert <= 1
}

// TimeRange returns the range in which nine of ten published steps of the same class of card, precision and size
// lie, for a step that takes t by the estimate. The low end is rounded down, the high end up. It returns 0 and 0 if
// too few are known.
func (c *Card) TimeRange(s Setup, t time.Duration) (low, high time.Duration) {
	if c.Table == nil || c.Lent != "" || s.Stages > 1 || s.HostStep || s.Swap > 0 || s.RamTorch || s.refers() ||
		s.Model.Latents != nil {
		return 0, 0
	}
	s.Layout.defaults()
	for _, r := range timeClasses {
		if slices.Contains(r.kinds, c.Table.Kind) && (r.is == nil || r.is(&s)) {
			return time.Duration(engine.Int64(float64(t) * r.low)), seconds(t.Seconds() * r.high)
		}
	}
	return 0, 0
}

// TimeRange returns the range of the step's time, see Card.TimeRange.
func (p *Answer) TimeRange() (low, high time.Duration) {
	return p.Ask.Card.TimeRange(p.Ask.Setup, p.Estimate.Time)
}
