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

// memoryScale is the scale of the memory axis. The fixed memory would take most of the
// height for a large network. If it is more than a fifth of the axis, it is drawn as a band
// with its own, smaller scale below the others, separated by a zigzag.
type memoryScale struct {
	top, bottom float64      // pixels
	most        engine.Bytes // the upper end of the axis
	fixed       engine.Bytes // memory in the band with its own scale; 0 if there is none
	floor       float64      // y where the main scale begins
	band        float64      // height of the band in pixels
	perByte     float64      // pixels per byte above the floor
	showBudget  bool
	showDevice  bool
}

const (
	budgetShown = 2.5  // the largest ratio of the budget or the device's memory to the peak that is shown
	ghostTimes  = 2.0  // the largest ratio of the ghost to the rest, both without fixed memory, that is not cut off
	ghostCut    = 0.25 // the visible part of a ghost that is cut off, relative to the rest
	fixedBand   = 46.0 // height of the band in pixels; less in low pictures
	fixedBreak  = 6.0  // height of the zigzag
	captionRoom = 20.0 // height of the caption below the band
)

// memoryScale returns the scale of the memory axis of a frame.
func (m *Index) memoryScale(f *frame) memoryScale {
	sc := memoryScale{top: titleLine + 17, bottom: f.Height - 6, most: max(m.Trace.Peak, 1)}
	if f.Beside != nil {
		sc.most = max(sc.most, f.Beside.Model.Trace.Peak)
	}
	peak := float64(sc.most)
	show := func(b engine.Bytes) bool {
		if b <= 0 || float64(b) > budgetShown*peak {
			return false
		}
		sc.most = max(sc.most, b)
		return true
	}
	sc.showBudget = float64(f.Budget) <= budgetShown*peak
	if sc.showBudget {
		sc.most = max(sc.most, f.Budget)
	}
	if f.Beside != nil { // room for the other side's line, which is in its own picture
		show(cmp.Or(f.Beside.Budget, f.Beside.Model.Problem.Budget))
	}
	sc.showDevice = show(f.Capacity)
	if f.Beside == nil {
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

// ghostShown returns the height up to which the ghost is shown in a picture whose axis ends at most without it. A
// ghost that would leave less than half of the height to the schedule is cut off a little above most.
func (m *Index) ghostShown(f *frame, most engine.Bytes) engine.Bytes {
	peak, moves := ghostPeak(f.Ghost), float64(most-min(m.Memory.Fixed, most))
	if float64(peak-min(m.Memory.Fixed, peak)) <= ghostTimes*moves {
		return peak
	}
	return most + engine.Bytes(ghostCut*moves)
}

// MemoryTop returns the upper end of the memory axis in a view. As View.Top it keeps the scale
// while the budget line is dragged.
func (m *Index) MemoryTop(v View) engine.Bytes {
	f := m.frame(Memory, v)
	return m.memoryScale(&f).most
}

// y returns the y coordinate of an amount of memory.
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

// foot is y, but not below the zigzag.
func (sc *memoryScale) foot(b int64) float64 { return math.Min(sc.y(b), sc.floor) }

// stripe is a named part of the fixed memory.
type stripe struct {
	name  string
	bytes engine.Bytes
}

// stripes returns the parts of the fixed memory, from the bottom, or nil if the profile does not have them.
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

// drawBreak draws the zigzag between the two scales, the stripes below it, and their labels.
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
	if low || len(stripes) < 2 { // all labels in one line
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

// BudgetAt returns the budget at y, in CSS pixels, in a view of Memory, for dragging the budget
// line. It is rounded down, and at least the fixed memory.
func (m *Index) BudgetAt(v View, y float64) engine.Bytes {
	f := m.frame(Memory, v)
	sc := m.memoryScale(&f)
	return sc.fixed + max(engine.Bytes((sc.floor-y)/sc.perByte), 0)
}

// ghostPeak returns the largest use of memory.
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

// bandPoints appends to pts the corners of the bands in the view, from left to right. A pixel column
// with many samples is drawn with their largest sums, so that no peak is lost. Of several samples at
// one moment, only the first and the last are corners, because the others last for no time.
func (m *Index) bandPoints(f *frame, pts []bandPoint) []bandPoint {
	x := &m.Memory
	first, last := x.FirstAt(f.From), x.FirstAfter(f.To)
	if first > 0 {
		s := sim.Sample{Used: x.Used(f.From)}
		if first < len(x.Samples) && x.Samples[first].At == f.From {
			s = x.Samples[first-1] // before the jumps of this moment
		}
		pts = append(pts, bandPoint{x: f.left, sum: lookup.BoundsOf(&s)})
	}
	merged := -1.0 // right edge of the last merged column
	for i := first; i < last; {
		px := f.clip(f.x(int64(x.Samples[i].At)))
		column := math.Floor(px) + 1
		j := min(max(x.FirstAt(time.Duration(f.ceilTime(column))), i+1), last)
		if j-i > exactSamples {
			high, right := x.High(i, j), math.Max(px, math.Min(column, f.right))
			if merged == column-1 { // adjacent merged columns are joined
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

// exactSamples is the largest number of samples in a pixel column that are not merged.
const exactSamples = 6

// corner appends a corner to a polyline and drops the one before it if that lies on a level or upright line.
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
