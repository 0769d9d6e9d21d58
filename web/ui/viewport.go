package ui

import (
	"time"

	"memtide/web/state"
)

// stretch is the part of the step that is visible.
type stretch struct{ from, length, makespan time.Duration }

func visible(s *state.State) stretch {
	end := s.End()
	if s.View.To <= s.View.From {
		return stretch{0, end, end}
	}
	return stretch{s.View.From, s.View.To - s.View.From, end}
}

// whole says whether all of the step is visible.
func (v stretch) whole() bool { return v.length >= v.makespan }

// zoomed multiplies the visible length by factor; what is at share of it (0:
// left, 1: right) stays where it is.
func zoomed(s *state.State, factor, share float64) state.Message {
	v := visible(s)
	length := max(time.Duration(float64(v.length)*factor), 1000)
	if length >= v.makespan {
		return state.SetRange{}
	}
	from := v.from + time.Duration(share*float64(v.length-length))
	return state.SetRange{From: from, To: from + length}
}

// panned moves the visible part by a share of its length.
func panned(s *state.State, share float64) state.Message {
	v := visible(s)
	return movedTo(s, v.from+time.Duration(share*float64(v.length)))
}

// movedTo moves the visible part so that it begins at from, or as near as the
// step allows.
func movedTo(s *state.State, from time.Duration) state.Message {
	v := visible(s)
	if v.whole() {
		return nil
	}
	from = min(max(from, 0), v.makespan-v.length)
	return state.SetRange{From: from, To: from + v.length}
}
