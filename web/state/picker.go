package state

import (
	"strings"

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

// FilterPresets shows the presets that a text finds.
type FilterPresets struct{ Text string }

func (m FilterPresets) apply(s *State) []Effect {
	p := &s.View.Picker
	p.Query = m.Text
	p.Active = p.Best()
	return s.touchDOM()
}

// StepPreset moves to another preset of those found, within the list.
type StepPreset struct{ By int }

func (m StepPreset) apply(s *State) []Effect {
	s.View.Picker.Active = s.View.Picker.Step(m.By)
	return s.touchDOM()
}

// SetVariant changes what is not zero in the options of the open preset; an
// Efficiency below 0 is the one that the preset assumes.
type SetVariant struct{ Options preset.Options }

func (m SetVariant) apply(s *State) []Effect {
	return s.vary(func(o *preset.Options) { *o = changed(*o, m.Options) })
}

// SetFast gives the convolutions of the open preset a second algorithm, or takes
// it away.
type SetFast struct{ On bool }

func (m SetFast) apply(s *State) []Effect {
	return s.vary(func(o *preset.Options) { o.Fast = m.On })
}

// SetSeparate makes every operator a function of its own, or joins those that
// work in place.
type SetSeparate struct{ On bool }

func (m SetSeparate) apply(s *State) []Effect {
	return s.vary(func(o *preset.Options) { o.Separate = m.On })
}

// SetOption chooses an option of the open preset: one of a language model's step by its name
// in package ask, or the optimizer of another network. Of a config.json it opens the step that has it.
type SetOption struct{ Name, Value string }

func (m SetOption) apply(s *State) []Effect {
	base, o := s.Choice.Source.Variant()
	switch {
	case base == nil && s.Config() != "":
		c := s.configStep()
		c.StepArgs = ask.With(c.StepArgs, m.Name, m.Value)
		return s.openStep(c, Push)
	case base == nil:
		return nil
	case base.Model() == nil:
		o.Optimizer = m.Value
		return s.openVariant(base, o)
	}
	text, err := preset.StepText(ask.With(preset.StepArgs(o.Step), m.Name, m.Value))
	if err != nil {
		return s.alert(&Alert{Text: err.Error()})
	}
	o.Step = text
	return s.openVariant(base, o)
}

// ToggleMore shows what the sentence of the case can still say, and hides it.
type ToggleMore struct{}

func (ToggleMore) apply(s *State) []Effect {
	s.View.More = !s.View.More
	s.DOM++
	return nil
}

// vary opens the open preset with another choice about it.
func (s *State) vary(change func(*preset.Options)) []Effect {
	s.DOM++
	base, o := s.Choice.Source.Variant()
	if base == nil {
		return nil
	}
	change(&o)
	return s.openVariant(base, o)
}

// changed is o with what change says.
func changed(o, change preset.Options) preset.Options {
	if change.Batch > 0 {
		o.Batch = change.Batch
	}
	if change.Image > 0 {
		o.Image = change.Image
	}
	if change.Tokens > 0 {
		o.Tokens = change.Tokens
	}
	if change.Precision != "" {
		o.Precision = change.Precision
	}
	if change.Device != "" {
		o.Device = change.Device
	}
	if change.Efficiency > 0 {
		o.Efficiency = change.Efficiency
	} else if change.Efficiency < 0 {
		o.Efficiency = 0
	}
	o.Graph = o.Graph || change.Graph
	return o
}

// PickNetwork opens an entry of the list by its id: a whole step, or a preset. The device that the
// times are for is about the reader's machine, so it stays where the preset has
// such times.
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

// SetGPU chooses the device: its memory, its link to the host and, where the
// preset has such times, its times. A comparison keeps its budget; otherwise the
// device brings its own.
type SetGPU struct{ ID string }

func (m SetGPU) apply(s *State) []Effect {
	d := card.Lookup(m.ID)
	if d == nil {
		return nil
	}
	base, o := s.Choice.Source.Variant()
	if base == nil || !base.Operators() || !d.Timed() { // the times stay
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
