// Package permalink converts the state of the page to a link, and a link to the message that makes the page show it.
// Package link implements the form of links, and package choice the defaults of their values. This package handles
// files and views in other pages, and makes the notes for people about links that are only partly understood.
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

// Of returns the permalink of a page, which contains only what differs from the defaults. keep is the
// link that the page was opened with. Its unknown pairs are passed on, unless a file was opened since.
func Of(s *state.State, keep link.Link) link.Link {
	a, _ := s.AB()
	c, network := a.Choice, a.Network
	// What a preset suggests, or a config.json without a plan, replaces the defaults: the link has to say them.
	all := (c.Source.Suggestion() != nil || c.Source.Model != "") && c.Step == ""
	l := link.Link{Said: c.Diff(choice.Default(), all), Look: s.View.Linked(s.Shown), Unknown: keep.Unknown}
	if c.Source.File != "" && c.Source.Decoded == nil {
		l.Unknown = nil
	}
	if l.Strategy == choice.DefaultStrategy && !all {
		l.Strategy = "" // arguments without a strategy are those of the default
	}
	if c.Step == "" {
		l.Preset = c.Source.Preset
	}
	if l.Preset == "" && l.Step == "" && network != nil {
		l.Profile, l.Ops = network.Linked(), opsOf(network)
	}
	// A link may not hold a graph: then its kind says why.
	if l.Preset == "" && network != nil && network.Chain == nil {
		l.Kind = "graph"
	}
	if s.Memory != nil && l.Preset == "" && c.Step == "" {
		l.Kind = "memory"
	}
	addSide(&l, s)
	return l
}

// ChoiceOf returns the choice that a link asks for, with defaults for unknown names. The
// notes, for people, are about these names.
func ChoiceOf(l link.Link) (state.Choice, []string) {
	if !l.Named() {
		l.Budget.Bytes = 0 // it was meant for another network
	}
	if l.Alloc == "" && slices.Contains(l.Frame.Show, "addr") {
		l.Alloc = choice.DefaultAllocator
	}
	c, problems := l.Resolve(l.Base())
	return c, notesOf("", problems)
}

// Follow returns the message for the fragment that the page is opened with. The notes, for
// people, say what is wrong with the link and, if it names nothing that is known, that the example is shown instead.
func Follow(fragment string) (l link.Link, m state.Start, notes []string) {
	l, m, notes = Read(fragment)
	unknown := l.Step != "" && m.Choice.Step == "" && m.Choice.Source.Model == ""
	if (unknown || !l.Named()) && len(notes) > 0 {
		notes[0] += " The example is shown instead."
		m.Choice, m.B = choice.Example(), nil
	}
	return l, m, notes
}

// Read returns the link and the message of a fragment, and notes on what is wrong with it.
func Read(fragment string) (l link.Link, m state.Start, notes []string) {
	l, notes = link.Parse(fragment)
	c, more := ChoiceOf(l)
	if strings.TrimPrefix(fragment, "#") == "" {
		c = choice.Example()
	}
	notes = append(notes, more...)
	b, more := choiceB(l.B, c)
	notes = append(notes, more...)
	l.Lines = slices.DeleteFunc(l.Lines, func(name string) bool {
		return name != tradeoff.AllLines && engine.Lookup(name) == nil
	})
	return l, state.Start{Choice: c, B: b, Look: l.Look, Amended: l.Named() && len(notes) > 0}, notes
}

// Origin is the address of the page and the link that it was opened with.
type Origin struct {
	Base string    // address without query and fragment; for a file on a disk, of the site it is from, or empty
	File bool      // the page was opened from a disk
	Keep link.Link // the link that the page was opened with
}

// Locate sets Base and File from the page's address, href, and the address of the site that
// it is from. The address of a file on a disk means nothing to others and names folders of its
// owner, so that links from such a page lead to the site.
func (p *Origin) Locate(href, site string) {
	p.Base, _, _ = strings.Cut(href, "#")
	p.Base, _, _ = strings.Cut(p.Base, "?")
	if p.File = !strings.HasPrefix(p.Base, "http"); p.File {
		p.Base = site
	}
}

// Docs returns the address of the documentation, or the empty string if it is not known. p may be nil.
func (p *Origin) Docs() string {
	switch {
	case p == nil || !p.File:
		return "docs/"
	case p.Base == "":
		return ""
	}
	return p.Folder() + "docs/"
}

// Address returns the address of a page in state s. If exact is false, it leaves out the visible
// range, the selection and the playhead.
func (p *Origin) Address(s *state.State, exact bool) string {
	l := Of(s, p.Keep)
	if !exact {
		l.Range, l.Wanted, l.Playhead = link.Range{}, "", 0
	}
	return p.Base + "#" + l.Sealed()
}

// Folder returns the address of the folder with the files of the site.
func (p *Origin) Folder() string { return p.Base[:strings.LastIndexByte(p.Base, '/')+1] }

// inserted returns a fragment with the keys in params set to their values, or removed if these are empty. It also
// removes what belongs to a replaced value: the arguments of a strategy or an allocator, the other source.
func inserted(fragment string, params map[string]string) string {
	gone := func(key string) bool {
		_, same := params[key]
		_, strategy := params["s"]
		_, preset := params["p"]
		_, data := params["d"]
		_, allocator := params["alloc"]
		return same || strategy && strings.HasPrefix(key, "s.") || allocator && strings.HasPrefix(key, "alloc.") ||
			(preset || data) && (key == "p" || key == "d" || key == "ops" || key == "step" ||
				strings.HasPrefix(key, "step.") || link.About(key) == choice.Network)
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

// WithoutEmbed returns a fragment without the keys of a view, so that it opens the page itself.
func WithoutEmbed(fragment string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(fragment, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return link.About(strings.ToLower(strings.TrimLeft(key, "#"))) == choice.Embed
	}), "&")
}

// Empty reports whether nothing is open: nothing has been opened yet, or it could not be opened.
func Empty(s *state.State) bool { return s.Network == nil && s.Memory == nil && s.Step == nil }

// Refusal joins the notes on a link that was refused as a whole.
func Refusal(notes []string) string {
	return strings.ReplaceAll(strings.Join(notes, "\n"), " It was left out.", "")
}

// Changed returns the link and the message for a view whose fragment is now, with the keys in params
// changed. The notes are only about the new values. A source that no link can hold stays open.
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

// Embedded returns the link and the message of a fragment for a view in another page, which
// keeps its controls and, by default, its panels from f. If there are notes on what is wrong
// with the link, the caller must not show it: the other page describes what the view shows.
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
