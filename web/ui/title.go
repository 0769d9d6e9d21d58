package ui

import (
	"memtide/web/format"
	"memtide/web/state"
)

// PageTitle is the title of the page, by which tabs and the entries of the history
// are told apart: what is open, by which strategy, in which budget.
func PageTitle(s *state.State) string {
	name := NameOf(s)
	switch n := s.Network; {
	case s.View.Frame.Title != "" || s.Memory != nil || n == nil:
	case s.Compare != nil:
		a, b := s.SideChoices()
		name += ": " + strategyTitle(a.Strategy)
		if a.Strategy != b.Strategy {
			name += " against " + strategyTitle(b.Strategy)
		} else {
			name += ", A against B"
		}
	default:
		name += ": " + strategyTitle(s.Choice.Strategy) + " in " + format.Bytes(s.Choice.Budget.Of(n.Totals.KeepAllPeak))
	}
	return name + " – memtide"
}
