package draw

import (
	"time"

	"memtide/engine"
	"memtide/web/display"
)

// The ghost is the memory over time if everything is kept, on the same axes: what
// the schedule saves and, where it ends earlier, what that costs.

var (
	ghostLine  = display.DashedOf(display.Muted, 1.3, display.DashGhost)
	deviceLine = display.StrokeOf(display.Ink, 2)
)

// drawGhost draws the outline of keeping everything, and hatches what of it is more
// than the device has. What is above the axis is cut off, and its label says so.
func (m *Model) drawGhost(s *Scene, f *frame, sc *memoryScale) {
	if len(f.Ghost) == 0 || f.Beside != nil {
		return
	}
	top := sc.most + engine.Bytes(6/sc.perByte) // a little above the axis, so that the line leaves the picture
	height := func(i int) float64 {
		if i < 0 {
			return sc.foot(int64(m.Memory.Fixed))
		}
		return sc.foot(int64(max(min(f.Ghost[i].Used, top), m.Memory.Fixed)))
	}
	var xy []float64
	if f.From == 0 {
		xy = append(xy, f.left, height(-1))
	}
	end := min(f.Ghost[len(f.Ghost)-1].At, f.To)
	xy = f.steps(xy, end, len(f.Ghost), func(i int) time.Duration { return f.Ghost[i].At }, height)
	drawBeyond(s, f, sc, xy)
	line := ghostLine
	if f.Capacity > 0 && ghostPeak(f.Ghost) > f.Capacity {
		line.Stroke = display.Over
	}
	s.Path(display.OpLine, line, xy)
}

// drawBeyond hatches what lies above the device's line under an outline; where the
// device cannot even hold what is fixed, that would be all of the picture.
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
