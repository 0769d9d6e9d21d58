package permalink

import (
	"slices"
	"strings"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/view"
)

// Of is the permalink of a page. Only what differs from the default is in
// it. keep is the link that the page was opened with: what nothing on the page
// changes, and what this version does not know, is passed on, but not with a file that
// was opened since.
func Of(s *state.State, keep link.Link) link.Link {
	c, _ := s.SideChoices() // A, if there are two
	network, _ := s.SideNetworks()
	// Beside a preset that suggests something, the defaults do not go without saying.
	all := c.Source.Suggestion() != nil && c.Step == ""
	l := link.Link{Said: c.Diff(choice.Default(), all), Title: s.View.Frame.Title, Show: s.View.Frame.Show, Theme: keep.Theme, Selected: s.View.SelectedName(s.Shown), Unknown: keep.Unknown}
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
	l.Lines, l.Axis = linesText(s.View.Lines), AxisNames[s.View.Axis]
	if v := s.View; v.To > 0 {
		l.Visible = link.Range{From: v.From, To: v.To}
	}
	if !s.View.Play.On {
		l.Moment = s.View.Playhead
	}
	l.Story, l.Play = int(s.View.Story), s.View.ToPlay
	l.Open, l.Chain = s.View.Unfolded(), s.View.Chain
	if s.Slowdown() != state.DefaultSlowdown {
		l.Slowdown = s.View.Slowdown
	}
	if s.View.Frame.Embed {
		l.Theme = "" // of a view in another page it is that page's
	}
	addSide(&l, s)
	return l
}

// ChoiceOf is what a link asks for. The notes, for people, say what in it is
// not known here; its default is used instead.
func ChoiceOf(l link.Link) (state.Choice, []string) {
	if !l.Named() {
		l.Budget.Bytes = 0 // they were meant for another network
	}
	if l.Alloc == "" && slices.Contains(l.Show, "addr") {
		l.Alloc = choice.DefaultAllocator
	}
	c, problems := l.Resolve(l.Base())
	return c, notesOf("", problems)
}

// AxisNames are the axes of the curve in links and lists.
var AxisNames = [tradeoff.NumAxes]string{tradeoff.Slowdown: "slowdown", tradeoff.StepTime: "time", tradeoff.Throughput: "rate"}

// AxisOf is the axis of that name, and the first one for any other.
func AxisOf(name string) tradeoff.Axis {
	return tradeoff.Axis(max(slices.Index(AxisNames[:], name), 0))
}

func linesText(lines []string) string {
	if lines != nil && len(lines) == 0 {
		return "none"
	}
	return strings.Join(lines, ",")
}

// linesOf are the lines that a link names; nil: it names none, so the default.
func linesOf(text string) []string {
	switch text {
	case "":
		return nil
	case "none":
		return []string{}
	}
	lines := strings.Split(text, ",")
	return slices.DeleteFunc(lines, func(name string) bool {
		return name != tradeoff.AllLines && name != tradeoff.BoundLine && engine.Lookup(name) == nil
	})
}

// Follow is the message of a fragment that opens the page, and what is to be said
// about it: what is wrong with the link, and what is shown where it names no
// network.
func Follow(fragment string) (l link.Link, m state.Start, notes []string) {
	l, m, notes = Read(fragment)
	if !l.Named() && len(notes) > 0 {
		notes[0] += " The example is shown."
	}
	return l, m, notes
}

// Read is the message of a fragment, and what is wrong with it.
func Read(fragment string) (l link.Link, m state.Start, notes []string) {
	l, notes = link.Parse(fragment)
	c, more := ChoiceOf(l)
	if strings.TrimPrefix(fragment, "#") == "" {
		c = choice.Example()
	}
	notes = append(notes, more...)
	b, more := choiceB(l.B, c)
	notes = append(notes, more...)
	return l, state.Start{Choice: c, B: b, Linked: view.Linked{From: l.Visible.From, To: l.Visible.To, Lines: linesOf(l.Lines), Axis: AxisOf(l.Axis),
		Selected: l.Selected, Open: l.Open, Chain: l.Chain, Slowdown: l.Slowdown, Moment: l.Moment, Story: view.StoryStep(l.Story), ToPlay: l.Play,
		Frame: view.Frame{Title: l.Title, Show: l.Show, Embed: l.Embed, Control: l.Controls}}}, notes
}
