package state

// closeOther ends the comparison and keeps what the controls change.
func (s *State) closeOther() []Effect {
	s.next = nil
	if s.Compare == nil {
		return nil
	}
	out := s.Compare.Other.cancel()
	s.Compare = nil
	s.touch()
	s.View.Fit(s.End())
	return out
}

// closeNetwork makes room for what is no network.
func (s *State) closeNetwork() []Effect {
	out := append(s.cancelSweep(), s.questions.drop()...)
	s.Curve, s.Preview, s.Shown, s.Network, s.hover = nil, nil, nil, nil, ""
	s.OverBudget, s.Alert, s.Draft = nil, nil, Draft{}
	return append(out, s.cancelSolving()...)
}

func (t *byBudget) cancelSweep() []Effect {
	c := t.Curve
	if c == nil {
		return nil
	}
	c.Improving = 0
	return cancel(&c.ID)
}
