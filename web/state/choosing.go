package state

import (
	"time"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/web/choice"
	"memtide/web/tradeoff"
)

// Adopt makes a point of the curve the choice.
type Adopt struct{ Point tradeoff.Point }

func (m Adopt) apply(s *State) []Effect {
	s.unpreview()
	return s.choose(m.Point.Choice(s.Choice), Push, false)
}

// SetBudget sets the budget: Share, or Bytes if Share is 0.
type SetBudget struct {
	Bytes   engine.Bytes
	Share   choice.Share // of the peak of keeping everything
	Settled bool         // false while a slider is being dragged
}

func (m SetBudget) apply(s *State) []Effect {
	c := s.Choice
	c.Budget = choice.Budget{Bytes: max(m.Bytes, 1)} // a budget of 0 bytes means that none was chosen
	if m.Share > 0 {
		c.Budget = choice.Budget{Share: m.Share}
	}
	if s.Network != nil && m.Settled {
		c = c.Fitted(s.Network.Totals.KeepAllPeak, s.Network.Stages())
	}
	if !m.Settled && !s.dragging {
		s.before = s.Sentence()
	}
	s.dragging = !m.Settled
	return s.choose(c, Replace, !m.Settled)
}

// StepBudget moves the budget by Steps steps of the slider.
type StepBudget struct{ Steps int }

func (m StepBudget) apply(s *State) []Effect {
	c, r := s.Choice, s.BudgetRange()
	c.Budget = choice.Budget{Bytes: r.At(r.Position(s.Budget()) + m.Steps)}
	return s.choose(c, Replace, true)
}

// SetBandwidth sets both directions of the link.
type SetBandwidth struct {
	Rate    engine.Rate
	Settled bool // as in SetBudget
}

func (m SetBandwidth) apply(s *State) []Effect {
	return s.chooseLink(!m.Settled, func(c *Choice) { c.ToHost, c.ToDev = m.Rate, m.Rate })
}

// SetDuplex sets whether both directions work at the same time.
type SetDuplex struct{ Duplex engine.Duplex }

func (m SetDuplex) apply(s *State) []Effect {
	return s.chooseLink(false, func(c *Choice) { c.Duplex = m.Duplex })
}

// chooseLink is decide for the link to the host. A profile that is being read does not replace the link then.
func (s *State) chooseLink(soon bool, set func(*Choice)) []Effect {
	if s.Opening != nil {
		s.Opening.linked = true
	}
	return s.decide(soon, func(c *Choice) {
		if set(c); c.Policy != nil && moves(c.Policy) { // over the link of the card that its times are for
			*c = c.By(engine.KeepAll, nil)
		}
	})
}

// moves reports whether a policy moves something over the link.
func moves(args engine.Args) bool {
	return ask.Value(args, "stash") == "yes" || ask.Value(args, "offload") == "yes" ||
		ask.Value(args, "swap-blocks") != "0"
}

// SetTransfers sets whole or streamed transfers.
type SetTransfers struct{ Transfers engine.Transfers }

func (m SetTransfers) apply(s *State) []Effect {
	return s.decide(false, func(c *Choice) { c.Transfers = m.Transfers })
}

// SetGraph chooses the graph or the chain of a network that has both.
type SetGraph struct{ Graph bool }

func (m SetGraph) apply(s *State) []Effect {
	c := s.Choice
	if base, o := c.Source.Variant(); base != nil && base.Operators() {
		o.Graph = m.Graph
		return s.openVariant(base, o)
	}
	if c.Graph = m.Graph; s.Network == nil {
		return nil
	}
	if st := engine.Lookup(c.Strategy); st != nil && !s.Network.As(c).Applies(st) {
		c.Strategy, c.Args = choice.GraphStrategy, nil
	}
	as := s.Network.As(c)
	c = c.Fitted(as.Totals.KeepAllPeak, as.Stages())
	return s.choose(c, Push, false)
}

// SetStrategy chooses a strategy, with its default arguments.
type SetStrategy struct{ Name string }

func (m SetStrategy) apply(s *State) (out []Effect) {
	if c := s.Choice; m.Name != c.Strategy || c.Policy != nil {
		if c = c.By(m.Name, nil); s.Network != nil {
			c = c.Fitted(s.Network.Totals.KeepAllPeak, s.Network.Stages())
		}
		out = s.choose(c, Push, false)
	}
	s.carryMethod()
	return out
}

// SetArg sets an argument of the strategy.
type SetArg struct{ Name, Value string }

func (m SetArg) apply(s *State) []Effect {
	c := s.Choice
	if st := engine.Lookup(c.Strategy); st != nil {
		c.Args = choice.WithArg(st.Params, c.Args, m.Name, m.Value)
	}
	out := s.choose(c, Replace, false)
	s.carryMethod()
	return out
}

// decide changes the choice with set, also that of the profile that is being read. It is not used for budgets:
// another network starts with its own.
func (s *State) decide(soon bool, set func(*Choice)) []Effect {
	if s.Opening != nil {
		set(&s.Opening.Choice)
	}
	c := s.Choice
	set(&c)
	return s.choose(c, Replace, soon)
}

// carryMethod copies the strategy to the choice of the profile that is being read.
func (s *State) carryMethod() {
	if o := s.Opening; o != nil {
		o.Choice.Strategy, o.Choice.Args, o.Choice.Policy = s.Choice.Strategy, s.Choice.Args, s.Choice.Policy
	}
}

// choose makes c the page's choice and shows its schedule. The time limit is that of h, see limit. soon says that
// other choices may follow soon, because a slider is being dragged.
func (s *State) choose(c Choice, h History, soon bool) []Effect {
	return s.chooseWithin(c, h, soon, s.limit(h))
}

// chooseWithin is choose with a given time limit; 0 means no limit.
func (s *State) chooseWithin(c Choice, h History, soon bool, limit time.Duration) []Effect {
	s.touch()
	s.dragging = s.dragging && soon
	if s.Shown != nil && !c.Equal(s.Choice) {
		s.unpreview()
		s.View.Anyway = false
	}
	s.setChoice(c)
	s.Draft = Draft{}
	var out []Effect
	if h != Leave {
		out = append(out, WriteURL{h})
	}
	if s.Network == nil {
		return out
	}
	return append(out, s.solve(&s.Side, soon, limit)...)
}

// Hover previews a point of the curve as soon as its schedule is known.
type Hover struct{ Point tradeoff.Point }

func (m Hover) apply(s *State) []Effect {
	if s.Network == nil {
		return nil
	}
	c := m.Point.Choice(s.Choice)
	key := s.Network.PictureKey(c)
	if key == s.hover {
		return nil
	}
	s.hover = key
	if pic, ok := s.pictures.get(key); ok {
		s.Preview = pic
		return s.touch()
	}
	return []Effect{Solve{ID: s.newID(), Choice: c, Request: s.Network.Request(c), Slot: ForPreview, Soon: true}}
}

// Unhover ends the preview.
type Unhover struct{}

func (Unhover) apply(s *State) []Effect { return s.unpreview() }

func (s *State) unpreview() []Effect {
	s.hover = ""
	if s.Preview != nil {
		s.Preview = nil
		s.touch()
	}
	return nil
}
