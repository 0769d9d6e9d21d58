package state

import (
	"cmp"
	"slices"

	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/draw"
	"memtide/web/known"
)

// SetBeside chooses the order of passes that the open pipeline is compared with; "" ends the comparison.
type SetBeside struct{ Order string }

func (m SetBeside) apply(s *State) []Effect {
	if s.Passes() == nil {
		return nil
	}
	s.View.Beside, s.View.Help = m.Order, false // the help has a button for it
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// toggleBeside ends the comparison of orders, or begins one with the first other order of the list, which is the
// fastest that fits.
func (s *State) toggleBeside() []Effect {
	if s.View.Beside != "" {
		return SetBeside{}.apply(s)
	}
	others := s.OtherOrders()
	if len(others) == 0 {
		return nil
	}
	return SetBeside{others[0]}.apply(s)
}

// followBeside asks for the order that the pipeline is compared with, when the chosen one is answered.
func (s *State) followBeside() []Effect {
	if s.Step == nil || s.Late() {
		return nil
	}
	b, c := &s.Step.beside, s.Choice
	key := ""
	if s.View.Beside != "" && s.Passes() != nil && s.View.Beside != s.Order() {
		c.StepArgs = ask.With(c.StepArgs, "schedule", s.View.Beside)
		key = c.StepKey()
	}
	if key == b.of {
		return nil
	}
	out := cancel(&b.id)
	*b = besideOrder{of: key}
	s.letter()
	s.touch()
	if known, ok := s.steps.get(key); ok && key != "" {
		s.takeBeside(known)
	} else if key != "" {
		b.id = s.newID()
		out = append(out, AskStep{b.id, proto.Step{Model: c.Step, Args: c.StepArgs, Parts: 1}})
	}
	return out
}

// takeBeside keeps r, the answer to what followBeside asked, for the second picture.
func (s *State) takeBeside(r *proto.Stepped) {
	b := &s.Step.beside
	if b.shown, b.passes = r, known.PassesOf(r); b.passes == nil {
		b.failed = "it has no ranks"
		return
	}
	s.letter()
	s.touch()
}

// Beside returns the answer of the order that the open pipeline is compared with, and its passes. Both are nil until it
// is there. failed says why there is none, for people.
func (s *State) Beside() (r *proto.Stepped, x *draw.Passes, failed string) {
	if s.Step == nil {
		return nil, nil, ""
	}
	b := &s.Step.beside
	return b.shown, b.passes, b.failed
}

// OtherOrders returns the orders that the open pipeline can be compared with: those of its list, the fastest that fit
// first, or before there is a list one that all pipelines have.
func (s *State) OtherOrders() (out []string) {
	own := s.Order()
	if own == "" {
		return nil
	}
	for i := range s.Step.Shown.Orders {
		if name := ask.Value(s.Step.Shown.Orders[i].Args, "schedule"); name != own {
			out = append(out, name)
		}
	}
	if out == nil {
		out = []string{cmp.Or(map[string]string{"1f1b": "gpipe"}[own], "1f1b")}
	}
	if b := s.View.Beside; b != "" && b != own && !slices.Contains(out, b) {
		out = append(out, b)
	}
	return out
}
