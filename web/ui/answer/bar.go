package answer

import (
	"fmt"
	"memtide/web/choice"
	"strings"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/panel"
)

// Bar says that there is something to draw.
func (c *Answer) Bar() bool {
	p := c.S.Visible()
	return p != nil && c.S.Memory == nil && Scale(c.S, p) > 0
}

// Scale is what the whole width of the bar stands for. It does not depend on the
// budget within the slider's range, so that the bar rests while it is dragged.
func Scale(s *state.State, p *known.Picture) engine.Bytes {
	most := max(p.Solved.KeepAll.Peak, p.Solved.Trace.Peak, s.Budget(), s.BudgetRange().To)
	if d := Device(p.Choice); d != nil && d.Memory < mostEmpty*most {
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
	whole, at := Scale(c.S, p), engine.Bytes(0)
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
	all, d := p.Solved.KeepAll.Peak, Device(p.Choice)
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
	whole, b, d := Scale(c.S, p), c.S.Budget(), Device(p.Choice)
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
		words := wordsLeft
		if b < choice.Usable(d.Memory) {
			words = wordsUnused
		}
		out = append(out, panel.Piece{Class: "spare", Label: fmt.Sprintf(words, format.Bytes(d.Memory-b)), Style: panel.Place(b, whole)})
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

// barKinds are the parts of the bar at the peak, in the order of the stack.
var barKinds = [sim.NumCategories]struct{ class, name string }{
	sim.Fixed: {"fix", "weights, gradients, optimizer"}, sim.Gradient: {"bwd", "gradients of activations"}, sim.Activation: {"fwd", "activations kept"},
	sim.Recomputed: {"rec", "computed again"}, sim.InTransfer: {"xfer", "leaving or arriving"}, sim.Workspace: {"scratch", "scratch"},
}
