package state

import (
	"slices"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/known"
	"memtide/web/tradeoff"
)

// byBudget is the part of the state about step time against budget.
type byBudget struct {
	Curve   *tradeoff.Curve // of the present setting; nil before the first
	Preview *known.Picture  // shown instead of Shown while the pointer is on the curve, while an answer is tried, or by the story

	hover  string // key of the point under the pointer
	curves recent[*tradeoff.Curve]
}

// methods lists what a curve compares: every strategy that is drawn and applies,
// with its defaults, the chosen one first and with its arguments, then those that
// share work between budgets.
func (s *State) methods() []proto.Method {
	all := s.CurveStrategies()
	slices.SortStableFunc(all, func(a, b *engine.Strategy) int { return s.rank(a) - s.rank(b) })
	var out []proto.Method
	for _, st := range all {
		if !s.Drawn(st.Name) {
			continue
		}
		m := proto.Method{Strategy: st.Name}
		if st.Name == s.Choice.Strategy {
			m.Args = s.Choice.Args
		}
		out = append(out, m)
	}
	return out
}

// rank is where a strategy stands in the order of methods.
func (s *State) rank(st *engine.Strategy) int {
	switch {
	case st.Name == s.Choice.Strategy:
		return 0
	case st.Sweeper != nil:
		return 1
	}
	return 2
}

// followCurve makes Curve the one of the present choice. A new one is started
// only after a schedule is on screen, so that it never delays it, and only when
// the setting rests: a bandwidth that is dragged has no curve on the way.
func (s *State) followCurve() []Effect {
	key := tradeoff.CurveKey(s.Choice)
	if c, ok := s.curves.get(key); ok {
		grown := s.grow(c)
		if c == s.Curve && !grown {
			return nil
		}
		out := s.cancelSweep()
		s.Curve = c
		s.touch()
		switch {
		case grown:
			out = append(out, s.sweep(c, true)...)
		case c.Stopped || c.Failed != "":
		case !c.Complete():
			out = append(out, s.sweep(c, true)...)
		default:
			out = append(out, s.improve(c)...)
		}
		return out
	}
	out := s.cancelSweep()
	if s.Solving != nil {
		return out
	}
	c := tradeoff.NewCurve(s.BudgetRange())
	if len(c.Budgets) == 0 || !s.grow(c) {
		return out
	}
	if s.Shown != nil && s.Shown.Network == s.Network {
		c.KeepAll = s.Shown.Solved.KeepAll
	}
	s.Curve = c
	s.curves.put(key, c)
	if c.Complete() { // of what is known already
		s.touch()
		return append(out, s.improve(c)...)
	}
	return append(out, s.sweep(c, true)...)
}

// grow adds the strategies that are drawn and are not in a curve yet, with the
// points that are known from the curve of the default arguments; true if it has
// added any.
func (s *State) grow(c *tradeoff.Curve) bool {
	plain := s.Choice
	plain.Args = nil
	return c.Grow(s.methods(), s.curves.byKey[tradeoff.CurveKey(plain)])
}

// sweep asks for the points of a curve that are not known.
func (s *State) sweep(c *tradeoff.Curve, soon bool) []Effect {
	c.ID = s.newID()
	return []Effect{Sweep{ID: c.ID, Request: c.Missing(s.Network.Setting(s.Choice), s.Choice.Strategy), Soon: soon}}
}

// improve asks again for points that were not finished, with more time.
func (s *State) improve(c *tradeoff.Curve) []Effect {
	req, ok := c.Unfinished(s.Network.Setting(s.Choice))
	if !ok {
		return nil
	}
	c.ID = s.newID()
	return []Effect{Sweep{ID: c.ID, Request: req, Soon: true}}
}

func (t *byBudget) cancelSweep() []Effect {
	c := t.Curve
	if c == nil || c.ID == 0 {
		return nil
	}
	id := c.ID
	c.ID, c.Improving = 0, 0
	return []Effect{Cancel{id}}
}

// StartSweep computes the curve.
type StartSweep struct{}

func (StartSweep) apply(s *State) []Effect {
	if c := s.Curve; c != nil && c.ID == 0 && !c.Complete() {
		s.DOM++
		return s.sweep(c, false)
	}
	return nil
}

// StopSweep gives it up.
type StopSweep struct{}

func (StopSweep) apply(s *State) []Effect {
	if c := s.Curve; c != nil && c.ID != 0 {
		c.Stopped = true
		s.DOM++
		return s.cancelSweep()
	}
	return nil
}

// SweptPoint is one point of a curve, or of the values of a parameter.
type SweptPoint struct {
	ID    int
	Point proto.Point
}

func (m SweptPoint) apply(s *State) []Effect {
	if s.Tuning.Sweeps(m.ID) {
		s.Tuning.Take(m.Point)
		s.DOM++
	} else if s.Curve.Sweeps(m.ID) {
		s.Curve.Take(m.Point)
	}
	return nil
}

// Swept ends a curve, or the values of a parameter.
type Swept struct {
	ID      int
	KeepAll proto.Reference
}

func (m Swept) apply(s *State) []Effect {
	switch {
	case s.Tuning.Sweeps(m.ID):
		return s.tuned()
	case !s.Curve.Sweeps(m.ID):
		return nil
	}
	s.Curve.End(m.KeepAll)
	s.DOM++
	return s.improve(s.Curve)
}

// SweepFailed ends it early.
type SweepFailed struct {
	ID   int
	Text string
}

func (m SweepFailed) apply(s *State) []Effect {
	switch c := s.Curve; {
	case s.Tuning.Sweeps(m.ID):
		s.Tuning.ID, s.Tuning.Failed = 0, headline(m.Text)
	case c.Sweeps(m.ID):
		c.ID, c.Failed, c.Improving = 0, headline(m.Text), 0
	default:
		return nil
	}
	s.DOM++
	return nil
}

// Hover previews a point of the curve.
type Hover struct{ Point tradeoff.Point }

func (m Hover) apply(s *State) []Effect {
	if s.Network == nil {
		return nil
	}
	return s.preview(m.Point.Choice(s.Choice), true)
}

// preview shows the picture of a choice instead, as soon as there is one.
func (s *State) preview(c Choice, soon bool) []Effect {
	key := s.Network.PictureKey(c)
	if key == s.hover {
		return nil
	}
	s.hover = key
	if pic, ok := s.pictures.get(key); ok {
		s.Preview = pic
		s.touch()
		return nil
	}
	return []Effect{Solve{ID: s.newID(), Choice: c, Request: s.Network.Request(c), Slot: ForPreview, Soon: soon}}
}

// Unhover ends that.
type Unhover struct{}

func (Unhover) apply(s *State) []Effect { return s.unpreview() }

func (s *State) unpreview() []Effect {
	s.hover = ""
	if told := s.told(); s.Preview != told {
		s.Preview = told
		s.touch()
	}
	return nil
}

// Adopt makes a point of the curve the choice.
type Adopt struct{ Point tradeoff.Point }

func (m Adopt) apply(s *State) []Effect {
	s.unpreview()
	return s.choose(m.Point.Choice(s.Choice), Push, false)
}
