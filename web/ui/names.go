package ui

import (
	"memtide/profiles/llm/ask"
	"memtide/web/choice"
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
		name += ": " + choice.PlanName(a.Strategy)
		if a.Strategy != b.Strategy {
			name += " against " + choice.PlanName(b.Strategy)
		} else {
			name += ", A against B"
		}
	default:
		name += ": " + choice.PlanName(s.Choice.Strategy) + " in " + format.Bytes(s.Choice.Budget.Of(n.Totals.KeepAllPeak))
	}
	return name + " – memtide"
}

// letter is the name of a side.
func letter(a bool) string {
	if a {
		return "A"
	}
	return "B"
}

// NameOf is the title of a link, or the name of what is open.
func NameOf(s *state.State) string {
	switch {
	case s.View.Frame.Title != "":
		return s.View.Frame.Title
	case s.Step != nil:
		return ask.Title(s.Choice.Step) + ", " + wordsWhole
	case s.Memory != nil:
		return s.Memory.File
	case s.Network != nil && s.Network.Profile.Name != "":
		return s.Network.Profile.Name
	}
	return "memtide"
}
