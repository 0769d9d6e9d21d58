package state

import (
	"slices"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/tradeoff"
)

// chosenLines is what the curve draws beside the chosen strategy.
func (s *State) chosenLines() []string {
	if s.View.Lines != nil {
		return s.View.Lines
	}
	return tradeoff.DefaultLines(s.Network != nil && s.Network.Chain == nil)
}

// Drawn says whether the curve draws a strategy.
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

// Lines are the lines of the curve that are drawn.
func (s *State) Lines() []tradeoff.Line {
	if s.Curve == nil {
		return nil
	}
	return slices.DeleteFunc(s.Curve.Lines(), func(l tradeoff.Line) bool { return !s.Drawn(l.Method.Strategy) })
}
