package ui

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/address"
	"memtide/web/ui/names"
	"memtide/web/ui/panel"
)

// Results is the line of numbers, with the badge of what was checked.
type Results struct{ S *state.State }

// Numbers returns the peak, the step time, and the samples or tokens per second.
func (c *Results) Numbers() []panel.Number {
	if c.S.Memory != nil {
		return address.Numbers(c.S)
	}
	out := []panel.Number{{ID: "peak", Label: "allocated at the peak", Value: "–"},
		{ID: "step-time", Label: "per step", Value: "–"}, {ID: "rate", Label: "per second", Value: "–"}}
	p := c.S.Visible()
	switch {
	case c.S.Step != nil:
		return ofStep(out, c.S)
	case p == nil:
		for i := range out {
			out[i].Title = "There is no plan yet."
		}
		return out
	}
	s, t := p.Solved, p.Solved.Trace
	out[0].Value = format.Bytes(t.Peak)
	out[0].Title = fmt.Sprintf("The most that is allocated at any moment, %s. Keeping everything needs %s.",
		peakPhase(t), format.Bytes(s.KeepAll.Peak))
	out[1].Value = format.Duration(t.Makespan)
	out[1].Title = fmt.Sprintf("Compute %s, recompute %s, waiting %s.",
		format.Duration(t.ComputeTime), format.Duration(t.RecomputeTime), format.Duration(t.WaitingTotal()))
	if s.KeepAll.StepTime > 0 {
		out[1].Title += fmt.Sprintf(" Keeping everything takes %s: this is %s.", format.Duration(s.KeepAll.StepTime),
			format.Percent(format.Longer(t.Makespan, s.KeepAll.StepTime)))
	}
	if b, ok := bestBound(s); ok {
		out[1].Title += fmt.Sprintf(" No schedule that does the same kinds of things is faster than %s (%s): this is %s.", format.Duration(b.StepTime), b.Name, format.Percent(format.Longer(t.Makespan, b.StepTime)))
	}
	low, high := time.Duration(0), time.Duration(0)
	if p == c.S.Shown {
		low, high = c.S.TimeRange(t.Makespan)
	}
	unit, n := known.Trained(p.Choice, p.Network)
	if n == 0 {
		return measured(out[:2], t.Makespan, low, high)
	}
	out[2].Value, out[2].Label = format.PerSecond(n, t.Makespan), unit+" per second"
	return measured(out, t.Makespan, low, high)
}

// ofStep returns the numbers of a training step.
func ofStep(out []panel.Number, s *state.State) []panel.Number {
	r := s.Step.Shown
	if r == nil || s.Step.Failed != "" {
		return out
	}
	out[0].Value, out[0].Title = format.Bytes(r.Allocated),
		"The most that is allocated at any moment, in the "+r.Phases[r.Phase].Name+"."
	if r.Time == 0 { // of a card whose rate is not known
		return out
	}
	out[1].Value, out[1].Title = format.Duration(r.Time), "From rates and shares of the card's peak."
	out[2].Value, out[2].Label = format.PerSecond(int(r.Trained), r.Time), r.Unit+" per second"
	return measured(out, r.Time, r.TimeLow, r.TimeHigh)
}

// measured adds to numbers, whose second is a step time and whose third a rate, the range from low to high in which
// nine of ten measured runs of the kind lie. A high of 0 is unknown.
func measured(numbers []panel.Number, t, low, high time.Duration) []panel.Number {
	if high <= 0 {
		return numbers
	}
	numbers[1].Title += fmt.Sprintf(" Nine of ten measured runs of its kind would take %s to %s.", format.Duration(low),
		format.Duration(high))
	if low > t+t/50 { // measured steps of this kind take longer than the estimate
		numbers[1].Value = "> " + numbers[1].Value
		for i := range numbers[2:] {
			numbers[2+i].Value = "< " + numbers[2+i].Value
		}
	}
	return numbers
}

// peakPhase returns what runs at the peak.
func peakPhase(t *sim.Trace) string {
	for i := range t.Spans {
		if sp := &t.Spans[i]; sp.Lane == sim.Compute && sp.Start <= t.PeakAt && t.PeakAt < sp.End {
			return [...]string{sim.SpanForward: "in the forward", sim.SpanRecompute: "computing again",
				sim.SpanBackward: "in the backward"}[sp.Kind]
		}
	}
	return "while it waits"
}

// From says where the sizes and times of the network come from.
func (c *Results) From() string {
	p := c.S.Visible()
	switch {
	case c.S.Step != nil && c.S.Step.Shown != nil && c.S.Step.Failed == "":
		return "sizes read in code, times estimated"
	case p == nil || c.S.Memory != nil || c.S.Step != nil:
		return ""
	}
	src := p.Network.Profile.Source
	switch sizes, times := src.Sizes, src.Times; {
	case sizes == profiles.Unknown || times == profiles.Unknown:
		return "from the file's sizes and times"
	case sizes == times:
		return "sizes and times " + names.Origin(sizes)
	default:
		return "sizes " + names.Origin(sizes) + ", times " + names.Origin(times)
	}
}

// bestBound returns the largest lower bound of the step time; ok is false if there is no bound.
func bestBound(s *proto.Solved) (best proto.Bound, ok bool) {
	for _, b := range s.Bounds {
		if b.StepTime > best.StepTime {
			best, ok = b, true
		}
	}
	return best, ok
}

// Verdict returns the badge of what was checked of the schedule. Its title compares the claims with the measurement.
func (c *Results) Verdict() panel.Badge {
	p := c.S.Visible()
	if p == nil {
		return panel.Badge{Class: "muted"}
	}
	s, t := p.Solved, p.Solved.Trace
	v := panel.Badge{Class: "muted"}
	v.Title = fmt.Sprintf("%s claims %s and a peak of %s; the simulator measured %s and %s.",
		p.Choice.PlanName(), format.Duration(s.Claim.StepTime), format.Bytes(s.Claim.Peak),
		format.Duration(t.Makespan), format.Bytes(t.Peak))
	if s.Verdict.Verified {
		v.Title += " An independent checker agrees on both."
		v.Title += " " + c.ClaimTitle()
	} else {
		v.Title += " " + format.Durations(s.Verdict.Problem)
	}
	switch {
	case c.S.Preview != nil:
		v.Text = "preview: " + p.Choice.PlanName()
	case p.Partial && c.S.Solving != nil:
		v.Text = "best so far"
	case p.Partial:
		v.Text = "for " + format.Bytes(s.Budget) + ", stopped early"
	case c.S.Stale():
		v.Text = cmp.Or(p.Within("plan for "), "not for this budget")
	case !s.Verdict.Verified && s.Claim.Peak != t.Peak:
		v.Text, v.Class = fmt.Sprintf("claims %s, needs %s", format.Bytes(s.Claim.Peak), format.Bytes(t.Peak)), "bad"
	case !s.Verdict.Verified && s.Claim.StepTime != t.Makespan:
		v.Text, v.Class = fmt.Sprintf("claims %s, takes %s", format.Duration(s.Claim.StepTime),
			format.Duration(t.Makespan)), "bad"
	case !s.Verdict.Verified:
		v.Text, v.Class = "check failed", "bad"
	default:
		v.Text, v.Class = "checked", "good"
	}
	return v
}

// ClaimTitle returns a sentence about whether the strategy claims that nothing is faster.
func (c *Results) ClaimTitle() string {
	p := c.S.Visible()
	switch {
	case p == nil || p.Partial || p.Choice.Policy != nil:
		return ""
	case p.Solved.Claim.Optimal:
		return fmt.Sprintf("%s claims that nothing is faster within its class, %s; that is its own proof, which is not checked here.",
			p.Choice.PlanName(), p.Solved.Claim.Within)
	}
	if s, c := p.Solved, p.Solved.Claim; c.Within != "" && s.Trace.Makespan > c.Bound && c.Bound > 0 {
		return fmt.Sprintf("%s claims that nothing among %s takes less than %s: this is %s more. That is its own proof, which is not checked here.",
			p.Choice.PlanName(), c.Within, format.Duration(c.Bound),
			format.Percent(format.Longer(s.Trace.Makespan, c.Bound)))
	}
	return p.Choice.PlanName() + " does not claim that nothing is faster."
}

// StopText returns the text of the button that stops the work.
func (c *Results) StopText() string {
	if w := c.S.Solving; w != nil && w.Best != nil {
		return "Stop and use this"
	}
	return "Stop"
}

// Findings is the panel about a file that was opened or refused. It lists what was left out, is doubtful or was
// assumed.
type Findings struct{ S *state.State }

// firstFindings is the number of findings that are shown without unfolding.
const firstFindings = 5

// Finding is an entry of Findings.
type Finding struct {
	Kind, Place, What, Better string
	Action, Do                string // text and data-do of a button; empty if there is no button
	Arg, Value                string // data-arg and value of the button
}

// Refused reports whether the last file was not opened.
func (c *Findings) Refused() bool {
	a := c.S.Alert
	return a != nil && a.File != "" && a.Do == nil
}

// Role returns the role of the panel: "alert" if the file was refused.
func (c *Findings) Role() string {
	if c.Refused() {
		return "alert"
	}
	return "region"
}

// Head returns the heading, which names the file, or "" if there are no findings.
func (c *Findings) Head() string {
	switch {
	case c.Refused():
		return c.S.Alert.File + " was not opened."
	case len(c.list()) > 0:
		return "Read " + c.file() + "."
	}
	return ""
}

// About returns a sentence behind the heading.
func (c *Findings) About() string {
	switch n := len(c.list()); {
	case c.Refused() && (c.S.Network == nil && c.S.Memory == nil && c.S.Step == nil || c.S.Alert.Linked):
		return ""
	case c.Refused():
		return "What was shown before stays."
	case n == 1:
		return "We assumed one thing."
	default:
		return fmt.Sprintf("We assumed %d things.", n)
	}
}

// First returns the first firstFindings findings as items of a list.
func (c *Findings) First() vugu.HTML {
	list := c.list()
	return items(list[:min(len(list), firstFindings)])
}

// Rest returns the findings after those of First.
func (c *Findings) Rest() vugu.HTML {
	list := c.list()
	return items(list[min(len(list), firstFindings):])
}

// More returns the text that unfolds Rest.
func (c *Findings) More() string { return fmt.Sprintf("%d more", len(c.list())-firstFindings) }

// file returns the name of the open file, or "" for a preset.
func (c *Findings) file() string {
	switch {
	case c.S.Memory != nil:
		return c.S.Memory.File
	case c.S.Network != nil:
		if ask.Lookup(c.S.Config()) != nil { // a model of the list
			return ""
		}
		return c.S.Network.Source.File
	}
	return ""
}

// list returns the findings about the refused file, or if there is no such file about the open one.
func (c *Findings) list() (out []Finding) {
	a := c.S.Alert
	if c.Refused() {
		for _, line := range append([]string{strings.TrimPrefix(a.Text, a.File+": ")}, a.Lines...) {
			out = append(out, newFinding("refused", line))
		}
		return out
	}
	if a != nil && a.File != "" {
		f := newFinding("doubtful", strings.Join(append([]string{a.Text}, a.Lines...), " "))
		f.Action, f.Do = a.Action, "act"
		out = append(out, f)
	}
	if c.file() == "" {
		return out
	}
	var odd, notes []string
	if m := c.S.Memory; m != nil {
		odd = m.Lint
	} else {
		odd, notes = c.S.Network.Lint, c.S.Network.Profile.Source.Notes
	}
	for _, line := range odd {
		if told := a != nil && a.File != ""; !told || !strings.HasPrefix(line, profiles.NoChain) {
			f := newFinding(kindOf(line), line)
			if strings.Contains(line, "stage") && !c.S.View.LayerList && c.S.Memory == nil {
				f.Action, f.Do = "Show the blocks", "layers"
			}
			out = append(out, f)
		}
	}
	for _, line := range notes {
		f := newFinding("assumed", line)
		c.act(&f, line)
		out = append(out, f)
	}
	return out
}

// act sets the action of f, an assumption: to choose the option that note names, or to show or change its subject.
func (c *Findings) act(f *Finding, note string) {
	name, value := ask.Setting(note)
	switch config := c.S.Config() != ""; {
	case strings.HasPrefix(note, "Sizes: ") && !c.S.View.LayerList && c.S.Memory == nil:
		f.Action, f.Do = "Show the blocks", "layers"
	case !config:
	case name != "" && value == "yes":
		f.Action, f.Do, f.Arg, f.Value = "Use "+ask.Option(name).Title, "option", name, value
	case name != "":
		f.Action, f.Do, f.Arg, f.Value = "Use "+ask.Words(name, value), "option", name, value
	case strings.Contains(note, c.S.Network.Profile.Source.Device):
		f.Action, f.Arg = "Change the card", "device"
		f.Do = "focus"
	default:
		f.Action, f.Do = "Choose words", "more"
	}
}

// newFinding splits the text of a format reader into the place ("Line 3"), the first sentence, and the rest, which says
// what would be better.
func newFinding(kind, text string) Finding {
	f := Finding{Kind: kind, What: format.Durations(ask.InWords(text))}
	if place, rest, ok := strings.Cut(f.What, ": "); ok && strings.HasPrefix(place, "Line ") {
		f.Place, f.What = place, rest
	}
	if what, better, ok := strings.Cut(f.What, ". "); ok {
		f.What, f.Better = what+".", better
	}
	return f
}

// kindOf returns the kind of a warning, by the words that format readers use.
func kindOf(text string) string {
	for _, word := range []string{"skipped", "not read", "missing", "left out", "cannot be used", "cannot be joined"} {
		if strings.Contains(text, word) {
			return "left out"
		}
	}
	for _, word := range []string{"taken for", "taken as", "assumed"} {
		if strings.Contains(text, word) {
			return "assumed"
		}
	}
	return "doubtful"
}

// items returns findings as escaped items of a list.
func items(list []Finding) vugu.HTML {
	var b strings.Builder
	for _, f := range list {
		place := ""
		if f.Place != "" {
			place = "<b>" + html.EscapeString(f.Place) + "</b> "
		}
		act := ""
		if f.Action != "" {
			act = fmt.Sprintf(`<button class="button small" type="button" data-arg="%s" value="%s" data-do="%s">%s</button>`,
				f.Arg, f.Value, f.Do, html.EscapeString(f.Action))
		}
		fmt.Fprintf(&b, `<li><i class="%s">%s</i><span>%s%s <small>%s</small></span>%s</li>`,
			strings.ReplaceAll(f.Kind, " ", "-"), f.Kind, place, html.EscapeString(f.What),
			html.EscapeString(f.Better), act)
	}
	return vugu.HTML(b.String())
}
