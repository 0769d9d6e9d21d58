package draw

import (
	"math"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
)

// stripStep is how wide a bar of the strip is with the space beside it, at
// least; where there are more stages, several share a bar.
const stripStep = 3.0

// bar is one bar of the strip: the stages (first, last] of which at is the largest.
type bar struct {
	first, last int // 1..n, both included
	at          int // the stage of the largest size
	slot        int // of those there is room for
	muted       bool
	x, w        float64
}

func (m *Model) bars(f *frame) []bar {
	n, count := m.places(f), m.columns(f)
	bars := make([]bar, 0, count)
	for i := range count {
		b := bar{first: i*n/count + 1, last: (i + 1) * n / count, slot: i}
		if f.Beside != nil && !m.alongside(f, &b) {
			continue
		}
		b.at = b.first
		for k := b.first; k <= b.last; k++ {
			if m.Sizes[k-1] > m.Sizes[b.at-1] {
				b.at = k
			}
		}
		step := (f.right - f.left) / float64(count)
		space := math.Min(2, step/4)
		b.x, b.w = f.left+float64(i)*step+space/2, step-space
		bars = append(bars, b)
	}
	return bars
}

// columns is how many bars there is room for.
func (m *Model) columns(f *frame) int {
	return min(m.places(f), int((f.right-f.left)/stripStep))
}

// stripBox is the room of the bars: between the names of the groups and the letters.
func stripBox(height float64) (top, bottom float64) {
	top = bracketRoom
	if height < 76 {
		top = titleLine
	}
	return top, math.Max(height-lineHeight-2, top+4)
}

func init() {
	pictures[Strip] = picture{name: "layers", title: "Layers", height: 96, embedded: 80, compared: 70, still: true}
	timed[Strip] = modelLayout{
		draw: (*Model).drawStrip,
		overlay: func(m *Model, s *Scene, f *frame) {
			if m.showsGraph(f) {
				m.overGraph(s, f)
				return
			}
			m.outlineBar(s, f, m.StageOf(f.Hover), display.StrokeOf(display.Ink, 1.5))
		},
		hit: (*Model).hitStrip,
	}
}

func (m *Model) drawStrip(s *Scene, f *frame) {
	if m.showsGraph(f) {
		m.drawGraph(s, f)
		return
	}
	s.Title = "What happens to the activations of each layer"
	s.Desc = m.StripDesc()
	s.AddText(display.Ink, 0, 13, f.title(Strip))
	m.drawDiffering(s, f)
	top, bottom := stripBox(f.Height)
	if len(m.Sizes) == 0 {
		s.Text(display.Muted, f.left, (top+bottom)/2, display.Start, "This profile has no layers.")
		return
	}
	largest := m.largest(f)
	if f.Height < 76 {
		s.Text(display.Muted, f.left-8, top+9, display.End, format.Bytes(largest))
	} else {
		s.Text(display.Muted, 0, 29, display.Start, "up to")
		s.Text(display.Muted, 0, 43, display.Start, format.Bytes(largest))
	}
	s.Line(display.StrokeOf(display.Grid, 1), float32(f.left), float32(bottom+0.5), float32(f.right), float32(bottom+0.5))
	bars := m.bars(f)
	s.clearSlices()
	for _, b := range bars {
		h := m.barHeight(f, b.at)
		if b.muted {
			s.Rect(mutedStyle, b.x, bottom-h, b.w, h)
			continue
		}
		m.collectBar(s, b, bottom-h, h)
	}
	s.flushSlices()
	m.drawLetters(s, bars, bottom)
	if f.Beside == nil && f.Height >= 76 {
		m.drawGroups(s, f, bars)
	}
	m.outlineBar(s, f, m.Lit(f.Selected), display.StrokeOf(display.Ink, 2))
}

// collectBar puts a bar among the slices of what its colours mean.
func (m *Model) collectBar(s *Scene, b bar, y, h float64) {
	add := func(k sim.SpanKind, y, h float64) {
		s.slices[k] = append(s.slices[k], float32(b.x), float32(y), float32(b.w), float32(h))
	}
	switch m.Decision(b.at) {
	case sim.Recompute | sim.Offload: // upper half offloaded, lower half recomputed
		add(sim.SpanOffload, y, h/2)
		add(sim.SpanRecompute, y+h/2, h-h/2)
	case sim.Recompute:
		add(sim.SpanRecompute, y, h)
	case sim.Offload:
		add(sim.SpanOffload, y, h)
	default:
		add(sim.SpanForward, y, h)
	}
}

// outlineBar outlines the bar of stage k, if there is one.
func (m *Model) outlineBar(s *Scene, f *frame, k int, st display.Style) {
	if k == 0 {
		return
	}
	_, bottom := stripBox(f.Height)
	for _, b := range m.bars(f) {
		if b.first <= k && k <= b.last {
			h := m.barHeight(f, b.at)
			s.Outline(st, b.x-1, bottom-h-1, b.w+2, h+2)
		}
	}
}
