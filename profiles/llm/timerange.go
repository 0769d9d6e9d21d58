package llm

import (
	"time"

	"memtide/profiles/card"
)

// runs are published runs of one class: between which multiples of what the time model says
// nine of ten of their steps took, where that many are known.
type runs struct {
	kinds     []card.Kind // of their cards
	is        func(*Setup) bool
	low, high float64
	n         int // how many runs there are
}

// fullSteps is from how many tokens on a step keeps a card busy.
const fullSteps = 8192

// timeClasses are the classes, the first one that holds counts [torchtitan, prime-rl, torchtune,
// LLM-foundry, fms-acceleration, TRL, axolotl, torchao: the tables and logs that score reads; on one card by the
// Trainer, experts and narrow models: docs/language-models.md].
// Cards before Ampere, others than NVIDIA's, pipelines, block swap and diffusion transformers have too few runs to
// say anything.
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
func (s *Setup) alone() bool { return s.written() && s.Shard <= 1 && s.Tensor <= 1 && s.Expert <= 1 }

// TimeRange returns between which times nine of ten published steps of the same class of
// card, precision and size lie, for a step that the model says takes t. It is 0 and 0 where
// too few are known.
func (c *Card) TimeRange(s Setup, t time.Duration) (low, high time.Duration) {
	if c.Table == nil || c.Lent != "" || s.Stages > 1 || s.HostStep || s.Swap > 0 || s.Model.Latents != nil {
		return 0, 0
	}
	s.Layout.defaults()
	for _, r := range timeClasses {
		for _, k := range r.kinds {
			if k == c.Table.Kind && (r.is == nil || r.is(&s)) {
				return seconds(t.Seconds() * r.low), seconds(t.Seconds() * r.high)
			}
		}
	}
	return 0, 0
}

// TimeRange returns the range of the step's time, see Card.TimeRange.
func (p *Plan) TimeRange() (low, high time.Duration) {
	return p.Ask.Card.TimeRange(p.Ask.Setup, p.Answer.Time)
}
