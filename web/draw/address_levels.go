package draw

import (
	"math"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
)

func init() {
	pictures[Holes] = picture{name: "holes", title: "Fragmentation", height: 62}
	placed[Holes-NumPictures].draw = (*Places).drawHoles
	pictures[Host] = picture{name: "host", title: "Host memory", height: 66}
	placed[Host-NumPictures].draw = (*Places).drawHost
}

// drawHoles draws fragmentation over time: the largest value of each column of
// pixels.
func (x *Places) drawHoles(s *Scene, f *frame) {
	s.Desc = "Fragmentation over time: the part of the free memory that is outside of the largest hole."
	s.AddText(display.Ink, 0, 13, display.Text{S: Holes.Title(), Bold: true, Large: true})
	top, bottom := titleLine+2, f.Height-6
	y := func(part float64) float64 { return bottom - part*(bottom-top) }
	for _, part := range []float64{0, 1} {
		at := float32(math.Floor(y(part)) + 0.5)
		s.Line(display.StrokeOf(display.Grid, 1), float32(f.left), at, float32(f.right), at)
		s.Text(display.Muted, f.left-8, y(part)+4, display.End, format.Share(part))
	}
	xy := x.holeCorners(f, y, s.xy[:0])
	xy = append(xy, xy[len(xy)-2], float32(bottom), float32(f.left), float32(bottom))
	s.xy = xy
	s.Path(display.OpArea, display.Style{Fill: display.Surface, Stroke: display.Muted, Pattern: display.ThinHatch,
		Lines: display.Muted, Width: 1}, xy)
	at := x.moment(f.View)
	l := x.LevelAt(at)
	if x.failing(at) {
		l = x.p.Failed.level()
	}
	s.Text(display.Muted, f.right, 13, display.End,
		format.Share(l.Fragmentation())+" of "+format.Bytes(l.free())+" free")
}

// holeCorners returns the corners of the area, from left to right.
func (x *Places) holeCorners(f *frame, y func(float64) float64, xy []float32) []float32 {
	levels := x.p.Levels
	first := x.LevelAt(f.From)
	was := first.Fragmentation()
	xy = append(xy, float32(f.left), float32(y(was)))
	last := x.lastShown(f)
	for i := x.levelAfter(int64(f.From)); i < len(levels) && int64(levels[i].At) < last; {
		px := f.x(int64(levels[i].At))
		j := x.levelAfter(f.ceilTime(math.Floor(px)+1) - 1)
		j = max(j, i+1)
		if j == i+1 {
			now := levels[i].Fragmentation()
			xy = corner(corner(xy, px, y(was)), px, y(now))
			was = now
		} else {
			high := x.worstOf(i, j)
			xy = corner(corner(xy, px, y(was)), px, y(high))
			was = levels[j-1].Fragmentation()
			right := math.Min(math.Floor(px)+1, f.right)
			xy = corner(corner(xy, right, y(high)), right, y(was))
		}
		i = j
	}
	return append(xy, float32(f.clip(f.x(last))), float32(y(was)))
}

// worstOf returns the largest fragmentation of levels [i, j).
func (x *Places) worstOf(i, j int) (worst float64) {
	for i < j {
		if i%perStretch == 0 && i+perStretch <= j {
			worst = math.Max(worst, x.worst[i/perStretch])
			i += perStretch
			continue
		}
		worst = math.Max(worst, x.p.Levels[i].Fragmentation())
		i++
	}
	return worst
}

// drawHost draws the host memory that holds offloaded values.
func (x *Places) drawHost(s *Scene, f *frame) {
	s.AddText(display.Ink, 0, 13, display.Text{S: Host.Title(), Bold: true, Large: true})
	peak := peakOf(x.p.Host)
	s.Desc = "Pinned host memory over time, at most " + format.Bytes(peak) + "."
	top, bottom := titleLine+4, f.Height-6
	s.Line(display.StrokeOf(display.Grid, 1), float32(f.left), float32(bottom+0.5), float32(f.right),
		float32(bottom+0.5))
	if peak <= 0 {
		s.Desc = "No host memory is used: nothing is offloaded."
		s.Text(display.Muted, f.left, (top+bottom)/2+4, display.Start, "Nothing is offloaded.")
		return
	}
	s.Text(display.Muted, f.left-8, top+9, display.End, format.Bytes(peak))
	y := func(b engine.Bytes) float64 { return bottom - float64(b)/float64(peak)*(bottom-top) }
	drawPoints(s, f, x.p.Host, y, bottom, inFlightStyle)
	label := "peak " + format.Bytes(peak)
	s.Text(display.Muted, f.right, 13, display.End, display.Fit(label, f.right-display.TextWidth(Host.Title())-14))
}

func peakOf(points []sim.Point) (peak engine.Bytes) {
	for _, p := range points {
		peak = max(peak, p.Used)
	}
	return peak
}

// drawPoints fills or outlines an amount that is constant between points: the largest of
// each column of pixels.
func drawPoints(s *Scene, f *frame, points []sim.Point, y func(engine.Bytes) float64, bottom float64,
	st display.Style) {
	var now engine.Bytes
	i := 0
	for ; i < len(points) && points[i].At <= f.From; i++ {
		now = points[i].Used
	}
	xy := append(s.xy[:0], float32(f.left), float32(bottom), float32(f.left), float32(y(now)))
	for i < len(points) && points[i].At <= f.To {
		px := f.x(int64(points[i].At))
		stop := f.ceilTime(math.Floor(px) + 1)
		high := now
		for ; i < len(points) && int64(points[i].At) < stop && points[i].At <= f.To; i++ {
			xy = corner(xy, px, y(now))
			now = points[i].Used
			high = max(high, now)
		}
		xy = corner(corner(xy, px, y(high)), px, y(now))
	}
	s.xy = append(xy, float32(f.right), float32(y(now)), float32(f.right), float32(bottom))
	if st.Fill == display.NoRole {
		s.Line(st, s.xy...)
		return
	}
	s.Path(display.OpArea, st, s.xy)
}
