package state

import "memtide/web/choice"

// keepBudget returns c, a choice that another preset was picked for. If only the batch
// size or an option of the network has changed, it keeps the budget that was set, and
// whether the network is a graph: "does batch 64 fit into 16 GiB?" is asked about one
// budget. In a comparison the budget is kept in bytes, because both sides have the
// same memory until one of them is given more.
func (s *State) keepBudget(c Choice) Choice {
	old, _ := s.Choice.Source.Variant()
	now, _ := c.Source.Variant()
	if old == nil || old != now {
		return c
	}
	c.Graph = s.Choice.Graph
	switch b := s.Choice.Budget; {
	case s.Compare != nil && s.Network != nil:
		c.Budget = choice.Budget{Bytes: max(b.Of(s.Network.Totals.KeepAllPeak), 1)}
	case b != s.instead:
		c.Budget = b
	}
	return c
}
