package draw

import (
	"cmp"
	"math"
	"sort"
	"time"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// The layout of the map in CSS pixels.
const (
	mapBar    = 38.0  // y of the bar of addresses
	mapHeight = 30.0  // height of the bar
	mapUnder  = 74.0  // y of the failed request or the largest hole
	mapWords  = 108.0 // y of the sentence about the failure
)

// holeStyle is the fill of free memory.
var holeStyle = display.PatternOf(display.Surface, display.ThinHatch, display.Grid)

// stretchOf is a range of addresses in the map: a block, or a hole.
type stretchOf struct {
	lo, hi engine.Bytes
	block  *Block // nil for a hole
}

// stretches returns the blocks of a moment and the holes between them, by address.
func (x *Places) stretches(at time.Duration) []stretchOf {
	var used []stretchOf
	x.alive(at, func(b *Block) {
		if b.Bytes > 0 {
			used = append(used, stretchOf{b.Addr, b.Addr + b.Bytes, b})
		}
	})
	sort.Slice(used, func(i, j int) bool { return used[i].lo < used[j].lo })
	out := make([]stretchOf, 0, 2*len(used)+1)
	end := engine.Bytes(0)
	for _, u := range used {
		if u.lo > end {
			out = append(out, stretchOf{end, u.lo, nil})
		}
		out = append(out, u)
		end = max(end, u.hi)
	}
	last := x.p.Pool // the end of free memory: that of the pool, or of the reserved memory
	if x.grows() {
		last = x.LevelAt(at).Reserved
	}
	if last > end {
		out = append(out, stretchOf{end, last, nil})
	}
	return out
}

// mapScale returns the scale of the map in pixels per byte. All addresses are always visible.
func (x *Places) mapScale(f *frame) float64 { return (f.Width - 2) / float64(x.high) }

func init() {
	pictures[AddressMap] = picture{name: "map", title: "Memory map", height: 120, still: true}
	placed[AddressMap-NumPictures] = layoutOf[*Places]{draw: (*Places).drawMap, overlay: (*Places).outlineInMap,
		hit: (*Places).hitMap}
}

func (x *Places) drawMap(s *Scene, f *frame) {
	at := x.moment(f.View)
	s.Desc = x.MapSentence(at)
	s.AddText(display.Ink, 0, 13, display.Text{S: x.mapTitle(at), Bold: true, Large: true})
	s.Text(display.Muted, 0, 29, display.Start, firstFit(f.Width, x.holesSentence(at), x.holesShort(at)))
	per := x.mapScale(f)
	s.clearSlices()
	var holes rects
	var named []stretchOf
	pending := math.Inf(-1)
	for _, st := range x.stretches(at) {
		x0, x1 := 1+float64(st.lo)*per, 1+float64(st.hi)*per
		switch {
		case st.block == nil:
			holes.add(x0, mapBar, x1-x0, mapHeight)
			if x1-x0 > labelRoom {
				named = append(named, st)
			}
			continue
		case x1-x0 < 1 && x0 < pending: // narrower than a pixel, and that pixel is drawn
			continue
		case x1-x0 < 1:
			x1 = x0 + 1
		case x1-x0 >= crispWidth:
			x1--
		}
		s.slices[st.block.Kind].add(x0, mapBar, x1-x0, mapHeight)
		pending = x1
		if x1-x0 > labelRoom {
			named = append(named, st)
		}
	}
	s.Rects(holeStyle, holes)
	s.flushBlocks()
	x.drawMapLabels(s, per, named)
	s.Outline(display.StrokeOf(display.Muted, 1), 0.5, mapBar-0.5, f.Width-1, mapHeight+1)
	if x.p.Pool > 0 && x.p.Pool < x.high {
		px := 1 + float64(x.p.Pool)*per
		s.Line(budgetLine, px, mapBar-4, px, mapBar+mapHeight+4)
	}
	x.drawUnderMap(s, f, at, per)
}

// firstFit returns the long text if it fits into a width, and otherwise the short one, which is cut if necessary.
func firstFit(width float64, long, short string) string {
	if display.TextWidth(long) <= width {
		return long
	}
	return display.Fit(short, width)
}

func (x *Places) mapTitle(at time.Duration) string {
	switch {
	case x.failing(at):
		return AddressMap.Title() + " when a request fails, " + x.momentName(at)
	case at == x.p.PeakAt:
		return AddressMap.Title() + " at the peak, " + x.momentName(at)
	}
	return AddressMap.Title() + " at " + x.momentName(at)
}

// drawMapLabels labels blocks with their layer or buffer, and holes with their size.
func (x *Places) drawMapLabels(s *Scene, per float64, named []stretchOf) {
	const base = mapBar + mapHeight/2 + 4
	for _, st := range named {
		x0, w := 1+float64(st.lo)*per, float64(st.hi-st.lo)*per
		if st.block == nil {
			if label := format.Bytes(st.hi - st.lo); display.TextWidth(label)+8 <= w {
				halo(s, display.Muted, x0+w/2, base, display.Middle, label)
			}
			continue
		}
		name, layer := x.p.Name(st.block.Buffer)
		label := cmp.Or(layer, name)
		if label == "" || display.TextWidth(label)+8 > w {
			continue
		}
		if fill := bandStyles[st.block.Kind]; fill.Pattern != display.NoPattern {
			halo(s, display.Ink, x0+w/2, base, display.Middle, label)
		} else {
			s.Text(fill.Fill.On(), x0+w/2, base, display.Middle, label)
		}
	}
}

// drawUnderMap draws the widths of the largest hole and, at a failure, of the failed request.
func (x *Places) drawUnderMap(s *Scene, f *frame, at time.Duration, per float64) {
	if !x.failing(at) {
		lo, hi := x.largest(at)
		if hi <= lo {
			s.Text(display.Muted, 0, mapUnder+14, display.Start, "No holes: all of it is in use.")
			return
		}
		x0, x1 := 1+float64(lo)*per, 1+float64(hi)*per
		bracket(s, display.Ink, x0, x1)
		label := "largest hole " + format.Bytes(hi-lo)
		half := display.TextWidth(label) / 2
		s.Text(display.Ink, math.Min(math.Max((x0+x1)/2, half), f.Width-half), mapUnder+18, display.Middle, label)
		return
	}
	r := x.p.Failed
	x0 := 1 + float64(r.HoleAt)*per
	hole, need := float64(r.Largest)*per, math.Max(float64(r.Bytes)*per, 2)
	bracket(s, display.Over, x0, x0+hole)
	if x0+need > f.Width-1 { // move it to the left, into the picture
		x0 = math.Max(f.Width-1-need, 1)
	}
	need = math.Min(need, f.Width-2)
	s.Rect(display.Style{Fill: display.Surface, Stroke: display.Over, Pattern: display.ThinHatch, Lines: display.Over,
		Dash: display.DashWaiting, Width: 1.5}, x0, mapUnder+6, need, 14)
	label := "needs " + format.Bytes(r.Bytes)
	if display.TextWidth(label)+8 <= need {
		halo(s, display.Over, x0+need/2, mapUnder+17, display.Middle, label)
	} else if x0+need+display.TextWidth(label)+6 <= f.Width {
		s.Text(display.Over, x0+need+4, mapUnder+17, display.Start, label)
	} else {
		s.Text(display.Over, x0-4, mapUnder+17, display.End, label)
	}
	s.Text(display.Over, 0, mapWords+6, display.Start, firstFit(f.Width, x.FailureSentence(), x.failureShort()))
}

// bracket marks the range from x0 to x1 below the bar.
func bracket(s *Scene, r display.Role, x0, x1 float64) {
	x1 = math.Max(x1, x0+1)
	s.Line(display.StrokeOf(r, 1.5), x0, mapUnder-3, x0, mapUnder, x1, mapUnder, x1, mapUnder-3)
}

// largest returns the largest hole at a moment, or the lowest of several.
func (x *Places) largest(at time.Duration) (lo, hi engine.Bytes) {
	for _, st := range x.stretches(at) {
		if st.block == nil && st.hi-st.lo > hi-lo {
			lo, hi = st.lo, st.hi
		}
	}
	return lo, hi
}

// outlineInMap outlines the blocks of the buffer under the pointer and of the selected one.
func (x *Places) outlineInMap(s *Scene, f *frame) {
	per := x.mapScale(f)
	x.alive(x.moment(f.View), func(b *Block) {
		if t := b.target(); t == f.Hover || t == f.Selected {
			s.Outline(display.StrokeOf(display.Ink, 2), 1+float64(b.Addr)*per, mapBar-1,
				math.Max(float64(b.Bytes)*per, 1), mapHeight+2)
		}
	})
}

func (x *Places) hitMap(f *frame, px, py float64) lookup.Target {
	if py < mapBar-reach || py > mapBar+mapHeight+reach {
		return lookup.Target{}
	}
	per := x.mapScale(f)
	return x.find(x.moment(f.View), (px-1)/per, 1/per)
}
