package state

import (
	"time"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
)

// open asks for the profile of file, or if file is nil for that of c.Source. c becomes the choice when the profile has
// been read; until then the page shows what it showed. A training step that a strategy can plan is opened as a network
// with everything kept; another one is opened by itself, at once.
func (s *State) open(c Choice, file *File, h History) []Effect {
	s.DOM++
	if as, ok := c.Planned(engine.KeepAll); ok {
		c = as
	}
	if c.Step != "" {
		return s.openStep(c, h)
	}
	s.Alert, s.next = nil, nil
	return s.read(&s.Side, c, file, h)
}

// read asks for a profile for the side o, as open does. It cancels the profile that o waits for.
func (s *State) read(o *Side, c Choice, file *File, h History) []Effect {
	out := o.cancelOpening()
	name, req := c.Source.File, proto.Open{File: c.Source.File}
	switch {
	case file != nil:
		req.Bytes, req.Handle = file.Bytes, file.Handle
	case c.Source.Preset != "":
		name = c.Source.Preset
		req = proto.Open{Preset: name}
	case c.Source.Model != "":
		req.Model, req.Options = c.Source.Model, c.Source.Options
	default:
		req.Bytes, req.Decoded = c.Source.Profile, c.Source.Decoded
	}
	req.Keep = s.newID()
	o.Opening = &Opening{ID: req.Keep, Name: name, Choice: c, History: h, file: req}
	return append(out, Open{ID: req.Keep, Request: req})
}

// openVariant opens a preset with options. If the link to the host was that of the device of the times, it becomes
// that of the new device.
func (s *State) openVariant(base *preset.Preset, o preset.Options) []Effect {
	v, err := base.With(o)
	if err != nil {
		return s.alert(&Alert{Text: err.Error()})
	}
	c := s.keepBudget(s.Choice.Moved(Source{Preset: preset.Ref(v.ID, o.Batch)}))
	if _, old := s.Choice.Source.Variant(); base.Operators() && c.Device == old.Device && c.Device != o.Device {
		if d := card.Lookup(o.Device); d != nil {
			c = c.On(d)
		}
	}
	return s.open(c, nil, Push)
}

// keepBudget returns c, the choice of a new preset or variant. If only the batch size or an option of the network has
// changed, it keeps the present budget and the choice of graph or chain: "does batch 64 fit into 16 GiB?" is about one
// budget. In a comparison it keeps the budget in bytes, so that both sides have the same memory.
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

// solve shows the schedule of the choice of o, from the cache or by asking for it. The present picture stays until the
// answer comes. limit is the time limit; 0 means no limit. soon is Solve.Soon.
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
			s.copies = p.Index().CopyLanes()
		}
		s.View.Carry(p, old)
		s.View.Fit(s.End())
	}
}
