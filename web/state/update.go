package state

import "slices"

// Update changes the state by one message and returns the effects to carry out, in order.
func (s *State) Update(m Message) []Effect {
	out := s.holdAddress(m.apply(s))
	for _, follow := range followers {
		out = append(out, follow(s)...)
	}
	return out
}

// followers return the effects of what the page does by itself. Update calls all of them after every
// message, in this order.
var followers = [...]func(*State) []Effect{
	(*State).followCurve,
	(*State).followQuestions,
	(*State).followPlaces,
	(*State).followDoctor,
	(*State).followPolicies,
	(*State).followBeside,
	(*State).followIdle,
}

// holdAddress removes WriteURL from effects while the profile that the address names is being read.
// Written now, the address would name what was shown before, or no profile on a page that
// has just been opened. It is written when the profile has been read.
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
