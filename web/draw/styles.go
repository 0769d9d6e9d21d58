package draw

// Scene is a display list, with what is collected on the way to it: kept here so that
// a scene that is reused allocates nothing. Its zero value is empty.
type Scene struct {
	list

	slices [numKinds + 1][]float32 // by kind; the last are slivers of waiting
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
	forwardStyle   = fillOf(Forward)
	recomputeStyle = style{fill: Recompute, stroke: noRole, pattern: hatch, lines: LineRecompute}
	backwardStyle  = fillOf(Backward)
	transferStyle  = fillOf(Transfer)
	fixedStyle     = fillOf(Fixed)
	inFlightStyle  = style{fill: Transfer, stroke: noRole, pattern: dots, lines: LineTransfer}
	scratchStyle   = style{fill: Surface, stroke: noRole, pattern: thinHatch, lines: Muted}
	waitingStyle   = style{fill: Surface, stroke: noRole, pattern: thinHatch, lines: Waiting}
	overStyle      = style{fill: Over, stroke: noRole, pattern: noPattern, lines: noRole}
)
