package state

import (
	"slices"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/tradeoff"
)

// followCurve makes Curve the curve of the present choice. It starts a new curve only when no schedule is
// being solved, so that the curve never delays a schedule and no curve starts while a slider is dragged.
func (s *State) followCurve() []Effect {
	if f := &s.View.Frame; s.Network == nil || f.Embed && (f.Show == nil || !f.Shows("curve")) {
		return nil // a view computes only what it shows
	}
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
	usual := engine.Bytes(0)
	if d := DeviceOf(s.Choice); d != nil {
		usual = s.Choice.Usable(d.Memory)
	}
	c := tradeoff.NewCurve(s.BudgetRange(), usual)
	if len(c.Budgets) == 0 || !s.grow(c) {
		return out
	}
	if p := s.current(); p != nil {
		c.KeepAll = p.Solved.KeepAll
	}
	s.Curve = c
	s.curves.put(key, c)
	if c.Complete() { // all its points are known from another curve
		s.touch()
		return append(out, s.improve(c)...)
	}
	return append(out, s.sweep(c, true)...)
}

// grow adds the strategies that are drawn and not in c yet, with the points that are known from the curve
// with default arguments. It reports whether it has added a strategy.
func (s *State) grow(c *tradeoff.Curve) bool {
	plain := s.Choice
	plain.Args = nil
	return c.Grow(s.methods(), s.curves.byKey[tradeoff.CurveKey(plain)])
}

// planned returns the network for plans, which a policy does not change.
func (s *State) planned() proto.Setting {
	return s.Network.Setting(s.Choice.By(s.Choice.Strategy, s.Choice.Args))
}

// sweep asks for the points that c lacks.
func (s *State) sweep(c *tradeoff.Curve, soon bool) []Effect {
	c.ID = s.newID()
	return []Effect{Sweep{ID: c.ID, Request: c.Missing(s.planned(), s.Choice.Strategy), Soon: soon}}
}

// improve asks again, with more time, for points whose solver reached its limit.
func (s *State) improve(c *tradeoff.Curve) []Effect {
	req, ok := c.Unfinished(s.planned())
	if !ok {
		return nil
	}
	c.ID = s.newID()
	return []Effect{Sweep{ID: c.ID, Request: req, Soon: true}}
}

// StartSweep resumes a curve that was stopped or failed.
type StartSweep struct{}

func (StartSweep) apply(s *State) []Effect {
	if c := s.Curve; c != nil && c.ID == 0 && !c.Complete() {
		s.DOM++
		return s.sweep(c, false)
	}
	return nil
}

// StopSweep stops computing the curve.
type StopSweep struct{}

func (StopSweep) apply(s *State) []Effect {
	if c := s.Curve; c != nil && c.ID != 0 {
		c.Stopped = true
		s.DOM++
		return s.cancelSweep()
	}
	return nil
}

// SetAxis chooses the vertical axis of the curve.
type SetAxis struct{ Axis string }

func (m SetAxis) apply(s *State) []Effect {
	s.View.Axis = m.Axis
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// SetLines chooses the strategies that the curve draws; nil means the default.
type SetLines struct{ Names []string }

func (m SetLines) apply(s *State) []Effect {
	lines := slices.Clone(m.Names) // nil only if these are
	slices.Sort(lines)
	lines = slices.Compact(lines)
	s.View.Lines = nil
	switch {
	case lines == nil || slices.Equal(lines, s.chosenLines()):
	case slices.Contains(lines, tradeoff.AllLines):
		s.View.Lines = []string{tradeoff.AllLines}
	default:
		s.View.Lines = lines
	}
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// ToggleLines draws the lines of some strategies. If all of them are drawn, it removes them.
type ToggleLines struct{ Names []string }

func (m ToggleLines) apply(s *State) []Effect {
	now := slices.Clone(s.chosenLines())
	if slices.Contains(now, tradeoff.AllLines) {
		now = nil
		for _, st := range s.CurveStrategies() {
			now = append(now, st.Name)
		}
	}
	drawn := func(name string) bool { return slices.Contains(now, name) || name == s.Choice.Strategy }
	if slices.ContainsFunc(m.Names, func(name string) bool { return !drawn(name) }) {
		now = append(now, m.Names...)
	} else {
		now = slices.DeleteFunc(now, func(name string) bool { return slices.Contains(m.Names, name) })
	}
	return SetLines{now}.apply(s)
}

// chosenLines returns the strategies that the curve draws beside the chosen one.
func (s *State) chosenLines() []string {
	if s.View.Lines != nil {
		return s.View.Lines
	}
	return tradeoff.DefaultLines(s.Network != nil && s.Network.Chain == nil)
}

// Drawn reports whether the curve draws a strategy.
func (s *State) Drawn(name string) bool {
	return s.drawn(s.chosenLines(), name)
}

func (s *State) drawn(lines []string, name string) bool {
	return name == s.Choice.Strategy || slices.Contains(lines, name) || slices.Contains(lines, tradeoff.AllLines)
}

// CurveStrategies returns the strategies that the curve can draw. They apply to the network, have a link if they
// need one, and do not keep everything.
func (o *Side) CurveStrategies() []*engine.Strategy {
	linked := o.Choice.ToHost > 0 && o.Choice.ToDev > 0
	return slices.DeleteFunc(engine.Strategies(), func(st *engine.Strategy) bool {
		return st.Class == 0 || st.Class&engine.MayOffload != 0 && !linked || o.Network != nil && !o.Network.Applies(st)
	})
}

// methods returns the strategies of a curve: those that are drawn and apply, in the order of rank. The chosen
// strategy has its arguments, the others their defaults.
func (s *State) methods() []proto.Method {
	all := s.CurveStrategies()
	slices.SortStableFunc(all, func(a, b *engine.Strategy) int { return s.rank(a) - s.rank(b) })
	lines := s.chosenLines()
	var out []proto.Method
	for _, st := range all {
		if !s.drawn(lines, st.Name) {
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

// rank orders strategies in a curve: the chosen one, those that share work between budgets, the others.
func (s *State) rank(st *engine.Strategy) int {
	switch {
	case st.Name == s.Choice.Strategy:
		return 0
	case st.Sweeper != nil:
		return 1
	}
	return 2
}

// Lines returns the lines of the curve that are drawn.
func (s *State) Lines() []tradeoff.Line {
	if s.Curve == nil {
		return nil
	}
	lines := s.chosenLines()
	return slices.DeleteFunc(s.Curve.Lines(), func(l tradeoff.Line) bool { return !s.drawn(lines, l.Method.Strategy) })
}

// SweptPoint is one point of a curve.
type SweptPoint struct {
	ID    int
	Point proto.Point
}

func (m SweptPoint) apply(s *State) []Effect {
	if s.Curve.Sweeps(m.ID) {
		s.Curve.Take(m.Point)
	}
	return nil
}

// Swept ends a curve.
type Swept struct {
	ID      int
	KeepAll proto.Reference
	Failed  string // why the curve ended early; empty if it is complete
}

func (m Swept) apply(s *State) []Effect {
	c := s.Curve
	if !c.Sweeps(m.ID) {
		return nil
	}
	s.DOM++
	if m.Failed != "" {
		c.ID, c.Failed, c.Improving = 0, headline(m.Failed), 0
		return nil
	}
	c.End(m.KeepAll)
	return s.improve(c)
}
