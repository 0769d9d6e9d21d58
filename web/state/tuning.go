package state

import "memtide/web/tradeoff"

// followTuning makes Tuning the one of the present choice. Like a curve it is
// begun only when a schedule is on screen.
func (s *State) followTuning() []Effect {
	if s.Network == nil || s.View.Frame.Embed {
		return nil
	}
	if !tradeoff.Tunable(s.Choice.Strategy) {
		out := s.cancelTuning()
		s.Tuning = nil
		return out
	}
	key := tradeoff.TuningKey(s.Choice, s.Budget())
	if s.Tuning != nil && s.Tuning.Key == key {
		return nil
	}
	out := s.cancelTuning()
	if t, ok := s.tunings.get(key); ok {
		s.Tuning = t
		s.DOM++
		return out
	}
	if s.Solving != nil || s.OverBudget != nil { // the picture first
		return out
	}
	s.Tuning = tradeoff.NewTuning(s.Choice, s.Budget(), s.Network.Graph)
	return append(out, s.sweepTuning(s.Tuning)...)
}

// sweepTuning asks for all values.
func (s *State) sweepTuning(t *tradeoff.Tuning) []Effect {
	t.ID = s.newID()
	s.DOM++
	return []Effect{Sweep{ID: t.ID, Request: t.Missing(s.Network.Setting(s.Choice), s.Choice), Soon: true}}
}

func (s *State) cancelTuning() []Effect {
	t := s.Tuning
	if t == nil || t.ID == 0 {
		return nil
	}
	t.Key = "" // it is not complete: asked again, it begins again
	s.DOM++
	return cancel(&t.ID)
}

// StartTuning tries the values of the strategy's parameters again.
type StartTuning struct{}

func (StartTuning) apply(s *State) []Effect {
	if t := s.Tuning; t != nil && t.ID == 0 {
		t.Key = "" // so that it is begun anew
	}
	return nil
}

// StopTuning gives that up.
type StopTuning struct{}

func (StopTuning) apply(s *State) []Effect {
	t := s.Tuning
	if t == nil {
		return nil
	}
	key := t.Key
	out := s.cancelTuning()
	t.Stopped, t.Key = true, key // until something else is chosen
	return out
}

// tuned ends the trying of values, or begins with closer ones.
func (s *State) tuned() []Effect {
	t := s.Tuning
	t.ID = 0
	s.DOM++
	if t.Refine() {
		return s.sweepTuning(t)
	}
	s.tunings.put(t.Key, t)
	return nil
}
