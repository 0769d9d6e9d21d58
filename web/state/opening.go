package state

import (
	"cmp"
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/lookup"
)

// While a profile is being read, a person may change settings. They apply to what is shown and to the profile
// (see State.decide), and do not write the address of what is shown over that of the profile (see holdAddress).

// Start opens the page with the choice and the view of its link.
type Start struct {
	Choice Choice
	B      *Choice // side B of a comparison; nil without a comparison
	link.Look
	Amended bool // a value of the link is not used: when its profile has been read, the address is written without it
}

func (m Start) apply(s *State) []Effect {
	s.unwritten = m.Amended
	s.View.Follow(m.Look)
	s.Choice = m.Choice
	out := s.open(m.Choice, nil, Leave)
	if m.B != nil && m.Choice.Step == "" {
		s.next = &waiting{choice: *m.B}
	}
	return out
}

// Navigate is Back, Forward, or a link pasted into the address bar.
type Navigate Start

func (m Navigate) apply(s *State) []Effect {
	s.unwritten = m.Amended
	s.View.Follow(m.Look)
	return s.navigateBoth(m.Choice, m.B)
}

// navigateBoth follows a link: a becomes the choice of A, and b that of B. If b is nil, a comparison is closed. The
// controls stay on their side.
func (s *State) navigateBoth(a Choice, b *Choice) []Effect {
	onB := s.Compare != nil && !s.Compare.OnA
	var out []Effect
	if onB {
		o := &s.Compare.Other
		out = o.cancel()
		if o.Network != nil {
			s.Network, o.Network = o.Network, s.Network
			s.Shown, o.Shown = o.Shown, s.Shown
		}
		s.Compare.OnA = true
	}
	if s.Network == nil || a.Step != "" || !a.Source.Same(s.Network.Source) {
		out = append(out, s.open(a, nil, Leave)...)
	} else { // the same profile
		a.Source = s.Network.Source
		out = append(out, s.choose(a, Leave, false)...)
	}
	if b == nil {
		return append(out, s.closeOther()...)
	}
	s.next = &waiting{choice: *b}
	if s.Opening != nil {
		return out
	}
	out = append(out, s.openNext()...)
	if onB {
		out = append(out, s.editOther()...)
	}
	return out
}

// PickFile opens a file.
type PickFile File

func (m PickFile) apply(s *State) []Effect {
	out := s.open(s.Choice.Moved(Source{File: m.Name}), (*File)(&m), Push)
	s.Opening.Title = m.Title
	return out
}

// PickFiles compares two files.
type PickFiles struct{ A, B PickFile }

func (m PickFiles) apply(s *State) []Effect {
	out := append(s.closeOther(), m.A.apply(s)...)
	s.next = &waiting{file: (*File)(&m.B)}
	return out
}

// Opened is a profile that was read.
type Opened struct {
	ID      int
	Reply   *proto.Opened
	Profile *profiles.Profile
}

func (m Opened) apply(s *State) []Effect {
	side := s.reading(m.ID)
	if side == nil {
		return nil
	}
	o, own := side.Opening, side == &s.Side
	side.Opening = nil
	s.DOM++
	switch memory := m.Reply.Memory != nil; {
	case memory && own:
		next := s.next
		out := append(s.closeOther(), s.openedMemory(o, m.Reply)...)
		if next != nil && next.file != nil { // of two files
			s.alert(&Alert{Text: "Two files of memory are compared by the command line: memtide doctor FIRST SECOND."})
		}
		return out
	case !memory && (m.Profile.Chain != nil || m.Profile.Graph != nil):
	case own:
		return s.alert(&Alert{File: o.Name,
			Text: "It holds neither blocks nor operations. There is nothing to schedule."})
	default:
		s.dropOther(fmt.Sprintf("%s holds neither blocks nor operations.", o.Choice.Source.File))
		return []Effect{WriteURL{Replace}}
	}
	c := m.chosen(o)
	side.Network = known.NewNetwork(c.Source, m.Profile, m.Reply).As(c)
	if o.fit && s.Compare == nil {
		c.Budget = c.Room()
	}
	if s.Compare == nil {
		c = c.Fitted(side.Network.Totals.KeepAllPeak, side.Network.Stages())
	}
	asked := own && c.Strategy != choice.DefaultStrategy && o.History != Push // then an alert says why it fails
	if st := engine.Lookup(c.Strategy); st != nil && !side.Network.Applies(st) && !asked {
		c.Strategy, c.Args = choice.GraphStrategy, nil
	}
	if own {
		return append(s.opened(o, c, m.Reply), s.timeConfig(o)...)
	}
	s.touch()
	side.setChoice(c)
	return append(s.solve(side, false, s.limit(o.History)), WriteURL{Replace})
}

// chosen returns the choice that the profile was read for, with the name, source and link of the profile.
func (m Opened) chosen(o *Opening) Choice {
	c := o.Choice
	if c.Source.Preset != "" {
		return c
	}
	c.Source = c.Source.Read(m.Reply.Profile)
	if m.Reply.Packed != "" { // otherwise Ops are those of the link, if any
		c.Source.Ops = m.Reply.Packed
	}
	c.Source.File = cmp.Or(c.Source.File, m.Profile.Name)
	if m.Reply.Model != "" {
		c.Source.Model, c.Source.Options = m.Reply.Model, ask.Plain(m.Reply.Step)
	}
	if o.History != Push || o.linked {
		return c
	}
	if d := card.Lookup(m.Reply.Step["device"]); d != nil { // the file itself names its card
		c = c.On(d)
	} else if d := m.Profile.Device; d != nil && d.ToHost > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", d.ToHost, d.ToDev, d.Duplex
	}
	return c
}

// opened makes c the choice and shows its network, which has just been read.
func (s *State) opened(o *Opening, c Choice, r *proto.Opened) []Effect {
	closed := s.closeStep()
	s.Memory, s.Curve, s.Preview, s.hover = nil, nil, nil, ""
	s.View.Select(lookup.Target{})
	s.View.TableTop = 0
	if o.History != Leave {
		s.View.Rewind()
		s.View.Frame.Title = o.Title
	}
	about := s.Alert // what was wrong with the link, if anything
	switch {
	case about != nil || s.Network.Chain == nil:
	case c.Graph && !s.Network.TwoWays():
		about = &Alert{Text: fmt.Sprintf("The link asks for the operations of %s, but no link can hold them.", o.Name),
			Lines: []string{"Its chain is shown. Open the file itself for the graph."}}
	case r.NoChain != "" && c.Source.Preset == "":
		about = s.noChain(o.Name, r.NoChain)
	}
	out := append(closed, s.choose(c, o.History, false)...)
	s.Alert = about
	return append(out, s.openNext()...)
}

// noChain returns an alert that says why a chain is of little use, and offers a strategy for graphs.
func (s *State) noChain(name, why string) *Alert {
	a := &Alert{
		File:  name,
		Text:  fmt.Sprintf("%s is no useful chain: %s.", name, why),
		Lines: []string{"Strategies that choose per stage have little to choose from here. What follows is for this chain all the same."},
	}
	if st := engine.Lookup(choice.GraphStrategy); s.Network.TwoWays() {
		a.Action, a.Do = "Use the graph of operations", SetGraph{true}
	} else if st != nil {
		a.Action, a.Do = "Use "+st.Title, SetStrategy{Name: st.Name}
	}
	return a
}

// openedMemory shows a file about addresses instead of a network or a step.
func (s *State) openedMemory(o *Opening, r *proto.Opened) []Effect {
	out := append(s.closeStep(), s.closeNetwork()...)
	file := cmp.Or(o.Choice.Source.File, r.Memory.Name)
	s.Memory = known.NewMemory(file, r, &o.file)
	s.View.Select(lookup.Target{})
	if o.History != Leave {
		s.View.Rewind()
		s.View.Frame.Title = o.Title
	}
	if o.Choice.Source.Preset != "" {
		s.Choice = o.Choice
	} else {
		s.Choice.Source, s.Choice.Alloc, s.Choice.AllocArgs = Source{File: file}, "", nil
	}
	s.touch()
	return append(out, WriteURL{o.History})
}

// setConfig opens the config.json that is open with an option of package ask: as a network on the same card if a
// strategy can plan that, and otherwise as a step by itself.
func (s *State) setConfig(name, value string) []Effect {
	model, args, ok := s.stepOf()
	if !ok {
		return nil
	}
	if as := s.coming(); as.Model != "" {
		args = as.Options
	}
	if d := s.Choice.GPU(); d != nil && d.Timed() { // the card of the sentence, whatever the times were for
		args = ask.With(args, "device", d.ID)
	}
	return s.openModel(model, ask.With(args, name, value))
}

// openModel opens the training step of a model, such as a config.json, as setConfig does. If only the policy differs
// from what is open, it chooses that. A budget that was chosen for a network stays.
func (s *State) openModel(model string, args engine.Args) []Effect {
	c := s.Choice
	c.Step, c.StepArgs = model, args
	rest, policy, ok := preset.Split(args)
	as, listed := c.Planned(engine.KeepAll)
	name, budget, chosen := ask.Title(model), c.Budget, s.Network != nil && !s.Choice.Roomy()
	if model == s.Config() && model != "" && s.Network.Source.File != "config.json" {
		name = s.Network.Source.File
	}
	switch {
	case !ok:
		return s.open(c, nil, Push)
	case !listed:
		as = c.Moved(Source{File: name, Model: model, Options: rest}).Under(policy)
	}
	if s.Network != nil && as.Source.Same(s.Network.Source) {
		return s.choose(s.Choice.By(engine.KeepAll, nil).Under(policy), Push, false)
	}
	if listed {
		return s.open(s.keepBudget(as), nil, Push)
	}
	out := s.open(as, nil, Push)
	o := s.Opening
	if d := card.Lookup(ask.Value(args, "device")); d != nil {
		o.Choice = o.Choice.On(d)
	}
	if o.linked, o.fit = true, !chosen; chosen {
		o.Choice.Budget = budget
	}
	return out
}

// timeConfig reads a config.json that a person has opened again, for the times of the chosen card, if the file names
// none itself. o is how it was opened.
func (s *State) timeConfig(o *Opening) []Effect {
	d := s.Choice.GPU()
	if o.History != Push || o.linked || s.Compare != nil || s.Config() == "" || d == nil || !d.Timed() ||
		ask.Value(s.Network.Source.Options, "device") == d.ID {
		return nil
	}
	out := s.setConfig("device", d.ID)
	s.Opening.History = Replace
	return out
}

// OpenFailed says why a profile could not be read.
type OpenFailed struct {
	ID   int
	Text string
}

func (m OpenFailed) apply(s *State) []Effect {
	switch s.reading(m.ID) {
	case &s.Side:
	case nil:
		return nil
	default:
		s.dropOther(m.Text)
		return []Effect{WriteURL{Replace}}
	}
	next, file := s.next, s.Opening.Choice.Source.File
	s.Opening, s.next = nil, nil
	why := m.Text
	if file != "" {
		why = file + ": " + why
	}
	s.alert(textAlert(why))
	a := s.Alert
	a.File = file
	var out []Effect
	switch {
	case next != nil && next.file != nil: // the second of two files may be valid
		out = PickFile(*next.file).apply(s)
	// a link that cannot be followed: show the default instead
	case s.Network == nil && s.Memory == nil && s.Step == nil && !s.View.Frame.Embed:
		about := "The example is shown."
		if !s.Choice.Roomy() {
			about = "The example is shown, in its own budget: the one asked for was meant for another network."
		}
		a.Text, a.Lines, a.Linked = strings.TrimSuffix(a.Text, ".")+".", append(a.Lines, about), true
		out = s.open(choice.Example(), nil, Replace) // and the address must not go on naming what is not
	}
	s.Alert = a
	return out
}
