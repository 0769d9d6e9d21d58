package permalink

import (
	"bytes"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles/formats/native"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/link"
	"memtide/web/state"
)

// Of is the permalink of a page. Only what differs from the default is in
// it. keep is the link that the page was opened with: what nothing on the page
// changes, and what this version does not know, is passed on.
func Of(s *state.State, keep link.Link) link.Link {
	c, _ := s.SideChoices() // A, if there are two
	network, _ := s.SideNetworks()
	l := link.Link{Preset: c.Source.Preset, Title: s.View.Frame.Title, Show: s.View.Frame.Show, Theme: keep.Theme, Selected: s.SelectedName(), Unknown: keep.Unknown}
	if l.Preset == "" && network != nil {
		l.Profile = network.Profile
	}
	// Beside a preset that suggests something, the defaults do not go without saying.
	all := c.Source.Suggestion() != nil
	if c.Budget != state.DefaultBudget || all {
		l.Budget = c.Budget
	}
	if c.Strategy != state.DefaultStrategy || all {
		l.Strategy = c.Strategy
	}
	l.Args = c.Args
	device := preset.LookupDevice(c.Device)
	switch {
	case device == nil:
		device = preset.DefaultDevice()
		l.ToDev, l.ToHost = c.ToDev, c.ToHost
	case device.ID != preset.DefaultDeviceID || all:
		l.Device = device.ID
	}
	if c.Duplex != device.Duplex {
		l.Duplex = c.Duplex.String()
	}
	if c.Transfers != engine.Whole {
		l.Transfers = c.Transfers.String()
	}
	// A file that is no chain has no other name than its kind.
	if l.Preset == "" && network != nil && network.Profile.Chain == nil || c.Graph {
		l.Kind = "graph"
	}
	l.Alloc, l.AllocArgs = c.Alloc, c.AllocArgs
	if s.Memory != nil && l.Preset == "" {
		l.Kind = "memory"
	}
	l.Lines, l.Axis = linesText(s.View.Lines), AxisNames[s.View.Axis]
	if v := s.View; v.To > 0 {
		l.Visible = link.Range{From: v.From, To: v.To}
	}
	if s.Allocator() != "" {
		l.Moment = s.View.Playhead
	}
	l.Open, l.Chain = s.Unfolded(), s.View.Chain
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
func ChoiceOf(l link.Link) (c state.Choice, notes []string) {
	c = DefaultChoice()
	if l.Profile != nil {
		var file bytes.Buffer
		if err := native.Encode(&file, l.Profile); err != nil {
			notes = append(notes, err.Error())
		} else {
			c.Source = state.Source{File: l.Profile.Name, Profile: file.Bytes()}
		}
	} else if l.Preset != "" {
		c.Source.Preset = l.Preset
		c = c.Suggested()
	}
	if l.Device != "" {
		if d := preset.LookupDevice(l.Device); d != nil {
			c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex
		} else {
			notes = append(notes, "The link names the device "+l.Device+", which is not known here.")
		}
	}
	if l.ToDev > 0 {
		c.Device, c.ToDev, c.ToHost = "", l.ToDev, l.ToDev
	}
	if l.ToHost > 0 {
		c.Device, c.ToHost = "", l.ToHost
	}
	known := l.Profile != nil || l.Preset != "" // or bytes that were meant for another network
	if l.Budget.Share > 0 || l.Budget.Bytes > 0 && known {
		c.Budget = l.Budget
	}
	if l.Strategy != "" || len(l.Args) > 0 {
		notes = append(notes, takeMethod(&c, l)...)
	}
	switch l.Duplex {
	case "half":
		c.Duplex = engine.HalfDuplex
	case "full":
		c.Duplex = engine.FullDuplex
	}
	c.Graph = l.Kind == "graph"
	if l.Transfers == "streamed" {
		c.Transfers = engine.Streamed
	}
	if l.Alloc == "" && slices.Contains(l.Show, "addr") {
		l.Alloc = state.DefaultAllocator
	}
	return c, append(notes, takeAllocator(&c, l)...)
}

// takeMethod sets the strategy and its arguments, as far as they are known.
func takeMethod(c *state.Choice, l link.Link) []string {
	if l.Strategy != "" {
		if engine.Lookup(l.Strategy) == nil {
			return []string{"The link names the strategy " + l.Strategy + ", which is not known here."}
		}
		c.Strategy = l.Strategy
	}
	st := engine.Lookup(c.Strategy)
	if st == nil {
		return nil
	}
	if _, err := st.Parse(l.Args); err != nil {
		return []string{"The link's arguments are not used: " + err.Error() + "."}
	}
	for name, value := range l.Args {
		c.Args = state.WithArg(c.Strategy, c.Args, name, value)
	}
	return nil
}

// AxisNames are the axes of the curve in links and lists.
var AxisNames = [state.NumAxes]string{state.Slowdown: "slowdown", state.StepTime: "time", state.Throughput: "rate"}

// AxisOf is the axis of that name, and the first one for any other.
func AxisOf(name string) state.Axis { return state.Axis(max(slices.Index(AxisNames[:], name), 0)) }

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
		return name != state.AllLines && name != state.BoundLine && engine.Lookup(name) == nil
	})
}

// Follow is the message of a fragment that opens the page, and what is to be said
// about it: what is wrong with the link, and what is shown where it names no
// network.
func Follow(fragment string) (l link.Link, m state.Start, notes []string) {
	l, m, notes = Read(fragment)
	if l.Preset == "" && l.Profile == nil && len(notes) > 0 {
		notes[0] += " The example is shown."
	}
	return l, m, notes
}

// Read is the message of a fragment, and what is wrong with it.
func Read(fragment string) (l link.Link, m state.Start, notes []string) {
	l, notes = link.Parse(fragment)
	c, more := ChoiceOf(l)
	notes = append(notes, more...)
	b, more := choiceB(l.B, c)
	notes = append(notes, more...)
	return l, state.Start{Choice: c, B: b, From: l.Visible.From, To: l.Visible.To, Lines: linesOf(l.Lines), Axis: AxisOf(l.Axis), Selected: l.Selected,
		Open: l.Open, Chain: l.Chain, Slowdown: l.Slowdown, Moment: l.Moment,
		Frame: state.Frame{Title: l.Title, Show: l.Show, Embed: l.Embed, Control: l.Controls}}, notes
}

// DefaultChoice is what a page without a link shows: a case with a story.
func DefaultChoice() state.Choice {
	d := preset.DefaultDevice()
	return state.Choice{
		Source: state.Source{Preset: state.DefaultPreset},
		Device: d.ID, ToHost: d.ToHost, ToDev: d.ToDev, Duplex: d.Duplex,
		Budget:   state.DefaultBudget,
		Strategy: state.DefaultStrategy,
	}
}

// takeAllocator sets the allocator of a link and its arguments, as far as they
// are known.
func takeAllocator(c *state.Choice, l link.Link) []string {
	if l.Alloc == "" || l.Alloc == proto.Recorded {
		return nil
	}
	a := alloc.Lookup(l.Alloc)
	if a == nil {
		c.Alloc = state.DefaultAllocator
		return []string{"The link names the allocator " + l.Alloc + ", which is not known here."}
	}
	c.Alloc = a.Name
	if _, err := a.Parse(l.AllocArgs); err != nil {
		return []string{"The link's arguments are not used: " + err.Error() + "."}
	}
	c.AllocArgs = state.AllocArgs(a.Name, l.AllocArgs)
	return nil
}
