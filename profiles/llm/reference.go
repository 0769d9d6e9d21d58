package llm

import "memtide/engine"

// The objectives that are not the next token alone. For them a frozen copy of the model, the reference, runs the
// forward of each micro batch, too. Beside adapters it is the model without them. GRPO's reference runs before the
// micro batch, DPO's between its forward and its loss, beside all that is kept [trl: trainer/dpo_trainer.py,
// grpo_trainer.py].
const (
	ObjectiveDPO  = "dpo"
	ObjectiveGRPO = "grpo"
)

func (s *Setup) refers() bool { return s.Objective == ObjectiveDPO || s.Objective == ObjectiveGRPO }

// checkReference ends with an error for models and layouts whose reference is not known.
func (s *Setup) checkReference() {
	if s.refers() && (s.Stages > 1 || s.encoder != nil || s.Model.Latents != nil || s.HostWeights ||
		s.Model.has(func(k *Block) bool { return k.Unet != nil || k.Cross })) {
		refuse("the reference of %s is known of language models without an encoder whose weights are on cards with all layers: want one of these, -pp 1 and no -host-weights", s.Objective)
	}
}

// besideBytes returns the frozen numbers on a rank beside the model's weights: of what was said to be there, tables of
// the model, and the rank's share of the reference's weights.
func (p *program) besideBytes() engine.Bytes {
	n := engine.Bytes(p.s.Beside) * engine.MiB
	if e := p.s.Model.Ends; e != nil && p.first {
		n += size(e.Fixed, p.s.Weight)
	}
	if !p.s.refers() || p.s.LoRA != nil {
		return n
	}
	for w := range p.weights() {
		n += p.s.weightBytes(w)
	}
	return n
}

// reference plays the reference's forward, which keeps nothing, and the logits of its last product, which are there
// until the program has compared them.
func (p *program) reference() {
	x := p.take(p.units[0].front().values[blockInput].bytes, Working)
	for _, u := range p.units {
		weights := p.referenceWeights(u)
		y := u.block.passBy(p.ledger, x)
		p.give(x)
		p.give(weights)
		x = y
	}
	n, weights := p.s.logits(), p.referenceWeights(p.head)
	narrow := p.logit(n, p.s.Compute)
	p.give(weights)
	wide := p.logit(n, 4)
	p.give(narrow)
	if p.s.Objective == ObjectiveDPO { // a copy of the chosen half, for a mean
		p.give(p.logit(ceil(n, 2), 4))
	}
	p.give(wide)
	p.give(x)
}

// referenceWeights allocates the weights of a unit as the reference's products read them: gathered, or the copy of
// the largest one that autocast makes.
func (p *program) referenceWeights(u *unit) handle {
	var all, own, most engine.Bytes
	for _, w := range u.weights {
		all += p.s.gathered(w, w.n)
		own += p.s.gathered(w, ceil(w.n, p.s.split(w)))
		if p.s.Weight > p.s.Compute && p.casts(w) {
			most = max(most, size(w.n, p.s.Compute))
		}
	}
	if !p.s.gathers() {
		return p.take(most, Gathered)
	}
	incoming := p.take(own+all, Buffers)
	whole := p.take(all, Gathered)
	p.give(incoming)
	return whole
}

// referenceSeconds returns the seconds of the reference's forward.
func (p *program) referenceSeconds(c *Card) float64 {
	if !p.s.refers() {
		return 0
	}
	sum, _ := p.headSeconds(c)
	for _, u := range p.units {
		forward, _, _, _ := p.unitSeconds(u, c)
		sum += forward
	}
	return sum
}
