package state

// What people say about the keyboard, and what the browser knows of it.

// SetShortcuts turns the keys off that are one character, or on again: who
// speaks to the machine or hits keys by accident wants none.
type SetShortcuts struct{ Off bool }

func (m SetShortcuts) apply(s *State) []Effect {
	s.View.NoShortcuts = m.Off
	s.DOM++
	return []Effect{SaveShortcuts(m)}
}

// SetLabels tells what stands on the keys at some places of the keyboard.
type SetLabels struct{ Labels map[string]string }

func (m SetLabels) apply(s *State) []Effect {
	s.View.KeyLabels = m.Labels
	return s.touchDOM()
}

// Tell shows one line that tells what a shortcut did.
type Tell struct{ Text string }

func (m Tell) apply(s *State) []Effect {
	s.View.Note = m.Text
	return s.touchDOM()
}

// ToggleHelp opens the list of shortcuts and closes it.
type ToggleHelp struct{}

func (ToggleHelp) apply(s *State) []Effect {
	s.DOM++
	if s.View.Help = !s.View.Help; s.View.Help {
		return []Effect{AskLabels{}}
	}
	return nil
}
