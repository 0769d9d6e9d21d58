package state

import "memtide/web/choice"

// ToggleCompare opens a comparison: A is the present choice, B is Choice.Otherwise, and the controls
// change B. If a comparison is open, it closes it and keeps A. A pipeline is compared with another order of its passes.
type ToggleCompare struct{}

func (ToggleCompare) apply(s *State) []Effect {
	if s.Step != nil {
		return s.toggleBeside()
	}
	if s.Compare == nil {
		if s.Network == nil || s.Shown == nil {
			return nil
		}
		s.unpreview()
		s.View.Help = false // the help has a button for this message
		s.Compare = &Compare{Other: Side{Shown: s.Shown}}
		out := append(s.setOther(s.Choice, nil, Replace), WriteURL{Push})
		s.touch()
		return append(out, s.choose(s.Choice.Otherwise(s.Network.Totals.KeepAllPeak, s.Network.Chain == nil), Replace,
			false)...)
	}
	out := s.cancelOpening()
	if !s.Compare.OnA {
		out = append(out, s.editOther()...)
	}
	out = append(out, s.closeOther()...)
	return append(out, WriteURL{Push})
}

// SwapSides exchanges the letters of A and B.
type SwapSides struct{}

func (SwapSides) apply(s *State) []Effect {
	if s.Compare == nil {
		return nil
	}
	s.Compare.OnA = !s.Compare.OnA
	return s.viewChanged()
}

// EditSide turns the controls to A or to B.
type EditSide struct{ A bool }

func (m EditSide) apply(s *State) []Effect {
	if s.Compare == nil || s.Compare.OnA == m.A {
		return nil
	}
	return s.editOther()
}

// FitSide gives a side whose budget is too small one that is large enough: the other side, to which it turns the
// controls, or this side if the other's is large enough.
type FitSide struct{}

func (FitSide) apply(s *State) []Effect {
	if s.Compare == nil || s.Network == nil || s.Opening != nil {
		return nil
	}
	if s.Compare.Other.Offer() <= 0 {
		if s.Offer() <= 0 {
			return nil
		}
		return SetBudget{Bytes: s.Offer(), Settled: true}.apply(s)
	}
	s.Compare.Other.Choice.Budget = choice.Budget{Bytes: s.Compare.Other.Offer()}
	return s.editOther()
}

// dropOther ends the comparison because the other side cannot be opened, and shows why.
func (s *State) dropOther(why string) {
	_, letter := s.Letters()
	s.Compare = nil
	s.alert(textAlert(why))
	s.Alert.Text = letter + " cannot be opened. " + s.Alert.Text
}

// setOther makes c the choice of the other side and asks for its profile and its schedule. If file is not nil,
// the profile is that of the file, otherwise that of c.Source.
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
	o.setChoice(c)
	return append(out, s.solve(o, false, s.limit(h))...)
}

// editOther turns the controls to the other side: it swaps State.Side and Compare.Other. It does nothing while a
// profile is being read.
func (s *State) editOther() []Effect {
	o := &s.Compare.Other
	if o.Network == nil || s.Network == nil || s.Opening != nil {
		return nil
	}
	s.unpreview()
	out := append(o.cancel(), s.cancel()...)
	if s.Network != o.Network {
		s.Curve = nil
	}
	// The address view is about one side at a time and stays open.
	o.Choice.Alloc, o.Choice.AllocArgs = s.Choice.Alloc, s.Choice.AllocArgs
	s.Side, *o = *o, s.Side
	s.Compare.OnA = !s.Compare.OnA
	out = append(out, s.choose(s.Choice, Replace, false)...)
	return append(out, s.solve(o, false, 0)...)
}

// openNext opens the side B that waited until A had been read, if there is one.
func (s *State) openNext() []Effect {
	n := s.next
	s.next = nil
	if n == nil {
		return nil
	}
	c, h := n.choice, Leave
	if n.file != nil { // a person has chosen the file
		h, c = Replace, s.Choice
		c.Source, c.Graph = Source{File: n.file.Name}, false
	}
	if s.Compare == nil {
		s.Compare = &Compare{}
	}
	s.Compare.OnA = true
	return s.setOther(c, n.file, h)
}
