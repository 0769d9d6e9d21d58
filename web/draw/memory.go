package draw

import (
	"math"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
)

// bandStyles are the fills of the bands.
var bandStyles = [sim.NumCategories]style{
	sim.Fixed:      fixedStyle,
	sim.Gradient:   backwardStyle,
	sim.Activation: forwardStyle,
	sim.Recomputed: recomputeStyle,
	sim.InTransfer: inFlightStyle,
	sim.Workspace:  scratchStyle,
}

// bandPoint is a corner of the bands: the running sums at one x.
type bandPoint struct {
	x   float64
	sum bounds
}

func init() {
	pictures[Memory] = picture{name: "memory", title: "Device memory", height: 238, compared: 196}
	timed[Memory] = modelLayout{
		draw: (*Model).drawMemory,
		overlay: func(m *Model, s *Scene, f *frame) {
			m.drawCursor(s, f, titleLine, f.Height-6, false)
		},
		hit: (*Model).hitMemory,
	}
}

func (m *Model) drawMemory(s *Scene, f *frame) {
	s.Title = "Device memory over one training step"
	s.Desc = m.memoryDesc(f.Budget)
	sc := m.memoryScale(f)
	s.addText(Ink, 0, 13, f.title(Memory))
	m.drawMemoryAxis(s, f, &sc)
	s.bands = m.bandPoints(f, s.bands[:0])
	m.drawBands(s, &sc)
	sc.drawBreak(s, f)
	drawGhost(s, f, &sc)
	if sc.showBudget {
		drawOver(s, &sc, f.Budget)
	}
	m.drawBeside(s, f, &sc)
	m.drawEnd(s, f, titleLine, sc.bottom)
	drawDevice(s, f, &sc)
	m.drawBudgetAndPeak(s, f, &sc)
}

func (m *Model) drawMemoryAxis(s *Scene, f *frame, sc *memoryScale) {
	line := strokeOf(Grid, 1)
	share := float64(sc.most) / float64(sc.most-sc.fixed) // of the axis that has the true scale
	ticks := format.ByteTicks(sc.most, max(int(share*(sc.floor-sc.top)/30), 2))
	ticks = slices.DeleteFunc(ticks, func(k format.ByteTick) bool { return k.At > 0 && k.At <= sc.fixed })
	for _, k := range ticks {
		y := float32(math.Floor(sc.y(int64(k.At))) + 0.5)
		s.line(line, float32(f.left), y, float32(f.right), y)
	}
	for _, k := range ticks {
		s.text(Muted, f.left-8, sc.y(int64(k.At))+4, end, k.Label)
	}
}

// bandPoints are the corners of the bands in the view, from left to right. In a
// pixel column with many samples the largest sums stand for all: whether it fits
// is what the picture is for. Of several samples at one moment the first and the
// last are corners; what is between them lasts for no time.
func (m *Model) bandPoints(f *frame, pts []bandPoint) []bandPoint {
	x := &m.memory
	first, last := x.firstAt(f.From), x.firstAfter(f.To)
	if first > 0 {
		s := sim.Sample{Used: x.used(f.From)}
		if first < len(x.samples) && x.samples[first].At == f.From {
			s = x.samples[first-1] // what was there before the jumps of this moment
		}
		pts = append(pts, bandPoint{f.left, boundsOf(&s)})
	}
	merged := -1.0 // where the last merged column ends
	for i := first; i < last; {
		px := f.clip(f.x(int64(x.samples[i].At)))
		column := math.Floor(px) + 1
		j := x.gallop(i+1, last, f.ceilTime(column))
		if j-i > exactSamples {
			high, right := x.high(i, j), math.Max(px, math.Min(column, f.right))
			if merged == column-1 { // no need to go down between two columns
				pts, px = pts[:len(pts)-1], merged
			} else {
				pts = append(pts, bandPoint{px, boundsOf(&x.samples[i])})
			}
			pts = append(pts, bandPoint{px, high}, bandPoint{right, high}, bandPoint{right, boundsOf(&x.samples[j-1])})
			i, merged = j, right
			continue
		}
		for ; i < j; i++ {
			at := x.samples[i].At
			if i > 0 && i+1 < len(x.samples) && x.samples[i-1].At == at && x.samples[i+1].At == at {
				continue
			}
			pts = append(pts, bandPoint{f.clip(f.x(int64(at))), boundsOf(&x.samples[i])})
		}
	}
	if last < len(x.samples) {
		s := sim.Sample{Used: x.used(f.To)}
		pts = append(pts, bandPoint{f.right, boundsOf(&s)})
	}
	return pts
}

// exactSamples is how many samples of one pixel column are all corners.
const exactSamples = 6

// drawBands fills the bands from the top one down: each reaches to the bottom
// and the next one covers what is not its own.
func (m *Model) drawBands(s *Scene, sc *memoryScale) {
	for c := int(sim.NumCategories) - 1; c >= 0; c-- {
		st := bandStyles[c]
		st.stroke, st.width = Surface, 0.8
		if c == int(sim.Workspace) {
			st.stroke = Muted // it has no fill that would show its border
		}
		// One area for each run of corners where the band is not empty, from the
		// corner before to the corner after.
		for i := 0; i < len(s.bands); i++ {
			if !s.bands[i].thick(c) {
				continue
			}
			from := max(i-1, 0)
			for i < len(s.bands) && s.bands[i].thick(c) {
				i++
			}
			run := s.bands[from:min(i+1, len(s.bands))]
			xy := s.xy[:0]
			for j := range run {
				xy = corner(xy, run[j].x, sc.y(run[j].sum[c]))
			}
			s.xy = append(xy, float32(run[len(run)-1].x), float32(sc.bottom), float32(run[0].x), float32(sc.bottom))
			s.path(opArea, st, s.xy)
		}
	}
}

// thick tells whether band c is not empty.
func (p *bandPoint) thick(c int) bool {
	if c == 0 {
		return p.sum[0] > 0
	}
	return p.sum[c] > p.sum[c-1]
}

// corner adds a corner to a polyline and drops the one before it where that
// lies on a level or upright line.
func corner(xy []float32, x, y float64) []float32 {
	px, py := float32(x), float32(y)
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

func near(a, b float32) bool { return a-b < 0.005 && b-a < 0.005 }

// drawOver fills what is above the budget.
func drawOver(s *Scene, sc *memoryScale, budget engine.Bytes) {
	line := float32(sc.y(int64(budget)))
	xy := s.xy[:0]
	flush := func() {
		if len(xy) > 0 {
			xy = append(xy, xy[len(xy)-2], line)
			s.path(opArea, overStyle, xy)
			xy = xy[:0]
		}
	}
	for i := range s.bands {
		b := &s.bands[i]
		total := b.sum[sim.NumCategories-1]
		if i > 0 {
			a := &s.bands[i-1]
			before := a.sum[sim.NumCategories-1]
			if (before > int64(budget)) != (total > int64(budget)) {
				part := float64(int64(budget)-before) / float64(total-before)
				xy = append(xy, float32(a.x+part*(b.x-a.x)), line)
			}
		}
		if total > int64(budget) {
			if len(xy) == 0 {
				xy = append(xy, float32(b.x), line)
			}
			xy = append(xy, float32(b.x), float32(sc.y(total)))
		} else {
			flush()
		}
	}
	flush()
	s.xy = xy
}

// drawBudgetAndPeak draws the budget line and the marker of the peak. The two
// labels are at opposite ends, since a good schedule's peak touches the budget.
func (m *Model) drawBudgetAndPeak(s *Scene, f *frame, sc *memoryScale) {
	lo, hi := f.left, f.right // room for the label of the peak
	peakX := f.x(int64(m.trace.PeakAt))
	label := "budget " + format.Bytes(f.Budget)
	if sc.showBudget {
		y := sc.y(int64(f.Budget))
		s.line(style{fill: noRole, stroke: Budget, lines: noRole, dash: dashBudget, width: 1.5}, float32(f.left), float32(y), float32(f.right), float32(y))
		if device := sc.y(int64(f.Capacity)); sc.showDevice && device < y && y-device < 16 {
			y += 18 // the device's label stands over its line, just above
		}
		if peakX < (f.left+f.right)/2 {
			halo(s, Budget, f.right-4, y-5, end, label)
			hi -= textWidth(label) + 10
		} else {
			halo(s, Budget, f.left+4, y-5, start, label)
			lo += textWidth(label) + 10
		}
	} else if f.Budget != engine.NoLimit {
		s.text(Muted, f.right, 13, end, label+", far above")
	}
	if peakX < f.left-0.5 || peakX > f.right+0.5 {
		return
	}
	peakX = f.clip(peakX)
	y := sc.y(int64(m.trace.Peak))
	s.path(opArea, style{fill: Ink, stroke: Surface, lines: noRole, width: 1},
		[]float32{float32(peakX), float32(y), float32(peakX - 4.5), float32(y - 8), float32(peakX + 4.5), float32(y - 8)})
	str := "peak " + format.Bytes(m.trace.Peak)
	half := textWidth(str) / 2
	x := math.Min(math.Max(peakX, lo+half), hi-half)
	halo(s, Ink, x, y-11, middle, str)
}

// halo writes a text on a patch of the background, legible on every band.
func halo(s *Scene, r Role, x, y float64, a anchor, str string) {
	w := textWidth(str)
	left := x - [...]float64{start: 0, middle: w / 2, end: w}[a]
	s.rect(fillOf(Surface), left-2, y-10, w+4, 13)
	s.text(r, x, y, a, str)
}
