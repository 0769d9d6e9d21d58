package ui

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/panel"
)

// Answer is the first thing that is read: does it fit, and what does that cost;
// with the bar of where the memory goes.
type Answer struct{ S *state.State }

// The kinds of answers. Only fits is green: nothing that is more than the device
// has, and nothing that is only guessed, looks like good news.
const (
	fits     = "fits"
	probably = "probably"
	mayNot   = "may-not"
	doesNot  = "not"
	unknown  = "needs" // nobody knows what the device has
	failed   = "failed"
	none     = "none" // nothing is computed, and something says why
	working  = "working"
	versus   = "versus" // the difference stands in its place
)

// Kind says how the answer is to look.
func (c *Answer) Kind() string {
	if c.S.Compare != nil && c.S.Visible() != nil && c.over() == nil {
		return versus
	}
	kind, _ := c.answer()
	return kind
}

// Word is the verdict, with what follows it.
func (c *Answer) Word() string {
	if m := c.over(); m != nil {
		return fmt.Sprintf(wordsTooSmall, format.Bytes(m.Budget))
	}
	return answerWords[c.Kind()]
}

// over is the budget that is too small, while nothing else is looked at.
func (c *Answer) over() *state.OverBudget {
	if c.S.Preview != nil {
		return nil
	}
	return c.S.OverBudget
}

// Smallest is the text of the button that sets a budget that would do; empty if
// there is none.
func (c *Answer) Smallest() string {
	if m := c.over(); m != nil && m.Smallest > 0 {
		return "Set " + format.BytesUp(m.Smallest)
	}
	return ""
}

// Late says that what was asked for is still being solved, so that what stands here
// is the answer to something else; the style sheet fades it if that lasts.
func (c *Answer) Late() string { return late(c.S) }

func late(s *state.State) string {
	return strconv.FormatBool(s.Solving != nil && s.Preview == nil && s.Shown != nil && !s.Shown.Choice.Equal(s.Choice))
}

// Sentence is what stands behind the word.
func (c *Answer) Sentence() string {
	_, sentence := c.answer()
	return sentence
}

// Say is the sentence with what is left out of it on a phone marked.
func (c *Answer) Say() vugu.HTML {
	text := html.EscapeString(c.Sentence())
	for _, long := range [...]string{wordsThan, wordsReserved} {
		text = strings.Replace(text, long, `<span class="roomy">`+long+"</span>", 1)
	}
	return vugu.HTML(text)
}

// resident says that what stays on the device through the whole step is more than it
// has, so that no plan helps.
func resident(p *state.Picture, d *preset.Device) bool {
	return d != nil && p.Network.Totals.Resident > d.Memory
}

func (c *Answer) answer() (kind, sentence string) {
	s := c.S
	if m := c.over(); m != nil {
		return doesNot, c.tooSmall(m)
	}
	p := s.Visible()
	if p == nil || s.Stale() && s.Preview == nil {
		if w := (&Results{S: s}).Work(); w != "" {
			return working, w
		}
		if a := s.Alert; a != nil && a.File == "" {
			return none, a.Text
		}
		return working, "Starting…"
	}
	return verdict(p)
}

// verdict says of a schedule whether it fits, and what it costs.
func verdict(p *state.Picture) (kind, sentence string) {
	peak, device := p.Solved.Trace.Peak, deviceOf(p.Choice)
	likely, price := choice.Reserved(peak), priceOf(p)
	switch {
	case !p.Solved.Verdict.Verified:
		return failed, strings.TrimSuffix(format.Durations(p.Solved.Verdict.Problem), ".") + "."
	case device == nil:
		return unknown, format.Bytes(peak) + price
	case resident(p, device):
		return doesNot, fmt.Sprintf(wordsResident, format.Bytes(p.Network.Totals.Resident), device.Short(), format.Bytes(device.Memory))
	case peak > device.Memory:
		return doesNot, fmt.Sprintf(wordsNeeded, format.Bytes(peak), device.Short(), format.Bytes(device.Memory))
	case likely > device.Memory:
		kind = probably
		if (peak+likely)/2 > device.Memory {
			kind = mayNot
		}
		return kind, fmt.Sprintf(wordsRange, format.Between(peak, likely), device.Short(), format.Bytes(device.Memory))
	case !certain(p.Network.Profile):
		return probably, fmt.Sprintf(wordsOnOne, format.OutOf(peak, device.Memory), device.Short(), price)
	}
	return fits, fmt.Sprintf(wordsOnOne, format.OutOf(peak, device.Memory), device.Short(), price)
}

// tooSmall says of a budget in which the strategy finds nothing what would do.
func (c *Answer) tooSmall(m *state.OverBudget) string {
	name := choice.PlanName(c.S.Choice.Strategy)
	if m.Smallest == 0 {
		return name + " finds nothing."
	}
	text := fmt.Sprintf(wordsAtLeast, name, format.BytesUp(m.Smallest))
	if d := deviceOf(c.S.Choice); d != nil && m.Smallest > d.Memory {
		text += "; " + fmt.Sprintf(wordsOneHas, d.Short(), format.Bytes(d.Memory))
	}
	return text + "."
}

// priceOf says what a schedule costs in time.
func priceOf(p *state.Picture) string {
	all := p.Solved.KeepAll.StepTime
	if all <= 0 {
		return "."
	}
	part := format.Longer(p.Solved.Trace.Makespan, all)
	switch text := strings.TrimPrefix(format.Percent(part), "+"); {
	case part <= 0 || text == "0 %":
		return wordsNoSlower + "."
	default:
		return fmt.Sprintf(wordsSlower, text) + "."
	}
}

// deviceOf is the device of a choice; nil if its memory is not known.
func deviceOf(c state.Choice) *preset.Device {
	if d := gpu(c); d != nil && d.Memory > 0 {
		return d
	}
	return nil
}

// certain says that the sizes are what a run allocates, not a rule of thumb.
func certain(p *profiles.Profile) bool {
	return p.Source.Sizes == profiles.Exact || p.Source.Sizes == profiles.Measured
}

// Sub says what the schedule does.
func (c *Answer) Sub() string {
	p := c.S.Visible()
	switch {
	case p == nil:
		return ""
	case c.S.Stale() && c.S.Preview == nil:
		return "The pictures show " + shown(c.S) + "."
	}
	if d := deviceOf(p.Choice); resident(p, d) {
		return fmt.Sprintf(wordsNoPlan, format.Bytes(p.Network.Totals.Resident-d.Memory))
	}
	return fmt.Sprintf(wordsKeepAll, format.Bytes(p.Solved.KeepAll.Peak)) + " " + deeds(p)
}

// deeds counts what happens to the layers.
func deeds(p *state.Picture) string {
	layers, by := p.Model().Tally()
	both := by[sim.Offload|sim.Recompute] // counts as sent and as computed again
	away, again := by[sim.Offload]+both, by[sim.Recompute]+both
	send := fmt.Sprintf("sends %d of the %d layers to the host and back", away, layers)
	switch {
	case away > 0 && again > 0:
		return fmt.Sprintf("This plan %s and computes %d again.", send, again)
	case away > 0:
		return "This plan " + send + "."
	case again > 0:
		return fmt.Sprintf("This plan computes %d of the %d layers again.", again, layers)
	}
	return "This plan keeps everything."
}

// Bar says that there is something to draw.
func (c *Answer) Bar() bool {
	p := c.S.Visible()
	return p != nil && c.S.Memory == nil && barScale(c.S, p) > 0
}

// barScale is what the whole width of the bar stands for. It does not depend on the
// budget within the slider's range, so that the bar rests while it is dragged.
func barScale(s *state.State, p *state.Picture) engine.Bytes {
	most := max(p.Solved.KeepAll.Peak, p.Solved.Trace.Peak, s.Budget(), s.BudgetRange().To)
	if d := deviceOf(p.Choice); d != nil && d.Memory < mostEmpty*most {
		most = max(most, d.Memory)
	}
	return most
}

// mostEmpty is how many times larger than what is in the bar a device may be to be
// its end: beyond that nothing could be seen in it.
const mostEmpty = 12

// Parts are the pieces of the bar: what lies there at the peak, and what keeping
// everything would take beyond it.
func (c *Answer) Parts() (out []panel.Piece) {
	p := c.S.Visible()
	if !c.Bar() {
		return nil
	}
	whole, at := barScale(c.S, p), engine.Bytes(0)
	add := func(class, words string, to engine.Bytes) {
		if to > at {
			label := fmt.Sprintf(words, format.Bytes(to-at))
			out = append(out, panel.Piece{Class: class, Label: label, Title: label, Style: panel.Stretch(at, to, whole)})
		}
		at = max(at, to)
	}
	for kind, used := range p.Model().HeldAt(p.Solved.Trace.PeakAt, 0).Used {
		end := at + used
		if n := p.Network.Chain; sim.Category(kind) == sim.Fixed && n != nil && n.Chain.Resident.Total() <= used {
			r := n.Chain.Resident
			add("fix", "weights %s", at+r.Weights)
			add("fix", "gradients %s", at+r.Grads)
			add("fix", "optimizer %s", at+r.Optimizer)
			add("fix", "buffers %s", end)
			continue
		}
		add(barKinds[kind].class, barKinds[kind].name+" %s", end)
	}
	all, d := p.Solved.KeepAll.Peak, deviceOf(p.Choice)
	switch {
	case d == nil || all <= d.Memory:
		add("ghost", wordsMore, all)
	case at <= d.Memory:
		more := fmt.Sprintf(wordsMore, format.Bytes(all-at)) // of both pieces
		add("ghost", "%.0s"+more, d.Memory)
		add("ghost beyond", wordsTooMuch, all)
	default:
		peak := at
		add("ghost beyond", wordsMore, all)
		at = d.Memory
		add("ghost beyond past", wordsTooMuch, peak)
	}
	return out
}

// Under says what lies in the bar, for where its pieces are too narrow to say it.
func (c *Answer) Under() (out []panel.Piece) {
	p := c.S.Visible()
	if !c.Bar() {
		return nil
	}
	for kind, used := range p.Model().HeldAt(p.Solved.Trace.PeakAt, 0).Used {
		if used > 0 {
			out = append(out, panel.Piece{Class: barKinds[kind].class, Label: barKinds[kind].name + " " + format.Bytes(used)})
		}
	}
	return out
}

// Marks are the lines across the bar: the device and the budget, with what is left
// between them.
func (c *Answer) Marks() (out []panel.Piece) {
	p := c.S.Visible()
	if !c.Bar() {
		return nil
	}
	whole, b, d := barScale(c.S, p), c.S.Budget(), deviceOf(p.Choice)
	if d != nil && d.Memory <= whole {
		out = append(out, panel.Piece{Class: panel.Side("device", d.Memory, whole), Label: fmt.Sprintf(wordsOneHas, d.Short(), format.Bytes(d.Memory)), Style: panel.Place(d.Memory, whole)})
	}
	all := p.Solved.KeepAll.Peak
	if d == nil || d.Memory > whole || apart(all, d.Memory, whole) {
		class := "keep"
		if d != nil && all > d.Memory {
			class = "keep beyond"
		}
		out = append(out, panel.Piece{Class: panel.Side(class, all, whole), Label: fmt.Sprintf(wordsKeepMark, format.Bytes(all)), Style: panel.Place(all, whole)})
	}
	out = append(out, panel.Piece{Class: panel.Side("budget", b, whole), Label: fmt.Sprintf(wordsMark, format.Bytes(b)), Style: panel.Place(b, whole)})
	if b > whole/3 {
		out = append(out, panel.Piece{Class: "below", Label: wordsAtPeak})
	}
	if d != nil && b < d.Memory && d.Memory <= whole && b > whole/2 {
		out = append(out, panel.Piece{Class: "spare", Label: fmt.Sprintf(wordsLeft, format.Bytes(d.Memory-b)), Style: panel.Place(b, whole)})
	}
	return out
}

// apart says that two marks are so far from each other that both have room for words.
func apart(a, b, whole engine.Bytes) bool {
	return float64(max(a, b)-min(a, b)) > 0.14*float64(whole)
}

// BarLabel says the bar in words.
func (c *Answer) BarLabel() string {
	var words []string
	for _, p := range c.Parts() {
		words = append(words, p.Label)
	}
	for _, m := range c.Marks() {
		if m.Class != "below" {
			words = append(words, m.Label)
		}
	}
	return "Memory at the peak of the step: " + strings.Join(words, ", ")
}

// shown says which schedule the pictures still show: its budget, and what else
// is not what was asked for.
func shown(s *state.State) string {
	p := s.Shown
	what := format.Bytes(p.Solved.Budget)
	if p.Choice.Strategy != s.Choice.Strategy {
		what = choice.PlanName(p.Choice.Strategy) + " in " + what
	}
	if p.Network != s.Network {
		what += " for " + p.Network.Profile.Name
	}
	return what
}
