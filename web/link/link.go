package link

import (
	"time"

	"memtide/profiles"
	"memtide/web/choice"
)

// Version is the version of the links that are written. What a key means never changes:
// what shall mean something else raises the version, and what older links say is then put
// into the new words when they are read. testdata/links has links of every version, which
// have to open for ever.
const Version = 1

// Link is what a permalink says. Empty fields stand for the defaults.
type Link struct {
	choice.Said // of A, if two are compared

	Lines string // what the curve draws: "all", "none", or names with commas
	Axis  string // of the curve: "slowdown", "time", "rate" or ""

	Moment   time.Duration // that all pictures mark and the map of memory shows; 0: none, and there the failure or the peak
	Story    int           // the step of the story that is shown, 1 to 4; 0: none was chosen
	Play     bool          // a step is to be played, which nobody does unasked
	Visible  Range
	Selected string   // by what it is, see draw.Model.Name
	Open     []string // what is unfolded, in the order of Folds
	Chain    bool     // the critical chain is shown
	Slowdown int      // that the question about the smallest budget accepts: one more than its hundredths of a per cent; 0: the default
	Show     []string // the panels that are shown, in their order; nil: all
	Title    string
	Theme    string
	Embed    bool   // a view in another page: without controls
	Controls string // of such a view: "budget" or ""

	B *choice.Said // the other side of a comparison: what differs from this one; nil: there is none

	Unknown []string // key=value pairs that this version does not know, kept as they came
}

// mostNotes is how many notes are told, mostNote how many bytes of one, mostTitle
// how many characters a title has.
const (
	mostTitle = 80
	mostNotes = 20
	mostNote  = 1000
)

// InLink says whether a link holds a profile: a chain, or a graph that is short
// enough. A profile that is both is held as a chain.
func InLink(p *profiles.Profile) bool {
	return p != nil && (p.Chain != nil || p.Graph != nil && len(blob(p)) <= LongestGraph)
}

// HoldsOps says whether operators (see choice.Source) go into a link beside their chain.
func HoldsOps(ops string) bool { return ops != "" && len(ops) <= longestOps }

// Range is the visible stretch of time, written "120-480.5" in milliseconds; the
// zero value is all of it.
type Range struct{ From, To time.Duration }
