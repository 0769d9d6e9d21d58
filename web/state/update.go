package state

import "slices"

// Update changes the state by one message and returns what has to be done, in
// order.
func (s *State) Update(m Message) []Effect {
	out := s.holdAddress(m.apply(s))
	for _, f := range followers {
		out = append(out, f.follow(s)...)
	}
	return out
}

// followers are what the page does by itself, after every message and in this order: each
// looks at the state and returns what is still to be done for it, which is nothing if all
// is as it should be. A message never calls one.
var followers = [...]struct {
	what   string
	follow func(*State) []Effect
}{
	{"the curve of the present choice", (*State).followCurve},
	{"the questions that were answered about another choice", (*State).followQuestions},
	{"the addresses of what is shown", (*State).followPlaces},
	{"what a recording tells next", (*State).followDoctor},
	{"the policies of frameworks on the step that is open", (*State).followPolicies},
	{"the next question that the page answers unasked, if nothing else is under way", (*State).followIdle},
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
