// Package view holds how a person looks at the page: the visible range of the step, what is
// selected, unfolded and played, and the search in the list of networks. None of this changes
// a schedule. The methods only change the View; callers draw again.
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

// View is how a person looks at the page.
type View struct {
	link.Look

	Selected lookup.Target   // the target that the sentence is about: a wait, a run, a stage
	Picked   bool            // a person or a link made the selection, not the page itself
	Trail    []lookup.Target // the selections before each FollowCause
	TableTop int             // index of the first visible row of the table of operations
	Play     Playing
	AliveBy  draw.AliveBy // the order of the table of blocks at the peak
	Layers   LayerTable
	Anyway   bool   // pictures, curve and table are shown although no plan makes the step fit
	Help     bool   // the help is open
	More     bool   // further options of the case are open
	Typed    string // the option whose number is typed, not chosen in its list
	Picker   Picker // the list of networks
	Theme    string // "light", "dark" or empty: as the system has it
	Note     string // one line that says what a shortcut or a button did

	CanSend     bool              // the browser can share links (navigator.share)
	NoShortcuts bool              // keys of one character do nothing
	KeyLabels   map[string]string // the label of each key, by KeyboardEvent.code; nil if unknown

	rows layerRows
}

// LayerTable is how the table of layers is sorted, filtered and scrolled.
type LayerTable struct {
	By   tell.LayerColumn
	Down bool   // sorted in descending order
	Find string // only rows that contain this text are shown, in any case
	Top  int    // index of the first visible row
}

// layerRows caches the rows of the table of layers.
type layerRows struct {
	of    *known.Picture
	table LayerTable // with Top 0
	rows  []tell.LayerRow
}

// Playing is the state of playing the step.
type Playing struct {
	On   bool
	last float64         // the time of the last Advance, in milliseconds
	hold float64         // milliseconds for which the playhead still pauses
	held []time.Duration // the starts of the waits at which it will pause, in order
}

// Sort sorts the table by a column, or reverses the order if that is the column already.
func (t *LayerTable) Sort(by tell.LayerColumn) {
	// Amounts begin with the largest, names with the first.
	t.Down, t.By = by == t.By && !t.Down || by != t.By && by.Amount(), by
	t.Top = 0
}

// LayerRows returns the rows of the table of p's layers, filtered and sorted. It returns none
// while the table is closed.
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

// LayerRow returns the index of the selected stage's row, or -1 if it has none.
func (v *View) LayerRow(p *known.Picture) int {
	if p == nil {
		return -1
	}
	stage := p.Index().StageOf(v.Selected)
	return slices.IndexFunc(v.LayerRows(p), func(r tell.LayerRow) bool { return r.Stage == stage })
}

// Playing a step moves the playhead across all pictures at constant speed, with a pause at
// each of its longest waits. The browser passes in the time: this package reads no clock.
const (
	playFor  = 6000.0 // milliseconds that playing a step takes, without pauses
	holdFor  = 300.0  // milliseconds of the pause at a wait
	mostHeld = 8      // the number of waits with a pause
)

// StartPlaying plays a step that ends at end from the playhead on, or from the start if the
// playhead is at the end. now is the time in milliseconds, by the clock that Advance is given.
func (v *View) StartPlaying(now float64, gaps []sim.Gap, end time.Duration) {
	if v.Playhead >= end {
		v.Playhead = 0
	}
	v.Play = Playing{On: true, last: now, held: waitsToHold(gaps, v.Playhead)}
}

// waitsToHold returns the starts of the longest waits, in order, without those that start at or before after.
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

// Advance moves the playhead on to time now, in milliseconds. It calls stays with the start of
// each wait at which the playhead begins to pause. At end, the end of the step, it stops playing,
// moves the playhead back to the start and returns true.
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
