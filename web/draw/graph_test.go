package draw

import (
	"bytes"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// TestArcsFold checks that too many arcs are folded within repeated blocks, except in the selected block.
func TestArcsFold(t *testing.T) {
	m := played(t, tracetest.UNet(400, 2), false)
	for _, c := range []struct {
		selected     lookup.Target
		width        float64
		arcs, folded int
	}{
		{lookup.Target{}, 1000, 2, 49},
		{lookup.Target{Kind: lookup.OnValue, Index: 24}, 1000, 3, 48},
		{lookup.Target{Kind: lookup.OnValue, Index: 0}, 1000, 2, 49},
		{lookup.Target{}, 390, 2, 49},
	} {
		f := m.frame(Strip, View{Width: c.width, Selected: c.selected})
		arcs, more, folded := drawnArcs(m.Structure(), &f, m.ValueOf(c.selected), m.openBlock(&f))
		if len(arcs) != c.arcs || more != 0 || folded != c.folded {
			t.Errorf("%+v, %v px: %d arcs, %d more, %d folded; want %d, 0, %d", c.selected, c.width, len(arcs), more,
				folded, c.arcs, c.folded)
		}
	}
}

// TestArcsOverflow checks that only the heaviest arcs and the selected one are drawn if there are too many. A
// narrow picture has the three longest.
func TestArcsOverflow(t *testing.T) {
	m := played(t, tracetest.UNet(96, 40), false)
	for _, c := range []struct {
		selected   lookup.Target
		width      float64
		arcs, more int
		first      engine.ValueID
	}{
		{lookup.Target{}, 1000, 24, 16, 0},
		{lookup.Target{Kind: lookup.OnValue, Index: 39}, 1000, 25, 15, 0},
		{lookup.Target{}, 390, 3, 37, 0},
		{lookup.Target{Kind: lookup.OnValue, Index: 39}, 390, 4, 36, 0},
	} {
		f := m.frame(Strip, View{Width: c.width, Selected: c.selected})
		arcs, more, _ := drawnArcs(m.Structure(), &f, m.ValueOf(c.selected), m.openBlock(&f))
		if len(arcs) != c.arcs || more != c.more || arcs[0].Value != c.first {
			t.Errorf("%+v, %v px: %d arcs from x%d, %d more; want %d from x%d, %d more", c.selected, c.width,
				len(arcs), arcs[0].Value, more, c.arcs, c.first, c.more)
		}
		if c.selected.Kind == lookup.OnValue && int(arcs[len(arcs)-1].Value) != c.selected.Index {
			t.Errorf("%+v, %v px: the last arc is of x%d; want the selected one", c.selected, c.width,
				arcs[len(arcs)-1].Value)
		}
	}
}

// TestGraphIsBounded checks that the size of the pictures of a graph is bounded by their width: ten times as many
// operations do not make more marks.
func TestGraphIsBounded(t *testing.T) {
	small, large := played(t, tracetest.UNet(1000, 300), true), played(t, tracetest.UNet(10_000, 3000), true)
	for _, pic := range []Picture{Strip, Life} {
		for _, width := range []float64{390, 984} {
			v := View{Width: width, Selected: lookup.Target{Kind: lookup.OnValue, Index: 0}}
			var a, b Scene
			small.Draw(&a, pic, v)
			large.Draw(&b, pic, v)
			if most := int(width) + 40*(arcSteps+2) + 40; b.Items() > most || b.Items() > a.Items()*3/2 {
				t.Errorf("%s, %v px: %d items of 1,000 operations and %d of 10,000; want at most %d", pic.Title(),
					width, a.Items(), b.Items(), most)
			}
		}
	}
}

// TestHitGraph checks that a point on an arc hits its value, and a point on a mark the run of its operation.
func TestHitGraph(t *testing.T) {
	m := played(t, tracetest.UNet(24, 2), false)
	v := View{Width: 984}
	f := m.frame(Strip, v)
	geo := geometry(m.Structure(), &f)
	for i := range m.Structure().Arcs {
		a := &m.Structure().Arcs[i]
		xy := geo.curve(a)
		x, y := float64(xy[arcSteps]), float64(xy[arcSteps+1])
		if got, _ := m.Hit(Strip, v, x, y); got != (lookup.Target{Kind: lookup.OnValue, Index: int(a.Value)}) {
			t.Errorf("at the top of the arc of x%d: %+v", a.Value, got)
		}
	}
	for place := range int32(24) {
		if got, _ := m.Hit(Strip, v, geo.x(place),
			geo.base+5); got != (lookup.Target{Kind: lookup.OnSpan, Index: int(place)}) {
			t.Errorf("on the mark of operation %d: %+v", place, got)
		}
	}
}

// TestGraphScenes draws the strip of a graph, and the life of a value that is offloaded and fetched.
func TestGraphScenes(t *testing.T) {
	m := played(t, tracetest.UNet(24, 2), true)
	light := display.Light
	for _, c := range []struct {
		file  string
		pic   Picture
		width float64
	}{{"graph.svg", Strip, 984}, {"graph-phone.svg", Strip, 358}, {"life.svg", Life, 984}} {
		var s Scene
		var b bytes.Buffer
		m.Draw(&s, c.pic, View{Width: c.width, Selected: lookup.Target{Kind: lookup.OnValue, Index: 0}})
		if err := s.WriteSVG(&b, display.SVGOptions{Standalone: true, Theme: &light, Surface: true}); err != nil {
			t.Fatal(err)
		}
		golden.File(t, "testdata/"+c.file, b.Bytes())
	}
}

// TestGraphBeside checks that a graph in a comparison has the strip of layers, whose columns both sides share,
// and no row for the life of a value.
func TestGraphBeside(t *testing.T) {
	chain, graph := smallModel(), played(t, tracetest.UNet(24, 2), false)
	for _, other := range []*Index{chain, graph} {
		v := View{Width: 984, Selected: lookup.Target{Kind: lookup.OnValue, Index: 0},
			Beside: &Beside{Model: other, Letter: "A", Other: "B"}}
		var s Scene
		if graph.Draw(&s, Strip, v); s.Height != Strip.Height() || !strings.Contains(s.Title, "each block") {
			t.Errorf("beside %d layers: %v high, %q; want %v, the strip of layers", other.Stages(), s.Height, s.Title,
				Strip.Height())
		}
		var page Scene
		FigureOfBoth(&page, graph, other, v, View{Width: 984, Beside: &Beside{Model: graph, Letter: "B", Other: "A"}})
		if page.Items() == 0 || Life.ComparedHeight() != 0 {
			t.Errorf("beside %d layers: %d items, a life of %v px; want some, and none", other.Stages(), page.Items(),
				Life.ComparedHeight())
		}
	}
}
