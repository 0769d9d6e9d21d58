package state

import (
	"slices"
	"strings"

	"memtide/profiles/preset"
)

// Picker is the list of networks to choose from.
type Picker struct {
	Open   bool
	Query  string // what is typed into the search field
	Active string // id of the preset that Enter chooses; empty: none matches
}

// TogglePicker opens the list or closes it.
type TogglePicker struct{}

func (TogglePicker) apply(s *State) []Effect {
	p := &s.View.Picker
	*p = Picker{Open: !p.Open}
	s.DOM++
	if !p.Open {
		return nil
	}
	if base, _ := s.Choice.Source.Variant(); base != nil {
		p.Active = base.ID
	} else {
		p.Active = p.best()
	}
	return nil
}

// FilterPresets shows the presets that a text finds.
type FilterPresets struct{ Text string }

func (m FilterPresets) apply(s *State) []Effect {
	p := &s.View.Picker
	p.Query = m.Text
	p.Active = p.best()
	s.DOM++
	return nil
}

// StepPreset moves to another preset of those found, within the list.
type StepPreset struct{ By int }

func (m StepPreset) apply(s *State) []Effect {
	s.View.Picker.Active = s.View.Picker.step(m.By)
	s.DOM++
	return nil
}

// Matches are the presets that the query finds, language models first and else in the
// order of the catalogue: by title, id and heading or, if those hold none of it, by
// description.
func (p Picker) Matches() []*preset.Preset {
	words := strings.Fields(strings.ToLower(p.Query))
	named := found(words, func(q *preset.Preset) string {
		if q.Sequences() {
			return q.Title + " " + q.ID + " " + q.Group + " LLM transformer"
		}
		return q.Title + " " + q.ID + " " + q.Group
	})
	if len(named) > 0 {
		return named
	}
	return found(words, func(q *preset.Preset) string { return q.Title + " " + q.Group + " " + q.Doc })
}

// found are the presets of which the text holds every word.
func found(words []string, text func(*preset.Preset) string) (out []*preset.Preset) {
	for _, p := range preset.Presets() {
		in, all := strings.ToLower(text(p)), true
		for _, w := range words {
			all = all && strings.Contains(in, w)
		}
		if all {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b *preset.Preset) int {
		switch {
		case a.Sequences() == b.Sequences():
			return 0
		case a.Sequences():
			return -1
		}
		return 1
	})
	return out
}

// best is the match that Enter chooses after typing: the first whose title or id
// begins with the query, or the first of all.
func (p Picker) best() string {
	matches := p.Matches()
	query := strings.ToLower(strings.TrimSpace(p.Query))
	for _, m := range matches {
		if strings.HasPrefix(strings.ToLower(m.Title), query) || strings.HasPrefix(m.ID, query) {
			return m.ID
		}
	}
	if len(matches) == 0 {
		return ""
	}
	return matches[0].ID
}

// step is the match that stands by rows after the active one.
func (p Picker) step(by int) string {
	matches := p.Matches()
	if len(matches) == 0 {
		return ""
	}
	at := 0
	for i, m := range matches {
		if m.ID == p.Active {
			at = i
		}
	}
	return matches[min(max(at+by, 0), len(matches)-1)].ID
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

// PickNetwork opens a preset by its id, as it is listed. The device that the
// times are for is about the reader's machine, so it stays where the preset has
// such times.
type PickNetwork struct{ ID string }

func (m PickNetwork) apply(s *State) []Effect {
	s.View.Picker = Picker{}
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
	d := preset.LookupDevice(m.ID)
	if d == nil {
		return nil
	}
	base, o := s.Choice.Source.Variant()
	if base == nil || !base.Operators() {
		return s.chooseLink(false, func(c *Choice) {
			if *c = c.On(d); s.Network != nil && s.Compare == nil {
				*c = c.Fitted(s.Network.Totals.KeepAllPeak, true)
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

// openVariant opens a preset with these options. The link to the host is that of
// the device that the times are for, until a person chooses another: it goes
// along when the device changes.
func (s *State) openVariant(base *preset.Preset, o preset.Options) []Effect {
	v, err := base.With(o)
	if err != nil {
		s.alert(&Alert{Text: err.Error()})
		return nil
	}
	c := s.keepBudget(s.Choice.Moved(Source{Preset: preset.Ref(v.ID, o.Batch)}))
	if _, old := s.Choice.Source.Variant(); base.Operators() && c.Device == old.Device && c.Device != o.Device {
		if d := preset.LookupDevice(o.Device); d != nil {
			c = c.On(d)
		}
	}
	return s.open(c, nil, Push)
}
