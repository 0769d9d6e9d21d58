package state

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/draw"
)

// Update changes the state by one message and returns what has to be done, in
// order.
func (s *State) Update(m Message) []Effect {
	out, ok := s.updatePlaces(m)
	if !ok {
		out, ok = s.updateCompare(m)
	}
	if !ok {
		out, ok = s.updateShare(m)
	}
	if !ok {
		out, ok = s.updateAsk(m)
	}
	if !ok {
		out, ok = s.updateLayers(m)
	}
	if !ok {
		out, ok = s.updateKeyboard(m)
	}
	if !ok {
		out = s.update(m)
	}
	return append(s.holdAddress(out), s.followPlaces()...)
}

func (s *State) update(m Message) []Effect {
	switch m := m.(type) {
	case Start:
		s.unwritten = false
		s.Choice = m.Choice
		s.frame(m)
		s.unfold(m)
		out := s.open(m.Choice, nil, Leave)
		if m.B != nil {
			s.next = &waiting{choice: *m.B}
		}
		return out
	case Navigate:
		s.unwritten = false
		s.frame(Start(m))
		s.unfold(Start(m))
		return s.navigateBoth(m.Choice, m.B)
	case BadLink:
		s.alert(&Alert{Text: m.Text})
	case PickPreset:
		return s.open(s.keepBudget(s.Choice.moved(Source{Preset: m.ID})), nil, Push)
	case PickFile:
		return s.openFile(m)
	case Opened, OpenProgressed, OpenFailed:
		return s.updateOpening(m)
	case StartAgain:
		return s.choose(s.Choice, Leave, false)
	case SolveHere:
		// What failed for want of workers is asked again.
		s.Curve, s.Tuning = nil, nil
		s.curves, s.tunings = recent[*Curve]{limit: s.curves.limit}, recent[*Tuning]{limit: s.tunings.limit}
		return append([]Effect{UseThread{}}, s.choose(s.Choice, Leave, false)...)
	case Progressed, Solved, SolveFailed, Silent, Stop:
		return s.updateSolving(m)
	case TogglePicker, FilterPresets, StepPreset, PickNetwork, SetVariant, SetFast, SetSeparate:
		return s.updatePicker(m)
	case SetLines:
		return s.setLines(m.Names)
	case ToggleLines:
		return s.toggleLines(m.Names)
	case SetAxis:
		s.View.Axis = m.Axis
		s.DOM++
		return []Effect{WriteURL{Replace}}
	case StartTuning, StopTuning:
		out, _ := s.updateTuning(m)
		return out
	case StartSweep, StopSweep, SweptPoint, Swept, SweepFailed, Hover, Unhover, Adopt:
		return s.updateCurve(m)
	case SetBudget, StepBudget, SetDevice, SetBandwidth, SetDuplex, SetTransfers, SetGraph, SetStrategy, SetArg, Type, Refuse:
		out := s.updateChoice(m)
		s.carry(m)
		return out
	default:
		return s.updateView(m)
	}
	return nil
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

// openFile opens a file.
func (s *State) openFile(m PickFile) []Effect {
	out := s.open(s.Choice.moved(Source{File: m.Name}), m.Bytes, Push)
	s.Opening.Title = m.Title
	if e, ok := out[len(out)-1].(Open); ok && m.Handle != nil {
		e.Request.Bytes, e.Request.Handle = nil, m.Handle
		out[len(out)-1] = e
	}
	return out
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

func (s *State) updateOpening(m Message) []Effect {
	switch m := m.(type) {
	case Opened:
		if s.Opening == nil || m.ID != s.Opening.ID {
			return nil
		}
		return s.opened(m)
	case OpenProgressed:
		if s.Opening != nil && m.ID == s.Opening.ID {
			s.Opening.Progress = m.Progress
			s.DOM++
		}
	case OpenFailed:
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
		if next != nil && next.content != nil { // the second of two files may be a good one
			a := s.Alert
			out := s.openFile(PickFile{Name: next.choice.Source.File, Bytes: next.content})
			s.Alert = a
			return out
		}
		if s.Network == nil && !s.View.Frame.Embed { // a link that cannot be followed: the default instead
			a := s.Alert
			a.Lines = append(a.Lines, "The example is shown.")
			c := s.Choice
			c.Source, c.Budget = Source{Preset: DefaultPreset}, DefaultBudget
			out := s.open(c, nil, Leave)
			s.Alert = a
			return out
		}
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

// choose makes c the page's choice and shows what it asks for.
func (s *State) choose(c Choice, h History, soon bool) []Effect {
	s.DOM++
	s.Paint++
	if s.Network != nil {
		c.Graph = c.Graph && s.Network.TwoWays()
		s.Network = s.Network.As(c)
	}
	s.Choice = c
	s.Draft = Draft{}
	var out []Effect
	if h != Leave {
		out = append(out, WriteURL{h})
	}
	if s.Network == nil {
		return out
	}
	out = append(out, s.solve(soon)...)
	return append(out, s.follow()...)
}

// follow brings the curve and the tried parameters up to the present choice.
func (s *State) follow() []Effect {
	if f := &s.View.Frame; f.Embed { // a view computes only what it shows
		if f.Show != nil && f.Shows("curve") {
			return s.followCurve()
		}
		return nil
	}
	out := append(s.followCurve(), s.followTuning()...)
	return append(out, s.followQuestions()...)
}

// alert shows an error; it replaces the one before it.
func (s *State) alert(a *Alert) {
	s.Alert = a
	s.DOM++
	s.Paint++
}

func (s *State) updateChoice(m Message) []Effect {
	c := s.Choice
	switch m := m.(type) {
	case SetBudget:
		c.Budget = proto.Budget{Bytes: max(m.Bytes, 1)} // 0 is no budget, and no link could say it
		if m.BasisPoints > 0 {
			c.Budget = proto.Budget{BasisPoints: m.BasisPoints}
		}
		return s.choose(c, Replace, !m.Settled)
	case StepBudget:
		r := s.BudgetRange()
		c.Budget = proto.Budget{Bytes: r.At(r.Position(s.Budget()) + m.Steps)}
		return s.choose(c, Replace, true)
	case SetDevice:
		c.Device, c.ToHost, c.ToDev, c.Duplex = m.ID, m.Device.ToHost, m.Device.ToDev, m.Device.Duplex
		return s.choose(c, Replace, false)
	case SetBandwidth:
		c.Device, c.ToHost, c.ToDev = "", m.Rate, m.Rate
		return s.choose(c, Replace, !m.Settled)
	case SetDuplex:
		c.Duplex = m.Duplex
		return s.choose(c, Replace, false)
	case SetTransfers:
		c.Transfers = m.Transfers
		return s.choose(c, Replace, false)
	case SetGraph:
		if base, o := c.Source.Variant(); base != nil && base.Operators() {
			o.Graph = m.Graph
			return s.openVariant(base, o)
		}
		if c.Graph = m.Graph; s.Network == nil {
			return nil
		}
		if st := engine.Lookup(c.Strategy); st != nil && !s.Network.As(c).Applies(st) {
			c.Strategy, c.Args = GraphStrategy, nil
		}
		if c.Budget == s.instead { // that fits the other way only was nobody's choice
			c.Budget = DefaultBudget
		}
		return s.choose(c, Push, false)
	case SetStrategy:
		if m.Name == c.Strategy {
			return nil
		}
		c.Strategy, c.Args = m.Name, nil
		return s.choose(c, Push, false)
	case SetArg:
		c.Args = WithArg(c.Strategy, c.Args, m.Name, m.Value)
		return s.choose(c, Replace, false)
	case Type:
		s.Draft = Draft(m) // the field shows it already: nothing to draw
	case Refuse:
		s.alert(&Alert{Text: m.Text})
	}
	return nil
}

func (s *State) updateView(m Message) []Effect {
	v := &s.View
	s.Paint++
	switch m := m.(type) {
	case Select, Find, StepWait, FollowCause, Retrace:
		s.updateSelection(m)
		s.DOM++
		return []Effect{WriteURL{Replace}}
	case SetRange:
		s.setRange(m.From, m.To)
		return []Effect{WriteURL{Replace}} // the components do not show the range
	case ToggleTable:
		v.Table = !v.Table
		s.DOM++
		return []Effect{WriteURL{Replace}}
	case ScrollTable:
		v.TableTop = max(m.Top, 0)
	case ToggleLineList:
		v.LineList = !v.LineList
		s.DOM++
		return []Effect{WriteURL{Replace}}
	case SetTheme:
		v.Theme = m.Theme
		s.DOM++
		return []Effect{SaveTheme(m)}
	case Dismiss:
		switch {
		case m.Notice: // what is written wrongly goes with what was said about it
			s.Alert, s.Draft = nil, Draft{}
		case v.Picker.Open:
			v.Picker = Picker{}
		case s.Draft.Field != "":
			s.Draft = Draft{}
		case v.Help:
			v.Help = false
		case s.Alert != nil:
			s.Alert = nil
		case v.Selected.Kind != draw.Nothing:
			v.Selected, v.Trail = draw.Target{}, nil
		}
	case CopyLink:
		return []Effect{CopyURL{}}
	case ForgetNote:
		v.Note = ""
	case Copied:
		v.Note = "Link copied."
		if n := s.Network; n != nil && !n.InLink() {
			v.Note = "Link copied. No link can hold a graph: send the file too."
		}
		if m.Err != "" {
			v.Note = m.Err
		}
	}
	s.DOM++
	return nil
}

func (s *State) updateSelection(m Message) {
	p, v := s.Visible(), &s.View
	if p == nil {
		return
	}
	switch m := m.(type) {
	case Select:
		v.Selected, v.Trail = m.Target, nil
	case Find:
		if t := p.Model().Find(m.Text, m.After); t.Kind != draw.Nothing {
			v.Selected, v.Trail = t, nil
		}
	case StepWait:
		v.Selected, v.Trail = gapTarget(s.stepWait(m.By, len(p.Gaps()))), nil
	case FollowCause:
		if cause := p.Model().Cause(v.Selected); cause.Kind != draw.Nothing {
			v.Trail = append(v.Trail, v.Selected)
			v.Selected = cause
		}
	case Retrace:
		if n := len(v.Trail); n > 0 {
			v.Selected, v.Trail = v.Trail[n-1], v.Trail[:n-1]
		}
	}
	v.Picked = true
	s.reveal()
}

// stepWait is the wait that is by waits after the selected one, in a circle of
// n; -1 if there is none.
func (s *State) stepWait(by, n int) int {
	switch i := s.Wait(); {
	case n == 0:
		return -1
	case i >= 0:
		return ((i+by)%n + n) % n
	case by < 0:
		return n - 1
	}
	return 0
}

// Wait is the selected wait, -1 if none is selected.
func (s *State) Wait() int {
	if t := s.View.Selected; t.Kind == draw.OnGap {
		return t.Index
	}
	return -1
}

// reveal moves the visible part of the step so that the selected thing is in it.
func (s *State) reveal() {
	v := &s.View
	if v.To == 0 || v.Selected.Kind == draw.Nothing {
		return
	}
	from, to := s.Visible().Model().Interval(v.Selected)
	if to <= from || to > v.From && from < v.To {
		return
	}
	width := v.To - v.From
	s.setRange(from+(to-from)/2-width/2, from+(to-from)/2+width/2)
}

// minRange is the shortest part of a step that the pictures zoom to.
const minRange = time.Microsecond

func (s *State) setRange(from, to time.Duration) {
	end := s.End()
	if width := to - from; from < 0 {
		from, to = 0, width
	} else if to > end {
		from, to = end-width, end
	}
	from, to = max(from, 0), min(to, end)
	if to <= from || from == 0 && to == end {
		from, to = 0, 0
	} else if to-from < minRange {
		to = from + minRange
	}
	s.View.From, s.View.To = from, to
}
