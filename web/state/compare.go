package state

import (
	"time"

	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/known"
)

// Compare is a comparison of two schedules, A and B. One of the two is what the
// page is about, State.Side, which the controls change. Other is the other one,
// until the controls are turned to it: then the two change places.
type Compare struct {
	Other Side
	OnA   bool // the controls change A; Other is B

	aligned   [2]*draw.Alignment // of the layers of A with B's, and of B with A's
	alignedOf [2]*known.Network
}

// waiting is a side B that is opened when A has been read: from a link, or the
// second of two files.
type waiting struct {
	choice  Choice // of a file: its source only, the rest is A's
	content []byte // of a file; nil: choice says it all
	handle  any    // as PickFile.Handle; content is empty then
}

// ToggleCompare opens a comparison of the present choice, as A, with a copy
// of it, as B, which the controls then change; or closes it and keeps A.
type ToggleCompare struct{}

func (ToggleCompare) apply(s *State) []Effect {
	if s.Compare == nil {
		if s.Network == nil || s.Shown == nil {
			return nil
		}
		s.unpreview()
		s.Compare = &Compare{Other: Side{Shown: s.Shown}}
		out := append(s.setOther(s.Choice, nil), WriteURL{Push})
		s.touch()
		return out
	}
	var out []Effect
	if s.Opening != nil {
		out, s.Opening = append(out, Cancel{s.Opening.ID}), nil
	}
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
	s.touch()
	return []Effect{WriteURL{Replace}}
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

// PickFiles opens two files, the first as A and the second as B.
type PickFiles struct{ A, B PickFile }

func (m PickFiles) apply(s *State) []Effect {
	out := append(s.closeOther(), m.A.apply(s)...)
	s.next = &waiting{choice: Choice{Source: Source{File: m.B.Name}}, content: m.B.Bytes, handle: m.B.Handle}
	if m.B.Handle != nil {
		s.next.content = []byte{}
	}
	return out
}

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

// dropOther ends the comparison because its other side cannot be opened, and
// says why.
func (s *State) dropOther(why string) {
	letter := "B"
	if !s.Compare.OnA {
		letter = "A"
	}
	s.Compare = nil
	s.alert(textAlert(why))
	s.Alert.Text = letter + " cannot be opened. " + s.Alert.Text
}

// setOther makes c the choice of the other side and asks for what it needs.
// Content is that of a file which has not been read; nil: c says it all.
func (s *State) setOther(c Choice, content []byte) []Effect {
	o := &s.Compare.Other
	out := o.cancel()
	o.Choice, o.Failed, o.OverBudget = c, "", nil
	s.touch()
	switch {
	case content == nil && s.Network != nil && c.Source.Same(s.Network.Source):
		o.Network = s.Network
	case content == nil && o.Network != nil && c.Source.Same(o.Network.Source):
	default:
		o.Network, o.Shown = nil, nil
		return append(out, s.read(o, c, content, Leave)...)
	}
	c.Source = o.Network.Source
	o.take(c)
	return append(out, s.solve(o, false)...)
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
	return append(out, s.solve(o, false)...)
}

// openNext opens the side B that waited until A had been read.
func (s *State) openNext() []Effect {
	n := s.next
	s.next = nil
	if n == nil {
		return nil
	}
	c := n.choice
	if n.content != nil {
		c = s.Choice
		c.Source, c.Graph = n.choice.Source, false
	}
	if s.Compare == nil {
		s.Compare = &Compare{}
	}
	s.Compare.OnA = true
	return s.Compare.Other.byHandle(s.setOther(c, n.content), n.handle)
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

// Awaits says that the other side is being read or solved.
func (c *Compare) Awaits() bool {
	return c != nil && c.Other.busy()
}

// Sides are the pictures of A and B, nil where there is none; ok is false
// without a comparison. A preview stands for the side that the controls change.
func (s *State) Sides() (a, b *known.Picture, ok bool) {
	if s.Compare == nil {
		return nil, nil, false
	}
	if s.Compare.OnA {
		return s.Visible(), s.Compare.Other.Shown, true
	}
	return s.Compare.Other.Shown, s.Visible(), true
}

// Alignment puts the layers of A, or with second those of B, side by side with
// the other's; nil while one of them has no schedule.
func (s *State) Alignment(second bool) *draw.Alignment {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil {
		return nil
	}
	c := s.Compare
	if of := [2]*known.Network{a.Network, b.Network}; c.aligned[0] == nil || c.alignedOf != of {
		al := draw.Align(a.Model(), b.Model())
		c.aligned, c.alignedOf = [2]*draw.Alignment{al, al.Turned()}, of
	}
	if second {
		return c.aligned[1]
	}
	return c.aligned[0]
}

// SideChoices are the choices of A and B with their networks; without a
// comparison both are the present one.
func (s *State) SideChoices() (a, b Choice) {
	switch {
	case s.Compare == nil:
		return s.Choice, s.Choice
	case s.Compare.OnA:
		return s.Choice, s.Compare.Other.Choice
	}
	return s.Compare.Other.Choice, s.Choice
}

// SideNetworks are the networks of A and B; nil where none is open.
func (s *State) SideNetworks() (a, b *known.Network) {
	switch {
	case s.Compare == nil:
		return s.Network, nil
	case s.Compare.OnA:
		return s.Network, s.Compare.Other.Network
	}
	return s.Compare.Other.Network, s.Network
}

// end is the end of the longer of the two steps.
func (c *Compare) end(own time.Duration) time.Duration {
	if c != nil && c.Other.Shown != nil {
		return max(own, c.Other.Shown.Solved.Trace.Makespan)
	}
	return own
}

// End is where the time axis ends; 0 if nothing is shown.
func (s *State) End() time.Duration {
	if s.Memory != nil {
		return s.Memory.End
	}
	if p := s.Visible(); p != nil && p.Solved.Trace != nil {
		return s.Compare.end(p.Solved.Trace.Makespan)
	}
	return s.Compare.end(0)
}

// Delta is the change from A to B; ok is false while one of them has no schedule.
func (s *State) Delta() (d known.Delta, ok bool) {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil || s.Preview == nil && s.Stale() {
		return known.Delta{}, false
	}
	return known.DeltaOf(a.Solved.Trace, b.Solved.Trace), true
}
