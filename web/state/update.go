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
	switch m := m.(type) {
	case Start:
		s.Choice, s.View.From, s.View.To = m.Choice, m.From, m.To
		return s.open(m.Choice, nil, Leave)
	case Navigate:
		s.View.From, s.View.To = m.From, m.To
		return s.navigate(m.Choice)
	case BadLink:
		s.alert(&Alert{Text: m.Text})
	case PickPreset:
		return s.open(s.keepBudget(s.Choice.moved(Source{Preset: m.ID})), nil, Push)
	case PickFile:
		return s.open(s.Choice.moved(Source{File: m.Name}), m.Bytes, Push)
	case Opened, OpenFailed:
		return s.updateOpening(m)
	case StartAgain:
		return s.choose(s.Choice, Leave, false)
	case Progressed, Solved, SolveFailed, Silent, Stop:
		return s.updateSolving(m)
	case StartSweep, StopSweep, SweptPoint, Swept, SweepFailed, Hover, Unhover, Adopt:
		return s.updateCurve(m)
	case SetBudget, StepBudget, SetDevice, SetBandwidth, SetDuplex, SetTransfers, SetStrategy, SetArg, Type, Refuse:
		return s.updateChoice(m)
	default:
		return s.updateView(m)
	}
	return nil
}

// open asks for a profile. The choice becomes the page's when it has been
// read; until then nothing that is shown changes.
func (s *State) open(c Choice, content []byte, h History) []Effect {
	s.DOM++
	s.Alert = nil
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

func (s *State) updateOpening(m Message) []Effect {
	switch m := m.(type) {
	case Opened:
		if s.Opening == nil || m.ID != s.Opening.ID {
			return nil
		}
		return s.opened(m)
	case OpenFailed:
		if s.Opening == nil || m.ID != s.Opening.ID {
			return nil
		}
		s.Opening = nil
		s.alert(textAlert(m.Text))
		if s.Network == nil { // a link that cannot be followed: the default instead
			a := s.Alert
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
	if m.Profile.Chain == nil {
		s.alert(&Alert{
			Text:  fmt.Sprintf("%s was read, but it is no useful chain.", o.Name),
			Lines: []string{m.Reply.NoChain, "The strategies here need stages that follow each other. What was shown before stays."},
		})
		return nil
	}
	c := o.Choice
	if c.Source.Preset == "" {
		c.Source.Profile = m.Reply.Profile
		if c.Source.File == "" {
			c.Source.File = m.Profile.Name
		}
	}
	if d := m.Profile.Device; o.History == Push && c.Source.Preset == "" && d != nil && d.ToHost > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", d.ToHost, d.ToDev, d.Duplex
	}
	s.Network = &Network{
		Source:  c.Source,
		Profile: m.Profile,
		Graph:   engine.ExpandChain(m.Profile.Chain),
		Lint:    m.Reply.Lint,
		Totals:  m.Reply.Totals,
	}
	s.Curve, s.Preview, s.hover = nil, nil, ""
	s.View.Selected, s.View.Trail, s.View.TableTop = draw.Target{}, nil, 0
	if o.History != Leave {
		s.View.From, s.View.To = 0, 0
	}
	about := s.Alert // the link had something odd about it
	if about == nil && m.Reply.NoChain != "" && c.Source.Preset == "" {
		about = &Alert{
			Text:  fmt.Sprintf("%s is no useful chain: %s.", o.Name, m.Reply.NoChain),
			Lines: []string{"Strategies that choose per stage have little to choose here. What follows is for this chain all the same."},
		}
	}
	out := s.choose(c, o.History, false)
	s.Alert = about
	return out
}

// choose makes c the page's choice and shows what it asks for.
func (s *State) choose(c Choice, h History, soon bool) []Effect {
	s.DOM++
	s.Paint++
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
	return append(out, s.followCurve()...)
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
	case Select, StepWait, FollowCause, Retrace:
		s.updateSelection(m)
	case SetRange:
		s.setRange(m.From, m.To)
		return nil // the components do not show the range
	case ToggleTable:
		v.Table = !v.Table
	case ScrollTable:
		v.TableTop = max(m.Top, 0)
	case ToggleHelp:
		v.Help = !v.Help
	case SetTheme:
		v.Theme = m.Theme
		s.DOM++
		return []Effect{SaveTheme(m)}
	case Dismiss:
		switch {
		case m.Notice: // what is written wrongly goes with what was said about it
			s.Alert, s.Draft = nil, Draft{}
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
	end := time.Duration(0)
	if p := s.Visible(); p != nil && p.Solved.Trace != nil {
		end = p.Solved.Trace.Makespan
	}
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
