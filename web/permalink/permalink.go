// Package permalink turns the state of the page into a link, and a link into what
// the page does to show what it says. Package link knows how a link is written, and
// package choice which of its values are defaults; this one knows what a file or a
// view in another page changes, and what to tell a person about a link of which not
// everything can be taken.
package permalink

import (
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles/preset"
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
	a, _ := s.AB()
	c, network := a.Choice, a.Network
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

// Origin is where the page lies and what it was opened with.
type Origin struct {
	Base string    // its address, without query and fragment; of a file, the site's that it is from, or empty
	File bool      // it was opened from a disk
	Keep link.Link // that it was opened with
}

// Locate says where the page lies. A file on a disk has an address that means
// nothing to others and names folders of its owner: what is shared from there leads
// to the site that the file is from.
func (p *Origin) Locate(href, site string) {
	p.Base, _, _ = strings.Cut(href, "#")
	p.Base, _, _ = strings.Cut(p.Base, "?")
	if p.File = !strings.HasPrefix(p.Base, "http"); p.File {
		p.Base = site
	}
}

// Docs returns where the documentation lies, or the empty string if unknown.
func (p *Origin) Docs() string {
	switch {
	case p == nil || !p.File:
		return "docs/"
	case p.Base == "":
		return ""
	}
	return p.Folder() + "docs/"
}

// Address returns the address of exactly what is shown, or, if exact is false,
// without the visible range and the selection.
func (p *Origin) Address(s *state.State, exact bool) string {
	l := Of(s, p.Keep)
	if !exact {
		l.Range, l.Wanted, l.Playhead = link.Range{}, "", 0
	}
	return p.Base + "#" + l.Sealed()
}

// Folder returns where the files of the site lie.
func (p *Origin) Folder() string { return p.Base[:strings.LastIndexByte(p.Base, '/')+1] }

// inserted returns a fragment with other values for some keys. What belongs to a value
// that is replaced goes with it: the arguments of a strategy, the other source.
func inserted(fragment string, params map[string]string) string {
	gone := func(key string) bool {
		_, same := params[key]
		_, strategy := params["s"]
		_, preset := params["p"]
		_, data := params["d"]
		_, allocator := params["alloc"]
		return same || strategy && strings.HasPrefix(key, "s.") || allocator && strings.HasPrefix(key, "alloc.") ||
			(preset || data) && (key == "p" || key == "d" || key == "ops" || link.About(key) == choice.Network)
	}
	var out []string
	for pair := range strings.SplitSeq(fragment, "&") {
		if key, _, _ := strings.Cut(pair, "="); !gone(key) {
			out = append(out, pair)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(params)) {
		if params[key] != "" {
			out = append(out, key+"="+link.EscapeValue(params[key]))
		}
	}
	return strings.Join(out, "&")
}

// WithoutEmbed returns a fragment that opens the page itself and not a view.
func WithoutEmbed(fragment string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(fragment, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return link.About(strings.ToLower(strings.TrimLeft(key, "#"))) == choice.Embed
	}), "&")
}

// Empty reports whether nothing is open yet, or that it could not be opened.
func Empty(s *state.State) bool { return s.Network == nil && s.Memory == nil && s.Step == nil }

// Refusal puts together what is wrong with a link of which nothing was taken.
func Refusal(notes []string) string {
	return strings.ReplaceAll(strings.Join(notes, "\n"), " It was left out.", "")
}

// Changed returns the message of a view's own fragment with other values for some keys.
// What is wrong with the values is said and nothing else: some of what a view shows
// is in no link, and stays.
func Changed(s *state.State, now string, params map[string]string) (link.Link, state.Start, []string) {
	_, _, before := Embedded(s.View.Frame, now)
	l, m, notes := Embedded(s.View.Frame, inserted(now, params))
	notes = slices.DeleteFunc(notes, func(note string) bool { return slices.Contains(before, note) })
	if !l.Named() && s.Network != nil {
		m.Choice.Source = s.Choice.Source
		if l.Budget.Bytes > 0 {
			m.Choice.Budget = choice.Budget{Bytes: l.Budget.Bytes}
		}
	}
	return l, m, notes
}

// Embedded returns a link's message for a view that stays what it is: in another page,
// with or without a slider. If there are notes on what is wrong with the link,
// nothing of it is to be shown: a view stands among the words of another page,
// which would be wrong about anything else.
func Embedded(f link.Frame, fragment string) (link.Link, state.Start, []string) {
	l, m, notes := Read(fragment)
	if _, _, err := preset.Parse(l.Preset); l.Preset != "" && err != nil {
		notes = append(notes, "The link names the network "+l.Preset+", which is not known here.")
	}
	m.Frame.Embed, m.Frame.Control = f.Embed, f.Control
	if m.Frame.Show == nil {
		m.Frame.Show = f.Show
	}
	return l, m, notes
}
