package view

import (
	"time"

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
