package state

import "slices"

// A profile takes a moment to be read. What a person sets meanwhile is about what
// is shown and about what comes: it is neither lost when the profile is there, nor
// does it put the address of what is shown over that of what comes.

// carry has a decision hold for the profile that is being read, too. A budget does
// not go along: another network starts with its own.
func (s *State) carry(m Message) {
	if s.Opening == nil {
		return
	}
	c := &s.Opening.Choice
	switch m.(type) {
	case SetDevice:
		c.Device, c.ToHost, c.ToDev, c.Duplex = s.Choice.Device, s.Choice.ToHost, s.Choice.ToDev, s.Choice.Duplex
		s.Opening.linked = true
	case SetBandwidth:
		c.Device, c.ToHost, c.ToDev = s.Choice.Device, s.Choice.ToHost, s.Choice.ToDev
		s.Opening.linked = true
	case SetDuplex:
		c.Duplex, s.Opening.linked = s.Choice.Duplex, true
	case SetTransfers:
		c.Transfers = s.Choice.Transfers
	case SetStrategy, SetArg:
		c.Strategy, c.Args = s.Choice.Strategy, s.Choice.Args
	}
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
