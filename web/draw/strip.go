package draw

import (
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

func init() {
	pictures[Strip] = picture{name: "layers", title: "Blocks", height: 96, embedded: 80, compared: 70, still: true}
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
		height: func(m *Model, width float64) float64 {
			if m.IsGraph() {
				return GraphHeight
			}
			return Strip.HeightAt(width)
		},
	}
}

func (m *Model) drawStrip(s *Scene, f *frame) {
	if m.showsGraph(f) {
		m.drawGraph(s, f)
		return
	}
	s.Title = "What happens to the activations of each block"
	s.Desc = m.StripDesc()
	s.AddText(display.Ink, 0, 13, f.title(Strip))
	m.drawDiffering(s, f)
	top, bottom := stripBox(f.Height)
	if len(m.Sizes) == 0 {
		s.Text(display.Muted, f.left, (top+bottom)/2, display.Start, "This profile has no blocks.")
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

func (m *Model) hitStrip(f *frame, x, y float64) lookup.Target {
	if m.showsGraph(f) {
		return m.hitGraph(f, x, y)
	}
	if y < titleLine || y > f.Height || x < f.left || x >= f.right {
		return lookup.Target{}
	}
	bars := m.bars(f)
	i := int((x - f.left) / (f.right - f.left) * float64(m.columns(f)))
	for _, b := range bars {
		if b.slot == i {
			return lookup.Target{Kind: lookup.OnStage, Index: b.at}
		}
	}
	return lookup.Target{}
}
