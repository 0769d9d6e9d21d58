package state

import "slices"

// Update changes the state by one message and returns what has to be done, in
// order.
func (s *State) Update(m Message) []Effect {
	out := append(s.holdAddress(m.apply(s)), s.followPlaces()...)
	return append(append(out, s.followDoctor()...), s.followIdle()...)
}

// holdAddress keeps the address as it is while the profile that it names is being
// read: written now, it would name what was shown before, or, on a page that has
// just been opened, no profile at all. It is written when there is nothing left to
// wait for.
func (s *State) holdAddress(effects []Effect) []Effect {
	writes := func(e Effect) bool { _, ok := e.(WriteURL); return ok }
	switch {
	case s.Opening != nil && s.Opening.History == Leave:
		n := len(effects)
		effects = slices.DeleteFunc(effects, writes)
		s.unwritten = s.unwritten || len(effects) < n
	case s.unwritten:
		s.unwritten = false
		if !slices.ContainsFunc(effects, writes) {
			effects = append(effects, WriteURL{Replace})
		}
	}
	return effects
}
