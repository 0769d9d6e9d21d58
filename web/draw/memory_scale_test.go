package draw

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
	"memtide/web/lookup/tracetest"
)

// smallGhost is an outline of memory that needs more than the device has in the golden file, and that ends before
// the step does.
var smallGhost = []sim.Point{{At: 0, Used: 300 * engine.MiB}, {At: 40 * ms, Used: 700 * engine.MiB},
	{At: 80 * ms, Used: 1100 * engine.MiB}, {At: 110 * ms, Used: 500 * engine.MiB}, {At: 150 * ms}}

// largeModel returns a model whose fixed memory is so large that it has its own scale.
func largeModel() *Index {
	p := tracetest.Problem()
	t := tracetest.Trace(p)
	for i := range t.Memory {
		t.Memory[i].Used[sim.Fixed] += 4 * engine.GiB
	}
	t.Peak += 4 * engine.GiB
	p.Budget += 4 * engine.GiB
	return NewIndex(p, t)
}

// TestMemoryScale checks that BudgetAt is the inverse of the scale of the axis, with one scale and with two.
func TestMemoryScale(t *testing.T) {
	for name, m := range map[string]*Index{"one scale": smallModel(), "two scales": largeModel()} {
		v := View{Width: 640, Capacity: 5 * engine.GiB}
		f := m.frame(Memory, v)
		sc := m.memoryScale(&f)
		if two := sc.fixed > 0; two != (name == "two scales") {
			t.Errorf("%s: what is fixed is %d bytes with a scale of its own", name, sc.fixed)
		}
		last := sc.bottom + 1
		for b := engine.Bytes(0); b <= sc.most; b += sc.most / 50 {
			y := sc.y(int64(b))
			if y > last || y < sc.top-0.01 || y > sc.bottom {
				t.Errorf("%s: %d bytes are at %v, below less, which is at %v; the axis goes from %v to %v", name, b,
					y, last, sc.bottom, sc.top)
			}
			if got := m.BudgetAt(v, y); b >= sc.fixed && (got-b)*1000 > sc.most || b >= sc.fixed &&
				(b-got)*1000 > sc.most {
				t.Errorf("%s: %d bytes are at %v, where %d bytes are read", name, b, y, got)
			}
			last = y
		}
	}
}

// TestMemoryTop checks that the axis keeps its end while the budget is dragged, which View.Top is for.
func TestMemoryTop(t *testing.T) {
	m := smallModel()
	v := View{Width: 640, Budget: 900 * engine.MiB}
	v.Top = m.MemoryTop(v)
	y := m.frameY(v, 700*engine.MiB)
	v.Budget = 5 * engine.GiB
	if got := m.frameY(v, 700*engine.MiB); got != y {
		t.Errorf("700 MiB are at %v with another budget; want %v, where they were", got, y)
	}
	v.Top = 0
	v.Budget = 1900 * engine.MiB
	if got := m.frameY(v, 700*engine.MiB); got == y {
		t.Errorf("700 MiB are at %v with twice the budget and a free scale; want another place", got)
	}
}

func (m *Index) frameY(v View, b engine.Bytes) float64 {
	f := m.frame(Memory, v)
	sc := m.memoryScale(&f)
	return sc.y(int64(b))
}

// TestGhostLeavesThePicture checks that an outline that is much higher than the rest of the picture is cut off,
// and that its label then says how high its peak is.
func TestGhostLeavesThePicture(t *testing.T) {
	m := smallModel()
	for _, c := range []struct {
		times int64
		cut   bool
	}{{1, false}, {20, true}} {
		ghost := slices.Clone(smallGhost)
		for i := range ghost {
			ghost[i].Used *= engine.Bytes(c.times)
		}
		v := View{Width: 640, Ghost: ghost, Capacity: 1200 * engine.MiB, Device: "one card"}
		var s Scene
		m.Draw(&s, Memory, v)
		name := ""
		for _, text := range s.Texts {
			if strings.HasPrefix(text.S, "keep everything") {
				name = text.S
			}
		}
		top := m.MemoryTop(v)
		if cut := top < ghostPeak(ghost); cut != c.cut || strings.Contains(name, " to ") != c.cut ||
			top > 4*v.Capacity {
			t.Errorf("an outline of %d bytes over a card of %d: the axis ends at %d, and it is called %q; want it cut off: %t", ghostPeak(ghost), v.Capacity, top, name, c.cut)
		}
	}
}

// TestGhostOfTheSameStep checks that the label of the peak alone says how high it is if everything is kept.
func TestGhostOfTheSameStep(t *testing.T) {
	m := smallModel()
	for _, more := range []engine.Bytes{0, 1} {
		ghost := []sim.Point{{At: 0, Used: m.Trace.Peak + more}, {At: 40 * ms, Used: 0}}
		var s Scene
		m.Draw(&s, Memory, View{Width: 640, Ghost: ghost})
		named := slices.ContainsFunc(s.Texts, func(text display.Text) bool { return strings.HasPrefix(text.S, "keep everything") })
		if named != (more > 0) {
			t.Errorf("keeping everything takes %d bytes more: it is named: %t", more, named)
		}
	}
}

// TestAbsenceOnAPlate checks that for how long a block is not on the card stands on a plate, and not in a halo, over
// what is drawn below it.
func TestAbsenceOnAPlate(t *testing.T) {
	m := smallModel()
	var s Scene
	m.Draw(&s, Memory, View{Width: 1600, Selected: lookup.Target{Kind: lookup.OnStage, Index: 1}})
	checkPlate(t, &s, "not on the card")
}

// checkPlate checks that the text that contains words is in the scene, and stands on a plate.
func checkPlate(t *testing.T, s *Scene, words string) {
	t.Helper()
	found, plates := false, [][4]float32{}
	for _, g := range s.Groups {
		for i := g.From; g.Op == display.OpRects && g.Style.Fill == display.Surface && i < g.To; i += 4 {
			plates = append(plates, [4]float32(s.Nums[i:i+4]))
		}
		for i := g.From; g.Op == display.OpTexts && i < g.To; i += 2 {
			if !strings.Contains(s.Texts[g.First+(i-g.From)/2].S, words) {
				continue
			}
			found = true
			x, y := s.Nums[i], s.Nums[i+1]
			if !slices.ContainsFunc(plates, func(p [4]float32) bool {
				return p[0] < x && x < p[0]+p[2] && p[1] < y && y < p[1]+p[3]
			}) {
				t.Errorf("the words at %v, %v are on none of the plates %v", x, y, plates)
			}
		}
	}
	if !found {
		t.Errorf("nothing says %q", words)
	}
}

// TestNamesLeaveTheCaption checks that no label covers the caption of the fixed memory, even if the card cannot
// hold the fixed memory.
func TestNamesLeaveTheCaption(t *testing.T) {
	m := largeModel()
	v := View{Width: 640, Budget: engine.GiB, Capacity: 1100 * engine.MiB, Device: "one card"}
	var s Scene
	m.Draw(&s, Memory, v)
	at := map[string]float32{} // baselines of texts, by their first word
	for _, g := range s.Groups {
		for i := g.From; g.Op == display.OpTexts && i < g.To; i += 2 {
			first, _, _ := strings.Cut(s.Texts[g.First+(i-g.From)/2].S, " ")
			at[first] = s.Nums[i+1]
		}
	}
	if at["Fixed"] == 0 || at["plan"] == 0 || at["one"] == 0 {
		t.Fatalf("the texts are at %v; want a caption and the names of both lines", at)
	}
	for _, name := range []string{"plan", "one"} {
		if apart := at["Fixed"] - at[name]; apart < 11 {
			t.Errorf("%q is %v pixels above the words under what is fixed, at %v; want 11 or more", name, apart, at)
		}
	}
}
