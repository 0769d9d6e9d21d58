package state

import (
	"cmp"
	"slices"
	"time"

	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/known"
)

// Visible returns the picture on screen: the preview if there is one, otherwise Shown, which may be nil.
func (s *State) Visible() *known.Picture { return cmp.Or(s.Preview, s.Shown) }

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

// Opening a link is not a request to keep the computer busy, so the answer to a choice that comes from a link may take
// pageLimit at most, and viewLimit in a view in another page. Where a slow machine has no verdict on a training step by
// then, the page asks again with verdictLimit.
const (
	pageLimit    = 5 * time.Second
	viewLimit    = 2 * time.Second
	verdictLimit = 60 * time.Second
)

// limit returns how long the answer to a choice may take. It is 0, without limit, for the example, and unless the
// choice came from a link in the address bar.
func (s *State) limit(h History) time.Duration {
	switch {
	case h != Leave:
		return 0
	case s.example(): // whose cost is known
		return 0
	case s.View.Frame.Embed:
		return viewLimit
	}
	return pageLimit
}

// Limited reports whether the answer is not complete because it reached its limit or was stopped.
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

// Awaits reports whether no picture is shown yet, but one is on its way.
func (s *State) Awaits() bool {
	return s.Shown == nil && (s.busy() || s.fallback != 0)
}

// Stale reports whether the picture is not that of the choice.
func (s *State) Stale() bool {
	return s.OverBudget != nil || s.Alert != nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice)
}

// CopyLanes returns the number of lanes of copies for which the timeline has room: that of the shown schedule. It
// does not change while the budget is dragged.
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

// reading returns the side that waits for the profile with this ID, or nil.
func (s *State) reading(id int) *Side {
	return s.side(func(o *Side) bool { return o.Opening != nil && o.Opening.ID == id })
}

// solving returns the side that waits for the schedule with this ID, or nil.
func (s *State) solving(id int) *Side {
	return s.side(func(o *Side) bool { return o.Solving != nil && o.Solving.ID == id })
}

func (s *State) side(is func(*Side) bool) *Side {
	if i := slices.IndexFunc(s.Each(), is); i >= 0 {
		return s.Each()[i]
	}
	return nil
}

// AB returns the sides A and B. Without a comparison A is State.Side and B is nil.
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

// Letters returns the letter of the side that the controls change, and that of the other side. Without a comparison
// both are empty.
func (s *State) Letters() (own, other string) {
	switch {
	case s.Compare == nil:
		return "", ""
	case s.Compare.OnA:
		return "A", "B"
	}
	return "B", "A"
}

// Sides returns the pictures of A and B, which may be nil. ok is false without a comparison. A preview replaces the
// picture of the side that the controls change.
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

// Alignment returns the layers of A aligned with those of B, or with second those of B with those of A. It is nil
// while one of them has no schedule.
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
	return known.DeltaOf(a, b), true
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
