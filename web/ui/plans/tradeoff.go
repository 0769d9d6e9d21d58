package plans

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"memtide/web/chart"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
	"memtide/web/ui/panel"
)

// Tradeoff is the curve of step time against budget. Chart and progress are
// drawn by hand: points arrive more often than components should be drawn.
type Tradeoff struct {
	S     *state.State
	Hosts mount.Hosts
}

// Running reports whether points are still being computed.
func (c *Tradeoff) Running() bool { return c.S.Curve != nil && c.S.Curve.ID != 0 }

// CanStart reports whether a curve that was given up can be computed again.
func (c *Tradeoff) CanStart() bool {
	return c.S.Curve != nil && c.S.Curve.ID == 0 && !c.S.Curve.Complete()
}

// StartText returns the button's.
func (c *Tradeoff) StartText() string {
	if c.S.Curve != nil && c.S.Curve.Failed != "" {
		return "Try again"
	}
	return "Compute"
}

// Label says in words what the curve shows.
func (c *Tradeoff) Label() string {
	if c.S.Curve == nil {
		return "Trade-off curve, not computed yet"
	}
	var parts []string
	for _, l := range c.S.Lines() {
		first, last := l.Points[0], l.Points[len(l.Points)-1]
		parts = append(parts, fmt.Sprintf("%s from %s at %s to %s at %s", l.Title,
			format.Duration(first.StepTime), format.Bytes(first.Budget), format.Duration(last.StepTime),
			format.Bytes(last.Budget)))
	}
	if b := chart.OtherSide(c.S); b != nil {
		parts = append(parts, BesideWords(c.S, b, ": "))
		if b.Note != "" {
			parts = append(parts, strings.TrimSuffix(b.Note, "."))
		}
	}
	return "Speed against memory: " + strings.Join(parts, "; ")
}

// BesideWords names the other side of a comparison and says what it needs.
func BesideWords(s *state.State, b *chart.Beside, between string) string {
	name := b.Letter
	if b.Another {
		o := s.Compare.Other.Shown
		name += ", another network: " + names.Network(o.Choice, o.Network)
	}
	return name + between + b.Words
}

// SweepStatus returns the line under the curve: how far it is, and how to read the
// place of another network.
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

// Title says what the curve shows.
func (c *Tradeoff) Title() string {
	if c.S.View.Axis == tradeoff.Throughput {
		return "Speed against memory"
	}
	return "Step time against memory"
}

// Better says which way is better.
func (c *Tradeoff) Better() string {
	text := "down is better"
	if c.S.View.Axis == tradeoff.Throughput {
		text = "up is better"
	}
	if state.DeviceOf(c.S.Choice) != nil {
		text += "; memory of the card"
	}
	if len(c.S.Policies()) > 0 {
		text += "; circles are frameworks’ policies"
	}
	return text
}

// Axes lists what the curve may show upwards.
func (c *Tradeoff) Axes() []panel.Option {
	rate := "samples per second"
	if n := c.S.Network; n != nil {
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

// strokes are the classes of the colours that lines have.
var strokes = map[display.Role]string{display.Forward: "of-both", display.Transfer: "of-offload",
	display.Recompute: "of-recompute", display.Fixed: "of-keep"}

// sample returns a piece of a strategy's line, as SVG.
func sample(line string) string {
	class, dash := strokes[chart.Role(line)], ""
	if dashes := chart.Dash(line); dashes != nil {
		list := make([]string, len(dashes))
		for i, n := range dashes {
			list[i] = strconv.Itoa(n)
		}
		dash = ` stroke-dasharray="` + strings.Join(list, " ") + `"`
	}
	return fmt.Sprintf(`<svg width="26" height="8" aria-hidden="true"><path class="%s" d="M0 4H26"%s/></svg>`,
		class, dash)
}
