package draw

import (
	"cmp"
	"math"
	"strings"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// memoryScale is the scale of the memory axis. What stays through the whole step
// would take most of the height of a large network: from a fifth of the axis on it
// stands in a band of its own scale below the others, under a zigzag that says so.
type memoryScale struct {
	top, bottom float64 // pixels
	most        engine.Bytes
	fixed       engine.Bytes // what the band stands for; 0: there is none, and one scale
	floor       float64      // pixels: where the true scale begins
	band        float64      // pixels of the band
	perByte     float64      // above the floor
	showBudget  bool
	showDevice  bool
}

const (
	budgetShown = 2.5  // how many times the peak the budget or the device may be to be in the picture
	ghostTimes  = 2.0  // how many times what else is drawn, without what is fixed, the ghost may be to be in it whole
	ghostCut    = 0.25 // of what else is drawn, that is seen of a higher ghost
	fixedBand   = 46.0 // pixels of the band, less in low pictures
	fixedBreak  = 6.0  // of the zigzag
	captionRoom = 20.0 // of the words under the band
)

func (m *Index) memoryScale(f *frame) memoryScale {
	sc := memoryScale{top: titleLine + 17, bottom: f.Height - 6, most: max(m.Trace.Peak, 1)}
	if f.Beside != nil {
		sc.most = max(sc.most, f.Beside.Model.Trace.Peak)
	}
	peak := float64(sc.most)
	in := func(b engine.Bytes) bool { return b > 0 && float64(b) <= budgetShown*peak }
	show := func(b engine.Bytes) bool {
		if !in(b) {
			return false
		}
		sc.most = max(sc.most, b)
		return true
	}
	sc.showBudget = float64(f.Budget) <= budgetShown*peak
	if sc.showBudget {
		sc.most = max(sc.most, f.Budget)
	}
	if f.Beside != nil { // its line is in its own picture
		show(cmp.Or(f.Beside.Budget, f.Beside.Model.Problem.Budget))
	} else {
		sc.showDevice = show(f.Capacity)
		sc.most = max(sc.most, m.ghostShown(f, sc.most))
	}
	if f.Top > 0 {
		sc.most = f.Top
	}
	sc.floor = sc.bottom
	sc.band = math.Min(fixedBand, (sc.bottom-sc.top)/5)
	alike := f.Beside == nil || f.Beside.Model.Memory.Fixed == m.Memory.Fixed // one scale for both sides
	if fixed := m.Memory.Fixed; alike && fixed < sc.most && fixed > sc.most/5 && sc.band > fixedBand/2 {
		sc.bottom -= captionRoom - 6
		sc.fixed, sc.floor = fixed, sc.bottom-sc.band-fixedBreak
	}
	sc.perByte = (sc.floor - sc.top) / float64(sc.most-sc.fixed)
	return sc
}

// ghostShown returns how much of the ghost is in a picture whose axis reaches to most without it. A ghost that would
// leave less than half of the height to the schedule is cut off a little above the other lines.
func (m *Index) ghostShown(f *frame, most engine.Bytes) engine.Bytes {
	peak, moves := ghostPeak(f.Ghost), float64(most-min(m.Memory.Fixed, most))
	if float64(peak-min(m.Memory.Fixed, peak)) <= ghostTimes*moves {
		return peak
	}
	return most + engine.Bytes(ghostCut*moves)
}

// MemoryTop returns what the upper end of the memory axis stands for: View.Top of a
// picture whose scale stays while something is dragged.
func (m *Index) MemoryTop(v View) engine.Bytes {
	f := m.frame(Memory, v)
	return m.memoryScale(&f).most
}

func (sc *memoryScale) y(b int64) float64 {
	if fixed := int64(sc.fixed); b < fixed {
		return sc.bottom - float64(b)*sc.band/float64(fixed)
	} else if b == fixed && fixed > 0 {
		return sc.bottom - sc.band
	}
	return sc.floor - float64(b-int64(sc.fixed))*sc.perByte
}

// border returns the upper border of band b along points.
func (sc *memoryScale) border(pts []bandPoint, b int) (xy []float64) {
	for i := range pts {
		xy = corner(xy, pts[i].x, sc.y(pts[i].sum[b]))
	}
	return xy
}

// foot returns where what stands on b begins: above the zigzag.
func (sc *memoryScale) foot(b int64) float64 { return math.Min(sc.y(b), sc.floor) }

// stripe is a part of what is fixed that has a name.
type stripe struct {
	name  string
	bytes engine.Bytes
}

// stripes returns the parts of what is fixed, from the bottom, or nil where the profile does
// not tell them apart.
func (m *Index) stripes() (out []stripe) {
	if m.Problem.Chain == nil {
		return nil
	}
	r, sum := m.Problem.Chain.Chain.Resident, engine.Bytes(0)
	for _, p := range []stripe{{"weights", r.Weights}, {"gradients", r.Grads}, {"optimizer", r.Optimizer},
		{"other", r.Pinned}} {
		if p.bytes > 0 {
			out, sum = append(out, p), sum+p.bytes
		}
	}
	if sum != m.Memory.Fixed {
		return nil
	}
	return out
}

// drawBreak draws the zigzag between the two scales, the stripes under it, and says
// what the lower scale is.
func (sc *memoryScale) drawBreak(s *Scene, f *frame, stripes []stripe) {
	if sc.fixed == 0 {
		return
	}
	y := sc.floor + fixedBreak/2
	s.Rect(display.FillOf(display.Surface), f.left, sc.floor, f.right-f.left, fixedBreak)
	var xy []float64
	for x, up := f.left, 1.5; x <= f.right; x, up = x+8, -up {
		xy = append(xy, x, y+up)
	}
	s.Path(display.OpLine, display.StrokeOf(display.Muted, 1), xy)
	s.Text(display.Muted, f.left-8, sc.floor+4, display.End, format.Bytes(sc.fixed))
	words := "Fixed through the step: " + format.Bytes(sc.fixed) + ", drawn at a smaller scale"
	if display.TextWidth(words) > f.right-f.left {
		words = "Fixed: " + format.Bytes(sc.fixed) + ", at a smaller scale"
	}
	s.Text(display.Muted, f.left, sc.bottom+14, display.Start, display.Fit(words, f.right-f.left))
	if room := f.left - 8; display.TextWidth("always there") <= room {
		s.Text(display.Muted, room, sc.bottom-sc.band/2+4, display.End, "always there")
	}
	low, sizes, names := false, []string{}, []string{}
	for _, p := range stripes {
		low = low || sc.band*float64(p.bytes)/float64(sc.fixed) < 12
		sizes, names = append(sizes, p.name+" "+format.Bytes(p.bytes)), append(names, p.name)
	}
	if low || len(stripes) < 2 { // not one under the other
		if words = strings.Join(sizes, ", "); display.TextWidth(words) > f.right-f.left-16 {
			words = strings.Join(names, ", ")
		}
		s.Text(display.OnFixed, f.left+8, sc.bottom-sc.band/2+4, display.Start, display.Fit(words, f.right-f.left-16))
	}
	sum := engine.Bytes(0)
	for i, p := range stripes {
		bottom := sc.y(int64(sum))
		sum += p.bytes
		if i > 0 {
			s.Line(display.StrokeOf(display.Surface, 0.8), f.left, bottom, f.right, bottom)
		}
		if !low && len(stripes) > 1 {
			s.Text(display.OnFixed, f.left+8, (bottom+sc.y(int64(sum)))/2+4, display.Start,
				p.name+" "+format.Bytes(p.bytes))
		}
	}
}

// BudgetAt returns the budget for which the budget line would be at y, in CSS pixels, in a
// view of Memory: for dragging it. It is rounded down, and within the band it is what is fixed.
func (m *Index) BudgetAt(v View, y float64) engine.Bytes {
	f := m.frame(Memory, v)
	sc := m.memoryScale(&f)
	return sc.fixed + max(engine.Bytes((sc.floor-y)/sc.perByte), 0)
}

func ghostPeak(ghost []sim.Point) (most engine.Bytes) {
	for i := range ghost {
		most = max(most, ghost[i].Used)
	}
	return most
}

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
func (m *Index) bandPoints(f *frame, pts []bandPoint) []bandPoint {
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
