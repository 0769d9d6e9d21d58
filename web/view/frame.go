package view

import (
	"slices"
	"time"

	"memtide/web/tradeoff"
)

// Shows says whether a part of the page is shown.
func (f *Frame) Shows(part string) bool { return f.Show == nil || slices.Contains(f.Show, part) }

// Linked is what a link says about how the page is looked at.
type Linked struct {
	From, To time.Duration // as in View, as are the others of the same name
	Lines    []string
	Axis     tradeoff.Axis
	Selected string   // by what it is, see draw.Model.Name
	Open     []string // what is unfolded, by the names of link.Folds
	Chain    bool
	Slowdown int
	Moment   time.Duration // as View.Playhead
	Story    StoryStep
	ToPlay   bool
	Frame    Frame
}

// Follow takes over how a link wants the page to be.
func (v *View) Follow(l Linked) {
	v.From, v.To, v.Playhead, v.Story = l.From, l.To, l.Moment, l.Story
	v.Play, v.ToPlay = Playing{}, l.ToPlay
	v.Lines, v.Axis = l.Lines, l.Axis
	v.Frame, v.Wanted = l.Frame, l.Selected
	v.Chain, v.Slowdown = l.Chain, l.Slowdown
	for _, f := range v.folds() {
		*f.open = v.shownAnyway(f.name) || slices.Contains(l.Open, f.name)
	}
}

// fold is a part of the page that is unfolded by hand.
type fold struct {
	name string // in links, as link.Folds has it
	open *bool
}

// folds are the parts in the order of link.Folds.
func (v *View) folds() []fold {
	return []fold{{"lines", &v.LineList}, {"questions", &v.Questions}, {"layers", &v.Layers.Open}, {"table", &v.Table}, {"sides", &v.Sides}}
}

// shownAnyway says that a link shows a part without unfolding it.
func (v *View) shownAnyway(part string) bool {
	return part == "table" && v.Frame.Show != nil && v.Frame.Shows(part)
}

// Unfolded names what a person has unfolded, beyond what the link shows anyway.
func (v *View) Unfolded() (out []string) {
	for _, f := range v.folds() {
		if *f.open && !v.shownAnyway(f.name) {
			out = append(out, f.name)
		}
	}
	return out
}
