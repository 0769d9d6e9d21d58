package state

import "memtide/wasm/proto"

// SweptPoint is one point of a curve, or of the values of a parameter.
type SweptPoint struct {
	ID    int
	Point proto.Point
}

func (m SweptPoint) apply(s *State) []Effect {
	if s.Tuning.Sweeps(m.ID) {
		s.Tuning.Take(m.Point)
		s.DOM++
	} else if s.Curve.Sweeps(m.ID) {
		s.Curve.Take(m.Point)
	}
	return nil
}

// Swept ends a curve, or the values of a parameter.
type Swept struct {
	ID      int
	KeepAll proto.Reference
}

func (m Swept) apply(s *State) []Effect {
	switch {
	case s.Tuning.Sweeps(m.ID):
		return s.tuned()
	case !s.Curve.Sweeps(m.ID):
		return nil
	}
	s.Curve.End(m.KeepAll)
	s.DOM++
	return s.improve(s.Curve)
}

// SweepFailed ends it early.
type SweepFailed struct {
	ID   int
	Text string
}

func (m SweepFailed) apply(s *State) []Effect {
	switch c := s.Curve; {
	case s.Tuning.Sweeps(m.ID):
		s.Tuning.ID, s.Tuning.Failed = 0, headline(m.Text)
	case c.Sweeps(m.ID):
		c.ID, c.Failed, c.Improving = 0, headline(m.Text), 0
	default:
		return nil
	}
	return s.touchDOM()
}
