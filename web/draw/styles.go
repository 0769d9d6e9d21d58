package draw

import (
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// The fills of slices, bars and bands: the pattern is the second channel beside
// the colour.
var (
	forwardStyle   = display.FillOf(display.Forward)
	recomputeStyle = display.Style{Fill: display.Recompute, Stroke: display.NoRole, Pattern: display.Hatch, Lines: display.LineRecompute}
	backwardStyle  = display.FillOf(display.Backward)
	transferStyle  = display.FillOf(display.Transfer)
	fixedStyle     = display.FillOf(display.Fixed)
	inFlightStyle  = display.Style{Fill: display.Transfer, Stroke: display.NoRole, Pattern: display.Dots, Lines: display.LineTransfer}
	scratchStyle   = display.Style{Fill: display.Surface, Stroke: display.NoRole, Pattern: display.ThinHatch, Lines: display.Muted}
	waitingStyle   = display.Style{Fill: display.Surface, Stroke: display.NoRole, Pattern: display.ThinHatch, Lines: display.Waiting}
	overStyle      = display.Style{Fill: display.Over, Stroke: display.NoRole, Pattern: display.NoPattern, Lines: display.NoRole}
)

// kindSliver is that of a wait that is too narrow for a pattern.
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

// waitingBox is a gap that is wide enough for an outline.
var waitingBox = display.Style{Fill: display.Surface, Stroke: display.Waiting, Pattern: display.ThinHatch, Lines: display.Waiting, Dash: display.DashWaiting, Width: 1}

func (s *Scene) clearSlices() {
	for k := range s.slices {
		s.slices[k] = s.slices[k][:0]
	}
}

// flushSlices draws what was collected, one group for each kind.
func (s *Scene) flushSlices() {
	for k := range s.slices {
		s.Rects(kindStyles[k], s.slices[k])
	}
}

// mutedStyle is a bar of layers that both sides treat alike.
var mutedStyle = display.FillOf(display.Grid)
