package state

// What people say about the keyboard, and what the browser knows of it.
type (
	// SetShortcuts turns the keys off that are one character, or on again: who
	// speaks to the machine or hits keys by accident wants none.
	SetShortcuts struct{ Off bool }
	// SetLabels tells what stands on the keys at some places of the keyboard.
	SetLabels struct{ Labels map[string]string }
	// Tell shows one line that tells what a shortcut did.
	Tell struct{ Text string }
)

// What the browser side has to do for that.
type (
	// SaveShortcuts remembers whether shortcuts are off, where the browser lets it.
	SaveShortcuts struct{ Off bool }
	// AskLabels asks what stands on the keys and answers SetLabels, where the
	// browser knows it.
	AskLabels struct{}
)

func (SetShortcuts) message() {}
func (SetLabels) message()    {}
func (Tell) message()         {}
func (SaveShortcuts) effect() {}
func (AskLabels) effect()     {}

// updateKeyboard handles what is about the keyboard; ok is false if m is not.
func (s *State) updateKeyboard(m Message) (out []Effect, ok bool) {
	v := &s.View
	switch m := m.(type) {
	case SetShortcuts:
		v.NoShortcuts = m.Off
		out = []Effect{SaveShortcuts(m)}
	case SetLabels:
		v.KeyLabels = m.Labels
	case Tell:
		v.Note = m.Text
	case ToggleHelp:
		if v.Help = !v.Help; v.Help {
			out = []Effect{AskLabels{}}
		}
	default:
		return nil, false
	}
	s.DOM++
	return out, true
}
