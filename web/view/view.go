// Package view is how a page is looked at: the visible part of the step, what is selected,
// unfolded, played and told, the list of networks that is being searched. Nothing of it
// changes a schedule. Its rules ask for what is shown; who shows it draws again.
package view

import (
	"slices"
	"sort"
	"time"

	"memtide/engine/sim"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/lookup"
	"memtide/web/tell"
)

// View is what a person looks at: nothing here changes the schedule.
type View struct {
	link.Look

	Selected lookup.Target   // what the sentence is about: a wait, a run, a stage
	Picked   bool            // by a person or a link, not by the page itself
	Trail    []lookup.Target // what was selected before the causes were followed
	TableTop int             // first row of the table that is shown
	Play     Playing
	AliveBy  draw.AliveBy // the order of the table of what is there at the peak
	Layers   LayerTable   // the table of layers
	Help     bool
	More     bool   // what the sentence of the case can still say is open
	Picker   Picker // the list of networks
	Theme    string // "light", "dark" or empty: as the system has it
	Note     string // one line that tells what a shortcut or a button did

	CanSend     bool              // the device passes links on (navigator.share)
	NoShortcuts bool              // keys of one character do nothing
	KeyLabels   map[string]string // what stands on a key, by KeyboardEvent.code; nil if unknown

	rows layerRows // of the table of layers
}

// LayerTable is how the table of layers is looked at.
type LayerTable struct {
	By   tell.LayerColumn
	Down bool   // the largest first
	Find string // only layers whose row contains it, in any case
	Top  int    // first row that is on screen
}

// layerRows are the rows of the table, kept until they change.
type layerRows struct {
	of    *known.Picture
	table LayerTable // but for Top
	rows  []tell.LayerRow
}

// Playing is a step that is being played.
type Playing struct {
	On   bool
	last float64         // when the playhead was moved last, in milliseconds
	hold float64         // milliseconds for which it stays where it is
	held []time.Duration // the starts of the waits at which it will stay, the next one first
}

// Sort sorts the table by a column, the other way round if it is sorted by it already.
func (t *LayerTable) Sort(by tell.LayerColumn) {
	// Of amounts the largest are looked for, of names the first.
	t.Down, t.By = by == t.By && !t.Down || by != t.By && by.Amount(), by
	t.Top = 0
}

// LayerRows returns the rows of the table of a picture's layers that are not left out, in its
// order; none while it is closed.
func (v *View) LayerRows(p *known.Picture) []tell.LayerRow {
	if p == nil || !v.LayerList {
		return nil
	}
	t := LayerTable{By: v.Layers.By, Down: v.Layers.Down, Find: v.Layers.Find}
	if v.rows.of != p || v.rows.table != t {
		v.rows = layerRows{p, t, p.Index().LayerTable(t.By, t.Down, t.Find)}
	}
	return v.rows.rows
}

// LayerRow returns the row of the selected stage, -1 if it has none.
func (v *View) LayerRow(p *known.Picture) int {
	if p == nil {
		return -1
	}
	stage := p.Index().StageOf(v.Selected)
	return slices.IndexFunc(v.LayerRows(p), func(r tell.LayerRow) bool { return r.Stage == stage })
}

// A step is played by a playhead that crosses all pictures at constant step time. The
// browser passes in what time it is: nothing here asks a clock.
const (
	playFor  = 6000.0 // milliseconds that a step takes to be played, waits aside
	holdFor  = 300.0  // milliseconds that the playhead stays at a wait
	mostHeld = 8      // at so many waits at most, the longest
)

// StartPlaying plays a step that ends at end from the playhead on, or from the start if
// that is behind it. Now is what time it is, in milliseconds of any clock.
func (v *View) StartPlaying(now float64, gaps []sim.Gap, end time.Duration) {
	if v.Playhead >= end {
		v.Playhead = 0
	}
	v.Play = Playing{On: true, last: now, held: waitsToHold(gaps, v.Playhead)}
}

// waitsToHold returns the starts of the longest waits behind a moment, in order.
func waitsToHold(gaps []sim.Gap, after time.Duration) (at []time.Duration) {
	gaps = slices.Clone(gaps)
	sort.SliceStable(gaps, func(i, j int) bool { return gaps[i].End-gaps[i].Start > gaps[j].End-gaps[j].Start })
	for _, g := range gaps[:min(len(gaps), mostHeld)] {
		if g.Start > after {
			at = append(at, g.Start)
		}
	}
	slices.Sort(at)
	return at
}

// Advance moves the playhead of a step that is being played on to what time it is, and
// hands each wait at which it comes to stay to stays, by its start. It is true at the end:
// then the playhead is back at the start.
func (v *View) Advance(now float64, end time.Duration, stays func(at time.Duration)) bool {
	play := &v.Play
	left := max(now-play.last, 0)
	play.last = now
	perMS := float64(end) / playFor
	for left > 0 {
		if stay := min(play.hold, left); stay > 0 {
			play.hold -= stay
			left -= stay
			continue
		}
		next := v.Playhead + time.Duration(left*perMS)
		if len(play.held) == 0 || next < play.held[0] {
			v.Playhead = next
			break
		}
		left -= float64(play.held[0]-v.Playhead) / perMS
		v.Playhead, play.held, play.hold = play.held[0], play.held[1:], holdFor
		stays(v.Playhead)
	}
	if v.Playhead < end {
		return false
	}
	v.Playhead, v.Play = 0, Playing{}
	return true
}
