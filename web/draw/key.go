package draw

import (
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// KeyEntry is a fill of the pictures and its meaning.
type KeyEntry struct {
	Class string // CSS class of the sample on the page
	Words string
	style display.Style
}

// Key returns the entries for the fills that occur in the pictures of the models.
func Key(models ...*Index) (out []KeyEntry) {
	var ran [lookup.NumKinds]bool
	var held [sim.NumCategories]bool
	over, scratch := false, ""
	for _, m := range models {
		if words := m.Scratch(); len(words) > len(scratch) {
			scratch = words
		}
		for l := range m.Lanes {
			for k, d := range m.Lanes[l].BusyIn(0, len(m.Lanes[l].From)) {
				ran[k] = ran[k] || d > 0
			}
		}
		for c, some := range m.Memory.Held {
			held[c] = held[c] || some
		}
		for i := range m.Trace.Spans {
			again, beside := m.Own(&m.Trace.Spans[i])
			ran[sim.SpanRecompute] = ran[sim.SpanRecompute] || again > 0
			ran[sim.SpanOffload] = ran[sim.SpanOffload] || beside.ToHost+beside.ToDev+beside.Network > 0
			ran[lookup.KindWaiting] = ran[lookup.KindWaiting] || beside.Stall > 0
		}
		over = over || m.Trace.Peak > m.Problem.Budget
	}
	for _, e := range []struct {
		occurs bool
		KeyEntry
	}{
		{ran[sim.SpanForward] || held[sim.Activation], KeyEntry{"fwd", "forward, kept", forwardStyle}},
		{ran[sim.SpanRecompute] || held[sim.Recomputed], KeyEntry{"rec", "computed again", recomputeStyle}},
		{ran[sim.SpanBackward] || held[sim.Gradient], KeyEntry{"bwd", "backward", backwardStyle}},
		{ran[sim.SpanOffload] || ran[sim.SpanFetch], KeyEntry{"xfer", "copied", transferStyle}},
		{held[sim.InTransfer], KeyEntry{"xfer dots", "leaving or arriving", inFlightStyle}},
		{held[sim.Workspace], KeyEntry{"scratch", scratch, scratchStyle}},
		{ran[lookup.KindWaiting], KeyEntry{"wait", "waiting", waitingBox}},
		{over, KeyEntry{"over", "too much", overStyle}},
	} {
		if e.occurs {
			out = append(out, e.KeyEntry)
		}
	}
	return out
}

// Legend replaces s by the key of the models, in as many lines as the width requires.
func Legend(s *Scene, width float64, models ...*Index) {
	s.Reset(width, lineHeight+6)
	s.Title = "Legend"
	x, y := 0.0, 0.0
	for _, e := range Key(models...) {
		w := 17 + display.TextWidth(e.Words)
		if x > 0 && x+w > width {
			x, y = 0, y+lineHeight+6
		}
		s.Rect(e.style, x+0.5, y+3.5, 12, 10)
		s.Text(display.Muted, x+17, y+13, display.Start, e.Words)
		x += w + 14
	}
	s.Height = y + lineHeight + 6
}

// The fills of slices, bars and bands. Patterns distinguish them without colours.
var (
	forwardStyle   = display.FillOf(display.Forward)
	recomputeStyle = display.PatternOf(display.Recompute, display.Hatch, display.LineRecompute)
	backwardStyle  = display.FillOf(display.Backward)
	transferStyle  = display.FillOf(display.Transfer)
	fixedStyle     = display.FillOf(display.Fixed)
	inFlightStyle  = display.PatternOf(display.Transfer, display.Dots, display.LineTransfer)
	scratchStyle   = display.PatternOf(display.Surface, display.ThinHatch, display.Muted)
	waitingStyle   = display.PatternOf(display.Surface, display.ThinHatch, display.Waiting)
	overStyle      = display.FillOf(display.Over)
)

// kindSliver is the kind of waits that are too narrow for a pattern.
const kindSliver = lookup.NumKinds

// kindStyles are the fills of slices.
var kindStyles = [lookup.NumKinds + 1]display.Style{
	sim.SpanForward:    forwardStyle,
	sim.SpanRecompute:  recomputeStyle,
	sim.SpanBackward:   backwardStyle,
	sim.SpanOffload:    transferStyle,
	sim.SpanFetch:      transferStyle,
	sim.SpanNetwork:    transferStyle,
	sim.SpanCPU:        display.FillOf(display.Fixed),
	lookup.KindWaiting: waitingStyle,
	kindSliver:         display.FillOf(display.Waiting),
}

// waitingBox is the style of a gap that is wide enough for an outline.
var waitingBox = display.Style{Fill: display.Surface, Stroke: display.Waiting, Pattern: display.ThinHatch,
	Lines: display.Waiting, Dash: display.DashWaiting, Width: 1}

func (s *Scene) clearSlices() {
	for k := range s.slices {
		s.slices[k] = s.slices[k][:0]
	}
}

// flushSlices draws the collected slices, one group for each kind.
func (s *Scene) flushSlices() {
	for k := range s.slices {
		s.Rects(kindStyles[k], s.slices[k])
	}
}

// mutedStyle is the fill of bars that are equal on both sides of a comparison.
var mutedStyle = display.FillOf(display.Grid)
