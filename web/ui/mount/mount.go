// Package mount defines the places on the page where pictures are painted: their heights, and what each shows.
package mount

import (
	"github.com/vugu/vugu/js"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/lookup"
	"memtide/web/state"
)

// Mount is a place of the page that a picture is painted into.
type Mount struct {
	Picture draw.Picture
	Second  bool // the place is for side B of a comparison
}

// ByName are the places by the names of their elements: the names of the pictures, with "-b" for side B.
var ByName = map[string]Mount{}

func init() {
	for pic := range draw.AllPictures {
		ByName[pic.Name()] = Mount{pic, false}
		if pic < draw.NumPictures || pic == draw.PassLanes {
			ByName[pic.Name()+"-b"] = Mount{pic, true}
		}
	}
}

// Timed reports whether the place is on the time axis, and not in the address view.
func (m Mount) Timed() bool { return m.Picture < draw.NumPictures }

// Widths of pictures on a screen and on a telephone, in CSS pixels.
const (
	Wide = 984.0
	Slim = 358.0
)

// Height returns the height of the picture on a screen of the given width, in CSS pixels.
func (m Mount) Height(s *state.State, width float64) float64 {
	switch {
	case !m.Timed():
		return m.Picture.Height()
	case s.Compare != nil && !(m.Picture == draw.Memory && Overlaid(s)):
		return m.Picture.ComparedHeight()
	case m.Picture == draw.Timeline:
		return draw.TimelineHeight(s.CopyLanes())
	case s.View.Frame.Embed:
		return m.Picture.EmbeddedHeight()
	}
	if p := m.Shown(s); m.Picture == draw.Strip && p != nil && p.Index().IsGraph() {
		return p.Index().GraphHeight(width)
	}
	return m.Picture.HeightAt(width)
}

// Shown returns the picture of the side that the place shows, or nil if there is no picture.
// Without a comparison that is the visible one in the places of A.
func (m Mount) Shown(s *state.State) *known.Picture {
	a, b, ok := s.Sides()
	switch {
	case !ok && m.Second:
		return nil
	case !ok:
		return s.Visible()
	case m.Second:
		return b
	}
	return a
}

// Controlled reports whether the controls change what the place shows.
func (m Mount) Controlled(s *state.State) bool {
	return s.Compare == nil || s.Compare.OnA != m.Second
}

// Other returns the place of the same picture on the other side.
func (m Mount) Other() Mount { return Mount{m.Picture, !m.Second} }

// Budget returns the budget of what the place shows.
func (m Mount) Budget(s *state.State) engine.Bytes {
	if m.Controlled(s) {
		return s.Budget()
	}
	return s.Compare.Other.Budget()
}

// Around adds to v what the picture is compared with: the memory of keeping everything, and that of the device. A
// comparison has Beside instead of the first, and the device if both sides have the same. For a flame graph it adds
// the call that is zoomed to and the one that the keyboard has marked.
func (m Mount) Around(s *state.State, v *draw.View) {
	if m.Picture == draw.Flames {
		if v.Selected = s.Flame().Zoomed(); v.Hover.Kind != lookup.OnCall && s.Flame().Marked() != v.Selected {
			v.Hover = s.Flame().Marked()
		}
		return
	}
	p := m.Shown(s)
	if p == nil || m.Picture != draw.Memory {
		return
	}
	if s.Compare != nil {
		if other := m.Other().Shown(s); other == nil || other.Choice.Device != p.Choice.Device {
			return
		}
	} else if !p.Choice.KeepsAll() { // its outline would be that of the step
		v.Ghost = p.Solved.Ghost
	}
	chosen, network := p.Choice, p.Network
	if s.OverBudget != nil && s.Network != nil { // the picture is an earlier one
		chosen, network = s.Choice, s.Network
	}
	if d := state.DeviceOf(chosen); d != nil {
		v.Capacity, v.Device = d.Memory, known.Card(chosen, network, d)
		if c := chosen.Context(); c > choice.Context { // a person says that more is in use
			v.Capacity, v.Device = d.Memory-c, v.Device+" without CUDA"
		}
	}
}

// Beside returns the other side's picture for comparison, or nil if one of the sides has no picture.
func (m Mount) Beside(s *state.State) *draw.Beside {
	other := m.Other().Shown(s)
	if s.Compare == nil || other == nil || m.Shown(s) == nil {
		return nil
	}
	b := &draw.Beside{Model: other.Index(), Budget: m.Other().Budget(s), Layers: s.Alignment(m.Second),
		Letter: "A", Other: "B", Over: m.Picture == draw.Memory && Overlaid(s)}
	if m.Second {
		b.Letter, b.Other = "B", "A"
	}
	return b
}

// Across returns the target in this place that corresponds to target t in the other side's picture.
func (m Mount) Across(s *state.State, t lookup.Target) lookup.Target {
	from, al := m.Other().Shown(s), s.Alignment(!m.Second)
	if from == nil || al == nil {
		return lookup.Target{}
	}
	return from.Index().Across(t, al)
}

// FigureOfBoth draws both sides of a comparison for a file. It returns false if one of them has no picture.
func FigureOfBoth(scene *draw.Scene, s *state.State, v draw.View) bool {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil {
		return false
	}
	var views [2]draw.View
	for i, second := range []bool{false, true} {
		side := v
		m := Mount{Second: second}
		side.Budget, side.Beside = m.Budget(s), m.Beside(s)
		if !m.Controlled(s) {
			side.Selected, side.Chain = m.Across(s, v.Selected), false
		}
		views[i] = side
	}
	draw.FigureOfBoth(scene, a.Index(), b.Index(), views[0], views[1])
	return true
}

// Hosts is a function that receives the elements that package app paints. It is called for each element when the
// element has been created. It may be nil.
type Hosts func(name string, element js.Value)

// Give calls h unless it is nil.
func (h Hosts) Give(name string, element js.Value) {
	if h != nil {
		h(name, element)
	}
}

// Overlaid reports whether one picture shows the memory of both sides: A filled, B as a line. Views in other pages show
// two pictures, because they have no button for that.
func Overlaid(s *state.State) bool {
	return s.Compare != nil && s.Compare.Other.Failed == "" && !s.View.Sides && !s.View.Frame.Embed
}
