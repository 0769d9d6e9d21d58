package draw

import (
	"memtide/web/display"
	"memtide/web/lookup"
)

// Scene is a display list, with what is collected on the way to it: kept here so that
// a scene that is reused allocates nothing. Its zero value is empty.
type Scene struct {
	display.List

	slices [lookup.NumKinds + 1][]float32 // by kind; the last are slivers of waiting
	bands  []bandPoint
	sunk   []bandPoint
	seams  []seam
	placed []box
	xy     []float32
	cells  cells
	labels []blockLabel
}

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
