package draw

import (
	"math"
	"sort"
	"time"

	"memtide/web/display"
	"memtide/web/format"
)

func init() {
	pictures[Holes] = picture{name: "holes", title: "Fragmentation", height: 62}
	placed[Holes-NumPictures] = layoutOf[*Places]{draw: (*Places).drawHoles, overlay: (*Places).drawMoment}
	pictures[Host] = picture{name: "host", title: "Host memory", height: 66}
	placed[Host-NumPictures] = layoutOf[*Places]{draw: (*Places).drawHost, overlay: (*Places).drawMoment}
}

// drawHoles draws fragmentation over time: the largest value of each column of
// pixels.
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
	xy := f.steps(nil, x.lastShown(f), len(x.p.Levels), func(i int) time.Duration { return x.p.Levels[i].At },
		func(i int) float64 {
			if i < 0 {
				return y(0)
			}
			return y(x.p.Levels[i].Fragmentation())
		})
	xy = append(xy, xy[len(xy)-2], bottom, f.left, bottom)
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

// steps appends the corners of a line that is level but where things change, up to a moment, at four places of a
// column of pixels at most: where the line enters it, at its extremes, and where the line leaves it. Height
// returns that behind change i; of -1 before the first.
func (f *frame) steps(xy []float64, last time.Duration, n int, at func(i int) time.Duration,
	height func(i int) float64) []float64 {
	i := sort.Search(n, func(i int) bool { return at(i) > f.From })
	now := height(i - 1)
	xy = append(xy, f.left, now)
	for i < n && at(i) <= last {
		px, was := f.x(int64(at(i))), now
		// Rounding may put a change into the column after the one that its own place is in.
		stop := max(min(f.ceilTime(math.Floor(px)+1), int64(last)+1), int64(at(i))+1)
		low, high := math.Inf(1), math.Inf(-1)
		for ; i < n && int64(at(i)) < stop; i++ {
			now = height(i)
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

// drawHost draws the host memory that holds offloaded values.
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
	xy := f.steps([]float64{f.left, bottom}, f.To, len(x.p.Host),
		func(i int) time.Duration { return x.p.Host[i].At }, func(i int) float64 {
			if i < 0 {
				return bottom
			}
			return bottom - float64(x.p.Host[i].Used)/float64(peak)*(bottom-top)
		})
	s.Path(display.OpArea, inFlightStyle, append(xy, f.right, bottom))
	label := "peak " + format.Bytes(peak)
	s.Text(display.Muted, f.right, 13, display.End, display.Fit(label, f.right-display.TextWidth(Host.Title())-14))
}
