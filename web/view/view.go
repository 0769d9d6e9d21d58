package view

import (
	"time"

	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/lookup"
	"memtide/web/tell"
	"memtide/web/tradeoff"
)

// View is what a person looks at: nothing here changes the schedule.
type View struct {
	From, To  time.Duration   // visible part of the step, [From, To); To 0: all of it
	Selected  lookup.Target   // what the sentence is about: a wait, a run, a stage
	Picked    bool            // by a person or a link, not by the page itself
	Trail     []lookup.Target // what was selected before the causes were followed
	Lines     []string        // what the curve draws, by name; nil: DefaultLines
	Axis      tradeoff.Axis   // of the curve
	LineList  bool            // the list of all lines is open
	Table     bool            // the table of operations is open
	TableTop  int             // first row of the table that is shown
	Sides     bool            // a comparison shows the memory of A and of B, and not both in one picture
	Playhead  time.Duration   // the moment that the pictures mark and the memory map shows; 0: none, and there the failure or the peak
	Play      Playing
	ToPlay    bool // the link says that the step is meant to be played
	Story     StoryStep
	AliveBy   draw.AliveBy // the order of the table of what is there at the peak
	Chain     bool         // the critical chain is shown
	Layers    LayerTable   // the table of layers
	Questions bool         // a question is open
	Question  string       // which one, by name; empty: the first
	Slowdown  int          // see State.Slowdown; 0: the default, otherwise one more
	Help      bool
	Picker    Picker // the list of networks
	Theme     string // "light", "dark" or empty: as the system has it
	Wanted    string // what the link selects, until there is a picture to find it in
	Frame     Frame
	Note      string // one line that tells what a shortcut or a button did

	CanSend     bool              // the device passes links on (navigator.share)
	NoShortcuts bool              // keys of one character do nothing
	KeyLabels   map[string]string // what stands on a key, by KeyboardEvent.code; nil if unknown

	rows layerRows // of the table of layers
}

// StoryStep is a step of the story of a network that does not fit: what keeping
// everything needs, how much of it is too much, what recomputing makes of it, and the
// schedule that was chosen.
type StoryStep uint8

// The steps; NoStory is the last one, without anybody having asked.
const (
	NoStory StoryStep = iota
	StoryKeepAll
	StoryOverLine
	StoryRecompute
	StoryPlan
)

// Frame is how the page stands around a schedule, as its link says.
type Frame struct {
	Title   string   // instead of the network's name, in the tab and in files
	Show    []string // parts of the page in their order, as link.Panels; nil: all
	Embed   bool     // a view in another page: without controls
	Control string   // of such a view: "budget" for a slider, or ""
	Opener  string   // who opened what such a view shows, if it was another page
}

// LayerTable is how the table of layers is looked at.
type LayerTable struct {
	Open bool
	By   tell.LayerColumn
	Down bool   // the largest first
	Find string // only layers whose row contains it, in any case
	Top  int    // first row that is on screen
}

// layerRows are the rows of the table, kept until they change.
type layerRows struct {
	of    *known.Picture
	table LayerTable // but for Open and Top
	rows  []tell.LayerRow
}

// Playing is a step that is being played.
type Playing struct {
	On   bool
	last float64         // when the playhead was moved last, in milliseconds
	hold float64         // milliseconds for which it stays where it is
	held []time.Duration // the starts of the waits at which it will stay, the next one first
}
