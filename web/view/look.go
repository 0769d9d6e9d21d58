package view

import (
	"memtide/web/known"
	"memtide/web/link"
)

// Follow takes over how a link wants the page to be.
func (v *View) Follow(l link.Look) {
	v.Look, v.Play = l, Playing{}
	v.Table = v.Table || v.tableShown()
}

// Linked returns what a link says of how a picture is looked at; nil: there is none yet.
func (v *View) Linked(p *known.Picture) link.Look {
	l := v.Look
	l.Wanted = v.SelectedName(p)
	l.Table = l.Table && !v.tableShown()
	if v.To == 0 {
		l.Range = link.Range{}
	}
	if v.Play.On {
		l.Playhead = 0
	}
	if v.Frame.Embed { // how it sits in the other page is that page's
		l.Frame.Theme, l.Frame.Embed, l.Frame.Control = "", false, ""
	}
	return l
}

// tableShown reports whether a link shows the table of operations without unfolding it.
func (v *View) tableShown() bool { return v.Frame.Show != nil && v.Frame.Shows("table") }
