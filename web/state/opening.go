package state

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/lookup"
	"memtide/web/view"
)

// A profile takes a moment to be read. What a person sets meanwhile is about what
// is shown and about what comes: it is neither lost when the profile is there (see
// State.decide), nor does it put the address of what is shown over that of what
// comes (see holdAddress).

// Start opens the page with what its link says.
type Start struct {
	Choice Choice
	B      *Choice // the other side of a comparison; nil: there is none
	view.Linked
}

func (m Start) apply(s *State) []Effect {
	s.unwritten = false
	s.View.Follow(m.Linked)
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
	s.unwritten = false
	s.View.Follow(m.Linked)
	return s.navigateBoth(m.Choice, m.B)
}

// BadLink is a link that cannot be followed: cut, damaged, too new.
type BadLink struct{ Text string }

func (m BadLink) apply(s *State) []Effect { return s.alert(&Alert{Text: m.Text}) }

// PickPreset opens a preset, as it suggests to be seen.
type PickPreset struct{ ID string }

func (m PickPreset) apply(s *State) []Effect {
	return s.open(s.keepBudget(s.Choice.Moved(Source{Preset: m.ID})), nil, Push)
}

// PickFile opens a file that was chosen, dropped or pasted.
type PickFile struct {
	Name   string
	Title  string // instead of the network's own name; empty: that
	Bytes  []byte
	Handle any // instead of Bytes: a large file, which the worker reads itself (see proto.Open)
}

func (m PickFile) apply(s *State) []Effect {
	out := s.open(s.Choice.Moved(Source{File: m.Name}), m.Bytes, Push)
	s.Opening.Title = m.Title
	return s.Side.byHandle(out, m.Handle)
}

// byHandle has a worker read the file that the last of some effects opens; nil: it is
// there.
func (o *Side) byHandle(out []Effect, handle any) []Effect {
	if handle == nil {
		return out
	}
	if e, ok := out[len(out)-1].(Open); ok {
		e.Request.Bytes, e.Request.Handle = nil, handle
		o.Opening.file = e.Request
		out[len(out)-1] = e
	}
	return out
}

// open asks for a profile. The choice becomes the page's when it has been
// read; until then nothing that is shown changes.
func (s *State) open(c Choice, content []byte, h History) []Effect {
	s.DOM++
	if c.Step != "" {
		return s.openStep(c, h)
	}
	s.Alert, s.next = nil, nil
	return s.read(&s.Side, c, content, h)
}

// read asks for the profile of a choice of a side, instead of the one that is being
// read. Content is that of a file; nil: the choice says it all.
func (s *State) read(o *Side, c Choice, content []byte, h History) []Effect {
	out := o.cancelOpening()
	name, req := c.Source.File, proto.Open{File: c.Source.File, Bytes: content}
	switch {
	case c.Source.Preset != "":
		name = c.Source.Preset
		req = proto.Open{Preset: name}
	case content == nil:
		req.Bytes, req.Decoded = c.Source.Profile, c.Source.Decoded
	}
	o.Opening = &Opening{ID: s.newID(), Name: name, Choice: c, History: h}
	req.Keep = o.Opening.ID
	o.Opening.file = req
	return append(out, Open{ID: o.Opening.ID, Request: req})
}

// navigate follows a link: it opens another profile only if it has to.
func (s *State) navigate(c Choice) []Effect {
	if s.Network == nil || c.Step != "" || !c.Source.Same(s.Network.Source) {
		return s.open(c, nil, Leave)
	}
	c.Source = s.Network.Source
	return s.choose(c, Leave, false)
}

// Opened is a profile that was read. ID is that of the effect.
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
		if next != nil && next.content != nil { // of two files
			out = append(out, PickSecond{Name: next.choice.Source.File, Bytes: next.content, Handle: next.handle}.apply(s)...)
		}
		return out
	case !memory && (m.Profile.Chain != nil || m.Profile.Graph != nil):
	case own:
		return s.alert(&Alert{File: o.Name, Text: "It holds neither layers nor operations. There is nothing to schedule."})
	default:
		s.dropOther(fmt.Sprintf("%s holds neither layers nor operations.", o.Choice.Source.File))
		return []Effect{WriteURL{Replace}}
	}
	c := m.choice(o)
	side.Network = known.NewNetwork(c.Source, m.Profile, m.Reply, o.file.Bytes).As(c)
	if o.fit || o.History == Push && c.Budget == choice.DefaultBudget && s.Compare == nil {
		c = c.Fitted(side.Network.Totals.KeepAllPeak, o.fit)
	}
	asked := own && c.Strategy != choice.DefaultStrategy && o.History != Push // then it is said that it does not apply
	if st := engine.Lookup(c.Strategy); st != nil && !side.Network.Applies(st) && !asked {
		c.Strategy, c.Args = choice.GraphStrategy, nil
	}
	if own {
		return s.opened(o, c, m.Reply)
	}
	s.touch()
	side.take(c)
	return append(s.solve(side, false), WriteURL{Replace})
}

// choice is the choice that the profile was read for, with what it says itself.
func (m Opened) choice(o *Opening) Choice {
	c := o.Choice
	if c.Source.Preset != "" {
		return c
	}
	c.Source = c.Source.Read(m.Reply.Profile)
	if m.Reply.Packed != "" { // otherwise they are the link's, if there are any
		c.Source.Ops = m.Reply.Packed
	}
	if c.Source.File == "" {
		c.Source.File = m.Profile.Name
	}
	if d := m.Profile.Device; o.History == Push && !o.linked && d != nil && d.ToHost > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", d.ToHost, d.ToDev, d.Duplex
	}
	return c
}

// opened shows the network that was read for c.
func (s *State) opened(o *Opening, c Choice, r *proto.Opened) []Effect {
	closed := s.closeStep()
	s.Memory, s.Curve, s.Preview, s.hover = nil, nil, nil, ""
	s.View.Select(lookup.Target{})
	s.View.TableTop = 0
	if o.History != Leave {
		s.View.Rewind()
		s.View.Frame.Title = o.Title // the one before was about what was open
	}
	about := s.Alert // the link had something odd about it
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

// noChain says that a chain is of little use, and offers what does not need one.
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

// OpenProgressed is a file that is being read.
type OpenProgressed struct {
	ID       int
	Progress proto.Progress
}

func (m OpenProgressed) apply(s *State) []Effect {
	if side := s.reading(m.ID); side != nil {
		side.Opening.Progress = m.Progress
		s.DOM++
	}
	return nil
}

// OpenFailed is a file that was not understood.
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
	case next != nil && next.content != nil: // the second of two files may be a good one
		out = PickFile{Name: next.choice.Source.File, Bytes: next.content, Handle: next.handle}.apply(s)
	case s.Network == nil && s.Memory == nil && s.Step == nil && !s.View.Frame.Embed: // a link that cannot be followed: the default instead
		c, about := s.Choice, "The example is shown."
		if c.Budget != choice.DefaultBudget {
			about = "The example is shown, in its own budget: the one asked for was meant for another network."
		}
		a.Lines = append(a.Lines, about)
		c.Source, c.Budget = Source{Preset: choice.DefaultPreset}, choice.DefaultBudget
		out = s.open(c, nil, Leave)
	}
	s.Alert = a
	return out
}

// holdAddress keeps the address as it is while the profile that it names is being
// read: written now, it would name what was shown before, or, on a page that has
// just been opened, no profile at all. It is written when there is nothing left to
// wait for.
func (s *State) holdAddress(effects []Effect) []Effect {
	writes := func(e Effect) bool { _, ok := e.(WriteURL); return ok }
	switch {
	case s.Opening != nil && s.Opening.History == Leave:
		n := len(effects)
		effects = slices.DeleteFunc(effects, writes)
		s.unwritten = s.unwritten || len(effects) < n
	case s.unwritten:
		s.unwritten = false
		if !slices.ContainsFunc(effects, writes) {
			effects = append(effects, WriteURL{Replace})
		}
	}
	return effects
}
