package state

import "memtide/web/choice"

// ToggleCompare opens a comparison of the present choice, as A, with what a program does by
// itself, as B, which the controls then change; or closes it and keeps A.
type ToggleCompare struct{}

func (ToggleCompare) apply(s *State) []Effect {
	if s.Compare == nil {
		if s.Network == nil || s.Shown == nil {
			return nil
		}
		s.unpreview()
		s.View.Help = false // which has a button for it
		s.Compare = &Compare{Other: Side{Shown: s.Shown}}
		out := append(s.setOther(s.Choice, nil, Replace), WriteURL{Push})
		s.touch()
		return append(out, s.choose(s.Choice.Otherwise(s.Network.Totals.KeepAllPeak, s.Network.Chain == nil), Replace,
			false)...)
	}
	out := s.cancelOpening()
	if !s.Compare.OnA {
		out = append(out, s.turn()...)
	}
	out = append(out, s.closeOther()...)
	return append(out, WriteURL{Push})
}

// SwapSides calls A B and B A.
type SwapSides struct{}

func (SwapSides) apply(s *State) []Effect {
	if s.Compare == nil {
		return nil
	}
	s.Compare.OnA = !s.Compare.OnA
	return s.looked()
}

// EditSide turns the controls to A or to B.
type EditSide struct{ A bool }

func (m EditSide) apply(s *State) []Effect {
	if s.Compare == nil || s.Compare.OnA == m.A {
		return nil
	}
	return s.turn()
}

// FitOther gives the other side the budget that it lacks, and turns the controls
// to it.
type FitOther struct{}

func (FitOther) apply(s *State) []Effect {
	if s.Compare == nil || s.Compare.Other.Offer() <= 0 || s.Network == nil || s.Opening != nil {
		return nil
	}
	s.Compare.Other.Choice.Budget = choice.Budget{Bytes: s.Compare.Other.Offer()}
	return s.turn()
}

// dropOther ends the comparison because its other side cannot be opened, and
// says why.
func (s *State) dropOther(why string) {
	_, letter := s.Letters()
	s.Compare = nil
	s.alert(textAlert(why))
	s.Alert.Text = letter + " cannot be opened. " + s.Alert.Text
}

// setOther makes c the choice of the other side and asks for what it needs.
// File is one that has not been read; nil: c says it all.
func (s *State) setOther(c Choice, file *File, h History) []Effect {
	o := &s.Compare.Other
	out := o.cancel()
	o.Choice, o.Failed, o.OverBudget = c, "", nil
	s.touch()
	switch {
	case file == nil && s.Network != nil && c.Source.Same(s.Network.Source):
		o.Network = s.Network
	case file == nil && o.Network != nil && c.Source.Same(o.Network.Source):
	default:
		o.Network, o.Shown = nil, nil
		return append(out, s.read(o, c, file, h)...)
	}
	c.Source = o.Network.Source
	o.take(c)
	return append(out, s.solve(o, false, s.limit(h))...)
}

// turn turns the controls to the other side: the two change places.
func (s *State) turn() []Effect {
	o := &s.Compare.Other
	if o.Network == nil || s.Network == nil || s.Opening != nil {
		return nil // what is being read belongs to the present side
	}
	s.unpreview()
	out := append(o.cancel(), s.cancel()...)
	if s.Network != o.Network {
		s.Curve = nil
	}
	// Where the bytes lie is looked at on one side at a time.
	o.Choice.Alloc, o.Choice.AllocArgs = s.Choice.Alloc, s.Choice.AllocArgs
	s.Side, *o = *o, s.Side
	s.Compare.OnA = !s.Compare.OnA
	out = append(out, s.choose(s.Choice, Replace, false)...)
	return append(out, s.solve(o, false, 0)...)
}

// openNext opens the side B that waited until A had been read.
func (s *State) openNext() []Effect {
	n := s.next
	s.next = nil
	if n == nil {
		return nil
	}
	c, h := n.choice, Leave
	if n.file != nil { // a person has chosen it
		h, c = Replace, s.Choice
		c.Source, c.Graph = Source{File: n.file.Name}, false
	}
	if s.Compare == nil {
		s.Compare = &Compare{}
	}
	s.Compare.OnA = true
	return s.setOther(c, n.file, h)
}
