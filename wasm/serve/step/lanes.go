package step

import (
	"fmt"
	"strings"
	"time"

	"memtide/engine/pipeline"
)

// Sizes of the small picture of a schedule, in units of the SVG, whose width the page stretches.
const (
	lanesWide = 1000
	laneHigh  = 4
	mostLanes = 16 // of more ranks only every second, fourth, ... has a lane
	leastRun  = 4  // adjacent passes are joined until they are as wide
)

// laneClasses are the colours of passes by kind: 0 for forwards, 1 for backwards, 2 for backwards of the weights.
var laneClasses = map[pipeline.Kind]int{pipeline.Backward: 1, pipeline.Inputs: 1, pipeline.Weights: 2}

// lanes returns a small picture of when the ranks of a pipeline work, as SVG with a lane for each rank. The axis ends
// at longest, the longest of the compared steps, and a line marks taken, the end of the chosen step. The first third of
// a joined pass is drawn as its forward.
func lanes(t *pipeline.Trace, taken, longest time.Duration) string {
	every := 1
	for len(t.Ranks) > mostLanes*every {
		every *= 2
	}
	at := func(d time.Duration) int { return int(float64(d) * lanesWide / float64(max(longest, 1))) }
	var paths [3]strings.Builder
	n := 0
	for r := 0; r < len(t.Ranks); r += every {
		y := n*laneHigh + laneHigh/2
		n++
		class, from, to := 0, 0, 0
		flush := func() {
			if to > from {
				fmt.Fprintf(&paths[class], "M%d %dh%d", from, y, to-from)
			}
		}
		for i, x := range t.Ranks[r] {
			kind, start, end := laneClasses[x.Kind], at(x.Start), at(x.End)
			switch third := at(x.Start + (x.End-x.Start)/3); {
			case x.Joined:
				end = third
			case i > 0 && t.Ranks[r][i-1].Joined:
				start = third
			}
			if to > 0 && start <= to && (kind == class || to-from < leastRun) {
				to = max(to, end)
				continue
			}
			flush()
			class, from, to = kind, start, end
		}
		flush()
	}
	high := n * laneHigh
	return fmt.Sprintf(`<svg class="lanes" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true"><path class="f" d="%s"/><path class="b" d="%s"/><path class="w" d="%s"/><path class="bar-mark" d="M%d 0V%d"/></svg>`,
		lanesWide, high, &paths[0], &paths[1], &paths[2], at(taken)-1, high)
}
