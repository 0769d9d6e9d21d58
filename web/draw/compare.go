package draw

import (
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// NumDiffering returns how many layers of m have another decision in o, or are not in o.
func (m *Index) NumDiffering(o *Index, al Alignment) (n int) {
	for _, c := range al {
		if c[0] > 0 && m.Differs(o, c[0], c[1]) {
			n++
		}
	}
	return n
}

// drawDiffering writes how many layers have another decision on the other side.
func (m *Index) drawDiffering(s *Scene, f *frame) {
	if f.Beside == nil {
		return
	}
	words := "all blocks treated as in "
	if n := m.NumDiffering(f.Beside.Model, m.alignment(f.Beside)); n > 0 {
		words = format.CountOf(n, "block") + " not treated as in "
	}
	s.Text(display.Muted, f.right, 13, display.End, words+f.Beside.Other)
}

// otherStyle is the outline of the other side's memory.
var otherStyle = display.StrokeOf(display.Ink, 1.2)

// drawBeside draws the memory of the other side as an outline.
func (m *Index) drawBeside(s *Scene, f *frame, sc *memoryScale) {
	if f.Beside == nil {
		return
	}
	other := f.Beside.Model
	s.bands = other.bandPoints(f, s.bands[:0])
	if len(s.bands) == 0 {
		return
	}
	xy := sc.border(s.bands, int(sim.NumCategories)-1)
	s.Path(display.OpLine, display.StrokeOf(display.Surface, 3), xy)
	s.Path(display.OpLine, otherStyle, xy)
	if f.Beside.Over {
		m.nameOther(s, f, sc)
	}
}

// drawFixedBeyond continues the fixed memory, which both sides hold, to the end of the longer step.
func (m *Index) drawFixedBeyond(s *Scene, f *frame, sc *memoryScale) {
	if f.Beside == nil || !f.Beside.Over || sc.fixed == 0 {
		return
	}
	from, to := f.clip(f.x(int64(m.Trace.Makespan))), f.clip(f.x(int64(f.Beside.Model.Trace.Makespan)))
	if to > from {
		s.Rect(display.FillOf(display.Fixed), from, sc.bottom-sc.band, to-from, sc.band)
	}
}

// nameOther labels the peak of the other side and the ends of both steps, in a picture of both
// sides. The label of the peak is below it, because the budget's line is above.
func (m *Index) nameOther(s *Scene, f *frame, sc *memoryScale) {
	b := f.Beside
	if x := f.x(int64(b.Model.Trace.PeakAt)); x >= f.left-0.5 && x <= f.right+0.5 {
		x, y := f.clip(x), sc.y(int64(b.Model.Trace.Peak))
		var spots []spot
		for dy := 22.0; y+dy < sc.floor; dy += 14 {
			spots = append(spots, spot{x + 12, y + dy, display.Start}, spot{x - 12, y + dy, display.End})
		}
		s.place(f, display.Ink, display.Text{S: b.Other + ": peak " + format.Bytes(b.Model.Trace.Peak), Bold: true},
			false, spots...)
	}
	for _, side := range []struct {
		letter string
		m      *Index
	}{{b.Letter, m}, {b.Other, b.Model}} {
		x := f.x(int64(side.m.Trace.Makespan))
		if x < f.left || x > f.right+0.5 {
			continue
		}
		s.Line(display.StrokeOf(display.Muted, 1), x, titleLine, x, sc.floor)
		var spots []spot
		for y := sc.floor - 34; y > sc.top+20; y -= 16 {
			spots = append(spots, spot{x - 5, y, display.End})
		}
		s.place(f, display.Ink, display.Text{S: side.letter + " ends, " + format.Duration(side.m.Trace.Makespan)},
			false, spots...)
	}
}

// drawEnd marks the end of a step that is shorter than the axis. In a picture of both sides nameOther does that.
func (m *Index) drawEnd(s *Scene, f *frame, top, bottom float64) {
	if f.Beside == nil || f.Beside.Over {
		return
	}
	if x := f.x(int64(m.Trace.Makespan)); x >= f.left && x < f.right-1 {
		s.Line(display.StrokeOf(display.Muted, 1), x, top, x, bottom)
		if x+4+display.TextWidth("end") < f.right {
			s.Text(display.Muted, x+4, top+10, display.Start, "end")
		} else {
			s.AddText(display.Muted, x-4, top+10, display.Text{S: "end", Anchor: display.End, Halo: true})
		}
	}
}

// Across returns the layer of the other side that is aligned with the layer of a target of m, or Nothing.
func (m *Index) Across(t lookup.Target, al Alignment) lookup.Target {
	k := m.StageOf(t)
	for _, c := range al {
		if k > 0 && c[0] == k && c[1] > 0 {
			return lookup.Target{Kind: lookup.OnStage, Index: c[1]}
		}
	}
	return lookup.Target{}
}

// FigureOfBoth replaces s by the legend and the pictures of both sides of a comparison, A
// above B for each kind, for a file. va and vb are the views of a and b.
func FigureOfBoth(s *Scene, a, b *Index, va, vb View) {
	var part Scene
	Legend(&part, va.Width, a, b)
	s.Reset(va.Width, 0)
	s.below(&part)
	for pic := range NumPictures {
		if pic.ComparedHeight() == 0 {
			continue
		}
		for side, m := range []*Index{a, b} {
			v := []View{va, vb}[side]
			v.Height = 0
			m.Draw(&part, pic, v)
			s.below(&part)
		}
	}
	s.Title = "Two training steps compared: blocks, timeline and device memory"
	s.Desc = "A: " + a.Summary(va.Budget) + " B: " + b.Summary(vb.Budget)
}
