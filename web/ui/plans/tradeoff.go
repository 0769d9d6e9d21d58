package plans

import (
	"fmt"
	"strings"

	"memtide/web/chart"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/mount"
	"memtide/web/ui/names"
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
