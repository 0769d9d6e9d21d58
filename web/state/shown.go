package state

import (
	"slices"
	"time"

	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/known"
)

// Visible returns the picture on screen: the preview if there is one.
func (s *State) Visible() *known.Picture {
	if s.Preview != nil {
		return s.Preview
	}
	return s.Shown
}

// Phase returns the value of the body's data-state.
func (s *State) Phase() string {
	switch {
	case s.busy() || s.Compare.Awaits() || s.Step.Busy():
		return "solving"
	case s.Alert != nil || s.OverBudget != nil || s.Shown == nil && s.Memory == nil &&
		(s.Step == nil || s.Step.Failed != ""):
		return "error"
	}
	return "ready"
}

// pageLimit is how long an answer that an address asks for may take: whoever opens a link
// has not said that the computer is to be kept busy. A view in another page has viewLimit.
const (
	pageLimit = 5 * time.Second
	viewLimit = 2 * time.Second
)

// limit returns how long the answer to a choice may take; 0, as long as it needs, unless the
// choice came from a link in the address bar.
func (s *State) limit(h History) time.Duration {
	switch {
	case h != Leave:
		return 0
	case s.View.Frame.Embed:
		return viewLimit
	case s.example():
		return 0
	}
	return pageLimit
}

// Limited reports whether less is known than was asked for, because it took too long.
func (s *State) Limited() bool {
	return s.Alert != nil && s.Alert.Limit || s.Step != nil && s.Step.Ended != NotEnded
}

// Settling reports whether the example's schedule is only the best so far. The prepared page already shows the
// final one, so it should stay until the solver is done.
func (s *State) Settling() bool {
	return s.Shown != nil && s.Shown.Partial && s.busy() && s.example()
}

// example reports whether the page shows what it shows without a link.
func (s *State) example() bool {
	return s.Choice.Source.Preset == choice.ExamplePreset && s.Choice.Roomy()
}

// Awaits reports whether nothing is shown yet, but something is on its way.
func (s *State) Awaits() bool {
	return s.Shown == nil && (s.busy() || s.fallback != 0)
}

// Stale reports whether the picture is not the one that was asked for.
func (s *State) Stale() bool {
	return s.OverBudget != nil || s.Alert != nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice)
}

// CopyLanes is for how many lanes of copies the timeline has room: as many as there are
// in the schedule that is shown, or was when the budget was taken hold of.
func (s *State) CopyLanes() int { return s.copies }

// Awaits reports whether the other side is being read or solved.
func (c *Compare) Awaits() bool {
	return c != nil && c.Other.busy()
}

// Each returns the one or two sides, first the one that the controls change.
func (s *State) Each() []*Side {
	if s.Compare == nil {
		return []*Side{&s.Side}
	}
	return []*Side{&s.Side, &s.Compare.Other}
}

// reading returns the side that waits for a profile under an ID, or nil if none does.
func (s *State) reading(id int) *Side {
	for _, o := range s.Each() {
		if o.Opening != nil && o.Opening.ID == id {
			return o
		}
	}
	return nil
}

// solving returns the side that waits for a schedule under an ID, or nil if none does.
func (s *State) solving(id int) *Side {
	for _, o := range s.Each() {
		if o.Solving != nil && o.Solving.ID == id {
			return o
		}
	}
	return nil
}

// AB returns A and B; without a comparison A is what the page is about and B is nil.
func (s *State) AB() (a, b *Side) {
	switch {
	case s.Compare == nil:
		return &s.Side, nil
	case s.Compare.OnA:
		return &s.Side, &s.Compare.Other
	}
	return &s.Compare.Other, &s.Side
}

// InLink reports whether a link can hold all networks that are open.
func (s *State) InLink() bool {
	return !slices.ContainsFunc(s.Each(), func(o *Side) bool { return o.Network != nil && !o.Network.InLink() })
}

// Letters returns those of the side that the controls change and of the other one; empty without a
// comparison.
func (s *State) Letters() (own, other string) {
	switch {
	case s.Compare == nil:
		return "", ""
	case s.Compare.OnA:
		return "A", "B"
	}
	return "B", "A"
}

// Sides returns the pictures of A and B, nil where there is none; ok is false
// without a comparison. A preview stands for the side that the controls change.
func (s *State) Sides() (a, b *known.Picture, ok bool) {
	x, y := s.AB()
	if y == nil {
		return nil, nil, false
	}
	a, b = x.Shown, y.Shown
	if s.Preview != nil && s.Compare.OnA {
		a = s.Preview
	} else if s.Preview != nil {
		b = s.Preview
	}
	return a, b, true
}

// Alignment puts the layers of A, or with second those of B, side by side with
// the other's; nil while one of them has no schedule.
func (s *State) Alignment(second bool) draw.Alignment {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil {
		return nil
	}
	c := s.Compare
	if of := [2]*known.Network{a.Network, b.Network}; c.aligned[0] == nil || c.alignedOf != of {
		al := draw.Align(a.Index(), b.Index())
		c.aligned, c.alignedOf = [2]draw.Alignment{al, al.Turned()}, of
	}
	if second {
		return c.aligned[1]
	}
	return c.aligned[0]
}

// Delta returns the change from A to B; ok is false while one of them has no schedule.
func (s *State) Delta() (d known.Delta, ok bool) {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil || s.Preview == nil && s.Stale() {
		return known.Delta{}, false
	}
	return known.DeltaOf(a.Solved.Trace, b.Solved.Trace), true
}

// end returns the end of the longer of the two steps.
func (c *Compare) end(own time.Duration) time.Duration {
	if c != nil && c.Other.Shown != nil {
		return max(own, c.Other.Shown.Solved.Trace.Makespan)
	}
	return own
}

// End returns where the time axis ends, or 0 if nothing is shown.
func (s *State) End() time.Duration {
	if s.Memory != nil {
		return s.Memory.End
	}
	if x := s.Passes(); x != nil {
		return x.End()
	}
	if p := s.Visible(); p != nil && p.Solved.Trace != nil {
		return s.Compare.end(p.Solved.Trace.Makespan)
	}
	return s.Compare.end(0)
}
