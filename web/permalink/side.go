package permalink

import (
	"bytes"
	"maps"

	"memtide/engine"
	"memtide/profiles/formats/native"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/state"
)

// MaxBoth is the longest fragment that holds two profiles: browsers show and
// people pass on no longer ones, and link.Parse reads little more.
const MaxBoth = 60 << 10

// addSide writes side B of a comparison into the link of A: what differs from
// A, or what it is solved by if nothing does, so that the link says that there
// is a B.
func addSide(l *link.Link, s *state.State) {
	if s.Compare == nil {
		return
	}
	a, b := s.SideChoices()
	_, network := s.SideNetworks()
	if !s.Compare.OnA { // what is selected belongs to B, which is opened second
		l.Selected = ""
	}
	l.Alloc, l.AllocArgs = s.Choice.Alloc, s.Choice.AllocArgs
	l.B = &link.Link{}
	sourceLink(l.B, a, b, network)
	if a.Budget != b.Budget {
		l.B.Budget = b.Budget
	}
	if a.Strategy != b.Strategy || !maps.Equal(a.Args, b.Args) {
		l.B.Strategy, l.B.Args = b.Strategy, b.Args
	}
	deviceLink(l.B, a, b)
	if a.Transfers != b.Transfers {
		l.B.Transfers = b.Transfers.String()
	}
	if l.B.IsZero() {
		l.B.Strategy, l.B.Args = b.Strategy, b.Args
	}
	if l.Profile != nil && l.B.Profile != nil && len(l.String()) > MaxBoth {
		l.B.Profile, l.B.From = nil, link.FromFile
	}
}

// sourceLink writes where B's network comes from, if it is not A's.
func sourceLink(l *link.Link, a, b state.Choice, network *state.Network) {
	if a.Graph != b.Graph {
		l.Kind = map[bool]string{true: "graph", false: "chain"}[b.Graph]
	}
	if a.Source.Preset == b.Source.Preset && bytes.Equal(a.Source.Profile, b.Source.Profile) {
		return
	}
	switch {
	case b.Source.Preset != "":
		l.Preset = b.Source.Preset
	case network != nil && network.Profile.Chain != nil:
		l.Profile, l.From = network.Profile, link.FromBlob
	default:
		l.From = link.FromFile
	}
}

// deviceLink writes what of B's link is not A's. A device that is named brings
// its rates and its duplex.
func deviceLink(l *link.Link, a, b state.Choice) {
	duplex := a.Duplex
	if a.Device != b.Device || a.ToDev != b.ToDev || a.ToHost != b.ToHost {
		if d := preset.LookupDevice(b.Device); d != nil {
			l.Device, duplex = d.ID, d.Duplex
		} else {
			l.ToDev, l.ToHost = b.ToDev, b.ToHost
		}
	}
	if duplex != b.Duplex {
		l.Duplex = b.Duplex.String()
	}
}

// choiceB is side B of a link whose A is a; nil if the link has no B that can be
// shown. The notes, for people, say what of it is not known here.
func choiceB(l *link.Link, a state.Choice) (*state.Choice, []string) {
	if l == nil || l.From == link.FromFile {
		return nil, nil
	}
	b := a
	b.Args = maps.Clone(a.Args)
	var notes []string
	switch {
	case l.Profile != nil:
		var file bytes.Buffer
		if err := native.Encode(&file, l.Profile); err != nil {
			return nil, []string{"B: " + err.Error()}
		}
		b.Source, b.Graph = state.Source{File: l.Profile.Name, Profile: file.Bytes()}, false
	case l.Preset != "":
		if _, _, err := preset.Parse(l.Preset); err != nil { // the rest of B is about A's network then
			notes = append(notes, "B: "+err.Error()+".")
			break
		}
		b.Source = state.Source{Preset: l.Preset}
	}
	if l.Kind != "" {
		b.Graph = l.Kind == "graph"
	}
	notes = append(notes, takeDevice(&b, l)...)
	if l.Budget != (choice.Budget{}) {
		b.Budget = l.Budget
	}
	if l.Strategy != "" {
		b.Args = nil
	}
	for _, n := range takeMethod(&b, *l) {
		notes = append(notes, "B: "+n)
	}
	switch l.Transfers {
	case "whole":
		b.Transfers = engine.Whole
	case "streamed":
		b.Transfers = engine.Streamed
	}
	return &b, notes
}

// BackToB is side B of a link that cannot hold its file, which this page has read.
func BackToB(l *link.Link, a state.Choice, file state.Source) *state.Choice {
	known := *l
	known.From = ""
	b, _ := choiceB(&known, a)
	if b != nil {
		b.Source = file
	}
	return b
}

// takeDevice sets the device or its rates, and the duplex.
func takeDevice(c *state.Choice, l *link.Link) (notes []string) {
	if l.Device != "" {
		if d := preset.LookupDevice(l.Device); d != nil {
			c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex
		} else {
			notes = append(notes, "B: the link names the device "+l.Device+", which is not known here.")
		}
	}
	if l.ToDev > 0 {
		c.Device, c.ToDev, c.ToHost = "", l.ToDev, l.ToDev
	}
	if l.ToHost > 0 {
		c.Device, c.ToHost = "", l.ToHost
	}
	switch l.Duplex {
	case "half":
		c.Duplex = engine.HalfDuplex
	case "full":
		c.Duplex = engine.FullDuplex
	}
	return notes
}
