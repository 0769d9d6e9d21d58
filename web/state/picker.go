package state

import (
	"maps"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/view"
)

// TogglePicker opens the list or closes it.
type TogglePicker struct{}

func (TogglePicker) apply(s *State) []Effect {
	p := &s.View.Picker
	*p = view.Picker{Open: !p.Open}
	s.DOM++
	if !p.Open {
		return nil
	}
	if base, _ := s.Choice.Source.Variant(); s.Step != nil && ask.Lookup(s.Choice.Step) != nil {
		p.Active = view.StepEntry + s.Choice.Step
	} else if base != nil && s.Step == nil && base.Model() != nil {
		p.Active = view.StepEntry + base.Model().ID
	} else if base != nil && s.Step == nil {
		p.Active = base.ID
	} else {
		p.Active = p.Best()
	}
	return nil
}

// FilterPresets shows the presets that match Text.
type FilterPresets struct{ Text string }

func (m FilterPresets) apply(s *State) []Effect {
	p := &s.View.Picker
	p.Query = m.Text
	p.Active = p.Best()
	return s.touchDOM()
}

// StepPreset moves the mark in the list by By presets.
type StepPreset struct{ By int }

func (m StepPreset) apply(s *State) []Effect {
	s.View.Picker.Active = s.View.Picker.Step(m.By)
	return s.touchDOM()
}

// SetVariant opens the open preset with other options.
type SetVariant struct{ Options preset.Options }

func (m SetVariant) apply(s *State) []Effect {
	s.DOM++
	base, _ := s.Choice.Source.Variant()
	if base == nil {
		return nil
	}
	return s.openVariant(base, m.Options)
}

// SetOption chooses an option of what is open: for the step of a language model an option of package ask, for another
// network the optimizer or the batch size. A step that no strategy can plan is opened by itself.
type SetOption struct{ Name, Value string }

func (m SetOption) apply(s *State) []Effect {
	s.View.Typed = ""
	if s.readsFile() {
		return s.touchDOM()
	}
	base, o := s.coming().Variant()
	if out, ok := s.stepAlone(m); ok {
		return out
	}
	switch {
	case base == nil && s.Config() != "":
		return s.setConfig(m.Name, m.Value)
	case base == nil:
		return nil
	case m.Name == "batch" || m.Name == "seq":
		size := map[string]*int{"batch": &o.Batch, "seq": &o.Tokens}[m.Name]
		*size, _ = strconv.Atoi(m.Value)
	case base.Model() == nil:
		o.Optimizer = m.Value
	default:
		text, err := preset.StepText(ask.With(preset.StepArgs(o.Step), m.Name, m.Value))
		if err != nil {
			return s.alert(&Alert{Text: err.Error()})
		}
		o.Step = text
	}
	return s.openVariant(base, o)
}

// stepAlone carries out m for a step that is open by itself, or that no strategy can plan with the option. ok is false
// for others.
func (s *State) stepAlone(m SetOption) (out []Effect, ok bool) {
	c := s.Choice
	if s.Step == nil {
		if c.Step, c.StepArgs, ok = s.stepOf(); !ok {
			return nil, false
		}
		args := engine.Args{}
		maps.Copy(args, c.Policy)
		maps.Copy(args, c.StepArgs)
		c.StepArgs, c.Policy = args, nil
	}
	if ask.Option(m.Name) == nil {
		return nil, s.Step != nil
	}
	c.StepArgs = ask.With(c.StepArgs, m.Name, m.Value)
	_, _, planned := preset.Split(c.StepArgs)
	switch {
	case s.Step == nil && planned:
		return nil, false
	case s.Step != nil && c.StepKey() == s.Choice.StepKey():
		s.Draft = Draft{}
		return s.touchDOM(), true
	}
	if as, listed := c.Planned(""); listed && c.StepArgs["ckpt"] == "" { // with the plan that fits best
		c = as
	}
	return s.open(c, nil, Push), true
}

// TypeOption shows a field for a number that the list of an option does not have.
type TypeOption struct{ Name string }

func (m TypeOption) apply(s *State) []Effect {
	s.View.Typed = m.Name
	return s.touchDOM()
}

// ToggleMore shows or hides the words that can be added to the sentence of the case.
type ToggleMore struct{}

func (ToggleMore) apply(s *State) []Effect {
	s.View.More = !s.View.More
	return s.touchDOM()
}

// PickNetwork opens an entry of the list by its ID: a whole step, or a preset. A preset with computed times keeps
// the device of the previous one, because the device is the reader's machine.
type PickNetwork struct{ ID string }

func (m PickNetwork) apply(s *State) []Effect {
	if model, ok := strings.CutPrefix(m.ID, view.StepEntry); ok {
		return PickStep{model}.apply(s)
	}
	s.View.Picker = view.Picker{}
	s.DOM++
	p := preset.Lookup(m.ID)
	if p == nil {
		return nil
	}
	o := p.Options()
	if old, now := s.Choice.Source.Variant(); old != nil && old.Operators() && p.Operators() {
		o.Device = now.Device
	}
	return s.openVariant(p, o)
}

// SetGPU chooses the device: its memory, its link to the host and, if the preset has computed times, its times.
// It also sets the budget to the memory of the device, except in a comparison.
type SetGPU struct{ ID string }

func (m SetGPU) apply(s *State) []Effect {
	d := card.Lookup(m.ID)
	if d == nil {
		return nil
	}
	switch {
	case s.readsFile(): // it is about that
		s.Opening.Choice = s.Opening.Choice.On(d)
		return s.touchDOM()
	case s.Step != nil:
		return SetOption{"device", d.ID}.apply(s)
	case s.Config() != "" && s.Compare == nil && d.Timed():
		return s.setConfig("device", d.ID)
	}
	base, o := s.coming().Variant()
	if base == nil || !base.Operators() || !d.Timed() { // keep the times
		return s.chooseLink(false, func(c *Choice) {
			if *c = c.On(d); s.Network != nil && s.Compare == nil {
				c.Budget = c.Room()
				*c = c.Fitted(s.Network.Totals.KeepAllPeak, s.Network.Stages())
			}
		})
	}
	o.Device = d.ID
	v, err := base.With(o)
	if err != nil {
		return s.alert(&Alert{Text: err.Error()})
	}
	c := s.keepBudget(s.Choice.Moved(Source{Preset: preset.Ref(v.ID, o.Batch)})).On(d)
	out := s.open(c, nil, Push)
	s.Opening.fit = s.Compare == nil
	return out
}
