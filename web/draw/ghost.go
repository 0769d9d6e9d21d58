package draw

import (
	"math"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/format"
)

// The ghost is the memory over time if everything is kept, on the same axes: what
// the schedule saves and, where it ends earlier, what that costs.

var (
	ghostLine  = style{fill: noRole, stroke: Ink, lines: noRole, dash: dashGhost, width: 1}
	deviceLine = strokeOf(Ink, 2)
)

func ghostPeak(ghost []sim.Point) (most engine.Bytes) {
	for i := range ghost {
		most = max(most, ghost[i].Used)
	}
	return most
}

// drawGhost draws the outline of keeping everything, and hatches what of it is more
// than the device has. What is above the axis is cut off, and the label says so.
func drawGhost(s *Scene, f *frame, sc *memoryScale) {
	if len(f.Ghost) == 0 || f.Beside != nil {
		return
	}
	xy, peakX := s.xy[:0], f.left
	top := sc.most + engine.Bytes(6/sc.perByte) // a little above the axis, so that the line leaves the picture
	peak := ghostPeak(f.Ghost)
	last := engine.Bytes(0)
	for i := range f.Ghost {
		p := &f.Ghost[i]
		if x := f.clip(f.x(int64(p.At))); p.At <= f.To {
			used := min(p.Used, top)
			if p.At >= f.From {
				if len(xy) == 0 && i > 0 {
					xy = append(xy, float32(f.left), float32(sc.y(int64(last))))
				}
				xy = corner(xy, x, sc.y(int64(last)))
				xy = corner(xy, x, sc.y(int64(used)))
				if p.Used == peak && peakX == f.left {
					peakX = x
				}
			}
			last = used
		}
	}
	xy = corner(xy, f.clip(f.x(int64(f.Ghost[len(f.Ghost)-1].At))), sc.y(int64(last)))
	s.xy = xy
	drawBeyond(s, f, sc, xy)
	s.path(opLine, ghostLine, s.xy[:len(xy)])
	words := "keep everything: " + format.Bytes(peak)
	if peak > sc.most {
		words += ", above the picture"
	}
	half := textWidth(words)/2 + 4
	x := math.Min(math.Max(peakX, f.left+half), f.right-half)
	halo(s, Ink, x, math.Max(sc.y(int64(min(peak, sc.most)))-5, titleLine+11), middle, words)
}

// drawBeyond hatches what lies above the device's line under an outline.
func drawBeyond(s *Scene, f *frame, sc *memoryScale, outline []float32) {
	if f.Capacity <= 0 || f.Capacity >= sc.most {
		return
	}
	line := float32(sc.y(int64(f.Capacity)))
	for i := 0; i+3 < len(outline); i += 2 {
		x0, y0, x1 := outline[i], outline[i+1], outline[i+2]
		if outline[i+1] == outline[i+3] && y0 < line && x1 > x0 {
			s.rect(waitingStyle, float64(x0), float64(y0), float64(x1-x0), float64(line-y0))
		}
	}
}

// drawDevice draws what the device has.
func drawDevice(s *Scene, f *frame, sc *memoryScale) {
	if !sc.showDevice || f.Capacity > sc.most {
		return
	}
	y := sc.y(int64(f.Capacity))
	s.line(deviceLine, float32(f.left), float32(y), float32(f.right), float32(y))
	words := f.Device + " has " + format.Bytes(f.Capacity)
	at := y - 5
	if budget := sc.y(int64(f.Budget)); sc.showBudget && y-budget < 16 && budget <= y { // whose label stands over its line
		at = y + 13
	}
	halo(s, Ink, f.right-4, at, end, words)
}
