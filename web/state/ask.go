package state

import (
	"time"

	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/lookup"
)

// open asks for a profile, that of a file or, if that is nil, the one that the choice
// says. The choice becomes the page's when it has been read; until then nothing that is
// shown changes.
func (s *State) open(c Choice, file *File, h History) []Effect {
	s.DOM++
	if c.Step != "" {
		return s.openStep(c, h)
	}
	s.Alert, s.next = nil, nil
	return s.read(&s.Side, c, file, h)
}

// read asks for the profile of a choice of a side, as open does, instead of the one that
// is being read.
func (s *State) read(o *Side, c Choice, file *File, h History) []Effect {
	out := o.cancelOpening()
	name, req := c.Source.File, proto.Open{File: c.Source.File}
	switch {
	case file != nil:
		req.Bytes, req.Handle = file.Bytes, file.Handle
	case c.Source.Preset != "":
		name = c.Source.Preset
		req = proto.Open{Preset: name}
	default:
		req.Bytes, req.Decoded = c.Source.Profile, c.Source.Decoded
	}
	req.Keep = s.newID()
	o.Opening = &Opening{ID: req.Keep, Name: name, Choice: c, History: h, file: req}
	return append(out, Open{ID: req.Keep, Request: req})
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
		if d := card.Lookup(o.Device); d != nil {
			c = c.On(d)
		}
	}
	return s.open(c, nil, Push)
}

// keepBudget returns c, a choice that another preset was picked for. If only the batch
// size or an option of the network has changed, it keeps the budget that was set, and
// whether the network is a graph: "does batch 64 fit into 16 GiB?" is asked about one
// budget. In a comparison the budget is kept in bytes, because both sides have the
// same memory until one of them is given more.
func (s *State) keepBudget(c Choice) Choice {
	old, _ := s.Choice.Source.Variant()
	now, _ := c.Source.Variant()
	if old == nil || old != now {
		return c
	}
	c.Graph = s.Choice.Graph
	switch b := s.Choice.Budget; {
	case s.Compare != nil && s.Network != nil:
		c.Budget = choice.Budget{Bytes: max(b.Of(s.Network.Totals.KeepAllPeak), 1)}
	case !s.Choice.Roomy():
		c.Budget = b
	}
	return c
}

// solve shows the schedule of a side's choice, from the cache or by asking for it within a
// limit. What is shown stays until the answer comes.
func (s *State) solve(o *Side, soon bool, limit time.Duration) []Effect {
	o.OverBudget, o.Failed, o.fallback = nil, "", 0
	slot, own := ForOther, o == &s.Side
	if own {
		slot, s.Alert = ForPage, nil
	}
	if p, ok := s.pictures.get(o.Network.PictureKey(o.Choice)); ok {
		out := o.cancelSolving()
		s.show(o, p)
		return out
	}
	if p := o.Shown; !own && p != nil && p.Partial && p.Network == o.Network && p.Choice.Equal(o.Choice) {
		return nil // the best so far of a solver that was stopped
	}
	o.Solving = &Solving{ID: s.newID(), Choice: o.Choice}
	return []Effect{Solve{ID: o.Solving.ID, Choice: o.Choice, Request: within(o.Network.Request(o.Choice), limit),
		Slot: slot, Soon: soon}}
}

// within returns a request with a limit.
func within(q proto.Solve, limit time.Duration) proto.Solve {
	q.Limit = limit
	return q
}

// show makes p the picture of a side.
func (s *State) show(o *Side, p *known.Picture) {
	old := o.Shown
	o.Shown = p
	s.touch()
	if o == &s.Side {
		if !s.dragging {
			s.copies = lookup.CopyLanes(p.Solved.Trace)
		}
		s.View.Carry(p, old)
		s.View.Fit(s.End())
	}
}
