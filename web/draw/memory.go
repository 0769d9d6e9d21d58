package draw

import (
	"math"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

func init() {
	pictures[Memory] = picture{name: "memory", title: "Device memory", height: 420, slim: 330, embedded: 260,
		compared: 196}
	timed[Memory] = layoutOf[*Index]{
		draw: (*Index).drawMemory,
		overlay: func(m *Index, s *Scene, f *frame) {
			m.fade(s, f)
			m.drawCursor(s, f, titleLine, f.Height-6, false)
			m.drawPlayhead(s, f, 0, f.Height-6, false)
		},
		hit: (*Index).hitMemory,
	}
}

func (m *Index) drawMemory(s *Scene, f *frame) {
	s.Title = "Device memory over one training step"
	s.Desc = m.MemoryDesc(f.Budget)
	sc := m.memoryScale(f)
	m.drawPhases(s, f, 0, sc.bottom)
	title := f.title(Memory)
	s.AddText(display.Ink, 0, 13, title)
	m.drawMemoryAxis(s, f, &sc)
	outline := m.ghostOutline(f, &sc)
	drawBeyond(s, f, &sc, outline)
	s.bands = m.bandPoints(f, s.bands[:0])
	sunk := m.sunkPieces(f, &sc)
	if len(sunk) > 0 {
		s.bands = m.sink(f, sunk, s.bands)
	}
	m.drawBands(s, f, &sc, sunk)
	m.drawSeams(s, f, &sc, sunk)
	m.drawFixedBeyond(s, f, &sc)
	sc.drawBreak(s, f, m.stripes())
	if sc.showBudget {
		limit := f.Budget
		if m.Problem.Budget == engine.NoLimit { // a policy, which takes what the device has
			limit = max(limit, f.Capacity)
		}
		drawOver(s, &sc, limit)
	}
	drawGhost(s, f, outline)
	outlineSunk(s, &sc)
	s.placed = append(s.placed[:0], boxOf(&title, f, &spot{0, 13, display.Start}))
	if sc.fixed > 0 { // the caption below the band
		s.placed = append(s.placed, box{f.left, sc.bottom + 2, f.right, sc.bottom + captionRoom})
	}
	m.drawLines(s, f, &sc)
	m.nameBands(s, f, &sc)
	m.nameSunk(s, f, &sc, sunk)
	m.drawBeside(s, f, &sc)
	m.drawEnd(s, f, titleLine, sc.bottom)
}

func (m *Index) drawMemoryAxis(s *Scene, f *frame, sc *memoryScale) {
	line := display.StrokeOf(display.Grid, 1)
	share := float64(sc.most) / float64(sc.most-sc.fixed) // ticks of the whole range per tick above the band
	ticks := format.ByteTicks(sc.most, max(int(share*(sc.floor-sc.top)/30), 2))
	ticks = slices.DeleteFunc(ticks, func(k format.ByteTick) bool {
		return k.At > 0 && (k.At <= sc.fixed || sc.fixed > 0 && sc.floor-sc.y(int64(k.At)) < lineHeight)
	})
	for _, k := range ticks {
		y := math.Floor(sc.y(int64(k.At))) + 0.5
		s.Line(line, f.left, y, f.right, y)
	}
	for _, k := range ticks {
		s.Text(display.Muted, f.left-8, sc.y(int64(k.At))+4, display.End, k.Label)
	}
}

// drawBands fills the bands from the top one down. Each fill reaches to the bottom, and the
// next one covers its lower part.
func (m *Index) drawBands(s *Scene, f *frame, sc *memoryScale, sunk []int32) {
	for b := len(lookup.Stack) - 1; b >= 0; b-- {
		if b == 0 {
			m.drawSunk(s, f, sc, sunk)
		}
		st := bandStyles[lookup.Stack[b]]
		st.Stroke, st.Width = display.Surface, 0.8
		if lookup.Stack[b] == sim.Workspace {
			st.Stroke = display.Muted // its fill does not show a border
		}
		// One area for each run of corners in which the band is not empty, with the corners before and after it.
		for i := 0; i < len(s.bands); i++ {
			if !s.bands[i].thick(b) {
				continue
			}
			from := max(i-1, 0)
			for i < len(s.bands) && s.bands[i].thick(b) {
				i++
			}
			run := s.bands[from:min(i+1, len(s.bands))]
			s.Path(display.OpArea, st, append(sc.border(run, b), run[len(run)-1].x, sc.bottom, run[0].x, sc.bottom))
		}
	}
}

// drawOver fills the area above the budget.
func drawOver(s *Scene, sc *memoryScale, budget engine.Bytes) {
	line := sc.y(int64(budget))
	var xy []float64
	flush := func() {
		if len(xy) > 0 {
			xy = append(xy, xy[len(xy)-2], line)
			s.Path(display.OpArea, overStyle, xy)
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
				xy = append(xy, a.x+part*(b.x-a.x), line)
			}
		}
		if total > int64(budget) {
			if len(xy) == 0 {
				xy = append(xy, b.x, line)
			}
			xy = append(xy, b.x, sc.y(total))
		} else {
			flush()
		}
	}
	flush()
}

func (m *Index) hitMemory(f *frame, x, y float64) lookup.Target {
	sc := m.memoryScale(f)
	if x < f.left || x > f.right || y > sc.bottom {
		return lookup.Target{}
	}
	if sc.showBudget && math.Abs(y-sc.y(int64(f.Budget))) <= reach {
		return lookup.Target{Kind: lookup.OnBudget, Index: 0}
	}
	used := m.Memory.Used(f.time(x))
	sum := int64(0)
	for _, c := range lookup.Stack {
		sum += int64(used[c])
		if y >= sc.y(sum) && used[c] > 0 {
			return lookup.Target{Kind: lookup.OnBand, Index: int(c)}
		}
	}
	return lookup.Target{}
}

var ghostLine = display.DashedOf(display.Muted, 1.3, display.DashGhost)

// ghostOutline returns the points of the ghost's outline, or nil without a ghost. The ghost is the use of memory over
// time if everything is kept. Where it is higher than the axis, it is cut off, and nameCut says so.
func (m *Index) ghostOutline(f *frame, sc *memoryScale) (xy []float64) {
	if len(f.Ghost) == 0 || f.Beside != nil {
		return nil
	}
	top := sc.most + engine.Bytes(6/sc.perByte) // a little above the axis, so that the line leaves the picture
	first := sc.foot(int64(m.Memory.Fixed))
	if f.From == 0 {
		xy = append(xy, f.left, first)
	}
	end := min(f.Ghost[len(f.Ghost)-1].At, f.To)
	return steps(f, xy, end, first, f.Ghost, func(p *sim.Point) time.Duration { return p.At },
		func(p *sim.Point) float64 { return sc.foot(int64(max(min(p.Used, top), m.Memory.Fixed))) })
}

func drawGhost(s *Scene, f *frame, outline []float64) {
	line := ghostLine
	if f.Capacity > 0 && ghostPeak(f.Ghost) > f.Capacity {
		line.Stroke = display.Over
	}
	if outline != nil {
		s.Path(display.OpLine, line, outline)
	}
}

// drawBeyond hatches the area between the device's line and an outline above it. It hatches
// nothing if the device cannot even hold the fixed memory, because that would be everything.
func drawBeyond(s *Scene, f *frame, sc *memoryScale, outline []float64) {
	if f.Capacity <= sc.fixed || f.Capacity >= sc.most {
		return
	}
	line := sc.y(int64(f.Capacity))
	for i := 0; i+3 < len(outline); i += 2 {
		x0, y0, x1 := outline[i], outline[i+1], outline[i+2]
		if y0 == outline[i+3] && y0 < line && x1 > x0 {
			s.Rect(waitingStyle, x0, y0, x1-x0, line-y0)
		}
	}
}
