package draw

import (
	"math"
	"time"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// bandStyles are the fills of the bands.
var bandStyles = [sim.NumCategories]display.Style{
	sim.Fixed:      fixedStyle,
	sim.Gradient:   backwardStyle,
	sim.Activation: forwardStyle,
	sim.Recomputed: recomputeStyle,
	sim.InTransfer: inFlightStyle,
	sim.Workspace:  scratchStyle,
}

// bandPoints returns the corners of the bands in the view, from left to right. In a
// pixel column with many samples the largest sums stand for all: whether it fits
// is what the picture is for. Of several samples at one moment the first and the
// last are corners; what is between them lasts for no time.
func (m *Model) bandPoints(f *frame, pts []bandPoint) []bandPoint {
	x := &m.Memory
	first, last := x.FirstAt(f.From), x.FirstAfter(f.To)
	if first > 0 {
		s := sim.Sample{Used: x.Used(f.From)}
		if first < len(x.Samples) && x.Samples[first].At == f.From {
			s = x.Samples[first-1] // what was there before the jumps of this moment
		}
		pts = append(pts, bandPoint{x: f.left, sum: lookup.BoundsOf(&s)})
	}
	merged := -1.0 // where the last merged column ends
	for i := first; i < last; {
		px := f.clip(f.x(int64(x.Samples[i].At)))
		column := math.Floor(px) + 1
		j := min(max(x.FirstAt(time.Duration(f.ceilTime(column))), i+1), last)
		if j-i > exactSamples {
			high, right := x.High(i, j), math.Max(px, math.Min(column, f.right))
			if merged == column-1 { // no need to go down between two columns
				pts, px = pts[:len(pts)-1], merged
			} else {
				pts = append(pts, bandPoint{x: px, sum: lookup.BoundsOf(&x.Samples[i])})
			}
			pts = append(pts, bandPoint{x: px, sum: high}, bandPoint{x: right, sum: high},
				bandPoint{x: right, sum: lookup.BoundsOf(&x.Samples[j-1])})
			i, merged = j, right
			continue
		}
		for ; i < j; i++ {
			at := x.Samples[i].At
			if i > 0 && i+1 < len(x.Samples) && x.Samples[i-1].At == at && x.Samples[i+1].At == at {
				continue
			}
			pts = append(pts, bandPoint{x: f.clip(f.x(int64(at))), sum: lookup.BoundsOf(&x.Samples[i])})
		}
	}
	if last < len(x.Samples) {
		s := sim.Sample{Used: x.Used(f.To)}
		pts = append(pts, bandPoint{x: f.right, sum: lookup.BoundsOf(&s)})
	}
	return pts
}

// exactSamples is how many samples of one pixel column are all corners.
const exactSamples = 6

// corner adds a corner to a polyline and drops the one before it where that
// lies on a level or upright line.
func corner(xy []float64, x, y float64) []float64 {
	px, py := x, y
	if n := len(xy); n >= 4 {
		ax, ay, bx, by := xy[n-4], xy[n-3], xy[n-2], xy[n-1]
		level := near(ay, by) && near(by, py)
		// Upright: only if the corner lies between its neighbours.
		upright := near(ax, bx) && near(bx, px) && (by-ay)*(py-by) >= 0
		if level || upright {
			xy[n-2], xy[n-1] = px, py
			return xy
		}
	}
	return append(xy, px, py)
}

func near(a, b float64) bool { return a-b < 0.005 && b-a < 0.005 }
