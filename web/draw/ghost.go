package draw

import (
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
	xy := s.xy[:0]
	top := sc.most + engine.Bytes(6/sc.perByte) // a little above the axis, so that the line leaves the picture
	last := m.Memory.Fixed
	for i := range f.Ghost {
		p := &f.Ghost[i]
		if x := f.clip(f.x(int64(p.At))); p.At <= f.To {
			used := max(min(p.Used, top), m.Memory.Fixed)
			if p.At >= f.From {
				if len(xy) == 0 && i > 0 {
					xy = append(xy, f.left, sc.foot(int64(last)))
				}
				xy = corner(xy, x, sc.foot(int64(last)))
				xy = corner(xy, x, sc.foot(int64(used)))
			}
			last = used
		}
	}
	xy = corner(xy, f.clip(f.x(int64(f.Ghost[len(f.Ghost)-1].At))), sc.foot(int64(last)))
	s.xy = xy
	drawBeyond(s, f, sc, xy)
	line := ghostLine
	if f.Capacity > 0 && ghostPeak(f.Ghost) > f.Capacity {
		line.Stroke = display.Over
	}
	s.Path(display.OpLine, line, s.xy[:len(xy)])
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
		if outline[i+1] == outline[i+3] && y0 < line && x1 > x0 {
			s.Rect(waitingStyle, float64(x0), float64(y0), float64(x1-x0), float64(line-y0))
		}
	}
}
