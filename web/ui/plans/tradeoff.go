package plans

import (
	"cmp"
	"fmt"
	"strings"

	"memtide/web/chart"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
	"memtide/web/ui/panel"
)

// Tradeoff is the panel of the curve. Package app draws the chart and the progress, because points arrive more often
// than components should be drawn.
type Tradeoff struct {
	S     *state.State
	Hosts mount.Hosts
}

// Missing reports whether the open step has too few orders and policies for a chart.
func (c *Tradeoff) Missing() bool { return c.S.Step != nil && chart.New(c.S, 1, 1) == nil }

// Coming reports whether more orders and policies may come, for which the chart keeps its place: while the step is
// busy, and when a link's time limit ended it, so that nothing moves then.
func (c *Tradeoff) Coming() bool {
	return c.S.Step.Busy() || c.S.Step != nil && c.S.Step.Ended == state.ByLimit
}

// Gone reports whether the chart of a pipeline is left out because its points were not computed. The chart is below
// the ranks, so leaving it out moves nothing in view.
func (c *Tradeoff) Gone() bool { return c.Missing() && !c.S.Step.Busy() && c.S.Passes() != nil }

// Running reports whether points are still being computed.
func (c *Tradeoff) Running() bool { return c.S.Curve != nil && c.S.Curve.ID != 0 }

// CanStart reports whether a curve that was stopped can be resumed.
func (c *Tradeoff) CanStart() bool {
	return c.S.Curve != nil && c.S.Curve.ID == 0 && !c.S.Curve.Complete()
}

// StartText returns the text of the button that resumes the curve.
func (c *Tradeoff) StartText() string {
	if c.S.Curve != nil && c.S.Curve.Failed != "" {
		return "Try again"
	}
	return "Compute"
}

// Label describes the curve in words, for screen readers.
func (c *Tradeoff) Label() string {
	var parts []string
	p := chart.New(c.S, 1, 1)
	if c.S.Step != nil && p != nil {
		for _, x := range p.Spots {
			parts = append(parts, x.Name+" "+format.Duration(x.At.StepTime)+" at "+format.Bytes(x.Needs))
		}
		return "Orders and policies: " + strings.Join(parts, "; ")
	}
	if p == nil {
		return "Trade-off curve, not computed yet"
	}
	for _, l := range c.S.Lines() {
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		parts = append(parts, fmt.Sprintf("%s from %s at %s to %s at %s", l.Title,
			format.Duration(first.StepTime), format.Bytes(p.Memory(first.Budget)), format.Duration(last.StepTime),
			format.Bytes(p.Memory(last.Budget))))
	}
	if b := chart.OtherSide(c.S); b != nil {
		parts = append(parts, BesideWords(c.S, b, ": "))
		if b.Note != "" {
			parts = append(parts, strings.TrimSuffix(b.Note, "."))
		}
	}
	if p.Card {
		return "Speed against memory of the card: " + strings.Join(parts, "; ")
	}
	return "Speed against memory: " + strings.Join(parts, "; ")
}

// BesideWords returns the name of the other side of a comparison, between, and what the other side needs.
func BesideWords(s *state.State, b *chart.Beside, between string) string {
	name := b.Letter
	if b.Another {
		o := s.Compare.Other.Shown
		name += ", another network: " + names.Network(o.Choice, o.Network)
	}
	return name + between + b.Words
}

// SweepStatus returns the line under the curve: the progress, and a note about the point of the other side of a
// comparison.
func SweepStatus(s *state.State) string {
	text := sweepProgress(s)
	if b := chart.OtherSide(s); text != "" && b != nil && b.Note != "" {
		text += " " + b.Note
	}
	return text
}

func sweepProgress(s *state.State) string {
	c := s.Curve
	switch {
	case (&Tradeoff{S: s}).Missing():
		return ""
	case s.Step != nil:
		return "Point at a circle or a diamond to see what it is, click to use it."
	case c == nil:
		return ""
	case c.Improving > 0:
		return "Point at the curve to preview, click to use. Looking for better points."
	case c.ID != 0:
		return fmt.Sprintf("%d of %d points", c.Done, c.Total)
	case c.Failed != "" && !c.Complete():
		return c.Failed
	case c.Stopped && !c.Complete():
		return fmt.Sprintf("Stopped after %d of %d points", c.Done, c.Total)
	}
	return "Point at the curve to preview, click to use."
}

// Title returns the title of the curve.
func (c *Tradeoff) Title() string {
	if c.S.View.Axis == tradeoff.Throughput {
		return "Speed against memory"
	}
	return "Step time against memory"
}

// Better returns the note beside the title: which direction is better and what the axis measures. If there is no
// chart, it returns the reason.
func (c *Tradeoff) Better() string {
	if c.Missing() {
		return "Drawn when orders and policies have been tried: press “Go on”."
	}
	text := "down is better"
	if c.S.View.Axis == tradeoff.Throughput {
		text = "up is better"
	}
	if c.S.Step != nil || state.DeviceOf(c.S.Choice) != nil {
		text += "; memory of the card"
		if c.S.Step == nil && known.Uneven(c.S.Choice, c.S.Network) {
			text += " with evenly busy experts"
		}
	}
	if c.S.Step != nil && c.S.Step.Shown != nil && len(c.S.Step.Shown.Orders) > 0 {
		text += "; diamonds are orders of passes"
	}
	if c.S.Step != nil || len(c.S.Policies()) > 0 {
		text += "; circles are frameworks’ policies"
	}
	return text
}

// Axes lists the vertical axes.
func (c *Tradeoff) Axes() []panel.Option {
	rate := "tokens per second"
	if c.S.Step != nil && c.S.Step.Shown != nil {
		rate = c.S.Step.Shown.Unit + " per second"
	} else if n := c.S.Network; n != nil {
		unit, count := known.Trained(c.S.Choice, n)
		if rate = unit + " per second"; count == 0 {
			rate = "steps per second"
		}
	}
	titles := map[string]string{tradeoff.Throughput: rate, tradeoff.Slowdown: "slowdown",
		tradeoff.StepTime: "step time"}
	var out []panel.Option
	for _, axis := range tradeoff.Axes {
		out = append(out, panel.Option{ID: cmp.Or(axis, "rate"), Title: titles[axis], Selected: axis == c.S.View.Axis})
	}
	return out
}
