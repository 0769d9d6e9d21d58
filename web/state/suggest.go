package state

import (
	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/web/choice"
)

// Suggestion is how the preset of a source is best seen; nil if it does not say,
// or if the source is a file.
func (s Source) Suggestion() *preset.Suggestion {
	if p, _, err := preset.Parse(s.Preset); err == nil {
		return p.Suggest
	}
	return nil
}

// Suggested is c with what its preset suggests.
func (c Choice) Suggested() Choice {
	s := c.Source.Suggestion()
	if s == nil {
		return c
	}
	c.Strategy, c.Args, c.Budget, c.Transfers = s.Strategy, nil, choice.Budget{Bytes: s.Budget}, engine.Whole
	if s.Link > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", s.Link, s.Link, engine.HalfDuplex
	}
	return c
}

// moved is c for another source: with what that suggests, and without what only
// the old one suggested.
func (c Choice) moved(to Source) Choice {
	if s := c.Source.Suggestion(); s != nil {
		if c.Strategy == s.Strategy {
			c.Strategy, c.Args = DefaultStrategy, nil
		}
		if s.Link > 0 && c.Device == "" && c.ToHost == s.Link && c.ToDev == s.Link {
			d := preset.DefaultDevice()
			c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex
		}
	}
	c.Source, c.Graph, c.Budget = to, false, DefaultBudget
	return c.Suggested()
}

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

// Variant is the preset of a source as it is listed, with everything that the
// source chooses about it; nil if the source is a file.
func (s Source) Variant() (*preset.Preset, preset.Options) {
	p, batch, err := preset.Parse(s.Preset)
	if err != nil {
		return nil, preset.Options{}
	}
	o := p.Options()
	o.Batch = batch
	return p.Base(), o
}
