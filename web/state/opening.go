package state

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// A profile takes a moment to be read. What a person sets meanwhile is about what
// is shown and about what comes: it is neither lost when the profile is there (see
// State.carry), nor does it put the address of what is shown over that of what
// comes (see holdAddress).

// Start opens the page with what its link says; From and To are the visible
// part of the step, Lines and Axis how the curve is drawn.
type Start struct {
	Choice   Choice
	From, To time.Duration
	Lines    []string
	Axis     Axis
	Selected string        // by what it is, see draw.Model.Name
	Open     []string      // what is unfolded, by the names of link.Folds
	Chain    bool          // the critical chain is shown
	Slowdown int           // as View.Slowdown
	Moment   time.Duration // as View.Playhead
	Frame    Frame
	B        *Choice // the other side of a comparison; nil: there is none
}

func (m Start) apply(s *State) []Effect {
	s.look(m)
	s.Choice = m.Choice
	out := s.open(m.Choice, nil, Leave)
	if m.B != nil {
		s.next = &waiting{choice: *m.B}
	}
	return out
}

// look takes over how a link wants the page to be.
func (s *State) look(m Start) {
	s.unwritten = false
	s.frame(m)
	s.unfold(m)
}

// Navigate is Back, Forward, or a link pasted into the address bar.
type Navigate Start

func (m Navigate) apply(s *State) []Effect {
	s.look(Start(m))
	return s.navigateBoth(m.Choice, m.B)
}

// BadLink is a link that cannot be followed: cut, damaged, too new.
type BadLink struct{ Text string }

func (m BadLink) apply(s *State) []Effect { return s.alert(&Alert{Text: m.Text}) }

// PickPreset opens a preset, as it suggests to be seen.
type PickPreset struct{ ID string }

func (m PickPreset) apply(s *State) []Effect {
	return s.open(s.keepBudget(s.Choice.moved(Source{Preset: m.ID})), nil, Push)
}

// PickFile opens a file that was chosen, dropped or pasted.
type PickFile struct {
	Name   string
	Title  string // instead of the network's own name; empty: that
	Bytes  []byte
	Handle any // instead of Bytes: a large file, which the worker reads itself (see proto.Open)
}

func (m PickFile) apply(s *State) []Effect {
	out := s.open(s.Choice.moved(Source{File: m.Name}), m.Bytes, Push)
	s.Opening.Title = m.Title
	if e, ok := out[len(out)-1].(Open); ok && m.Handle != nil {
		e.Request.Bytes, e.Request.Handle = nil, m.Handle
		out[len(out)-1] = e
	}
	return out
}

// open asks for a profile. The choice becomes the page's when it has been
// read; until then nothing that is shown changes.
func (s *State) open(c Choice, content []byte, h History) []Effect {
	s.DOM++
	s.Alert, s.next = nil, nil
	var out []Effect
	if s.Opening != nil {
		out = append(out, Cancel{s.Opening.ID})
	}
	s.lastID++
	name := c.Source.File
	req := proto.Open{File: name, Bytes: content}
	switch {
	case c.Source.Preset != "":
		name = c.Source.Preset
		req = proto.Open{Preset: name}
	case content == nil:
		req.Bytes = c.Source.Profile
	}
	s.Opening = &Opening{ID: s.lastID, Name: name, Choice: c, History: h}
	return append(out, Open{ID: s.lastID, Request: req})
}

// navigate follows a link: it opens another profile only if it has to.
func (s *State) navigate(c Choice) []Effect {
	if s.Network == nil || !sameSource(c.Source, s.Network.Source) {
		return s.open(c, nil, Leave)
	}
	c.Source = s.Network.Source
	return s.choose(c, Leave, false)
}

func sameSource(a, b Source) bool {
	return a.Preset == b.Preset && string(a.Profile) == string(b.Profile)
}

// Opened is a profile that was read. ID is that of the effect.
type Opened struct {
	ID      int
	Reply   *proto.Opened
	Profile *profiles.Profile
}

func (m Opened) apply(s *State) []Effect {
	switch {
	case s.Compare.opens(m.ID):
		return s.openedOther(m)
	case s.Opening != nil && m.ID == s.Opening.ID:
		return s.opened(m)
	}
	return nil
}

func (s *State) opened(m Opened) []Effect {
	o := s.Opening
	s.Opening = nil
	s.DOM++
	if m.Reply.Memory != nil {
		return append(s.closeOther(), s.openedMemory(o, m.Reply)...)
	}
	if m.Profile.Chain == nil && m.Profile.Graph == nil {
		s.alert(&Alert{
			Text:  fmt.Sprintf("%s was read, but it holds neither layers nor operations.", o.Name),
			Lines: []string{"There is nothing to schedule. What was shown before stays."},
		})
		return nil
	}
	c := o.Choice
	if c.Source.Preset == "" {
		c.Source.Profile, c.Source.key = m.Reply.Profile, fingerprint(m.Reply.Profile)
		if c.Source.File == "" {
			c.Source.File = m.Profile.Name
		}
	}
	if d := m.Profile.Device; o.History == Push && !o.linked && c.Source.Preset == "" && d != nil && d.ToHost > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", d.ToHost, d.ToDev, d.Duplex
	}
	s.Network, s.Memory = newNetwork(c.Source, m.Profile, m.Reply).As(c), nil
	if st := engine.Lookup(c.Strategy); st != nil && !s.Network.Applies(st) && (c.Strategy == DefaultStrategy || o.History == Push) {
		c.Strategy, c.Args = GraphStrategy, nil
	}
	s.Curve, s.Preview, s.hover = nil, nil, ""
	s.View.Selected, s.View.Trail, s.View.TableTop = draw.Target{}, nil, 0
	if o.History != Leave {
		s.View.From, s.View.To, s.View.Playhead = 0, 0, 0
		s.View.Frame.Title = o.Title // the one before was about what was open
	}
	about := s.Alert // the link had something odd about it
	switch {
	case about != nil || s.Network.Chain == nil:
	case c.Graph && !s.Network.TwoWays():
		about = &Alert{Text: fmt.Sprintf("The link means the operations of %s, but no link can hold them.", o.Name),
			Lines: []string{"Its chain is shown. Open the file itself for the graph."}}
	case m.Reply.NoChain != "" && c.Source.Preset == "":
		about = s.noChain(o.Name, m.Reply.NoChain)
	}
	out := s.choose(c, o.History, false)
	s.Alert = about
	return append(out, s.openNext()...)
}

// noChain says that a chain is of little use, and offers what does not need one.
func (s *State) noChain(name, why string) *Alert {
	a := &Alert{
		Text:  fmt.Sprintf("%s is no useful chain: %s.", name, why),
		Lines: []string{"Strategies that choose per stage have little to choose here. What follows is for this chain all the same."},
	}
	if st := engine.Lookup(GraphStrategy); s.Network.TwoWays() {
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
	switch {
	case s.Compare.opens(m.ID):
		s.Compare.Other.Progress = m.Progress
	case s.Opening != nil && m.ID == s.Opening.ID:
		s.Opening.Progress = m.Progress
	default:
		return nil
	}
	s.DOM++
	return nil
}

// OpenFailed is a file that was not understood.
type OpenFailed struct {
	ID   int
	Text string
}

func (m OpenFailed) apply(s *State) []Effect {
	if s.Compare.opens(m.ID) {
		s.Compare.Other.opening = 0
		s.dropOther(m.Text)
		return []Effect{WriteURL{Replace}}
	}
	if s.Opening == nil || m.ID != s.Opening.ID {
		return nil
	}
	next, file := s.next, s.Opening.Choice.Source.File
	s.Opening, s.next = nil, nil
	why := m.Text
	if file != "" {
		why = file + ": " + why
	}
	s.alert(textAlert(why))
	a := s.Alert
	var out []Effect
	switch {
	case next != nil && next.content != nil: // the second of two files may be a good one
		out = PickFile{Name: next.choice.Source.File, Bytes: next.content}.apply(s)
	case s.Network == nil && !s.View.Frame.Embed: // a link that cannot be followed: the default instead
		a.Lines = append(a.Lines, "The example is shown.")
		c := s.Choice
		c.Source, c.Budget = Source{Preset: DefaultPreset}, DefaultBudget
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
