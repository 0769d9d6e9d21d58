package state

import (
	"slices"

	"memtide/engine"
	"memtide/web/tradeoff"
)

// chosenLines is what the curve draws beside the chosen strategy.
func (s *State) chosenLines() []string {
	if s.View.Lines != nil {
		return s.View.Lines
	}
	return tradeoff.DefaultLines(s.Network != nil && s.Network.Chain == nil)
}

// Drawn says whether the curve draws a strategy, or tradeoff.BoundLine.
func (s *State) Drawn(name string) bool {
	lines := s.chosenLines()
	return name == s.Choice.Strategy || slices.Contains(lines, name) || slices.Contains(lines, tradeoff.AllLines)
}

// CurveStrategies are the strategies that the curve can draw: those that apply,
// have a link if they need one, and do more than keeping everything.
func (o *Side) CurveStrategies() []*engine.Strategy {
	linked := o.Choice.ToHost > 0 && o.Choice.ToDev > 0
	return slices.DeleteFunc(engine.Strategies(), func(st *engine.Strategy) bool {
		return st.Class == 0 || st.Class&engine.MayOffload != 0 && !linked || o.Network != nil && !o.Network.Applies(st)
	})
}

// SetAxis chooses the vertical axis of the curve.
type SetAxis struct{ Axis tradeoff.Axis }

func (m SetAxis) apply(s *State) []Effect {
	s.View.Axis = m.Axis
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// ToggleLineList opens and closes the list of all lines.
type ToggleLineList struct{}

func (ToggleLineList) apply(s *State) []Effect {
	s.View.LineList = !s.View.LineList
	s.touch()
	return []Effect{WriteURL{Replace}}
}

// SetLines chooses what the curve draws, nil for the default.
type SetLines struct{ Names []string }

func (m SetLines) apply(s *State) []Effect { return s.setLines(m.Names) }

// setLines chooses what the curve draws; nil is the default.
func (s *State) setLines(lines []string) []Effect {
	if lines != nil {
		lines = append([]string{}, lines...) // none is not the default
		slices.Sort(lines)
		lines = slices.Compact(lines)
	}
	s.View.Lines = nil
	switch {
	case lines == nil || slices.Equal(lines, s.chosenLines()):
	case slices.Contains(lines, tradeoff.AllLines):
		s.View.Lines = []string{tradeoff.AllLines}
	default:
		s.View.Lines = lines
	}
	s.DOM++
	out := []Effect{WriteURL{Replace}}
	if s.Network == nil {
		return out
	}
	return append(out, s.followCurve()...)
}

// ToggleLines draws some lines, or no longer if all of them are drawn.
type ToggleLines struct{ Names []string }

func (m ToggleLines) apply(s *State) []Effect {
	now := slices.Clone(s.chosenLines())
	if slices.Contains(now, tradeoff.AllLines) {
		now = []string{tradeoff.BoundLine}
		for _, st := range s.CurveStrategies() {
			now = append(now, st.Name)
		}
	}
	drawn := func(name string) bool { return slices.Contains(now, name) || name == s.Choice.Strategy }
	if slices.ContainsFunc(m.Names, func(name string) bool { return !drawn(name) }) {
		return s.setLines(append(now, m.Names...))
	}
	return s.setLines(slices.DeleteFunc(now, func(name string) bool { return slices.Contains(m.Names, name) }))
}

// Lines are the lines of the curve that are drawn, of strategies and of bounds.
func (s *State) Lines() (strategies, bounds []tradeoff.Line) {
	if s.Curve == nil {
		return nil, nil
	}
	strategies = slices.DeleteFunc(s.Curve.Lines(), func(l tradeoff.Line) bool { return !s.Drawn(l.Method.Strategy) })
	if s.Drawn(tradeoff.BoundLine) {
		bounds = s.Curve.Bounds()
	}
	return strategies, bounds
}
