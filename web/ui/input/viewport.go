package input

import (
	"time"

	"memtide/web/state"
)

// Stretch is the part of the step that is visible.
type Stretch struct{ From, Length, Makespan time.Duration }

// Visible returns the part that is visible now.
func Visible(s *state.State) Stretch {
	end := s.End()
	if s.View.To <= s.View.From {
		return Stretch{0, end, end}
	}
	return Stretch{s.View.From, s.View.To - s.View.From, end}
}

// Whole reports whether all of the step is visible.
func (v Stretch) Whole() bool { return v.Length >= v.Makespan }

// Zoomed multiplies the visible length by factor; what is at share of it (0:
// left, 1: right) stays where it is.
func Zoomed(s *state.State, factor, share float64) state.Message {
	v := Visible(s)
	length := max(time.Duration(float64(v.Length)*factor), 1000)
	if length >= v.Makespan {
		return state.SetRange{}
	}
	from := v.From + time.Duration(share*float64(v.Length-length))
	return state.SetRange{From: from, To: from + length}
}

// panned moves the visible part by a share of its length.
func panned(s *state.State, share float64) state.Message {
	v := Visible(s)
	return MovedTo(s, v.From+time.Duration(share*float64(v.Length)))
}

// MovedTo moves the visible part so that it begins at from, or as near as the
// step allows.
func MovedTo(s *state.State, from time.Duration) state.Message {
	v := Visible(s)
	if v.Whole() {
		return nil
	}
	from = min(max(from, 0), v.Makespan-v.Length)
	return state.SetRange{From: from, To: from + v.Length}
}
