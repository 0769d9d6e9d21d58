package permalink

import (
	"slices"
	"strings"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// Of returns the permalink of a page. Only what differs from the default is in
// it. keep is the link that the page was opened with: what nothing on the page
// changes, and what this version does not know, is passed on, but not with a file that
// was opened since.
func Of(s *state.State, keep link.Link) link.Link {
	c, _ := s.SideChoices() // A, if there are two
	network, _ := s.SideNetworks()
	// Beside a preset that suggests something, the defaults do not go without saying.
	all := c.Source.Suggestion() != nil && c.Step == ""
	l := link.Link{Said: c.Diff(choice.Default(), all), Look: s.View.Linked(s.Shown), Unknown: keep.Unknown}
	if c.Source.File != "" && c.Source.Decoded == nil {
		l.Unknown = nil
	}
	if l.Strategy == choice.DefaultStrategy && !all {
		l.Strategy = "" // its arguments go with it
	}
	if c.Step == "" {
		l.Preset = c.Source.Preset
	}
	if l.Preset == "" && network != nil {
		l.Profile, l.Ops = network.Linked(), opsOf(network)
	}
	// A file that is no chain has no other name than its kind.
	if l.Preset == "" && network != nil && network.Chain == nil {
		l.Kind = "graph"
	}
	if s.Memory != nil && l.Preset == "" && c.Step == "" {
		l.Kind = "memory"
	}
	addSide(&l, s)
	return l
}

// ChoiceOf returns what a link asks for. The notes, for people, say what in it is
// not known here; its default is used instead.
func ChoiceOf(l link.Link) (state.Choice, []string) {
	if !l.Named() {
		l.Budget.Bytes = 0 // they were meant for another network
	}
	if l.Alloc == "" && slices.Contains(l.Frame.Show, "addr") {
		l.Alloc = choice.DefaultAllocator
	}
	c, problems := l.Resolve(l.Base())
	return c, notesOf("", problems)
}

// knownLines returns the lines of which the names are known; nil stays nil, the default.
func knownLines(lines []string) []string {
	return slices.DeleteFunc(lines, func(name string) bool {
		return name != tradeoff.AllLines && engine.Lookup(name) == nil
	})
}

// Follow returns the message of a fragment that opens the page, and what is to be said
// about it: what is wrong with the link, and what is shown where it names no
// network.
func Follow(fragment string) (l link.Link, m state.Start, notes []string) {
	l, m, notes = Read(fragment)
	if !l.Named() && len(notes) > 0 {
		notes[0] += " ResNet-101 is shown instead."
	}
	return l, m, notes
}

// Read returns the message of a fragment, and what is wrong with it.
func Read(fragment string) (l link.Link, m state.Start, notes []string) {
	l, notes = link.Parse(fragment)
	c, more := ChoiceOf(l)
	if strings.TrimPrefix(fragment, "#") == "" {
		c = choice.Example()
	}
	notes = append(notes, more...)
	b, more := choiceB(l.B, c)
	notes = append(notes, more...)
	l.Lines = knownLines(l.Lines)
	return l, state.Start{Choice: c, B: b, Look: l.Look}, notes
}
