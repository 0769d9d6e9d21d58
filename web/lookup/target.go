package lookup

// TargetKind says what a Target is.
type TargetKind uint8

// The kinds of targets.
const (
	Nothing    TargetKind = iota
	OnSpan                // Index is a sim.SpanID
	OnGap                 // Index into Trace.Gaps
	OnStage               // Index is a stage, 1..n
	OnBand                // Index is a sim.Category
	OnBudget              // the budget line
	OnBuffer              // of Places: Index is a buffer
	OnPlayhead            // the handle of the playhead
	OnValue               // Index is an engine.ValueID
	OnCall                // of Flame: Index is a call
	OnPass                // of Passes: Index is the number of a pass
	OnIdle                // of Passes: Index is the number of the pass behind an idle stretch, or behind the last pass of a rank that rank behind all passes
)

// Target is something in a picture that can be pointed at or selected.
type Target struct {
	Kind  TargetKind
	Index int
}

// TargetOf is the Target of a slice of a lane.
func TargetOf(ref int32) Target {
	if ref < 0 {
		return Target{OnGap, int(^ref)}
	}
	return Target{OnSpan, int(ref)}
}
