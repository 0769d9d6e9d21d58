package draw

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
	"memtide/web/tell"
)

// TestScenes draws the pictures of the small trace with a selected gap, zoomed, over the budget, and as narrow as
// a telephone.
func TestScenes(t *testing.T) {
	m := smallModel()
	gap := lookup.Target{Kind: lookup.OnGap, Index: 0}
	light := display.Light
	for _, c := range []struct {
		file string
		pic  Picture
		view View
		opts display.SVGOptions
	}{
		{"strip.svg", Strip, View{Width: 640, Selected: lookup.Target{Kind: lookup.OnStage, Index: 2}},
			display.SVGOptions{Standalone: true, Theme: &light, Surface: true}},
		{"timeline.svg", Timeline, View{Width: 640, Selected: gap},
			display.SVGOptions{Standalone: true, Theme: &light, Surface: true}},
		{"timeline-zoom.svg", Timeline, View{Width: 640, From: 60 * ms, To: 90 * ms},
			display.SVGOptions{Standalone: true, Surface: true}},
		{"timeline-phone.svg", Timeline, View{Width: 360, Selected: gap}, display.SVGOptions{}},
		{"memory.svg", Memory, View{Width: 640}, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}},
		{"memory-ghost.svg", Memory, View{Width: 640, Ghost: smallGhost, Capacity: 900 * engine.MiB,
			Device: "one card"}, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}},
		{"memory-over.svg", Memory, View{Width: 640, Budget: 600 * engine.MiB}, display.SVGOptions{ID: "m"}},
	} {
		var s Scene
		var b bytes.Buffer
		m.Draw(&s, c.pic, c.view)
		if err := s.WriteSVG(&b, c.opts); err != nil {
			t.Fatal(err)
		}
		golden.File(t, "testdata/"+c.file, b.Bytes())
	}
	var s Scene
	var b bytes.Buffer
	largeModel().Draw(&s, Memory, View{Width: 640, Capacity: 5 * engine.GiB, Device: "one card"})
	if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/memory-two-scales.svg", b.Bytes())
	b.Reset()
	m.Page(&s, View{Width: 640, Selected: gap, Cursor: 120 * ms})
	if err := s.WriteSVG(&b, display.SVGOptions{}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/page.svg", b.Bytes())
}

// TestSVGIsWellFormed checks that the SVG is well-formed whatever the names are, and that an SVG element for a
// page contains nothing that a strict content security policy would block.
func TestSVGIsWellFormed(t *testing.T) {
	p := tracetest.Problem()
	p.Chain.Chain.Stages[0].Name = "a<b>&\"'\x00\x1b\xff\U0001F600]]>"
	m := NewIndex(p, tracetest.Trace(p))
	for pic := range NumPictures {
		for _, o := range []display.SVGOptions{{}, {Standalone: true}, {Surface: true, ID: "x"}} {
			var s Scene
			var b bytes.Buffer
			m.Draw(&s, pic, View{Width: 1400, Selected: lookup.Target{Kind: lookup.OnSpan, Index: 0}})
			s.Title, s.Desc = m.StageName(1), m.Sentence(lookup.Target{Kind: lookup.OnSpan, Index: 0})
			if err := s.WriteSVG(&b, o); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			d := xml.NewDecoder(&b)
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
			}
			if !o.Standalone && (strings.Contains(text, "<style") || strings.Contains(text, "style=")) {
				t.Errorf("the element has styles of its own:\n%s", text)
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("a coordinate is no number:\n%s", text)
			}
		}
	}
}

// TestPageStacks checks that Page stacks all pictures, each at its own height.
func TestPageStacks(t *testing.T) {
	m, v := smallModel(), View{Width: 700, Cursor: NoCursor}
	var page, part Scene
	m.Page(&page, v)
	items, y := 0, 0.0
	for pic := range NumPictures {
		if m.heightAt(pic, 700) == 0 {
			continue
		}
		m.Draw(&part, pic, v)
		if part.Height != pic.Height() {
			t.Errorf("%s is %v high, want %v", pic.Title(), part.Height, pic.Height())
		}
		items += part.Items()
		y += part.Height + PageGap
	}
	if page.Items() != items || page.Height != y-PageGap {
		t.Errorf("the page has %d items and is %v high, want %d and %v", page.Items(), page.Height, items, y-PageGap)
	}
}

// TestNothingIsClipped checks that nothing is drawn outside of the picture and that no text is cut off, at any
// width, zoom and budget.
func TestNothingIsClipped(t *testing.T) {
	models := []*Index{smallModel(), randomModel(2000, 3), emptyModel()}
	for _, m := range models {
		for _, width := range []float64{320, 390, 640, 1040, 1900} {
			for pic := range NumPictures {
				for _, part := range []float64{1, 0.3, 0.01} {
					to := time.Duration(float64(m.Makespan()) * part)
					for _, budget := range []engine.Bytes{1, m.Trace.Peak / 2, m.Trace.Peak, 2 * m.Trace.Peak,
						9 * m.Trace.Peak, engine.NoLimit} {
						v := View{To: to, Width: width, Budget: budget,
							Selected: lookup.Target{Kind: lookup.OnGap, Index: 0}, Cursor: to}
						checkInside(t, m, pic, v)
					}
				}
			}
		}
	}
}

// TestSeamsStayInTheirBand checks that seams end at the top of their band if the band is lower than the values in
// it, as it may be in a merged column.
func TestSeamsStayInTheirBand(t *testing.T) {
	p := tracetest.Problem()
	trace := tracetest.Trace(p)
	for i := range trace.Memory {
		for c := range trace.Memory[i].Used {
			trace.Memory[i].Used[c] /= 20
		}
	}
	trace.Peak /= 20
	m := NewIndex(p, trace)
	checkInside(t, m, Memory, View{To: m.Makespan(), Width: 640})
}

func checkInside(t *testing.T, m *Index, pic Picture, v View) {
	t.Helper()
	var s, over Scene
	m.Draw(&s, pic, v)
	m.Overlay(&over, pic, v)
	s.Append(&over.List, 0, 0)
	for _, g := range s.Groups {
		for i := g.From; i < g.To; i += 2 {
			x0, y0 := float64(s.Nums[i]), float64(s.Nums[i+1])
			x1, y1 := x0, y0
			what := ""
			switch g.Op {
			case display.OpRects:
				if (i-g.From)%4 != 0 {
					continue
				}
				x1, y1 = x0+float64(s.Nums[i+2]), y0+float64(s.Nums[i+3])
			case display.OpTexts:
				txt := s.Texts[g.First+(i-g.From)/2]
				what = txt.S
				w := display.TextWidth(what)
				x0 -= w * [...]float64{display.Start: 0, display.Middle: 0.5, display.End: 1}[txt.Anchor]
				x1, y0 = x0+w, y0-9
			}
			if x0 < -2 || y0 < 0 || x1 > s.Width+2 || y1 > s.Height || !(x1 >= x0) {
				t.Fatalf("%s %+v: op %d %q at %v,%v to %v,%v is outside of %v by %v", pic.Title(), v, g.Op, what, x0,
					y0, x1, y1, s.Width, s.Height)
			}
		}
	}
}

// TestMemoryLabelsApart checks that the labels of the budget and of the peak do not overlap.
func TestMemoryLabelsApart(t *testing.T) {
	m := smallModel()
	for width := 320.0; width < 900; width += 17 {
		for _, peakAt := range []time.Duration{0, 60 * ms, 90 * ms, 97 * ms, 98 * ms, 120 * ms, 195 * ms} {
			m.Trace.PeakAt = peakAt
			var s Scene
			m.Draw(&s, Memory, View{Width: width, Budget: m.Trace.Peak})
			var boxes [][2]float64
			for _, g := range s.Groups {
				for i := g.First; i < g.Last; i++ {
					if txt := s.Texts[i]; strings.HasPrefix(txt.S, "plan") || strings.HasPrefix(txt.S, "peak") {
						x := float64(s.Nums[g.From+2*(i-g.First)]) - display.TextWidth(txt.S)*[...]float64{display.Start: 0, display.Middle: 0.5, display.End: 1}[txt.Anchor]
						boxes = append(boxes, [2]float64{x, x + display.TextWidth(txt.S)})
					}
				}
			}
			if len(boxes) != 2 || boxes[0][0] < boxes[1][1] && boxes[1][0] < boxes[0][1] {
				t.Errorf("width %v, peak at %v: labels at %v", width, peakAt, boxes)
			}
		}
	}
}

// TestLegend checks that the legend keeps within its width and is high enough for all of its lines.
func TestLegend(t *testing.T) {
	for _, width := range []float64{300, 640, 1200} {
		var s Scene
		Legend(&s, width, smallModel())
		for _, g := range s.Groups {
			for i := g.First; i < g.Last; i++ {
				x, y := float64(s.Nums[g.From+2*(i-g.First)]), float64(s.Nums[g.From+2*(i-g.First)+1])
				if x+display.TextWidth(s.Texts[i].S) > width || y+3 > s.Height {
					t.Errorf("width %v: %q at %v, %v is outside", width, s.Texts[i].S, x, y)
				}
			}
		}
	}
	var s Scene
	var b bytes.Buffer
	smallModel().Figure(&s, View{Width: 640, Cursor: NoCursor})
	if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true, Surface: true}); err != nil {
		t.Fatal(err)
	}
	golden.File(t, "testdata/figure.svg", b.Bytes())
}

// TestSceneReuse checks that a scene that is reused equals a new one.
func TestSceneReuse(t *testing.T) {
	m := smallModel()
	var used Scene
	for pic := range NumPictures {
		m.Draw(&used, pic, View{Width: 900})
	}
	var fresh Scene
	m.Draw(&used, Timeline, View{Width: 640})
	m.Draw(&fresh, Timeline, View{Width: 640})
	if a, b := used.AppendBuffer(nil), fresh.AppendBuffer(nil); !bytes.Equal(a, b) {
		t.Errorf("a reused scene has %d bytes, a new one %d", len(a), len(b))
	}
}

// TestPlayed checks that the timeline of a trace that sim has played shows its whole step, and that the picture
// of the memory has its peak.
func TestPlayed(t *testing.T) {
	p := tracetest.Problem()
	var seq []engine.ChainOp
	for k := 1; k <= 3; k++ {
		seq = append(seq, engine.ChainOp{Kind: engine.FAll, Stage: k})
	}
	for k := 3; k >= 1; k-- {
		seq = append(seq, engine.ChainOp{Kind: engine.BStep, Stage: k})
	}
	schedule, _, err := p.Chain.CompileSequence(seq)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := sim.Play(p, schedule)
	if err != nil {
		t.Fatal(err)
	}
	m := NewIndex(p, tr)
	if held := m.HeldAt(tr.PeakAt, 0); held.Total != tr.Peak || m.Makespan() != 150*ms {
		t.Errorf("the pictures show %v and a peak of %d, want 150ms and %d", m.Makespan(), held.Total, tr.Peak)
	}
	if got, want := tell.DecisionLetter(m.Decision(1)), "K"; got != want {
		t.Errorf("stage 1 has the letter %s, want %s", got, want)
	}
}
