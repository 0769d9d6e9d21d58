package state

import (
	"memtide/web/choice"
	"memtide/web/question"
	"memtide/web/tradeoff"
)

// Adopt makes a point of the curve the choice.
type Adopt struct{ Point tradeoff.Point }

func (m Adopt) apply(s *State) []Effect {
	s.unpreview()
	return s.choose(m.Point.Choice(s.Choice), Push, false)
}

// UseAnswer chooses what an answer was solved for: the network, the budget, the link,
// the strategy.
type UseAnswer struct {
	Name  string // of the question
	Index int    // into Answers.List
}

func (m UseAnswer) apply(s *State) []Effect {
	c, ok := s.answered(m)
	switch {
	case !ok:
		return nil
	case c.Source.Same(s.Choice.Source):
		return s.choose(c, Push, false)
	}
	return s.open(c, nil, Push)
}

// answered returns the choice that an answer stands for; ok is false if it is not there.
func (s *State) answered(m UseAnswer) (c Choice, ok bool) {
	a := s.Answers(question.Lookup(m.Name))
	if a == nil || m.Index < 0 || m.Index >= len(a.List) || a.List[m.Index].StepTime <= 0 {
		return c, false
	}
	x, c := a.List[m.Index], s.Choice
	if x.Strategy != c.Strategy {
		c.Strategy, c.Args = x.Strategy, nil
	}
	if x.Preset != "" || x.Budget != s.Budget() { // a share would be of another amount of another network
		c.Budget = choice.Budget{Bytes: x.Budget}
	}
	if d := x.Device; d != nil {
		if d.ToHost != c.ToHost || d.ToDev != c.ToDev {
			c.Device = ""
		}
		c.ToHost, c.ToDev, c.Duplex = d.ToHost, d.ToDev, d.Duplex
	}
	if x.Preset != "" {
		c.Source = Source{Preset: x.Preset}
	}
	return c, true
}
