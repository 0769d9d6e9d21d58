package ui

import (
	"bytes"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/link"
	"memtide/web/state"
)

// linkOf is the permalink of a page. Only what differs from the default is in
// it. keep is the link that the page was opened with: what nothing on the page
// changes, and what this version does not know, is passed on.
func linkOf(s *state.State, keep link.Link) link.Link {
	c := s.Choice
	l := link.Link{Preset: c.Source.Preset, Title: keep.Title, Theme: keep.Theme, Selected: keep.Selected, Unknown: keep.Unknown}
	if l.Preset == "" && s.Network != nil {
		l.Profile = s.Network.Profile
	}
	// Beside a preset that suggests something, the defaults do not go without saying.
	all := c.Source.Suggestion() != nil
	switch {
	case c.Budget.BasisPoints == state.DefaultBudget.BasisPoints && !all:
	case c.Budget.BasisPoints > 0:
		l.Budget.Percent = float64(c.Budget.BasisPoints) / 100
	default:
		l.Budget.Bytes = c.Budget.Bytes
	}
	if c.Strategy != state.DefaultStrategy || all {
		l.Strategy = c.Strategy
	}
	l.Args = c.Args
	device := preset.LookupDevice(c.Device)
	switch {
	case device == nil:
		device = preset.DefaultDevice()
		l.ToDev, l.ToHost = c.ToDev, c.ToHost
	case device.ID != preset.DefaultDeviceID || all:
		l.Device = device.ID
	}
	if c.Duplex != device.Duplex {
		l.Duplex = c.Duplex.String()
	}
	if c.Transfers != engine.Whole {
		l.Transfers = c.Transfers.String()
	}
	if v := s.View; v.To > 0 {
		l.Visible = link.Range{From: v.From, To: v.To}
	}
	return l
}

// choiceOf is what a link asks for. The notes, for people, say what in it is
// not known here; its default is used instead.
func choiceOf(l link.Link) (c state.Choice, notes []string) {
	c = DefaultChoice()
	if l.Profile != nil {
		var native bytes.Buffer
		if err := l.Profile.EncodeNative(&native); err != nil {
			notes = append(notes, err.Error())
		} else {
			c.Source = state.Source{File: l.Profile.Name, Profile: native.Bytes()}
		}
	} else if l.Preset != "" {
		c.Source.Preset = l.Preset
		c = c.Suggested()
	}
	if l.Device != "" {
		if d := preset.LookupDevice(l.Device); d != nil {
			c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex
		} else {
			notes = append(notes, "The link names the device "+l.Device+", which is not known here.")
		}
	}
	if l.ToDev > 0 {
		c.Device, c.ToDev, c.ToHost = "", l.ToDev, l.ToDev
	}
	if l.ToHost > 0 {
		c.Device, c.ToHost = "", l.ToHost
	}
	known := l.Profile != nil || l.Preset != "" // or bytes that were meant for another network
	switch {
	case l.Budget.Bytes > 0 && known:
		c.Budget = proto.Budget{Bytes: l.Budget.Bytes}
	case l.Budget.Percent > 0:
		c.Budget = proto.Budget{BasisPoints: int(l.Budget.Percent*100 + 0.5)}
	}
	if l.Strategy != "" || len(l.Args) > 0 {
		notes = append(notes, takeMethod(&c, l)...)
	}
	switch l.Duplex {
	case "half":
		c.Duplex = engine.HalfDuplex
	case "full":
		c.Duplex = engine.FullDuplex
	}
	if l.Transfers == "streamed" {
		c.Transfers = engine.Streamed
	}
	return c, notes
}

// takeMethod sets the strategy and its arguments, as far as they are known.
func takeMethod(c *state.Choice, l link.Link) []string {
	if l.Strategy != "" {
		if engine.Lookup(l.Strategy) == nil {
			return []string{"The link names the strategy " + l.Strategy + ", which is not known here."}
		}
		c.Strategy = l.Strategy
	}
	st := engine.Lookup(c.Strategy)
	if st == nil {
		return nil
	}
	if _, err := st.Parse(l.Args); err != nil {
		return []string{"The link's arguments are not used: " + err.Error() + "."}
	}
	for name, value := range l.Args {
		c.Args = state.WithArg(c.Strategy, c.Args, name, value)
	}
	return nil
}
