package draw

import (
	"math"
	"sort"
	"time"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
)

func init() {
	pictures[Holes] = picture{name: "holes", title: "Fragmentation", height: 62}
	placed[Holes-NumPictures] = layoutOf[*Places]{draw: (*Places).drawHoles, overlay: (*Places).drawMoment}
	pictures[Host] = picture{name: "host", title: "Host memory", height: 66}
	placed[Host-NumPictures] = layoutOf[*Places]{draw: (*Places).drawHost, overlay: (*Places).drawMoment}
}

// drawHoles draws fragmentation over time.
func (x *Places) drawHoles(s *Scene, f *frame) {
	s.Desc = "Fragmentation over time: the part of the free memory that is outside of the largest hole."
	s.AddText(display.Ink, 0, 13, display.Text{S: Holes.Title(), Bold: true, Large: true})
	top, bottom := titleLine+2, f.Height-6
	y := func(part float64) float64 { return bottom - part*(bottom-top) }
	for _, part := range []float64{0, 1} {
		at := math.Floor(y(part)) + 0.5
		s.Line(display.StrokeOf(display.Grid, 1), f.left, at, f.right, at)
		s.Text(display.Muted, f.left-8, y(part)+4, display.End, format.Share(part))
	}
	xy := steps(f, nil, x.lastShown(f), y(0), x.p.Levels, func(l *Level) time.Duration { return l.At },
		func(l *Level) float64 { return y(l.Fragmentation()) })
	xy = append(xy, xy[len(xy)-2], bottom, f.left, bottom)
	s.Path(display.OpArea, display.Style{Fill: display.Surface, Stroke: display.Muted, Pattern: display.ThinHatch,
		Lines: display.Muted, Width: 1}, xy)
	l := x.shownAt(x.moment(f.View))
	s.Text(display.Muted, f.right, 13, display.End,
		format.Share(l.Fragmentation())+" of "+format.Bytes(l.free())+" free")
}

// steps appends to xy the corners of a step function, from the left edge to the moment last. It adds at most four
// corners per column of pixels: at the value before it, the extremes within it, and the value after it. at and height
// return the moment of a change and the y after it; first is the y before the first change.
func steps[C any](f *frame, xy []float64, last time.Duration, first float64, changes []C, at func(*C) time.Duration,
	height func(*C) float64) []float64 {
	i, now := sort.Search(len(changes), func(i int) bool { return at(&changes[i]) > f.From }), first
	if i > 0 {
		now = height(&changes[i-1])
	}
	xy = append(xy, f.left, now)
	for i < len(changes) && at(&changes[i]) <= last {
		moment, was := at(&changes[i]), now
		px := f.x(int64(moment))
		// Rounding may put a change into the next column.
		stop := max(min(f.ceilTime(math.Floor(px)+1), int64(last)+1), int64(moment)+1)
		low, high := math.Inf(1), math.Inf(-1)
		for ; i < len(changes) && int64(at(&changes[i])) < stop; i++ {
			now = height(&changes[i])
			low, high = math.Min(low, now), math.Max(high, now)
		}
		xy = corner(xy, px, was)
		if low < high {
			xy = corner(corner(xy, px, low), px, high)
		}
		xy = corner(xy, px, now)
	}
	return append(xy, f.clip(f.x(int64(last))), now)
}

// drawHost draws the use of host memory for offloaded values.
func (x *Places) drawHost(s *Scene, f *frame) {
	s.AddText(display.Ink, 0, 13, display.Text{S: Host.Title(), Bold: true, Large: true})
	peak := ghostPeak(x.p.Host)
	s.Desc = "Pinned host memory over time, at most " + format.Bytes(peak) + "."
	top, bottom := titleLine+4, f.Height-6
	s.Line(display.StrokeOf(display.Grid, 1), f.left, bottom+0.5, f.right, bottom+0.5)
	if peak <= 0 {
		s.Desc = "No host memory is used: nothing is offloaded."
		s.Text(display.Muted, f.left, (top+bottom)/2+4, display.Start, "Nothing is offloaded.")
		return
	}
	s.Text(display.Muted, f.left-8, top+9, display.End, format.Bytes(peak))
	xy := steps(f, []float64{f.left, bottom}, f.To, bottom, x.p.Host,
		func(p *sim.Point) time.Duration { return p.At },
		func(p *sim.Point) float64 { return bottom - float64(p.Used)/float64(peak)*(bottom-top) })
	s.Path(display.OpArea, inFlightStyle, append(xy, f.right, bottom))
	label := "peak " + format.Bytes(peak)
	s.Text(display.Muted, f.right, 13, display.End, display.Fit(label, f.right-display.TextWidth(Host.Title())-14))
}
