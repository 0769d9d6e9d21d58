package state

import "memtide/web/link"

// A profile takes a moment to be read. What a person sets meanwhile is about what
// is shown and about what comes: it is neither lost when the profile is there (see
// State.decide), nor does it put the address of what is shown over that of what
// comes (see holdAddress).

// Start opens the page with what its link says.
type Start struct {
	Choice Choice
	B      *Choice // the other side of a comparison; nil: there is none
	link.Look
}

func (m Start) apply(s *State) []Effect {
	s.unwritten = false
	s.View.Follow(m.Look)
	s.Choice = m.Choice
	out := s.open(m.Choice, nil, Leave)
	if m.B != nil && m.Choice.Step == "" {
		s.next = &waiting{choice: *m.B}
	}
	return out
}

// Navigate is Back, Forward, or a link pasted into the address bar.
type Navigate Start

func (m Navigate) apply(s *State) []Effect {
	s.unwritten = false
	s.View.Follow(m.Look)
	return s.navigateBoth(m.Choice, m.B)
}

// navigateBoth follows a link: A becomes a, and B becomes b, or there is none
// if that is nil. The controls stay where they were.
func (s *State) navigateBoth(a Choice, b *Choice) []Effect {
	onB := s.Compare != nil && !s.Compare.OnA
	var out []Effect
	if onB {
		o := &s.Compare.Other
		out = o.cancel()
		if o.Network != nil {
			s.Network, o.Network = o.Network, s.Network
			s.Shown, o.Shown = o.Shown, s.Shown
		}
		s.Compare.OnA = true
	}
	out = append(out, s.navigate(a)...)
	if b == nil {
		return append(out, s.closeOther()...)
	}
	s.next = &waiting{choice: *b}
	if s.Opening != nil {
		return out
	}
	out = append(out, s.openNext()...)
	if onB {
		out = append(out, s.turn()...)
	}
	return out
}

// navigate follows a link: it opens another profile only if it has to.
func (s *State) navigate(c Choice) []Effect {
	if s.Network == nil || c.Step != "" || !c.Source.Same(s.Network.Source) {
		return s.open(c, nil, Leave)
	}
	c.Source = s.Network.Source
	return s.choose(c, Leave, false)
}

// BadLink is a link that cannot be followed: cut, damaged, too new.
type BadLink struct{ Text string }

func (m BadLink) apply(s *State) []Effect { return s.alert(&Alert{Text: m.Text}) }

// PickPreset opens a preset, as it suggests to be seen.
type PickPreset struct{ ID string }

func (m PickPreset) apply(s *State) []Effect {
	return s.open(s.keepBudget(s.Choice.Moved(Source{Preset: m.ID})), nil, Push)
}

// PickFile opens a file.
type PickFile File

func (m PickFile) apply(s *State) []Effect {
	out := s.open(s.Choice.Moved(Source{File: m.Name}), (*File)(&m), Push)
	s.Opening.Title = m.Title
	return out
}

// PickFiles opens two files, the first as A and the second as B.
type PickFiles struct{ A, B PickFile }

func (m PickFiles) apply(s *State) []Effect {
	out := append(s.closeOther(), m.A.apply(s)...)
	s.next = &waiting{file: (*File)(&m.B)}
	return out
}
