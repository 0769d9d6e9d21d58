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

const (
	addressTop  = titleLine + 15 // y of the plot, below the label of the pool
	leastSide   = 2.0            // pixels: blocks with a shorter side are drawn in cells
	leastArea   = 16.0           // square pixels: blocks with a smaller area are drawn in cells
	mostLabels  = 160
	labelHeight = 12.0
)

// addressScale is the scale of the address axis.
type addressScale struct{ top, bottom, perByte float64 }

func (x *Places) scale(f *frame) addressScale {
	sc := addressScale{top: addressTop, bottom: f.Height - axisLine}
	sc.perByte = (sc.bottom - sc.top) / float64(x.high)
	return sc
}

func (sc *addressScale) y(b float64) float64 { return sc.bottom - b*sc.perByte }

func init() {
	pictures[AddressTime] = picture{name: "addresses", title: "Addresses", height: 262}
	placed[AddressTime-NumPictures] = layoutOf[*Places]{
		draw: (*Places).drawTime,
		overlay: func(x *Places, s *Scene, f *frame) {
			if f.Hover.Kind == lookup.OnBuffer {
				x.outline(s, f, f.Hover.Index, display.StrokeOf(display.Ink, 1.5))
			}
			x.drawMoment(s, f)
		},
		hit: (*Places).hitTime,
	}
}

func (x *Places) drawTime(s *Scene, f *frame) {
	s.Desc = x.Summary()
	sc := x.scale(f)
	s.AddText(display.Ink, 0, 13, display.Text{S: AddressTime.Title(), Bold: true, Large: true})
	x.drawAddressAxis(s, f, &sc)
	x.drawTimeAxis(s, f, titleLine, sc.bottom)
	x.drawBlocks(s, f, &sc)
	x.drawReserved(s, f, &sc)
	x.drawPool(s, f, &sc)
	x.drawFailure(s, f, &sc)
	if f.Selected.Kind == lookup.OnBuffer {
		x.outline(s, f, f.Selected.Index, display.StrokeOf(display.Ink, 2))
	}
}

func (x *Places) drawAddressAxis(s *Scene, f *frame, sc *addressScale) {
	for _, k := range format.ByteTicks(x.high, max(int((sc.bottom-sc.top)/30), 2)) {
		y := math.Floor(sc.y(float64(k.At))) + 0.5
		s.Line(display.StrokeOf(display.Grid, 1), f.left, y, f.right, y)
		if k.At == 0 {
			continue // the time axis has its labels there
		}
		s.Text(display.Muted, f.left-8, y+4, display.End, k.Label)
	}
}

// drawTimeAxis draws marks at round times, or at round numbers of events.
func (x *Places) drawTimeAxis(s *Scene, f *frame, top, bottom float64) {
	ticks, unit := format.TimeTicks(f.From, f.To, max(int((f.right-f.left)/80), 2))
	if x.p.Tick > 0 {
		unit = "event"
		kept := ticks[:0]
		for _, k := range ticks {
			if k.At%x.p.Tick == 0 {
				k.Label = format.Count(int(k.At / x.p.Tick))
				kept = append(kept, k)
			}
		}
		ticks = kept
	}
	f.drawTicks(s, ticks, unit, top, bottom, bottom+13)
}

// drawBlocks draws large blocks as rectangles, and small ones by the cells that they cover.
func (x *Places) drawBlocks(s *Scene, f *frame, sc *addressScale) {
	s.clearSlices()
	c := &s.cells
	c.reset(f.left, sc.top, f.right, sc.bottom)
	last := x.lastShown(f)
	var labels []blockLabel
	x.within(f.From, last, func(b *Block) {
		x0, w := f.x(int64(max(b.From, f.From))), float64(min(b.To, last)-max(b.From, f.From))*f.scale
		h := float64(b.Bytes) * sc.perByte
		y0 := sc.y(float64(b.Addr)) - h
		switch {
		case h <= 0:
			return
		case w < leastSide || h < leastSide || w*h < leastArea:
			c.add(b.Kind, x0, y0, w, h)
			return
		}
		// A space to the neighbours, as wide as the block allows.
		gapX, gapY := math.Min(1, w/6), math.Min(1, h/6)
		s.slices[b.Kind].add(x0, y0+gapY, w-gapX, h-gapY)
		if h >= labelHeight && w >= labelRoom+8 && len(labels) < mostLabels {
			labels = append(labels, blockLabel{b, x0, y0, w, h})
		}
	})
	c.flush(&s.slices)
	s.flushBlocks()
	for _, l := range labels {
		x.drawLabel(s, l)
	}
}

// flushBlocks draws the collected blocks by category. Workspace gets a border because its fill does not show one.
func (s *Scene) flushBlocks() {
	for k := range sim.NumCategories {
		st := bandStyles[k]
		if k == sim.Workspace {
			st.Stroke, st.Width = display.Muted, 0.8
		}
		s.Rects(st, s.slices[k])
	}
}

// drawLabel writes the name of a block, with its layer if there is room.
func (x *Places) drawLabel(s *Scene, l blockLabel) {
	label, layer := x.p.Name(l.block.Buffer)
	if long := label + " " + layer; layer != "" && display.TextWidth(long)+8 <= l.w {
		label = long
	}
	if label == "" || display.TextWidth(label)+6 > l.w {
		return
	}
	if fill := bandStyles[l.block.Kind]; fill.Pattern != display.NoPattern {
		halo(s, display.Ink, l.x+5, l.y+l.h/2+4, display.Start, label)
	} else {
		s.Text(fill.Fill.On(), l.x+4, l.y+l.h/2+4, display.Start, label)
	}
}

// drawReserved draws the line of the reserved memory if that changes.
func (x *Places) drawReserved(s *Scene, f *frame, sc *addressScale) {
	if !x.grows() {
		return
	}
	xy := steps(f, nil, f.To, sc.bottom, x.p.Levels, func(l *Level) time.Duration { return l.At },
		func(l *Level) float64 { return sc.y(float64(l.Reserved)) })
	s.Path(display.OpLine, display.StrokeOf(display.Surface, 3.5), xy)
	s.Path(display.OpLine, display.StrokeOf(display.Ink, 1.5), xy)
	if n := len(xy); n >= 2 {
		halo(s, display.Ink, f.right-4, math.Max(float64(xy[n-1])-4, sc.top+10), display.End,
			"reserved "+format.Bytes(x.LevelAt(f.To).Reserved))
	}
}

// grows reports whether the reserved memory changes during the step.
func (x *Places) grows() bool {
	return slices.ContainsFunc(x.p.Levels, func(l Level) bool { return l.Reserved != x.p.Levels[0].Reserved })
}

// drawPool draws the line at the end of the pool.
func (x *Places) drawPool(s *Scene, f *frame, sc *addressScale) {
	if x.p.Pool <= 0 || x.p.Pool == engine.NoLimit {
		return
	}
	y := sc.y(float64(x.p.Pool))
	s.Line(budgetLine, f.left, y, f.right, y)
	halo(s, display.Budget, f.left+4, y-5, display.Start, "pool "+format.Bytes(x.p.Pool))
}

// drawFailure marks the moment of the failed request, and the largest hole.
func (x *Places) drawFailure(s *Scene, f *frame, sc *addressScale) {
	r := x.p.Failed
	if r == nil || r.At < f.From || r.At > f.To {
		return
	}
	px := f.x(int64(r.At))
	s.Line(display.StrokeOf(display.Over, 2), px, titleLine, px, sc.bottom)
	y0, y1 := sc.y(float64(r.HoleAt+r.Largest)), sc.y(float64(r.HoleAt))
	s.Rect(display.FillOf(display.Over), px-3, y0, 6, math.Max(y1-y0, 2))
	const stops = "The step stops here."
	if f.right-px > display.TextWidth(stops)+16 {
		s.Text(display.Muted, px+8, (sc.top+sc.bottom)/2, display.Start, stops)
	}
	label := "no room for " + format.Bytes(r.Bytes)
	half := display.TextWidth(label) / 2
	halo(s, display.Over, math.Min(math.Max(px, f.left+half+4), f.right-half), 13, display.Middle, label)
}

func (x *Places) outline(s *Scene, f *frame, buffer int, st display.Style) {
	sc := x.scale(f)
	x.within(f.From, f.To, func(b *Block) {
		if b.Buffer == buffer {
			x0, x1 := f.clip(f.x(int64(b.From))), f.clip(f.x(int64(b.To)))
			y0, y1 := sc.y(float64(b.Addr+b.Bytes)), sc.y(float64(b.Addr))
			s.Outline(st, x0-0.5, y0, math.Max(x1-x0, 1), math.Max(y1-y0, 1))
		}
	})
}

func (x *Places) hitTime(f *frame, px, py float64) lookup.Target {
	sc := x.scale(f)
	if px < f.left || px > f.right || py < sc.top-reach || py > sc.bottom {
		return lookup.Target{}
	}
	return x.find(f.time(px), (sc.bottom-py)/sc.perByte, reach/sc.perByte)
}

// blockLabel is a block with its rectangle, which has room for a name.
type blockLabel struct {
	block      *Block
	x, y, w, h float64
}
