package draw

import (
	"math"
	"strconv"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

func init() {
	pictures[Strip] = picture{name: "layers", title: "Blocks", height: 96, embedded: 80, compared: 70, still: true}
	timed[Strip] = layoutOf[*Index]{
		draw: (*Index).drawStrip,
		overlay: func(m *Index, s *Scene, f *frame) {
			if m.showsGraph(f) {
				m.overGraph(s, f)
				return
			}
			m.outlineBar(s, f, m.StageOf(f.Hover), display.StrokeOf(display.Ink, 1.5))
		},
		hit: (*Index).hitStrip,
		height: func(m *Index, width float64) float64 {
			if m.IsGraph() {
				return m.GraphHeight(width)
			}
			return Strip.HeightAt(width)
		},
	}
}

func (m *Index) drawStrip(s *Scene, f *frame) {
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
	s.Line(display.StrokeOf(display.Grid, 1), f.left, bottom+0.5, f.right, bottom+0.5)
	bars := m.bars(f)
	s.clearSlices()
	for _, b := range bars {
		h := m.barHeight(f, b.at)
		if b.muted {
			s.Rect(mutedStyle, b.x, bottom-h, b.w, h)
			continue
		}
		s.collectBar(m.Decision(b.at), b.x, bottom-h, b.w, h)
	}
	s.flushSlices()
	m.drawLetters(s, bars, bottom)
	if f.Beside == nil && f.Height >= 76 {
		m.drawGroups(s, f, bars)
	}
	m.outlineBar(s, f, m.Lit(f.Selected), display.StrokeOf(display.Ink, 2))
}

func (m *Index) hitStrip(f *frame, x, y float64) lookup.Target {
	if m.showsGraph(f) {
		return m.hitGraph(f, x, y)
	}
	if y < titleLine || y > f.Height || x < f.left || x >= f.right {
		return lookup.Target{}
	}
	bars := m.bars(f)
	i := int((x - f.left) / (f.right - f.left) * float64(len(barsOf(f, m.places(f), 2))))
	for _, b := range bars {
		if b.slot == i {
			return lookup.Target{Kind: lookup.OnStage, Index: b.at}
		}
	}
	return lookup.Target{}
}

// groupWords are the names of groups of layers with the same decision, after their number, from
// the longest to the shortest.
var groupWords = map[sim.Decision][]string{
	sim.Keep:                    {" kept"},
	sim.Offload:                 {" to the host and back", " to the host", " out"},
	sim.Recompute:               {" computed again", " again"},
	sim.Recompute | sim.Offload: {" computed again and moved"},
}

// drawLetters writes the letter of its decision under every bar or, if bars are narrow, under
// every second or third one.
func (m *Index) drawLetters(s *Scene, bars []bar, bottom float64) {
	widest, stride := 0.0, 1
	for _, b := range bars {
		if b.first != b.last {
			return
		}
		widest = math.Max(widest, display.TextWidth(letters(m.Deed(b.at))))
	}
	for len(bars) > 0 && widest > float64(stride)*(bars[0].w+2) {
		if stride++; stride > 3 {
			return
		}
	}
	for i, b := range bars {
		if i%stride == 0 && !b.muted && (b.at <= m.Count || m.Sizes[b.at-1] > 0) {
			s.Text(display.Ink, b.x+b.w/2, bottom+12, display.Middle, letters(m.Deed(b.at)))
		}
	}
}

// drawGroups draws a bracket with a name above every run of layers with the same decision, and
// the name of the highlighted layer.
func (m *Index) drawGroups(s *Scene, f *frame, bars []bar) {
	s.placed = s.placed[:0]
	for _, b := range bars {
		if k := m.Lit(f.Selected); b.first <= k && k <= b.last {
			h := m.barHeight(f, k)
			_, bottom := stripBox(f.Height)
			x := b.x + b.w/2
			s.place(f, display.Ink, display.Text{S: m.StageName(k), Bold: true, Large: true}, true,
				spot{x, 13, display.Middle})
			s.Line(display.StrokeOf(display.Ink, 1), x, 18, x, bottom-h-2)
		}
	}
	for i := 0; i < len(bars); {
		j, n := i, 0
		for ; j < len(bars) && m.Deed(bars[j].at) == m.Deed(bars[i].at) && bars[j].last <= m.Count; j++ {
			for k := bars[j].first; k <= bars[j].last; k++ {
				if m.IsBlock(k) {
					n++
				}
			}
		}
		if n > 0 { // not only an embedding, a norm, or the loss
			m.drawGroup(s, f, m.Deed(bars[i].at), n, bars[i].x, bars[j-1].x+bars[j-1].w)
		}
		i = max(j, i+1)
	}
}

// drawGroup draws the bracket and the name of n layers from x0 to x1.
func (m *Index) drawGroup(s *Scene, f *frame, d sim.Decision, n int, x0, x1 float64) {
	const y, foot = 24.0, 5.0
	for _, words := range groupWords[d] {
		t := display.Text{S: strconv.Itoa(n) + words}
		if t.Width() > x1-x0+10 && n > 1 || t.Width() > x1-x0+40 {
			continue
		}
		if s.place(f, display.Muted, t, false, spot{(x0 + x1) / 2, y - 5, display.Middle}) < 0 {
			continue
		}
		if n > 1 {
			s.Line(display.StrokeOf(display.Muted, 1), x0+0.5, y+foot, x0+0.5, y, x1-0.5, y, x1-0.5, y+foot)
		}
		return
	}
}
