package ui

import (
	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/state"
)

// secondOf names the hosts of the pictures of side B.
var secondOf = map[string]draw.Picture{"layers-b": draw.Strip, "timeline-b": draw.Timeline, "memory-b": draw.Memory}

// Heights of the pictures while two are compared: two stand where one stood.
var compareHeights = [draw.NumPictures]float64{draw.Strip: 70, draw.Timeline: 122, draw.Memory: 172}

// pictureHeight is the height of a picture in CSS pixels.
func pictureHeight(s *state.State, pic draw.Picture) float64 {
	if s.Compare != nil && pic < draw.NumPictures {
		return compareHeights[pic]
	}
	return pic.Height()
}

// Absent says whether the pictures of a side take no room: those of B without a
// comparison, those of a side that has no schedule.
func (c *Pictures) Absent(second bool) bool {
	s := c.S
	if s.Compare == nil {
		return second
	}
	return s.Compare.Other.Failed != "" && !controlled(s, second)
}

// shownAs is the picture in the hosts of A, or with second in those of B; nil if
// there is none. Without a comparison the hosts of A show what the page is about.
func shownAs(s *state.State, second bool) *state.Picture {
	a, b, ok := s.Sides()
	switch {
	case !ok && second:
		return nil
	case !ok:
		return s.Visible()
	case second:
		return b
	}
	return a
}

// controlled says whether the controls change what a host shows.
func controlled(s *state.State, second bool) bool {
	return s.Compare == nil || s.Compare.OnA != second
}

// budgetOf is the budget of what a host shows.
func budgetOf(s *state.State, second bool) engine.Bytes {
	if controlled(s, second) {
		return s.Budget()
	}
	return s.Compare.Other.Budget()
}

// besideOf is what stands beside a host's picture; nil if nothing does.
func besideOf(s *state.State, second bool) *draw.Beside {
	other := shownAs(s, !second)
	if s.Compare == nil || other == nil || shownAs(s, second) == nil {
		return nil
	}
	return &draw.Beside{Model: other.Model(), Budget: budgetOf(s, !second), Layers: s.Alignment(second), Letter: letter(!second), Other: letter(second)}
}

// across is what stands for a target of one host's picture in the other one.
func across(s *state.State, second bool, t draw.Target) draw.Target {
	from, al := shownAs(s, !second), s.Alignment(!second)
	if from == nil || al == nil {
		return draw.Target{}
	}
	return from.Model().Across(t, al)
}

// figureOfBoth draws both sides of a comparison for a file; false if there are
// not two.
func figureOfBoth(scene *draw.Scene, s *state.State, v draw.View) bool {
	a, b, ok := s.Sides()
	if !ok || a == nil || b == nil {
		return false
	}
	var views [2]draw.View
	for i, second := range []bool{false, true} {
		side := v
		side.Budget, side.Beside = budgetOf(s, second), besideOf(s, second)
		if !controlled(s, second) {
			side.Selected, side.Chain = across(s, second, v.Selected), false
		}
		views[i] = side
	}
	draw.FigureOfBoth(scene, a.Model(), b.Model(), views[0], views[1])
	return true
}
